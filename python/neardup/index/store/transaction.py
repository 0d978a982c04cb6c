"""What the statements of a transaction share: connection, location and lists of values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from sqlalchemy import select

from neardup.base.messages import Message
from neardup.index.store.bulk import values_of, values_table
from neardup.index.store.rows import damaged, sound
from neardup.index.store.statements import statements

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Connection, CursorResult, Executable, RowMapping

    from neardup.exceptions import IndexFormatError

__all__ = ["TOGETHER", "Transaction"]

#: Rows read or removed at once where there may be many.
TOGETHER = 1000


class Transaction:
    """One transaction on an index; `identity` is that of the index when it was opened."""

    def __init__(self, connection: Connection, location: str, identity: int | None = None) -> None:
        self.connection = connection
        self.dialect = connection.dialect.name
        self.location = location
        self._compiled = statements(connection)
        self._identity = identity

    def is_one_of(self, column: ColumnElement[Any], kind: str = "numbers") -> ColumnElement[bool]:
        """Return the condition that a column has one of the values passed to `run`."""
        return column.in_(select(values_table(self.dialect, kind).c.value))

    def run(self, statement: Executable, values: Sequence[Any]) -> CursorResult[*tuple[Any, ...]]:
        """Run a statement that uses `is_one_of` with these values."""
        return self.connection.execute(statement, values_of(self.dialect, values))

    def sound(self, rows: Iterable[RowMapping]) -> list[RowMapping]:
        """Return rows of documents, or raise if one is invalid."""
        return sound(rows, self.location)

    def damaged_document(
        self, number: int, column: str, must: Message, value: Any
    ) -> IndexFormatError:
        """Return the error for a damaged column of a document."""
        document = Message("index.row_document", number=number)
        return damaged(self.location, document, column, must, value)
