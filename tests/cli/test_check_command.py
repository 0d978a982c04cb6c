"""``neardup check``: what it prints, what it writes, and how it ends."""

import datetime
import json
import os
from pathlib import Path

import pytest
from tests.cli.conftest import table
from tests.conftest import ROOT

from neardup.base.messages import Message

OWN = "本文讨论小镇渡口客流的变化，资料来自作者在两个集日里的观察与记录。"
COPIED = "县志记载，清末渡口有木船三只，船工九人，光绪二十六年添置铁锚一副，由两岸商户分担费用。"
SHARED = "民国初年改用汽船，来往时间缩短一半，货物转运也由此兴盛起来，东岸开出了第一家客栈。"


@pytest.fixture
def papers(here):
    """Three papers and a library, in the working folder."""
    texts = {
        "papers/anna.txt": OWN + COPIED,
        "papers/ben.txt": OWN[:10] + SHARED,
        "papers/chen.txt": SHARED + OWN[20:],
        "library/county.txt": "附录三。" + COPIED,
        "library/else.txt": "水文站通报，今晨八时闸口水位十三米，比昨日上涨十三厘米。",
    }
    for name, text in texts.items():
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(text, "utf-8")
    return here


LIBRARY = ("--library", "library")
ANNA = ("check", "papers/anna.txt", *LIBRARY)
ALL = ("check", "papers", *LIBRARY)


