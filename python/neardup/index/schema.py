"""The tables of an index: one schema for SQLite and PostgreSQL."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql

from neardup.base.messages import Message
from neardup.index.values import FREED, KEPT

#: Version of the tables below. Raise it with every change to them.
SCHEMA = 3

METADATA = sa.MetaData()


class _Bytes(sa.LargeBinary):
    """Bytes as the driver returns them, unchecked: a damaged row may hold another type."""

    def result_processor(self, dialect: sa.Dialect, coltype: object) -> None:  # noqa: ARG002
        return None


# SQLite uses only a column declared INTEGER as its row number; it has 64 bits too.
_NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
# Bytewise order as in SQLite, whatever the collation of the database.
_TEXT = sa.Text().with_variant(postgresql.TEXT(collation="C"), "postgresql")

#: Schema version, recipe and settings.
meta = sa.Table(
    "meta",
    METADATA,
    sa.Column("name", _TEXT, primary_key=True),
    sa.Column("value", _TEXT, nullable=False),
)

#: Counts that every addition changes.
counters = sa.Table(
    "counters",
    METADATA,
    sa.Column("name", _TEXT, primary_key=True),
    sa.Column("value", sa.BigInteger, nullable=False),
)

#: Background statistics of the collection, with the time of their computation.
background = sa.Table(
    "background",
    METADATA,
    sa.Column("version", _NUMBER, primary_key=True, autoincrement=False),
    sa.Column("at", sa.BigInteger, nullable=False),
    sa.Column("data", _Bytes, nullable=False),
)

#: One row per document. `at` is in microseconds since 1970, UTC.
documents = sa.Table(
    "documents",
    METADATA,
    sa.Column("number", _NUMBER, primary_key=True, autoincrement=False),
    sa.Column("id", _TEXT, nullable=False),
    sa.Column("state", sa.SmallInteger, nullable=False),
    sa.Column("at", sa.BigInteger, nullable=False),
    sa.Column("source", _TEXT),
    sa.Column("title", _TEXT),
    sa.Column("extra", _TEXT),
    sa.Column("identity", _Bytes, nullable=False),
    sa.Column("features", sa.BigInteger, nullable=False),
    sa.Column("sketch", _Bytes),
    sa.Column("kept_number", sa.BigInteger),
    sa.Column("similarity", sa.Double),
    sa.Column("distance", sa.Integer),
    sa.Column("reason", sa.SmallInteger),
)
_is_kept = documents.c.state == KEPT
_is_freed = documents.c.state == FREED
_is_dropped = documents.c.kept_number.is_not(None)
sa.Index("documents_id", documents.c.id, unique=True)
sa.Index(
    "documents_identity", documents.c.identity, sqlite_where=_is_kept, postgresql_where=_is_kept
)
sa.Index(
    "documents_kept_number",
    documents.c.kept_number,
    sqlite_where=_is_dropped,
    postgresql_where=_is_dropped,
)
sa.Index("documents_at", documents.c.at)
sa.Index("documents_freed", documents.c.number, sqlite_where=_is_freed, postgresql_where=_is_freed)

#: Texts, compressed with zstd; a document without a stored text has no row.
texts = sa.Table(
    "texts",
    METADATA,
    sa.Column("number", _NUMBER, primary_key=True, autoincrement=False),
    sa.Column("text", _Bytes, nullable=False),
)

#: Documents with their texts; null if a text is not stored.
documents_with_texts: sa.Select[Any] = sa.select(documents, texts.c.text).select_from(
    documents.outerjoin(texts, texts.c.number == documents.c.number)
)

#: Keys of kept documents. A key is an unsigned 64-bit number, stored as the signed number
#: with the same bits, because neither database has unsigned integers.
keys = sa.Table(
    "keys",
    METADATA,
    sa.Column("key", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("number", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("share", sa.SmallInteger, nullable=False),
    sqlite_with_rowid=False,
)

#: Keys of the latest documents, in SQLite: see `MOST_RECENT` in `neardup.index.store.session`.
recent_keys = sa.Table(
    "recent_keys",
    METADATA,
    sa.Column("key", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("number", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("share", sa.SmallInteger, nullable=False),
    sqlite_with_rowid=False,
)

#: The rows of both tables.
all_keys = sa.union_all(sa.select(keys), sa.select(recent_keys)).subquery("all_keys")

#: The winnowed shingles by which a paper check finds documents, computed on first use.
#: `made_by` identifies the method, so that shingles of another method are not used.
passages = sa.Table(
    "passages",
    METADATA,
    sa.Column("number", _NUMBER, primary_key=True, autoincrement=False),
    sa.Column("made_by", _TEXT, nullable=False),
    sa.Column("shingles", _Bytes, nullable=False),
)

#: Events of documents after they were added. Rows are never removed.
events = sa.Table(
    "events",
    METADATA,
    sa.Column("event", _NUMBER, sa.Identity(), primary_key=True),
    sa.Column("at", sa.BigInteger, nullable=False),
    sa.Column("action", _TEXT, nullable=False),
    sa.Column("document", sa.BigInteger),
    sa.Column("id", _TEXT),
    sa.Column("details", _TEXT),
)
sa.Index("events_id", events.c.id)


def missing_parts(connection: sa.Connection) -> list[Message]:
    """Return the tables, columns and indexes that are missing."""
    inspector, schema = sa.inspect(connection), None
    if connection.dialect.name != "sqlite":
        schema = connection.exec_driver_sql("SELECT current_schema()").scalar_one()
    names = set(inspector.get_table_names(schema=schema))
    missing = []
    for table in METADATA.sorted_tables:
        if table.name not in names:
            missing.append(Message("table {table}: is missing", table=table.name))
            continue
        columns = {column["name"] for column in inspector.get_columns(table.name, schema=schema)}
        missing += [
            Message("table {table}: has no column '{column}'", table=table.name, column=column.name)
            for column in table.c
            if column.name not in columns
        ]
        indexes = {index["name"] for index in inspector.get_indexes(table.name, schema=schema)}
        missing += [
            Message("index {index}: is missing", index=index.name)
            for index in sorted(table.indexes, key=lambda index: str(index.name))
            if index.name not in indexes
        ]
    return missing
