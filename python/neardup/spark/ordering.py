"""Numbers for documents that state their priority order, though no process sees them all.

Numbers compare as the documents' places in the input do; they have gaps. A number consists of
the number of the *batch* and the place in the batch. A batch has at most `MAX_BATCH` consecutive
documents of one part of the input.

Spark splits files into parts. Three things add up to the number of a batch: the total size of all
earlier files; the offset of its part in the file; the number of earlier batches of the part.
Batches of a table are numbered by Spark's partition and a count within it.

If the input is compared with another collection, the numbers of its batches begin at
`INPUT_BEGIN`. So all documents of the other collection come first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from neardup.base.lazy import NDArray
from neardup.base.messages import Message
from neardup.exceptions import InputError

#: Bits of a number for the place in a batch.
PLACE_BITS = 16

#: The most documents in a batch.
MAX_BATCH = 1 << PLACE_BITS

#: Bits of a number for the batch.
BATCH_BITS = 63 - PLACE_BITS

#: The number of the first batch of an input that is compared with another collection.
INPUT_BEGIN = 1 << (BATCH_BITS - 1)

#: Columns that identify the part of the input a row is from: the hash of the file's path, and
#: the offset at which the part begins.
PATH, BEGIN = "neardup_path", "neardup_begin"

#: Bits for the count of batches in one partition of a table.
_COUNT_BITS = 26


@dataclass(frozen=True)
class File:
    """A file of the input; it begins after the total bytes of all earlier files."""

    name: str
    begin: int
    size: int


class Layout:
    """Where documents are: the batches with their groups, and the documents before each."""

    def __init__(self, batches: Iterable[tuple[int, int, int]]) -> None:
        """Take the number, the group and the number of documents of each batch."""
        ordered = np.array(sorted(batches), np.int64).reshape(-1, 3)
        columns: tuple[NDArray[np.int64], ...] = tuple(ordered.T.copy())
        self._batches, self._groups, sizes = columns
        self._before: NDArray[np.int64] = np.cumsum(sizes) - sizes
        #: The number of all documents.
        self.documents = int(sizes.sum())
        #: The number of groups.
        self.groups = len(np.unique(self._groups))

    def find_groups(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the groups of documents."""
        return self._groups[np.searchsorted(self._batches, numbers >> PLACE_BITS)]

    def find_places(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the places of documents among all, without gaps."""
        place = self._before[np.searchsorted(self._batches, numbers >> PLACE_BITS)]
        return place + (numbers & (MAX_BATCH - 1))


class BatchNumberer:
    """Numbers the batches of one task, of files or of a partition of a table."""

    def __init__(self, files: Mapping[int, File], partition: int, first: int = 0) -> None:
        self._files = files
        self._begin = first + (partition << _COUNT_BITS)
        self._counts: dict[tuple[int, int], int] = {}

    def next(self, path: int, begin: int) -> int:
        """Return the number of the next batch of a part."""
        count = self._counts.get((path, begin), 0)
        self._counts[path, begin] = count + 1
        if not self._files:
            if count >> _COUNT_BITS:
                raise InputError(
                    Message(
                        "input: a partition must have at most {most} batches. Repartition the "
                        "table.",
                        most=1 << _COUNT_BITS,
                    )
                )
            return self._begin + count
        file = self._files[path]
        if begin + count >= max(file.size, 1):
            raise InputError(
                Message(
                    "{file}: must not have more batches of documents than compressed bytes "
                    "({found}). Compress it with gzip, or not at all.",
                    file=file.name,
                    found=count + 1,
                )
            )
        return file.begin + begin + count


def split_by_part(rows: pa.RecordBatch, limit: int) -> Iterator[tuple[int, int, pa.RecordBatch]]:
    """Split rows where the part of the input changes, and into at most `limit` rows."""
    if PATH not in rows.schema.names:
        for row in range(0, rows.num_rows, limit):
            yield 0, 0, rows.slice(row, limit)
        return
    path = rows.column(PATH).to_numpy(zero_copy_only=False)
    begin = rows.column(BEGIN).to_numpy(zero_copy_only=False)
    rows = rows.drop_columns([PATH, BEGIN])
    changes = np.flatnonzero((path[1:] != path[:-1]) | (begin[1:] != begin[:-1])) + 1
    for first, last in pairwise([0, *changes.tolist(), rows.num_rows]):
        for row in range(first, last, limit):
            yield int(path[row]), int(begin[row]), rows.slice(row, min(limit, last - row))


def order_files(sizes: list[tuple[Any, str, int]], first: int = 0) -> dict[Any, File]:
    """Return files by key, from keys, names and sizes in input order; they begin at `first`."""
    files = {}
    begin = first
    for key, name, size in sizes:
        files[key] = File(name, begin, size)
        begin += max(size, 1)
    begin -= first
    if begin >= INPUT_BEGIN:
        raise InputError(
            Message(
                "input: files must be at most {most} bytes together, not {found}. De-duplicate "
                "them in several runs.",
                most=INPUT_BEGIN,
                found=begin,
            )
        )
    return files
