"""Restore of a dump written by :mod:`neardup.index.export`: completely or not at all."""

from __future__ import annotations

import base64
import binascii
import contextlib
import hashlib
import sys
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
from sqlalchemy import BigInteger, Double, Integer, LargeBinary, SmallInteger, Text
from sqlalchemy.exc import DataError, IntegrityError

from neardup.base.messages import Message
from neardup.exceptions import (
    IndexFormatError,
    IndexUnavailableError,
    InputError,
    NeardupError,
)
from neardup.index.backends.database import Database
from neardup.index.decide import Decider
from neardup.index.export import FORMAT, KEY_COLUMNS, KIND, stored_columns
from neardup.index.schema import (
    SCHEMA,
    UPGRADED,
    background,
    counters,
    documents,
    events,
    keys,
    meta,
    texts,
)
from neardup.index.settings import Settings
from neardup.index.store.bulk import insert_rows
from neardup.index.store.counters import FILED, packer
from neardup.index.store.rows import COUNTERS, UNLISTED
from neardup.index.store.session import Session
from neardup.readers.formats import Format, by_content, by_name
from neardup.readers.streams import ReopenableFile, StreamDamaged, line_blocks

if TYPE_CHECKING:
    from sqlalchemy import Connection, Table

    from neardup.base.progress import Progress

__all__ = ["load"]

#: Rows per insert, and bytes of texts and sketches per insert: servers limit the size of one.
_TOGETHER, _BYTES = 200, 8 << 20

_CHUNK = 1 << 20


def load(location: str | Path, source: str | Path, progress: Progress) -> None:
    """Create an index from a dump, completely or not at all.

    Raises
    ------
    InputError
        If the file cannot be read, is not a dump, is truncated or was modified.
    IndexFormatError
        If the dump has another format version.
    IndexMismatchError
        If its recipe would make different sketches here.
    IndexUnavailableError
        If an index already exists at the location, or cannot be written.
    """
    name = str(source)
    with Database.open(location, must_exist=False) as database:
        if database.exists():
            raise _is_there(database)
        reading = _Reading(_blocks(name), Message("index.standard_input") if name == "-" else name)
        about = reading.header()
        _check_settings(about, reading)

        def fill(connection: Connection) -> None:
            _fill(connection, about, reading, progress)

        progress.stage("load", None)
        with _nothing_half_made(database, location):
            if not database.create_tables(fill):
                raise _is_there(database)


def _is_there(database: Database) -> IndexUnavailableError:
    return IndexUnavailableError(Message("index.is_there_already", location=database.location))


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


def _check_settings(about: dict[str, str], reading: _Reading) -> None:
    """Raise, before anything is created, if the index could not be used here."""
    try:
        settings = Settings.from_rows(about, reading.name)
    except NeardupError:
        raise
    except (ValueError, TypeError, KeyError) as error:
        raise reading.wrong(Message("index.got_unreadable_settings")) from error
    Decider(settings)


def _fill(
    connection: Connection, about: dict[str, str], reading: _Reading, progress: Progress
) -> None:
    # Building an index over all rows at once is faster than updating it row by row.
    indexes = sorted(documents.indexes | events.indexes, key=lambda index: str(index.name))
    for index in indexes:
        index.drop(connection)
    try:
        insert_rows(connection, meta, {"name": list(about), "value": list(about.values())})
        _fill_tables(connection, reading, progress)
        for index in indexes:
            index.create(connection)
    except (IntegrityError, DataError) as error:
        words = str(error.orig).partition("\n")[0]
        raise reading.wrong(Message("index.got_contradicting_rows", reason=words)) from error


