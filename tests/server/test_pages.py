"""The pages as answers: what they say, in which language, and what they do with hostile texts.

The client holds every page against the contract of all pages.
"""

import csv
import html
import re
from random import Random

import httpx
import pytest

import neardup
from tests.index.written import letters
from tests.pages.contract import Outline, check_seen
from tests.server.answers import HTML, send_form
from tests.server.conftest import BASE, BRIDGE, FERRY, LIBRARY

pytestmark = pytest.mark.slow

HOSTILE = '<script>window.broken=1</script></textarea><img src=x onerror="window.broken=1">\u202e'
BULLETIN = (
    "水文站通报：渡口今天运送旅客310人次，比昨天略多，"
    "夜间安排3人值守。请沿岸单位检查泵房、涵洞和仓库。"
)
COUNTED = {"a": BULLETIN, "b": BULLETIN.replace("310", "745")}
NEAR = "The council will open the new bridge over the river, but only for a single day in May."
#: Pages, and answers to forms, by the names of the files with their texts.
PAGES = {
    "home": ("/", None),
    "removals": ("/removals", None),
    "review": ("/removals/review", None),
    "decisions": ("/decisions", None),
    "ask": ("/ask", None),
    "compare": ("/compare", None),
    "check": ("/check", None),
    "kept": ("/documents/a/1", None),
    "dropped": ("/documents?id=a/2", None),
    "compared": ("/compare", {"a": FERRY, "b": FERRY.replace("旧船", "旧渡船")}),
    # Replaced numbers count where the content decides.
    "numbers-general": ("/compare", COUNTED | {"recipe": "general"}),
    "numbers-shingle": ("/compare", COUNTED | {"recipe": "shingle"}),
    "known": ("/ask", {"text": "(Update) " + BRIDGE}),
    # The closest documents, though they are not duplicates.
    "near": ("/ask", {"text": NEAR}),
}
ENGLISH, CHINESE = {"Accept-Language": "en"}, {"Accept-Language": "zh"}


def ask(client, path, **fields):
    """Send a form from an English page."""
    return send_form(client, path, headers=ENGLISH, **fields)


@pytest.mark.parametrize("language", ["zh", "en"])
@pytest.mark.parametrize("name", PAGES)
def test_every_page_has_its_text(shared, name, language):
    path, fields = PAGES[name]
    headers = {"Accept-Language": language}
    if fields is None:
        answer = shared.get(path, headers=headers)
    else:
        answer = send_form(shared, path, headers=headers, **fields)
    assert answer.status_code == 200
    check_seen(f"service-{name}-{language}", answer.text)
    outline = Outline(answer.text)
    addresses = [
        link.get("src") or link["href"] for tag in ("link", "script") for link in outline.all(tag)
    ]
    for address in addresses:
        assert not address.startswith("/static/") or shared.get(address).status_code == 200


@pytest.mark.parametrize(
    "path",
    [
        *("/nowhere", "/documents/none", "/documents?id=none", "/check/none", "/v2"),
        *("/V1/stats", "//v1/stats", "/static/", "/static/..%2fpages.css"),
        *("/static/pages.000000000000.css", "/static/pages.css", "/static/x"),
    ],
)
def test_unknown_path_is_a_page(shared, path):
    answer = shared.get(httpx.URL(BASE).copy_with(raw_path=path.encode()))
    assert (answer.status_code, answer.headers["content-type"]) == (404, HTML)


