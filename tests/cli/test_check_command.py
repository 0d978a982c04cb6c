"""``neardup check``: what it prints, what it writes, and how it ends."""

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


class TestOnePaper:
    @pytest.mark.parametrize(
        ("texts", "words", "row", "value"),
        [
            ({}, (), "copied", "0.00%"),
            ({}, ("-l", "papers/anna.txt"), "library", "library, papers/anna.txt, 3 documents"),
            ({"p.txt": COPIED}, ("-l", "p.txt"), "copied", "100.00%"),
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
        ],
    )
    def test_option_changes_its_row(self, run, texts, words, row, value):
        write({"p.txt": OWN, **texts})
        assert table(run("check", "p.txt", *LIBRARY, *words).out)[row] == value

    def test_shared_text_has_a_row_of_its_own(self, run):
        shared = unrelated(77, 150)
        write({f"library/{n}.txt": unrelated(n, 200) + shared for n in range(12)})
        write({"p.txt": unrelated(99, 250) + shared})
        rows = table(run("check", "p.txt", *LIBRARY).out)
        assert rows["copied"] == "0.00%"
        assert rows["shared"].split()[:2] == ["text", "37.50%"]

    def test_a_report_and_json(self, run):
        run(*ANNA, "-o", "zh.html", "--language", "zh", "--json", "report.json")
        run(*ANNA, "-o", "en.html", "--language", "en")
        for language in ("zh", "en"):
            page = Path(f"{language}.html").read_text("utf-8")
            assert f'lang="{language}' in page
            assert "county.txt" in page
        report = json.loads(Path("report.json").read_text("utf-8"))
        assert report["copied"] == 38
        assert json.loads(run(*ANNA, "--json", "-").out) == report

    def test_a_report_as_word_document(self, run):
        for name in ("zh.docx", "same.docx"):
            run(*ANNA, "-o", name, "--language", "zh", "--no-date")
        assert Path("zh.docx").read_bytes() == Path("same.docx").read_bytes()
        text = read_file("zh.docx").text
        assert "55.1%" in text
        assert OWN + COPIED in text

    def test_a_pdf_without_a_browser(self, run, files, monkeypatch):
        monkeypatch.setenv("PATH", "")
        before = files()
        assert "print it from any browser" in run(*ANNA, "-o", "report.pdf", code=2).err
        assert files() == before

    def test_quiet(self, run, files):
        result = run(*ANNA, "-q", "-o", "report.html")
        assert (result.out, result.err) == ("", "")
        assert "report.html" in files()
        assert run(*ALL, "-q").out == ""

    def test_the_date(self, run):
        today = datetime.datetime.now().astimezone().date()
        run(*ANNA, "-o", "a.html")
        page = Path("a.html").read_text("utf-8")
        assert f"{today:%Y-%m-%d}" in page or f"{today + datetime.timedelta(1):%Y-%m-%d}" in page
        for name in ("b.html", "c.html"):
            run(*ANNA, "-o", name, "--no-date")
        assert Path("b.html").read_bytes() == Path("c.html").read_bytes()
        assert f"{today:%Y-%m}" not in Path("b.html").read_text("utf-8")

    @pytest.mark.usefixtures("index")
    def test_an_index(self, run):
        article = json.loads(ARTICLES.read_text("utf-8").splitlines()[0])
        write({"p.txt": OWN + article["text"]})
        rows = table(run("check", "p.txt", "-l", "n.db").out)
        assert rows["1"].split()[1] == article["id"]

    def test_hostile_names(self, run):
        name = "papers/a\x1b[31m\n<b>.txt"
        write({name: OWN})
        result = run("check", name, *LIBRARY, "-o", "r.html")
        assert "\x1b" not in result.out
        assert table(result.out)["copied"] == "0.00%"
        assert "<b>.txt" not in Path("r.html").read_text("utf-8")


