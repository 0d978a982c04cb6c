"""Many values in one statement: what the two databases do in different ways.

A list of values as a table to join with, and many rows at once. Everything else
about the two is the same SQL.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sqlalchemy import (
    BigInteger,
    Double,
    Integer,
    LargeBinary,
    SmallInteger,
    Text,
    bindparam,
    cast,
    column,
    func,
    literal_column,
    select,
    true,
)
from sqlalchemy.dialects.postgresql import ARRAY

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Connection, CursorResult, Select, Table
    from sqlalchemy.sql.selectable import FromClause
    from sqlalchemy.types import TypeEngine

__all__ = ["insert_rows", "joined", "run_compiled", "values_of", "values_table"]


#: The types of the schema; a small number is a number too, so it comes first.
_KINDS = {
    SmallInteger: "smallint",
    BigInteger: "bigint",
    Integer: "integer",
    Double: "double precision",
    LargeBinary: "bytea",
    Text: "text",
}


def values_table(dialect: str, of: str = "numbers") -> FromClause:
    """Return a table with one column, ``value``, filled from the parameter ``values``.

    Hand :func:`values_of` the list: ``of`` numbers or text, or with PostgreSQL bytes.
    """
    kind: TypeEngine[Any] = {"numbers": BigInteger, "text": Text, "bytes": LargeBinary}[of]()
    if dialect == "sqlite":
        return func.json_each(bindparam("values", type_=Text())).table_valued(column("value", kind))
    given = bindparam("values", type_=Text() if of == "numbers" else ARRAY(kind))
    array = cast(given, ARRAY(kind))
    return func.unnest(array).table_valued(column("value", kind), name="given").render_derived()


def values_of(dialect: str, values: Sequence[Any]) -> dict[str, Any]:
    """Return the parameter of a :func:`values_table`."""
    if dialect == "sqlite":
        return {"values": json.dumps(values, ensure_ascii=False)}
    return {"values": _array(values)}


def _array(values: Sequence[Any]) -> list[Any] | str:
    """Return a list as PostgreSQL takes it: numbers as text, which is ten times as fast."""
    if values and all(value.__class__ is int for value in values):
        return f"{{{','.join(map(str, values))}}}"
    return list(values)


def joined(
    dialect: str,
    given: FromClause,
    table: Table,
    condition: ColumnElement[bool],
    columns: Sequence[Any],
    beside: tuple[Table, ColumnElement[bool]] | None = None,
) -> Select[Any]:
    """Return the columns of those rows of a table that belong to a :func:`values_table`.

    With those of another table `beside` it, where there are any. Both databases look up
    value by value; PostgreSQL would rather read a whole table once for a long list.
    """
    if dialect == "sqlite":
        source = given.join(table, condition)
        return select(*columns).select_from(source if beside is None else source.outerjoin(*beside))
    rows = table if beside is None else table.outerjoin(*beside)
    wanted = select(*columns).select_from(rows).where(condition).correlate(given)
    # Without the offset it would be taken apart and become a join again.
    each = wanted.offset(literal_column("0")).lateral("each")
    return select(*each.c).select_from(given.join(each, true()))


def run_compiled(
    connection: Connection, statement: str, values: Sequence[Any], **more: Any
) -> CursorResult[Any]:
    """Run a compiled statement with the parameter ``values``, and others after it."""
    parameters = {**values_of(connection.dialect.name, values), **more}
    if connection.dialect.positional:
        return connection.exec_driver_sql(statement, tuple(parameters.values()))
    return connection.exec_driver_sql(statement, parameters)


def insert_rows(connection: Connection, table: Table, columns: Mapping[str, Sequence[Any]]) -> None:
    """Insert rows given by their columns, which are all of one length."""
    names = list(columns)
    if not columns[names[0]]:
        return
    if connection.dialect.name == "sqlite":
        marks = ", ".join("?" * len(names))
        statement = f"INSERT INTO {table.name} ({', '.join(names)}) VALUES ({marks})"
        rows = list(zip(*columns.values(), strict=True))
        # One row is not many: the driver is quicker to take it as such.
        connection.exec_driver_sql(statement, rows[0] if len(rows) == 1 else rows)
        return
    arrays = ", ".join(f"%s::{_kind(table.c[name].type)}[]" for name in names)
    statement = f"INSERT INTO {table.name} ({', '.join(names)}) SELECT * FROM unnest({arrays})"
    connection.exec_driver_sql(statement, tuple(_array(values) for values in columns.values()))


def _kind(kind: TypeEngine[Any]) -> str:
    """Return PostgreSQL's name of a type of the schema."""
    return next(name for known, name in _KINDS.items() if isinstance(kind, known))
