"""Damaged rows: found by a check, named by every operation, and left out of a rebuilt index."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
import sqlalchemy as sa
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
        for number, row in enumerate(MANY):
            index.add(row["id"], row["text"], title=f"t{number}", source="s", extra={"n": number})
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


#: What is done to the file: what leaves a document out of a new index,
LEFT_OUT = [
    of(KEPT, "id = x'00ff'"),
    of(KEPT, "id = ''"),
    of(KEPT, "at = 9000000000000000000"),
    of(KEPT, "at = -9000000000000000000"),
    of(DROPPED, "at = 'yesterday'"),
    of(KEPT, "id = CAST(x'ff41' AS TEXT)"),
    f"DELETE FROM texts WHERE number = {KEPT}",
    f"DELETE FROM texts WHERE number = {DROPPED}",
    f"UPDATE texts SET text = x'00112233' WHERE number = {KEPT}",
    f"UPDATE texts SET text = x'28b52ffd2001090000ff' WHERE number = {KEPT}",
    f"UPDATE texts SET text = 'hello' WHERE number = {KEPT}",
    f"UPDATE texts SET text = 12 WHERE number = {KEPT}",
    f"UPDATE texts SET text = substr(text, 1, length(text) / 2) WHERE number = {KEPT}",
    f"UPDATE texts SET text = x'28b52ffde0ffffffffffffff0f010000' WHERE number = {KEPT}",
    "UPDATE texts SET text = (SELECT text FROM texts WHERE number = 2)"
    f" WHERE number = {KEPT} AND number != 2",
]
#: what loses nothing, since what is wrong follows from what is right,
MADE_AGAIN = [
    of(KEPT, "state = 7"),
    of(DROPPED, "state = 'kept'"),
    of(DROPPED, "state = 0"),
    of(KEPT, "state = 1"),
    of(KEPT, "state = 2"),
    of(KEPT, "identity = x'00'"),
    of(KEPT, "identity = 'abc'"),
    of(KEPT, "identity = 1000000000000000"),
    of(KEPT, "identity = zeroblob(16)"),
    of(KEPT, "features = -5"),
    of(KEPT, "features = 9000000000"),
    of(KEPT, "features = features + 1"),
    of(KEPT, "sketch = NULL"),
    of(KEPT, "sketch = 'abc'"),
    of(KEPT, "sketch = substr(sketch, 1, length(sketch) - 3)"),
    of(KEPT, "sketch = CAST(x'5a' || substr(sketch, 2) AS BLOB)"),
    "INSERT INTO texts SELECT 900000, text FROM texts LIMIT 1",
    "DELETE FROM recent_keys",
    f"DELETE FROM recent_keys WHERE number = {KEPT}",
    "INSERT INTO keys VALUES (5, 900000, 1)",
    f"INSERT INTO keys VALUES (5, {DROPPED}, 1)",
    f"INSERT INTO keys VALUES (5, {KEPT}, 1)",
    "UPDATE recent_keys SET key = key + 1 WHERE key ="
    f" (SELECT min(key) FROM recent_keys WHERE number = {KEPT})",
    "DELETE FROM recent_keys WHERE (key, number) ="
    " (SELECT key, number FROM recent_keys ORDER BY key LIMIT 1)",
    "UPDATE counters SET value = value + 1 WHERE name = 'filed'",
    "UPDATE counters SET value = 'x' WHERE name = 'filed'",
    "UPDATE recent_keys SET share = 70000",
    "UPDATE recent_keys SET share = 'x'",
    "UPDATE counters SET value = 'x' WHERE name = 'kept'",
    "UPDATE counters SET value = -1 WHERE name = 'counted_at'",
    "UPDATE counters SET value = 9223372036854775807 WHERE name = 'next'",
    "UPDATE counters SET value = value + 1 WHERE name = 'kept'",
    "UPDATE counters SET value = 2 WHERE name = 'next'",
    "DELETE FROM counters WHERE name = 'background'",
    "UPDATE counters SET value = 'x' WHERE name = 'recent'",
    "UPDATE counters SET value = -5 WHERE name = 'unlisted'",
    "DROP INDEX documents_at",
]
#: and what loses something else.
LOST = [
    of(KEPT, "title = x'ff00'"),
    of(KEPT, "title = CAST(x'ff41' AS TEXT)"),
    of(DROPPED, "extra = CAST(x'ff41' AS TEXT)"),
    "UPDATE events SET details = CAST(x'ff41' AS TEXT)",
    of(DROPPED, "source = x'ff00'"),
    of(KEPT, """extra = '{"n": '"""),
    of(KEPT, "extra = '[1]'"),
    of(DROPPED, "extra = x'00'"),
    of(KEPT, f"extra = '{'[' * 5000}'"),
    of(DROPPED, "kept_number = 900000"),
    of(DROPPED, "kept_number = 'a'"),
    of(DROPPED, "kept_number = NULL"),
    f"DELETE FROM documents WHERE number = {KEPT}",
    of(DROPPED, "similarity = 7.5"),
    of(DROPPED, "similarity = 'high'"),
    of(DROPPED, "similarity = NULL"),
    of(DROPPED, "distance = 'far'"),
    of(DROPPED, "reason = 9"),
    "UPDATE background SET data = x'28b52ffd2000010000'",
    "DELETE FROM background",
    "UPDATE background SET data = x'0011'",
    "UPDATE background SET data = 'abc'",
    "UPDATE events SET details = '{'",
    "UPDATE events SET at = 9000000000000000000",
    "UPDATE events SET action = x'ff'",
]
DAMAGES = [*LEFT_OUT, *MADE_AGAIN, *LOST]

#: How many there are of `changes`.
CHANGES = 11


def changes(index):
    """What changes an index: each is tried on a copy of its own."""
    kept = next(iter(MANY))["id"]
    ids = [row["id"] for row in MANY]
    yield lambda: index.add("new", TEXT + " And a word more.")
    yield lambda: index.add("new", "Nothing at all that is known here was written before.")
    yield lambda: index.add_many(
        [{"id": f"m{number}", "text": row["text"]} for number, row in enumerate(MANY)]
    )
    yield lambda: index.add_many(MANY)
    yield index.recount
    made = [b""]
    yield lambda: list(shingles.make_missing(index._engine, "x", lambda part: made * len(part), 0))
    yield lambda: index.reconsider(ids)
    yield index.reconsider
    yield lambda: index.keep(kept)
    yield lambda: index.remove(kept)
    yield lambda: index.expire(before="2999-01-01")


def questions(index, tmp_path):
    """What leaves an index as it is."""
    ids = [row["id"] for row in MANY]
    yield lambda: [index.query(row["text"]) for row in MANY]
    yield lambda: [index.query(row["text"], within="90d") for row in MANY]
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
@pytest.mark.parametrize("damage", DAMAGES)
def test_an_operation_works_or_names_the_damage(damage, copy, tmp_path):
    path = copy()
    change(path, damage)
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

    def change_it(number):
        with Index(other, **OPTIONS) as index:
            every = list(changes(index))
            assert len(every) == CHANGES
            every[number]()

    def ask_it():
        with Index(other, **OPTIONS) as index:
            for question in questions(index, tmp_path):
                attempt(question)

    shutil.copy(path, other)
    attempt(ask_it)
    for number in range(CHANGES):
        shutil.copy(path, other)
        attempt(lambda number=number: change_it(number))
    assert all("is kept already" in item or "no document" in item for item in refused), refused
    for message in told:
        assert message.startswith(f"{tmp_path / 'one.db'}: ")
        assert "estore" in message, message


@pytest.mark.slow
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damage_is_found_and_all_else_rebuilt(damage, copy, tmp_path):
    path = copy()
    change(path, damage)
    before = path.read_bytes()
    with Index(path) as index:
        assert index.check(full=True)
        lost = index.rebuild(tmp_path / "new.db")
        assert path.read_bytes() == before
    with Index(tmp_path / "new.db", must_exist=True) as index:
        index.add("new", "Nothing at all that is known here was written before.")
        index.reconsider()
        assert index.check(full=True) == []
        ids = {document.id for document in index.documents()} - {"new"}
    check_consistent(str(tmp_path / "new.db"))
    left_out = [line for line in lost if "is left out" in line.template]
    every = {row["id"] for row in MANY}
    # One had been removed before.
    row_is_gone = damage.startswith("DELETE FROM documents")
    assert len(every - ids) == 1 + row_is_gone + len(left_out)
    assert len(left_out) == (damage in LEFT_OUT)
    assert bool(lost) == (damage not in MADE_AGAIN), lost


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
    assert [line for line in old if line.startswith(kinds)] == [
        line for line in new if line.startswith(kinds)
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
        sample, every = index.check(), index.check(full=True)
    assert 5 <= len(sample) < len(every)


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
    change(path, of("3", "features = features + 1"))
    with closing(sqlite3.connect(path)) as connection, connection:
        gone = connection.execute("DELETE FROM recent_keys WHERE number = 1").rowcount
    with Index(path, must_exist=True) as index:
        assert bool(index.check(full=True)) == bool(gone or more.get("store") != "sketch")
        index.rebuild(tmp_path / "new.db")
    with Index(tmp_path / "new.db", must_exist=True) as index:
        assert index.check(full=True) == []
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
        result = index.check(full=True)
        assert len(result) >= 5
        assert index.rebuild(f"{database_url}?schema=rebuilt")
    with Index(f"{database_url}?schema=rebuilt", must_exist=True) as index:
        assert index.check(full=True) == []
        index.add("new", "Nothing at all that is known here was written before.")
    check_consistent(f"{database_url}?schema=rebuilt")
