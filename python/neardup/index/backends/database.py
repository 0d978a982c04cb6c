"""The database of an index: connections, transactions and their failures.

A transaction that reads sees one snapshot and never waits. There is one writer, across processes
and machines: when it returns, its change is on disk; when it raises, nothing is stored, unless
the message says that the connection was lost during the commit. Nothing is retried silently.
"""

from __future__ import annotations

import os
import threading
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, ClassVar, Literal

from sqlalchemy import Connection, Engine, FromClause, Select, Table
from sqlalchemy.exc import DBAPIError

from neardup.base.files import call_after
from neardup.base.messages import N_, Message
from neardup.exceptions import IndexFormatError, IndexUnavailableError, ParameterError
from neardup.index.backends.failures import Failure, Moment, make_error
from neardup.index.schema import METADATA, SCHEMA, meta

#: Tables that every version of the schema has.
_LANDMARKS = {"meta", "documents"}

#: Seconds of waiting after which the user is informed.
_LONG_WAIT = 2.0

#: The databases that are not closed.
OPEN: weakref.WeakSet[Database] = weakref.WeakSet()


class Database(ABC):
    """The database of an existing or future index; made by `open_database`."""

    dialect: ClassVar[str]
    #: The longest wait of a writer for its turn. A turn takes some milliseconds; only an oversized
    #: batch or a hanging process takes this long.
    lock_seconds: ClassVar[float] = 60.0
    #: Advice for a location that holds no index.
    _elsewhere: ClassVar[str]
    #: Base class of the driver's errors that SQLAlchemy does not wrap.
    _driver_error: type[Exception]

    def __init__(self, location: str) -> None:
        #: The location as shown to users.
        self.location = location
        self._pool = self._make_pool()
        # Writers of one process queue on this lock. It is fairer and faster than polling SQLite,
        # and a thread that waits in it needs no connection.
        self._turn = threading.Lock()
        self._closed = False
        self._process = os.getpid()
        #: Called, from another thread, when a writer has to wait long for its turn.
        self.on_wait: Callable[[], None] | None = None
        OPEN.add(self)

    def find(self, *, must_exist: bool) -> None:
        """Check what is at the location, without creating a file or a table."""
        has_place = self._is_there()
        if self.exists():
            with self._upkeep() as connection:
                self._prepare(connection)
        elif must_exist and not has_place:
            raise self.make_unavailable_error(
                N_(
                    "{location}: no such file. Create an index first, in a shell with: "
                    "neardup index create {location}"
                ),
                code="index_missing",
            )
        elif must_exist:
            raise self._make_format_error(
                N_(
                    "{location}: must hold an index, not an empty database. Create one in a "
                    "shell with: neardup index create"
                ),
                code="not_an_index",
                elsewhere=Message(self._elsewhere),
            )

    def _make_format_error(
        self, template: str, code: str | None = None, **values: object
    ) -> IndexFormatError:
        """Return the error that the location holds something else, or a damaged index."""
        return IndexFormatError(Message(template, code=code, location=self.location, **values))

    def make_unavailable_error(
        self, template: str, code: str | None = None, **values: object
    ) -> IndexUnavailableError:
        """Return the error that the index cannot be used, with its location."""
        return IndexUnavailableError(Message(template, code=code, location=self.location, **values))

    def is_of_this_process(self) -> bool:
        """Return whether this process opened it, not one that it was forked from."""
        return self._process == os.getpid()

    @property
    def files(self) -> list[Path]:
        """The files that only the index may write; none on a server."""
        return []

    def exists(self) -> bool:
        """Return whether there is an index; False for an empty file or schema, or none at all."""
        if not self._is_there():
            return False
        with self.reading() as connection:
            names = self._list_tables(connection)
            if not names:
                return False
            version = self._read_version(connection) if set(names) >= _LANDMARKS else None
        if version is None:
            shown = ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")
            raise self._make_format_error(
                N_(
                    "{location}: must hold an index or nothing, not the tables of another "
                    "program: {tables}. {elsewhere}"
                ),
                code="not_an_index",
                tables=shown,
                elsewhere=Message(self._elsewhere),
            )
        return True

    @staticmethod
    def _read_version(connection: Connection, name: str = "schema") -> str | None:
        query = meta.select().with_only_columns(meta.c.value).where(meta.c.name == name)
        value: str | None = connection.execute(query).scalar_one_or_none()
        return value

    def create_tables(self, fill: Callable[[Connection], None] | None = None) -> bool:
        """Create all tables in one transaction, and `fill` them; False if they already exist."""
        with self.writing() as connection:
            made = not self._list_tables(connection)
            if made:
                self._make_room(connection)
                METADATA.create_all(connection, checkfirst=False)
                connection.execute(meta.insert().values(name="schema", value=str(SCHEMA)))
                if fill is not None:
                    fill(connection)
        # WAL cannot be turned on in a transaction.
        with self._upkeep() as connection:
            self._prepare(connection)
        return made

    def check_schema(self) -> None:
        """Raise an error unless the index has the tables of this version."""
        with self.reading() as connection:
            stored = self._read_version(connection)
            by = self._read_version(connection, "neardup")
        if stored == str(SCHEMA):
            return
        raise self._make_format_error(
            N_(
                "{location}: must be an index of format {expected}, and is of format {found}: "
                "with {writer}, which made it, run `neardup index export {location} -o "
                "kept.jsonl`, and with this version `neardup index add NEW kept.jsonl --at-field "
                "at --source-field source`."
            ),
            code="other_version",
            expected=SCHEMA,
            found=stored,
            writer=Message("neardup {version}", version=by or "?"),
        )

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Give a connection that sees the snapshot of its first statement."""
        with self._transaction(Moment.READING) as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Give the connection of the only writer; commit at the end. Must not be nested."""
        with ExitStack() as waiting:
            waiting.enter_context(call_after(_LONG_WAIT, self.on_wait))
            with self._taking_turn(), self._transaction(Moment.WRITING) as connection:
                waiting.close()
                yield connection

    @contextmanager
    def _taking_turn(self) -> Iterator[None]:
        turn, seconds = self._turn, self.lock_seconds
        if not turn.acquire(timeout=seconds):
            raise self.make_unavailable_error(
                N_(
                    "{location}: another thread locked it for {seconds:g} seconds, so nothing of "
                    "this change was stored. Try again, or add fewer documents at once."
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
                    self._begin(connection, write=write)
                    yield connection
                    if not write:
                        connection.rollback()
                        return
                if not self._can_commit(connection):
                    raise RuntimeError("A statement failed and was passed over; nothing is stored")
                self._commit(connection)
            except BaseException:
                # The first error is the one to report; discard a connection that cannot roll back.
                try:
                    connection.rollback()
                except Exception:
                    with suppress(Exception):
                        connection.invalidate()
                raise

    def _commit(self, connection: Connection) -> None:
        with self._explained(Moment.COMMITTING):
            connection.commit()

    @contextmanager
    def _connected(self, moment: Moment) -> Iterator[Connection]:
        if self._closed:
            raise self.make_unavailable_error(
                N_("{location}: is closed. Open it again."), code="index_closed"
            )
        if not self.is_of_this_process():
            raise self.make_unavailable_error(
                N_("{location}: was opened before this process was forked. Open it again here.")
            )
        self._check_use()
        with self._explained(moment, connected=False):
            connection = self._pool.connect()
        with connection:
            yield connection

    @contextmanager
    def _explained(self, moment: Moment, *, connected: bool = True) -> Iterator[None]:
        try:
            yield
        except (DBAPIError, self._driver_error) as error:
            # SQLAlchemy's errors wrap the driver's.
            cause = getattr(error, "orig", None) or error
            failure = self._find_failure(cause, connected=connected)
            if failure is None:
                raise
            raise make_error(failure, self.location, moment) from error

    @abstractmethod
    def _find_failure(self, error: BaseException, *, connected: bool) -> Failure | None:
        """Return what an error of the driver means; None if its cause is a bug of neardup.

        `connected` is false if connecting failed.
        """

    @abstractmethod
    def measure_size(self) -> int:
        """Return how many bytes the index takes: file and log, or all tables with indexes."""

    @abstractmethod
    def compact(self) -> None:
        """Reclaim the space of removed rows."""

    def backup(self, path: str) -> None:  # noqa: ARG002
        """Copy a snapshot of the index into a file; a server has its own programs for that."""
        raise ParameterError(
            Message(
                "{location}: must be a file. An index in PostgreSQL is backed up with "
                "pg_dump --schema=SCHEMA DATABASE.",
                location=self.location,
            )
        )

    def check(self) -> Message | None:
        """Return what is damaged, if anything; a server checks its pages as it reads them."""
        return None

    @contextmanager
    def _upkeep(self) -> Iterator[Connection]:
        """Give a connection outside of any transaction."""
        moment = Moment.READING
        with self._connected(moment) as connection, self._explained(moment):
            yield connection

    # What the two databases do differently. What is not abstract suits a server.

    @abstractmethod
    def _make_pool(self) -> Engine:
        """Return a new connection pool without open connections."""

    def _is_there(self) -> bool:
        """Return whether there is anything to connect to, and remember which file it is."""
        return True

    def _check_use(self) -> None:  # noqa: B027
        """Raise if this is no longer the file or schema that was opened."""

    @abstractmethod
    def _begin(self, connection: Connection, *, write: bool) -> None:
        """Begin a transaction; a writer waits for its turn."""

    @abstractmethod
    def _can_commit(self, connection: Connection) -> bool:
        """Return whether a commit would still store the transaction's changes."""

    @abstractmethod
    def _list_tables(self, connection: Connection) -> list[str]:
        """Return the names of the tables, sorted."""

    @abstractmethod
    def _prepare(self, connection: Connection) -> None:
        """Bring a database that is empty or has an index into the state that writers rely on."""

    @abstractmethod
    def _make_room(self, connection: Connection) -> None:
        """Create what the tables need around them, such as a schema, in a write transaction."""

    # Statements that the two databases write differently. They depend on the class alone, so that
    # each is built once.

    #: Whether new keys wait in the small table of recent keys; see `neardup.index.store.postings`.
    keeps_recent_keys: ClassVar[bool] = False

    @classmethod
    @abstractmethod
    def make_values_table(cls, of: Literal["numbers", "text"] = "numbers") -> FromClause:
        """Return a table of one column, `value`, of numbers or text; bind it with `bind_values`."""

    @classmethod
    @abstractmethod
    def bind_values(cls, values: Sequence[Any]) -> dict[str, Any]:
        """Return the parameter of a table that `make_values_table` made."""

    @classmethod
    @abstractmethod
    def join_values(cls, values: FromClause, wanted: Select[Any]) -> Select[Any]:
        """Return the rows of a query that match a value of `make_values_table`, found by value."""

    @classmethod
    @abstractmethod
    def insert_rows(
        cls, connection: Connection, table: Table, columns: Mapping[str, Sequence[Any]]
    ) -> None:
        """Insert rows given as columns of equal length."""

    def close(self) -> None:
        """Close all connections. Closing again does nothing."""
        self._closed = True
        OPEN.discard(self)
        # The connections of a parent process are its own.
        self._pool.dispose(close=self.is_of_this_process())

    def __enter__(self) -> Database:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _drop_idle_connections(self) -> None:
        # Idle connections are closed, so that the child inherits none of them.
        self._pool.dispose()


def identify_file(path: str | os.PathLike[str]) -> tuple[int, int] | None:
    """Return device and number of a file, whatever its name; None if there is none."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _prepare_fork() -> None:
    for database in list(OPEN):
        database._drop_idle_connections()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_prepare_fork)