@pytest.mark.usefixtures("papers")
class TestOnePaper:
    def test_what_is_printed(self, run, files):
        before = files()
        found = run(*ANNA)
        rows = table(found.out)
        assert rows["paper"] == "anna.txt, 69 characters"
        assert rows["library"] == "library, 2 documents"
        assert rows["copied"] == "55.07%"
        assert rows["without"] == "quotations   55.07%"
        assert rows["largest"].split() == ["source", "55.07%", "county.txt"]
        assert rows["similarity"].endswith("to the most similar source")
        assert (rows["passages"], rows["1"]) == ("1", "55.07%  county.txt")
        assert files() == before

    def test_text_in_brackets_is_left_out(self, run):
        noted = COPIED.replace("，", "（原书作此，今从之，下同，不另注），")
        Path("papers/noted.txt").write_text(noted, "utf-8")
        whole = run("check", "papers/noted.txt", *LIBRARY)
        found = run("check", "papers/noted.txt", *LIBRARY, "--ignore-brackets")
        assert table(found.out)["copied"] == "100.00%"
        assert table(whole.out)["copied"] != "100.00%"

    def test_common_wording_is_printed_apart(self, run):
        assert "wording" not in table(run(*ANNA).out)
        footer = "声明：本站刊载此文只为传播信息，并不意味着赞同其观点，转载请注明来源渡口新闻网。"
        Path("papers/site.txt").write_text(f"{OWN}\n{footer}", "utf-8")
        Path("library/site.txt").write_text(f"水文站通报闸口水位。\n{footer}", "utf-8")
        rows = table(run("check", "papers/site.txt", *LIBRARY).out)
        assert rows["copied"] == "0.00%"
        assert rows["wording"] == "1 stretch, not counted as copied"

    def test_fewer_passages_than_there_are(self, run):
        Path("papers/both.txt").write_text(COPIED + OWN * 9 + COPIED, "utf-8")
        both = ("check", "papers/both.txt", *LIBRARY)
        whole, found = run(*both), run(*both, "--max-passages", "1", "-o", "report.html")
        assert table(whole.out)["passages"] == "2"
        assert table(found.out)["passages"] == "2  1 in the report"
        assert table(found.out)["copied"] == table(whole.out)["copied"]
        assert "note: 1 more passage is neither marked in the text nor shown" in found.err
        assert Path("report.html").read_text("utf-8").count("<article ") == 1

    @pytest.mark.parametrize(
        "option", ["--max-passages", "--max-source-passages", "--max-source-text"]
    )
    def test_limits_out_of_bounds(self, run, option):
        found = run(*ANNA, option, "0", code=2)
        assert f"{option} must be a whole number of at least 1. Got 0" in found.err

    def test_nothing_found(self, run):
        rows = table(run("check", "papers/ben.txt", *LIBRARY).out)
        assert (rows["copied"], rows["passages"]) == ("0.00%", "0")
        assert "similarity" not in rows

    @pytest.mark.parametrize("language", ["zh", "en"])
    def test_a_report(self, run, language):
        run(*ANNA, "-o", "report.html", "--language", language)
        page = Path("report.html").read_text("utf-8")
        assert f'lang="{language}' in page
        assert "county.txt" in page

    def test_json(self, run):
        run(*ANNA, "-o", "report.html", "--json", "report.json")
        report = json.loads(Path("report.json").read_text("utf-8"))
        assert report["copied"] == 38
        printed = run(*ANNA, "--json", "-")
        assert json.loads(printed.out) == report
        assert Path("report.html").exists()

    @pytest.mark.parametrize("there", ["report.html", "report.json"])
    def test_what_is_there_is_not_replaced(self, run, files, there):
        Path(there).write_text("precious")
        before = files()
        options = ("-o", "report.html", "--json", "report.json")
        found = run(*ANNA, *options, code=2)
        assert found.err.splitlines()[1:] == ["neardup: no output was written."]
        assert f"{there}: exists already" in found.err
        assert (files(), Path(there).read_text()) == (before, "precious")
        run(*ANNA, *options, "--force")
        assert Path(there).read_text("utf-8") != "precious"

    def test_excluded_text(self, run):
        Path("form.txt").write_text(COPIED, "utf-8")
        rows = table(run(*ANNA, "--exclude", "form.txt").out)
        assert (rows["paper"], rows["copied"]) == ("anna.txt, 31 characters", "0.00%")

    def test_quiet(self, run, files):
        found = run(*ANNA, "-q", "-o", "report.html")
        assert (found.out, found.err) == ("", "")
        assert "report.html" in files()
        assert run(*ALL, "-q").out == ""

    def test_the_date(self, run):
        today = datetime.datetime.now().astimezone().date()
        run(*ANNA, "-o", "a.html")
        page = Path("a.html").read_text("utf-8")
        assert f"{today:%Y-%m-%d}" in page or f"{today + datetime.timedelta(1):%Y-%m-%d}" in page
        for name in ("b.html", "c.html"):
            run(*ANNA, "-o", name, "--no-date")
        bytes_of = [Path(name).read_bytes() for name in ("b.html", "c.html")]
        assert bytes_of[0] == bytes_of[1]
        assert f"{today:%Y-%m}".encode() not in bytes_of[0]

    @pytest.mark.parametrize("text", ["", "。。。"])
    def test_an_empty_paper(self, run, files, text):
        Path("papers/empty.txt").write_text(text, "utf-8")
        found = run("check", "papers/empty.txt", *LIBRARY, "-o", "r.html", code=2)
        assert found.out == ""
        assert "papers/empty.txt: must have letters or digits." in found.err
        assert "r.html" not in files()

    def test_the_least(self, run):
        assert table(run(*ANNA, "--least", "40").out)["passages"] == "0"

    def test_several_libraries(self, run):
        rows = table(run(*ANNA, "-l", "papers/ben.txt").out)
        assert rows["library"] == "library, papers/ben.txt, 3 documents"

    def test_its_own_file(self, run):
        found = run("check", "papers/anna.txt", "-l", "papers")
        assert table(found.out)["copied"] == "0.00%"
        assert "own file is in the library and was left out" in found.err

    def test_against_itself(self, run):
        rows = table(run("check", "papers/anna.txt", "-l", "papers/anna.txt").out)
        assert (rows["copied"], rows["similarity"].split()[0]) == ("100.00%", "100.00%")

    def test_an_index(self, run, index):
        text = (ROOT / "examples" / "articles.jsonl").read_text("utf-8").splitlines()[0]
        Path("paper.txt").write_text(OWN + json.loads(text)["text"], "utf-8")
        for _ in range(2):
            rows = table(run("check", "paper.txt", "-l", index).out)
            assert rows["1"].split()[1] == json.loads(text)["id"]

    def test_more_sources_than_are_printed(self, run):
        for at in range(12):
            Path(f"library/{at}.txt").write_text(COPIED, "utf-8")
        found = run(*ANNA)
        assert found.out.endswith("        and 3 more sources\n")

    def test_hostile_names(self, run):
        name = "papers/a\x1b[31m\n<b>.txt"
        Path(name).write_text(OWN, "utf-8")
        found = run("check", name, *LIBRARY, "-o", "r.html")
        assert "\x1b" not in found.out
        assert table(found.out)["copied"] == "0.00%"
        assert "<b>.txt" not in Path("r.html").read_text("utf-8")

    def test_in_a_process_of_its_own(self, run):
        assert run(*ANNA, process=True).out == run(*ANNA).out
        one, two = (run(*ANNA, "--workers", n, "--json", "-").out for n in (1, 2))
        assert one == two


