"""What goes wrong with files and servers: a clear error, nothing lost, and it works again."""

import contextlib
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from tests.index.databases import BOTH, put, refused, values, write
from tests.postgres import name_in

from neardup.exceptions import IndexFormatError, IndexUnavailableError, ParameterError
from neardup.index.schema import keys, meta

pytestmark = BOTH

ROWS = 20_000

#: These tests are of the settings that users get.
DURABLE = True


def add_keys(connection, first=0, count=ROWS):
    rows = [{"key": n, "number": n, "share": 1} for n in range(first, first + count)]
    connection.execute(keys.insert(), rows)


@pytest.fixture
def file(tmp_path):
    return tmp_path / "index.db"


@pytest.fixture
def full(file, opened):
    """A file with an index of some hundred pages, closed."""
    database = opened(file)
    with database.writing() as connection:
        put(connection, "before", 1)
        add_keys(connection)
    database.close()
    assert not file.with_name("index.db-wal").exists()
    return file


def with_tables(script):
    def make(file):
        with contextlib.closing(sqlite3.connect(file)) as other:
            other.executescript(script)

    return make


#: Files that are not an index, or not one yet, and the message for each.
NO_INDEX = [
    (str, IndexUnavailableError, "no such file"),
    (Path.mkdir, IndexUnavailableError, "not a folder"),
    *([(os.mkfifo, IndexUnavailableError, "not a FIFO")] if hasattr(os, "mkfifo") else []),
    (Path.touch, IndexFormatError, "an empty database"),
    (lambda file: file.write_text("文章，", "utf-8"), IndexFormatError, "must be an index"),
    (lambda file: file.write_text("文章，" * 9999, "utf-8"), IndexFormatError, "must be an index"),
    (with_tables("CREATE TABLE notes (text)"), IndexFormatError, "another program"),
    (with_tables("CREATE TABLE meta (name, value)"), IndexFormatError, "another program"),
    (
        with_tables("CREATE TABLE meta (a); CREATE TABLE documents (b)"),
        IndexFormatError,
        "have the tables",
    ),
]


class TestLocation:
    @pytest.mark.parametrize(("make", "kind", "words"), NO_INDEX)
    def test_no_index(self, make, kind, words, file, opened):
        make(file)
        before = {path: path.is_file() and path.read_bytes() for path in file.parent.iterdir()}
        refused(kind, words, file, lambda: opened(file, must_exist=True))
        after = {path: path.is_file() and path.read_bytes() for path in file.parent.iterdir()}
        assert before == after

    def test_an_empty_file_is_used(self, file, opened):
        file.touch()
        database = opened(file)
        write(database)
        assert values(database) == {"more": 1}

    def test_no_folder(self, tmp_path, opened):
        path = tmp_path / "no" / "index.db"
        refused(IndexUnavailableError, "in a folder that exists", path, lambda: opened(path))

    def test_an_empty_schema(self, database_url, opened):
        with pytest.raises(IndexFormatError, match="an empty database"):
            opened(database_url, must_exist=True)

    def test_a_schema_of_another_program(self, postgres, database_url, opened):
        with postgres.connect(name_in(database_url)) as connection:
            connection.execute("CREATE TABLE public.orders (id int)")
        with pytest.raises(IndexFormatError, match="another program: orders"):
            opened(f"{database_url}?schema=public")
        opened(database_url)

    def test_an_index_of_another_format(self, location, opened):
        database = opened(location)
        database.check_schema()
        with database.writing() as connection:
            connection.execute(meta.update().values(value="3"))
            connection.execute(meta.insert().values(name="neardup", value="0.9.0"))
        again = opened(location, tables=False, must_exist=True)
        message = refused(
            IndexFormatError, "must be an index of format 4", database.location, again.check_schema
        )
        assert "is of format 3: with neardup 0.9.0, which made it, run" in message
        assert "neardup index add NEW kept.jsonl" in message

    def test_missing_tables_are_reported(self, location, opened):
        database = opened(location)
        with database.writing() as connection:
            connection.exec_driver_sql("DROP TABLE counters")
        refused(
            IndexFormatError, "the tables of an index", database.location, lambda: write(database)
        )

    def test_replaced_file_is_reported(self, full, opened):
        database = opened(full)
        copy = full.with_name("copy.db")
        shutil.copy(full, copy)
        os.replace(copy, full)
        for call in (
            lambda: write(database),
            database.exists,
            database.measure_size,
            database.compact,
        ):
            refused(IndexUnavailableError, "deleted or replaced", full, call)
        full.unlink()
        for call in (lambda: values(database), database.create_tables):
            refused(IndexUnavailableError, "deleted or replaced", full, call)
        assert database.measure_size() == 0
        assert not database.exists()
        assert not full.exists()

    def test_no_such_database(self, postgres, opened):
        with pytest.raises(IndexUnavailableError, match=r"cannot connect.*does not exist"):
            opened(postgres.url("nowhere"))

    def test_another_encoding(self, postgres, opened):
        with postgres.connect() as connection:
            connection.execute("CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0")
        try:
            with pytest.raises(IndexFormatError, match="encoding UTF8, not LATIN1"):
                opened(postgres.url("latin"))
        finally:
            with postgres.connect() as connection:
                connection.execute("DROP DATABASE latin WITH (FORCE)")


