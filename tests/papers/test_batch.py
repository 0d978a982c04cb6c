"""Many papers: in which order, against what, and the folder of their reports."""

import ast
import csv
import io
import json
import os
import random
import re
from pathlib import Path

import pytest
from tests.index.written import letters
from tests.kit.progress import RecordedProgress
from tests.papers.test_rates import check_consistent

from neardup import InputError, OutputError, ParameterError, check
from neardup.papers import Cover, ReportLimits, Thresholds, among, check_files, open_library, steps
from neardup.papers.cover import Covers, parse_table
from neardup.papers.paper_check import CheckResult, PaperCheck
from neardup.papers.reading import Reading, find_papers
from neardup.papers.report_files import ReportFolder, render_summary
from neardup.papers.settings import CheckSettings
from neardup.readers import read_file
from neardup.writers.cells import write_spreadsheet

RNG = random.Random(11)
PARTS = [letters(RNG, 60) for _ in range(4)]


@pytest.fixture
def class_(make):
    """Three papers, two of which share a part with each other, and a library."""
    make("papers/anna.txt", letters(RNG, 90) + PARTS[0])
    make("papers/ben.txt", letters(RNG, 90) + PARTS[0] + PARTS[1])
    make("papers/chen.txt", letters(RNG, 90))
    make("library/a.txt", PARTS[1] + letters(RNG, 50))
    return "papers"


def rates(checked):
    return {result.report.paper: round(result.report.rates.total, 3) for result in checked}


class TestAgainstWhat:
    """Rates are those of anna.txt, ben.txt and chen.txt, of which each has 90 characters alone."""

    def test_a_library(self, class_):
        checked = list(check_files([class_], "library", workers=1))
        papers = [result.paper for result in checked]
        assert papers == ["papers/anna.txt", "papers/ben.txt", "papers/chen.txt"]
        assert rates(checked) == {"anna.txt": 0, "ben.txt": round(60 / 210, 3), "chen.txt": 0}
        for result in checked:
            assert result.report == check(result.paper, "library")
            assert result.problem is None

    def test_each_other(self, class_):
        checked = list(check_files([class_], compare_papers=True, workers=1))
        assert rates(checked) == {"anna.txt": 0.4, "ben.txt": round(60 / 210, 3), "chen.txt": 0}
        reports = [result.report for result in checked]
        sources = [[source.id for source in report.sources] for report in reports]
        assert sources == [["papers/ben.txt"], ["papers/anna.txt"], []]
        for report in reports:
            check_consistent(report)
            assert (report.library, report.notes) == ("papers", reports[0].notes)

    def test_both(self, class_):
        checked = list(check_files([class_], "library", compare_papers=True, workers=1))
        assert rates(checked)["ben.txt"] == round(120 / 210, 3)
        ben = checked[1].report
        named = {source.id: source.title for source in ben.sources}
        assert named == {"a.txt": None, "./papers/anna.txt": "anna.txt"}
        assert (ben.library, ben.library_documents, ben.notes) == ("library + papers", 3, ())

    @pytest.mark.usefixtures("class_")
    @pytest.mark.parametrize(
        ("paper", "library", "total"),
        [
            ("papers/anna.txt", None, None),
            ("papers/anna.txt", "papers/anna.txt", None),
            ("papers/anna.txt", "library", 0),
            ("alone", None, None),
        ],
    )
    def test_one_paper_is_not_held_against_itself(self, make, paper, library, total):
        make("alone/anna.txt", PARTS[0])
        (result,) = check_files([paper], library, compare_papers=True)
        rates = result.report.rates
        assert (rates and rates.total, result.report.sources) == (total, ())

    def test_own_file_in_the_library_is_noted(self, class_):
        for result in check_files([class_], class_, compare_papers=True):
            assert [note for note in result.report.notes if "own file" in note]
            assert "./" + result.paper not in {source.id for source in result.report.sources}

    @pytest.mark.parametrize(
        ("options", "expected"),
        [
            # A copy under another name is another paper.
            ({}, {"zoe.txt": 1, "anna.txt": 1}),
            # The papers are in the library, too.
            ({"library": ["library", "papers"]}, {"zoe.txt": 1, "chen.txt": 0}),
            ({"exclude": ["form.txt"]}, {"ben.txt": 0, "anna.txt": 1}),
            (
                {
                    "library": "library",
                    "without_sources": ["./papers/anna.txt", "./papers/zoe.txt", "a.txt"],
                },
                {"ben.txt": 0, "anna.txt": 0.4},
            ),
        ],
    )
    def test_options_change_the_rates(self, class_, make, options, expected):
        make("papers/zoe.txt", Path("papers/anna.txt").read_text("utf-8"))
        make("form.txt", PARTS[0])
        checked = rates(check_files([class_], compare_papers=True, **options))
        assert checked == checked | expected

    def test_neither(self, class_):
        with pytest.raises(ParameterError, match=r"'library' .*\(compare_papers\)"):
            next(check_files([class_]))


