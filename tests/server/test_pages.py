"""The pages as answers: what they say, whom they let in, and what they do with hostile texts."""

import re

import pytest

import neardup
from neardup.server.pages.rendering import page_words
from tests.waiting import until

from . import forms
from .conftest import BRIDGE, FERRY, LIBRARY
from .forms import Outline, check_page

pytestmark = pytest.mark.slow

#: Files that are refused, and what a Chinese page says of them.
UNREADABLE = {
    "pic.png": (b"\x89PNG\r\n\x1a\n" + bytes(100), "图片"),
    "broken.docx": (b"PK\x03\x04" + bytes(200), "实为已损坏的文件"),
    "<b>.rtf": (b"{\\rtf1 x}", "RTF"),
    "long.txt": (b"word " * 2_000, "最多接受 5,000 个"),
}

HOSTILE = '<script>window.broken=1</script></textarea><img src=x onerror="window.broken=1">\u202e'
PAGES = ["/", "/ask", "/check", "/clusters", "/status", "/documents/a/1", "/documents?id=a/2"]
BULLETIN = (
    "水文站通报：渡口今天运送旅客310人次，比昨天略多，"
    "夜间安排3人值守。请沿岸单位检查泵房、涵洞和仓库。"
)
ENGLISH = {"Accept-Language": "en"}


@pytest.mark.parametrize("language", ["zh", "en"])
@pytest.mark.parametrize("path", PAGES)
def test_every_page_is_well_formed(client, path, language):
    answer = client.get(path, headers={"Accept-Language": language})
    assert answer.status_code == 200
    outline = check_page(answer)
    for link in outline.all("link") + outline.all("script"):
        found = link.get("src") or link["href"]
        if found.startswith("/static/"):
            static = client.get(found)
            assert static.status_code == 200
            assert "immutable" in static.headers["cache-control"]
            assert static.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("name", ["pages.000000000000.css", "..%2fpages.css", "pages.css", "x"])
def test_nothing_else_is_static(client, name):
    assert client.get(f"/static/{name}").status_code == 404


def check_result(answer):
    """What every page has, but that the browser may show this one again."""
    assert answer.headers["cache-control"] == "private, no-cache"
    answer.headers["cache-control"] = "no-store"
    return check_page(answer)


def test_compare(client):
    answer = forms.send(client, "/", a=FERRY, b=FERRY.replace("旧船", "旧渡船"), headers=ENGLISH)
    assert answer.status_code == 200
    check_result(answer)
    seen = forms.texts(answer.text)
    found = neardup.compare(FERRY, FERRY.replace("旧船", "旧渡船"))
    assert f"similarity, by {found.measure}" in seen
    assert page_words("en").percent(found.similarity) in seen
    assert page_words("en").percent(found.edit_similarity) in seen
    assert '<em class="differs">渡</em>' in answer.text
    assert 'href="#b1"' in answer.text
    assert 'id="b1"' in answer.text


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        (FERRY, FERRY, "The two texts are the same"),
        (FERRY, FERRY + "！", "The two texts are near-duplicates"),
        (FERRY, BRIDGE, "The two texts are not duplicates"),
        (BULLETIN, BULLETIN.replace("310", "745"), "Alike, but with other numbers"),
        ("北岸的渡口停航三天", "北岸的渡口停航四天", "Alike, but with other numbers"),
    ],
)
def test_the_verdict_is_a_sentence(client, a, b, expected):
    assert expected in forms.send(client, "/", a=a, b=b, headers=ENGLISH).text


@pytest.mark.parametrize("language", ["zh", "en"])
def test_what_replaced_numbers_take_is_shown_where_content_decides(client, language):
    given = {"a": BULLETIN, "b": BULLETIN.replace("310", "745")}
    found = neardup.compare(**given)
    words = page_words(language)
    row = (words("figure_penalty"), words.percent(found.number_penalty))
    for recipe, is_shown in (("general", True), ("shingle", False)):
        headers = {"Accept-Language": language}
        seen = forms.texts(forms.send(client, "/", **given, recipe=recipe, headers=headers).text)
        assert all(part in seen for part in row) == is_shown
        assert "1 / 1 / 1" in seen
        assert words.percent(found.aligned) in seen


def test_texts_of_files_are_read(client):
    answer = forms.send(
        client,
        "/",
        a="",
        b=FERRY,
        headers=ENGLISH,
        files={
            "a-file": ("../../渡轮.txt", FERRY.encode("gb18030"), "text/plain"),
            "b-file": ("", b"", "application/octet-stream"),
        },
    )
    assert "The two texts are the same" in answer.text


