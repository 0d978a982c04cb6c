"""The write-ahead log: small, and in a backup."""

import math
import os
import pickle
import shutil
import sqlite3
import struct
import threading
from contextlib import ExitStack, closing
from pathlib import Path

import pytest
from tests.index.children import Child, add_all
from tests.index.consistency import check_consistent
from tests.index.databases import put, values, write
from tests.index.written import documents, families
from tests.waiting import until

from neardup import Index, NeardupError
from neardup.exceptions import (
    IndexFormatError,
    IndexUnavailableError,
    OutputError,
    ParameterError,
)
from neardup.index import restore
from neardup.index.backends import Database, sqlite
from neardup.writers.sink import FileSink

#: These tests are of the settings that users get.
DURABLE = True

MANY = documents(families(7, 12))
OPTIONS = {"threshold": 0.3, "workers": 1}


def beside(path, suffix):
    return path.with_name(path.name + suffix)


def killed(path, count):
    """An index whose writer was killed after a number of documents, all acknowledged."""
    Index(path, **OPTIONS).close()
    child = Child(add_all, str(path), MANY, 0, OPTIONS)
    assert child.wait_for(1 + count)
    child.kill()
    child.end()
    assert beside(path, "-wal").stat().st_size
    return path


def test_an_index_is_recognised_without_its_log(tmp_path):
    path, other = tmp_path / "n.db", tmp_path / "other" / "n.db"
    other.parent.mkdir()
    with Index(path, **OPTIONS) as index:
        # As a kill would leave it, here before any addition.
        shutil.copy(path, other)
        index.add("a", MANY[0]["text"])
    with closing(sqlite3.connect(other)) as connection:
        assert connection.execute("PRAGMA application_id").fetchone() == (0x6E647570,)
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    with Index(other, must_exist=True) as index:
        assert len(index) == 0


@pytest.mark.slow
def test_log_of_a_killed_process_is_replayed(tmp_path):
    path = killed(tmp_path / "n.db", 15)
    with Index(path, must_exist=True) as index:
        assert len(index) >= 15
    check_consistent(str(path))
    assert [file.name for file in tmp_path.iterdir()] == ["n.db"]


def test_backups_are_whole(tmp_path):
    path = tmp_path / "n.db"
    with Index(path, **OPTIONS) as index:
        for row in MANY[:5]:
            index.add(row["id"], row["text"])
        index.backup(tmp_path / "copy.db")
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("VACUUM INTO ?", [str(tmp_path / "vacuum.db")])
    shutil.copy(path, tmp_path / "closed.db")
    for name in ("copy.db", "vacuum.db", "closed.db"):
        with Index(tmp_path / name, must_exist=True) as copied:
            copied.check()
            assert len(copied) == 5


def test_a_backup_while_others_write(tmp_path):
    path = tmp_path / "n.db"
    Index(path, **OPTIONS).close()
    child = Child(add_all, str(path), MANY, 0, OPTIONS)
    with Index(path, must_exist=True) as index:
        for number in range(1, 4):
            child.wait_for(5 * number)
            index.backup(tmp_path / f"{number}.db")
            assert len(check_consistent(str(tmp_path / f"{number}.db"))) >= 5 * number - 1
        with pytest.raises(OutputError, match=r"1\.db: exists already"):
            index.backup(tmp_path / "1.db")
    assert child.end() == 0
    names = {"n.db", "1.db", "2.db", "3.db"}
    assert {path.name for path in tmp_path.iterdir()} == names


def test_a_server_is_not_backed_up_here(database_url, tmp_path):
    with Index(database_url) as index, pytest.raises(ParameterError, match="pg_dump"):
        index.backup(tmp_path / "copy.db")
    assert list(tmp_path.iterdir()) == []


def left_by_a_kill(path, begin, end):
    """Put an index and its log where a killed process would leave them, with some documents."""
    home = path.with_name(f"home of {path.name}")
    home.mkdir()
    with Index(home / path.name, **OPTIONS) as index:
        for row in MANY[begin:end]:
            index.add(row["id"], row["text"])
        index.backup(home / "first.db")
        with closing(sqlite3.connect(home / path.name)) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            shutil.copy(home / path.name, home / "not compact.db")
            index.compact()
            connection.execute("VACUUM INTO ?", [str(home / "vacuum.db")])
            with closing(sqlite3.connect(home / "sqlite.db")) as copy:
                connection.backup(copy)
        index.add(MANY[end]["id"], MANY[end]["text"])
        index.backup(home / "last.db")
        for suffix in ("", "-wal"):
            shutil.copy(beside(home / path.name, suffix), beside(path, suffix))
        index.add("later", MANY[end + 1]["text"])
    return home


