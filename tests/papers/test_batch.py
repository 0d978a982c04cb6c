"""Many papers: in which order, against what, and the folder of their reports."""

import ast
import json
import os
import random
from pathlib import Path

import pytest
from tests.index.written import letters
from tests.kit.progress import RecordedProgress
from tests.papers.test_rates import check_consistent

from neardup import InputError, OutputError, ParameterError, check
from neardup.papers import Cover, ReportLimits, Thresholds, check_files, open_library, steps
from neardup.papers.cover import Covers, parse_table
from neardup.papers.paper_check import PaperCheck
from neardup.papers.reading import Reading, find_papers
from neardup.papers.report_files import ReportFolder
from neardup.papers.settings import CheckSettings
from neardup.readers import read_file

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
        anna, ben, chen = (result.report for result in checked)
        assert [source.id for source in anna.sources] == ["papers/ben.txt"]
        assert [source.id for source in ben.sources] == ["papers/anna.txt"]
        assert anna.library == "papers"
        assert anna.notes == chen.notes
        for report in (anna, ben, chen):
            check_consistent(report)

    def test_both(self, class_):
        checked = list(check_files([class_], "library", compare_papers=True, workers=1))
        assert rates(checked)["ben.txt"] == round(120 / 210, 3)
        ben = checked[1].report
        named = {source.id: source.title for source in ben.sources}
        assert named == {"a.txt": None, "./papers/anna.txt": "anna.txt"}
        assert ben.notes == ()
        assert (ben.library, ben.library_documents) == ("library + papers", 3)

    @pytest.mark.usefixtures("class_")
    def test_one_paper_is_not_held_against_itself(self, make):
        make("alone/anna.txt", PARTS[0])
        for paper, library in (
            ("papers/anna.txt", None),
            ("papers/anna.txt", "papers/anna.txt"),
            ("papers/anna.txt", "library"),
            ("alone", None),
        ):
            (result,) = check_files([paper], library, compare_papers=True)
            rates = result.report.rates
            assert (rates and rates.total, result.report.sources) == (
                0 if library == "library" else None,
                (),
            )

    def test_own_file_in_the_library_is_noted(self, class_):
        for result in check_files([class_], class_, compare_papers=True):
            assert [note for note in result.report.notes if "own file" in note]
            assert "./" + result.paper not in {source.id for source in result.report.sources}

    def test_a_copy_under_another_name_is_another_paper(self, class_, make):
        make("papers/zoe.txt", Path("papers/anna.txt").read_text("utf-8"))
        assert rates(check_files([class_], compare_papers=True))["zoe.txt"] == 1.0

    def test_neither(self, class_):
        with pytest.raises(ParameterError, match=r"'library' .*\(compare_papers\)"):
            next(check_files([class_]))

    def test_a_library_with_the_papers_in_it(self, class_):
        papers = rates(check_files([class_], ["library", "papers"], compare_papers=True, workers=1))
        assert (papers["chen.txt"], papers["anna.txt"]) == (0, 0.4)

    def test_excluded_text(self, class_, make):
        form = make("form.txt", PARTS[0])
        checked = list(check_files([class_], compare_papers=True, exclude=[form]))
        assert set(rates(checked).values()) == {0}
        assert checked[0].report.characters == 90

    def test_sources_left_out(self, class_):
        without = ["./papers/anna.txt", "a.txt"]
        checked = list(
            check_files([class_], "library", compare_papers=True, without_sources=without)
        )
        assert rates(checked)["ben.txt"] == 0
        assert sorted(checked[1].report.without_sources) == without
        assert rates(checked)["anna.txt"] == 0.4


