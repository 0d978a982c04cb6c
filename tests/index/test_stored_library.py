"""An index as the library of a paper check: sketched once, and no more of it than is there."""

import random
from dataclasses import replace

import pyarrow as pa
import pytest
from sqlalchemy import select
from tests.index.consistency import check_consistent
from tests.index.written import letters
from tests.kit.progress import RecordedProgress

from neardup import Index, NeardupError, ParameterError, check
from neardup.index.backends import open_database
from neardup.index.schema import documents, passages
from neardup.papers import check_files, open_library
from neardup.papers.alignment import get_aligner
from neardup.papers.library import stored as library
from neardup.readers.file_text import FileText

RNG = random.Random(21)
TEXTS = {f"d{number}": letters(RNG, 150) for number in range(8)}
OWN = letters(RNG, 90)


class Counting:
    """An aligner that counts the texts it sketches."""

    def __init__(self, core):
        self._core, self.sketched = core, []

    def sketches(self, many, *, workers):
        self.sketched += many.to_pylist()
        return self._core.sketches(many, workers=workers)

    def __getattr__(self, name):
        return getattr(self._core, name)


@pytest.fixture
def sketched(monkeypatch):
    """The texts that were sketched."""
    counts = Counting(get_aligner())
    monkeypatch.setattr(library, "get_aligner", lambda: counts)
    return counts.sketched


@pytest.fixture
def index(index):
    rows = [{"id": id, "text": text, "at": "2024-03-01"} for id, text in TEXTS.items()]
    index.add_many(rows, at_field="at")
    return index


def sources(library, *ids, text=""):
    """The ids that a paper with the texts of some documents has as sources."""
    paper = FileText(OWN + "。".join([*(TEXTS[id] for id in ids), text]), "text")
    return sorted(source.id for source in check(paper, library).sources)


def stored(location):
    """The shingles of each document, and how these were made."""
    every = set(check_consistent(location))
    of = documents.c.number == passages.c.number
    columns = (documents.c.id, passages.c.made_by, passages.c.shingles)
    query = select(*columns).select_from(passages.outerjoin(documents, of))
    with open_database(location, must_exist=True) as database, database.reading() as connection:
        rows = connection.execute(query.order_by(passages.c.number)).all()
    assert {row.id for row in rows} <= every
    return {row.id: (row.made_by, bytes(row.shingles)) for row in rows}


def test_library_is_sketched_once(index, location, sketched):
    assert stored(location) == {}
    assert sources(location, "d3") == ["d3"]
    assert sketched == list(TEXTS.values())
    first = stored(location)
    assert list(first) == list(TEXTS)
    made = get_aligner().sketches(pa.array(TEXTS.values(), pa.large_string()), workers=1)
    assert [shingles for _, shingles in first.values()] == made
    assert sources(location, "d5") == ["d5"]
    assert sources(index, "d6") == ["d6"]
    assert len(sketched) == len(TEXTS)
    assert stored(location) == first


def test_only_added_documents_are_sketched(index, location, sketched):
    sources(location)
    sketched.clear()
    more = {"e0": letters(RNG, 100), "dots": "。。。", "empty": ""}
    index.add("e0", more["e0"])
    index.add_many([{"id": id, "text": more[id]} for id in ("dots", "empty")])
    assert len(stored(location)) == len(TEXTS)
    assert sources(location, text=more["e0"]) == ["e0"]
    assert sketched == list(more.values())
    assert list(stored(location)) == [*TEXTS, *more]
    assert stored(location)["empty"][1] == stored(location)["dots"][1] == b""


def test_removed_document_is_not_a_source_and_leaves_nothing(index, location, sketched):
    index.add("new", letters(RNG, 100), at="2024-06-01")
    assert sources(location, "d1", "d2") == ["d1", "d2"]
    sketched.clear()
    for change, left, expected in (
        (lambda: index.remove("d1"), {*TEXTS, "new"} - {"d1"}, ["d2"]),
        (lambda: index.expire(before="2024-05-01"), {"new"}, []),
    ):
        change()
        assert set(stored(location)) == left
        assert sources(location, "d1", "d2") == expected
    assert sketched == []
    # The number of the last document may be used again.
    text = letters(RNG, 100)
    index.remove("new")
    index.add("new", text)
    assert sources(location, text=text) == ["new"]


def test_sketch_of_another_format_is_made_again(index, location, sketched, monkeypatch):
    sources(location)
    before = stored(location)
    monkeypatch.setattr(library, "_FORMAT", library._FORMAT + 1)
    sketched.clear()
    assert sources(location, "d1") == ["d1"]
    assert sketched == list(TEXTS.values())
    after = stored(location)
    assert list(after) == list(before)
    assert {made_by for made_by, _ in before.values()}.isdisjoint(m for m, _ in after.values())
    index.add("e", letters(RNG, 60))
    sketched.clear()
    sources(location)
    assert len(sketched) == 1


def test_more_than_one_transaction_makes(location, sketched):
    many = [{"id": f"m{number}", "text": letters(RNG, 40)} for number in range(1100)]
    watched = RecordedProgress()
    with Index(location, workers=1) as index:
        index.add_many(many)
        for _ in range(2):
            with open_library(index, workers=1, progress=watched) as opened:
                assert (len(opened), opened.name) == (1100, index.stats().location)
                documents = opened.documents([1050, 7, 1050])
                assert [(document.id, document.text) for document in documents] == [
                    tuple(many[position].values()) for position in (1050, 7, 1050)
                ]
    assert sketched == [row["text"] for row in many]
    assert watched.stages == [("library", 1100)]
    (steps,) = watched.steps
    assert (max(steps), sum(steps)) == (100, 1100)


@pytest.mark.usefixtures("index")
def test_index_finds_the_same_as_files(location, make):
    lines = "".join(f'{{"id": "{id}", "text": "{text}"}}\n' for id, text in TEXTS.items())
    paper = FileText(OWN + "。".join(TEXTS[id] for id in ("d1", "d4", "d6")), "text")
    of_files = check(paper, make("library.jsonl", lines))
    of_index = check(paper, location)
    assert of_index.passages == of_files.passages
    assert of_index.rates == of_files.rates
    assert [source.id for source in of_index.sources] == [source.id for source in of_files.sources]
    assert of_index.library_documents == len(TEXTS)


def test_a_check_changes_no_answer_and_leaves_the_index_open(index, location):
    assert index.add("copy", TEXTS["d2"]) is not None

    def answers():
        queried = [index.query(text) for text in TEXTS.values()]
        return replace(index.stats(), bytes=0), list(index.documents()), queried

    before = answers()
    # Duplicates are sources like all others.
    for given in (index, location, [location]):
        assert sources(given, "d2") == ["copy", "d2"]
    assert answers() == before


def test_document_removed_meanwhile_is_not_a_source(index):
    with open_library(index, workers=1) as opened:
        index.remove("d1")
        assert sources(opened, "d1", "d2") == ["d2"]


def test_many_papers(index, make):
    papers = [make(f"papers/{id}.txt", OWN + TEXTS[id]) for id in ("d1", "d2")]
    checked = check_files(papers, index, compare_papers=True)
    assert [sorted(source.id for source in paper.report.sources) for paper in checked] == [
        ["./papers/d2.txt", "d1"],
        ["./papers/d1.txt", "d2"],
    ]


@pytest.mark.usefixtures("index")
def test_refused_libraries(location, new_place, make):
    with pytest.raises(ParameterError, match="one index, or files"):
        sources([location, make("other.txt", OWN)])
    with pytest.raises(NeardupError, match="no such file"):
        sources(new_place())