def overwrite(source, target):
    """Overwrite a file: its number stays."""
    shutil.copyfile(source, target)


def remove_and_put(source, target):
    target.unlink()
    shutil.copy(source, target)


LEFT = {
    "a backup of the state before": (overwrite, "first.db"),
    "a backup of the same state": (remove_and_put, "last.db"),
    "a later state of the file": (overwrite, "n.db"),
    "the state before with other pages": (overwrite, "not compact.db"),
    "the state before as VACUUM copies it": (overwrite, "vacuum.db"),
    "the state before as SQLite copies it": (overwrite, "sqlite.db"),
    "nothing": (lambda _, target: target.unlink(), "last.db"),
    "an empty file": (lambda _, target: target.write_bytes(b""), "last.db"),
    "another index": (lambda source, target: source.rename(target), "../o.db"),
    "an index without documents": (overwrite, "../empty.db"),
}


@pytest.mark.parametrize("name", LEFT)
def test_index_next_to_a_left_log_is_refused_until_it_is_restored(tmp_path, name):
    path = tmp_path / "n.db"
    home = left_by_a_kill(path, 0, 5)
    with Index(tmp_path / "o.db", **OPTIONS) as other:
        other.add_many(MANY[20:24])
    Index(tmp_path / "empty.db", **OPTIONS).close()
    place, file = LEFT[name]
    shutil.copy(home / file, tmp_path / "backup.db")
    place(home / file, path)
    before = path.exists() and path.read_bytes(), beside(path, "-wal").read_bytes()
    with pytest.raises(IndexFormatError, match=r"n\.db-wal next to it belongs to"):
        Index(path)
    assert (path.exists() and path.read_bytes(), beside(path, "-wal").read_bytes()) == before
    restore(tmp_path / "backup.db", path, force=True)
    assert not beside(path, "-wal").exists()
    with Index(tmp_path / "backup.db") as expected, Index(path) as index:
        index.check()
        ids = [document.id for document in expected.documents()]
        assert [document.id for document in index.documents()] == ids


def test_log_without_whole_transactions_is_never_refused(tmp_path):
    """A crash cuts the log, or leaves bytes in it that were not written."""
    path, copy = tmp_path / "n.db", tmp_path / "copy.db"
    left_by_a_kill(path, 0, 2)
    log = beside(path, "-wal").read_bytes()
    for size in (0, 20, 32, 5000, len(log) - 5000, len(log) - 1):
        for rest in (b"", bytes(len(log) - size)):
            shutil.copy(path, copy)
            beside(copy, "-wal").write_bytes(log[:size] + rest)
            with Index(copy, must_exist=True) as index:
                assert len(index) == 2


def test_log_is_known_in_every_state_of_its_file(tmp_path, opened):
    """Before and after each checkpoint, and when the log has begun again."""
    database = opened(tmp_path / "n.db")
    for number in range(8):
        database._committed_at = -math.inf if number % 3 == 2 else math.inf
        write(database, f"{number}")
        if number % 4 == 3:
            database.compact()
            write(database, "compact")
            with database.writing() as connection:
                connection.exec_driver_sql("DELETE FROM counters WHERE name = 'compact'")
        if number == 5:
            # As it is killed before anything follows.
            with database._upkeep() as connection:
                connection.exec_driver_sql("VACUUM")
        for suffix in ("", "-wal"):
            shutil.copy(tmp_path / f"n.db{suffix}", tmp_path / f"copy.db{suffix}")
        with opened(tmp_path / "copy.db", tables=False, must_exist=True) as copy:
            assert len(values(copy)) == number + 1
        with opened(tmp_path / "n.db", tables=False) as other:
            write(other, f"other {number}")
            with other.writing() as connection:
                connection.exec_driver_sql("DELETE FROM counters WHERE name LIKE 'other%'")


def test_journal_of_an_unfinished_index_is_refused(tmp_path):
    path = tmp_path / "n.db"
    Index(path, **OPTIONS).close()
    journal = b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7" + struct.pack(">5I", 0, 1, 0, 512, 4096)
    beside(path, "-journal").write_bytes(journal.ljust(512, b"\0"))
    with pytest.raises(IndexFormatError, match=r"n\.db-journal next to it"):
        Index(path)