class TestManyPapers:
    def rows(self, result):
        return {line.split()[-2]: line.split() for line in result.out.splitlines()[1:]}

    @pytest.mark.parametrize("language", ["zh", "en"])
    def test_a_folder_of_reports(self, run, files, language):
        run(*ALL, "-o", "out", "--json", "out", "--language", language)
        names = ("anna", "ben", "chen")
        found = {name for name in files() if name.startswith("out/")}
        assert found == {f"out/{name}.{kind}" for name in names for kind in ("html", "json")} | {
            "out/index.html",
            "out/index.csv",
        }
        page = Path("out/index.html").read_text("utf-8")
        assert all(f'href="{name}.html"' in page for name in names)
        for name in ("index", "anna"):
            assert f'lang="{language}' in Path(f"out/{name}.html").read_text("utf-8")

    @pytest.mark.parametrize(("paper", "output"), [("papers/anna.txt", "out/"), ("one", "out")])
    def test_a_folder_for_one_paper(self, run, files, paper, output):
        write({"one/anna.txt": OWN})
        assert len(self.rows(run("check", paper, *LIBRARY, "-o", output))) == 1
        assert {"out/anna.html", "out/index.html"} <= set(files())

    def test_unusable_papers_are_named_once(self, run, files):
        doubled = "".join(letter * 2 for letter in SHARED * 3)
        write({"papers/empty.txt": "", "papers/doubled.txt": doubled})
        Path("papers/bad.docx").write_bytes(b"PK\x03\x04broken")
        Path("papers/photo.jpg").write_bytes(b"\xff\xd8\xff")
        result = run(*ALL, "nosuch.txt", "-o", "out", code=2)
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
        assert len(self.rows(result)) == 3
        assert "1 .jpg" in Path("out/index.html").read_text("utf-8")

    def test_problem_of_the_library_is_printed_once(self, run):
        Path("library/bad.docx").write_bytes(b"PK\x03\x04broken")
        assert run(*ALL, code=2).err.count("could not be read: library/bad.docx.") == 1


class TestExitCode:
    @pytest.mark.parametrize("broken", ["papers/bad.docx", "library/bad.docx"])
    def test_broken_file_decides_the_exit_code(self, run, broken):
        Path(broken).write_bytes(b"PK\x03\x04broken")
        result = run(*ALL, "--fail-above", "0.1", code=2)
        assert broken in result.err
        assert "55.07%" in result.out


class TestTheCover:
    def test_hostile_values(self, run):
        for value in ("<script>x</script>\x1b[31m", "\udcff"):
            run(*ANNA, "--title", value, "-o", "r.html", "--json", "r.json", "--force")
            page = Path("r.html").read_text("utf-8")
            assert "<script>x" not in page
            assert "\x1b" not in page

    def test_metadata_table_describes_sources(self, run):
        write({"books.csv": "文件,题目,作者,年份,刊名\ncounty.txt,<b>县志</b>,林岚 \u202e,1911,\n"})
        options = ("--metadata", "books.csv", "-o", "r.html", "--json", "r.json")
        assert "<b>县志</b>" in run(*ANNA, *options).out
        (source,) = json.loads(Path("r.json").read_text("utf-8"))["sources"]
        told = [source[name] for name in ("title", "author", "year", "journal")]
        assert told == ["<b>县志</b>", "林岚 \u202e", "1911", None]
        page = Path("r.html").read_text("utf-8")
        assert "&lt;b&gt;县志" in page
        assert "<b>" not in page
        note = "--metadata: books.csv lists no source"
        assert note not in run(*ANNA, "--metadata", "books.csv").err
        write({"books.csv": "id,title\nnowhere.txt,a\n"})
        assert note in run(*ANNA, "--metadata", "books.csv").err
        run(*ALL, "--metadata", "books.csv", "-o", "out")
        assert note in Path("out/index.html").read_text("utf-8")
        write({"books.csv": "title\na\n"})
        assert "id is required" in run(*ANNA, "--metadata", "books.csv", code=2).err