class TestPapers:
    def test_unusable_paper_does_not_stop_the_others(self, class_, make):
        make("papers/bad.docx", b"PK\x03\x04broken")
        make("papers/dora.doc", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600))
        make("papers/emil.RTF", b"{\\rtf1 x}")
        make("papers/empty.txt", "。。。\n")
        make("papers/photo.jpg", b"\xff\xd8\xff\xe0\0\x10JFIF")
        told = RecordedProgress()
        checked = list(check_files([class_, "nosuch.txt"], compare_papers=True, progress=told))
        problems = {result.paper: result.problem for result in checked if result.report is None}
        expected = {
            "papers/bad.docx": "whole Word document",
            "papers/dora.doc": "save it as .docx",
            "papers/emil.RTF": "save it as .docx",
            "papers/empty.txt": "must have letters",
            "nosuch.txt": "no such file",
        }
        assert list(problems) == list(expected)
        for name, words in expected.items():
            assert problems[name].startswith(f"{name}: ")
            assert words in problems[name]
        # A paper without letters was read: it has a note.
        empty = problems.pop("papers/empty.txt")
        assert told.problems == list(problems.values())
        assert ([empty in note for note in told.notes], told.stages[-1][1]) == ([False, True], 8)
        assert rates([checked[0]]) == {"anna.txt": 0.4}

    def test_a_paper_given_twice_is_checked_once(self, class_):
        paths = ["papers/ben.txt", class_, "papers/ben.txt"]
        checked = list(check_files(paths, compare_papers=True))
        names = ["papers/ben.txt", "papers/anna.txt", "papers/chen.txt"]
        assert [result.paper for result in checked] == names
        assert rates(checked)["ben.txt"] == round(60 / 210, 3)
        # A paper by two paths is not its own source.
        checked = list(check_files(["papers/chen.txt", "./papers/chen.txt"], compare_papers=True))
        assert {result.report.no_verdict for result in checked} == {"nothing_compared"}

    def test_papers_of_a_folder_are_found_and_other_files_are_told(self, class_, make):
        check("papers/ben.txt", "library").to_html("papers/ben.html")
        for name in ("b/2.txt", "b/1.txt", "b/c/3.md"):
            make(f"papers/{name}", "x")
        names = ["anna.txt", "b/1.txt", "b/2.txt", "b/c/3.md", "ben.txt", "chen.txt"]
        assert find_papers([class_]) == ([f"papers/{name}" for name in names], [])
        os.mkfifo("papers/pipe.txt")
        for name in ("photo.jpg", "photo.JPG", "unnamed"):
            make(f"papers/{name}", b"\xff\xd8\xff\xe0\0\x10JFIF")
        found, notes = find_papers([class_, "papers/anna.txt"])
        assert found == [f"papers/{name}" for name in names]
        assert sorted(notes) == [
            "papers: 1 link, pipe, socket or device is skipped: papers/pipe.txt.",
            "papers: 3 files of other formats are skipped: 2 .jpg, 1 without extension"
            " (photo.JPG, photo.jpg, unnamed).",
        ]
        os.mkdir("empty")
        with pytest.raises(InputError, match="empty: must contain text files"):
            find_papers(["empty"])

    @pytest.mark.parametrize("name", ["src", "src/a.py"])
    def test_source_code_with_the_format_text(self, make, name):
        program = "\n".join(f"def ferry_{i}(harbour):\n    return harbour + {i}" for i in range(9))
        make("src/a.py", program)
        make("src/b.c", "int main() { return 0; }")
        make("lib/c.py", program)
        make("lib/README.md", "about")
        make("lib/made.pyc", bytes(9))
        with pytest.raises(InputError, match=r"format='text'"):
            list(check_files(["src"], "lib"))
        for library in ("lib", "lib/c.py"):
            first, *others = check_files([name], library, format="text")
            assert first.report.rates.total > 0.99
            assert [other.report.rates.total for other in others] == [0] * (name == "src")
        # Tables of the library stay tables, and are the only records.
        make("library.jsonl", json.dumps({"text": program, "id": "known"}) + "\n")
        (checked,) = check_files(["src/a.py"], "library.jsonl", format="text")
        assert [source.id for source in checked.report.sources] == ["known"]
        with pytest.raises(ParameterError, match=r"must be text, since each file is one document"):
            list(check_files(["src/a.py"], "library.jsonl", format="jsonl"))


def folder_of(papers, page="out", **options):
    settings = {"inputs": papers, "json": None, "language": "zh", "force": False} | options
    return ReportFolder(papers, page=page, **settings)