class TestPapers:
    def test_a_broken_one_does_not_stop_the_others(self, class_, make):
        make("papers/bad.docx", b"PK\x03\x04broken")
        told = RecordedProgress()
        checked = list(check_files([class_, "nosuch.txt"], compare_papers=True, progress=told))
        assert [result.report is None for result in checked] == [False, True, False, False, True]
        assert checked[1].problem.startswith("papers/bad.docx:")
        assert checked[4].problem.startswith("nosuch.txt: no such file")
        assert told.problems == [checked[1].problem, checked[4].problem]
        assert ("papers", 5) in told.stages
        assert rates([checked[0]]) == {"anna.txt": 0.4}

    def test_a_paper_given_twice_is_checked_once(self, class_):
        paths = ["papers/ben.txt", class_, "papers/ben.txt"]
        assert find_papers(paths)[0] == ["papers/ben.txt", "papers/anna.txt", "papers/chen.txt"]
        checked = list(check_files(paths, compare_papers=True))
        assert len(checked) == 3
        assert rates(checked)["ben.txt"] == round(60 / 210, 3)

    @pytest.mark.usefixtures("class_")
    def test_a_paper_by_two_paths_is_not_its_own_source(self):
        checked = list(check_files(["papers/chen.txt", "./papers/chen.txt"], compare_papers=True))
        assert {result.report.no_verdict for result in checked} == {"nothing_compared"}

    def test_folders_within_folders(self, make):
        for name in ("b/2.txt", "b/1.txt", "a.txt", "b/c/3.txt"):
            make(f"all/{name}", "x")
        assert find_papers(["all"])[0] == [
            f"all/{name}" for name in sorted(["a.txt", "b/1.txt", "b/2.txt", "b/c/3.txt"])
        ]

    def test_old_formats_are_papers_and_pictures_are_none(self, class_, make):
        make("papers/dora.doc", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600))
        make("papers/emil.RTF", b"{\\rtf1 x}")
        make("papers/photo.jpg", b"\xff\xd8\xff\xe0\0\x10JFIF")
        told = RecordedProgress()
        checked = list(check_files([class_], compare_papers=True, progress=told))
        problems = {result.paper: result.problem for result in checked if result.problem}
        assert list(problems) == ["papers/dora.doc", "papers/emil.RTF"]
        assert all("save it as .docx" in problem for problem in problems.values())
        make("papers/photo.JPG", b"\xff\xd8\xff\xe0\0\x10JFIF")
        make("papers/unnamed", b"\xff")
        (note,) = find_papers([class_, "papers/anna.txt"])[1]
        assert note == (
            "papers: 3 files of other formats are skipped: 2 .jpg, 1 without extension"
            " (photo.JPG, photo.jpg, unnamed)."
        )
        assert len(told.notes) == 1

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

    def test_a_pipe_among_papers(self, class_):
        before = find_papers([class_])[0]
        os.mkfifo("papers/pipe.txt")
        assert find_papers([class_])[0] == before
        assert find_papers([class_])[1] == [
            "papers: 1 link, pipe, socket or device is skipped: papers/pipe.txt."
        ]

    def test_reports_are_no_papers(self, class_):
        before = find_papers([class_])[0]
        check("papers/ben.txt", "library").to_html("papers/ben.html")
        assert find_papers([class_])[0] == before
        assert find_papers([class_])[1] == []

    @pytest.mark.usefixtures("class_")
    def test_paper_without_letters_is_a_problem(self, make):
        make("papers/empty.txt", "。。。\n")
        (result,) = check_files(["papers/empty.txt"], "library")
        assert result.report is None
        assert str(result.problem).startswith("papers/empty.txt: ")
        assert "letter" in str(result.problem)

    def test_none(self, make):
        os.mkdir("empty")
        with pytest.raises(InputError, match="empty: must contain text files"):
            find_papers(["empty"])
        assert find_papers(make("x.txt"))[0] == ["x.txt"]
        for nothing in ([], b"x.txt", 7, None, [7], [None]):
            with pytest.raises(ParameterError, match="'papers' parameter must be"):
                find_papers(nothing)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("min_passage_length", 4),
        ("workers", -1),
        ("compare_papers", 1),
        ("exclude", 7),
        ("papers", 7),
        ("library", 7),
    ],
)
def test_bad_parameters(class_, name, value):
    options = {"papers": [class_], "library": "library"} | {name: value}
    with pytest.raises(ParameterError, match=f"'{name}' parameter must be"):
        list(check_files(**options))


