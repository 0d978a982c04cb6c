"""Many writers: no document is lost, and of two that are alike one is kept."""

import random
from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.index.children import REFUSED, Child, add_all, add_at_once, barrier
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
EXACT = {"recipe": "shingle", "threshold": 0.4, "workers": 1}


def check_replayed(place, new_place, options):
    """Hold an index to one to which the same documents came in the order of their numbers."""
    stored = verdicts(place)
    again = new_place()
    with Index(place) as index, Index(again, **options) as other:
        for document in index.documents():
            match = other.add(document.id, document.text)
            assert (document.state, document.repeats) == (
                "kept" if match is None else "dropped",
                match,
            )
    assert verdicts(again) == stored
    return stored


def streams(many, rng):
    """For each writer most of the documents, in an order of its own."""
    part = [rng.sample(many, len(many) * 3 // 5) for _ in SIZES[:-1]]
    return [*part, rng.sample(many, len(many))]


OWN = {"threshold": 0.3, "workers": 1}


@pytest.mark.parametrize(
    ("options", "new_place"),
    [(EXACT, "sqlite"), (OWN, "sqlite"), (OWN, "postgresql")],
    indirect=["new_place"],
)
def test_eight_processes(options, new_place):
    """With the recipe ``general`` what is common is counted amid all that."""
    many = documents(families(6, 40 if options is EXACT else 130))
    rng = random.Random(6)
    place = new_place()
    children = [
        Child(add_all, place, part, size, options)
        for part, size in zip(streams(many, rng), SIZES, strict=True)
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
            assert index.stats().background_texts > 100


def twins(count):
    """Two lists of texts; those at the same place are near-duplicates."""
    rng = random.Random(7)
    texts = [letters(rng, 80) for _ in range(count)]
    return texts, [edited(rng, text, 2) for text in texts]


def check_twins(place, count):
    stored = verdicts(place)
    assert len(stored) == 2 * count
    for number in range(count):
        first, second = f"a{number}", f"b{number}"
        assert (stored[first], stored[second]) in ((None, first), (second, None))


def test_two_processes_at_the_same_moment(new_place):
    place, together = new_place(), barrier(2)
    children = [
        Child(add_at_once, place, together, texts, name, {"workers": 1})
        for name, texts in zip("ab", twins(40), strict=True)
    ]
    assert [child.end() for child in children] == [0, 0], [child.told for child in children]
    check_twins(place, 40)


@pytest.mark.parametrize(
    ("name", "new_place"),
    [("shingle", "sqlite"), ("characters", "sqlite"), ("characters", "postgresql")],
    indirect=["new_place"],
)
def test_eight_threads_of_one_index(name, new_place):
    """Adding, asking and removing; ``characters`` keeps fingerprints in memory for all of them."""
    options = {"recipe": name, "threshold": 0.6}
    many = documents(families(8, 40))
    rng = random.Random(8)
    place = new_place()
    with Index(place, **options) as index:

        def add(chunk, size):
            for begin in range(0, len(chunk), size or 1):
                part = chunk[begin : begin + (size or 1)]
                if size:
                    assert not any(decision.problem for decision in stream(index, part))
                else:
                    index.add(part[0]["id"], part[0]["text"])
                assert part[0]["id"] in index
                if begin % 5 == 0:
                    asked = index.query(part[-1]["text"], 3)
                    assert all(match.similarity >= 0.6 or match.identical for match in asked)

        with ThreadPoolExecutor(len(SIZES)) as threads:
            list(threads.map(add, streams(many, rng), SIZES))
        assert len(index) == len(many)
    stored = check_replayed(place, new_place, options)
    assert set(stored) == {row["id"] for row in many}


def test_adding_and_removing_at_once(new_place):
    """Whatever the order is in which it comes, what is left is sound."""
    many = documents(families(9, 50))
    place = new_place()
    with Index(place, **EXACT) as index:
        index.add_many(many)
        first = [row["id"] for row in many]

        def remove(ids):
            for id in ids:
                index.remove(id)

        def reconsider(_):
            return sum(len(index.reconsider()) for _ in range(3))

        more = [row | {"id": f"again-{row['id']}"} for row in many]
        with ThreadPoolExecutor(4) as threads:
            jobs = [
                threads.submit(remove, first[::3]),
                threads.submit(remove, first[1::3]),
                threads.submit(reconsider, None),
                threads.submit(index.add_many, more),
            ]
            for job in jobs:
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


def test_eight_processes_make_one_index(new_place):
    place, together = new_place(), barrier(8)
    text = letters(random.Random(10), 60)
    children = [
        Child(add_at_once, place, together, [text], f"p{number}-", {"threshold": 0.5, "workers": 1})
        for number in range(8)
    ]
    assert [child.end() for child in children] == [0] * 8, [child.told for child in children]
    stored = verdicts(place)
    assert len(stored) == 8
    assert sum(kept is None for kept in stored.values()) == 1


@pytest.mark.parametrize("kept_open", [False, True])
def test_making_an_index_takes_no_lock_away(kept_open, tmp_path):
    """Another process that closes must not take itself for the last one, and delete the log."""
    place = str(tmp_path / "index.db")
    many = documents(["one", "two", "three"])
    options = {"workers": 1}
    with Index(place, **options) as index:
        index.add("mine", "before")
        # As where two threads or processes find that there is no index yet.
        with SQLiteFile(place) as other:
            assert not other.create_tables()
        if kept_open:
            Index(place).close()
        assert Child(add_all, place, many, 0, options).end() == 0
        assert (tmp_path / "index.db-wal").exists()
        index.add("mine too", "after")
        assert Child(add_all, place, many, 2, options).end() == 0
        assert list(verdicts(place)) == ["mine", "d0", "d1", "d2", "mine too"]
        index.add("at last", "the end")
    assert list(verdicts(place))[-1] == "at last"


def test_processes_with_other_settings_are_refused(new_place):
    """One makes it; who asked for other settings goes away."""
    place, together = new_place(), barrier(6)
    thresholds = [0.5, 0.6, 0.5, 0.6, 0.5, 0.6]
    children = [
        Child(add_at_once, place, together, [], f"p{number}-", {"threshold": wanted, "workers": 1})
        for number, wanted in enumerate(thresholds)
    ]
    codes = [child.end() for child in children]
    with Index(place) as index:
        made = index.stats().threshold
    for wanted, code, child in zip(thresholds, codes, children, strict=True):
        (told,) = child.told
        if wanted == made:
            assert (code, told) == (0, made)
        else:
            assert code == REFUSED
            assert told.startswith("IndexMismatchError: ")
            assert f"threshold {made} ({wanted} requested)" in told
