"""A library of files: what is in it, what is fetched, and what is refused."""

import os
import random
from pathlib import Path

import pytest
from tests.conftest import ROOT
from tests.index.written import letters
from tests.kit.progress import RecordedProgress

from neardup import Index, InputError, check
from neardup.base.locations import is_index
from neardup.papers import open_library
from neardup.papers.alignment import get_aligner
from neardup.papers.library import combine_libraries
from neardup.readers import read_bytes

RNG = random.Random(9)
TEXTS = [letters(RNG, 120) for _ in range(6)]


def fetched(library, *positions):
    return [(text.position, text.id, text.text) for text in library.documents(positions)]


def candidates(library, text, limit=10):
    paper = get_aligner().paper(text)
    return [position for position, _ in library.candidates(paper, least=20, limit=limit)]


@pytest.fixture
def folder(make):
    for number, text in enumerate(TEXTS):
        make(f"library/{number}.txt", text)
    return Path("library")


def test_documents_of_a_folder_are_its_files_of_text(folder, make):
    make("library/grades.csv", "id,grade\n1,A\n")
    make("library/data.jsonl", '{"text":"no paper"}\n')
    make("library/README.md", TEXTS[0])
    with open_library(folder, workers=1) as library:
        assert (len(library), library.name, library.problems) == (7, "library", 0)
        expected = [(number, f"{number}.txt", TEXTS[number]) for number in (3, 0, 5, 3)]
        assert fetched(library, 3, 0, 5, 3) == expected
        assert list(library.documents([])) == []
        assert library.notes == [
            "library: 2 files of other formats are skipped: "
            "1 .csv, 1 .jsonl (data.jsonl, grades.csv)."
        ]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.jsonl", f'{{"id": "x", "title": "《渡口》", "text": "{TEXTS[0]}"}}\n'),
        ("a.csv", f"id,title,text\nx,《渡口》,{TEXTS[0]}\n"),
    ],
)
def test_a_record_has_an_id_and_a_title_and_is_no_file(name, content, make):
    with open_library(make(name, content), workers=1) as library:
        (source,) = check(make("paper.txt", letters(RNG, 30) + TEXTS[0]), library).sources
        assert (source.id, source.title, source.characters) == ("x", "《渡口》", len(TEXTS[0]))
        assert fetched(library, 0) == [(0, "x", TEXTS[0])]
        assert library.positions_of("x") == set()


def test_libraries_one_after_the_other(folder, make):
    # As many shingles as the first: of equals the earlier comes first.
    make("second/x.txt", TEXTS[1] + "。")
    make("second/bad.docx", b"PK\x03\x04")
    first, second = (open_library(path, workers=1) for path in (folder, "second"))
    with combine_libraries([first, second]) as both:
        assert (len(both), both.problems) == (8, 1)
        assert both.name == "library + second"
        assert sorted(candidates(both, TEXTS[1])) == [1, 7]
        assert candidates(both, TEXTS[1], limit=1) == [1]
        texts = [text for _, _, text in fetched(both, 7, 0, 1)]
        assert texts == [Path("second/x.txt").read_text("utf-8"), TEXTS[0], TEXTS[1]]
        assert both.positions_of("second/x.txt") == {7}
        assert both.positions_of("library/3.txt") == {3}
    assert combine_libraries([first]) is first


def test_positions_of_a_file_follow_its_links(folder, make, tmp_path):
    make("copy/0.txt", TEXTS[0])
    os.link(folder / "2.txt", "2.txt")
    with open_library([folder, "copy"], workers=1) as library:
        assert library.positions_of(folder / "0.txt") == {0}
        assert library.positions_of(tmp_path / "library" / ".." / "library" / "0.txt") == {0}
        assert library.positions_of("copy/0.txt") == {6}
        # The same file by a link of the same name, and files that are not there.
        assert library.positions_of("2.txt") == {2}
        assert library.positions_of("0.txt") == library.positions_of("library") == set()
        (folder / "1.txt").unlink()
        assert library.positions_of("library/1.txt") == set()