def write_reports(papers, **options):
    folder = folder_of(find_papers(papers)[0], **options)
    for result in check_files(papers, compare_papers=True, workers=1):
        folder.write(result)
    return folder.finish()


class TestReportFolder:
    def test_a_report_for_each_paper_and_a_page_with_links(self, class_):
        assert write_reports([class_]) == Path("out/index.html")
        pages = {path.stem: path.read_text("utf-8") for path in Path("out").glob("*.html")}
        names = ["anna", "ben", "chen"]
        assert sorted(pages) == [*names, "index"]
        assert set(os.listdir("out")) == {"index.csv", *(f"{name}.html" for name in pages)}
        for name in names:
            assert f"{name}.txt" in pages[name]
        # The highest rate comes first.
        links = re.findall('href="([a-z]*.html)"', pages["index"])
        assert list(dict.fromkeys(links)) == ["anna.html", "ben.html", "chen.html"]
        assert "40.0" in pages["index"]

    def test_json_beside_them_elsewhere_or_alone(self, class_):
        names = {"anna.json", "ben.json", "chen.json"}
        for page, folder in (("out", "out"), ("pages", "data"), (None, "alone")):
            written = write_reports([class_], page=page, json=folder)
            assert written == (page and Path(page, "index.html"))
            assert {name for name in os.listdir(folder) if name.endswith(".json")} == names
        assert not names & set(os.listdir("pages"))
        assert set(os.listdir("alone")) == names

    @pytest.mark.parametrize("name", ["index.html", "index.csv", "ben.html", "chen.json"])
    def test_existing_file_is_not_replaced(self, class_, make, name):
        make(f"out/{name}", "precious")
        with pytest.raises(OutputError, match=f"{name}: exists already, so nothing was written"):
            write_reports([class_], json="out")
        assert os.listdir("out") == [name]
        assert Path("out", name).read_text() == "precious"
        write_reports([class_], json="out", force=True)
        assert Path("out", name).read_text("utf-8") != "precious"

    def test_other_files_stay_and_unreadable_papers_have_no_report(self, class_, make):
        make("papers/bad.docx", b"PK\x03\x04broken")
        make("papers/empty.txt", "。\n")
        make("out/ben.json", "mine")
        page = write_reports([class_]).read_text("utf-8")
        assert Path("out/ben.json").read_text() == "mine"
        assert not {"bad.html", "empty.html"} & set(os.listdir("out"))
        assert all(f">{name}<" in page for name in ("bad.docx", "empty.txt"))

    def test_colliding_names_are_numbered(self, make):
        names = ("a/essay.txt", "b/essay.txt", "Essay.md", "essay-2.txt", "index.txt", "论文.txt")
        papers = [make(name, letters(RNG, 30)) for name in (*names, ".txt")]
        text = write_reports(papers).read_text("utf-8")
        names = os.listdir("out")
        assert len(names) == len(papers) + 2
        assert len({name.casefold() for name in names}) == len(names)
        assert {"essay.html", "index.html", "论文.html"} <= set(names)
        assert text.count('href="') >= len(papers)

    def test_a_file_in_its_place(self, make):
        make("out", "a file")
        with pytest.raises(OutputError, match=r"^out: cannot be created"):
            folder_of(["a.txt"])

    def test_table_has_a_line_for_each_paper(self, make):
        make("p/=1+1.txt", PARTS[0])
        make("p/b.txt", PARTS[0] + PARTS[1])
        make("p/empty.txt", "。")
        write_reports(["p"], language="en")
        data = Path("out/index.csv").read_bytes()
        assert data.startswith(b"\xef\xbb\xbf")
        header, *rows = csv.reader(io.StringIO(data.decode("utf-8-sig"), newline=""))
        assert (header[0], header[4]) == ("File", "Total")
        assert [row[0] for row in rows] == ["'=1+1.txt", "b.txt", "empty.txt"]
        assert (rows[0][4], rows[0][7]) == ("100.00%", "b.txt")
        assert rows[2][-1].startswith("Must have letters")


def test_check_with_cover_thresholds_and_descriptions_makes_finished_reports(class_):
    described = parse_table("id,title\na.txt,甲\n".encode(), "d.csv", ("id", "title"))
    covers = parse_table("file,author\nben.txt,林岚\n".encode(), "c.csv", ("file", "author"))
    with open_library("library", workers=1) as library:
        limits, thresholds = ReportLimits(max_passages=1), Thresholds(reject_above=0.1)
        settings = CheckSettings(limits=limits, thresholds=thresholds, descriptions=described)
        paper_check = PaperCheck(settings, library, covers=Covers(Cover("题"), covers))
        readings = [
            Reading("no.txt", None, "damaged"),
            Reading("ben.txt", read_file(class_ + "/ben.txt")),
        ]
        unread, checked = paper_check.check_all(readings, 2)
        late = list(paper_check.check_all(readings, 2, lambda *_: "took too long"))
    assert (unread.report, unread.problem) == (None, "damaged")
    assert [one.problem for one in late] == ["damaged", "took too long"]
    report = checked.report
    assert (report.cover.title, report.cover.author) == ("题", "林岚")
    assert (report.thresholds, report.settings["max_passages"]) == (thresholds, 1)
    assert [source.title for source in report.sources] == ["甲"]


