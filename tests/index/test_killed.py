"""What an index says is stored stays stored, whatever is killed and when."""

import random
import time
from pathlib import Path

import pytest
from tests.index.children import REFUSED, Child, add_all
from tests.index.consistency import check_consistent, verdicts
from tests.index.databases import BOTH
from tests.index.written import documents, families, stream

from neardup import Index

pytestmark = [pytest.mark.slow, BOTH]

#: Processes killed for each way of adding, on each database.
KILLS = 4
#: Among as many documents, what is common is counted twice.
MANY = documents(families(5, 130))
#: Processes are killed as shipped: with commits that wait for the disk.
DURABLE = True
OPTIONS = {"threshold": 0.3, "workers": 1}


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """The verdicts of runs that nobody interrupts: of a first import, and of a stream."""
    result = {}
    for add in (Index.add_many, stream):
        place = str(tmp_path_factory.mktemp("undisturbed") / "index.db")
        with Index(place, **OPTIONS) as index:
            add(index, MANY)
            assert index.stats().background_texts
        stored = verdicts(place)
        assert len(stored) == len(MANY) > 300
        assert 80 < sum(kept is None for kept in stored.values()) < len(MANY) - 80
        result[add is Index.add_many] = stored
    return result


def is_there(place):
    return "://" in place or Path(place).exists()


def check_left(place, told):
    """What was acknowledged is there; what is there is sound, and the beginning of all."""
    acknowledged = {id for ids in told if isinstance(ids, list) for id in ids}
    if not is_there(place):
        assert not told
        return
    # One that was killed before it had made the index left nothing to open.
    Index(place, **OPTIONS).close()
    stored = check_consistent(place)
    assert acknowledged <= set(stored)
    assert list(stored) == [row["id"] for row in MANY[: len(stored)]]


def finish(place, size, undisturbed):
    """Add to the end, and hold the index to one that was never interrupted."""
    child = Child(add_all, place, MANY, size, OPTIONS)
    assert child.end() == 0, child.told
    assert verdicts(place) == undisturbed[size is None]


@pytest.mark.parametrize("size", [0, 40, None], ids=["add", "add_together", "first import"])
def test_killed_processes(size, new_place, undisturbed):
    rng = random.Random(size or 1)
    place, killed, told = new_place(), 0, []
    while killed < KILLS:
        child = Child(add_all, place, MANY, size, OPTIONS)
        if rng.random() < 0.8:
            # Within a transaction some way on; otherwise where the index is made or opened.
            child.wait_for(rng.randrange(1, {0: 250, 40: 8, None: 30}[size]))
        # Nothing is waited for: the moment of the end is to differ.
        time.sleep(0.02 * rng.random())
        child.kill()
        code = child.end()
        told += child.told
        check_left(place, told)
        killed += code == -9
        if code == 0 or len(told) > 3 * len(MANY):
            finish(place, size, undisturbed)
            place, told = new_place(), []
    finish(place, size, undisturbed)


@pytest.mark.parametrize("size", [0, 40, None], ids=["add", "add_together", "first import"])
def test_killed_server(size, postgres, database_url, undisturbed):
    rng = random.Random(size or 1)
    told = []
    for number in range(2):
        child = Child(add_all, database_url, MANY, size, OPTIONS)
        try:
            more = rng.randrange({0: 20, 40: 1, None: 3}[size])
            assert child.wait_for(1 + {0: 80, 40: 2, None: 5}[size] * (number + 1) + more)
            with child.held():
                postgres.kill()
            code = child.end()
        finally:
            postgres.start()
        assert code == REFUSED
        error = child.told.pop()
        assert error.startswith("IndexUnavailableError: ")
        assert "was lost" in error or "cannot connect" in error
        told += child.told
        check_left(database_url, told)
    finish(database_url, size, undisturbed)
