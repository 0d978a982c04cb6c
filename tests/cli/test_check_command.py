"""``neardup check``: reports and exit codes. tests/sessions/check.md has what it prints."""

import datetime
import json
from pathlib import Path

import pytest
from tests.cli.conftest import ARTICLES, table
from tests.papers.texts import unrelated

from neardup.readers import read_file

OWN = "本文讨论小镇渡口客流的变化，资料来自作者在两个集日里的观察与记录。"
COPIED = "县志记载，清末渡口有木船三只，船工九人，光绪二十六年添置铁锚一副，由两岸商户分担费用。"
SHARED = "民国初年改用汽船，来往时间缩短一半，货物转运也由此兴盛起来，东岸开出了第一家客栈。"
FOOTER = "声明：本站刊载此文只为传播信息，并不意味着赞同其观点，转载请注明来源渡口新闻网。"

LIBRARY = ("--library", "library")
ANNA = ("check", "papers/anna.txt", *LIBRARY)
ALL = ("check", "papers", *LIBRARY)
HOSTILE = "papers/a\x1b[31m\n<b>.txt"


def write(texts):
    for name, text in texts.items():
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(text, "utf-8")


@pytest.fixture(autouse=True)
def papers(here):  # noqa: ARG001
    """Three papers and a library, in the working folder."""
    write(
        {
            "papers/anna.txt": OWN + COPIED,
            "papers/ben.txt": OWN[:10] + SHARED,
            "papers/chen.txt": SHARED + OWN[20:],
            "library/county.txt": "附录三。" + COPIED,
            "library/else.txt": "水文站通报，今晨八时闸口水位十三米，比昨日上涨十三厘米。",
        }
    )


@pytest.mark.parametrize(
    ("texts", "words", "row", "value"),
    [
        (
            {"p.txt": f"{OWN}\n{FOOTER}", "library/site.txt": f"水文站通报。\n{FOOTER}"},
            (),
            "wording",
            "1 stretch, not counted as copied",
        ),
        (
            {"p.txt": COPIED.replace("口", "ロ").replace("木", "木\u200b")},
            (),
            "possible",
            "hiding     Letters of another script that look like letters of the word: 1; "
            "Invisible characters within words: 1",
        ),
        (
            {"p.txt": COPIED + OWN * 9 + COPIED},
            ("--max-passages", "1"),
            "passages",
            "2  1 in the report",
        ),
        (
            {f"library/{n}.txt": unrelated(n, 200) + unrelated(77, 150) for n in range(12)}
            | {"p.txt": unrelated(99, 250) + unrelated(77, 150)},
            (),
            "shared",
            "text          37.50%  in many documents, not copied",
        ),
    ],
)
def test_each_finding_has_a_row(run, texts, words, row, value):
    write({"p.txt": OWN, **texts})
    assert table(run("check", "p.txt", *LIBRARY, *words).out)[row] == value


def test_a_report_in_each_format(run):
    for name in ("a.html", "b.html", "a.docx", "b.docx"):
        run(*ANNA, "-o", name, "--language", "zh", "--no-date")
    for kind in ("html", "docx"):
        assert Path(f"a.{kind}").read_bytes() == Path(f"b.{kind}").read_bytes()
    text = read_file("a.docx").text
    assert "55.1%" in text
    assert OWN + COPIED in text
    today = datetime.datetime.now().astimezone().date()
    result = run(*ANNA, "--quiet", "-o", "en.html", "--language", "en", "--json", "report.json")
    assert (result.out, result.err) == ("", "")
    zh, en = (Path(name).read_text("utf-8") for name in ("a.html", "en.html"))
    assert ('lang="zh' in zh, 'lang="en' in en, "county.txt" in zh) == (True, True, True)
    assert f"{today:%Y-%m-%d}" in en or f"{today + datetime.timedelta(1):%Y-%m-%d}" in en
    assert f"{today:%Y-%m}" not in zh
    report = json.loads(Path("report.json").read_text("utf-8"))
    assert report["copied"] == 38
    assert json.loads(run(*ANNA, "--json", "-").out) == report


def test_a_pdf_without_a_browser(run, files, monkeypatch):
    monkeypatch.setenv("PATH", "")
    before = files()
    assert "print it from any browser" in run(*ANNA, "-o", "report.pdf", code=2).err
    assert files() == before


@pytest.mark.usefixtures("index")
def test_an_index_is_a_library(run):
    article = json.loads(ARTICLES.read_text("utf-8").splitlines()[0])
    write({"p.txt": OWN + article["text"]})
    rows = table(run("check", "p.txt", "-l", "n.db").out)
    assert rows["1"].split()[1] == article["id"]


@pytest.mark.parametrize(
    ("paper", "title"),
    [(HOSTILE, "t"), ("papers/anna.txt", "<b>x\x1b[31m"), ("papers/anna.txt", "\udcff")],
)
def test_hostile_names_and_titles_are_inert(run, paper, title):
    write({HOSTILE: OWN})
    result = run("check", paper, *LIBRARY, "--title", title, "-o", "r.html", "--json", "r.json")
    assert "\x1b" not in result.out
    page = Path("r.html").read_text("utf-8")
    assert not [part for part in ("<b>x", "<b>.txt", "\x1b") if part in page]


def rows_of(result):
    return {line.split()[-2]: line.split() for line in result.out.splitlines()[1:]}


def test_a_folder_of_reports(run, files):
    run(*ALL, "-o", "out", "--json", "out", "--language", "en")
    names = [f"{name}.{kind}" for name in ("anna", "ben", "chen") for kind in ("html", "json")]
    found = {name.removeprefix("out/") for name in files() if name.startswith("out/")}
    assert found == {*names, "index.html", "index.csv"}
    for name in ("index", "anna"):
        assert 'lang="en' in Path(f"out/{name}.html").read_text("utf-8")


