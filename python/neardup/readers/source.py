"""The protocol of all sources.

A source is read several times. The first pass calls `chunks`. The pass that writes
the kept records calls `kept_bytes`, for the raw records, if the formats agree, and
else `rows`, for the records as Python dicts.
"""

from collections.abc import Callable, Iterator
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup.base.messages import Message
from neardup.readers.batch import Chunk, Problem
from neardup.readers.fields import Fields
from neardup.readers.streams import ChangedError

__all__ = ["Keep", "Row", "Source", "unreadable_rest", "without_records"]

# A record to convert: its fields, or a Problem with the reason why no other format
# can store it.
Row = dict[str, Any] | Problem


class Keep:
    """The part of a keep mask that belongs to one source, taken in order.

    Raises ChangedError as soon as the number of records differs from that of the first
    pass. `advance` is called with the number of kept records of each part.
    """

    def __init__(
        self, mask: npt.NDArray[np.bool_], source: str, advance: Callable[[int], None]
    ) -> None:
        self._mask = mask
        self._source = source
        self._advance = advance
        self._taken = 0

    def take(self, count: int) -> npt.NDArray[np.bool_]:
        """Return the flags of the next `count` records."""
        begin, self._taken = self._taken, self._taken + count
        if self._taken > len(self._mask):
            raise ChangedError(Message("readers.changed_while_read", file=self._source))
        flags = self._mask[begin : self._taken]
        self._advance(int(np.count_nonzero(flags)))
        return flags

    def close(self) -> None:
        """Check that every flag was taken."""
        if self._taken != len(self._mask):
            raise ChangedError(Message("readers.changed_while_read", file=self._source))


class Source(Protocol):
    """A file, or several text files, that can be read several times."""

    name: str
    format: str

    @property
    def size(self) -> int:
        """Stored bytes, compressed or not."""
        ...

    def chunks(self, fields: Fields, titles: bool, size: int) -> Iterator[Chunk]:
        """Read the texts, in chunks of about `size` bytes."""
        ...

    def rows(self) -> Iterator[list[Row]]:
        """Read whole records, in the order and number of `chunks`."""
        ...

    def done(self, records: int) -> float:
        """Return the share of the source that was read with this many records, from 0 to 1."""
        ...

    def check_unchanged(self) -> None:
        """Raise InputError if the files changed since the first pass."""
        ...


def unreadable_rest(source: str, done: int, reason: str, extra: tuple[str, ...]) -> Chunk:
    """Return a chunk with the problem that nothing can be read after `done` records.

    It has no records, since the number of lost records is unknown.
    """
    found = Message("readers.records_and_damage", count=done)
    return without_records([Problem(source, done + 1, None, reason, found)], extra)


def without_records(problems: list[Problem], extra: tuple[str, ...]) -> Chunk:
    """Return a chunk of problems alone."""
    none = pa.nulls(0, pa.large_string())
    values: dict[str, list[Any]] = {name: [] for name in extra}
    return Chunk(none, none, None, values, [(0, problem) for problem in problems], 0)