def test_each_step_is_one_short_function_of_the_name_of_its_file():
    for path in sorted(Path(steps.__path__[0]).glob("[a-z]*.py")):
        functions = {
            node.name: node
            for node in ast.parse(path.read_text("utf-8")).body
            if isinstance(node, ast.FunctionDef)
        }
        assert path.stem == "draft" or path.stem in functions
        assert all(one.end_lineno - one.lineno < 40 for one in functions.values()), path.name


# Pairs and groups of papers

LONG = [letters(RNG, 100) for _ in range(3)]


@pytest.fixture
def compared(make):
    """Anna has most of what Ben has, Ben a part of Chen's, Dora nothing of anybody's."""
    make("p/anna.txt", LONG[0])
    make("p/ben.txt", LONG[0] + LONG[1] + letters(RNG, 100))
    make("p/chen.txt", LONG[1] + letters(RNG, 900))
    make("p/dora.txt", letters(RNG, 200))
    return list(check_files(["p"], compare_papers=True, workers=1))


def test_pairs_and_cells(compared):
    cells = among.make_cells(compared)
    assert set(cells) == {(0, 1), (1, 0), (1, 2), (2, 1)}
    assert cells[0, 1] == (1.0, 1)
    assert cells[1, 2].rate == pytest.approx(1 / 3, abs=0.02)
    # The numbers are those of the sources in the report of the row.
    for (row, column), cell in cells.items():
        assert compared[row].report.sources[cell.source - 1].id == compared[column].id
    pairs = among.rank_pairs(cells)
    assert [pair[:2] for pair in pairs] == [(0, 1), (1, 2)]


@pytest.mark.parametrize(
    ("least", "groups"),
    [
        (0.5, [[0, 1, 2, 3], [4, 5]]),
        (0.500001, [[0, 1], [2, 3], [4, 5]]),
        (0.95, []),
        (0, [[0, 1, 2, 3], [4, 5, 6]]),
    ],
)
def test_groups(least, groups):
    rates = {(0, 1): 0.9, (2, 3): 0.8, (4, 5): 0.7, (2, 1): 0.5, (6, 4): 0.1, (0, 3): 0.1}
    pairs = [among.Pair(*papers, rate) for papers, rate in rates.items()]
    assert among.group_papers(pairs, least) == groups


def test_a_file_of_the_library_with_the_name_of_a_paper_is_not_the_paper(make):
    make("old/anna.txt", LONG[2])
    make("anna.txt", letters(RNG, 100))
    make("ben.txt", LONG[2])
    checked = list(check_files(["anna.txt", "ben.txt"], "old", compare_papers=True, workers=1))
    assert [source.id for source in checked[1].report.sources] == ["anna.txt"]
    assert among.make_cells(checked) == {}


def test_papers_without_comparison_have_no_pairs(compared):
    (checked,) = check_files(["p/anna.txt"], "p", workers=1)
    page = render_summary([checked, *compared], [None] * 5, language="en")
    assert "Pairs of papers" in page
    assert "Pairs of papers" not in render_summary([checked] * 2, [None] * 2, language="en")


@pytest.mark.parametrize("language", ["zh", "en"])
def test_more_papers_than_a_matrix_shows(compared, language):
    many = [*compared, *[CheckResult(f"{n}", compared[3].report, None, f"{n}") for n in range(57)]]
    page = render_summary(many, ["a.html"] * 61, language=language)
    assert 'class="matrix"' not in page
    assert 'class="stack pairs"' in page
    assert 'class="matrix"' in render_summary(many[:60], ["a.html"] * 60, language=language)


@pytest.mark.parametrize(
    ("begin", "shown"),
    [
        *((sign, f"'{sign}") for sign in ("=", "+", "-", "@", "＝")),
        *((f"{space}=", f"'{space}'=") for space in "\t\r\n"),
        # A spreadsheet of another country splits at semicolons.
        *((f"{begin};{sign}", f"{begin};'{sign}") for begin in ("", "a") for sign in "=+-@＝"),
        ("a\n=", "a\n'="),
    ],
)
def test_no_cell_is_a_formula(begin, shown):
    rest = 'cmd|"/c calc"!A1'
    data = write_spreadsheet([["a", begin + rest, None, "\udcff"]])
    (row,) = csv.reader(io.StringIO(data.decode("utf-8-sig"), newline=""))
    assert row == ["a", shown + rest, "", "?"]