@pytest.mark.parametrize("name", ["moved.db", None])
def test_writer_of_a_replaced_file_says_where_its_changes_are(tmp_path, name):
    path, other = tmp_path / "n.db", tmp_path / "o.db"
    with Index(other, **OPTIONS) as index:
        index.add("other", MANY[20]["text"])
    with Index(path, **OPTIONS) as index:
        for row in MANY[:5]:
            index.add(row["id"], row["text"])
        if name is not None:
            path.rename(tmp_path / name)
        other.replace(path)
        words = "until then went with" if name is None else f"until then are in .*{name}"
        with pytest.raises(IndexUnavailableError, match=words):
            index.add(MANY[5]["id"], MANY[5]["text"])
    with Index(path, must_exist=True) as index:
        index.check()
        assert [document.id for document in index.documents()] == ["other"]
    if name is not None:
        assert len(check_consistent(str(tmp_path / name))) == 5


def test_writer_waiting_for_a_restore_stores_nothing(tmp_path, monkeypatch):
    path, copy = tmp_path / "n.db", tmp_path / "copy.db"
    failures = []
    with Index(path, **OPTIONS) as index:
        index.add("a", MANY[0]["text"])
        index.backup(copy)

        def add():
            with pytest.raises(IndexUnavailableError, match="was deleted or replaced") as refusal:
                index.add("b", MANY[1]["text"])
            failures.append(refusal.value)

        writer = threading.Thread(target=add)
        committed = FileSink.commit

        def commit(sink):
            writer.start()
            until(lambda: index._engine.database._turn.locked())
            committed(sink)

        monkeypatch.setattr(FileSink, "commit", commit)
        restore(copy, path, force=True)
        writer.join(60)
    assert len(failures) == 1
    assert list(check_consistent(str(path))) == ["a"]


def test_kill_during_a_restore_leaves_a_refused_log(tmp_path, monkeypatch):
    path = tmp_path / "n.db"
    home = left_by_a_kill(path, 0, 5)
    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", lambda *_, **__: None)
        restore(home / "first.db", path, force=True)
    with pytest.raises(IndexFormatError, match=r"n\.db-wal next to it"):
        Index(path)
    restore(home / "first.db", path, force=True)
    assert len(check_consistent(str(path))) == 5


RESTORES = {
    "there is an index": ("copy.db", "n.db", False, "exists already"),
    "a log is left": ("copy.db", "left.db", False, "left.db-wal: exists already, the log"),
    "the same file": ("n.db", "n.db", True, "both input and output"),
    "a log as the target": ("copy.db", "copy.db-wal", True, "both input and output"),
    "no backup": ("none.db", "n.db", True, "none.db: must be the file of an index"),
    "a folder": ("folder", "n.db", True, "folder: must be the file of an index"),
    "no index": ("text", "n.db", True, "text: must be an index"),
    "an empty file": ("empty", "n.db", True, "empty: does not have the tables of an index"),
    "of another version": ("old.db", "n.db", True, "must be an index of format 4"),
    "damaged": ("damaged.db", "n.db", True, "damaged.db: is damaged"),
    "a server": ("copy.db", "postgresql://host/name", True, "'location' parameter must be a file"),
    "a number": (7, "n.db", True, "'backup' parameter must be a path"),
    "no flag": ("copy.db", "n.db", 1, "'force' parameter must be True or False"),
}