def folder_of(papers, **options):
    settings = {
        "inputs": papers,
        "page": "out",
        "json": None,
        "language": "zh",
        "force": False,
    } | options
    return ReportFolder(papers, **settings)


class TestReportFolder:
    def write(self, class_, **options):
        folder = folder_of(find_papers([class_])[0], **options)
        for result in check_files([class_], compare_papers=True, workers=1):
            folder.write(result)
        return folder.finish()

    def test_a_report_for_each_paper_and_a_page_with_links(self, class_):
        page = self.write(class_)
        assert page == Path("out/index.html")
        assert sorted(os.listdir("out")) == [
            "anna.html",
            "ben.html",
            "chen.html",
            "index.csv",
            "index.html",
        ]
        text = page.read_text("utf-8")
        for name in ("anna", "ben", "chen"):
            assert f'href="{name}.html"' in text
            assert f"{name}.txt" in Path(f"out/{name}.html").read_text("utf-8")
        # The highest rate comes first.
        assert text.index("anna.html") < text.index("ben.html") < text.index("chen.html")
        assert "40.0" in text

    def test_json_beside_them_elsewhere_or_alone(self, class_):
        self.write(class_, json="out")
        names = {"anna", "ben", "chen"}
        assert {Path(name).stem for name in os.listdir("out") if name.endswith(".json")} == names
        self.write(class_, json="data", page="pages")
        assert sorted(os.listdir("data")) == ["anna.json", "ben.json", "chen.json"]
        assert "anna.json" not in os.listdir("pages")
        assert self.write(class_, page=None, json="alone") is None
        assert sorted(os.listdir("alone")) == sorted(os.listdir("data"))

    @pytest.mark.parametrize("name", ["index.html", "index.csv", "ben.html", "chen.json"])
    def test_existing_file_is_not_replaced(self, class_, make, name):
        make(f"out/{name}", "precious")
        with pytest.raises(OutputError, match=f"{name}: exists already, so nothing was written"):
            self.write(class_, json="out")
        assert os.listdir("out") == [name]
        assert Path("out", name).read_text() == "precious"
        self.write(class_, json="out", force=True)
        assert Path("out", name).read_text("utf-8") != "precious"

    def test_other_files_stay_and_unreadable_papers_have_no_report(self, class_, make):
        make("papers/bad.docx", b"PK\x03\x04broken")
        make("papers/empty.txt", "。\n")
        make("out/ben.json", "mine")
        page = self.write(class_).read_text("utf-8")
        assert Path("out/ben.json").read_text() == "mine"
        assert not {"bad.html", "empty.html"} & set(os.listdir("out"))
        assert ">bad.docx<" in page
        assert ">empty.txt<" in page

    def test_colliding_names_are_numbered(self, make):
        papers = [
            make(name, letters(RNG, 30))
            for name in [
                "a/essay.txt",
                "b/essay.txt",
                "Essay.md",
                "essay-2.txt",
                "index.txt",
                "论文.txt",
                ".txt",
            ]
        ]
        folder = folder_of(papers)
        for result in check_files(papers, compare_papers=True, workers=1):
            folder.write(result)
        text = folder.finish().read_text("utf-8")
        names = os.listdir("out")
        assert len(names) == len(papers) + 2
        assert len({name.casefold() for name in names}) == len(names)
        assert {"essay.html", "index.html", "论文.html"} <= set(names)
        assert text.count('href="') >= len(papers)

    def test_a_file_in_its_place(self, make):
        make("out", "a file")
        with pytest.raises(OutputError, match=r"^out: cannot be created"):
            folder_of(["a.txt"])


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