class TestLanguage:
    @pytest.mark.parametrize(
        ("asked", "expected"),
        [
            *(("en-GB,en;q=0.9", "en"), ("zh-TW", "zh-CN"), ("de", "zh-CN"), ("", "zh-CN")),
            *(("de, en;q=0.3, zh;q=0.8", "zh-CN"), ("en;q=0, zh;q=x, *", "zh-CN")),
        ],
    )
    def test_page_is_in_the_language_of_the_browser(self, shared, asked, expected):
        answer = shared.get("/", headers={"Accept-Language": asked})
        assert f'<html lang="{expected}">' in answer.text
        assert answer.headers["content-language"] == expected

    def test_the_service_has_one_of_its_own(self, serve):
        page = serve(language="en").get("/", headers={"Accept-Language": "de"})
        assert '<html lang="en">' in page.text

    def test_a_chosen_one_stays(self, client):
        assert '<html lang="en">' in client.get("/removals?language=en&search=a").text
        page = client.get("/", headers=CHINESE).text
        assert '<html lang="en">' in page
        assert 'href="?language=zh"' in page
        assert '<html lang="en">' in client.get("/?language=fr").text
        # The search is still there in the other language.
        assert 'href="?search=a&amp;language=zh"' in client.get("/removals?search=a").text

    def test_the_answer_to_a_form_can_be_had_in_the_other(self, client):
        client.get("/?language=zh")
        answer = send_form(client, "/compare", a=FERRY, b=FERRY, language="en")
        assert "The two texts are the same" in answer.text
        assert '<html lang="en">' in client.get("/").text


class TestCompare:
    @pytest.mark.parametrize(
        ("a", "b", "recipe", "expected"),
        [
            (FERRY, FERRY, "general", "The two texts are the same"),
            (FERRY, FERRY + "！", "general", "The two texts are near-duplicates"),
            (FERRY, BRIDGE, "general", "The two texts are not duplicates"),
            (FERRY, BRIDGE, "general", "similarity of at least 40.0%"),
            (FERRY, BRIDGE, "classic", "differ in at most"),
            ("北岸的渡口停航三天", "北岸的渡口停航四天", "general", "but with other numbers"),
            ("今天天气很好", "今天天气真好", "general", "fewer than 20 characters"),
            # A word decides, and no number of the page.
            (
                "市政府宣布北岸的渡口将会停航三天。",
                "市政府宣布北岸的渡口将不会停航三天。",
                "general",
                "they differ in a word that turns the meaning",
            ),
        ],
    )
    def test_the_verdict(self, shared, a, b, recipe, expected):
        page = ask(shared, "/compare", a=a, b=b, recipe=recipe).text
        assert expected in page
        assert html.escape(neardup.compare(a, b, recipe=recipe).verdict) in page
        assert ("fewer than 20 characters" in page) == (len(a) < 20)

    def test_texts_of_files_are_read(self, shared):
        files = [("a-file", ("../../渡轮.txt", FERRY.encode("gb18030"))), ("b-file", ("", b""))]
        answer = ask(shared, "/compare", a="", b=FERRY, files=files)
        assert "The two texts are the same" in answer.text

    @pytest.mark.parametrize(
        ("fields", "headers", "expected"),
        [
            (
                {"a": "", "files": [("a-file", ("e.txt", b""))]},
                ENGLISH,
                "e.txt: the file is empty.",
            ),
            ({"a": " \n"}, ENGLISH, "There is no text"),
            ({"a": FERRY, "recipe": "bkdr"}, ENGLISH, "has no words with tags"),
            ({"a": BRIDGE}, CHINESE, f"文本有 {len(BRIDGE)} 个字符，最多接受 50 个"),
        ],
    )
    def test_missing_or_too_long_text_is_refused(self, serve, fields, headers, expected):
        client = serve(max_text_characters=50)
        answer = send_form(client, "/compare", headers=headers, b=FERRY, **fields)
        assert (answer.status_code, expected in answer.text) == (422, True)
        # The typed text is still there.
        assert FERRY in answer.text

    def test_a_long_text_in_a_field(self, shared):
        text = "".join(chr(0x4E00 + at % 5000) for at in range(200_000))
        answer = ask(shared, "/compare", a=text, b=text[:-1] + "末")
        assert answer.status_code == 200
        assert "characters: 200,000" in answer.text

    def test_a_recipe_is_a_name_and_never_a_path(self, shared):
        answer = ask(shared, "/compare", a=FERRY, b=FERRY, recipe="/etc/passwd")
        assert answer.status_code == 200
        assert "passwd" not in answer.text

    @pytest.mark.parametrize(
        ("kind", "body", "status"),
        [
            ("multipart/form-data; boundary=x", b"--x\r\nno colon\r\n\r\n", 400),
            ("multipart/form-data", b"--x", 400),
            ("multipart/form-data; boundary=x", b"\xff" * 100, 400),
            ("application/x-www-form-urlencoded", b"%ff%00=&&&" * 100, 400),
            ("application/json", b"{}", 422),
        ],
        ids=range(5),
    )
    def test_damaged_forms(self, shared, kind, body, status):
        answer = shared.post("/compare", content=body, headers={"Content-Type": kind})
        assert (answer.status_code, answer.headers["content-type"]) == (status, HTML)