@pytest.mark.parametrize(("paper", "output"), [("papers/anna.txt", "out/"), ("one", "out")])
def test_a_folder_for_one_paper(run, files, paper, output):
    write({"one/anna.txt": OWN})
    assert len(rows_of(run("check", paper, *LIBRARY, "-o", output))) == 1
    assert {"out/anna.html", "out/index.html"} <= set(files())


def test_unusable_papers_are_named_once_and_decide_the_exit_code(run, files):
    doubled = "".join(letter * 2 for letter in SHARED * 3)
    write({"papers/empty.txt": "", "papers/doubled.txt": doubled})
    Path("papers/bad.docx").write_bytes(b"PK\x03\x04broken")
    Path("papers/photo.jpg").write_bytes(b"\xff\xd8\xff")
    result = run(*ALL, "nosuch.txt", "-o", "out", "--fail-above", "0.1", code=2)
    for words in (
        "note: papers/empty.txt: must have letters",
        "papers/bad.docx:",
        "papers/doubled.txt: ",
        "1 file of another format is skipped: 1 .jpg (photo.jpg).",
        "nosuch.txt: no such file",
    ):
        assert result.err.count(words) == 1
    assert {"out/anna.html", "out/ben.html", "out/chen.html", "out/index.html"} <= set(files())
    assert "out/bad.html" not in files()
    assert len(rows_of(result)) == 3
    assert "1 .jpg" in Path("out/index.html").read_text("utf-8")


def test_metadata_table_describes_sources(run):
    write({"books.csv": "文件,题目,作者,年份,刊名\ncounty.txt,<b>县志</b>,林岚 \u202e,1911,\n"})
    options = ("--metadata", "books.csv")
    result = run(*ANNA, *options, "-o", "r.html", "--json", "r.json")
    note = "--metadata: books.csv lists no source"
    assert ("<b>县志</b>" in result.out, note in result.err) == (True, False)
    (source,) = json.loads(Path("r.json").read_text("utf-8"))["sources"]
    described = [source[name] for name in ("title", "author", "year", "journal")]
    assert described == ["<b>县志</b>", "林岚 \u202e", "1911", None]
    page = Path("r.html").read_text("utf-8")
    assert ("&lt;b&gt;县志" in page, "<b>" in page) == (True, False)
    write({"books.csv": "id,title\nnowhere.txt,a\n"})
    assert note in run(*ANNA, *options).err
    run(*ALL, *options, "-o", "out")
    assert note in Path("out/index.html").read_text("utf-8")
    write({"books.csv": "title\na\n"})
    assert "id is required" in run(*ANNA, *options, code=2).err


NOTHING = ("nothing_compared", "nothing was compared", "not compared")


@pytest.mark.parametrize(
    ("words", "times", "verdict"),
    [
        (LIBRARY, 1, ("short", "fewer than 200 letters and digits", "too short")),
        (("--library", "empty.db"), 5, NOTHING),
        (("--library", "own"), 5, NOTHING),
        (("--compare-papers",), 5, NOTHING),
        ((*LIBRARY, "--exclude", "own/anna.txt"), 5, NOTHING),
    ],
)
def test_paper_without_a_verdict_never_passes(run, words, times, verdict):
    """Each output has the reason, and no rates if nothing was compared."""
    write({"own/anna.txt": (OWN + COPIED) * times})
    run("index", "create", "empty.db")
    reason, sentence, cell = verdict
    has_rates = reason == "short"
    options = (*words, "--pass-below", "15", "--language", "en", "--force")
    check = ("check", "own/anna.txt", *options)
    code = 0 if has_rates else 2
    result = run(*check, "--json", "r.json", "-o", "r.html", code=code)
    assert (sentence in result.err) == (not has_rates)
    rows = table(result.out)
    assert (sentence in rows["verdict"], "copied" in rows) == (True, has_rates)
    report = json.loads(Path("r.json").read_text("utf-8"))
    assert (report["verdict"], report["no_verdict"]) == (None, reason)
    assert (report["rates"] is None) == (not has_rates)
    run(*check, "-o", "r.docx", code=code)
    for page in (Path("r.html").read_text("utf-8"), read_file("r.docx").text):
        assert sentence in page
        assert has_rates or "0.0%" not in page
    (line,) = run("check", "own", *options, "-o", "out", code=code).out.splitlines()[1:]
    assert (cell in line, line.split()[:3] == ["-"] * 3) == (True, not has_rates)
    cells = Path("out/index.csv").read_text("utf-8-sig").splitlines()[1].split(",")
    assert (any(cells[4:8]), cells[8]) == (has_rates, cell)
    page = Path("out/index.html").read_text("utf-8")
    assert (cell in page, "passes" in page) == (True, False)


def test_sources_are_left_out(run):
    assert table(run(*ANNA, "--without-source", "county.txt").out)["copied"] == "0.00%"
    write({"ids.txt": "else.txt\n\n county.txt \n"})
    result = run(*ANNA, "--without-source", "@ids.txt", "--json", "-")
    assert json.loads(result.out)["without_sources"] == ["county.txt"]
    note = "no paper has such a source"
    assert f"{note}: else.txt" in result.err
    result = run(*ALL, "--compare-papers", "--without-source", "county.txt", "-o", "out")
    assert note not in result.err
    assert "county.txt" in Path("out/anna.html").read_text("utf-8")
    result = run(*ALL, "--without-source", "nosuch", "-o", "out", "--force")
    assert f"{note}: nosuch" in result.err
    assert "nosuch" in Path("out/index.html").read_text("utf-8")
