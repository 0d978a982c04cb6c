"""An index in a file of SQLite.

The file is in WAL mode: readers see the last commit and wait for nobody, one
writer at a time appends to a log beside the file. A commit returns when the log
is on the disk (``synchronous=FULL``); only moving the log's pages into the file
can wait.
"""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from sqlalchemy import QueuePool, create_engine
from sqlalchemy.exc import OperationalError

from neardup.exceptions import IndexUnavailableError
from neardup.index.place import Place
from neardup.readers.streams import printable

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

__all__ = ["SQLiteFile"]

#: Connections that stay open; more are opened and closed as threads need them.
_KEPT_CONNECTIONS = 4
# Figures are of ten million keys, 45 look-ups, or 16 keys and 1 KB a commit.
_PRAGMAS = (
    # Every commit is on the disk when it returns; on macOS the disk's own cache too.
    "synchronous = FULL",
    "fullfsync = ON",
    # KiB, for each connection. More made nothing faster: mapped pages are the system's cache.
    "cache_size = -16384",
    f"mmap_size = {1 << 30}",  # bytes; look-ups take 213 instead of 240 us
    # Pages. Keys are hashes, so a commit touches as many pages as it has keys; the longer the
    # log, the more commits share the moving of a page: 0.4 ms a commit instead of 0.8 by default.
    "wal_autocheckpoint = 16000",
    f"journal_size_limit = {64 << 20}",  # bytes
)


class _Connection(sqlite3.Connection):
    """A connection that gives its lock back when it is closed.

    SQLite keeps the transaction of a closed connection, and its lock, while a cursor is
    left; and after Ctrl-C the traceback holds one.
    """

    def close(self) -> None:
        with suppress(sqlite3.Error):
            if self.in_transaction:
                self.rollback()
        super().close()


class SQLiteFile(Place):
    """A file on a local disk. File systems over a network cannot lock as WAL needs it."""

    dialect: ClassVar[str] = "sqlite"
    elsewhere: ClassVar[str] = "Give the path of an index, or of a new file."
    #: Files that no connection of this process may touch.
    _abandoned: ClassVar[set[Path]] = set()

    def __init__(self, path: str | os.PathLike[str]) -> None:
        given = os.fspath(path)
        self.location = printable(given)
        self.driver_error = sqlite3.Error
        # The working folder may change while the index is open.
        self.path = Path(os.path.abspath(given))
        self._identity: tuple[int, int] | None = None

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
        """Return the file and those that SQLite keeps beside it, there or not."""
        # SQLite follows a link and puts them beside its target.
        path = Path(os.path.realpath(self.path))
        return [Path(f"{path}{suffix}") for suffix in ("", "-wal", "-shm", "-journal")]

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
        except BaseException:
            connection.close()
            raise
        return connection

    def is_there(self) -> bool:
        """Return whether there is a file; raise if it is a folder."""
        if self.path.is_dir():
            raise IndexUnavailableError(
                f"{self.location}: must be a file. Got a folder instead. {self.elsewhere}"
            )
        found = self._found()
        if self._identity is None:
            self._identity = found
        return found is not None

    def create(self) -> None:
        """Make an empty file where there is none."""
        self.check_use()
        if not self.path.parent.is_dir():
            raise IndexUnavailableError(
                f"{self.location}: must be in a folder that exists."
                f" Create {printable(str(self.path.parent))} first."
            )
        try:
            # SQLite makes it, not Python: to close a file takes away all locks that the process
            # has on it, also those of connections that are open. Another process would then
            # take itself for the last one, and delete the log that these go on writing.
            sqlite3.connect(f"{self.path.as_uri()}?mode=rwc", uri=True).close()
        except sqlite3.Error as refused:
            raise IndexUnavailableError(
                f"{self.location}: cannot be created: {self._why_not() or refused}. The folder must"
                " be writable."
            ) from refused
        self.is_there()

    def _why_not(self) -> str | None:
        """Return why the file cannot be made, which SQLite does not tell."""
        try:
            self.path.open("xb").close()
        except OSError as error:
            return error.strerror
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
            raise IndexUnavailableError(
                f"{self.location}: was in use while this process was forked. Start processes with"
                " the method 'spawn' or 'forkserver', or before the index is used."
            )
        if self._identity is not None and self._found() != self._identity:
            raise IndexUnavailableError(
                f"{self.location}: was deleted or replaced while it was open. Open it again."
            )

    def abandon(self) -> None:
        """Bar the file, for this process, from any connection.

        SQLite remembers in memory which locks a process has. A child inherits
        the memory and not the locks, and so would write where it must not.
        """
        self._abandoned.add(self.path)

    def begin(self, connection: Connection, *, write: bool) -> None:
        """Begin; a writer waits in SQLite, which asks again and again."""
        connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")

    def stands(self, connection: Connection) -> bool:
        """Return False if SQLite undid the transaction by itself, as on a full disk."""
        driver = connection.connection.driver_connection
        return isinstance(driver, sqlite3.Connection) and driver.in_transaction

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
            raise IndexUnavailableError(
                f"{self.location}: must be on a file system with shared memory, for SQLite's"
                " write-ahead log. Move it to a local disk."
            )

    def make_room(self, connection: Connection) -> None:
        """Do nothing: the file is there."""

    def size(self, connection: Connection) -> int:  # noqa: ARG002
        """Return the bytes of the file and of its log."""
        log = self.path.with_name(self.path.name + "-wal")
        return sum(part.stat().st_size for part in (self.path, log) if part.exists())

    def compact(self, connection: Connection) -> None:
        """Write the file anew without gaps, and empty the log."""
        connection.exec_driver_sql("VACUUM")
        # What a reader still needs stays in the log; that is no error.
        connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")

    def check(self, connection: Connection) -> list[str]:
        """Return what SQLite finds wrong, at most a hundred lines; reads the whole file."""
        lines = [line for (line,) in connection.exec_driver_sql("PRAGMA integrity_check(100)")]
        return [] if lines == ["ok"] else lines
