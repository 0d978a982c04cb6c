"""Papers that are sent: labels instead of paths, several in one upload, and such as do harm."""

import io
import re
import zipfile

import pytest

from neardup.readers import archives
from neardup.server.jobs import queue, uploads
from neardup.server.jobs.uploads import make_label, make_path
from tests.pages.contract import Outline
from tests.readers.making import encrypted, misstated
from tests.server.answers import HTML, send_form
from tests.server.clocks import ManualClock
from tests.server.conftest import FERRY, peak_memory
from tests.server.papers import LONG, OWN, REFUSED, archive, send, wait
from tests.waiting import until

pytestmark = pytest.mark.slow

ENGLISH = {"Accept-Language": "en"}
A, B = (OWN + LONG).encode(), ("结论另见附录。" + LONG).encode()


def post(client, *files, **fields):
    """Send papers, each a name and its bytes, from the page of checks."""
    given = {"library": "index", "min_passage_length": "20", **fields}
    return send_form(
        client, "/check", files=[("file", one) for one in files], headers=ENGLISH, **given
    )


def overview(client, answer, language="en"):
    """Return the page of a check that has ended."""
    assert answer.status_code == 303, Outline(answer.text).text

    def ended():
        page = client.get(answer.headers["location"], headers={"Accept-Language": language})
        if "data-job=" not in page.text:
            return page.text
        # The result comes by itself.
        assert '<meta http-equiv="refresh"' in page.text
        return None

    return until(ended, "the check to end")


def links(page):
    return re.findall(r'href="(/v1/check/[^"]*/report[?][^"]*)"', page.replace("&amp;", "&"))


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["a.txt"], "a.txt: the file is empty."),
        (["a.txt", "b.docx"], "a.txt, b.docx: the file is empty."),
        ([".DS_Store"], "Choose a file first."),
    ],
)
def test_empty_upload_is_refused_as_empty(shared, names, expected):
    answer = post(shared, *((name, b"") for name in names))
    assert (answer.status_code, expected in answer.text) == (422, True)


def test_the_page_of_one_paper(client):
    answer = post(client, ("<b>论文.txt", f"本文讨论渡轮。\n{FERRY}\n结语。".encode()))
    page = overview(client, answer)
    assert "The report is ready" in page
    assert "The report is kept for 7 days after the check" in page
    assert "&lt;b&gt;论文.txt" in page
    found = [link["href"] for link in Outline(page).all("a") if "/v1/check/" in link["href"]]
    assert client.get(found[0]).headers["content-type"] == HTML
    assert client.get(found[1]).json()["rates"]["total"] > 0.5
    # An archive is for several papers.
    reports = client.get(f"/v1{answer.headers['location']}/reports.zip")
    assert (reports.status_code, reports.json()["code"]) == (409, "one_paper")


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("pic.png", b"\x89PNG\r\n\x1a\n" + bytes(100), "图片"),
        ("broken.docx", b"PK\x03\x04" + bytes(200), "实为已损坏的文件"),
        ("<b>.rtf", b"{\\rtf1 x}", "RTF"),
        ("long.txt", b"word " * 2_000, "最多接受 5,000 个"),
    ],
)
def test_a_chinese_page_says_in_chinese_why_a_file_is_refused(serve, name, content, expected):
    client = serve(max_text_characters=5_000)
    asked = send_form(client, "/ask", text="", files=[("text-file", (name, content))])
    assert asked.status_code == 422
    for page in (asked.text, overview(client, post(client, (name, content)), "zh")):
        problem = re.search(r'<p class="problem".*?</p>', page, re.S)[0]
        assert expected in problem
        assert not re.search(r"\b(must|Got|instead)\b", problem)