def test_a_file_without_text_is_refused_in_the_form(client):
    picture = ("a.pdf", b"\x89PNG\r\n\x1a\n" + bytes(100), "application/pdf")
    answer = forms.send(client, "/", a="", b=FERRY, files={"a-file": picture}, headers=ENGLISH)
    assert answer.status_code == 422
    check_page(answer)
    assert "a picture (PNG)" in answer.text
    # What was typed is still there.
    assert FERRY in answer.text


@pytest.mark.slow
@pytest.mark.parametrize("name", UNREADABLE)
def test_a_chinese_page_says_in_chinese_why_a_file_is_refused(serve, name):
    content, expected = UNREADABLE[name]
    client = serve(max_text_characters=5_000)
    file = (name, content, "application/octet-stream")
    answer = forms.send(client, "/ask", text="", files={"text-file": file})
    check_page(answer)
    said = re.search(r'<p class="problem".*?</p>', answer.text, re.S)[0]
    assert expected in said
    assert not re.search(r"\b(must|Got|instead)\b", said)
    sent = forms.send(client, "/check", library="index", least="20", files={"file": file})
    job = sent.headers["location"]

    def failed():
        page = client.get(job)
        return page if "检测失败" in page.text else None

    page = until(failed, "the page to tell that the check failed")
    check_page(page)
    said = re.search(r'<p class="problem".*?</p>', page.text, re.S)[0]
    assert expected in said
    assert not re.search(r"\b(must|Got|instead)\b", said)


@pytest.mark.parametrize(
    ("ask", "expected"),
    [
        (lambda client: client.get("/documents?id="), "编号不能为空"),
        (lambda client: client.get("/documents?id=" + "x" * 2001), "编号最多 2,000 字节"),
    ],
)
def test_an_error_page_in_chinese(client, ask, expected):
    answer = ask(client)
    check_page(answer)
    assert expected in answer.text
    assert not re.search(r"\b(must|field|form)\b", forms.texts(answer.text))


def test_a_comparison_says_when_texts_are_duplicates(client):
    for recipe, expected in (
        ("general", "similarity of at least 45.0%"),
        ("classic", "differ in at most"),
    ):
        answer = forms.send(client, "/", a=FERRY, b=BRIDGE, recipe=recipe, headers=ENGLISH)
        assert expected in answer.text
        assert "fewer than 20 characters" not in answer.text
    answer = forms.send(client, "/", a="今天天气很好", b="今天天气真好")
    assert "不足 20 个字符" in answer.text


def test_there_is_an_end_of_the_clusters(client):
    page = client.get("/clusters?after=9999999", headers=ENGLISH).text
    assert "no further clusters" in page
    assert "was dropped" not in page


@pytest.mark.parametrize(("most", "said"), [(20_000, "19.5 kB"), (16 << 20, "16 MB")])
def test_limits_are_named_beforehand(serve, most, said):
    client = serve(max_body_bytes=most, max_upload_bytes=most)
    for path in ("/", "/ask", "/check"):
        assert f"at most {said}" in client.get(path, headers=ENGLISH).text


def test_a_text_that_is_missing_or_too_long(serve):
    client = serve(max_text_characters=50)
    answer = forms.send(client, "/", a=" \n", b=FERRY, headers=ENGLISH)
    assert (answer.status_code, "There is no text" in answer.text) == (422, True)
    answer = forms.send(client, "/", a=BRIDGE, b=FERRY)
    assert answer.status_code == 422
    assert f"文本有 {len(BRIDGE)} 个字符，最多接受 50 个" in answer.text


def test_a_long_text_in_a_field(client):
    text = "".join(chr(0x4E00 + at % 5000) for at in range(200_000))
    answer = forms.send(client, "/", a=text, b=text[:-1] + "末", headers=ENGLISH)
    assert answer.status_code == 200
    assert "characters: 200,000" in answer.text


def test_a_recipe_is_a_name_and_never_a_path(client):
    answer = forms.send(client, "/", a=FERRY, b=FERRY, recipe="/etc/passwd", headers=ENGLISH)
    assert answer.status_code == 200
    assert "passwd" not in answer.text
    answer = forms.send(client, "/", a=FERRY, b=BRIDGE, recipe="classic", headers=ENGLISH)
    assert "differ in at most" in answer.text


def test_ask_for_a_text_that_is_there(client):
    answer = forms.send(client, "/ask", text="(Update) " + BRIDGE, headers=ENGLISH)
    check_result(answer)
    assert "The index has it" in answer.text
    assert 'href="/documents/a/1"' in answer.text
    assert "The bridge" in answer.text
    assert 'data-n="1"' in answer.text