def test_unreadable_file_keeps_its_position_in_joined_libraries(folder, make):
    make("alone/x.txt", TEXTS[0])
    make("alone/bad.docx", b"PK\x03\x04")
    alone = open_library("alone", workers=1)
    with combine_libraries([alone, open_library(folder, workers=1)]) as both:
        assert alone.positions_of("alone/x.txt") == both.positions_of("alone/x.txt") == {1}


def test_unreadable_file_is_reported_and_left_out(folder, make):
    make("library/7.docx", b"PK\x03\x04broken")
    make("library/8.pdf", b"%PDF-1.7 broken")
    told = RecordedProgress()
    with open_library(folder, workers=1, progress=told) as library:
        assert library.problems == 2
        assert candidates(library, TEXTS[5]) == [5]
    assert [problem.split(":")[0] for problem in told.problems] == [
        "library/7.docx",
        "library/8.pdf",
    ]
    assert told.stages[0][0] == "library"
    assert sum(told.done) == 8


def test_a_library_of_unreadable_files(make):
    """There is no source; that nothing could be read stands in the report."""
    for number in range(5):
        make(f"library/{number}.pdf", b"%PDF-1.7 broken")
    report = check(make("paper.txt", TEXTS[0]), "library")
    assert (report.rates, report.library_documents, report.sources) == (None, 0, ())
    (note,) = (note for note in report.notes if "library/" in note)
    assert note.startswith("5 documents of the library could not be read: ")
    assert "library/0.pdf, library/1.pdf, library/2.pdf, ..." in note


def test_an_open_library_is_returned_and_not_closed(folder, make):
    paper = make("paper.txt", TEXTS[0])
    with open_library(folder, workers=1) as library:
        assert open_library(library) is library
        assert check(paper, library).rates.total == 1
        assert list(library.documents([0]))
    with pytest.raises(ValueError, match="closed"):
        list(library.documents([0]))


def test_more_texts_than_are_fetched_together(make):
    many = [letters(RNG, 40) for _ in range(150)]
    lines = "".join(f'{{"id": "{n}", "text": "{text}"}}\n' for n, text in enumerate(many))
    with open_library(make("many.jsonl", lines), workers=1) as library:
        order = RNG.sample(range(150), 150)
        assert fetched(library, *order) == [(n, str(n), many[n]) for n in order]


def test_fields_of_an_index_describe_its_documents(tmp_path):
    extra = {"author": ["林岚", "张平"], "year": 2019, "journal": "", "room": 7}
    with Index(tmp_path / "library.db") as index:
        index.add("a", TEXTS[0], title="渡口", extra=extra)
        report = check(read_bytes(TEXTS[0].encode(), "a.txt"), index)
    (source,) = report.sources
    told = source.title, source.author, source.year, source.journal
    assert told == ("渡口", "林岚, 张平", "2019", None)


@pytest.mark.parametrize("missing", ["nosuch", "library/nosuch.txt", "nosuch.db", ""])
def test_a_missing_library(missing, folder):
    with pytest.raises(InputError, match="no such file or folder") as caught:
        open_library([folder, missing])
    assert str(caught.value).startswith(f"{missing}:")


@pytest.mark.parametrize(
    ("location", "expected"),
    [
        ("postgresql://somewhere/db", True),
        ("postgres://somewhere/db", True),
        ("postgresql+psycopg://somewhere/db", True),
        ("n.db", True),
        ("postgresql:somewhere", False),
        ("n.txt", False),
        ("nosuch", False),
        (ROOT, False),
    ],
)
def test_index_is_recognized(make, location, expected):
    make("n.db", b"SQLite format 3\0" + bytes(100))
    make("n.txt", "SQLite format 4")
    assert is_index(location) is expected