def test_several_files(client):
    files = [("a.txt", A), ("dir/论文.txt", B), ("ferry.txt", (OWN + FERRY).encode())]
    files += [("bad.docx", b"PK\x03\x04x"), ("no.txt", b""), (".DS_Store", b"x")]
    files += [("in.zip", archive(("a.txt", A)))]
    page = overview(client, post(client, *files))
    for name in ("a.txt", "dir/论文.txt", "ferry.txt", "bad.docx", "no.txt", "in.zip"):
        assert f"<bdi>{name}</bdi>" in page
    assert page.count("Not checked") == 3
    assert "an archive (zip)" in page
    assert not re.search("DS_Store|Pairs of papers", page)
    # The one with text of the index comes first.
    assert page.index("<bdi>ferry.txt<") < page.index("<bdi>a.txt<")
    reports = [client.get(link) for link in links(page)]
    assert [answer.status_code for answer in reports] == [200] * 3
    assert FERRY[:10] in reports[0].text
    assert client.get(links(page)[0].replace("paper=3", "paper=9")).status_code == 404


def test_table_and_archive_of_all_reports(client):
    files = [("x/a.txt", A), ("y/a.txt", B), ("bad.docx", b"PK\x03\x04x")]
    page = overview(client, post(client, *files))
    job = links(page)[0].partition("/report?")[0]
    state = client.get(job).json()
    assert [paper["paper"] for paper in state["papers"]] == [name for name, _ in files]
    short = {"problem": None, "verdict": None, "no_verdict": "short"}
    unread = {"rates": None, "verdict": None, "no_verdict": None}
    for paper, expected in zip(state["papers"], (short, short, unread), strict=True):
        assert paper | expected == paper
    assert [paper["rates"]["total"] for paper in state["papers"][:2]] == [0, 0]
    assert "damaged" in state["papers"][2]["problem"]
    assert f'href="{job}/index.csv?language=en"' in page
    table = client.get(f"{job}/index.csv?language=en").content.decode("utf-8-sig").splitlines()
    assert [line.partition(",")[0] for line in table] == ["File", "x/a.txt", "y/a.txt", "bad.docx"]
    assert f'href="{job}/reports.zip?language=en"' in page
    answer = client.get(f"{job}/reports.zip?language=en")
    with zipfile.ZipFile(io.BytesIO(answer.content)) as reports:
        assert reports.namelist() == ["index.html", "index.csv", "a.html", "a-2.html"]
        index = reports.read("index.html").decode()
        assert re.findall(r'href="(a.*?.html)"', index) == ["a.html", "a-2.html"]
        assert LONG[:10] in reports.read("a.html").decode()


def test_paper_beyond_its_time_does_not_stop_the_others(client, monkeypatch):
    clock, real = ManualClock(), queue.check_paper

    def check(process, settings, library, paper, **options):
        if paper.name == "a.txt":
            clock.advance(601)
            process.receive()
        return real(process, settings, library, paper, **options)

    monkeypatch.setattr(queue, "time", clock)
    monkeypatch.setattr(queue, "check_paper", check)
    files = [("a.txt", A), ("b.txt", B), ("c.txt", B)]
    page = overview(client, post(client, *files, compare_papers="1"))
    said = "a.txtNot checked: The check took longer than 600 seconds."
    assert said in Outline(page).text
    reports = [client.get(link.partition("#")[0]).text for link in links(page)]
    assert all(LONG[:10] in report for report in reports)
    # Each is compared with the other one, and not with itself.
    assert {re.search(r"[.]/[bc].txt", report)[0] for report in reports} == {"./b.txt", "./c.txt"}


def test_compared_with_each_other(client):
    papers = archive(("x/a.txt", A), ("y/a.txt", B))
    answer = post(client, ("a.zip", papers), compare_papers="1")
    for language in ("en", "zh"):
        page = overview(client, answer, language)
        for part in ("<bdi>x/a.txt</bdi>", "<bdi>y/a.txt</bdi>", 'class="matrix"'):
            assert part in page
        report = client.get(next(link for link in links(page) if "#r1" in link)).text
        assert re.search("[.]/[xy]/a.txt", report)
        assert LONG[:10] in report


