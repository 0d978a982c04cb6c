"""An index as the library of a paper check: sketched once, and no more of it than is there."""

import random
from dataclasses import replace

import pyarrow as pa
import pytest
from sqlalchemy import select
from tests.index.written import letters
from tests.kit.progress import RecordedProgress

from neardup import Index, NeardupError, ParameterError, check
from neardup.index.backends import open_database
from neardup.index.schema import documents, passages, texts
from neardup.papers import check_files, open_library
from neardup.papers.alignment import get_aligner
from neardup.papers.library import stored as library
from neardup.readers.file_text import FileText

#: Sketched from what any database stores.

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
def counting(monkeypatch):
    core = get_aligner()
    counts = Counting(core)
    monkeypatch.setattr(library, "get_aligner", lambda: counts)
    return counts


@pytest.fixture
def index(index):
    rows = [{"id": id, "text": text, "at": "2024-03-01"} for id, text in TEXTS.items()]
    index.add_many(rows, at_field="at")
    return index


def paper_with(*ids):
    return FileText(OWN + "。".join(TEXTS[id] for id in ids), "text")


def sources(report):
    return sorted(source.id for source in report.sources)


def stored(location):
    """The ids that have shingles, how these were made, and whether all belong to a text."""
    with open_database(location, must_exist=True) as database, database.reading() as connection:
        of = documents.c.number == passages.c.number
        rows = connection.execute(
            select(documents.c.id, passages.c.made_by, passages.c.shingles)
            .select_from(passages.outerjoin(documents, of))
            .order_by(passages.c.number)
        ).all()
        count = len(connection.execute(select(texts.c.number)).all())
    assert len(rows) <= count
    assert all(row.id is not None for row in rows)
    return {row.id: (row.made_by, bytes(row.shingles)) for row in rows}


def test_library_is_sketched_once(index, location, counting):
    assert stored(location) == {}
    assert sources(check(paper_with("d3"), location)) == ["d3"]
    assert counting.sketched == list(TEXTS.values())
    first = stored(location)
    assert list(first) == list(TEXTS)
    core = get_aligner()
    made = core.sketches(pa.array(list(TEXTS.values()), pa.large_string()), workers=1)
    assert [shingles for _, shingles in first.values()] == made
    assert sources(check(paper_with("d5"), location)) == ["d5"]
    assert sources(check(paper_with("d6"), index)) == ["d6"]
    assert len(counting.sketched) == len(TEXTS)
    assert stored(location) == first


def test_only_added_documents_are_sketched(index, location, counting):
    check(paper_with("d0"), location)
    counting.sketched.clear()
    more = [letters(RNG, 100), letters(RNG, 100)]
    index.add("e0", more[0])
    index.add_many([{"id": "e1", "text": more[1]}])
    assert len(stored(location)) == len(TEXTS)
    assert sources(check(FileText(OWN + more[1], "text"), location)) == ["e1"]
    assert counting.sketched == more
    assert list(stored(location)) == [*TEXTS, "e0", "e1"]


def test_removed_document_is_not_a_source_and_leaves_nothing(index, location, counting):
    index.add("new", letters(RNG, 100), at="2024-06-01")
    both = paper_with("d1", "d2")
    assert sources(check(both, location)) == ["d1", "d2"]
    counting.sketched.clear()
    for go, left, expected in (
        (lambda: index.remove("d1"), {*TEXTS, "new"} - {"d1"}, ["d2"]),
        (lambda: index.expire(before="2024-05-01"), {"new"}, []),
    ):
        go()
        assert set(stored(location)) == left
        report = check(both, location)
        assert (sources(report), report.library_documents) == (expected, len(left))
    assert counting.sketched == []


def test_reused_number_has_its_new_text(index, location):
    check(paper_with("d1"), location)
    index.remove("d7")
    text = letters(RNG, 100)
    index.add("d7", text)
    assert sources(check(FileText(OWN + text, "text"), location)) == ["d7"]
    assert sources(check(paper_with("d7"), location)) == []