def _fill_tables(connection: Connection, reading: _Reading, progress: Progress) -> None:
    pack = packer().compress
    known: dict[int, dict[str, Any]] = {}
    session = Session(connection, reading.name)
    counters_seen = False
    waiting = _Waiting(connection)
    for kind, value in reading.rows():
        if kind == "document":
            row = reading.decoded(documents, value)
            text = value.get("text")
            if text is not None:
                if not isinstance(text, str):
                    raise reading.wrong(Message("index.got_text_that_is_none"))
                waiting.add(texts, {"number": row["number"], "text": pack(text.encode())})
            waiting.add(documents, row)
            progress.advance(1)
        elif kind == "keys":
            insert_rows(connection, keys, reading.keys(value))
        elif kind == "event":
            waiting.add(events, reading.decoded(events, value))
        elif kind == "counters":
            session.make_counters(reading.counters(value))
            counters_seen = True
        else:
            row = reading.decoded(background, value)
            there = known.setdefault(row["version"], {**row, "data": b""})
            there["data"] += row["data"]
    waiting.flush()
    if not counters_seen:
        raise reading.wrong(Message("index.got_no_counters"))
    session.add_to_counters({FILED: reading.counted["keys"]})
    for row in known.values():
        connection.execute(background.insert(), row)


class _Waiting:
    """A buffer of rows to be inserted together."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._rows: dict[str, tuple[Table, list[dict[str, Any]]]] = {}
        self._bytes = 0

    def add(self, table: Table, row: dict[str, Any]) -> None:
        _, rows = self._rows.setdefault(table.name, (table, []))
        rows.append(row)
        self._bytes += sum(len(value) for value in row.values() if isinstance(value, bytes))
        if len(rows) >= _TOGETHER or self._bytes >= _BYTES:
            self.flush()

    def flush(self) -> None:
        for table, rows in self._rows.values():
            columns = {name: [row[name] for row in rows] for name in rows[0]}
            insert_rows(self._connection, table, columns)
        self._rows.clear()
        self._bytes = 0


#: Bound of each integer type of the schema. Subclasses come before their base class.
_BOUNDS = {SmallInteger: 1 << 15, BigInteger: 1 << 63, Integer: 1 << 31}

#: Settings that every index has.
_ABOUT = {"recipe", "settings", "created"}

_NAMES = ("counters", "background", "document", "keys", "event")


class _Reading:
    """The lines of a dump: each is checked, and at the end all of them together."""

    def __init__(self, blocks: Iterator[list[bytes]], name: str) -> None:
        self.name = name
        self._lines = (line for block in blocks for line in block)
        self._digest = hashlib.sha256()
        self._number = 0
        self.counted = {"documents": 0, "keys": 0, "events": 0}

    def wrong(self, found: Message) -> InputError:
        """Return the error that the dump is not as it was written."""
        return InputError(
            Message("index.not_as_exported", file=self.name, line=self._number, found=found)
        )

    def _next(self) -> tuple[bytes, dict[str, Any]]:
        line = next(self._lines, None)
        if line is None:
            raise InputError(Message("index.export_is_cut_off", file=self.name, line=self._number))
        self._number += 1
        value = _object(line)
        if value is None:
            raise self.wrong(Message("index.got_no_json_object"))
        return line, value

    def header(self) -> dict[str, str]:
        """Read the first line, and return the settings that it holds."""
        line = next(self._lines, b"")
        self._number += 1
        header = _object(line)
        if header is None or header.get("neardup") != KIND:
            raise InputError(Message("index.no_export", file=self.name))
        for name, known in (("format", (FORMAT,)), ("schema", (SCHEMA, *UPGRADED))):
            if header.get(name) not in known:
                raise IndexFormatError(
                    Message(
                        "index.export_of_other_version",
                        file=self.name,
                        field=name,
                        expected=known[0],
                        value=repr(header.get(name)),
                    )
                )
        about = header.get("meta")
        if not isinstance(about, dict) or _ABOUT - about.keys():
            raise self.wrong(Message("index.got_no_settings"))
        if not all(isinstance(value, str) for value in about.values()):
            raise self.wrong(Message("index.got_settings_no_text"))
        self._digest.update(line + b"\n")
        return dict(about)

    def rows(self) -> Iterator[tuple[str, Any]]:
        """Yield kind and content of each further line; the last line is verified."""
        while True:
            line, value = self._next()
            kind, content = next(iter(value.items()), ("nothing", None))
            if not isinstance(content, dict) or len(value) != 1:
                raise self.wrong(Message("index.got_no_named_object"))
            if kind == "end":
                self._finish(content)
                return
            if kind not in _NAMES:
                raise self.wrong(Message("index.got_name", name=kind))
            if kind in ("document", "event"):
                self.counted[f"{kind}s"] += 1
            self._digest.update(line + b"\n")
            yield kind, content

    def _finish(self, end: dict[str, Any]) -> None:
        for name, count in self.counted.items():
            if end.get(name) != count:
                told = repr(end.get(name))
                raise self.wrong(
                    Message("index.got_other_number", name=name, found=count, expected=told)
                )
        if end.get("sha256") != self._digest.hexdigest():
            raise self.wrong(Message("index.got_other_digest"))
        if next(self._lines, None) is not None:
            self._number += 1
            raise self.wrong(Message("index.got_more_lines"))

    def decoded(self, table: Table, row: dict[str, Any]) -> dict[str, Any]:
        """Return the values of a row, converted to the types of their columns."""
        return {
            name: self._value(name, column, row.get(name))
            for name, column in stored_columns(table).items()
        }

    def _value(self, name: str, column: Any, value: Any) -> Any:
        if value is None and column.nullable:
            return None
        kind = column.type
        if isinstance(kind, LargeBinary):
            if isinstance(value, str):
                with contextlib.suppress(ValueError, binascii.Error):
                    return base64.b64decode(value, validate=True)
        elif isinstance(kind, Double):
            if type(value) in (int, float):
                return float(value)
        elif isinstance(kind, Text):
            if isinstance(value, str):
                return value
        elif self._fits(column, value):
            return value
        raise self.wrong(Message("index.got_wrong_field", field=name))

    @staticmethod
    def _fits(column: Any, value: Any) -> bool:
        bound = next(most for kind, most in _BOUNDS.items() if isinstance(column.type, kind))
        return type(value) is int and -bound <= value < bound

    def keys(self, columns: dict[str, Any]) -> dict[str, list[int]]:
        """Return the columns of a block of keys."""
        found = {name: columns.get(name) for name in KEY_COLUMNS}
        lists = [values for values in found.values() if isinstance(values, list)]
        if len(lists) < len(found) or len({len(values) for values in lists}) != 1:
            raise self.wrong(Message("index.got_keys_of_lengths"))
        for name, values in zip(found, lists, strict=True):
            if not all(self._fits(keys.c[name], value) for value in values):
                raise self.wrong(Message("index.got_wrong_field_of_key", field=name))
        self.counted["keys"] += len(lists[0])
        return dict(zip(found, lists, strict=True))

    def counters(self, rows: dict[str, Any]) -> dict[str, int]:
        """Return all counters."""
        if set(rows) - {UNLISTED} != set(COUNTERS):
            raise self.wrong(Message("index.got_other_counters"))
        if not all(self._fits(counters.c.value, value) for value in rows.values()):
            raise self.wrong(Message("index.got_wrong_counter"))
        return rows


def _object(line: bytes) -> dict[str, Any] | None:
    try:
        value = orjson.loads(line)
    except orjson.JSONDecodeError:
        return None
    return value if isinstance(value, dict) else None


def _blocks(name: str) -> Iterator[list[bytes]]:
    """Yield the lines of a file, or of standard input as they arrive."""
    if name == "-":
        first = sys.stdin.buffer.read(_CHUNK)
        if by_content(first[:4], Format("jsonl", None)) != Format("jsonl", None):
            raise InputError(Message("index.input_is_compressed"))
        rest = iter(lambda: sys.stdin.buffer.read(_CHUNK), b"")
        yield from line_blocks(chain([first], rest))
        return
    blob = ReopenableFile(name)
    chunks: Iterable[bytes] = blob.chunks(blob.format(by_name(name)).compression, _CHUNK)
    try:
        yield from line_blocks(chunks)
    except StreamDamaged as error:
        raise InputError(
            Message("index.export_cannot_be_read", file=blob.name, reason=error.args[0])
        ) from error