class TestTheVerdict:
    @pytest.fixture(autouse=True)
    def long_papers(self, papers):  # noqa: ARG002
        """Papers that are long enough for a verdict."""
        for path in Path("papers").iterdir():
            path.write_text(path.read_text("utf-8") * 5, "utf-8")

    @pytest.mark.parametrize("words", [(), ("--pass-below", "60")])
    def test_short_paper_has_a_mark_instead(self, run, words):
        write({"papers/anna.txt": OWN + COPIED})
        result = run(*ANNA, *words, "--json", "r.json", "-o", "r.html", "--language", "en")
        report = json.loads(Path("r.json").read_text("utf-8"))
        assert (report["verdict"], report["no_verdict"]) == (None, "short")
        reason = "none, since it has fewer than 200 letters and digits"
        assert table(result.out)["verdict"] == reason
        assert reason in Path("r.html").read_text("utf-8")
        result = run(*ALL, *words, "-o", "out")
        (line,) = (line for line in result.out.splitlines() if "anna.txt" in line)
        assert "too short" in line
        for name in ("out/index.html", "out/index.csv"):
            assert "too short" in Path(name).read_text("utf-8")

    @pytest.mark.parametrize("library", ["empty", "own", "among", "excluded"])
    def test_paper_compared_with_nothing_never_passes(self, run, library):
        """Neither rates nor a verdict, in any output; and the exit code says so."""
        Path("own").mkdir()
        Path("papers/anna.txt").rename("own/anna.txt")
        words = {
            "empty": ("--library", "empty.db"),
            "own": ("--library", "own"),
            "among": ("--compare-papers",),
            "excluded": ("--library", "library", "--exclude", "own/anna.txt"),
        }[library]
        run("index", "create", "empty.db")
        asked = (*words, "--pass-below", "15", "--language", "en", "--force")
        result = run("check", "own/anna.txt", *asked, "--json", "r.json", "-o", "r.html", code=2)
        assert "nothing was compared" in result.err
        rows = table(result.out)
        assert (rows["verdict"], "copied" in rows) == ("nothing was compared", False)
        report = json.loads(Path("r.json").read_text("utf-8"))
        assert (report["rates"], report["verdict"]) == (None, None)
        assert report["no_verdict"] == "nothing_compared"
        page = Path("r.html").read_text("utf-8")
        assert "nothing was compared" in page
        assert "0.0%" not in page
        run("check", "own/anna.txt", *asked, "-o", "r.docx", code=2)
        written = read_file("r.docx").text
        assert "nothing was compared" in written
        assert "0.0%" not in written
        result = run("check", "own", *asked, "-o", "out", code=2)
        assert [line.split()[:3] for line in result.out.splitlines()[1:]] == [["-"] * 3]
        cells = Path("out/index.csv").read_text("utf-8-sig").splitlines()[1].split(",")
        assert (cells[4:8], cells[8]) == ([""] * 4, "not compared")
        page = Path("out/index.html").read_text("utf-8")
        assert "not compared" in page
        assert "passes" not in page


class TestWithoutSources:
    def test_ids_and_a_file_of_ids(self, run):
        assert table(run(*ANNA, "--without-source", "county.txt").out)["copied"] == "0.00%"
        write({"ids.txt": "else.txt\n\n county.txt \n"})
        result = run(*ANNA, "--without-source", "@ids.txt", "--json", "-")
        assert json.loads(result.out)["without_sources"] == ["county.txt"]
        assert "no paper has such a source: else.txt" in result.err

    def test_several_papers(self, run):
        result = run(*ALL, "--compare-papers", "--without-source", "county.txt", "-o", "out")
        assert "no paper has such a source" not in result.err
        assert "county.txt" in Path("out/anna.html").read_text("utf-8")
        result = run(*ALL, "--without-source", "nosuch", "-o", "out", "--force")
        assert "no paper has such a source: nosuch" in result.err
        assert "nosuch" in Path("out/index.html").read_text("utf-8")
