"""A whole index as lines of JSON; `restoring` makes one of them again.

What is written is enough to make an index that answers as the first one did from
then on: settings, what is common, documents with their numbers, texts, sketches and
decisions, keys as they are, events and counters. The bytes depend on the content
alone, not on the database that it came from. ``docs/formats.md`` has the format.

Tables are copied whole here, so the statements do not stand in `store`.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Generator, Iterator
from contextlib import closing
from typing import TYPE_CHECKING, Any

import orjson
from sqlalchemy import LargeBinary, select

from neardup._engine.messages import Message
from neardup.index.rows import damaged, sound, sound_event
from neardup.index.schema import SCHEMA, all_keys, background, documents, events, texts
from neardup.index.store import IDENTITY, Session

if TYPE_CHECKING:
    from sqlalchemy import Connection, Table

    from neardup._engine.ingest import Progress
    from neardup.index.backends.database import Database

__all__ = ["FORMAT", "KEY_COLUMNS", "KIND", "dumped", "fetched", "stored_columns"]

#: The first line names them.
KIND, FORMAT = "index", 1

#: Rows fetched at once: few, since a text may be long.
_TOGETHER = 200

KEY_COLUMNS = ("key", "number", "share")

#: Keys in one line, and bytes of a background in one.
_KEYS, _PART = 1000, 600_000


def dumped(database: Database, progress: Progress) -> Generator[bytes]:
    """Give the whole index as it is at one moment, in pieces of whole lines."""
    digest = hashlib.sha256()
    counts = {"documents": 0, "keys": 0, "events": 0}
    with database.reading() as connection:
        progress.stage("export", None)
        for part in _parts(connection, database.location, counts, progress):
            digest.update(part)
            yield part
    yield _line({"end": {**counts, "sha256": digest.hexdigest()}})


def _parts(
    connection: Connection, location: str, counts: dict[str, int], progress: Progress
) -> Iterator[bytes]:
    session = Session(connection, location)
    about = dict(sorted(session.meta().items()))
    # An index that is made of it has an identity of its own.
    for name in ("schema", IDENTITY):
        about.pop(name, None)
    yield _line({"neardup": KIND, "format": FORMAT, "schema": SCHEMA, "meta": about})
    yield _line({"counters": dict(sorted(session.counters().items()))})
    for row in connection.execute(select(background).order_by(background.c.version)).mappings():
        if not isinstance(row["data"], bytes):
            name = Message("index.row_background", number=row["version"])
            raise damaged(location, name, "data", Message("index.bytes"), row["data"])
        for begin in range(0, max(len(row["data"]), 1), _PART):
            part = {**row, "data": row["data"][begin : begin + _PART]}
            yield _line({"background": _encoded(background, part)})
    source = documents.outerjoin(texts, texts.c.number == documents.c.number)
    query = select(documents, texts.c.text).select_from(source).order_by(documents.c.number)
    for rows in fetched(connection, query):
        lines = []
        for row in sound(rows, location):
            text = None if row["text"] is None else session.unpacked(row["text"], row["number"])
            lines.append(_line({"document": {**_encoded(documents, row), "text": text}}))
        counts["documents"] += len(rows)
        progress.advance(len(rows))
        yield b"".join(lines)
    query = select(all_keys).order_by(all_keys.c.key, all_keys.c.number)
    for rows in fetched(connection, query, _KEYS):
        counts["keys"] += len(rows)
        session.check_entries([tuple(row.values()) for row in rows])
        columns = {name: [row[name] for row in rows] for name in KEY_COLUMNS}
        yield _line({"keys": columns})
    for rows in fetched(connection, select(events).order_by(events.c.event)):
        counts["events"] += len(rows)
        checked = [sound_event(row, location)[0] for row in rows]
        yield b"".join(_line({"event": _encoded(events, row)}) for row in checked)


def fetched(connection: Connection, query: Any, rows: int = _TOGETHER) -> Iterator[Any]:
    """Give the rows of a query, some at a time, without holding more of them."""
    result = connection.execute(query, execution_options={"yield_per": rows})
    with closing(result):
        yield from result.mappings().partitions()


def _line(value: dict[str, Any]) -> bytes:
    return orjson.dumps(value, option=orjson.OPT_APPEND_NEWLINE)


def stored_columns(table: Table) -> dict[str, Any]:
    """Return the columns of a table that are written, by name."""
    # Events are told apart by their order; each database counts them for itself.
    return {str(column.name): column for column in table.c if column is not events.c.event}


def _encoded(table: Table, row: Any) -> dict[str, Any]:
    return {
        name: base64.b64encode(row[name]).decode()
        if isinstance(column.type, LargeBinary) and row[name] is not None
        else row[name]
        for name, column in stored_columns(table).items()
    }