def test_a_class_with_a_table_of_covers_thresholds_and_excluded_text(client):
    template = "本模板由教务处统一提供，各班学生不得改动其中的任何一句话。"
    papers = archive(
        ("一班/张三.txt", OWN * 12 + FERRY),
        ("二班/张三.txt", OWN * 5 + FERRY * 5 + template),
        ("二班/李四.txt", OWN * 12),
    )
    table = "文件,题目,作者,学号\n一班/张三.txt,渡口,张三,2023-1\n二班/张三.txt,灯塔,张三,2023-2\n"
    files = [
        ("file", ("班级.zip", papers)),
        ("exclude", ("模板.txt", template.encode())),
        ("title_pages", ("covers.csv", table.encode("gb18030"))),
    ]
    fields = {"library": "index", "pass_below": "20", "reject_above": "30 %"}
    fields |= {"institution": "师范学校", "title": "", "number": ""}
    page = overview(client, send_form(client, "/check", files=files, headers=ENGLISH, **fields))
    rows = [Outline(row).text for row in re.findall(r"<tr>.*?</tr>", page, re.S)][1:]
    expected = ["二班/张三.txt.*rejected", "一班/张三.txt.*passes", "二班/李四.txt.*passes"]
    assert all(map(re.match, expected, rows))
    assert len(rows) == 3
    assert all(value in rows[0] for value in ("灯塔", "张三", "2023-2"))
    assert "covers.csv does not list 1 paper: 二班/李四.txt" in Outline(page).text
    report = client.get(links(page)[0].replace("/report?", "/report.json?").partition("&")[0])
    assert list(report.json()["cover"].values()) == ["灯塔", "张三", "2023-2", "师范学校"]
    assert [aside["kind"] for aside in report.json()["asides"]] == ["given"]


@pytest.mark.parametrize(
    ("fields", "status", "expected"),
    [
        ({"min_passage_length": "4"}, 422, "greater than or equal to 5"),
        ({"min_passage_length": "1e3"}, 422, "valid integer"),
        ({"library": "../x"}, 404, "no library of this name"),
    ],
)
def test_refused_field_is_named(shared, fields, status, expected):
    answer = post(shared, ("a.txt", A), **fields)
    assert (answer.status_code, expected in answer.text) == (status, True)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"title": "渡口"}, "For several papers, choose a table"),
        ({"pass_below": "0.15"}, "must be 0, or a percentage"),
        ({"pass_below": "30", "reject_above": "20"}, "must be 0, or a percentage"),
        ({"exclude": ("a.zip", b"PK")}, "must be a whole .zip file"),
        ({"title_pages": ("a.csv", b"title\nx\n")}, "the first line must name the columns"),
    ],
)
def test_refused_settings_stay_in_the_form(shared, fields, said):
    kept = {name: value for name, value in fields.items() if isinstance(value, str)}
    files = [("file", (name, A)) for name in ("a.txt", "b.txt")]
    files += [(name, file) for name, file in fields.items() if name not in kept]
    given = {"library": "index", "author": "", **kept}
    answer = send_form(shared, "/check", files=files, headers=ENGLISH, **given)
    outline = Outline(answer.text)
    assert (answer.status_code, said in outline.text) == (422, True)
    values = {one["id"]: one.get("value", "") for one in outline.all("input")}
    assert kept.items() <= values.items()
    assert all("open" in one for one in outline.all("details")) == bool(kept)


def test_names_in_gbk_and_no_paths(client):
    plain = archive(("ab.txt", A), ("../../cd.txt", B))
    name = "论文".encode("gbk")
    # A name of as many bytes, without the flag of UTF-8.
    renamed = plain.replace(b"ab.txt", name + b".t")
    page = overview(client, post(client, ("班级.zip", renamed)))
    assert {"论文.t", "cd.txt"} <= set(re.findall("<bdi>(.*?)</bdi>", page))
    assert ".." not in page.partition("<main")[2].replace("…", "")


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"text", "must be a whole .zip file"),
        (misstated(archive(("a.txt", bytes(1 << 20))), 10), "must be a whole .zip file"),
        (archive(), "must contain papers"),
        (archive("a/", "__MACOSX/._a.txt", "b/.DS_Store", "~$a.docx"), "must contain papers"),
        (encrypted(archive(("a.txt", A))), "without a password"),
        (archive(*(f"{n}.txt" for n in range(201))), "at most 200 papers"),
    ],
)
def test_bad_archive_is_refused(shared, data, said):
    answer = post(shared, ("a.zip", data))
    assert (answer.status_code, said in Outline(answer.text).text) == (422, True)


