"""An index in a file of SQLite.

The file is in WAL mode: readers see the last commit and wait for nobody, one
writer at a time appends to a log beside the file. A commit returns when the log
is on the disk (``synchronous=FULL``); only moving the log's pages into the file
(a checkpoint) can wait. It is done when the log is long, after a commit that does
not follow another one at once, and when a writer closes.

An index is made without the log, so a file in WAL mode always has its tables:
one that has none is an index whose log is missing.
"""

from __future__ import annotations

import os
import sqlite3
import stat
import time
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from sqlalchemy import QueuePool, create_engine
from sqlalchemy.exc import OperationalError

from neardup._engine.messages import Message, system_words
from neardup.exceptions import IndexFormatError, IndexUnavailableError
from neardup.index.backends import acknowledged
from neardup.index.backends.backend import Backend
from neardup.readers.streams import printable

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

__all__ = ["SQLiteFile"]

#: Connections that stay open; more are opened and closed as threads need them.
_KEPT_CONNECTIONS = 4
#: In the header of the file, for programs that tell kinds of files apart: "ndup".
_APPLICATION = int.from_bytes(b"ndup", "big")
#: Seconds after the last commit from which a writer is not in a hurry.
_IDLE = 1.0
#: What a path can be that is no regular file.
_KINDS = {
    stat.S_IFDIR: "index.a_folder",
    stat.S_IFIFO: "index.a_fifo",
    stat.S_IFSOCK: "index.a_socket",
    stat.S_IFCHR: "index.a_device",
    stat.S_IFBLK: "index.a_device",
}
# Figures are of ten million keys, 45 look-ups, or 16 keys and 1 KB a commit.
_PRAGMAS = (
    # Every commit is on the disk when it returns; on macOS the disk's own cache too.
    "synchronous = FULL",
    "fullfsync = ON",
    # KiB, for each connection. More made nothing faster: mapped pages are the system's cache.
    "cache_size = -16384",
    f"mmap_size = {1 << 30}",  # bytes; look-ups take 213 instead of 240 us
    # Pages. Keys are hashes, so a commit touches as many pages as it has keys; the longer the
    # log, the more commits share the moving of a page.
    "wal_autocheckpoint = 4000",
    f"journal_size_limit = {16 << 20}",  # bytes
)


def _text(stored: bytes) -> str | bytes:
    """Return the text, or its bytes where they are not UTF-8: `rows` reports those by number."""
    try:
        return stored.decode()
    except UnicodeDecodeError:
        return stored


class _Connection(sqlite3.Connection):
    """A connection that gives its lock back when it is closed.

    SQLite keeps the transaction of a closed connection, and its lock, while a cursor is
    left; and after Ctrl-C the traceback holds one.
    """

    def close(self) -> None:
        # Where memory has run out, a rollback may fail too.
        with suppress(sqlite3.Error, MemoryError):
            if self.in_transaction:
                self.rollback()
        super().close()


