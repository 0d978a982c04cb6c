"""The write-ahead log: small, and missed when it is missing."""

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
from neardup.exceptions import IndexFormatError, OutputError, ParameterError
from neardup.index.backends import acknowledged
from neardup.index.backends.acknowledged import Acknowledged

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


@pytest.fixture(scope="module")
def crashed(tmp_path_factory):
    return killed(tmp_path_factory.mktemp("crashed") / "n.db", 15)


@pytest.fixture
def copy(crashed, tmp_path):
    """A copy of all its files but the one that SQLite makes by itself."""
    for suffix in ("", "-wal", "-commits"):
        shutil.copy(beside(crashed, suffix), tmp_path)
    return tmp_path / crashed.name


def frames(log):
    """The bytes of a log after each of its commits."""
    data = log.read_bytes()
    page = int.from_bytes(data[8:12], "big")
    ends = []
    for begin in range(32, len(data) - page - 23, page + 24):
        if int.from_bytes(data[begin + 4 : begin + 8], "big"):
            ends.append(begin + page + 24)
    return ends


def refused(path, words):
    """Every way to open the index is refused, and changes neither the file nor the log."""
    before = {name: name.read_bytes() for name in (path, beside(path, "-wal")) if name.exists()}
    for must_exist in (True, False, None):
        with pytest.raises(IndexFormatError) as told:
            Index(path, must_exist=must_exist)
        message = str(told.value)
        assert message.startswith(f"{path}: ")
        assert words in message, message
        assert "create" not in message
        assert {name: name.read_bytes() for name in before} == before
    return message


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
def test_a_whole_log_is_taken(copy):
    with Index(copy, must_exist=True) as index:
        assert len(index) >= 15
    check_consistent(str(copy))
    assert [path.name for path in copy.parent.iterdir()] == ["n.db"]


def test_a_missing_log(copy):
    log = beside(copy, "-wal")
    data = log.read_bytes()
    log.unlink()
    message = refused(copy, "its write-ahead log, n.db-wal, is missing")
    assert "To continue without the lost changes" in message
    beside(copy, "-commits").rename(copy.with_name("note"))
    with Index(copy, must_exist=True) as index:
        assert len(index) < 15
    check_consistent(str(copy))
    # Where it is put back nothing is lost.
    copy.with_name("note").rename(beside(copy, "-commits"))
    log.write_bytes(data)
    with Index(copy, must_exist=True) as index:
        assert len(index) >= 15


def test_a_copy_of_the_file_alone_is_noticed_by_check(tmp_path):
    path, alone = tmp_path / "n.db", tmp_path / "alone.db"
    with Index(path, **OPTIONS) as index:
        for row in MANY[:5]:
            index.add(row["id"], row["text"])
        shutil.copy(path, alone)
        index.backup(tmp_path / "copy.db")
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("VACUUM INTO ?", [str(tmp_path / "vacuum.db")])
        assert index.check() == []
    shutil.copy(path, tmp_path / "closed.db")
    for name in ("copy.db", "vacuum.db", "closed.db"):
        with Index(tmp_path / name, must_exist=True) as copied:
            assert copied.check(full=True) == []
            assert len(copied) == 5
    with Index(alone, must_exist=True) as copied:
        assert len(copied) < 5
        assert [line.code for line in copied.check()] == ["log_missing"]
        assert copied.rebuild(tmp_path / "new.db") == []
    with Index(tmp_path / "new.db", must_exist=True) as rebuilt:
        assert rebuilt.check() == []


def test_a_kill_between_a_checkpoint_and_its_mark_is_no_damage(tmp_path):
    path, killed = tmp_path / "n.db", tmp_path / "killed.db"
    with Index(path, **OPTIONS) as index:
        index.add(MANY[0]["id"], MANY[0]["text"])
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            acknowledged.mark(connection, needs_log=True)
            for suffix in ("", "-wal"):
                shutil.copy(beside(path, suffix), beside(killed, suffix))
    for _ in range(2):
        with Index(killed, must_exist=True) as index:
            assert index.check() == []


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


def test_a_log_that_is_cut_off(copy):
    log = beside(copy, "-wal")
    data, ends = log.read_bytes(), frames(log)
    assert len(ends) > 5
    for end in (0, 31, 32, *ends[:-1], ends[-1] - 1):
        log.write_bytes(data[:end])
        refused(copy, "is missing" if end == 0 else "is incomplete or too old")


