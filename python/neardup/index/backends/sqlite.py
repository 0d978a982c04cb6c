"""An index in an SQLite file, in WAL mode.

A commit returns when the log is on disk. The checkpoint moves its pages into the file. It runs when
the log is long, when a writer closes, and after a commit that follows no other closely.
"""

from __future__ import annotations

import os
import random
import sqlite3
import stat
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar

import orjson
import sqlalchemy as sa
from sqlalchemy import Connection, Engine, QueuePool, create_engine
from sqlalchemy.exc import SQLAlchemyError

from neardup.base.confinement import watch_databases
from neardup.base.files import printable
from neardup.base.locations import index_files
from neardup.base.messages import N_, Message, system_words
from neardup.index.backends.copies import copy_into
from neardup.index.backends.database import OPEN, Database, identify_file
from neardup.index.backends.failures import Failure
from neardup.index.backends.log_states import make_next_mark, read_log_states, refuse_foreign_log
from neardup.index.backends.sqlite_failures import find_sqlite_failure

#: Connections that stay open; further ones are opened and closed as threads need them.
_KEPT_CONNECTIONS = 4
#: Application id in the header of the file, by which other programs identify it: "ndup".
_APPLICATION = int.from_bytes(b"ndup", "big")
#: Seconds since the last commit after which a writer has time for a checkpoint.
_IDLE = 1.0
#: The most parameters of one statement; every version allows as many.
_PARAMETERS = 999
#: Held while a log is compared with its file, so that no other thread opens them meanwhile.
_LOOKING = threading.Lock()
#: The shortest and the longest pause, in seconds, between two attempts to get the lock.
_PAUSES = (0.001, 0.01)
#: Milliseconds that the log of a replaced file waits for its readers.
_FLUSH_WAIT = 1000
#: Kinds of paths that are no regular files.
_KINDS = {
    stat.S_IFDIR: N_("a folder"),
    stat.S_IFIFO: N_("a FIFO"),
    stat.S_IFSOCK: N_("a socket"),
    stat.S_IFCHR: N_("a device"),
    stat.S_IFBLK: N_("a device"),
}
# Measured with ten million keys; 45 lookups, or commits of 16 keys and 1 KB.
_PRAGMAS = (
    # Every commit is on disk when it returns; on macOS also past the disk's own cache.
    "synchronous = FULL",
    "fullfsync = ON",
    # In KiB, per connection. More is not faster: mapped pages use the system's cache.
    "cache_size = -16384",
    f"mmap_size = {1 << 30}",  # bytes; lookups take 213 instead of 240 us
    # In pages. Keys are hashes, so a commit changes as many pages as it has keys. The longer
    # the log, the more commits share the move of a page into the file.
    "wal_autocheckpoint = 4000",
    f"journal_size_limit = {16 << 20}",  # bytes
)


class _Connection(sqlite3.Connection):
    """A connection whose lock ends with it: a cursor in a traceback would keep it after Ctrl-C."""

    def close(self) -> None:
        # If memory has run out, the rollback may fail too.
        with suppress(sqlite3.Error, MemoryError):
            if self.in_transaction:
                self.rollback()
        super().close()


