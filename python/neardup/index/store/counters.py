"""Meta rows, counters and background statistics of an index."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import zstandard
from sqlalchemy import delete, select

from neardup.base.messages import Message
from neardup.exceptions import IndexFormatError, IndexUnavailableError
from neardup.index.backends.acknowledged import COMMITS
from neardup.index.schema import background, counters, meta
from neardup.index.store.bulk import insert_rows
from neardup.index.store.rows import COUNTERS, UNLISTED, counter_fault, damaged, remedy
from neardup.index.store.transaction import Transaction
from neardup.index.values import stamp

__all__ = ["FILED", "IDENTITY", "RECENT", "CounterStatements", "packer"]

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


class CounterStatements(Transaction):
    """Statements on `meta`, `counters` and `background`."""

    #: Rows in the table of recent keys; set when the counters are read.
    _recent = 0

    def meta(self) -> dict[str, str]:
        """Return recipe and other settings, by name."""
        return {row.name: row.value for row in self.connection.execute(select(meta))}

    def set_meta(self, rows: dict[str, str]) -> None:
        """Store recipe and other settings, by name."""
        insert_rows(self.connection, meta, {"name": list(rows), "value": list(rows.values())})

    def counters(self) -> dict[str, int]:
        """Return the counters of `COUNTERS` and, if it is there, `UNLISTED`, by name.

        Raises
        ------
        IndexUnavailableError
            If this is not the index that was opened.
        """
        rows = self.connection.exec_driver_sql(self._compiled.counters)
        found = {row[0]: row[1] for row in rows}
        if self._identity is not None and found.get(IDENTITY) != self._identity:
            raise IndexUnavailableError(Message("index.another_index", location=self.location))
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
        return damaged(self.location, Message("index.row_counter", name=name), "value", must, value)

    def identity(self) -> int:
        """Return the number that tells this index from one created in its place."""
        query = select(counters.c.value).where(counters.c.name == IDENTITY)
        found = self.connection.execute(query).scalar_one_or_none()
        if not isinstance(found, int):
            raise self._damaged_counter(IDENTITY, Message("index.whole"), found)
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
        """Return stored background statistics, decompressed.

        Raises
        ------
        IndexFormatError
            If it is missing or damaged.
        """
        query = select(background.c.data).where(background.c.version == version)
        packed = self.connection.execute(query).scalar_one_or_none()
        try:
            return zstandard.decompress(packed or b"")
        except (zstandard.ZstdError, TypeError, MemoryError) as error:
            raise IndexFormatError(
                Message(
                    "index.background_cannot_be_unpacked",
                    location=self.location,
                    number=version,
                    reason=str(error),
                    remedy=remedy(self.location),
                )
            ) from error

    def set_background(self, version: int, data: bytes, at: datetime) -> None:
        """Store background statistics, replacing all earlier versions."""
        self.connection.execute(delete(background))
        row = {"version": version, "at": stamp(at), "data": packer().compress(data)}
        self.connection.execute(background.insert(), row)