@pytest.mark.usefixtures("papers")
class TestManyPapers:
    def rows(self, found):
        return {line.split()[3]: line.split() for line in found.out.splitlines()[1:]}

    def test_one_line_for_each(self, run):
        found = run(*ALL)
        head, *lines = found.out.splitlines()
        assert head.split()[:4] == ["copied", "no", "quot.", "largest"]
        assert [line.split()[3] for line in lines] == ["anna.txt", "ben.txt", "chen.txt"]
        among = run("check", "papers", "--among").out.splitlines()[1:]
        rates = [float(line.split()[0][:-1]) for line in among]
        assert rates == sorted(rates, reverse=True)
        assert among[-1].split()[3] == "anna.txt"
        assert self.rows(found)["anna.txt"][:3] == ["55.07%"] * 3
        assert self.rows(found)["ben.txt"] == ["0.00%"] * 3 + ["ben.txt", "-"]

    def test_a_folder_of_reports(self, run, files):
        run(*ALL, "-o", "out", "--json", "out")
        found = [name for name in files() if name.startswith("out/")]
        assert found == sorted(
            [f"out/{name}.{kind}" for name in ("anna", "ben", "chen") for kind in ("html", "json")]
            + ["out/index.html"]
        )
        page = Path("out/index.html").read_text("utf-8")
        for name in ("anna", "ben", "chen"):
            assert f'href="{name}.html"' in page
        assert json.loads(Path("out/anna.json").read_text("utf-8"))["paper"] == "anna.txt"

    def test_an_empty_paper_among_others_is_a_note(self, run):
        Path("papers/empty.txt").write_text("", "utf-8")
        found = run(*ALL, "-o", "out/")
        assert "neardup: note: papers/empty.txt: must have letters" in found.err
        Path("papers/cut.docx").write_bytes(b"PK\x03\x04")
        found = run(*ALL, "-o", "out/", "--force", code=2)
        assert found.err.endswith(
            f"neardup: {Message('done, except for what the lines above report.')}\n"
        )

    def test_one_paper_in_a_folder(self, run, files):
        run(*ANNA, "-o", "out/")
        assert {"out/anna.html", "out/index.html"} <= set(files())

    @pytest.mark.parametrize("language", ["zh", "en"])
    def test_language(self, run, language):
        run(*ALL, "-o", "out", "--language", language)
        for name in ("index", "anna"):
            assert f'lang="{language}' in Path(f"out/{name}.html").read_text("utf-8")

    @pytest.mark.parametrize("there", ["index.html", "anna.html", "chen.html", "chen.json"])
    def test_a_folder_that_is_there(self, run, files, there):
        os.mkdir("out")
        Path("out", there).write_text("precious")
        before = files()
        found = run(*ALL, "-o", "out", "--json", "out", code=2)
        assert f"{there}: exists already" in found.err
        assert (files(), found.out) == (before, "")
        run(*ALL, "-o", "out", "--json", "out", "--force")
        assert Path("out", there).read_text("utf-8") != "precious"

    def test_among(self, run):
        rows = self.rows(run("check", "papers", "--among"))
        assert rows["anna.txt"][0] == "0.00%"
        assert rows["ben.txt"][4] == "papers/chen.txt"
        assert rows["chen.txt"][4] == "papers/ben.txt"
        both = self.rows(run(*ALL, "--among"))
        assert (both["anna.txt"][0], both["ben.txt"]) == ("55.07%", rows["ben.txt"])

    def test_one_paper_among_none(self, run):
        rows = table(run("check", "papers/anna.txt", "--among").out)
        assert rows["copied"] == "0.00%"
        assert rows["library"] == "papers, 0 documents"
        found = run("check", "papers/anna.txt", "--among")
        assert "note: The library has no text to compare with the paper" in found.err

    @pytest.mark.parametrize("among", [(), ("--among",)])
    def test_a_broken_paper(self, run, files, among):
        Path("papers/bad.docx").write_bytes(b"PK\x03\x04broken")
        found = run(*ALL, *among, "-o", "out", code=2)
        assert found.err.count("papers/bad.docx:") == 1
        assert {"out/anna.html", "out/ben.html", "out/chen.html", "out/index.html"} <= set(files())
        assert "out/bad.html" not in files()
        assert len(found.out.splitlines()) == 4
        assert ">papers/bad.docx<" in Path("out/index.html").read_text("utf-8")

    def test_old_formats_and_pictures(self, run):
        Path("papers/dora.doc").write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600))
        Path("papers/photo.jpg").write_bytes(b"\xff\xd8\xff")
        found = run(*ALL, "-o", "out", code=2)
        assert "papers: 1 file of another format is skipped: 1 .jpg." in found.err
        assert "1 .jpg" in Path("out/index.html").read_text("utf-8")
        assert "papers/dora.doc: must be" in found.err
        assert "save it as .docx" in found.err
        assert ">papers/dora.doc<" in Path("out/index.html").read_text("utf-8")

    def test_a_folder_of_one_paper(self, run, files):
        os.mkdir("one")
        os.rename("papers/anna.txt", "one/anna.txt")
        found = run("check", "one", *LIBRARY, "-o", "out")
        assert {"out/anna.html", "out/index.html"} <= set(files())
        assert len(found.out.splitlines()) == 2

    def test_reports_within_the_papers(self, run):
        for _ in range(2):
            found = run(*ALL, "-o", "papers/reports", "--force")
            assert len(found.out.splitlines()) == 4
        assert len(run(*ALL).out.splitlines()) == 4
        assert "must not be the folder of the papers" in run(*ALL, "-o", "papers", code=2).err

    def test_what_goes_for_all_is_said_once(self, run):
        Path("library/bad.docx").write_bytes(b"PK\x03\x04broken")
        found = run(*ALL, code=2)
        assert (
            found.err.count("1 document of the library could not be read: library/bad.docx.") == 1
        )

    @pytest.mark.parametrize("among", [(), ("--among",)])
    def test_a_missing_paper(self, run, files, among):
        found = run(*ALL, "nosuch.txt", *among, "-o", "out", code=2)
        assert "nosuch.txt: no such file" in found.err
        assert {"out/anna.html", "out/chen.html", "out/index.html"} <= set(files())

    def test_a_paper_given_twice(self, run, files):
        found = run("check", "papers/anna.txt", "papers", "papers/anna.txt", *LIBRARY, "-o", "out")
        assert len(found.out.splitlines()) == 4
        assert sum(name.startswith("out/anna") for name in files()) == 1

    def test_papers_of_one_name(self, run, files):
        os.mkdir("more")
        Path("more/anna.txt").write_text(OWN, "utf-8")
        found = run("check", "papers/anna.txt", "more/anna.txt", *LIBRARY, "-o", "out")
        assert {"out/anna.html", "out/anna-2.html"} <= set(files())
        assert "papers/anna.txt" in found.out
        assert "more/anna.txt" in found.out
        assert "more/anna.txt" in Path("out/index.html").read_text("utf-8")

    def test_json_to_the_terminal_is_refused(self, run):
        assert "--json" in run(*ALL, "--json", "-", code=2).err
        assert "--json" in run(*ALL, "--json", "-", "-o", "out", code=2).err
        assert not Path("out").exists()


