"""Export of an index: its records for people and other programs, or a full dump as JSON lines.

An index restored from a dump gives the same answers as the original would from then on. A dump
has settings, background statistics, documents with their numbers, texts, sketches and decisions,
stored keys, events and counters. Its bytes depend on the content alone, not on the kind of
database. ``docs/formats.md`` describes the format; `restore` reads it.

These statements read whole tables and are used only here, so they are not in `store`.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import TYPE_CHECKING, Any

import orjson
import pyarrow as pa
from sqlalchemy import LargeBinary, select

from neardup.base.messages import Message
from neardup.index.schema import (
    SCHEMA,
    all_keys,
    background,
    documents,
    documents_with_texts,
    events,
)
from neardup.index.store.counters import IDENTITY
from neardup.index.store.rows import damaged, extra_of, sound_event
from neardup.index.store.session import Session
from neardup.index.values import DROPPED, IDENTICAL, KEPT, moment
from neardup.writers.cells import jsonl_bytes, plain_text
from neardup.writers.rows import REMOVED, write_rows

if TYPE_CHECKING:
    from sqlalchemy import Table

    from neardup.base.progress import Progress
    from neardup.index.engine import Engine
    from neardup.writers.output import Output

__all__ = ["FORMAT", "KEY_COLUMNS", "KIND", "dump", "stored_columns", "write_records"]

#: Rows fetched at once. Few, because texts may be long.
_TOGETHER = 200


def _fetch(session: Session, query: Any, rows: int = _TOGETHER) -> Iterator[Any]:
    """Yield the rows of a query; at most `rows` of them are in memory at once."""
    result = session.connection.execute(query, execution_options={"yield_per": rows})
    with closing(result):
        yield from result.mappings().partitions()


# Records

_TIME = pa.timestamp("us", tz="UTC")

_MORE: list[pa.Field[Any]] = [pa.field("reason", pa.string()), pa.field("at", _TIME)]

#: Columns of the file of decisions.
_DECISIONS = pa.schema([*REMOVED, *_MORE])

#: The first columns of the kept records; further fields follow.
_FIRST: dict[str, pa.DataType] = {
    **dict.fromkeys(("id", "text", "title", "source"), pa.large_string()),
    "at": _TIME,
}
_TAKEN = re.compile(f"(extra_)*({'|'.join(_FIRST)})")

#: Column types by the set of Python types that occur; any other set is written as text.
_TYPES: dict[frozenset[type], pa.DataType] = {
    frozenset({bool}): pa.bool_(),
    frozenset({int}): pa.int64(),
    frozenset({float}): pa.float64(),
    frozenset({int, float}): pa.float64(),
}


def write_records(
    engine: Engine, kept: Output, decisions: Output | None, progress: Progress
) -> int:
    """Write kept documents and decisions from one snapshot; return the number of kept ones."""
    with engine.reading() as session:
        progress.stage("kept documents", None)
        count = _write_kept(session, kept, progress)
        if decisions is not None:
            progress.stage("decisions", None)
            write_rows(decisions, _decisions(session, engine.rule.measure), _DECISIONS)
    return count


def _write_kept(session: Session, output: Output, progress: Progress) -> int:
    if output.format == "jsonl":
        count = 0
        for records in _records(session):
            output.write(jsonl_bytes(records))
            count += len(records)
            progress.advance(len(records))
        return count
    # A table needs its columns before the first row is written.
    more = _more_columns(session)
    schema = pa.schema(_FIRST | more)

    def rows() -> Iterator[dict[str, Any]]:
        for records in _records(session):
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


def _records(session: Session) -> Iterator[list[dict[str, Any]]]:
    query = documents_with_texts.where(documents.c.state == KEPT).order_by(documents.c.number)
    for rows in _fetch(session, query):
        records = []
        for row in session.sound(rows):
            record: dict[str, Any] = {
                "id": row["id"],
                "text": session.text(row),
                "title": row["title"],
                "source": row["source"],
                "at": moment(row["at"]),
            }
            extra = extra_of(row, session.location)
            record.update((_name(name), value) for name, value in extra.items())
            records.append(record)
        yield records


def _name(name: str) -> str:
    """Return the column name of a further field, changed if it equals one of the first columns."""
    return f"extra_{name}" if _TAKEN.fullmatch(name) else name


def _more_columns(session: Session) -> dict[str, pa.DataType]:
    """Return the columns of further fields, in the order in which they first occur."""
    kinds: dict[str, set[type]] = {}
    query = select(documents.c.number, documents.c.extra).where(
        documents.c.state == KEPT, documents.c.extra.is_not(None)
    )
    for rows in _fetch(session, query.order_by(documents.c.number)):
        for row in rows:
            for name, value in extra_of(row, session.location).items():
                found = kinds.setdefault(_name(name), set())
                if value is not None:
                    is_large = type(value) is int and not -(1 << 63) <= value < 1 << 63
                    found.add(str if is_large else type(value))
    return {name: _TYPES.get(frozenset(found), pa.large_string()) for name, found in kinds.items()}


def _decisions(session: Session, measure: str) -> Iterator[dict[str, Any]]:
    kept = documents.alias()
    joined = documents.outerjoin(kept, kept.c.number == documents.c.kept_number)
    query = select(documents, kept.c.id.label("kept_id")).select_from(joined)
    query = query.where(documents.c.state != KEPT).order_by(documents.c.number)
    for rows in _fetch(session, query):
        for row in session.sound(rows):
            # A freed document has no valid decision.
            holds = row["state"] == DROPPED
            if holds and row["kept_id"] is None:
                must = Message("index.number_of_kept")
                raise session.damaged_document(
                    row["number"], "kept_number", must, row["kept_number"]
                )
            reason = "identical" if row["reason"] == IDENTICAL else "similar"
            yield {
                "id": row["id"],
                "kept_id": row["kept_id"] if holds else None,
                "similarity": row["similarity"] if holds else None,
                "measure": measure,
                "distance": row["distance"] if holds else None,
                "reason": reason if holds else "freed",
                "at": moment(row["at"]),
            }


# The whole index

#: Kind and format version, written in the first line of a dump.
KIND, FORMAT = "index", 1

KEY_COLUMNS = ("key", "number", "share")

#: Keys per line, and bytes of background statistics per line.
_KEYS, _PART = 1000, 600_000


def dump(engine: Engine, write: Callable[[bytes], object], progress: Progress) -> None:
    """Write one snapshot of the whole index, in blocks of whole lines."""
    digest = hashlib.sha256()
    counts = {"documents": 0, "keys": 0, "events": 0}
    with engine.reading() as session:
        progress.stage("export", None)
        for part in _parts(session, counts, progress):
            digest.update(part)
            write(part)
    write(_line({"end": {**counts, "sha256": digest.hexdigest()}}))


def _parts(session: Session, counts: dict[str, int], progress: Progress) -> Iterator[bytes]:
    location = session.location
    about = dict(sorted(session.meta().items()))
    # A restored index gets its own schema version and identity.
    for name in ("schema", IDENTITY):
        about.pop(name, None)
    yield _line({"neardup": KIND, "format": FORMAT, "schema": SCHEMA, "meta": about})
    yield _line({"counters": dict(sorted(session.counters().items()))})
    query = select(background).order_by(background.c.version)
    for row in session.connection.execute(query).mappings():
        if not isinstance(row["data"], bytes):
            name = Message("index.row_background", number=row["version"])
            raise damaged(location, name, "data", Message("index.bytes"), row["data"])
        for begin in range(0, max(len(row["data"]), 1), _PART):
            part = {**row, "data": row["data"][begin : begin + _PART]}
            yield _line({"background": _encoded(background, part)})
    for rows in _fetch(session, documents_with_texts.order_by(documents.c.number)):
        lines = [
            _line({"document": {**_encoded(documents, row), "text": session.text(row)}})
            for row in session.sound(rows)
        ]
        counts["documents"] += len(rows)
        progress.advance(len(rows))
        yield b"".join(lines)
    query = select(all_keys).order_by(all_keys.c.key, all_keys.c.number)
    for rows in _fetch(session, query, _KEYS):
        counts["keys"] += len(rows)
        session.check_postings([tuple(row.values()) for row in rows])
        columns = {name: [row[name] for row in rows] for name in KEY_COLUMNS}
        yield _line({"keys": columns})
    for rows in _fetch(session, select(events).order_by(events.c.event)):
        counts["events"] += len(rows)
        checked = [sound_event(row, location)[0] for row in rows]
        yield b"".join(_line({"event": _encoded(events, row)}) for row in checked)


def _line(value: dict[str, Any]) -> bytes:
    return orjson.dumps(value, option=orjson.OPT_APPEND_NEWLINE)


def stored_columns(table: Table) -> dict[str, Any]:
    """Return the columns of a table that a dump has, by name."""
    # The order of the lines identifies events; each database numbers them itself.
    return {str(column.name): column for column in table.c if column is not events.c.event}


def _encoded(table: Table, row: Any) -> dict[str, Any]:
    return {
        name: base64.b64encode(row[name]).decode()
        if isinstance(column.type, LargeBinary) and row[name] is not None
        else row[name]
        for name, column in stored_columns(table).items()
    }
