"""A whole index as JSON lines, and an index made of such lines: completely or not at all.

The bytes depend on the content alone, not on the kind of database, and end with their checksum;
``docs/formats.md`` describes them.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

import orjson
from sqlalchemy import Connection, Table, select
from sqlalchemy.exc import DataError, IntegrityError, InterfaceError, ProgrammingError

from neardup.base.messages import Message
from neardup.base.progress import Progress
from neardup.exceptions import IndexFormatError, IndexUnavailableError, InputError, NeardupError
from neardup.index.backends import Database, open_database
from neardup.index.decide import Decider
from neardup.index.engine import Engine
from neardup.index.schema import (
    SCHEMA,
    all_keys,
    background,
    documents,
    documents_with_texts,
    events,
    keys,
    meta,
    texts,
)
from neardup.index.settings import Settings
from neardup.index.store.bulk import insert_rows
from neardup.index.store.rows import damaged, sound_event
from neardup.index.store.session import FILED, IDENTITY, Session, packer
from neardup.readers.formats import Format, by_content, by_name
from neardup.readers.streams import ReopenableFile, StreamDamaged, line_blocks

#: Kind and format version, written in the first line of a dump.
KIND, FORMAT = "index", 1

KEY_COLUMNS = ("key", "number", "share")

#: Columns that lines hold in base64.
_BINARY = ("identity", "sketch", "data")

#: Documents or events that are read or inserted together, and bytes of texts and sketches that
#: are inserted together: servers limit the size of one statement.
_TOGETHER, _BYTES = 200, 8 << 20

#: Keys per line, and bytes of background statistics per line.
_KEYS, _PART = 1000, 600_000

#: Bytes of a dump that are read together.
_CHUNK = 1 << 20


def dump(engine: Engine, write: Callable[[bytes], object], progress: Progress) -> None:
    """Write one snapshot of the whole index, in blocks of whole lines."""
    digest = hashlib.sha256()
    counts = {"document": 0, "keys": 0, "event": 0}

    def seal(lines: bytes) -> None:
        digest.update(lines)
        write(lines)

    with engine.reading() as session:
        progress.stage("export", None)
        header = {"neardup": KIND, "format": FORMAT, "schema": SCHEMA}
        seal(_line({**header, "meta": settings_rows(session)}))
        for kind, rows in _content(session):
            if kind in counts:
                counts[kind] += len(rows[0]["key"]) if kind == "keys" else len(rows)
            if kind == "document":
                progress.advance(len(rows))
            seal(b"".join(_line({kind: _encoded(row)}) for row in rows))
    totals = dict(zip(("documents", "keys", "events"), counts.values(), strict=True))
    write(_line({"end": {**totals, "sha256": digest.hexdigest()}}))


def settings_rows(session: Session) -> dict[str, str]:
    """Return the settings of an index, without what a restored one gets of its own."""
    excluded = ("schema", IDENTITY)
    return {name: value for name, value in sorted(session.meta().items()) if name not in excluded}


def _content(session: Session) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Yield the rows of an index, each with its kind, in the order of a dump."""
    yield "counters", [dict(sorted(session.counters().items()))]
    query = select(background).order_by(background.c.version)
    for row in session.connection.execute(query).mappings():
        if not isinstance(row["data"], bytes):
            name = Message("background {number}", number=row["version"])
            raise damaged(session.location, name, "data", Message("bytes"), row["data"])
        for begin in range(0, max(len(row["data"]), 1), _PART):
            yield "background", [{**row, "data": row["data"][begin : begin + _PART]}]
    for rows in session.stream(documents_with_texts.order_by(documents.c.number), _TOGETHER):
        yield "document", [{**row, "text": session.text(row)} for row in session.sound(rows)]
    for rows in session.stream(select(all_keys).order_by(all_keys.c.key, all_keys.c.number), _KEYS):
        if (fault := session.posting_fault(tuple(row.values()) for row in rows)) is not None:
            raise fault
        yield "keys", [{name: [row[name] for row in rows] for name in KEY_COLUMNS}]
    for rows in session.stream(select(events).order_by(events.c.event), _TOGETHER):
        checked = [dict(sound_event(row, session.location)[0]) for row in rows]
        for event in checked:
            # The order of the lines identifies events; each database numbers them itself.
            del event["event"]
        yield "event", checked


