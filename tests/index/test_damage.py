"""Damaged rows: found by a check, named by every operation, and left out of a rebuilt index."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
import sqlalchemy as sa
import zstandard
from tests.index.consistency import check_consistent
from tests.index.written import documents, families

from neardup import Index
from neardup.base.progress import Progress
from neardup.exceptions import IndexFormatError, IndexUnavailableError, InputError
from neardup.index import shingles
from neardup.index.backends import open_database

MANY = documents(families(11, 12))
OPTIONS = {"threshold": 0.3, "workers": 1}
TEXT = MANY[0]["text"]


def fill(location, **more):
    """An index with kept, dropped and freed documents, fields, events and a background."""
    with Index(location, **OPTIONS | more) as index:
        for at, one in enumerate(MANY):
            index.add(one["id"], one["text"], title=f"t{at}", source="s", extra={"n": at})
        index.recount()
        kept = [cluster.id for cluster in index.clusters()]
        index.remove(kept[-1])
        assert index.stats().freed
        assert index.check(full=True) == []
    return location


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    return fill(tmp_path_factory.mktemp("filled") / "n.db")


@pytest.fixture
def copy(filled, tmp_path):
    count = 0

    def another():
        nonlocal count
        count += 1
        return Path(shutil.copy(filled, tmp_path / f"n{count}.db"))

    return another


def change(path, *statements):
    with closing(sqlite3.connect(path)) as connection, connection:
        for statement in statements:
            assert connection.execute(statement).rowcount != 0, statement


KEPT = "(SELECT min(kept_number) FROM documents WHERE state = 1)"
DROPPED = "(SELECT min(number) FROM documents WHERE state = 1)"


def of(number, change):
    return f"UPDATE documents SET {change} WHERE number = {number}"


#: What is done to the file.
DAMAGES = {
    "id is a number": [of(KEPT, "id = x'00ff'")],
    "id is empty": [of(KEPT, "id = ''")],
    "state": [of(KEPT, "state = 7")],
    "state is text": [of(DROPPED, "state = 'kept'")],
    "a dropped one is kept": [of(DROPPED, "state = 0")],
    "a kept one is dropped": [of(KEPT, "state = 1")],
    "a kept one is freed": [of(KEPT, "state = 2")],
    "time out of range": [of(KEPT, "at = 9000000000000000000")],
    "time before all": [of(KEPT, "at = -9000000000000000000")],
    "time is text": [of(DROPPED, "at = 'yesterday'")],
    "title is bytes": [of(KEPT, "title = x'ff00'")],
    "title is not UTF-8": [of(KEPT, "title = CAST(x'ff41' AS TEXT)")],
    "id is not UTF-8": [of(KEPT, "id = CAST(x'ff41' AS TEXT)")],
    "extra is not UTF-8": [of(DROPPED, "extra = CAST(x'ff41' AS TEXT)")],
    "event is not UTF-8": ["UPDATE events SET details = CAST(x'ff41' AS TEXT)"],
    "source is bytes": [of(DROPPED, "source = x'ff00'")],
    "extra is no JSON": [of(KEPT, "extra = '{\"n\": '")],
    "extra is a list": [of(KEPT, "extra = '[1]'")],
    "extra is bytes": [of(DROPPED, "extra = x'00'")],
    "extra is deep": [of(KEPT, f"extra = '{'[' * 5000}'")],
    "identity is short": [of(KEPT, "identity = x'00'")],
    "identity is text": [of(KEPT, "identity = 'abc'")],
    "identity is huge": [of(KEPT, "identity = 1000000000000000")],
    "another identity": [of(KEPT, "identity = zeroblob(16)")],
    "features": [of(KEPT, "features = -5")],
    "features too large": [of(KEPT, "features = 9000000000")],
    "other features": [of(KEPT, "features = features + 1")],
    "no sketch": [of(KEPT, "sketch = NULL")],
    "sketch is text": [of(KEPT, "sketch = 'abc'")],
    "sketch is cut off": [of(KEPT, "sketch = substr(sketch, 1, length(sketch) - 3)")],
    "a byte of a sketch": [
        of(KEPT, "sketch = CAST(x'5a' || substr(sketch, 2) AS BLOB)"),
    ],
    "keeper is missing": [of(DROPPED, "kept_number = 900000")],
    "keeper is text": [of(DROPPED, "kept_number = 'a'")],
    "no keeper": [of(DROPPED, "kept_number = NULL")],
    "the row of a keeper": [f"DELETE FROM documents WHERE number = {KEPT}"],
    "similarity": [of(DROPPED, "similarity = 7.5")],
    "similarity is text": [of(DROPPED, "similarity = 'high'")],
    "no similarity": [of(DROPPED, "similarity = NULL")],
    "distance": [of(DROPPED, "distance = 'far'")],
    "reason": [of(DROPPED, "reason = 9")],
    "no text": [f"DELETE FROM texts WHERE number = {KEPT}"],
    "no text of a dropped one": [f"DELETE FROM texts WHERE number = {DROPPED}"],
    "text is no zstd": [f"UPDATE texts SET text = x'00112233' WHERE number = {KEPT}"],
    "text is no UTF-8": [
        f"UPDATE texts SET text = x'{zstandard.compress(bytes([255])).hex()}' WHERE number = {KEPT}"
    ],
    "background is empty": [
        f"UPDATE background SET data = x'{zstandard.compress(b'').hex()}'",
    ],
    "text is text": [f"UPDATE texts SET text = 'hello' WHERE number = {KEPT}"],
    "text is a number": [f"UPDATE texts SET text = 12 WHERE number = {KEPT}"],
    "text is cut off": [
        f"UPDATE texts SET text = substr(text, 1, length(text) / 2) WHERE number = {KEPT}"
    ],
    "text claims to be large": [
        f"UPDATE texts SET text = x'28b52ffde0ffffffffffffff0f010000' WHERE number = {KEPT}"
    ],
    "text of another": [
        "UPDATE texts SET text = (SELECT text FROM texts WHERE number = 2)"
        f" WHERE number = {KEPT} AND number != 2"
    ],
    "text of nobody": ["INSERT INTO texts SELECT 900000, text FROM texts LIMIT 1"],
    "keys are gone": ["DELETE FROM recent_keys"],
    "keys of one are gone": [f"DELETE FROM recent_keys WHERE number = {KEPT}"],
    "keys of nobody": ["INSERT INTO keys VALUES (5, 900000, 1)"],
    "keys of a dropped one": [f"INSERT INTO keys VALUES (5, {DROPPED}, 1)"],
    "a key too many": [f"INSERT INTO keys VALUES (5, {KEPT}, 1)"],
    "another key": [
        f"UPDATE recent_keys SET key = key + 1 WHERE key = (SELECT min(key) FROM recent_keys"
        f" WHERE number = {KEPT})"
    ],
    "one key is gone": [
        "DELETE FROM recent_keys WHERE (key, number) ="
        " (SELECT key, number FROM recent_keys ORDER BY key LIMIT 1)"
    ],
    "keys were counted wrong": ["UPDATE counters SET value = value + 1 WHERE name = 'filed'"],
    "the count of keys is text": ["UPDATE counters SET value = 'x' WHERE name = 'filed'"],
    "share": ["UPDATE recent_keys SET share = 70000"],
    "share is text": ["UPDATE recent_keys SET share = 'x'"],
    "counter is text": ["UPDATE counters SET value = 'x' WHERE name = 'kept'"],
    "counter is negative": ["UPDATE counters SET value = -1 WHERE name = 'counted_at'"],
    "counter is huge": ["UPDATE counters SET value = 9223372036854775807 WHERE name = 'next'"],
    "a wrong count": ["UPDATE counters SET value = value + 1 WHERE name = 'kept'"],
    "numbers are given again": ["UPDATE counters SET value = 2 WHERE name = 'next'"],
    "no counter": ["DELETE FROM counters WHERE name = 'background'"],
    "recent": ["UPDATE counters SET value = 'x' WHERE name = 'recent'"],
    "no background": ["DELETE FROM background"],
    "background is damaged": ["UPDATE background SET data = x'0011'"],
    "background is text": ["UPDATE background SET data = 'abc'"],
    "event": ["UPDATE events SET details = '{'"],
    "time of an event": ["UPDATE events SET at = 9000000000000000000"],
    "event is bytes": ["UPDATE events SET action = x'ff'"],
    "an index": ["DROP INDEX documents_at"],
}

#: Those that leave a document out.
LEFT_OUT = {
    *("no text", "no text of a dropped one", "text is no zstd", "text is text"),
    "text is no UTF-8",
    *("text is a number", "text is cut off", "text claims to be large", "text of another"),
    *("id is a number", "id is empty", "id is not UTF-8"),
    *("time out of range", "time before all", "time is text"),
}

#: Those that lose nothing: what is wrong follows from what is right.
MADE_AGAIN = {
    name
    for name in DAMAGES
    if name.startswith(
        (
            *("state", "a dropped one is kept", "a kept one", "identity", "another identity"),
            *("features", "other features", "no sketch", "sketch", "a byte of a sketch"),
            *("keys", "a key too many", "another key", "one key", "the count of keys", "share"),
            *("counter", "a wrong count", "numbers", "no counter", "recent", "an index"),
            "text of nobody",
        )
    )
}


#: How many there are of `changes`.
CHANGES = 11


def changes(index):
    """What changes an index: each is tried on a copy of its own."""
    kept = next(iter(MANY))["id"]
    ids = [one["id"] for one in MANY]
    yield lambda: index.add("new", TEXT + " And a word more.")
    yield lambda: index.add("new", "Nothing at all that is known here was written before.")
    yield lambda: index.add_many(
        [{"id": f"m{at}", "text": one["text"]} for at, one in enumerate(MANY)]
    )
    yield lambda: index.add_many(MANY)
    yield index.recount
    made = [b""]
    yield lambda: list(shingles.make_missing(index._engine, "x", lambda some: made * len(some), 0))
    yield lambda: index.reconsider(ids)
    yield index.reconsider
    yield lambda: index.keep(kept)
    yield lambda: index.remove(kept)
    yield lambda: index.expire(before="2999-01-01")


def questions(index, tmp_path):
    """What leaves an index as it is."""
    ids = [one["id"] for one in MANY]
    yield lambda: [index.query(one["text"]) for one in MANY]
    yield lambda: [index.query(one["text"], within="90d") for one in MANY]
    yield lambda: [index.get(id) for id in ids]
    yield lambda: [index.explain(id) for id in ids]
    yield lambda: list(index.clusters())
    yield lambda: list(index.documents())
    yield index.stats
    yield lambda: index.export(tmp_path / "o.jsonl", decisions=tmp_path / "d.jsonl", force=True)
    yield lambda: index.export(tmp_path / "o.csv", force=True)
    yield lambda: index.dump(tmp_path / "dump", force=True)
    yield lambda: shingles.texts_of(index._engine, [*range(1, 40)])
    yield lambda: shingles.numbers_and_times(index._engine)
    yield lambda: list(shingles.stored(index._engine, "x", 0))


@pytest.mark.slow
@pytest.mark.parametrize("name", DAMAGES)
def test_an_operation_works_or_names_the_damage(name, copy, tmp_path):
    path = copy()
    change(path, *DAMAGES[name])
    other = tmp_path / "one.db"
    told, refused = [], []

    def attempt(call):
        try:
            return call()
        except IndexFormatError as error:
            told.append(str(error))
        except InputError as error:
            # Of `keep` and `remove`: for a document that is kept, or has another id by now.
            refused.append(str(error))

    def change_it(at):
        with Index(other, **OPTIONS) as index:
            every = list(changes(index))
            assert len(every) == CHANGES
            every[at]()

    def ask_it():
        with Index(other, **OPTIONS) as index:
            for question in questions(index, tmp_path):
                attempt(question)

    shutil.copy(path, other)
    attempt(ask_it)
    for at in range(CHANGES):
        shutil.copy(path, other)
        attempt(lambda at=at: change_it(at))
    assert all("is kept already" in one or "no document" in one for one in refused), refused
    for message in told:
        assert message.startswith(f"{tmp_path / 'one.db'}: ")
        assert "estore" in message, message


@pytest.mark.slow
@pytest.mark.parametrize("name", DAMAGES)
def test_a_damage_is_found_and_all_else_rebuilt(name, copy, tmp_path):
    path = copy()
    change(path, *DAMAGES[name])
    before = path.read_bytes()
    with Index(path) as index:
        found = index.check(full=True)
        assert found, name
        lost = index.rebuild(tmp_path / "new.db")
        assert path.read_bytes() == before
    with Index(tmp_path / "new.db", must_exist=True) as index:
        index.add("new", "Nothing at all that is known here was written before.")
        index.reconsider()
        assert index.check(full=True) == []
        ids = {one.id for one in index.documents()} - {"new"}
    check_consistent(str(tmp_path / "new.db"))
    left_out = [line for line in lost if "is left out" in line.template]
    every = {one["id"] for one in MANY}
    # One had been removed before.
    row_is_gone = name == "the row of a keeper"
    assert len(every - ids) == 1 + row_is_gone + len(left_out)
    assert len(left_out) == (name in LEFT_OUT)
    assert bool(lost) == (name not in MADE_AGAIN), lost


def test_an_intact_index_is_rebuilt_as_it_is(filled, tmp_path):
    with Index(filled) as index:
        assert index.rebuild(tmp_path / "new.db") == []
        index.dump(tmp_path / "old.jsonl")
        with pytest.raises(IndexUnavailableError):
            index.rebuild(tmp_path / "new.db")
    with Index(tmp_path / "new.db", must_exist=True) as index:
        index.dump(tmp_path / "new.jsonl")
    old, new = ((tmp_path / f"{name}.jsonl").read_bytes().splitlines() for name in ("old", "new"))
    # The last line has a digest of all, and keys may be more: those that full lists left out.
    kinds = (b'{"document"', b'{"event"', b'{"background"', b'{"counters"', b'{"neardup"')
    assert [one for one in old if one.startswith(kinds)] == [
        one for one in new if one.startswith(kinds)
    ]


def test_pages_that_are_damaged_are_left_out(tmp_path):
    """Of a table with a page of random bytes the rest is read."""
    path = tmp_path / "n.db"
    with Index(path, **OPTIONS) as index:
        index.add_many(documents(families(3, 150)))
        count = len(index)
    with closing(sqlite3.connect(path)) as connection:
        (size,) = connection.execute("PRAGMA page_size").fetchone()
        pages = connection.execute(
            "SELECT pageno FROM dbstat WHERE name = 'documents' AND pagetype = 'leaf'"
        ).fetchall()
    data = bytearray(path.read_bytes())
    begin = (pages[len(pages) // 2][0] - 1) * size
    data[begin : begin + size] = bytes([0xA5]) * size
    path.write_bytes(data)
    with Index(path) as index:
        assert index.check()
        lost = index.rebuild(tmp_path / "new.db")
    unread = [line for line in lost if line.template == "{table} {number}: cannot be read"]
    with Index(tmp_path / "new.db") as index:
        assert 0 < count - len(index) == len(unread) < count / 4
        assert index.check(full=True) == []


def test_the_default_check_reads_a_sample(copy, monkeypatch):
    monkeypatch.setattr("neardup.index.integrity._SAMPLE", 5)
    path = copy()
    change(path, "UPDATE documents SET identity = zeroblob(16), sketch = x'00'")
    with Index(path) as index:
        some, every = index.check(), index.check(full=True)
    assert 5 <= len(some) < len(every)


def test_a_rebuild_that_is_interrupted_leaves_nothing(copy, tmp_path):
    class Stop(Progress):
        def advance(self, *_):
            raise KeyboardInterrupt

    new = tmp_path / "new.db"
    with Index(copy()) as index:
        with pytest.raises(KeyboardInterrupt):
            index.rebuild(new, progress=Stop())
        assert not list(tmp_path.glob("new.db*"))
        assert index.rebuild(new) == []


@pytest.mark.parametrize(
    "more",
    [{"recipe": "characters"}, {"recipe": "minhash"}, {"store": "sketch"}, {"recipe": "classic"}],
)
def test_other_recipes(more, tmp_path):
    path = tmp_path / "n.db"
    options = {"workers": 1} | more
    with Index(path, **options) as index:
        index.add_many(MANY)
        assert index.check(full=True) == []
        has_keys = index._engine.decider is not None
    change(path, of("3", "features = features + 1"))
    with closing(sqlite3.connect(path)) as connection, connection:
        gone = connection.execute("DELETE FROM recent_keys WHERE number = 1").rowcount
    with Index(path, must_exist=True) as index:
        found = index.check(full=True)
        assert bool(found) == bool(gone or more.get("store") != "sketch")
        index.rebuild(tmp_path / "new.db")
    with Index(tmp_path / "new.db", must_exist=True) as index:
        assert index.check(full=True) == []
    assert has_keys
    check_consistent(str(tmp_path / "new.db"))


def test_postgresql(database_url):
    fill(database_url)
    with open_database(database_url, must_exist=True) as database, database.writing() as connection:
        for statement in (
            of("2", "features = features + 1"),
            of(DROPPED, "kept_number = 900000"),
            f"DELETE FROM keys WHERE number = {KEPT}",
            "DELETE FROM keys WHERE (key, number) ="
            " (SELECT key, number FROM keys WHERE number = 9 ORDER BY key LIMIT 1)",
            "UPDATE counters SET value = value + 5 WHERE name = 'kept'",
            "DELETE FROM texts WHERE number = 4",
        ):
            connection.execute(sa.text(statement))
    with Index(database_url) as index:
        found = index.check(full=True)
        assert len(found) >= 5
        assert index.rebuild(f"{database_url}?schema=rebuilt")
    with Index(f"{database_url}?schema=rebuilt", must_exist=True) as index:
        assert index.check(full=True) == []
        index.add("new", "Nothing at all that is known here was written before.")
    check_consistent(f"{database_url}?schema=rebuilt")