class TestAsk:
    def test_new_text_is_not_found_and_can_be_added(self, client):
        text = LIBRARY + "\n第二段。"
        answer = ask(client, "/ask", text=text.replace("\n", "\r\n"))
        assert "No kept document is a duplicate" in answer.text
        added = send_form(client, "/ask/add", text=text, id="c/3", title="图书馆")
        assert added.status_code == 303
        assert added.headers["location"] == "/documents/c/3?said=added_kept"
        assert "Added, and kept" in client.get(added.headers["location"], headers=ENGLISH).text
        assert client.get("/v1/documents/c/3").json()["text"] == text
        assert 'neardup_documents_total{outcome="kept"} 1.0' in client.get("/metrics").text
        # Once more, and as another text.
        again = send_form(client, "/ask/add", text=text, id="c/3")
        assert again.headers["location"].endswith("said=there")
        other = ask(client, "/ask/add", text=BRIDGE, id="c/3")
        assert other.status_code == 409
        assert "Another text is stored under this id" in other.text
        assert 'value="c/3"' in other.text
        dropped = send_form(client, "/ask/add", text=BRIDGE + "!!", id="x?y")
        assert dropped.headers["location"] == "/documents?id=x%3Fy&said=added_dropped"
        page = client.get(dropped.headers["location"], headers=ENGLISH).text
        assert "Added, and dropped" in page
        assert "Side by side" in page

    @pytest.mark.parametrize("path", ["/ask", "/ask/add"])
    def test_title_beyond_its_limit_is_refused(self, client, path):
        answer = ask(client, path, text=LIBRARY, id="c/4", title="馆" * 1001)
        assert answer.status_code == 422
        assert "must have at most 1,000 characters. Got 1,001 instead" in answer.text

    @pytest.mark.parametrize(
        ("id", "expected"), [("", "编号应为非空文本"), ("x" * 2001, "应不超过 2,000 字节")]
    )
    def test_impossible_id_is_refused(self, client, id, expected):
        added = send_form(client, "/ask/add", text=LIBRARY, id=id)
        assert added.status_code == 422
        page = client.get(f"/documents?id={id}")
        assert expected in page.text
        assert not re.search(r"\b(must|field|form)\b", Outline(page.text).text)


def decisions(client):
    """Return what people decided, the latest first."""
    return [event.action for event in client.app.state.store.index.decisions()]


def decide(client, decision, *ids, back="/removals", **more):
    """Decide about documents from an English page, and return the page that follows."""
    answer = ask(client, "/removals/decide", decision=decision, id=list(ids), back=back, **more)
    assert answer.status_code == 303
    return client.get(answer.headers["location"], headers=ENGLISH).text


def state_of(client, id="a/2"):
    return client.get(f"/v1/documents/{id}").json()["state"]