def _encoded(row: Mapping[str, Any]) -> dict[str, Any]:
    # Names of columns are a subclass of `str`, which is no key of JSON.
    return {
        str(name): base64.b64encode(value).decode() if isinstance(value, bytes) else value
        for name, value in row.items()
    }


def _line(value: dict[str, Any]) -> bytes:
    return orjson.dumps(value, option=orjson.OPT_APPEND_NEWLINE)


def restore(
    location: str | Path,
    about: Mapping[str, str],
    rows: Iterable[tuple[str, Any]],
    progress: Progress,
) -> None:
    """Create an index from its settings and rows, completely or not at all."""
    with open_database(location, must_exist=False) as database:
        if not database.exists():

            def fill(connection: Connection) -> None:
                _fill(connection, database.location, about, rows, progress)

            with _nothing_half_made(database, location):
                if database.create_tables(fill):
                    return
        raise IndexUnavailableError(
            Message(
                "{location}: there is an index already. Name another place.",
                code="index_exists",
                location=database.location,
            )
        )


@contextlib.contextmanager
def _nothing_half_made(database: Database, location: str | Path) -> Iterator[None]:
    """On an error, remove the file that was created for the index."""
    is_new = database.dialect == "sqlite" and not Path(location).exists()
    try:
        yield
    except BaseException:
        # Another process may have created its own index there meanwhile.
        with contextlib.suppress(Exception):
            is_new = is_new and not database.exists()
        database.close()
        if is_new:
            for suffix in ("", "-wal", "-shm", "-journal"):
                with contextlib.suppress(OSError):
                    Path(f"{location}{suffix}").unlink()
        raise


def _fill(
    connection: Connection,
    location: str,
    about: Mapping[str, str],
    rows: Iterable[tuple[str, Any]],
    progress: Progress,
) -> None:
    # Building an index over all rows at once is faster than updating it row by row.
    indexes = sorted(documents.indexes | events.indexes, key=lambda index: str(index.name))
    for index in indexes:
        index.drop(connection)
    insert_rows(connection, meta, {"name": [*about], "value": [*about.values()]})
    session, pack = Session(connection, location), packer().compress
    backgrounds: dict[int, dict[str, Any]] = {}
    waiting: dict[Table, list[dict[str, Any]]] = {texts: [], documents: [], events: []}
    filed = size = 0

    def flush() -> None:
        for table, waiting_rows in waiting.items():
            if waiting_rows:
                names = list(waiting_rows[0])
                columns = {name: [row[name] for row in waiting_rows] for name in names}
                insert_rows(connection, table, columns)
                waiting_rows.clear()

    for kind, row in rows:
        if kind == "document":
            text = row.pop("text")
            if text is not None:
                packed = pack(text.encode())
                waiting[texts].append({"number": row["number"], "text": packed})
                size += len(packed)
            waiting[documents].append(row)
            size += len(row["sketch"] or b"")
            progress.advance(1)
        elif kind == "keys":
            insert_rows(connection, keys, {name: row[name] for name in KEY_COLUMNS})
            filed += len(row["key"])
        elif kind == "event":
            waiting[events].append(row)
        elif kind == "counters":
            session.make_counters(row)
        else:
            backgrounds.setdefault(row["version"], {**row, "data": b""})["data"] += row["data"]
        if size >= _BYTES or max(map(len, waiting.values())) >= _TOGETHER:
            flush()
            size = 0
    flush()
    session.add_to_counters({FILED: filed})
    for row in backgrounds.values():
        connection.execute(background.insert(), row)
    for index in indexes:
        index.create(connection)


