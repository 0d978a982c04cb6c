"""The tables of an index: one schema for SQLite and PostgreSQL."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql

from neardup.index.values import KEPT

#: Version of the tables below. Raise it with every change to them.
SCHEMA = 4

METADATA = sa.MetaData()


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
    sa.Column("data", sa.LargeBinary, nullable=False),
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
    sa.Column("identity", sa.LargeBinary, nullable=False),
    sa.Column("features", sa.BigInteger, nullable=False),
    sa.Column("sketch", sa.LargeBinary),
    sa.Column("kept_number", sa.BigInteger),
    sa.Column("similarity", sa.Double),
    sa.Column("distance", sa.Integer),
    sa.Column("reason", sa.SmallInteger),
)
_is_kept = documents.c.state == KEPT
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

#: Texts, compressed with zstd.
texts = sa.Table(
    "texts",
    METADATA,
    sa.Column("number", _NUMBER, primary_key=True, autoincrement=False),
    sa.Column("text", sa.LargeBinary, nullable=False),
)

#: Documents with their texts; null if a text is lost.
documents_with_texts: sa.Select[Any] = sa.select(documents, texts.c.text).select_from(
    documents.outerjoin(texts, texts.c.number == documents.c.number)
)


def _make_key_table(name: str) -> sa.Table:
    return sa.Table(
        name,
        METADATA,
        sa.Column("key", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("number", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("share", sa.SmallInteger, nullable=False),
        sqlite_with_rowid=False,
    )


#: Keys of kept documents. A key is an unsigned 64-bit number, stored as the signed number
#: with the same bits, because neither database has unsigned integers.
keys = _make_key_table("keys")

#: Keys of the latest documents, in SQLite: see `MOST_RECENT` in `neardup.index.store.postings`.
recent_keys = _make_key_table("recent_keys")

#: The winnowed shingles by which a paper check finds documents, computed on first use.
#: `made_by` identifies the method, so that shingles of another method are not used.
passages = sa.Table(
    "passages",
    METADATA,
    sa.Column("number", _NUMBER, primary_key=True, autoincrement=False),
    sa.Column("made_by", _TEXT, nullable=False),
    sa.Column("shingles", sa.LargeBinary, nullable=False),
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
