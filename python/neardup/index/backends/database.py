"""The database of an index: connections, transactions and their failures.

Guarantees of a transaction:

- `Database.reading` sees one snapshot of the index, whatever others write meanwhile, and never
  waits.
- `Database.writing` is the only writer of the index, across processes and machines. When it
  returns, its change is on disk. When it raises, nothing is stored, with one exception that the
  message names: the connection was lost during the commit. Nothing is retried silently.

Several threads may share a `Database`. After a fork, the child may continue to use it, unless a
thread of the parent was in a transaction in SQLite at that moment: then every use in the child
raises. Processes started with ``spawn`` or ``forkserver`` open their own.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from neardup.base.messages import N_, Message
from neardup.base.validation import bad
from neardup.exceptions import (
    IndexFormatError,
    IndexUnavailableError,
    OutputError,
    ParameterError,
)
from neardup.index.backends.failures import Moment, explained

# `schema` imports SQLAlchemy and explains how to install it if it is missing.
from neardup.index.schema import METADATA, SCHEMA, UPGRADED, meta, upgrade, version_of
from neardup.readers.streams import printable

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

    from neardup.index.backends.backend import Backend

__all__ = ["Database"]

#: Tables that every version of the schema has.
_LANDMARKS = {"meta", "documents"}

#: Seconds of waiting after which the user is informed.
_LONG_WAIT = 2.0

_OPEN: weakref.WeakSet[Database] = weakref.WeakSet()


class Database:
    """The database of an existing or future index: read and write transactions.

    Made by `Database.open`. It is a context manager, and closes at the end of the block.

    Examples
    --------
    >>> import tempfile
    >>> from neardup.index.backends.database import Database
    >>> from neardup.index.schema import counters
    >>> folder = tempfile.TemporaryDirectory()
    >>> with Database.open(f"{folder.name}/news.db", must_exist=False) as database:
    ...     _ = database.create_tables()
    ...     with database.writing() as connection:
    ...         _ = connection.execute(counters.insert().values(name="next", value=1))
    ...     with database.reading() as connection:
    ...         connection.execute(counters.select()).all()
    [('next', 1)]
    >>> folder.cleanup()
    """

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self.location = backend.location
        self.dialect = backend.dialect
        self._pool: Engine = backend.engine()
        # Writers of one process queue on this lock. It is fairer and faster than polling SQLite,
        # and a thread that waits in it needs no connection.
        self._turn = threading.Lock()
        self._in_use: set[object] = set()
        self._closed = False
        #: Called, from another thread, when a writer has to wait long for its turn.
        self.on_wait: Callable[[], None] | None = None
        #: Called in the child after a fork.
        self.on_fork: Callable[[], None] | None = None
        #: The schema version before opening upgraded it; None if it was not upgraded.
        self.upgraded_from: str | None = None
        _OPEN.add(self)

    @classmethod
    def open(cls, location: str | Path, *, must_exist: bool) -> Database:
        """Connect to a file or a ``postgresql://`` address, without creating a file or a table."""
        database = cls(_backend_of(location))
        try:
            backend = database._backend
            has_place = backend.is_there()
            if has_place:
                backend.check_log()
            if database.exists():
                with database._upkeep() as connection:
                    backend.prepare(connection)
            elif must_exist and not has_place:
                raise IndexUnavailableError(
                    Message(
                        "{location}: no such file. Create an index first, in a shell with: "
                        "neardup index create {location}",
                        code="index_missing",
                        location=database.location,
                    )
                )
            elif must_exist:
                raise database._no_index(
                    N_(
                        "{location}: must hold an index. Got an empty database instead. "
                        "{elsewhere} Or create one, in a shell with: neardup index create"
                    )
                )
        except BaseException:
            database.close()
            raise
        return database

    def _no_index(self, template: str, **values: object) -> IndexFormatError:
        elsewhere = Message(self._backend.elsewhere)
        return IndexFormatError(
            Message(template, location=self.location, elsewhere=elsewhere, **values)
        )

    def files(self) -> list[Path]:
        """Return the file of the index and those beside it; none on a server."""
        return self._backend.files()

    def refuse_outputs(self, paths: Iterable[str | os.PathLike[str] | None]) -> None:
        """Raise if one of the paths is a file of this index; None and ``-`` are standard output."""
        own = {os.path.realpath(path) for path in self.files()}
        identities = {_identity(path) for path in own} - {None}
        for path in paths:
            if path is None or os.fspath(path) == "-":
                continue
            # Not opened: closing a file would release all locks that this process has on it.
            if os.path.realpath(path) in own or _identity(path) in identities:
                raise OutputError(
                    Message(
                        "{file}: must not be written, since it is a file of the index "
                        "{location}. Choose another name.",
                        file=printable(os.fspath(path)),
                        location=self.location,
                    )
                )

    def exists(self) -> bool:
        """Return whether there is an index; False for an empty file or schema, or none at all."""
        if not self._backend.is_there():
            return False
        with self.reading() as connection:
            names = self._backend.tables(connection)
            if not names:
                self._backend.check_empty(connection)
                return False
            version = self._version(connection) if set(names) >= _LANDMARKS else None
        if version is None:
            shown = ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")
            raise self._no_index(
                N_(
                    "{location}: must hold an index or nothing. Got the tables of another "
                    "program instead: {tables}. {elsewhere}"
                ),
                tables=shown,
            )
        return True

    @staticmethod
    def _version(connection: Connection, name: str = "schema") -> str | None:
        query = meta.select().with_only_columns(meta.c.value).where(meta.c.name == name)
        found: str | None = connection.execute(query).scalar_one_or_none()
        return found

    def create_tables(self, fill: Callable[[Connection], None] | None = None) -> bool:
        """Create all tables in one transaction; return False if they already exist.

        `fill` writes the first rows in the same transaction, so that no other process ever sees an
        index without them. If two processes create an index at once, only one of them calls `fill`.
        """
        self._backend.create()
        with self.writing() as connection:
            made = not self._backend.tables(connection)
            if made:
                self._backend.make_room(connection)
                METADATA.create_all(connection, checkfirst=False)
                connection.execute(meta.insert().values(name="schema", value=str(SCHEMA)))
                if fill is not None:
                    fill(connection)
        # WAL is turned on last: a file in WAL mode always has its tables.
        with self._upkeep() as connection:
            self._backend.prepare(connection)
        return made

    def check_schema(self) -> None:
        """Upgrade the tables to the current schema version, or raise."""
        with self.reading() as connection:
            found = self._version(connection)
            by = self._version(connection, "neardup")
            of_tables = version_of(self._backend.tables(connection))
        is_known = found in [str(version) for version in (SCHEMA, *UPGRADED)]
        if is_known and found != of_tables:
            raise IndexFormatError(
                Message(
                    "{location}: must have the tables of schema {found}, its number in "
                    "the table meta. Got those of schema {tables} instead: another "
                    "program has changed it. Restore a back-up.",
                    location=self.location,
                    found=found,
                    tables=of_tables,
                )
            )
        if found == str(SCHEMA):
            return
        if is_known:
            with self.writing() as connection:
                upgrade(connection)
            self.upgraded_from = found
            return
        newer = found is not None and found.isdecimal() and int(found) > SCHEMA
        if by:
            writer = Message("neardup {version}", version=by)
        else:
            writer = Message(N_("a newer neardup") if newer else N_("another neardup"))
        raise IndexFormatError(
            Message(
                N_(
                    "{location}: must have schema {expected}. Got {found} instead, "
                    "written by {writer}. Upgrade neardup, or export the index with that "
                    "version and import the export into a new index with this one."
                )
                if newer
                else N_(
                    "{location}: must have schema {expected}. Got {found} instead, "
                    "written by {writer}. Continue with that version, or export the index "
                    "with that version and import the export into a new index with this "
                    "one."
                ),
                location=self.location,
                expected=SCHEMA,
                found=found,
                writer=writer,
            )
        )

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Give a connection that sees the snapshot of its first statement."""
        with self._transaction(Moment.READING) as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Give the connection of the only writer; commit at the end.

        Any exception rolls everything back. Must not be nested: a second turn of the same thread
        would wait for the first.
        """
        with ExitStack() as waiting:
            waiting.enter_context(self._reporting_wait())
            with self._taking_turn(), self._transaction(Moment.WRITING) as connection:
                waiting.close()
                yield connection

    @contextmanager
    def _reporting_wait(self) -> Iterator[None]:
        if self.on_wait is None:
            yield
            return
        timer = threading.Timer(_LONG_WAIT, self.on_wait)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    @contextmanager
    def _taking_turn(self) -> Iterator[None]:
        turn, seconds = self._turn, self._backend.lock_seconds
        if not turn.acquire(timeout=seconds):
            raise self._backend.unavailable(
                N_(
                    "{location}: locked by another thread for more than {seconds:g} "
                    "seconds. Nothing of this change was stored. Try again, or add fewer "
                    "documents at once."
                ),
                seconds=seconds,
            )
        try:
            yield
        finally:
            turn.release()

    @contextmanager
    def _transaction(self, moment: Moment) -> Iterator[Connection]:
        write = moment is Moment.WRITING
        with self._connected(moment) as connection:
            try:
                with self._explained(moment):
                    self._backend.begin(connection, write=write)
                    yield connection
                    if not write:
                        connection.rollback()
                        return
                if not self._backend.can_commit(connection):
                    raise RuntimeError("A statement failed and was passed over; nothing is stored")
                with self._explained(moment):
                    self._backend.before_commit(connection)
                with self._explained(Moment.COMMITTING):
                    connection.commit()
                self._backend.after_commit(connection)
            except BaseException:
                # The first error is the one to report; discard a connection that cannot roll back.
                try:
                    connection.rollback()
                except Exception:
                    with suppress(Exception):
                        connection.invalidate()
                raise

    @contextmanager
    def _connected(self, moment: Moment) -> Iterator[Connection]:
        use = object()
        # Registered before connecting, so that a fork in between finds the entry.
        self._in_use.add(use)
        try:
            if self._closed:
                raise self._backend.unavailable(N_("{location}: is closed. Open it again."))
            self._backend.check_use()
            with self._explained(moment, connected=False):
                connection = self._pool.connect()
            with connection:
                yield connection
        finally:
            self._in_use.discard(use)

    @contextmanager
    def _explained(self, moment: Moment, *, connected: bool = True) -> Iterator[None]:
        from sqlalchemy.exc import DBAPIError

        try:
            yield
        except (DBAPIError, self._backend.driver_error) as error:
            meant = explained(error, self.location, moment, connected=connected)
            if meant is None:
                raise
            raise meant from error

    def size(self) -> int:
        """Return how many bytes the index takes: file and log, or all tables with indexes."""
        if not self._backend.is_there():
            return 0
        with self._upkeep() as connection:
            return self._backend.size(connection)

    def compact(self) -> None:
        """Reclaim the space of removed rows.

        SQLite rewrites the file: writers wait meanwhile, and as much space again must be free.
        PostgreSQL makes the space available for new rows.
        """
        with self._taking_turn(), self._upkeep() as connection:
            self._backend.compact(connection)

    def backup(self, path: str) -> None:
        """Copy a snapshot of the index into a file."""
        with self.reading() as connection:
            self._backend.backup(connection, path)

    def check(self) -> list[str]:
        """Return one line for each fault; empty if the file is intact.

        SQLite reads the whole file. PostgreSQL checks pages as it reads them, so nothing is done.
        """
        try:
            with self._upkeep() as connection:
                return self._backend.check(connection)
        except IndexFormatError as error:
            return [error.args[0]]

    @contextmanager
    def _upkeep(self) -> Iterator[Connection]:
        """Give a connection outside of any transaction."""
        moment = Moment.READING
        with self._connected(moment) as connection, self._explained(moment):
            yield connection

    def close(self) -> None:
        """Close all connections. Closing again does nothing."""
        was_open = not self._closed
        self._closed = True
        _OPEN.discard(self)
        self._pool.dispose()
        if was_open:
            self._backend.after_close()

    def __enter__(self) -> Database:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _before_fork(self) -> None:
        # Idle connections are closed, so that the child inherits none of them.
        self._pool.dispose()

    def _after_fork(self) -> None:
        self._turn = threading.Lock()
        self._pool.dispose(close=False)
        if self._in_use:
            self._backend.abandon()
        if self.on_fork is not None:
            self.on_fork()


def _identity(path: str | os.PathLike[str]) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _backend_of(location: str | Path) -> Backend:
    if isinstance(location, str):
        scheme, separator, rest = location.partition("://")
        if separator and scheme in ("postgresql", "postgres", "postgresql+psycopg"):
            from neardup.index.backends.postgresql import PostgreSQLSchema

            return PostgreSQLSchema(f"postgresql://{rest}")
        if separator and scheme.replace("+", "").isalnum():
            raise ParameterError(
                Message(
                    "{named[location]} must be the path of a file, or begin with "
                    "postgresql://. Got {scheme}:// instead.",
                    scheme=scheme,
                )
            )
    if not isinstance(location, str | os.PathLike) or not isinstance(os.fspath(location), str):
        raise bad("location", "a path or the URL of a PostgreSQL database", location)
    path = os.fspath(location)
    if path in ("", ":memory:") or "\0" in path:
        raise bad("location", "the path of a file: an index is kept on disk", path)
    from neardup.index.backends.sqlite import SQLiteFile

    return SQLiteFile(path)


def _before_fork() -> None:
    for database in list(_OPEN):
        database._before_fork()


def _after_fork() -> None:
    for database in list(_OPEN):
        database._after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_child=_after_fork)