def load(location: str | Path, source: str | Path, progress: Progress) -> None:
    """Create an index from a dump, completely or not at all; see `Index.load` for errors."""
    lines = _Lines(str(source))
    try:
        about = lines.header()
        # Raises, before anything is created, if the index could not be used here.
        Decider(Settings.from_rows(about, lines.name))
        progress.stage("load", None)
        restore(location, about, lines.rows(), progress)
    except NeardupError:
        raise
    except _MISTAKES as error:
        raise lines.changed() from error


#: What rows raise that no dump has: the checksum at the end would refuse them too.
_MISTAKES = (
    *(ValueError, TypeError, LookupError, AttributeError, ArithmeticError),
    *(IntegrityError, DataError, ProgrammingError, InterfaceError),
)


class _Lines:
    """The lines of a dump, whose checksum is compared at the end."""

    def __init__(self, source: str) -> None:
        self.name = Message("standard input") if source == "-" else source
        self._lines = (line for block in _blocks(source) for line in block)
        self._digest = hashlib.sha256()
        self._number = 0

    def changed(self) -> InputError:
        """Return the error that the dump is not as it was written."""
        return InputError(
            Message(
                "{file}: line {line}: must be as `neardup index export --whole` wrote it. Got "
                "lines that were changed: another digest instead. No index was made; export again.",
                file=self.name,
                line=self._number,
            )
        )

    def _next(self) -> bytes | None:
        self._number += 1
        return next(self._lines, None)

    def header(self) -> dict[str, str]:
        """Read the first line, and return the settings that it holds."""
        line = self._next() or b""
        header = None
        with contextlib.suppress(orjson.JSONDecodeError):
            header = orjson.loads(line)
        if not isinstance(header, dict) or header.get("neardup") != KIND:
            raise InputError(
                Message(
                    "{file}: must begin with the first line of a whole index. Got something else "
                    "instead. Write one with: neardup index export LOCATION --whole",
                    file=self.name,
                )
            )
        for name, known in (("format", FORMAT), ("schema", SCHEMA)):
            if header.get(name) != known:
                shown = repr(header.get(name))
                values = {"file": self.name, "field": name, "expected": known, "value": shown}
                raise IndexFormatError(
                    Message(
                        "{file}: must be an export with {field} {expected}. Got {value} "
                        "instead. Use the version of neardup that wrote it, or a newer one.",
                        code="other_version",
                        **values,
                    )
                )
        self._digest.update(line + b"\n")
        about: dict[str, str] = header["meta"]
        return about

    def rows(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield kind and content of each further line; the last line is verified."""
        while (line := self._next()) is not None:
            ((kind, row),) = orjson.loads(line).items()
            if kind == "end":
                if row["sha256"] != self._digest.hexdigest() or self._next() is not None:
                    raise self.changed()
                return
            self._digest.update(line + b"\n")
            for name in _BINARY:
                if row.get(name) is not None:
                    row[name] = base64.b64decode(row[name], validate=True)
            yield kind, row
        raise InputError(
            Message(
                "{file}: is cut off after line {line}: the last line of an export is "
                "missing. No index was made; export again.",
                file=self.name,
                line=self._number - 1,
            )
        )


def _blocks(name: str) -> Iterator[list[bytes]]:
    """Yield the lines of a file, or of standard input as they arrive."""
    if name == "-":
        first = sys.stdin.buffer.read(_CHUNK)
        if by_content(first[:4], Format("jsonl", None)) != Format("jsonl", None):
            raise InputError(
                Message(
                    "standard input: must not be compressed. Unpack it first, with zstd "
                    "-dc or gzip -dc, or name the file instead of -."
                )
            )
        rest = iter(lambda: sys.stdin.buffer.read(_CHUNK), b"")
        yield from line_blocks(chain([first], rest))
        return
    blob = ReopenableFile(name)
    chunks: Iterable[bytes] = blob.chunks(blob.format(by_name(name)).compression, _CHUNK)
    try:
        yield from line_blocks(chunks)
    except StreamDamaged as error:
        raise InputError(
            Message(
                "{file}: {reason}. No index was made; export again.",
                file=blob.name,
                reason=error.args[0],
            )
        ) from error
