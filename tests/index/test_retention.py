"""Documents removed, replaced, renamed and kept by hand: interrupts, kills, and real sizes."""

import random
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from datetime import UTC, datetime, timedelta
from threading import Barrier

import pytest
from sqlalchemy.engine import default
from tests.index.children import Child
from tests.index.consistency import check_consistent, verdicts
from tests.index.databases import BOTH
from tests.index.written import FERRY, NUMBERS, PEARS, documents, families

from neardup import Index, InputError, load_recipe

OPTIONS = {"recipe": load_recipe("shingle").replace(decide={"threshold": 0.3})}
NOON = datetime(2024, 6, 15, 12, tzinfo=UTC)
DAY = timedelta(days=1)

CHANGES = {
    "remove": lambda index: index.remove("a"),
    "expire": lambda index: index.expire(before="2999-01-01"),
    "replace": lambda index: index.add("a", PEARS, replace=True),
}


@pytest.mark.parametrize(
    ("change", "step"),
    [
        *((change, "retention._decide") for change in CHANGES),
        ("replace", "ingest.transaction.write"),
    ],
)
def test_interrupted_change_leaves_the_old_documents(index, monkeypatch, change, step):
    for id, end in (("a", ""), ("b", " and more"), ("c", " and fifteen")):
        index.add(id, NUMBERS + end)
    before = list(index.documents())

    def interrupt(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(f"neardup.index.{step}", interrupt)
        with pytest.raises(KeyboardInterrupt):
            CHANGES[change](index)
    assert list(index.documents()) == before


def test_interrupted_addition_gives_the_lock_back_though_its_traceback_lives_on(
    index, location, monkeypatch
):
    done, left = default.DefaultDialect.do_execute, [1]

    def interrupt(self, cursor, statement, parameters, context=None):
        done(self, cursor, statement, parameters, context)
        if left and statement.startswith("SELECT counters"):
            left.pop()
            raise KeyboardInterrupt

    monkeypatch.setattr(default.DefaultDialect, "do_execute", interrupt)
    with pytest.raises(KeyboardInterrupt) as caught:
        index.add("b", PEARS)
    # As a notebook keeps the last exception, with all frames and their cursors.
    assert caught.value.__traceback__ is not None
    with closing(sqlite3.connect(location, timeout=1, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        other.execute("ROLLBACK")
    assert "b" not in index
    assert index.add("b", FERRY) is None


def _replace_all(tell, place, many):
    with Index(place, workers=1) as index:
        for row in many:
            index.add(row["id"], row["text"][::-1], replace=True)
            index.rename(row["id"], "new-" + row["id"])
            tell(row["id"])


@BOTH
@pytest.mark.slow
def test_killed_process_leaves_old_or_new_documents(new_place):
    many = documents(families(3, 60))
    place, rng = new_place(), random.Random(3)
    with Index(place, workers=1) as index:
        index.add_many(many)
    texts = {row["id"]: row["text"] for row in many}
    for _ in range(5):
        old = verdicts(place)
        child = Child(_replace_all, place, [row for row in many if row["id"] in old])
        child.wait_for(1 + rng.randrange(10))
        child.kill()
        child.end()
        stored = verdicts(place)
        assert len(stored) == len(many)
        with Index(place) as index:
            for id, document in index.get_many(list(stored)).items():
                first = id.removeprefix("new-")
                is_new = document.text == texts[first][::-1]
                assert is_new or (id == first and document.text == texts[first])
        for id in child.told:
            assert f"new-{id}" in stored
            assert id not in stored


@BOTH
@pytest.mark.slow
def test_more_than_a_transaction_or_a_page(index):
    """The machine has small transactions and pages; here they have their real sizes."""
    texts = [f"{number * 7919} {NUMBERS if number % 2 else ''}" for number in range(2300)]
    many = [row | {"day": NOON + DAY} for row in documents(texts)]
    many[1] |= {"day": NOON}
    added = index.add_many([*many, *many[::-1]], at_field="day")
    assert (added.new, added.already, added.problem_count) == (2300, 2300, 0)
    ids = [row["id"] for row in many]
    dropped = [document.id for document in index.documents("dropped")]
    assert sorted(removal.document.id for removal in index.removals()) == sorted(dropped)
    assert sum(len(cluster.dropped) for cluster in index.clusters()) == len(dropped) > 1000
    walk = index.documents()
    first = next(walk)
    index.remove("d2000")
    index.add("new", "something else entirely, which comes at the end of the list")
    ids.remove("d2000")
    assert [first.id, *(document.id for document in walk)] == [*ids, "new"]
    # The first document of the cluster expires, and all others are decided in one transaction.
    removed = index.expire(before=NOON + DAY)
    assert (removed.removed, removed.decided_count) == (1, len(dropped))
    assert [id for id, _ in removed.decided] == dropped
    assert removed.decided[0][1] is None
    assert {match.id for _, match in removed.decided[1:]} == {dropped[0]}
    assert index.expire(before=NOON + 2 * DAY).removed == 2298


@pytest.mark.slow
@pytest.mark.parametrize("recipe", ["general", "minhash", "classic"])
def test_no_key_is_left_after_a_count(location, recipe):
    """A count changes which keys are rare, so a document may have other keys than before."""
    many = documents(families(12, 12))
    with Index(location, recipe=recipe, workers=1) as index:
        index.add_many(many)
        index.recount()
        index.add_many([row | {"id": f"later-{row['id']}"} for row in many])
        for document in list(index.documents()):
            index.remove(document.id)
        # It finds keys whose document is gone.
        assert check_consistent(location) == {}
        assert all(index.query(row["text"]) == [] for row in many)
        assert index.add_many(many).new == len(many)


def test_expiry_of_older_documents_begins_now(index):
    index.add("old", NUMBERS, at=NOON)
    index.add("now", PEARS, at=datetime.now(UTC) - timedelta(minutes=30))
    assert [index.expire(older_than=span).removed for span in (DAY, "31m", "29m")] == [1, 0, 1]


@BOTH
def test_several_editors_at_once(location):
    with Index(location) as index:
        index.add_many(documents([NUMBERS] * 3))
        index.keep("d1")
    begin = Barrier(4)

    def work(seed):
        rng = random.Random(seed)
        with Index(location) as index:
            begin.wait()
            for _ in range(12):
                action = rng.choice([index.keep, index.confirm, index.undo, index.undo])
                with suppress(InputError):
                    action(rng.choice(["d1", "d2"]))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    check_consistent(location)
