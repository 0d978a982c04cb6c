"""An index in an SQLite file, in WAL mode.

A commit returns when the log is on disk. The checkpoint, which moves its pages into the file, runs
when the log is long, after a commit that did not closely follow another, and when a writer closes.
"""

from __future__ import annotations

import os
import sqlite3
import stat
import time
from collections.abc import Callable
from contextlib import closing, suppress
from functools import cached_property
from pathlib import Path
from typing import ClassVar

from sqlalchemy import Connection, Engine, QueuePool, create_engine
from sqlalchemy.exc import OperationalError

from neardup.base.files import printable
from neardup.base.messages import N_, Message, system_words
from neardup.base.validation import index_files
from neardup.exceptions import IndexFormatError
from neardup.index.backends import acknowledged
from neardup.index.backends.database import Database, identity_of
from neardup.index.backends.failures import Moment

#: Connections that stay open; further ones are opened and closed as threads need them.
_KEPT_CONNECTIONS = 4
#: Application id in the header of the file, by which other programs identify it: "ndup".
_APPLICATION = int.from_bytes(b"ndup", "big")
#: Seconds since the last commit after which a writer has time for a checkpoint.
_IDLE = 1.0
#: Pages that a back-up copies at a time, so that Ctrl-C can come in between.
_BACKUP_PAGES = 4096
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