def test_bytes_of_the_log_that_are_wrong(copy):
    log = beside(copy, "-wal")
    data, ends = bytearray(log.read_bytes()), frames(log)
    for position in (5, 20, 100, ends[len(ends) // 2] + 2000):
        data[position] ^= 0x40
        log.write_bytes(data)
        data[position] ^= 0x40
        refused(copy, "is incomplete or too old")
    log.write_bytes(os.urandom(50_000))
    refused(copy, "is incomplete or too old")


@pytest.mark.parametrize("has_note", [True, False])
def test_a_log_of_another_index(has_note, copy, tmp_path):
    (tmp_path / "other").mkdir()
    other = killed(tmp_path / "other" / "n.db", 20)
    shutil.copy(beside(other, "-wal"), beside(copy, "-wal"))
    if not has_note:
        beside(copy, "-commits").unlink()
    refused(copy, "n.db-wal, is not its own")
    # What is left in the file itself is not lost.
    for suffix in ("-wal", "-shm", "-commits"):
        beside(copy, suffix).unlink(missing_ok=True)
    with Index(copy, must_exist=True):
        pass
    check_consistent(str(copy))


def test_a_file_that_is_only_a_header(tmp_path):
    """What a version that made the tables in the log left without it."""
    path = tmp_path / "n.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
    message = refused(path, "like an index whose write-ahead log, n.db-wal, is missing")
    assert "only if there was no index, delete the file" in message


def test_a_log_that_is_left_of_a_deleted_index(copy):
    copy.unlink()
    with Index(copy, must_exist=False, **OPTIONS) as index:
        index.add("a", MANY[0]["text"])
        assert len(index) == 1
    with Index(copy, must_exist=True) as index:
        assert len(index) == 1
    assert list(check_consistent(str(copy))) == ["a"]


def test_copies_of_a_closed_index_need_no_other_file(tmp_path):
    path = tmp_path / "n.db"
    with Index(path, **OPTIONS) as index:
        for row in MANY[:5]:
            index.add(row["id"], row["text"])
        assert beside(path, "-commits").exists()
    assert [path.name for path in tmp_path.iterdir()] == ["n.db"]
    old = path.read_bytes()
    with Index(path) as index:
        index.add(MANY[5]["id"], MANY[5]["text"])
    # An older back-up that is put back over a closed index is no loss.
    path.write_bytes(old)
    with Index(path) as index:
        assert len(index) == 5


def test_the_count_is_of_what_is_committed(tmp_path):
    path = tmp_path / "n.db"
    with Index(path, **OPTIONS) as index:
        counts = []
        for document in MANY[:5]:
            index.add(document["id"], document["text"])
            counts.append(Acknowledged.from_bytes(beside(path, "-commits").read_bytes()))
        first = counts[0].commits
        assert [(n.commits, n.documents) for n in counts] == [(first + n, n + 1) for n in range(5)]
        # A question is no change.
        assert index.query(MANY[0]["text"])
        assert len(index.expire(before="2000-01-01").freed) == 0
        assert Acknowledged.from_bytes(beside(path, "-commits").read_bytes()) == counts[-1]


def test_the_count_never_goes_back(tmp_path):
    path = tmp_path / "n.db-commits"
    for commits, stands in ((5, 5), (4, 5), (6, 6)):
        acknowledged.record(path, Acknowledged(1, commits, commits))
        assert Acknowledged.from_bytes(path.read_bytes()).commits == stands
    # That of another index counts for nothing.
    acknowledged.record(path, Acknowledged(2, 1, 1))
    assert Acknowledged.from_bytes(path.read_bytes()) == Acknowledged(2, 1, 1)


@pytest.mark.parametrize("content", [b"", b"\0" * 96, b"neardup 1 5 999999 3 00000000\n", b"\xff"])
def test_a_count_that_was_torn_counts_for_nothing(content, copy):
    """A power loss may leave it so: nothing waits for the disk to write it."""
    beside(copy, "-commits").write_bytes(content)
    with Index(copy, must_exist=True) as index:
        assert len(index) >= 15


def test_an_index_of_a_version_without_a_count(tmp_path):
    path = tmp_path / "n.db"
    Index(path, **OPTIONS).close()
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("DELETE FROM counters WHERE name = 'commits'")
        connection.execute("DELETE FROM meta WHERE name = 'identity'")
    with Index(path, **OPTIONS) as index:
        index.add(MANY[0]["id"], MANY[0]["text"])
        recorded = Acknowledged.from_bytes(beside(path, "-commits").read_bytes())
        assert (recorded.commits, recorded.documents) == (1, 1)


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
    with database.writing() as connection:
        connection.exec_driver_sql("INSERT INTO counters VALUES ('identity', 1), ('next', 1)")
    sizes = []
    for name, last in (("first", -math.inf), ("at once", math.inf), ("later", -math.inf)):
        # When the last commit was, so that nothing has to be waited for.
        database._committed_at = last
        write(database, name)
        shutil.copy(tmp_path / "n.db", tmp_path / "copy.db")
        with closing(sqlite3.connect(tmp_path / "copy.db")) as connection:
            sizes.append(len(connection.execute("SELECT * FROM counters").fetchall()))
    # Of the copies, without log: identity, next, commits, needs_log, and the rows that were moved.
    assert sizes == [5, 5, 7]


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
