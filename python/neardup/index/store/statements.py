"""The connection of a transaction, which the statements on each table share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any, Literal

import sqlalchemy as sa

from neardup.index.backends import Database


class Statements:
    """Statements on some tables, in one transaction."""

    def __init__(self, connection: sa.Connection, database: Database) -> None:
        self.connection = connection
        self.location = database.location
        self._kind = type(database)

    def is_one_of(
        self, column: sa.ColumnElement[Any], of: Literal["numbers", "text"] = "numbers"
    ) -> sa.ColumnElement[bool]:
        """Return the condition that a column has one of the values passed to `run`."""
        return column.in_(sa.select(self._kind.make_values_table(of).c.value))

    def run(
        self, statement: sa.Executable, values: Sequence[Any], **more: Any
    ) -> sa.CursorResult[*tuple[Any, ...]]:
        """Run a statement with these values of its `make_values_table` or `is_one_of`."""
        return self.connection.execute(statement, self._kind.bind_values(values) | more)

    def stream(self, query: sa.Executable, rows: int) -> Iterator[Sequence[sa.RowMapping]]:
        """Yield the rows of a query; at most `rows` of them are in memory at once."""
        result = self.connection.execute(query, execution_options={"yield_per": rows})
        with closing(result):
            yield from result.mappings().partitions()

    def insert(self, table: sa.Table, columns: Mapping[str, Sequence[Any]]) -> None:
        """Insert rows given as columns of equal length."""
        if next(iter(columns.values())):
            self._kind.insert_rows(self.connection, table, columns)
