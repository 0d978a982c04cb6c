"""What every kind of source offers to the run: one page, one protocol.

A source is read several times. The first pass asks for `chunks`. The pass
that writes the kept records asks for `kept_bytes`, the records as they stand
in the file, where the formats agree, and else for `rows`, the records as
Python dicts.
"""

from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup._engine.messages import Message
from neardup.exceptions import InputError
from neardup.readers.batch import Chunk, Problem
from neardup.readers.fields import Fields

__all__ = ["Keep", "Row", "Source", "texts_array", "unreadable_rest"]

# A record for conversion: its fields, or a Problem whose reason says why no
# other format can hold it.
Row = dict[str, Any] | Problem


class Keep:
    """The part of a keep mask that belongs to one source, taken in order.

    Raises InputError as soon as the source turns out to hold another number
    of records than in the first pass.
    """

    def __init__(self, mask: npt.NDArray[np.bool_], source: str) -> None:
        self._mask = mask
        self._source = source
        self._taken = 0

    def take(self, count: int) -> npt.NDArray[np.bool_]:
        """Return the flags of the next `count` records."""
        begin, self._taken = self._taken, self._taken + count
        if self._taken > len(self._mask):
            self._complain(Message("readers.more"))
        return self._mask[begin : self._taken]

    def close(self) -> None:
        """Check that every flag was taken."""
        if self._taken != len(self._mask):
            self._complain(Message("readers.number", number=self._taken))

    def _complain(self, found: Message) -> None:
        raise InputError(
            Message(
                "readers.records_changed", file=self._source, count=len(self._mask), found=found
            )
        )


class Source(Protocol):
    """A file, or several files of text, that can be read several times."""

    name: str
    format: str

    def chunks(self, fields: Fields, titles: bool, size: int) -> Iterator[Chunk]:
        """Read the texts, in chunks of about `size` bytes."""
        ...

    def rows(self) -> Iterator[list[Row]]:
        """Read whole records, in the order and number of `chunks`."""
        ...

    def check_unchanged(self) -> None:
        """Raise InputError if the files are not those of the first pass."""
        ...


def texts_array(values: list[Any]) -> pa.LargeStringArray:
    """Build an Arrow array of texts; Arrow raises where a value is no text."""
    return pa.array(values, pa.large_string())


def unreadable_rest(source: str, done: int, reason: str, extra: tuple[str, ...]) -> Chunk:
    """Report that nothing can be read after `done` records.

    A problem without a record: nobody knows how many records are lost.
    """
    found = Message("readers.records_and_damage", count=done)
    problem = Problem(source, done + 1, None, reason, found)
    return Chunk(texts_array([]), [], None, {name: [] for name in extra}, [(0, problem)], 0)
