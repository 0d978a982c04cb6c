"""The one interface of a collection of documents: files, a table in memory, an index."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import ClassVar, Self

from neardup.readers.batch import Batch, read_text


class Collection(ABC):
    """Documents in an order, which can be read as often as wanted."""

    #: Whether `with_extra` finds further fields of a document.
    has_fields: ClassVar[bool] = False

    @abstractmethod
    def batches(self, *, titles: bool | None = None) -> Iterator[Batch]:
        """Read the documents from the first one."""

    def with_extra(self, names: Sequence[str]) -> Self:
        """Return the same documents with other extra fields, None where one is missing."""
        del names
        return self

    def rows(self, wanted: Sequence[int]) -> Iterator[tuple[int, Batch, int]]:
        """Yield each wanted number, in ascending order, with its batch and row."""
        done = begin = 0
        if not len(wanted):
            return
        for batch in self.batches(titles=True):
            end = begin + len(batch)
            while done < len(wanted) and wanted[done] < end:
                yield wanted[done], batch, wanted[done] - begin
                done += 1
            if done == len(wanted):
                return
            begin = end

    def titles(self, wanted: Sequence[int]) -> list[str | None]:
        """Return the titles of documents by their numbers, which ascend; None for no title."""
        return [read_text(b.columns[2], row) for _, b, row in self.rows(wanted)]