def test_limits_of_an_archive(client, monkeypatch):
    monkeypatch.setattr(uploads, "_UNPACKED", 1000)
    for name in ("a.txt", "__MACOSX/a"):
        sent = post(client, ("a.zip", archive("b.txt", (name, bytes(1001)))))
        assert "at most 1000 bytes" in sent.text
    monkeypatch.setattr(archives, "MEMBERS", 2)
    assert "at most 2 parts" in post(client, ("a.zip", archive("a", "b", "c"))).text


def test_limit_of_an_upload_counts_all_files(serve):
    client = serve(max_upload_bytes=2 * len(A))
    assert post(client, ("a.txt", A), ("b.txt", A)).status_code == 303
    assert post(client, ("a.txt", A), ("b.txt", A + b"x")).status_code == 413


def test_all_papers_together_have_a_limit(serve, monkeypatch):
    monkeypatch.setattr(queue, "MOST_TEXTS", 2)
    client = serve(max_text_characters=200)
    files = [(f"{n}.txt", ("雪" * 199).encode()) for n in range(3)]
    assert "at most 400 characters" in overview(client, post(client, *files))


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("论文.docx", "论文.docx"),
        ("../../etc/passwd", "passwd"),
        ("..\\..\\windows\\system.ini", "system.ini"),
        ("C:\\x", "x"),
        ("/", "paper"),
        ("..", "paper"),
        ("", "paper"),
        (None, "paper"),
        ("\0", "paper"),
        ("a\0b\r\nc\x1b[31m.txt", "abc[31m.txt"),
        ("a\u202exslx.exe", "axslx.exe"),
        ("\ud800.txt", ".txt"),
        ("  two   words .txt ", "two words .txt"),
        ("<script>alert(1)<script>", "<script>alert(1)<script>"),
    ],
)
def test_a_name_becomes_a_label(name, label):
    assert make_label(name) == label


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("一班/张三.docx", "一班/张三.docx"),
        ("a\\b\\c.txt", "a/b/c.txt"),
        ("../../etc/passwd", "etc/passwd"),
        ("/C:/x/./y.txt", "x/y.txt"),
        ("a\u202eb/\0c.txt", "ab/c.txt"),
        ("a/", "a/paper"),
        (f"{'长' * 200}/{'夹' * 50}/b.txt", f"{'夹' * 50}/b.txt"),
        (None, "paper"),
    ],
)
def test_a_file_in_a_folder_keeps_the_names_of_folders(name, path):
    assert make_path(name) == path


def test_a_long_name_keeps_its_end():
    label = make_label("长" * 5000 + ".docx")
    assert (len(label) <= 120, label[-6:]) == (True, "….docx")


#: Papers that would crash a reader, or take all its memory. All that are refused are read by
#: `readers/test_sandboxed_reader.py`.
HARMFUL = ("damaged pdf", "encrypted pdf", "entities", "paths in a zip", "zeros", "zip bomb")


def test_hostile_papers_over_the_network(serve_process, tmp_path):
    service = serve_process(max_upload_bytes=8 << 20)
    papers = [REFUSED[kind] for kind in HARMFUL]
    accepted = [send(service.client, data, name=f"../../{name}") for name, data, _ in papers]
    for (name, _, said), answer in zip(papers, accepted, strict=True):
        problem = wait(service.client, answer)["problem"]
        assert (problem["status"], said in problem["detail"]) == (422, True)
        assert problem["detail"].startswith(f"{name}: must")
        # A higher limit is not the sender's to ask for.
        assert "Raise" not in problem["detail"]
        assert service.client.get(answer.json()["report"]).status_code == 409
    done = send(service.client, OWN + FERRY)
    assert wait(service.client, done)["rates"]["total"] > 0.4
    # No file is written under the name of a paper.
    names = {path.name for path in tmp_path.glob("**/*")}
    assert {name for name in names if not name.startswith("news.db")} == {"service-0.log"}
    assert peak_memory(service.process.pid) < 600_000_000
    assert "Traceback" not in service.log()