class SQLiteFile(Backend):
    """A file on a local disk. File systems over a network cannot lock as WAL needs it."""

    dialect: ClassVar[str] = "sqlite"
    elsewhere: ClassVar[str] = "index.elsewhere_file"
    #: Files that no connection of this process may touch.
    _abandoned: ClassVar[set[Path]] = set()

    def __init__(self, path: str | os.PathLike[str]) -> None:
        given = os.fspath(path)
        self.location = printable(given)
        self.driver_error = sqlite3.Error
        # The working folder may change while the index is open.
        self.path = Path(os.path.abspath(given))
        self._identity: tuple[int, int] | None = None
        # All of the writer whose turn it is.
        self._changes = 0
        self._counted: acknowledged.Acknowledged | None = None
        self._committed_at = float("-inf")
        self._has_written = False
        self._is_checked = False

    def engine(self) -> Engine:
        """Return a new pool; no connection creates the file."""
        return create_engine(
            "sqlite+pysqlite://",
            creator=self._connect,
            poolclass=QueuePool,
            pool_size=_KEPT_CONNECTIONS,
            max_overflow=-1,
            # Texts are among the parameters, and errors would show them.
            hide_parameters=True,
        )

    def files(self) -> list[Path]:
        """Return the index file and the files beside it, whether they exist or not."""
        return self._files

    @cached_property
    def _files(self) -> list[Path]:
        # SQLite follows a link and puts them beside its target.
        path = Path(os.path.realpath(self.path))
        suffixes = ("", "-wal", "-shm", "-journal", "-commits")
        return [Path(f"{path}{suffix}") for suffix in suffixes]

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            # The name of a file can be anything, even what SQLite has another meaning for.
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
            connection.text_factory = _text
        except BaseException:
            connection.close()
            raise
        return connection

    def is_there(self) -> bool:
        """Return whether there is a file; raise if it is something else."""
        kind = stat.S_IFREG
        with suppress(OSError):
            kind = stat.S_IFMT(self.path.stat().st_mode)
        if kind != stat.S_IFREG:
            wanted = "index.a_file" if kind == stat.S_IFDIR else "index.a_regular_file"
            raise IndexUnavailableError(
                Message(
                    "index.must_be_file",
                    location=self.location,
                    expected=Message(wanted),
                    found=Message(_KINDS.get(kind, "index.something_else")),
                    elsewhere=Message(self.elsewhere),
                )
            )
        found = self._found()
        if self._identity is None:
            self._identity = found
        return found is not None

    def create(self) -> None:
        """Make an empty file where there is none."""
        self.check_use()
        self._is_checked = True
        if not self.path.parent.is_dir():
            raise IndexUnavailableError(
                Message(
                    "index.folder_is_missing",
                    location=self.location,
                    folder=printable(str(self.path.parent)),
                )
            )
        try:
            # SQLite makes it, not Python: to close a file takes away all locks that the process
            # has on it, also those of connections that are open. Another process would then
            # take itself for the last one, and delete the log that these go on writing.
            sqlite3.connect(f"{self.path.as_uri()}?mode=rwc", uri=True).close()
        except sqlite3.Error as refused:
            raise IndexUnavailableError(
                Message(
                    "index.cannot_be_created",
                    location=self.location,
                    reason=self._why_not() or str(refused),
                )
            ) from refused
        self.is_there()

    def _why_not(self) -> str | None:
        """Return why the file cannot be made, which SQLite does not tell."""
        try:
            self.path.open("xb").close()
        except OSError as error:
            return system_words(error)
        return None

    def _found(self) -> tuple[int, int] | None:
        try:
            found = self.path.stat()
        except OSError:
            return None
        return found.st_dev, found.st_ino

    def check_use(self) -> None:
        """Raise if the file was deleted or replaced: what is written to the old one is lost."""
        if self.path in self._abandoned:
            raise IndexUnavailableError(Message("index.used_before_fork", location=self.location))
        if self._is_other():
            raise IndexUnavailableError(Message("index.was_replaced", location=self.location))

    def _is_other(self) -> bool:
        return self._identity is not None and self._found() != self._identity

    def abandon(self) -> None:
        """Bar the file, for this process, from any connection.

        SQLite remembers in memory which locks a process has. A child inherits
        the memory and not the locks, and so would write where it must not.
        """
        self._abandoned.add(self.path)

    def begin(self, connection: Connection, *, write: bool) -> None:
        """Begin; a writer waits in SQLite, which asks again and again."""
        connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")
        if write:
            self._changes = _driver(connection).total_changes

    def can_commit(self, connection: Connection) -> bool:
        """Return False if SQLite undid the transaction by itself, as on a full disk."""
        return _driver(connection).in_transaction

    def before_commit(self, connection: Connection) -> None:
        """Count the change, if there is one."""
        driver = _driver(connection)
        self._counted = None
        if driver.total_changes != self._changes:
            self._counted = acknowledged.count_commit(driver)

    def after_commit(self, connection: Connection) -> None:
        """Write down that the change is stored, and empty the log unless more comes at once."""
        if self._counted is None:
            return
        acknowledged.note(self.files()[-1], self._counted)
        self._has_written = True
        now, last = time.monotonic(), self._committed_at
        self._committed_at = now
        if now - last > _IDLE:
            self._checkpoint(_driver(connection))

    def _checkpoint(self, connection: sqlite3.Connection) -> None:
        """Move the log into the file as far as no reader needs it; it is no loss if not."""
        with suppress(sqlite3.Error):
            connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()

    def check_log(self) -> None:
        """Raise if the log is missing, cut off, or of another index."""
        file, log, *_, note = self.files()
        if file.exists():
            acknowledged.check_log(file, note, log, self.location)
        self._is_checked = True

    def after_close(self) -> None:
        """Empty the log, which SQLite does only where nobody else has the file open."""
        file, log, *_, note = self.files()
        if self.path in self._abandoned or not self._is_checked or self._is_other():
            return
        if self._has_written and log.exists():
            with suppress(sqlite3.Error):
                connection = self._connect()
                self._checkpoint(connection)
                connection.close()
        if file.exists():
            acknowledged.remove_note(note, log)

    def tables(self, connection: Connection) -> list[str]:
        """Return the names of the tables but SQLite's own."""
        rows = connection.exec_driver_sql(
            "SELECT name FROM sqlite_master WHERE type = 'table'"
            " AND name NOT LIKE 'sqlite^_%' ESCAPE '^' ORDER BY name"
        )
        return [name for (name,) in rows]

    def prepare(self, connection: Connection) -> None:
        """Turn WAL on; it is a property of the file and stays."""
        until = time.monotonic() + self.lock_seconds
        while True:
            try:
                mode = connection.exec_driver_sql("PRAGMA journal_mode = WAL").scalar_one()
                break
            except OperationalError as error:
                # Turning WAL on does not wait for others as statements do.
                code = getattr(error.orig, "sqlite_errorcode", 0)
                if code & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                    raise
                time.sleep(0.01)
        if mode != "wal":
            raise IndexUnavailableError(Message("index.no_shared_memory", location=self.location))

    def make_room(self, connection: Connection) -> None:
        """Name the kind of the file in its header."""
        connection.exec_driver_sql(f"PRAGMA application_id = {_APPLICATION}")

    def check_empty(self, connection: Connection) -> None:
        """Raise if a file without tables is what is left of an index."""
        mode = connection.exec_driver_sql("PRAGMA journal_mode").scalar_one()
        if mode == "wal":
            raise IndexFormatError(
                Message("index.log_is_missing", location=self.location, log=self.files()[1].name)
            )

    def size(self, connection: Connection) -> int:  # noqa: ARG002
        """Return the bytes of the file and of its log."""
        return sum(part.stat().st_size for part in self.files()[:2] if part.exists())

    def compact(self, connection: Connection) -> None:
        """Write the file anew without gaps, and empty the log."""
        connection.exec_driver_sql("VACUUM")
        # What a reader still needs stays in the log; that is no error.
        connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")

    def check(self, connection: Connection) -> list[str]:
        """Return what SQLite finds wrong, at most a hundred lines; reads the whole file."""
        lines = [line for (line,) in connection.exec_driver_sql("PRAGMA integrity_check(100)")]
        if lines == ["ok"]:
            return []
        return [Message("index.said_by_sqlite", reason=line) for line in lines]


def _driver(connection: Connection) -> sqlite3.Connection:
    found = connection.connection.driver_connection
    assert isinstance(found, sqlite3.Connection)
    return found
