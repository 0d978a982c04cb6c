"""Joins with many values and inserts of many rows, where the two databases differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import orjson
import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.sql.selectable import FromClause
from sqlalchemy.types import TypeEngine

#: The most parameters of one statement in SQLite; every version allows as many.
_PARAMETERS = 999


def values_table(dialect: str, of: str = "numbers") -> FromClause:
    """Return a table of one column, `value`, of numbers or text; bind it with `values_of`."""
    kind: TypeEngine[Any] = sa.BigInteger() if of == "numbers" else sa.Text()
    if dialect == "sqlite":
        return sa.func.json_each(sa.bindparam("values", type_=sa.Text())).table_valued(
            sa.column("value", kind)
        )
    given = sa.bindparam("values", type_=sa.Text() if of == "numbers" else ARRAY(kind))
    array = sa.cast(given, ARRAY(kind))
    return (
        sa.func.unnest(array).table_valued(sa.column("value", kind), name="given").render_derived()
    )


def values_of(dialect: str, values: Sequence[Any]) -> dict[str, Any]:
    """Return the parameter of a :func:`values_table`."""
    if dialect == "sqlite":
        return {"values": orjson.dumps(values).decode()}
    return {"values": _array(values)}


def _array(values: Sequence[Any]) -> list[Any] | str:
    """Return a list as a parameter of PostgreSQL. Numbers as text are ten times as fast."""
    if values and all(value.__class__ is int for value in values):
        return f"{{{','.join(map(str, values))}}}"
    return list(values)


def joined(
    dialect: str,
    given: FromClause,
    table: sa.Table,
    condition: sa.ColumnElement[bool],
    columns: Sequence[Any],
    beside: tuple[sa.Table, sa.ColumnElement[bool]] | None = None,
) -> sa.Select[Any]:
    """Return the rows of a table that match a value of a :func:`values_table`.

    `beside` is another table for an outer join. Both databases then look up value by value; for
    a long list, PostgreSQL would otherwise read a whole table.
    """
    if dialect == "sqlite":
        source = given.join(table, condition)
        return sa.select(*columns).select_from(
            source if beside is None else source.outerjoin(*beside)
        )
    rows = table if beside is None else table.outerjoin(*beside)
    wanted = sa.select(*columns).select_from(rows).where(condition).correlate(given)
    # The offset keeps PostgreSQL from flattening the subquery into a plain join.
    each = wanted.offset(sa.literal_column("0")).lateral("each")
    return sa.select(*each.c).select_from(given.join(each, sa.true()))


def insert_rows(
    connection: sa.Connection, table: sa.Table, columns: Mapping[str, Sequence[Any]]
) -> None:
    """Insert rows given as columns of equal length."""
    names = list(columns)
    if not columns[names[0]]:
        return
    if connection.dialect.name == "sqlite":
        row = f"({', '.join('?' * len(names))})"
        # Otherwise SQLite saves every page that a statement of several rows changes, to undo it
        # alone. Nothing needs that: a failure undoes the transaction.
        head = f"INSERT OR FAIL INTO {table.name} ({', '.join(names)}) VALUES "
        for count, values in _rows_together(columns):
            connection.exec_driver_sql(head + ", ".join([row] * count), values)
        return
    # A collation is no part of the type.
    kinds = [
        table.c[name].type.compile(connection.dialect).partition(" COLLATE")[0] for name in names
    ]
    arrays = ", ".join(f"%s::{kind}[]" for kind in kinds)
    statement = f"INSERT INTO {table.name} ({', '.join(names)}) SELECT * FROM unnest({arrays})"
    connection.exec_driver_sql(statement, tuple(_array(values) for values in columns.values()))


def _rows_together(columns: Mapping[str, Sequence[Any]]) -> Iterator[tuple[int, tuple[Any, ...]]]:
    """Yield number and values of the rows of each statement: of few sizes, so it is prepared."""
    width = len(columns)
    values = tuple(chain.from_iterable(zip(*columns.values(), strict=True)))
    most = 1 << (_PARAMETERS // width).bit_length() - 1
    begin, left = 0, len(values) // width
    while left:
        count = min(most, 1 << left.bit_length() - 1)
        yield count, values[begin : begin + count * width]
        begin, left = begin + count * width, left - count