class SQLiteFile(Database):
    """A file on a local disk. Network file systems lack the locks that WAL needs."""

    dialect: ClassVar[str] = "sqlite"
    _elsewhere: ClassVar[str] = N_("Give the path of an index, or of a new file.")
    _driver_error = sqlite3.Error
    keeps_recent_keys = True

    def __init__(self, path: str | os.PathLike[str]) -> None:
        name = os.fspath(path)
        # The working directory may change while the index is open.
        self.path = Path(os.path.abspath(name))
        self._identity: tuple[int, int] | None = None
        # State of the current writer.
        self._committed_at = float("-inf")
        self._has_written = False
        #: The marks of the current transaction and of the last one that was stored.
        self._new_mark = self._mark = 0
        super().__init__(printable(name))

    def find(self, *, must_exist: bool) -> None:
        """Also refuse a log that is not of this file, before SQLite applies it."""
        with _LOOKING:
            identity = identify_file(self.path)
            # If this process has it open already, the log is the one that it writes.
            is_open = identity is not None and any(
                isinstance(other, SQLiteFile)
                and other._identity == identity
                and other.is_of_this_process()
                for other in OPEN
            )
            if (self._is_there() or not must_exist) and not is_open:
                refuse_foreign_log(self.files, self.location)
        super().find(must_exist=must_exist)

    def _make_pool(self) -> Engine:
        """Return a new pool; no connection creates the file."""
        return create_engine(
            "sqlite+pysqlite://",
            creator=self._connect,
            poolclass=QueuePool,
            pool_size=_KEPT_CONNECTIONS,
            max_overflow=-1,
            # Parameters include texts, and error messages would show them.
            hide_parameters=True,
        )

    @cached_property
    def files(self) -> list[Path]:
        """The index file and the files next to it, whether or not they exist."""
        return list(map(Path, index_files(self.path)))

    def _connect(self) -> sqlite3.Connection:
        # Connections of the pool have the file that was opened, and a new one must too.
        self._check_use()
        check_opened = watch_databases(self.path)
        connection = sqlite3.connect(
            # As a URI: a plain file name could have a special meaning to SQLite.
            f"{self.path.as_uri()}?mode=rw",
            uri=True,
            timeout=self.lock_seconds,
            isolation_level=None,  # transactions begin where `begin` says so
            check_same_thread=False,  # the pool gives a connection to one thread at a time
            factory=_Connection,
        )
        try:
            for pragma in _PRAGMAS:
                connection.execute(f"PRAGMA {pragma}")
            check_opened()
        except PermissionError as error:
            connection.close()
            raise sqlite3.OperationalError(str(system_words(error))) from error
        except BaseException:
            connection.close()
            raise
        return connection

    def _is_there(self) -> bool:
        """Return whether the file exists; raise if the path is something else."""
        kind = stat.S_IFREG
        with suppress(OSError):
            kind = stat.S_IFMT(self.path.stat().st_mode)
        if kind != stat.S_IFREG:
            wanted = N_("a file") if kind == stat.S_IFDIR else N_("a regular file")
            raise self.make_unavailable_error(
                N_("{location}: must be {expected}, not {found}. {elsewhere}"),
                expected=Message(wanted),
                found=Message(_KINDS.get(kind, N_("something else"))),
                elsewhere=Message(self._elsewhere),
            )
        identity = identify_file(self.path)
        if self._identity is None:
            self._identity = identity
        return identity is not None

    def create_tables(self, fill: Callable[[Connection], None] | None = None) -> bool:
        """Create the file if there is none, and all tables; False if they already exist."""
        self._check_use()
        if not self.path.parent.is_dir():
            raise self.make_unavailable_error(
                N_("{location}: must be in a folder that exists. Create {folder} first."),
                folder=printable(str(self.path.parent)),
            )
        try:
            # SQLite creates it, not Python: if Python closes a file, the process loses all locks on
            # it, also those of open connections. Another process would then consider itself the
            # last one and delete the log to which these connections still write.
            sqlite3.connect(f"{self.path.as_uri()}?mode=rwc", uri=True).close()
        except sqlite3.Error as refused:
            raise self.make_unavailable_error(
                N_("{location}: cannot be created: {reason}. The folder must be writable."),
                reason=self._explain_refusal() or str(refused),
            ) from refused
        self._is_there()
        made = super().create_tables(fill)
        if made:
            # The first mark: a journal is the new file's own while there is none.
            with self.writing():
                pass
        return made

    def _explain_refusal(self) -> str | None:
        """Return why the file cannot be created, which SQLite does not report."""
        try:
            self.path.open("xb").close()
        except OSError as error:
            return system_words(error)
        return None

    def _check_use(self) -> None:
        """Raise if the file was deleted or replaced: writes to the old one would be lost."""
        if not self._is_replaced():
            return
        moved_to = None
        if not self._has_written:
            template = N_("{location}: was deleted or replaced while it was open. Open it again.")
        else:
            self._finish_replaced()
            moved_to = _find_path(self._identity)
            template = N_(
                "{location}: was deleted or replaced while it was open. The changes stored until "
                "then went with the old file."
            )
            if moved_to is not None:
                template = N_(
                    "{location}: was replaced while it was open. The changes stored until then are "
                    "in {file}."
                )
        raise self.make_unavailable_error(template, code="index_replaced", file=moved_to)

    def _is_replaced(self) -> bool:
        return self._identity is not None and identify_file(self.path) != self._identity

    def _finish_replaced(self) -> None:
        """Move the log into the file to which it belongs, which has another name or none now.

        It has the name of the new file's log. A log without this object's last change may be the
        new file's own, and is left alone.
        """
        pool = self._pool.pool
        assert isinstance(pool, QueuePool)
        marks = {state.mark for state in read_log_states(self.files[1]) if state is not None}
        if self._mark not in marks or not pool.checkedin():
            return
        with suppress(sqlite3.Error, SQLAlchemyError), self._pool.connect() as connection:
            driver = _get_driver(connection)
            driver.execute(f"PRAGMA busy_timeout = {_FLUSH_WAIT}")
            driver.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def _begin(self, connection: Connection, *, write: bool) -> None:
        """Begin; a writer polls for the lock, and marks its transaction."""
        if not write:
            connection.exec_driver_sql("BEGIN")
            return
        driver = _get_driver(connection)
        driver.execute("PRAGMA busy_timeout = 0")
        try:
            self._poll(driver, "BEGIN IMMEDIATE")
        finally:
            driver.execute(f"PRAGMA busy_timeout = {round(self.lock_seconds * 1000)}")
        before = connection.exec_driver_sql("PRAGMA user_version").scalar_one()
        if before or self._list_tables(connection):
            self._new_mark = make_next_mark(before)
            connection.exec_driver_sql(f"PRAGMA user_version = {self._new_mark}")

    def _poll(self, driver: sqlite3.Connection, statement: str) -> sqlite3.Cursor:
        """Repeat a statement until no other process holds the lock, at most `lock_seconds`.

        SQLite itself would poll less often the longer it waits: of eight writers that never pause,
        one waited for longer than 20 seconds.
        """
        until = time.monotonic() + self.lock_seconds
        while True:
            try:
                return driver.execute(statement)
            except sqlite3.OperationalError as error:
                code = error.sqlite_errorcode
                if code & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                    raise
                time.sleep(random.uniform(*_PAUSES))

    def _can_commit(self, connection: Connection) -> bool:
        """Return False if SQLite rolled back by itself, as on a full disk."""
        return _get_driver(connection).in_transaction

    def _commit(self, connection: Connection) -> None:
        """Commit; checkpoint unless another commit just preceded it."""
        # It may have been replaced while this writer waited for its turn.
        self._check_use()
        super()._commit(connection)
        self._has_written, self._mark = True, self._new_mark
        now, last = time.monotonic(), self._committed_at
        self._committed_at = now
        if now - last > _IDLE:
            self._checkpoint(_get_driver(connection))

    def _checkpoint(self, connection: sqlite3.Connection) -> None:
        """Move the log into the file as far as readers allow; a failure loses nothing."""
        with suppress(sqlite3.Error):
            connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()

    def close(self) -> None:
        """Also empty the log; SQLite does so itself only if nobody else has the file open."""
        was_open = not self._closed
        if was_open and self._has_written and self.is_of_this_process() and self._is_replaced():
            self._finish_replaced()
        super().close()
        if was_open and self._has_written and not self._is_replaced() and self.is_of_this_process():
            with suppress(sqlite3.Error):
                connection = self._connect()
                self._checkpoint(connection)
                connection.close()

    def _list_tables(self, connection: Connection) -> list[str]:
        """Return the names of the tables, except SQLite's own."""
        rows = connection.exec_driver_sql(
            "SELECT name FROM sqlite_master WHERE type = 'table'"
            " AND name NOT LIKE 'sqlite^_%' ESCAPE '^' ORDER BY name"
        )
        return [name for (name,) in rows]

    def _prepare(self, connection: Connection) -> None:
        """Turn on WAL, which is a permanent property of the file."""
        # Unlike other statements, turning on WAL does not wait for a lock.
        mode = self._poll(_get_driver(connection), "PRAGMA journal_mode = WAL").fetchone()
        if mode != ("wal",):
            raise self.make_unavailable_error(
                N_(
                    "{location}: must be on a file system with shared memory, for "
                    "SQLite's write-ahead log. Move it to a local disk."
                )
            )

    def _make_room(self, connection: Connection) -> None:
        """Write the application id into the header of the file."""
        connection.exec_driver_sql(f"PRAGMA application_id = {_APPLICATION}")

    def _find_failure(self, error: BaseException, *, connected: bool) -> Failure | None:  # noqa: ARG002
        return find_sqlite_failure(error)

    def measure_size(self) -> int:
        """Return the bytes of the file and its log."""
        if not self._is_there():
            return 0
        with self._upkeep():
            return sum(part.stat().st_size for part in self.files[:2] if part.exists())

    def compact(self) -> None:
        """Rewrite the file without gaps, and empty the log.

        Writers wait meanwhile, and as much space again must be free.
        """
        with self._taking_turn(), self._upkeep() as connection:
            connection.exec_driver_sql("VACUUM")
            # Pages that a reader still needs stay in the log; that is no error.
            connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")

    def backup(self, path: str) -> None:
        """Copy a snapshot, with what is in the log, into a file."""
        with self.reading() as connection:
            # Every step of the copy sees the snapshot that this begins.
            connection.exec_driver_sql("SELECT count(*) FROM meta").scalar_one()
            copy_into(_get_driver(connection), path)

    def check(self) -> Message | None:
        """Return the first fault that SQLite finds; reads the whole file."""
        with self._upkeep() as connection:
            line = connection.exec_driver_sql("PRAGMA integrity_check(1)").scalars().first()
        return None if line == "ok" else Message("{reason}", reason=line)

    @classmethod
    def make_values_table(cls, of: str = "numbers") -> sa.FromClause:
        """Return the values of an array in JSON."""
        kind: Any = sa.BigInteger() if of == "numbers" else sa.Text()
        parameter = sa.bindparam("values", type_=sa.Text())
        return sa.func.json_each(parameter).table_valued(sa.column("value", kind))

    @classmethod
    def bind_values(cls, values: Sequence[Any]) -> dict[str, Any]:
        """Return the array."""
        return {"values": orjson.dumps(values).decode()}

    @classmethod
    def join_values(cls, values: sa.FromClause, wanted: sa.Select[Any]) -> sa.Select[Any]:
        """Return a plain join, which SQLite does in the best order."""
        return wanted.select_from(values)

    @classmethod
    def insert_rows(
        cls, connection: Connection, table: sa.Table, columns: Mapping[str, Sequence[Any]]
    ) -> None:
        """Insert as many rows as a statement can have, in statements of few sizes."""
        row = f"({', '.join('?' * len(columns))})"
        # Otherwise SQLite saves every page that a statement of several rows changes, to undo it
        # alone. Nothing needs that: a failure undoes the transaction.
        head = f"INSERT OR FAIL INTO {table.name} ({', '.join(columns)}) VALUES "
        for count, values in _group_rows(columns):
            connection.exec_driver_sql(head + ", ".join([row] * count), values)


def _group_rows(columns: Mapping[str, Sequence[Any]]) -> Iterator[tuple[int, tuple[Any, ...]]]:
    """Yield number and values of the rows of each statement: of few sizes, so it is prepared."""
    width = len(columns)
    values = tuple(chain.from_iterable(zip(*columns.values(), strict=True)))
    limit = 1 << (_PARAMETERS // width).bit_length() - 1
    begin, left = 0, len(values) // width
    while left:
        count = min(limit, 1 << left.bit_length() - 1)
        yield count, values[begin : begin + count * width]
        begin, left = begin + count * width, left - count


def _get_driver(connection: Connection) -> sqlite3.Connection:
    driver = connection.connection.driver_connection
    assert isinstance(driver, sqlite3.Connection)
    return driver


def _find_path(identity: tuple[int, int] | None) -> str | None:
    """Return where a file that this process has open is now; None where that is unknown."""
    folder = Path("/proc/self/fd")
    with suppress(OSError):
        for descriptor in os.listdir(folder):
            if identify_file(folder / descriptor) == identity:
                place = os.readlink(folder / descriptor)
                return printable(place) if identify_file(place) == identity else None
    return None