class TestLocations:
    @pytest.mark.parametrize("location", ["", ":memory:", "a\0b", "sqlite:///x.db", 5, b"x.db"])
    def test_neither_path_nor_server(self, location, opened):
        with pytest.raises(ParameterError, match="'location' parameter must be"):
            opened(location)

    @pytest.mark.parametrize(
        ("rest", "words"),
        [
            ("x:geheim@host:port/db", "must be of the form"),
            ("x:geheim@host/db?schema=pg_x", "must name a schema"),
            (f"x:geheim@host/db?schema={'文' * 22}", "must name a schema"),
            ("x:geheim@host/db?schema=a&schema=b", "must name a schema"),
            ("x@host/db?password=geheim&colour=red", "options that PostgreSQL knows"),
            # Of which @ ends the password nobody can tell.
            ("u:geh@eim@127.0.0.1:1/db", "must have one @"),
            ("u@geh:eim@127.0.0.1:1/db", "must have one @"),
            ("u:geh/@eim@127.0.0.1:1/db", "must have one @"),
            ("u:pw@127.0.0.1:1/db?user=geh@eim", "must have one @"),
        ],
    )
    def test_addresses(self, rest, words, opened):
        with pytest.raises(ParameterError, match=words) as told:
            opened(f"postgresql://{rest}")
        for part in ("geh", "eim", "127"):
            assert part not in str(told.value)

    def test_no_message_shows_a_password(self, opened):
        for address in ("x:geheim@127.0.0.1:1/db", "x@127.0.0.1:1/db?password=geheim"):
            with pytest.raises(IndexUnavailableError, match="cannot connect") as told:
                opened(f"postgresql://{address}")
            assert str(told.value).startswith("postgresql://x@127.0.0.1:1/db: ")
            assert "geheim" not in str(told.value)

    @pytest.mark.parametrize("scheme", ["postgres", "postgresql+psycopg"])
    def test_other_spellings(self, scheme, database_url, opened):
        rest = database_url.partition("://")[2]
        database = opened(f"{scheme}://{rest}")
        name, host = rest.split("@")
        assert database.location == f"postgresql://{name.partition(':')[0]}@{host}"


class TestFullDisks:
    def test_no_more_pages(self, full, opened):
        database = opened(full)

        def fill():
            with database.writing() as connection:
                pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
                connection.exec_driver_sql(f"PRAGMA max_page_count = {pages + 2}")
                add_keys(connection, ROWS)

        message = refused(IndexUnavailableError, "the disk is full", full, fill)
        assert "and nothing of this change was stored. Make room" in message
        assert values(database) == {"before": 1}
        with database.writing() as connection:
            connection.exec_driver_sql("PRAGMA max_page_count = 1000000")
            add_keys(connection, ROWS)
        assert database.check() is None


#: Tries everything; as somebody whom permissions bind, and root is not. Whoever
#: that is may not be able to read the environment: all is imported before.
TRY = """
import os, pwd, sys, tempfile
from neardup.index.backends import open_database
from neardup.index.schema import counters

def attempt(path, kind):
    with open_database(path, must_exist=kind == "old") as database:
        if kind == "new":
            database.create_tables()
        with database.reading() as connection:
            print(connection.execute(counters.select()).all(), flush=True)
        with database.writing() as connection:
            connection.execute(counters.insert().values(name="more", value=1))

with tempfile.TemporaryDirectory() as folder:
    attempt(folder + "/index.db", "new")
if os.geteuid() == 0:
    user = pwd.getpwnam("nobody")
    os.setgroups([])
    os.setgid(user.pw_gid)
    os.setuid(user.pw_uid)
try:
    attempt(sys.argv[1], sys.argv[2])
except OSError as error:
    print(type(error).__name__, error, flush=True)
os._exit(0)
"""