class TestRemovals:
    def test_removal_is_undone_and_redone(self, client):
        document = decide(client, "keep", "a/2", back="/documents/a/2")
        assert "Kept from now on: 1." in document
        assert "Kept after all." in document
        assert state_of(client) == "kept"
        page = client.get("/removals", headers=ENGLISH).text
        assert "No removal waits for a decision" in page
        # Somebody was faster.
        assert "Nothing was changed" in decide(client, "keep", "a/2")
        for state in ("dropped", "kept"):
            assert "Undone: 1." in decide(client, "undo", "a/2")
            assert state_of(client) == state
        assert decisions(client) == ["kept", "undone", "kept"]
        assert "Bridge opens" in client.get("/decisions").text

    def test_old_page_does_not_undo_a_later_change(self, client):
        decide(client, "confirm", "a/2")
        (event,) = re.findall(r'name="event" value="(\d+)"', client.get("/decisions").text)
        assert f'name="event" value="{event}"' in client.get("/documents/a/2").text
        assert "Undone: 1." in decide(client, "undo", "a/2", event=event)
        assert "Nothing was changed" in decide(client, "undo", "a/2", event=event)
        assert decisions(client) == ["undone", "confirmed"]

    @pytest.mark.parametrize("event", ["9" * 18, "9" * 19, "9" * 30, "0", "-1", "1.0", "x", " 1 x"])
    def test_another_event_is_not_the_last_decision(self, client, event):
        decide(client, "confirm", "a/2")
        answer = ask(
            client, "/removals/decide", decision="undo", id="a/2", back="/decisions", event=event
        )
        if event == "9" * 18:
            page = client.get(answer.headers["location"], headers=ENGLISH)
            assert "Nothing was changed" in page.text
        else:
            assert (answer.status_code, event.strip() in answer.text) == (422, True)
        assert decisions(client) == ["confirmed"]

    def test_decision_on_several_offers_no_undo(self, client):
        """The first one is kept already: the decision does not concern it."""
        page = decide(client, "confirm", "a/1", "a/2")
        assert "Confirmed: 1." in page
        assert 'value="undo"' not in page

    @pytest.mark.parametrize("decision", ["", "remove", "__class__", "expire"])
    def test_invalid_decision_changes_nothing(self, client, decision):
        assert "Nothing was changed" in decide(client, decision, "a/2")
        assert state_of(client) == "dropped"

    def test_filters_orders_and_the_file(self, serve, tmp_path):
        location = tmp_path / "many.db"
        with neardup.Index(location, must_exist=False, workers=1) as index:
            for at in range(90):
                text, day = letters(Random(at), 80), f"2026-03-{1 + at % 30:02}"
                index.add(f"n/{at}", text, title=f"通告 {at:02}", at=day)
                end = "特此通告。" if at % 2 else "特此通告，请互相转告，一体知照。"
                copy = {"title": f"=转载 {at:02}", "source": f"站{at % 3}", "at": day}
                index.add(f"n/{at}/copy", text + end, **copy)
        client = serve(index=str(location))

        def listed(path):
            seen = []
            while path:
                page = client.get(path).text
                seen += re.findall(r'href="/documents/n/(\d+)/copy#beside"><bdi>', page)
                following = re.search(r'rel="next" href="([^"]+)"', page)
                path = following and html.unescape(following[1])
            return [int(number) for number in seen]

        rows = list(csv.DictReader(client.get("/removals.csv").text[1:].splitlines()))
        assert listed("/removals") == [int(row["id"].split("/")[1]) for row in rows]
        doubt = [float(row["similarity"]) for row in rows]
        assert (doubt, len(set(doubt)) > 1) == (sorted(doubt), True)
        assert listed("/removals?order=cluster") == list(range(90))
        assert listed("/removals?order=newest")[:3] == [29, 59, 89]
        assert listed("/removals?search=转载 07") == [7]
        assert sorted(listed("/removals?search=互相转告")) == [*range(0, 90, 2)]
        assert listed("/removals?source=站1&since=2026-03-02&until=2026-03-02") == [1, 31, 61]
        assert listed("/removals?state=confirmed") == []
        decide(client, "confirm", "n/4/copy", "n/5/copy", "n/6/copy")
        assert sorted(listed("/removals?state=confirmed")) == [4, 5, 6]
        assert len(listed("/removals")) == 87
        file = client.get("/removals.csv?state=confirmed")
        assert file.content.startswith("\ufeffid,title,".encode())
        assert "n/4/copy,'=转载 04,站1," in file.text
        assert file.text.count("\r\n") == 4
        assert client.get("/removals.csv?state=all").text.count("\r\n") == 91

    def test_empty_and_foreign_fields_are_ignored(self, client):
        query = "search=%00&since=&until=&from=&to=&source=&zone=x"
        page = client.get(f"/removals?{query}", headers=ENGLISH)
        assert page.status_code == 200
        assert "Bridge opens" in page.text

    @pytest.mark.parametrize(
        "query",
        [
            *("since=x", "since=2026-02-30", "until=2026-99-99", "until=9999-12-31", "state=x"),
            *("from=nan", "to=inf", "to=all", "order=x", "after=9", "after=nan:1"),
            "after=0.5:99999999999999999999999",
        ],
    )
    @pytest.mark.parametrize("path", ["/removals", "/removals/review", "/removals.csv"])
    def test_bad_bound_is_an_error_in_the_language_of_the_page(self, shared, path, query):
        name = query.partition("=")[0]
        for headers, expected in ((ENGLISH, name), (CHINESE, f"字段“{name}”的值不正确。")):
            page = shared.get(f"{path}?{query}", headers=headers)
            assert (page.status_code, expected in page.text) == (422, True)
        assert "nput should" not in page.text

    def test_other_refusals_are_in_the_language_of_the_page(self, shared):
        assert shared.get("/decisions?before=x").status_code == 422
        assert "Method" not in shared.put("/ask", headers=CHINESE).text