def _text(stored: bytes) -> str | bytes:
    """Return the text, or its bytes if they are not UTF-8: `rows` then reports the row."""
    try:
        return stored.decode()
    except UnicodeDecodeError:
        return stored


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
    #: Files to which this process must open no connection.
    _abandoned: ClassVar[set[Path]] = set()

    def __init__(self, path: str | os.PathLike[str]) -> None:
        given = os.fspath(path)
        # The working directory may change while the index is open.
        self.path = Path(os.path.abspath(given))
        self._identity: tuple[int, int] | None = None
        # State of the current writer.
        self._changes = 0
        self._committed_at = float("-inf")
        self._has_written = False
        self._had_log = False
        self._is_checked = False
        super().__init__(printable(given))

    def _new_pool(self) -> Engine:
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
        """The index file and the files beside it, whether or not they exist."""
        return list(map(Path, index_files(self.path)))

    def _connect(self) -> sqlite3.Connection:
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
            connection.text_factory = _text
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
            raise self.unavailable(
                N_("{location}: must be {expected}. Got {found} instead. {elsewhere}"),
                expected=Message(wanted),
                found=Message(_KINDS.get(kind, N_("something else"))),
                elsewhere=Message(self._elsewhere),
            )
        identity = identity_of(self.path)
        if self._identity is None:
            self._identity = identity
        return identity is not None

    def create_tables(self, fill: Callable[[Connection], None] | None = None) -> bool:
        """Create the file if there is none, and all tables; False if they already exist."""
        self._check_use()
        self._is_checked = True
        if not self.path.parent.is_dir():
            raise self.unavailable(
                N_("{location}: must be in a folder that exists. Create {folder} first."),
                folder=printable(str(self.path.parent)),
            )
        try:
            # SQLite creates it, not Python: if Python closes a file, the process loses all locks on
            # it, also those of open connections. Another process would then consider itself the
            # last one and delete the log to which these connections still write.
            sqlite3.connect(f"{self.path.as_uri()}?mode=rwc", uri=True).close()
        except sqlite3.Error as refused:
            raise self.unavailable(
                N_("{location}: cannot be created: {reason}. The folder must be writable."),
                reason=self._why_not() or str(refused),
            ) from refused
        self._is_there()
        return super().create_tables(fill)

    def _why_not(self) -> str | None:
        """Return why the file cannot be created, which SQLite does not report."""
        try:
            self.path.open("xb").close()
        except OSError as error:
            return system_words(error)
        return None

    def _check_use(self) -> None:
        """Raise if the file was deleted or replaced: writes to the old one would be lost."""
        if self.path in self._abandoned:
            raise self.unavailable(
                N_(
                    "{location}: was in use while this process was forked. Start processes with "
                    "the method 'spawn' or 'forkserver', or before the index is used."
                )
            )
        if self._is_other():
            raise self.unavailable(
                N_("{location}: was deleted or replaced while it was open. Open it again."),
                code="index_replaced",
            )

    def _is_other(self) -> bool:
        return self._identity is not None and identity_of(self.path) != self._identity

    def _after_fork(self) -> None:
        # SQLite keeps in memory which locks a process has. A child inherits that memory but not
        # the locks, and so would write without a lock: it may not connect to the file again.
        if self._in_use:
            self._abandoned.add(self.path)
        super()._after_fork()

    def _begin(self, connection: Connection, *, write: bool) -> None:
        """Begin; a writer waits while SQLite polls for the lock."""
        connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")
        if write:
            self._changes = _driver(connection).total_changes

    def _can_commit(self, connection: Connection) -> bool:
        """Return False if SQLite rolled back by itself, as on a full disk."""
        return _driver(connection).in_transaction

    def _commit(self, connection: Connection) -> None:
        """Commit with a count of the change; checkpoint unless another commit just preceded it."""
        driver, counted = _driver(connection), None
        if driver.total_changes != self._changes:
            with self._explained(Moment.WRITING):
                counted = acknowledged.count_commit(driver)
        super()._commit(connection)
        if counted is None:
            return
        acknowledged.record(self.files[-1], counted)
        self._has_written = True
        if not self.files[1].exists():
            # The tables were created, before WAL is turned on.
            return
        now, last = time.monotonic(), self._committed_at
        self._committed_at = now
        if now - last > _IDLE:
            self._without_waiting(driver, self._checkpoint_marked)

    def _without_waiting(
        self, connection: sqlite3.Connection, work: Callable[[sqlite3.Connection], None]
    ) -> None:
        """Do work that nothing depends on; leave it if another writer has its turn."""
        with suppress(sqlite3.Error):
            connection.execute("PRAGMA busy_timeout = 0")
            with suppress(sqlite3.Error):
                work(connection)
            connection.execute(f"PRAGMA busy_timeout = {int(self.lock_seconds * 1000)}")

    def _checkpoint_marked(self, connection: sqlite3.Connection) -> None:
        """Checkpoint, so that the file without its log shows that the log is missing."""
        acknowledged.mark(connection, needs_log=True)
        self._checkpoint(connection)
        acknowledged.mark(connection, needs_log=False)

    def _checkpoint(self, connection: sqlite3.Connection) -> None:
        """Move the log into the file as far as readers allow; a failure loses nothing."""
        with suppress(sqlite3.Error):
            connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()

    def find(self, *, must_exist: bool) -> None:
        """Also raise if the log is missing, truncated, or of another index."""
        if self._is_there():
            file, log, *_, record = self.files
            if file.exists():
                acknowledged.check_log(file, record, log, self.location)
                self._had_log = log.exists() and log.stat().st_size > 0
            self._is_checked = True
        super().find(must_exist=must_exist)

    def close(self) -> None:
        """Also empty the log; SQLite does so itself only if nobody else has the file open."""
        was_open = not self._closed
        super().close()
        file, log, *_, record = self.files
        is_other = self.path in self._abandoned or self._is_other()
        if not was_open or not self._is_checked or is_other:
            return
        if self._has_written and log.exists():
            with suppress(sqlite3.Error):
                connection = self._connect()
                self._checkpoint(connection)
                connection.close()
        if file.exists():
            acknowledged.remove_record(record, log)

    def _tables(self, connection: Connection) -> list[str]:
        """Return the names of the tables, except SQLite's own."""
        rows = connection.exec_driver_sql(
            "SELECT name FROM sqlite_master WHERE type = 'table'"
            " AND name NOT LIKE 'sqlite^_%' ESCAPE '^' ORDER BY name"
        )
        return [name for (name,) in rows]

    def _prepare(self, connection: Connection) -> None:
        """Turn on WAL, which is a permanent property of the file."""
        until = time.monotonic() + self.lock_seconds
        while True:
            try:
                mode = connection.exec_driver_sql("PRAGMA journal_mode = WAL").scalar_one()
                break
            except OperationalError as error:
                # Unlike other statements, turning on WAL does not wait for a lock.
                code = getattr(error.orig, "sqlite_errorcode", 0)
                if code & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                    raise
                time.sleep(0.01)
        if mode != "wal":
            raise self.unavailable(
                N_(
                    "{location}: must be on a file system with shared memory, for "
                    "SQLite's write-ahead log. Move it to a local disk."
                )
            )
        if self._had_log:
            # A process may have been killed between a checkpoint and the commit after it.
            self._without_waiting(_driver(connection), acknowledged.clear_mark)

    def _make_room(self, connection: Connection) -> None:
        """Write the application id into the header of the file."""
        connection.exec_driver_sql(f"PRAGMA application_id = {_APPLICATION}")

    def _check_empty(self, connection: Connection) -> None:
        """Raise if a file without tables is the remains of an index."""
        mode = connection.exec_driver_sql("PRAGMA journal_mode").scalar_one()
        if mode == "wal":
            raise self._wrong(
                N_(
                    "{location}: is an SQLite file without tables, like an index whose write-ahead "
                    "log, {log}, is missing. Nothing was changed. Put the log back beside the "
                    "file, or restore a backup; only if there was no index, delete the file."
                ),
                code="log_missing",
                log=self.files[1].name,
            )

    def size(self) -> int:
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
            copy = sqlite3.connect(path, isolation_level=None)
            with closing(copy):
                # Every step of the copy sees the snapshot that this begins.
                connection.exec_driver_sql("SELECT count(*) FROM meta").scalar_one()
                _driver(connection).backup(copy, pages=_BACKUP_PAGES)
                # Not in WAL mode, so that the file is complete by itself.
                copy.execute("PRAGMA journal_mode = DELETE").fetchall()

    def check(self) -> list[str]:
        """Return at most a hundred faults that SQLite finds; reads the whole file."""
        try:
            with self._upkeep() as connection:
                lines = connection.exec_driver_sql("PRAGMA integrity_check(100)").scalars().all()
        except IndexFormatError as error:
            return [error.args[0]]
        return [Message("{reason}", reason=line) for line in lines if line != "ok"]


def _driver(connection: Connection) -> sqlite3.Connection:
    driver = connection.connection.driver_connection
    assert isinstance(driver, sqlite3.Connection)
    return driver
