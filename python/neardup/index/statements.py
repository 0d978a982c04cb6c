"""The statements of every addition, compiled once for each kind of database.

To build a statement anew takes longer than SQLite takes to run it. So those that
each addition needs are built here, and run as the text that they compile to.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from sqlalchemy import and_, bindparam, literal_column, select, update

from neardup.index.bulk import joined, values_table
from neardup.index.schema import counters, documents, keys, texts

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Connection, Dialect, Executable

__all__ = ["Statements", "statements"]

#: The state of kept documents, see `neardup.index.store`.
_KEPT: ColumnElement[int] = literal_column("0")


@dataclass(frozen=True)
class Statements:
    """SQL as text; each takes one parameter, a list in the form of `values_of`.

    ``change_counter`` takes two, ``change`` and ``name``.
    """

    counters: str
    change_counter: str
    by_ids: str
    kept: str
    kept_with_texts: str
    entries: str
    #: Only for PostgreSQL; SQLite has no lists of bytes.
    kept_with: str


def statements(connection: Connection) -> Statements:
    """Return the statements for the database of a connection."""
    return _statements(connection.dialect)


@lru_cache(maxsize=8)
def _statements(dialect: Dialect) -> Statements:
    def text(statement: Any) -> str:
        return str(statement.compile(dialect=dialect))

    number = documents.c.number
    given = values_table(dialect.name)
    is_wanted = and_(number == given.c.value, documents.c.state == _KEPT)
    kept = joined(dialect.name, given, documents, is_wanted, list(documents.c))
    with_texts = joined(
        dialect.name,
        given,
        documents,
        is_wanted,
        [*documents.c, texts.c.text],
        beside=(texts, texts.c.number == number),
    )
    ids = values_table(dialect.name, "text")
    by_ids = joined(dialect.name, ids, documents, documents.c.id == ids.c.value, list(documents.c))
    columns = [keys.c.key, keys.c.number, keys.c.share]
    entries = joined(dialect.name, given, keys, keys.c.key == given.c.value, columns)
    change: Executable = (
        update(counters)
        .where(counters.c.name == bindparam("of"))
        .values(value=counters.c.value + bindparam("change"))
    )
    kept_with = ""
    if dialect.name != "sqlite":
        identities = values_table(dialect.name, "bytes")
        same = and_(documents.c.identity == identities.c.value, documents.c.state == _KEPT)
        kept_with = text(joined(dialect.name, identities, documents, same, [number]))
    return Statements(
        counters=text(select(counters)),
        change_counter=text(change),
        by_ids=text(by_ids),
        kept=text(kept),
        kept_with_texts=text(with_texts),
        entries=text(entries),
        kept_with=kept_with,
    )
