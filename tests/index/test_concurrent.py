"""Many writers: no document is lost, and of two that are alike one is kept."""

import random
from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.index.children import REFUSED, Child, add_all, add_at_once, add_parts, barrier
from tests.index.consistency import check_consistent, verdicts
from tests.index.databases import BOTH
from tests.index.written import documents, edited, families, letters, stream

from neardup import Index, pairs
from neardup.base.progress import Progress
from neardup.index.backends.sqlite import SQLiteFile
from neardup.index.ingest import first_import, transaction

pytestmark = [pytest.mark.slow, BOTH]

#: These tests are of the settings that users get.
DURABLE = True

#: Writers at once, and the sizes of what each hands to `add_together`, 0 for `add`.
SIZES = (0, 0, 0, 3, 10, 40, 40, 1100)
OWN = {"threshold": 0.3, "workers": 1}
EXACT = {"recipe": "shingle", "threshold": 0.4, "workers": 1}


def check_replayed(place, new_place, options):
    """Hold an index to one to which the same documents came in the order of their numbers."""
    stored = verdicts(place)
    again = new_place()
    with Index(place) as index, Index(again, **options) as other:
        for document in index.documents():
            assert other.add(document.id, document.text) == document.repeats
    assert verdicts(again) == stored
    return stored


def streams(many, rng):
    """For each writer most of the documents, in an order of its own."""
    part = [rng.sample(many, len(many) * 3 // 5) for _ in SIZES[:-1]]
    return [*part, rng.sample(many, len(many))]


@pytest.mark.parametrize(
    ("options", "new_place"),
    [(EXACT, "sqlite"), (OWN, "sqlite"), (OWN, "postgresql")],
    indirect=["new_place"],
)
def test_eight_processes(options, new_place):
    """With the recipe ``general`` boilerplate is counted amid all that."""
    many = documents(families(6, 40 if options is EXACT else 60))
    place = new_place()
    children = [
        Child(add_all, place, part, size, options)
        for part, size in zip(streams(many, random.Random(6)), SIZES, strict=True)
    ]
    codes = [child.end() for child in children]
    assert codes == [0] * len(SIZES), [child.told[-1] for child in children]
    stored = check_replayed(place, new_place, options)
    assert set(stored) == {row["id"] for row in many}
    kept = [row["text"] for row in many if stored[row["id"]] is None]
    assert 0.2 < len(kept) / len(many) < 0.8
    if options is EXACT:
        assert pairs(kept, recipe="shingle", threshold=0.4).table.num_rows == 0
    else:
        with Index(place) as index:
            assert index.stats().background_texts > 80


def run_at_once(place, texts, options):
    """Let a process for each list of texts make or open an index, then add each text at once.

    Return the exit code of each, and what it told.
    """
    together = barrier(len(texts))
    children = [
        Child(add_at_once, place, together, *own)
        for own in zip(texts, (f"p{n}-" for n in range(len(texts))), options, strict=True)
    ]
    return [(child.end(), child.told) for child in children]


def test_eight_processes_make_an_index_and_add_at_the_same_moment(new_place):
    place, rng = new_place(), random.Random(7)
    bases = [letters(rng, 80) for _ in range(10)]
    versions = [[edited(rng, text, 2) for text in bases] for _ in range(8)]
    ended = run_at_once(place, versions, [OWN] * 8)
    assert ended == [(0, [0.3])] * 8
    stored = verdicts(place)
    assert len(stored) == 8 * len(bases)
    for number in range(len(bases)):
        several = {f"p{process}-{number}" for process in range(8)}
        (kept,) = (id for id in several if stored[id] is None)
        assert {stored[id] for id in several} == {None, kept}


def test_processes_with_other_settings_are_refused(new_place):
    """One makes it; who asked for other settings goes away."""
    place, thresholds = new_place(), [0.5, 0.6] * 3
    ended = run_at_once(place, [[]] * 6, [OWN | {"threshold": wanted} for wanted in thresholds])
    with Index(place) as index:
        made = index.stats().threshold
    for wanted, (code, (told,)) in zip(thresholds, ended, strict=True):
        if wanted == made:
            assert (code, told) == (0, made)
        else:
            assert code == REFUSED
            assert told.startswith("IndexMismatchError: ")
            assert f"threshold {made} ({wanted} requested)" in told


@pytest.mark.parametrize(
    ("name", "new_place"),
    [("shingle", "sqlite"), ("characters", "sqlite"), ("characters", "postgresql")],
    indirect=["new_place"],
)
def test_eight_threads_of_one_index(name, new_place):
    """Adding, asking and removing; ``characters`` keeps fingerprints in memory for all of them."""
    options = {"recipe": name, "threshold": 0.6}
    many = documents(families(8, 40))
    texts = {row["id"]: row["text"] for row in many}
    place = new_place()
    with Index(place, **options) as index:

        def add(chunk, size):
            for number, ids in enumerate(add_parts(index, chunk, size)):
                assert ids[0] in index
                if number % 5 == 0:
                    asked = index.query(texts[ids[-1]], 3)
                    assert all(match.similarity >= 0.6 or match.identical for match in asked)

        with ThreadPoolExecutor(len(SIZES)) as threads:
            list(threads.map(add, streams(many, random.Random(8)), SIZES))
        assert len(index) == len(many)
    assert set(check_replayed(place, new_place, options)) == set(texts)


def test_adding_and_removing_at_once(new_place):
    """Whatever the order is in which it comes, what is left is sound."""
    many = documents(families(9, 50))
    more = [row | {"id": f"again-{row['id']}"} for row in many]
    first = [row["id"] for row in many]
    place = new_place()
    with Index(place, **EXACT) as index:
        index.add_many(many)

        def remove(ids):
            for id in ids:
                index.remove(id)

        def reconsider(count):
            for _ in range(count):
                index.reconsider()

        jobs = ((remove, first[::3]), (remove, first[1::3]), (reconsider, 3))
        with ThreadPoolExecutor(4) as threads:
            for job in [threads.submit(*job) for job in (*jobs, (index.add_many, more))]:
                job.result()
        check_consistent(place)
        index.reconsider()
        stored = check_consistent(place)
        assert set(stored) == {*first[2::3], *(row["id"] for row in more)}
        kept = [document.text for document in index.documents("kept")]
    assert pairs(kept, recipe="shingle", threshold=0.4).table.num_rows == 0


def test_others_add_during_a_first_import(new_place, monkeypatch):
    """What is left of it is added batch by batch, decided against theirs."""
    monkeypatch.setattr(transaction, "BATCH", 10)
    monkeypatch.setattr(first_import, "_WRITTEN", 40)
    many = documents(families(9, 50))
    others = [row | {"id": f"other-{row['id']}"} for row in many[60:70]]

    class Interfering(Progress):
        def advance(self, documents, _size=0):
            if documents and others:
                with Index(place, **EXACT) as other:
                    stream(other, others)
                others.clear()

    place = new_place()
    with Index(place, **EXACT) as index:
        added = index.add_many(many, progress=Interfering())
        assert (added.new, added.problem_count) == (len(many), 0)
        ids = [document.id for document in index.documents()]
    assert ids[40] == "other-d60"
    check_replayed(place, new_place, EXACT)


@pytest.mark.parametrize("kept_open", [False, True])
def test_making_an_index_takes_no_lock_away(kept_open, tmp_path):
    """Another process that closes must not take itself for the last one, and delete the log."""
    place = str(tmp_path / "index.db")
    many = documents(["one", "two", "three"])
    with Index(place, workers=1) as index:
        index.add("mine", "before")
        # As where two threads or processes find that there is no index yet.
        with SQLiteFile(place) as other:
            assert not other.create_tables()
        if kept_open:
            Index(place).close()
        for size in (0, 2):
            assert Child(add_all, place, many, size, {"workers": 1}).end() == 0
            assert (tmp_path / "index.db-wal").exists()
            index.add(f"mine {size}", f"after {size}")
        assert list(verdicts(place)) == ["mine", "d0", "d1", "d2", "mine 0", "mine 2"]
        index.add("at last", "the end")
    assert list(verdicts(place))[-1] == "at last"
