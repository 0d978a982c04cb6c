"""Numbering: the priority order of documents that nobody has seen in one place.

A document's number says where it stands in the input: numbers of two documents compare as
their places do, and are not dense. It is the number of its *batch*, at most `MOST`
consecutive documents of one part of the input, and its place in it.

Files are cut into parts by Spark. The number of a batch is the size of all files before
its own, the place where its part begins, and how many batches of the part came before. A
table has no places; there it is the number of Spark's partition, and the same count.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from neardup._engine.messages import Message
from neardup.exceptions import InputError

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

#: Bits of a number that say the place in a batch.
PLACE_BITS = 16

#: Documents of a batch, at most.
MOST = 1 << PLACE_BITS

#: Bits of the number of a batch.
BATCH_BITS = 63 - PLACE_BITS

#: Columns that tell the part of the input that a row stands in: the hash of the path of
#: the file, and where the part begins.
PATH, BEGIN = "neardup_path", "neardup_begin"

#: Bits that count the batches of one partition of a table.
_COUNT_BITS = 26


def numbers(batch: int, documents: int) -> NDArray[np.int64]:
    """Return the numbers of the documents of a batch.

    Examples
    --------
    >>> numbers(2, 3).tolist()
    [131072, 131073, 131074]
    """
    return numbers_of(batch, np.arange(documents, dtype=np.int64))


def numbers_of(batch: int, places: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the numbers of the documents at some places of a batch."""
    return (batch << PLACE_BITS) + places


def batches_of(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the batches that documents are in."""
    return numbers >> PLACE_BITS


def by_batch(numbers: NDArray[np.int64]) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """Yield batches, and the documents of each, ascending.

    Examples
    --------
    >>> [(batch, some.tolist()) for batch, some in by_batch(np.array([131073, 5, 131072]))]
    [(0, [5]), (2, [131072, 131073])]
    """
    order = np.sort(numbers)
    ends = np.flatnonzero(np.diff(batches_of(order))) + 1
    for some in np.split(order, ends):
        if len(some):
            yield int(some[0]) >> PLACE_BITS, some


def places_of(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the places of documents in their batches."""
    return numbers & (MOST - 1)


@dataclass(frozen=True)
class File:
    """A file of the input.

    Parameters
    ----------
    name : str
        As messages and ids call it.
    rank : int
        Its place among the files, from 0.
    begin : int
        Bytes of all files before it.
    size : int
    """

    name: str
    rank: int
    begin: int
    size: int


class Numberer:
    """Numbers the batches of one task.

    Parameters
    ----------
    files : mapping of int to File
        By the hash of the path; empty for a table.
    partition : int
        Number of the task's partition, for a table.
    """

    def __init__(self, files: Mapping[int, File], partition: int) -> None:
        self._files = files
        self._partition = partition
        self._counts: dict[tuple[int, int], int] = {}

    def next(self, path: int, begin: int) -> tuple[int, int]:
        """Return the rank of the file and the number of the next batch of a part.

        Raises
        ------
        InputError
            If a part of a file has more batches than bytes.
        """
        count = self._counts.get((path, begin), 0)
        self._counts[path, begin] = count + 1
        if not self._files:
            if count >> _COUNT_BITS:
                raise InputError(Message("spark.partition_too_large", most=1 << _COUNT_BITS))
            return -1, self._partition << _COUNT_BITS | count
        file = self._files[path]
        if begin + count >= max(file.size, 1):
            raise InputError(
                Message("spark.more_batches_than_bytes", file=file.name, found=count + 1)
            )
        return file.rank, file.begin + begin + count


def runs(batch: pa.RecordBatch, most: int) -> Iterator[tuple[int, int, pa.RecordBatch]]:
    """Cut rows where the part of the input changes, and where they are too many.

    The columns `PATH` and `BEGIN` tell the part; a table has none.
    """
    columns = batch.schema.names
    if PATH not in columns:
        for at in range(0, batch.num_rows, most):
            yield 0, 0, batch.slice(at, most)
        return
    path = batch.column(PATH).to_numpy(zero_copy_only=False)
    begin = batch.column(BEGIN).to_numpy(zero_copy_only=False)
    rows = batch.drop_columns([PATH, BEGIN])
    changes = np.flatnonzero((path[1:] != path[:-1]) | (begin[1:] != begin[:-1])) + 1
    bounds = [0, *changes.tolist(), batch.num_rows]
    for first, last in pairwise(bounds):
        for at in range(first, last, most):
            yield int(path[at]), int(begin[at]), rows.slice(at, min(most, last - at))


def ranked(sizes: list[tuple[Any, str, int]]) -> dict[Any, File]:
    """Return files by their keys, from keys, names and sizes in the order of the input.

    Raises
    ------
    InputError
        If they are larger than numbers go.
    """
    files = {}
    begin = 0
    for rank, (key, name, size) in enumerate(sizes):
        files[key] = File(name, rank, begin, size)
        begin += max(size, 1)
    if begin >> BATCH_BITS:
        raise InputError(Message("spark.files_too_large", most=1 << BATCH_BITS, found=begin))
    return files