def test_ask_for_a_new_text_and_add_it(client):
    text = LIBRARY + "\n第二段。"
    answer = forms.send(client, "/ask", text=text.replace("\n", "\r\n"), headers=ENGLISH)
    check_result(answer)
    assert "No kept document is a duplicate" in answer.text
    added = forms.send(client, "/ask/add", text=text, id="c/3", title="图书馆")
    assert added.status_code == 303
    assert added.headers["location"] == "/documents/c/3?said=added_kept"
    page = client.get(added.headers["location"], headers=ENGLISH)
    assert "Added, and kept" in page.text
    assert client.get("/v1/documents/c/3").json()["text"] == text
    # Once more, and as another text.
    again = forms.send(client, "/ask/add", text=text, id="c/3")
    assert again.headers["location"].endswith("said=there")
    other = forms.send(client, "/ask/add", text=BRIDGE, id="c/3", headers=ENGLISH)
    assert other.status_code == 409
    assert "Another text is stored under this id" in other.text
    assert 'value="c/3"' in other.text


@pytest.mark.parametrize("id", ["", "x" * 2001])
def test_an_id_that_cannot_be(client, id):
    answer = forms.send(client, "/ask/add", text=LIBRARY, id=id)
    assert answer.status_code == 422
    check_page(answer)


def test_added_and_dropped(client):
    added = forms.send(client, "/ask/add", text=BRIDGE + "!!", id="x?y")
    assert added.headers["location"] == "/documents?id=x%3Fy&said=added_dropped"
    page = client.get(added.headers["location"], headers=ENGLISH).text
    assert "Added, and dropped" in page
    assert "Side by side" in page


def test_clusters_and_undoing_a_removal(client):
    page = client.get("/clusters", headers=ENGLISH)
    check_page(page)
    assert "Bridge opens" in page.text
    kept = forms.send(client, "/documents/keep", id="a/2")
    assert kept.headers["location"] == "/documents/a/2?said=kept"
    document = client.get(kept.headers["location"], headers=ENGLISH).text
    assert "It is kept from now on" in document
    assert "Kept after all." in document
    assert client.get("/v1/documents/a/2").json()["state"] == "kept"
    assert "No document of this index was dropped" in client.get("/clusters", headers=ENGLISH).text
    # Somebody was faster.
    again = forms.send(client, "/documents/keep", id="a/2")
    assert again.headers["location"] == "/documents/a/2"


def test_search_and_paging(serve, tmp_path):
    location = tmp_path / "many.db"
    with neardup.Index(location, must_exist=False, workers=1) as index:
        for at in range(45):
            text = "".join(chr(0x4E00 + (at * 997 + step * 131) % 20000) for step in range(80))
            index.add(f"n/{at}", text, title=f"通告 {at:02}")
            index.add(f"n/{at}/copy", text + "特此通告。")
    client = serve(index=str(location))
    seen = []
    path = "/clusters"
    while path:
        page = client.get(path).text
        seen += re.findall(r"通告 (\d\d)</bdi>", page)
        following = re.search(r'rel="next" href="([^"]+)"', page)
        path = following and following[1].replace("&amp;", "&")
    assert seen == [f"{at:02}" for at in range(45)]
    found = client.get("/clusters?search=通告 07").text
    assert found.count('class="cluster"') == 1
    nothing = client.get("/clusters?search=%3Cb%3E%00&after=x", headers=ENGLISH)
    assert nothing.status_code == 200
    assert "No cluster was found" in nothing.text


def test_a_paper_is_checked(client):
    paper = ("<b>论文.txt", (f"本文讨论渡轮。\n{FERRY}\n结语。").encode(), "text/plain")
    answer = forms.send(client, "/check", library="index", least="20", files={"file": paper})
    assert answer.status_code == 303
    job = answer.headers["location"]

    def ready():
        page = client.get(job, headers=ENGLISH)
        check_page(page)
        assert "&lt;b&gt;论文.txt" in page.text
        if "The report is ready" in page.text:
            return page
        assert '<meta http-equiv="refresh"' in page.text
        return None

    page = until(ready, "the page of the report")
    links = [link["href"] for link in Outline(page.text).all("a") if "/v1/check/" in link["href"]]
    assert client.get(links[0]).headers["content-type"].startswith("text/html")
    assert client.get(links[1]).json()["rates"]["total"] > 0.5


