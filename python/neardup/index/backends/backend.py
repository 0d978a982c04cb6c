"""The interface to what SQLite and PostgreSQL do differently.

`Database` runs transactions. A `Backend` connects, begins transactions and does maintenance.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from neardup.base.messages import Message
from neardup.exceptions import IndexUnavailableError, ParameterError

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

__all__ = ["LOCK_SECONDS", "Backend"]

#: The longest wait of a writer for its turn. A turn takes some milliseconds; only an oversized
#: batch or a hanging process takes this long.
LOCK_SECONDS = 60.0


class Backend(ABC):
    """A file, or a schema on a server, that holds an index or will hold one.

    The methods that are not abstract do by default what suits a server: mostly nothing.
    """

    dialect: ClassVar[str]
    #: Message code of advice for a location that holds no index.
    elsewhere: ClassVar[str]
    lock_seconds: ClassVar[float] = LOCK_SECONDS

    #: The location as shown to users.
    location: str
    #: Base class of the driver's errors that SQLAlchemy does not wrap.
    driver_error: type[Exception]

    def unavailable(self, template: str, **values: object) -> IndexUnavailableError:
        """Return the error that the index cannot be used, with its location."""
        return IndexUnavailableError(Message(template, location=self.location, **values))

    @abstractmethod
    def engine(self) -> Engine:
        """Return a new connection pool without open connections."""

    def files(self) -> list[Path]:
        """Return the files that only the index may write."""
        return []

    def is_there(self) -> bool:
        """Return whether there is anything to connect to, and remember its identity."""
        return True

    def create(self) -> None:  # noqa: B027
        """Create what can be connected to, if a client can; never change what exists."""

    def check_use(self) -> None:  # noqa: B027
        """Raise if this is no longer the file or schema that was opened."""

    def check_log(self) -> None:  # noqa: B027
        """Raise if acknowledged changes are missing; call this before opening anything."""

    def abandon(self) -> None:  # noqa: B027
        """Record, in a child process, that the fork happened during a transaction."""

    @abstractmethod
    def begin(self, connection: Connection, *, write: bool) -> None:
        """Begin a transaction; a writer waits for its turn."""

    @abstractmethod
    def can_commit(self, connection: Connection) -> bool:
        """Return whether a commit would still store the transaction's changes."""

    def before_commit(self, connection: Connection) -> None:  # noqa: B027
        """Add to a write transaction what every one of them must contain."""

    def after_commit(self, connection: Connection) -> None:  # noqa: B027
        """Record that a write transaction is stored; must not raise."""

    def after_close(self) -> None:  # noqa: B027
        """Clean up after all connections are closed; must not raise."""

    @abstractmethod
    def tables(self, connection: Connection) -> list[str]:
        """Return the names of the tables, sorted."""

    def check_empty(self, connection: Connection) -> None:  # noqa: B027
        """Raise if a database without tables is the remains of an index."""

    @abstractmethod
    def prepare(self, connection: Connection) -> None:
        """Bring the database into the state that writers rely on, or raise.

        Call it only if the database is empty or holds an index: it would also change the file of
        another program.
        """

    @abstractmethod
    def make_room(self, connection: Connection) -> None:
        """Create what the tables need around them, such as a schema, in a write transaction."""

    @abstractmethod
    def size(self, connection: Connection) -> int:
        """Return how many bytes the index takes on disk."""

    @abstractmethod
    def compact(self, connection: Connection) -> None:
        """Reclaim the space of removed rows."""

    def backup(self, connection: Connection, path: str) -> None:  # noqa: ARG002
        """Copy the index into a file; a server has its own programs for that."""
        raise ParameterError(
            Message(
                "{location}: must be a file. An index in PostgreSQL is backed up with "
                "pg_dump --schema=SCHEMA DATABASE.",
                location=self.location,
            )
        )

    def check(self, connection: Connection) -> list[str]:  # noqa: ARG002
        """Return a line for each fault; a server checks its pages as it reads them."""
        return []
