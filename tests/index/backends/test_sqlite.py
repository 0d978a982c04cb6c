"""The write-ahead log: small, and in a backup."""

import math
import os
import pickle
import shutil
import sqlite3
from contextlib import closing

import pytest
from tests.index.calls import values, write
from tests.index.children import Child, add_all
from tests.index.consistency import check_consistent
from tests.index.written import documents, families

from neardup import Index
from neardup.exceptions import OutputError, ParameterError

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
def test_a_log_that_a_killed_process_left_is_taken(tmp_path):
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
        with pytest.raises(OutputError) as refusal:
            index.backup(tmp_path / "1.db")
        assert refusal.value.message.code == "exists"
    assert child.end() == 0
    names = {"n.db", "1.db", "2.db", "3.db"}
    assert {path.name for path in tmp_path.iterdir()} == names


def test_a_server_is_not_backed_up_here(database_url, tmp_path):
    with Index(database_url) as index:
        with pytest.raises(ParameterError) as refusal:
            index.backup(tmp_path / "copy.db")
        assert refusal.value.code == "parameter"
    assert list(tmp_path.iterdir()) == []


def test_a_log_that_is_left_of_a_deleted_index(tmp_path):
    path = killed(tmp_path / "n.db", 15)
    path.unlink()
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


def test_a_writer_that_closes_empties_the_log(tmp_path):
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