@pytest.mark.usefixtures("papers")
class TestHowItEnds:
    @pytest.mark.parametrize(
        ("rate", "code"), [("0", 1), ("0.5507", 1), ("0.56", 0), ("0.9", 0), ("1", 0)]
    )
    def test_above_a_rate(self, run, rate, code):
        assert run(*ANNA, "--fail-above", rate, code=code).out
        assert run(*ALL, "--fail-above", rate, code=code).out

    def test_nothing_is_above_zero(self, run):
        run("check", "papers/ben.txt", *LIBRARY, "--fail-above", "0")

    def test_all_reports_are_written_before(self, run, files):
        run(*ALL, "--fail-above", "0.1", "-o", "out", code=1)
        assert {"out/chen.html", "out/index.html"} <= set(files())

    def test_a_broken_paper_outweighs_it(self, run):
        Path("papers/bad.docx").write_bytes(b"PK\x03\x04broken")
        run(*ALL, "--fail-above", "0.1", code=2)

    def test_a_broken_document_of_the_library(self, run):
        Path("library/bad.docx").write_bytes(b"PK\x03\x04broken")
        found = run(*ANNA, code=2)
        assert "bad.docx" in found.err
        assert table(found.out)["copied"] == "55.07%"

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ((), "--library must name the documents that the papers are compared with"),
            (("-l", "nosuch"), "nosuch: no such file or folder"),
            ((*LIBRARY, "--least", "4"), "--least must be"),
            ((*LIBRARY, "--workers", "-1"), "--workers must be"),
            ((*LIBRARY, "--language", "fr"), "--language must be"),
            (
                (*LIBRARY, "--fail-above", "30%"),
                "--fail-above must be a number from 0 to 1, such as 0.3",
            ),
            ((*LIBRARY, "--fail-above", "1.1"), "--fail-above must be"),
            ((*LIBRARY, "--fail-above", "nan"), "--fail-above must be"),
            ((*LIBRARY, "-o", "report.pdf"), "-o must end in .html for one paper"),
            ((*LIBRARY, "-o", "report"), "-o must end in .html for one paper"),
            (
                ("papers/ben.txt", *LIBRARY, "-o", "r.html"),
                "-o must be a folder for several",
            ),
            (
                ("papers/ben.txt", *LIBRARY, "--json", "r.json"),
                "--json must be a folder for several",
            ),
            (("library", *LIBRARY, "-o", "library"), "must not be the folder of the papers"),
            ((*LIBRARY, "--exclude", "nosuch.txt"), "nosuch.txt: no such file"),
            ((*LIBRARY, "-o", "nosuch/report.html"), "nosuch"),
        ],
    )
    def test_errors(self, run, files, options, message):
        before = files()
        found = run("check", "papers/anna.txt", *options, code=2)
        assert message in found.err
        assert found.err.startswith("neardup: ")
        assert files() == before

    def test_help(self, run):
        shown = run("check", "--help").out
        for option in ("--library", "--among", "--exclude", "--least", "--json", "--fail-above"):
            assert option in shown
        bare = run("check", code=2)
        assert "--library" in bare.out + bare.err