@pytest.mark.parametrize("name", RESTORES)
def test_refused_restore_changes_nothing(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    with Index("n.db", **OPTIONS) as index:
        index.add_many(MANY)
        index.backup("copy.db")
    os.mkdir("folder")
    for file, content in (("text", b"text"), ("empty", b""), ("left.db-wal", b"log")):
        Path(file).write_bytes(content)
    shutil.copy("copy.db", "old.db")
    with closing(sqlite3.connect("old.db")) as old, old:
        old.execute("UPDATE meta SET value = '3' WHERE name = 'schema'")
    data = bytearray(Path("copy.db").read_bytes())
    data[len(data) // 2 :: 4096] = b"\xff" * len(data[len(data) // 2 :: 4096])
    Path("damaged.db").write_bytes(data)
    before = {path: path.is_file() and path.read_bytes() for path in tmp_path.iterdir()}
    copy, location, force, words = RESTORES[name]
    with pytest.raises(NeardupError, match=words):
        restore(copy, location, force=force)
    assert {path: path.is_file() and path.read_bytes() for path in tmp_path.iterdir()} == before


def test_log_of_a_deleted_index_is_refused(tmp_path):
    path = killed(tmp_path / "n.db", 15)
    path.unlink()
    with pytest.raises(IndexFormatError, match=r"n\.db-wal next to it"):
        Index(path, must_exist=False, **OPTIONS)
    beside(path, "-wal").unlink()
    with Index(path, must_exist=False, **OPTIONS) as index:
        index.add("a", MANY[0]["text"])
        assert len(index) == 1
    with Index(path, must_exist=True) as index:
        assert len(index) == 1
    assert list(check_consistent(str(path))) == ["a"]


def test_copies_of_a_closed_index_need_no_other_file(tmp_path):
    path = tmp_path / "n.db"
    with Index(path, **OPTIONS) as index:
        for row in MANY[:5]:
            index.add(row["id"], row["text"])
    assert [path.name for path in tmp_path.iterdir()] == ["n.db"]
    old = path.read_bytes()
    with Index(path) as index:
        index.add(MANY[5]["id"], MANY[5]["text"])
    # An older back-up that is put back over a closed index is no loss.
    path.write_bytes(old)
    with Index(path) as index:
        assert len(index) == 5


def test_the_log_has_a_bound(tmp_path, opened):
    """While one commit follows the other; 16 MB, and what one transaction adds."""
    database = opened(tmp_path / "n.db")
    largest = 0
    for number in range(60):
        with database.writing() as connection:
            connection.exec_driver_sql(
                "INSERT INTO texts VALUES (?, ?)", (number, os.urandom(1 << 20))
            )
        largest = max(largest, (tmp_path / "n.db-wal").stat().st_size)
    assert 4 << 20 < largest < 20 << 20


def test_a_commit_after_a_pause_is_moved_into_the_file(tmp_path, opened):
    database = opened(tmp_path / "n.db")
    sizes = []
    for name, last in (("first", -math.inf), ("at once", math.inf), ("later", -math.inf)):
        # When the last commit was, so that nothing has to be waited for.
        database._committed_at = last
        write(database, name)
        shutil.copy(tmp_path / "n.db", tmp_path / "copy.db")
        with closing(sqlite3.connect(tmp_path / "copy.db")) as connection:
            sizes.append(len(connection.execute("SELECT * FROM counters").fetchall()))
    # Of the copies, without log: the rows that were moved.
    assert sizes == [1, 1, 3]


def test_long_wait_does_not_lengthen_the_pauses(tmp_path, opened, monkeypatch):
    """Or writers that just began would always be first, and one could wait for a minute."""
    first, second = opened(tmp_path / "n.db"), opened(tmp_path / "n.db")
    pauses = []

    def pause(seconds):
        pauses.append(seconds)
        if len(pauses) == 200:
            holding.close()

    monkeypatch.setattr(sqlite.time, "sleep", pause)
    with ExitStack() as holding:
        holding.enter_context(first.writing())
        with second.writing() as connection:
            put(connection, "second", 1)
            timeout = connection.exec_driver_sql("PRAGMA busy_timeout").scalar_one()
    assert len(pauses) == 200
    assert max(pauses) <= 0.01
    assert timeout == Database.lock_seconds * 1000
    assert values(first) == {"second": 1}


def test_closing_writer_empties_the_log(tmp_path):
    path = tmp_path / "n.db"
    with Index(path, **OPTIONS) as reader:
        with Index(path, **OPTIONS) as writer:
            for row in MANY[:5]:
                writer.add(row["id"], row["text"])
        assert beside(path, "-wal").exists()
        shutil.copy(path, tmp_path / "copy.db")
        with Index(tmp_path / "copy.db") as copied:
            assert len(copied) == len(reader) == 5


def test_an_index_is_not_pickled(tmp_path):
    with Index(tmp_path / "n.db") as index:
        with pytest.raises(TypeError, match=r"Open it in each process by its path: neardup\.Index"):
            pickle.dumps(index)
        assert repr(index) == f"Index({str(tmp_path / 'n.db')!r})"
        assert values(index._engine.database)["next"] == 1
