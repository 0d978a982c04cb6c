"""What an index keeps, and why it keeps no more, as files of records."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from sqlalchemy import select

from neardup._engine.messages import Message
from neardup.index.dump import fetched
from neardup.index.rows import damaged, extra_of, moment, sound
from neardup.index.schema import DROPPED, IDENTICAL, KEPT, documents, texts
from neardup.index.store import Session
from neardup.writers.cells import jsonl_bytes, plain_text
from neardup.writers.rows import REMOVED, write_rows

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from neardup._engine.ingest import Progress
    from neardup.index.engine import Engine
    from neardup.writers.output import Output

__all__ = ["DECISIONS", "exported"]

_TIME = pa.timestamp("us", tz="UTC")

_MORE: list[pa.Field[Any]] = [pa.field("reason", pa.string()), pa.field("at", _TIME)]

DECISIONS = pa.schema([*REMOVED, *_MORE])
"""Columns of the file of decisions."""

#: Columns of every kept record; further fields follow.
_FIRST: dict[str, pa.DataType] = {
    **dict.fromkeys(("id", "text", "title", "source"), pa.large_string()),
    "at": _TIME,
}
_TAKEN = re.compile(f"(extra_)*({'|'.join(_FIRST)})")

#: What a column of a table can hold as it is, by the kinds of its values.
_TYPES: dict[frozenset[type], pa.DataType] = {
    frozenset({bool}): pa.bool_(),
    frozenset({int}): pa.int64(),
    frozenset({float}): pa.float64(),
    frozenset({int, float}): pa.float64(),
}


def exported(
    engine: Engine, kept: Output | None, decisions: Output | None, progress: Progress
) -> tuple[int, int]:
    """Write kept documents and decisions as they are at one moment; return their numbers."""
    count = decided = 0
    with engine.database.reading() as connection:
        if kept is not None:
            progress.stage("kept documents", None)
            count = _write_kept(connection, engine, kept, progress)
        if decisions is not None:
            progress.stage("decisions", None)
            rows = _decisions(connection, engine)
            decided = write_rows(decisions, rows, DECISIONS)
    return count, decided


def _write_kept(connection: Connection, engine: Engine, output: Output, progress: Progress) -> int:
    if output.format == "jsonl":
        count = 0
        for records in _records(connection, engine):
            output.write(jsonl_bytes(records))
            count += len(records)
            progress.advance(len(records))
        return count
    # A table has to know its columns before its first row.
    more = _more_columns(connection, engine.location)
    schema = pa.schema(_FIRST | more)

    def rows() -> Iterator[dict[str, Any]]:
        for records in _records(connection, engine):
            progress.advance(len(records))
            for record in records:
                for name, kind in more.items():
                    value = record.get(name)
                    if value is not None and kind == pa.large_string():
                        record[name] = plain_text(value)
                    elif value is not None and kind == pa.float64():
                        record[name] = float(value)
                yield record

    return write_rows(output, rows(), schema)


def _records(connection: Connection, engine: Engine) -> Iterator[list[dict[str, Any]]]:
    session = Session(connection, engine.location)
    source = documents.outerjoin(texts, texts.c.number == documents.c.number)
    query = select(documents, texts.c.text).select_from(source)
    query = query.where(documents.c.state == KEPT).order_by(documents.c.number)
    for rows in fetched(connection, query):
        records = []
        for row in sound(rows, engine.location):
            text = row["text"]
            if text is not None:
                text = session.unpacked(text, row["number"])
            record: dict[str, Any] = {
                "id": row["id"],
                "text": text,
                "title": row["title"],
                "source": row["source"],
                "at": moment(row["at"]),
            }
            extra = extra_of(row, engine.location)
            record.update((_name(name), value) for name, value in extra.items())
            records.append(record)
        yield records


def _name(name: str) -> str:
    """Return the name of a further field, which must not be one of the first columns."""
    return f"extra_{name}" if _TAKEN.fullmatch(name) else name


def _more_columns(connection: Connection, location: str) -> dict[str, pa.DataType]:
    """Return the columns of further fields, in the order in which they first occur."""
    kinds: dict[str, set[type]] = {}
    query = select(documents.c.number, documents.c.extra).where(
        documents.c.state == KEPT, documents.c.extra.is_not(None)
    )
    for rows in fetched(connection, query.order_by(documents.c.number)):
        for row in rows:
            for name, value in extra_of(row, location).items():
                found = kinds.setdefault(_name(name), set())
                if value is not None:
                    is_large = type(value) is int and not -(1 << 63) <= value < 1 << 63
                    found.add(str if is_large else type(value))
    return {name: _TYPES.get(frozenset(found), pa.large_string()) for name, found in kinds.items()}


def _decisions(connection: Connection, engine: Engine) -> Iterator[dict[str, Any]]:
    kept = documents.alias()
    joined = documents.outerjoin(kept, kept.c.number == documents.c.kept_number)
    query = select(documents, kept.c.id.label("kept_id")).select_from(joined)
    query = query.where(documents.c.state != KEPT).order_by(documents.c.number)
    for rows in fetched(connection, query):
        for row in sound(rows, engine.location):
            # Of a freed document no decision holds.
            holds = row["state"] == DROPPED
            if holds and row["kept_id"] is None:
                name = Message("index.row_document", number=row["number"])
                must = Message("index.number_of_kept")
                raise damaged(engine.location, name, "kept_number", must, row["kept_number"])
            reason = "identical" if row["reason"] == IDENTICAL else "similar"
            yield {
                "id": row["id"],
                "kept_id": row["kept_id"] if holds else None,
                "similarity": row["similarity"] if holds else None,
                "measure": engine.rule.measure,
                "distance": row["distance"] if holds else None,
                "reason": reason if holds else "freed",
                "at": moment(row["at"]),
            }
