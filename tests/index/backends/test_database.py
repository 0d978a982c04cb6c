"""What transactions promise: durable, exclusive, a snapshot, all or nothing."""

import os
import subprocess
import sys
import threading
import time

import pytest
import sqlalchemy as sa
from tests import needs
from tests.index.databases import BOTH, put, values
from tests.postgres import name_in
from tests.waiting import PATIENCE

from neardup.exceptions import IndexUnavailableError
from neardup.index.backends import Database
from neardup.index.schema import METADATA, SCHEMA, counters, documents, events, keys, meta

pytestmark = BOTH

#: These tests are of the settings that users get.
DURABLE = True


def test_a_new_index_is_empty_until_its_tables_are_made(location, opened):
    database = opened(location, tables=False)
    assert not database.exists()
    assert database.measure_size() == 0
    database.create_tables()
    assert database.exists()
    database.check_schema()
    assert database.measure_size() > 0
    assert opened(location, tables=False, must_exist=True).exists()
    with database.reading() as connection:
        assert connection.execute(meta.select()).all() == [("schema", str(SCHEMA))]
        for table in METADATA.tables.values():
            if table is not meta:
                assert connection.execute(table.select()).all() == []


def test_opening_makes_no_file(tmp_path, opened):
    opened(tmp_path / "index.db", tables=False)
    assert list(tmp_path.iterdir()) == []


def test_tables_are_made_and_filled_once(location, opened):
    def fill(connection):
        put(connection, "filled", 1)

    def create(database):
        barrier.wait()
        database.create_tables(fill)

    databases = [opened(location, tables=False) for _ in range(4)]
    barrier = threading.Barrier(len(databases))
    threads = [threading.Thread(target=create, args=[database]) for database in databases]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert values(databases[0]) == {"filled": 1}


def test_tables_without_their_first_rows_are_not_left_behind(location, opened):
    database = opened(location, tables=False)

    def fail(_connection):
        raise ValueError("no settings")

    with pytest.raises(ValueError, match="no settings"):
        database.create_tables(fail)
    assert not database.exists()
    database.create_tables()
    assert database.exists()


def test_values_of_any_size_come_back(location, opened):
    database = opened(location)
    numbers = [(-(1 << 63), 1, 1), (-1, 2, 2), (0, 3, 3), ((1 << 63) - 1, 1 << 40, 60)]
    document = {"number": 1 << 40, "id": "文章 %s \x01 🙂", "state": 0, "at": 1_750_000_000_000_000}
    document |= {"identity": bytes(range(256)), "features": 1 << 40, "similarity": 0.1 + 0.2}
    with database.writing() as connection:
        names = keys.c.keys()
        connection.execute(keys.insert(), [dict(zip(names, row, strict=True)) for row in numbers])
        connection.execute(documents.insert().values(document))
        connection.execute(events.insert(), [{"at": 1, "action": "removed"}] * 2)
    with database.reading() as connection:
        assert connection.execute(keys.select().order_by(keys.c.key)).all() == numbers
        result = connection.execute(documents.select()).one()._asdict()
        assert {name: result[name] for name in document} == document
        assert {result[name] for name in result if name not in document} == {None}
        assert [e.event for e in connection.execute(events.select())] == [1, 2]


def test_ids_are_ordered_by_their_bytes(location, opened):
    database = opened(location)
    names = ["b", "a", "B", "ä", "文", "_", "a b", "ab"]
    with database.writing() as connection:
        for name in names:
            put(connection, name, 0)
    with database.reading() as connection:
        result = connection.execute(counters.select().order_by(counters.c.name)).scalars().all()
    assert result == sorted(names)


def test_a_commit_of_sqlite_is_durable(tmp_path, opened):
    database = opened(tmp_path / "index.db")
    for transaction in (database.writing, database.reading):
        with transaction() as connection:
            result = {
                name: connection.exec_driver_sql(f"PRAGMA {name}").scalar_one()
                for name in ("journal_mode", "synchronous", "fullfsync", "busy_timeout")
            }
        full = 2
        expected = {"journal_mode": "wal", "synchronous": full, "fullfsync": 1}
        assert result == expected | {"busy_timeout": Database.lock_seconds * 1000}


@pytest.mark.parametrize(("given", "expected"), [("off", "on"), ("remote_apply", "remote_apply")])
def test_a_commit_of_postgresql_is_durable(given, expected, postgres, database_url, opened):
    with postgres.connect(name_in(database_url)) as connection:
        connection.execute("ALTER ROLE neardup SET default_transaction_isolation = serializable")
        connection.execute(f"ALTER ROLE neardup SET synchronous_commit = {given}")
    try:
        database = opened(database_url)
        with database.writing() as connection:
            for name, value in (
                ("synchronous_commit", expected),
                ("transaction_isolation", "read committed"),
                ("lock_timeout", "1min"),
                ("search_path", "neardup"),
            ):
                result = connection.exec_driver_sql(f"SHOW {name}").scalar_one()
                assert result.strip('"') == value
        with database.reading() as connection:
            show = "SHOW transaction_isolation"
            assert connection.exec_driver_sql(show).scalar_one() == "repeatable read"
            show = "SHOW transaction_read_only"
            assert connection.exec_driver_sql(show).scalar_one() == "on"
    finally:
        with postgres.connect() as connection:
            connection.execute("ALTER ROLE neardup RESET ALL")


def test_an_exception_undoes_everything(location, opened):
    database = opened(location)
    with database.writing() as connection:
        put(connection, "before", 1)

    def fail(error):
        with database.writing() as connection:
            put(connection, "during", 1)
            raise error

    for error in (ValueError, KeyboardInterrupt):
        with pytest.raises(error):
            fail(error)
    assert values(database) == {"before": 1}
    with database.writing() as connection:
        put(connection, "after", 1)
    assert values(database) == {"before": 1, "after": 1}


