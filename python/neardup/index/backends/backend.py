"""What SQLite and PostgreSQL do each in its own way.

`Database` runs transactions; a `Backend` knows how to connect, how a transaction
begins, and how upkeep is done.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

__all__ = ["LOCK_SECONDS", "Backend"]

#: How long a writer waits for its turn. Turns take some milliseconds; only a
#: batch that is too large, or a process that hangs, takes as long as this.
LOCK_SECONDS = 60.0


class Backend(ABC):
    """A file, or a schema on a server, that holds an index or will hold one.

    What is not abstract is what a server needs: it does the rest by itself.
    """

    dialect: ClassVar[str]
    #: Code of a way out for one who named what is no index.
    elsewhere: ClassVar[str]
    lock_seconds: ClassVar[float] = LOCK_SECONDS

    #: As shown to users.
    location: str
    #: What the driver raises where SQLAlchemy does not wrap it.
    driver_error: type[Exception]

    @abstractmethod
    def engine(self) -> Engine:
        """Return a new pool of connections; none is opened yet."""

    def files(self) -> list[Path]:
        """Return the files that nobody else may write."""
        return []

    def is_there(self) -> bool:
        """Return whether there is anything to connect to, and remember which it is."""
        return True

    def create(self) -> None:  # noqa: B027
        """Make what can be connected to, if a client can; what is there is left as it is."""

    def check_use(self) -> None:  # noqa: B027
        """Raise if this is no longer what was opened."""

    def check_log(self) -> None:  # noqa: B027
        """Raise if acknowledged changes are missing; before anything else is opened."""

    def abandon(self) -> None:  # noqa: B027
        """Take note, in a child, that the fork came in the middle of a transaction."""

    @abstractmethod
    def begin(self, connection: Connection, *, write: bool) -> None:
        """Begin a transaction; for a writer, wait for its turn."""

    @abstractmethod
    def can_commit(self, connection: Connection) -> bool:
        """Return whether a commit would still store what the transaction did."""

    def before_commit(self, connection: Connection) -> None:  # noqa: B027
        """Add to a transaction that writes what belongs to every one."""

    def after_commit(self, connection: Connection) -> None:  # noqa: B027
        """Take note that a transaction that writes is stored; must not raise."""

    def after_close(self) -> None:  # noqa: B027
        """Tidy up when all connections are closed; must not raise."""

    @abstractmethod
    def tables(self, connection: Connection) -> list[str]:
        """Return the names of the tables, sorted."""

    def check_empty(self, connection: Connection) -> None:  # noqa: B027
        """Raise if what has no tables is what is left of an index."""

    @abstractmethod
    def prepare(self, connection: Connection) -> None:
        """Bring the database into the state that writers rely on, or raise.

        Only to be called where it is empty or holds an index: it would change
        another program's file as well.
        """

    @abstractmethod
    def make_room(self, connection: Connection) -> None:
        """Make what the tables belong to, in a writing transaction."""

    @abstractmethod
    def size(self, connection: Connection) -> int:
        """Return how many bytes the index takes on disk."""

    @abstractmethod
    def compact(self, connection: Connection) -> None:
        """Give back the space of removed rows."""

    def check(self, connection: Connection) -> list[str]:  # noqa: ARG002
        """Return what is damaged; a server checks its pages as it reads them."""
        return []
