"""The statements of additions, compiled once for each kind of database.

Building a statement takes longer than SQLite takes to run it. So the statements that every
addition needs are built once, and run as the SQL text that results.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import BigInteger, and_, bindparam, literal_column, select, update

from neardup.index.schema import counters, documents, keys, recent_keys, texts
from neardup.index.store.bulk import joined, values_table
from neardup.index.values import KEPT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import ColumnElement, Connection, Dialect, Executable

__all__ = ["Statements", "statements"]

#: A literal, not a parameter: otherwise the indexes on kept documents are not used.
_KEPT: ColumnElement[int] = literal_column(str(KEPT))

#: What candidates are compared by and named with.
_SKETCHED = ("number", "id", "identity", "features", "sketch")

#: By dialect: all databases of a kind use the same text.
_COMPILED: dict[str, Statements] = {}


@dataclass(frozen=True)
class Statements:
    """SQL as text; each statement takes a list in the form of `values_of`.

    Statements on kept documents then take the stamp ``not_before``; ``change_counter`` takes
    ``change`` and ``of``, the name.
    """

    counters: str
    change_counter: str
    by_ids: str
    kept: str
    kept_with_texts: str
    #: One statement for each table of postings.
    postings: tuple[str, ...]
    #: Postings with the arrival of each document.
    dated_postings: tuple[str, ...]
    #: Only for PostgreSQL; SQLite has no list parameters of bytes.
    kept_with: str


def statements(connection: Connection) -> Statements:
    """Return the statements for the database of a connection."""
    found = _COMPILED.get(connection.dialect.name)
    if found is None:
        found = _COMPILED[connection.dialect.name] = _statements(connection.dialect)
    return found


def _statements(dialect: Dialect) -> Statements:
    def text(statement: Any) -> str:
        return str(statement.compile(dialect=dialect))

    number = documents.c.number
    given = values_table(dialect.name)
    arrived = documents.c.at >= bindparam("not_before", type_=BigInteger())
    is_wanted = and_(number == given.c.value, documents.c.state == _KEPT, arrived)
    sketched = [documents.c[name] for name in _SKETCHED]
    kept = joined(dialect.name, given, documents, is_wanted, sketched)
    with_texts = joined(
        dialect.name,
        given,
        documents,
        is_wanted,
        [*sketched, texts.c.text],
        beside=(texts, texts.c.number == number),
    )
    ids = values_table(dialect.name, "text")
    by_ids = joined(dialect.name, ids, documents, documents.c.id == ids.c.value, list(documents.c))
    change: Executable = (
        update(counters)
        .where(counters.c.name == bindparam("of"))
        .values(value=counters.c.value + bindparam("change"))
    )
    kept_with = ""
    if dialect.name != "sqlite":
        identities = values_table(dialect.name, "bytes")
        same = and_(documents.c.identity == identities.c.value, documents.c.state == _KEPT, arrived)
        kept_with = text(joined(dialect.name, identities, documents, same, [number]))
    return Statements(
        counters=text(select(counters)),
        change_counter=text(change),
        by_ids=text(by_ids),
        kept=text(kept),
        kept_with_texts=text(with_texts),
        postings=tuple(map(text, _postings(dialect.name, dated=False))),
        dated_postings=tuple(map(text, _postings(dialect.name, dated=True))),
        kept_with=kept_with,
    )


def _postings(dialect: str, *, dated: bool) -> Iterator[Executable]:
    """Yield the statements that read the postings of keys; `dated` adds the arrival times."""
    for table in [keys, recent_keys] if dialect == "sqlite" else [keys]:
        # Joined with the values as they are parsed: a table of them, to be read for both tables
        # of postings, would take longer to fill than parsing them twice.
        given = values_table(dialect)
        columns: list[Any] = [table.c.key, table.c.number, table.c.share]
        beside = None
        if dated:
            columns.append(documents.c.at)
            beside = (documents, documents.c.number == table.c.number)
        yield joined(dialect, given, table, table.c.key == given.c.value, columns, beside=beside)