def without_rights(*arguments):
    """What `TRY` prints, without what it does to get ready."""
    done = subprocess.run(
        [sys.executable, "-c", TRY, *arguments], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    first, rest = done.stdout.split("\n", 1)
    assert first == "[]"
    return rest


class TestPermissions:
    @pytest.fixture
    def open_folder(self):
        """A folder that everybody may enter; pytest's own are private."""
        folder = Path(tempfile.mkdtemp(prefix="neardup-rights-"))
        folder.chmod(0o777)
        yield folder
        folder.chmod(0o777)
        shutil.rmtree(folder)

    @pytest.fixture
    def full_rights(self, open_folder, opened):
        database = opened(open_folder / "index.db")
        write(database, "before")
        database.close()
        return open_folder / "index.db"

    @pytest.mark.parametrize(
        ("of_file", "of_folder", "words"),
        [
            (0o444, 0o777, "cannot be written, and"),
            (0o444, 0o555, "cannot be opened. The"),
            (0o000, 0o777, "cannot be opened"),
        ],
    )
    def test_missing_rights_are_reported(self, full_rights, of_file, of_folder, words, opened):
        path = full_rights
        path.chmod(of_file)
        path.parent.chmod(of_folder)
        *read, message = without_rights(path, "old").splitlines()
        assert message.startswith(f"IndexUnavailableError {path}: {words}")
        assert "The file and its folder must be" in message
        assert read == (["[('before', 1)]"] if "written" in words else [])
        path.parent.chmod(0o777)
        path.chmod(0o666)
        assert values(opened(path)) == {"before": 1}

    def test_no_right_to_create(self, open_folder):
        open_folder.chmod(0o555)
        path = open_folder / "new.db"
        message = without_rights(path, "new")
        assert message.startswith(f"IndexUnavailableError {path}: cannot be created: Permission")

    def test_a_user_of_postgresql_without_rights(self, postgres, database_url, opened):
        name = name_in(database_url)
        opened(database_url)
        with postgres.connect(name) as connection:
            connection.execute("CREATE ROLE guest LOGIN PASSWORD 'gast'")
            connection.execute("GRANT USAGE ON SCHEMA neardup TO guest")
            connection.execute("GRANT SELECT ON ALL TABLES IN SCHEMA neardup TO guest")
        try:
            url = f"postgresql://guest:gast@127.0.0.1:{postgres.port}/{name}"
            guest = opened(url, tables=False, must_exist=True)
            assert values(guest) == {}
            message = refused(
                IndexUnavailableError, "denies access", guest.location, lambda: write(guest)
            )
            assert "nothing of this change was stored" in message
            other = opened(f"{url}?schema=mine", tables=False)
            refused(IndexUnavailableError, "denies", other.location, other.create_tables)
            guest.close()
        finally:
            postgres.empty(database_url)
            with postgres.connect() as connection:
                connection.execute("DROP ROLE guest")


class TestDamage:
    def overwritten(self, path, begin, length):
        with path.open("r+b") as file:
            file.seek(begin)
            file.write(b"\xa5" * length)

    def test_pages_in_the_middle(self, full, opened):
        size = full.stat().st_size
        self.overwritten(full, size // 2, size // 4)
        database = opened(full)

        def read_all():
            with database.reading() as connection:
                connection.execute(keys.select()).all()

        def change_all():
            with database.writing() as connection:
                connection.execute(keys.delete().where(keys.c.share == 1))

        message = refused(IndexFormatError, "is damaged", full, read_all)
        assert "from its sources or an export" in message
        message = refused(IndexFormatError, "is damaged", full, change_all)
        assert "and nothing of this change was stored. Restore a backup" in message
        assert database.check()
        assert values(database) == {"before": 1}

    def test_the_first_page(self, full, opened):
        self.overwritten(full, 0, 4096)
        refused(IndexFormatError, "must be an index", full, lambda: opened(full))

    def test_truncated_file_is_reported(self, full, opened):
        with full.open("r+b") as file:
            file.truncate(full.stat().st_size // 2)
        with pytest.raises(IndexFormatError, match="is damaged"):
            opened(full).check_schema()