def test_suppressed_failure_is_not_acknowledged(location, opened):
    """After it the server would answer a commit by undoing everything, without an error."""
    database = opened(location)
    again = "INSERT {} INTO counters VALUES ('twice', 1)"
    again = again.format("OR ROLLBACK" if database.dialect == "sqlite" else "")

    def pass_over(connection):
        put(connection, "twice", 1)
        with pytest.raises(sa.exc.IntegrityError):
            connection.exec_driver_sql(again)

    with pytest.raises(RuntimeError, match="nothing is stored"), database.writing() as connection:
        pass_over(connection)
    assert values(database) == {}


def test_a_reader_sees_one_moment(location, opened):
    reader, writer = opened(location), opened(location)
    with reader.reading() as connection:
        assert connection.execute(counters.select()).all() == []
        with writer.writing() as other:
            put(other, "new", 1)
        assert connection.execute(counters.select()).all() == []
        assert values(writer) == values(reader) == {"new": 1}


def test_readers_do_not_wait_for_a_writer(location, opened):
    database = opened(location)
    with database.writing() as connection:
        put(connection, "new", 1)
        assert values(database) == {}
    assert values(database) == {"new": 1}


@pytest.mark.parametrize("shared", [True, False])
def test_the_second_writer_waits_for_the_first(shared, location, opened):
    """Whether they share a `Database` or not."""
    first = opened(location)
    second = first if shared else opened(location)
    seen, asks = [], threading.Event()

    def write_second():
        asks.set()
        with second.writing() as connection:
            seen.append(connection.execute(counters.select()).one().value)

    waiting = threading.Thread(target=write_second)
    with first.writing() as connection:
        waiting.start()
        assert asks.wait(PATIENCE)
        assert not seen
        # It finds this row, or else it did not wait.
        put(connection, "turn", 1)
    waiting.join()
    assert seen == [1]


def test_compacting_gives_space_back(location, opened):
    database = opened(location)
    assert database.check() is None
    with database.writing() as connection:
        rows = [{"key": n, "number": n, "share": 1} for n in range(20_000)]
        connection.execute(keys.insert(), rows)
    full = database.measure_size()
    with database.writing() as connection:
        connection.execute(keys.delete())
    database.compact()
    # PostgreSQL keeps empty pages of its indexes for new rows.
    assert database.measure_size() < full / (4 if database.dialect == "sqlite" else 2)
    assert database.check() is None


def test_the_working_folder_may_change(tmp_path, monkeypatch, opened):
    monkeypatch.chdir(tmp_path)
    database = opened("index.db", tables=False)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    database.create_tables()
    assert values(database) == {}
    assert list((tmp_path / "elsewhere").iterdir()) == []


@pytest.mark.parametrize("name", ["a b?mode=memory#x%20.db", "文.db", "file:x.db", "'.db"])
def test_any_name_of_a_file(name, tmp_path, opened):
    opened(tmp_path / name).close()
    assert [path.name for path in tmp_path.iterdir()] == [name]


FORK = """
import os, sys
from neardup.index.backends import open_database
from neardup.index.schema import counters
def add(database):
    with database.writing() as connection:
        connection.execute(counters.update().values(value=counters.c.value + 1))
def in_a_child(use):
    child = os.fork()
    if child == 0:
        try:
            use()
            os._exit(0)
        except OSError as error:
            print(error, flush=True)
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
def open_and_add():
    with open_database(sys.argv[1], must_exist=True) as own:
        add(own)
database = open_database(sys.argv[1], must_exist=True)
add(database)
assert in_a_child(lambda: add(database)) == 1
assert in_a_child(database.close) == 0
assert in_a_child(open_and_add) == 0
add(database)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason=needs.POSIX)
def test_a_forked_child_opens_the_index_again(location, opened):
    database = opened(location)
    with database.writing() as connection:
        put(connection, "count", 0)
    done = subprocess.run(
        [sys.executable, "-c", FORK, location], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert values(database) == {"count": 3}
    assert "was opened before this process was forked" in done.stdout


def test_no_turn_in_time(location, opened, monkeypatch):
    """Of another process, which a second `Database` stands for, or another thread."""
    monkeypatch.setattr(Database, "lock_seconds", 0.2)
    first, second = opened(location), opened(location)
    with first.writing() as connection:
        put(connection, "first", 1)
        for other, by in ((second, "process"), (first, "thread")):
            began = time.monotonic()
            with (
                pytest.raises(IndexUnavailableError, match=f"another {by}") as told,
                other.writing(),
            ):
                pass
            assert time.monotonic() - began > 0.15
            assert "nothing of this change was stored. try again" in str(told.value).lower()
    with second.writing() as connection:
        put(connection, "second", 2)
    assert values(first) == {"first": 1, "second": 2}


@pytest.mark.parametrize(("module", "extra"), [("sqlalchemy", "index"), ("psycopg", "postgres")])
def test_a_missing_package_is_named(module, extra, run_python):
    done = run_python(
        f"sys.modules[{module!r}] = None\n"
        "from neardup.exceptions import MissingDependencyError\n"
        "try:\n"
        "    from neardup import Index\n"
        "    Index('postgresql://nowhere/x', must_exist=True)\n"
        "except MissingDependencyError as error:\n"
        "    print(error)\n"
    )
    assert f"pip install 'neardup[{extra}]'" in done.stdout.decode(), done.stderr.decode()
