"""One transaction on an index: its settings, counters, background statistics and log of events."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal

import zstandard
from sqlalchemy import delete, select

from neardup.base.messages import N_, Message
from neardup.exceptions import IndexFormatError, IndexUnavailableError
from neardup.index.backends.acknowledged import COMMITS
from neardup.index.schema import background, counters, events, meta
from neardup.index.store.bulk import insert_rows, values_of, values_table
from neardup.index.store.rows import COUNTERS, UNLISTED, counter_fault, damage, damaged, sound
from neardup.index.store.statements import statements
from neardup.index.values import id_fault, stamp

if TYPE_CHECKING:
    from sqlalchemy import (
        ColumnElement,
        Connection,
        CursorResult,
        Executable,
        RowMapping,
    )

__all__ = ["FILED", "IDENTITY", "RECENT", "TOGETHER", "Transaction", "packer"]

#: Rows read or removed at once where there may be many.
TOGETHER = 1000

#: Not a count: a random number that tells this index from one created in its place.
IDENTITY = "identity"

#: Number of postings in the table of recent keys.
RECENT = "recent"

#: Number of postings in both tables, so that a missing one is noticed. Indexes created before
#: this counter existed do not have it.
FILED = "filed"

_LEVEL = 3


def packer() -> zstandard.ZstdCompressor:
    """Return a compressor for texts and background statistics; not shared between threads."""
    return zstandard.ZstdCompressor(level=_LEVEL)


class Transaction:
    """One transaction on an index; `identity` is that of the index when it was opened."""

    def __init__(self, connection: Connection, location: str, identity: int | None = None) -> None:
        self.connection = connection
        self.dialect = connection.dialect.name
        self.location = location
        self._compiled = statements(connection)
        self._identity = identity
        #: Rows in the table of recent keys; set when the counters are read.
        self._recent = 0

    def is_one_of(self, column: ColumnElement[Any], kind: str = "numbers") -> ColumnElement[bool]:
        """Return the condition that a column has one of the values passed to `run`."""
        return column.in_(select(values_table(self.dialect, kind).c.value))

    def run(self, statement: Executable, values: Sequence[Any]) -> CursorResult[*tuple[Any, ...]]:
        """Run a statement that uses `is_one_of` with these values."""
        return self.connection.execute(statement, values_of(self.dialect, values))

    def stream(self, query: Executable, rows: int) -> Iterator[Sequence[RowMapping]]:
        """Yield the rows of a query; at most `rows` of them are in memory at once."""
        result = self.connection.execute(query, execution_options={"yield_per": rows})
        with closing(result):
            yield from result.mappings().partitions()

    def sound(self, rows: Iterable[RowMapping]) -> list[RowMapping]:
        """Return rows of documents, or raise if one is invalid."""
        return sound(rows, self.location)

    def damaged_document(
        self, number: int, column: str, must: Message, value: Any
    ) -> IndexFormatError:
        """Return the error for a damaged column of a document."""
        document = Message("document {number}", number=number)
        return damaged(self.location, document, column, must, value)

    def meta(self) -> dict[str, str]:
        """Return recipe and other settings, by name."""
        return {row.name: row.value for row in self.connection.execute(select(meta))}

    def set_meta(self, rows: dict[str, str]) -> None:
        """Store recipe and other settings, by name."""
        insert_rows(self.connection, meta, {"name": list(rows), "value": list(rows.values())})

    def counters(self) -> dict[str, int]:
        """Return the counters of `COUNTERS` and, if it is there, `UNLISTED`, by name."""
        rows = self.connection.exec_driver_sql(self._compiled.counters)
        found = {row[0]: row[1] for row in rows}
        if self._identity is not None and found.get(IDENTITY) != self._identity:
            raise IndexUnavailableError(
                Message(
                    "{location}: must be the index that was opened. Got another index in "
                    "its place instead. Nothing of this call was stored. Open it again.",
                    code="index_replaced",
                    location=self.location,
                )
            )
        self._recent = found.get(RECENT, 0)
        own = {RECENT: self._recent, FILED: found.get(FILED, 0)}
        own[UNLISTED] = found.get(UNLISTED, 0)
        known = {name: found.get(name) for name in COUNTERS}
        for name, value in {**known, **own}.items():
            fault = counter_fault(name, value)
            if fault is not None:
                raise self._damaged_counter(name, fault, value)
        return {name: found[name] for name in (*COUNTERS, UNLISTED) if name in found}

    def _damaged_counter(self, name: str, must: Message, value: Any) -> IndexFormatError:
        return damaged(self.location, Message("counter '{name}'", name=name), "value", must, value)

    def identity(self) -> int:
        """Return the number that tells this index from one created in its place."""
        query = select(counters.c.value).where(counters.c.name == IDENTITY)
        found = self.connection.execute(query).scalar_one_or_none()
        if not isinstance(found, int):
            raise self._damaged_counter(IDENTITY, Message("a whole number"), found)
        return found

    def make_counters(self, values: Mapping[str, int]) -> None:
        """Create the counters, and give the index its identity."""
        identity = secrets.randbits(62)
        # Also in `meta`, which later changes leave alone: see `index.backends.acknowledged`.
        self.set_meta({IDENTITY: str(identity)})
        values = {UNLISTED: 0, **values, RECENT: 0, FILED: 0, COMMITS: 0, IDENTITY: identity}
        columns: dict[str, list[Any]] = {"name": [*values], "value": [*values.values()]}
        insert_rows(self.connection, counters, columns)

    def add_to_counters(self, changes: dict[str, int]) -> None:
        """Add the changes to the counters."""
        for name, change in changes.items():
            if change:
                given = {"change": change, "of": name}
                parameters: Any = given
                if self.connection.dialect.positional:
                    parameters = tuple(given.values())
                self.connection.exec_driver_sql(self._compiled.change_counter, parameters)

    def background(self, version: int) -> bytes:
        """Return stored background statistics, decompressed."""
        query = select(background.c.data).where(background.c.version == version)
        packed = self.connection.execute(query).scalar_one_or_none()
        try:
            return zstandard.decompress(packed or b"")
        except (zstandard.ZstdError, TypeError, MemoryError) as error:
            values = {"number": version, "reason": str(error)}
            raise damage(
                N_("{location}: background {number} is damaged: {reason}. {remedy}"),
                self.location,
                **values,
            ) from error

    def set_background(self, version: int, data: bytes, at: datetime) -> None:
        """Store background statistics, replacing all earlier versions."""
        self.connection.execute(delete(background))
        row = {"version": version, "at": stamp(at), "data": packer().compress(data)}
        self.connection.execute(background.insert(), row)

    def log(
        self,
        action: Literal["removed", "expired", "freed", "reconsidered", "kept", "recounted"],
        happened: Sequence[tuple[int | None, str | None, dict[str, Any]]],
    ) -> None:
        """Log events that happen now, each with number and id of a document, and details."""
        count = len(happened)
        columns: dict[str, Sequence[Any]] = {
            "at": [stamp(datetime.now(UTC))] * count,
            "action": [action] * count,
            "document": [number for number, _, _ in happened],
            "id": [id for _, id, _ in happened],
            "details": [json.dumps(details, ensure_ascii=False) for _, _, details in happened],
        }
        insert_rows(self.connection, events, columns)

    def events_of(self, id: str) -> list[RowMapping]:
        """Return the events of documents with this id, oldest first."""
        if id_fault(id) is not None:
            return []
        query = select(events).where(events.c.id == id).order_by(events.c.event)
        return list(self.connection.execute(query).mappings())