@pytest.mark.parametrize(("most", "words"), [(20_000, "19.5 kB"), (16 << 20, "16 MB")])
def test_limits_are_named_beforehand(serve, most, words):
    client = serve(max_body_bytes=most, max_upload_bytes=most)
    for path in ("/compare", "/ask", "/check"):
        assert f"at most {words}" in client.get(path, headers=ENGLISH).text


def test_hostile_texts_are_shown_as_text(client):
    answer = send_form(client, "/compare", a=HOSTILE + FERRY, b=FERRY + HOSTILE)
    assert HOSTILE.splitlines()[0][:20] in Outline(answer.text).text
    added = send_form(client, "/ask/add", text=FERRY + HOSTILE, id=HOSTILE[:30], title=HOSTILE)
    page = client.get(added.headers["location"])
    assert '<i class="unseen" data-code="U+202E"></i>' in page.text
    removals = [client.get(f"/removals{query}") for query in ("", "?search=script")]
    assert [one.text.count("<script") for one in (answer, page, *removals)] == [1] * 4


@pytest.mark.parametrize(
    "path", ["/compare", "/ask", "/ask/add", "/check", "/removals/decide", "/login", "/logout"]
)
def test_forms_of_other_sites_are_refused(shared, path):
    headers = {**ENGLISH, "Sec-Fetch-Site": "cross-site"}
    answer = shared.post(path, data={"id": "a/2", "text": BRIDGE}, headers=headers)
    assert (answer.status_code, answer.headers["content-type"]) == (403, HTML)
    assert state_of(shared) == "dropped"


def test_pages_without_an_index_are_unavailable(serve, tmp_path):
    client = serve(index=str(tmp_path / "none.db"))
    for path in ("/", "/removals"):
        answer = client.get(path)
        assert (answer.status_code, answer.headers["content-type"]) == (503, HTML)
        assert "none.db" not in answer.text
    assert answer.headers["retry-after"] == "5"
    # What needs no index goes on.
    assert send_form(client, "/compare", a=FERRY, b=FERRY).status_code == 200