def test_sketch_of_another_format_is_made_again(index, location, counting, monkeypatch):
    check(paper_with("d1"), location)
    before = stored(location)
    monkeypatch.setattr(library, "_FORMAT", library._FORMAT + 1)
    counting.sketched.clear()
    assert sources(check(paper_with("d1"), location)) == ["d1"]
    assert counting.sketched == list(TEXTS.values())
    after = stored(location)
    assert list(after) == list(before)
    assert {made_by for made_by, _ in before.values()}.isdisjoint(m for m, _ in after.values())
    index.add("e", letters(RNG, 60))
    counting.sketched.clear()
    check(paper_with("d1"), location)
    assert len(counting.sketched) == 1


def test_more_than_one_transaction_makes(location, counting):
    many = [{"id": f"m{number}", "text": letters(RNG, 40)} for number in range(1100)]
    watched = RecordedProgress()
    with Index(location, workers=1) as index:
        index.add_many(many)
        with open_library(index, workers=1, progress=watched) as opened:
            assert (len(opened), opened.name) == (1100, index.stats().location)
        with open_library(index, workers=1, progress=watched) as opened:
            documents = opened.documents([1050, 7, 1050])
            assert [(document.id, document.text) for document in documents] == [
                tuple(many[position].values()) for position in (1050, 7, 1050)
            ]
    assert counting.sketched == [row["text"] for row in many]
    assert watched.stages == [("library", 1100)]
    (steps,) = watched.steps
    assert (max(steps), sum(steps)) == (100, 1100)


@pytest.mark.usefixtures("index")
def test_index_finds_the_same_as_files(location, make):
    lines = "".join(f'{{"id": "{id_}", "text": "{text}"}}\n' for id_, text in TEXTS.items())
    paper = paper_with("d1", "d4", "d6")
    of_files = check(paper, make("library.jsonl", lines))
    of_index = check(paper, location)
    assert of_index.passages == of_files.passages
    assert of_index.rates == of_files.rates
    assert [source.id for source in of_index.sources] == [source.id for source in of_files.sources]


def test_duplicates_are_sources_like_all_others(index, location):
    assert index.add("copy", TEXTS["d2"]) is not None
    assert sources(check(paper_with("d2"), location)) == ["copy", "d2"]


def test_document_removed_meanwhile_is_not_a_source(index):
    with open_library(index, workers=1) as opened:
        index.remove("d1")
        assert sources(check(paper_with("d1", "d2"), opened)) == ["d2"]


def test_open_index_stays_open(index, location):
    for given in (index, location, [location]):
        report = check(paper_with("d2"), given)
        assert sources(report) == ["d2"]
        assert report.library_documents == len(TEXTS)
    assert index.query(TEXTS["d2"])


def test_documents_without_letters(index, location):
    index.add("empty", "")
    index.add("dots", "。。。")
    assert sources(check(paper_with("d1"), location)) == ["d1"]
    assert stored(location)["empty"][1] == stored(location)["dots"][1] == b""


@pytest.mark.usefixtures("index")
def test_an_index_among_files_is_refused(location, make):
    other = make("other.txt", OWN)
    with pytest.raises(ParameterError, match="one index, or files"):
        check(paper_with("d1"), [location, other])


def test_answers_of_the_index_stay(index, location):
    def answers():
        queried = [index.query(text) for text in TEXTS.values()]
        return replace(index.stats(), bytes=0), list(index.documents()), queried

    before = answers()
    check(paper_with("d1"), location)
    assert answers() == before


def test_many_papers(index, make):
    papers = [make(f"papers/{name}.txt", paper_with(name).text) for name in ("d1", "d2")]
    found_in = [sources(paper.report) for paper in check_files(papers, index, compare_papers=True)]
    assert found_in == [["./papers/d2.txt", "d1"], ["./papers/d1.txt", "d2"]]
    assert index.query(TEXTS["d2"])


def test_no_index_there(new_place):
    with pytest.raises(NeardupError, match=r"no such file|must hold an index"):
        check(paper_with("d1"), new_place())