@pytest.mark.parametrize(
    ("fields", "status", "expected"),
    [
        ({"least": "4"}, 422, "whole number from 5"),
        ({"least": "1e3"}, 422, "whole number from 5"),
        ({"library": "../x"}, 404, "no library of this name"),
    ],
)
def test_a_check_that_is_refused(client, fields, status, expected):
    fields = {"library": "index", "least": "20", **fields}
    paper = ("a.txt", FERRY.encode(), "text/plain")
    answer = forms.send(client, "/check", files={"file": paper}, headers=ENGLISH, **fields)
    assert (answer.status_code, expected in answer.text) == (status, True)
    check_page(answer)


def test_a_check_without_a_file(client):
    nothing = ("", b"", "application/octet-stream")
    for files in ({"file": nothing}, {"file": ("a.txt", b"", "text/plain")}, {}):
        answer = forms.send(
            client, "/check", library="index", least="20", files=files, headers=ENGLISH
        )
        assert answer.status_code == 422
        assert "Choose a file first." in answer.text


@pytest.mark.parametrize(
    "path", ["/nowhere", "/documents/none", "/documents?id=none", "/check/none", "/static/", "/v2"]
)
def test_what_is_not_there_is_a_page(client, path):
    answer = client.get(path, headers=ENGLISH)
    assert answer.status_code == 404
    check_page(answer)
    assert "There is no such page" in answer.text


@pytest.mark.parametrize("path", ["/v1/nowhere", "/v1", "/metrics/x", "/v1/documents/none"])
def test_programs_get_problems(client, path):
    answer = client.get(path)
    assert answer.status_code == 404
    assert answer.headers["content-type"] == "application/problem+json"


def test_hostile_texts_are_shown_as_text(client):
    answer = forms.send(client, "/", a=HOSTILE + FERRY, b=FERRY + HOSTILE)
    outline = check_result(answer)
    assert not outline.all("img")
    assert answer.text.count("<script") == 1
    added = forms.send(client, "/ask/add", text=FERRY + HOSTILE, id=HOSTILE[:30], title=HOSTILE)
    page = client.get(added.headers["location"])
    outline = check_page(page)
    assert not outline.all("img")
    assert '<i class="unseen" data-code="U+202E"></i>' in page.text
    for path in ("/clusters", "/clusters?search=script"):
        outline = check_page(client.get(path))
        assert not outline.all("img")
        assert len(outline.all("script")) == 1


@pytest.mark.parametrize(
    "path", ["/", "/ask", "/ask/add", "/check", "/documents/keep", "/login", "/logout"]
)
def test_forms_of_other_sites_are_refused(client, path):
    headers = {**ENGLISH, "Sec-Fetch-Site": "cross-site"}
    answer = client.post(path, data={"id": "a/2", "text": BRIDGE}, headers=headers)
    assert answer.status_code == 403
    check_page(answer)
    assert client.get("/v1/documents/a/2").json()["state"] == "dropped"


def test_damaged_forms(client):
    for kind, body in (
        ("multipart/form-data; boundary=x", b"--x\r\nno colon\r\n\r\n"),
        ("multipart/form-data", b"--x"),
        ("multipart/form-data; boundary=x", b"\xff" * 100),
        ("application/x-www-form-urlencoded", b"%ff%00=&&&" * 100),
        ("application/json", b"{}"),
    ):
        answer = client.post("/", content=body, headers={"Content-Type": kind})
        assert answer.status_code in (400, 403, 422), kind
        check_page(answer)


def test_status(client):
    page = client.get("/status", headers=ENGLISH)
    seen = forms.texts(page.text)
    for expected in ("Documents", "SQLite", "general-", "content(5)", "16.0 MB", "1,000,000"):
        assert expected in seen
    assert "news.db" not in page.text


def test_without_its_index(serve, tmp_path):
    client = serve(index=str(tmp_path / "none.db"))
    answer = client.get("/status", headers=ENGLISH)
    assert answer.status_code == 503
    check_page(answer)
    assert "cannot be reached" in answer.text
    answer = client.get("/clusters", headers=ENGLISH)
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
    check_page(answer)
    assert "none.db" not in answer.text
    # What needs no index goes on.
    assert forms.send(client, "/", a=FERRY, b=FERRY).status_code == 200


def test_a_bug_is_a_page_and_says_nothing(client, monkeypatch, caplog):
    given = ["secret"]

    def fails(**_):
        raise RuntimeError(given[0] + FERRY)

    monkeypatch.setattr("neardup.server.pages.compare._compare", fails)
    answer = forms.send(client, "/", a=FERRY, b=FERRY, headers=ENGLISH)
    assert answer.status_code == 500
    check_page(answer)
    assert "RuntimeError" not in answer.text
    assert FERRY not in answer.text
    assert "RuntimeError" in caplog.text
    assert "secret" not in caplog.text
