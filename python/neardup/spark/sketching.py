"""Sketching: records to batches, each with its sketches, in a row of the checkpoint.

Beside the rows of batches there is a row for each *group* of them, with what was counted of
shingles. Of a text that comes again in a group one copy is counted; copies in other
groups are taken off later (`commonness`), when all are known.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from neardup.spark.blobs import batch_to_bytes, pack
from neardup.spark.commonness import entries_of, probed
from neardup.spark.numbering import File, Numberer, runs
from neardup.spark.records import batch_of, ids_to_bytes, piece, problems_to_bytes, records_of
from neardup.spark.settings import Settings, core_recipe

if TYPE_CHECKING:
    from neardup import _core

#: A row for each batch, and one for each group of batches: that one has no documents.
#: `doubted` is the level of its table, if that may be above what the table of all will have.
SCHEMA = (
    "batch long, batch_group long, source int, documents int, readable int, without_features int, "
    "problem_count int, size long, problems binary, identities binary, features binary, "
    "sketches binary, records binary, ids binary, counted binary, probe binary, doubted int"
)

_COLUMNS = [column.split()[0] for column in SCHEMA.split(", ")]

#: Documents after which a group ends: its sketches are in memory until then.
GROUP_DOCUMENTS = 1 << 17


def sketch(
    rows: Iterable[pa.RecordBatch],
    *,
    settings: Settings,
    files: Mapping[int, File],
    partition: int,
    partitions: int,
    most: int,
) -> Iterator[pa.RecordBatch]:
    """Read and sketch the records of one task.

    Parameters
    ----------
    rows : iterable of RecordBatch
        Lines or rows, with the columns that `numbering.runs` looks at if they come from
        files.
    settings : Settings
    files : mapping of int to File
        By the hash of the path; empty for a table.
    partition : int
        Number of the task's partition.
    partitions : int
        About how many there are.
    most : int
        Documents of a batch, at most.

    Yields
    ------
    RecordBatch
        Rows of `SCHEMA`.
    """
    numberer = Numberer(files, partition)
    group: _Group | None = None
    for rows_together in rows:
        for path, begin, some in runs(rows_together, most):
            source, batch = numberer.next(path, begin)
            at_beginning = bool(files) and batch == files[path].begin
            records = records_of(some, settings, at_beginning=at_beginning)
            if not records.num_rows:
                continue
            if group is None:
                group = _Group(settings, batch, entries_of(partitions))
            yield group.sketched(records, batch, source)
            if group.documents >= GROUP_DOCUMENTS:
                yield from group.end()
                group = None
    if group is not None:
        yield from group.end()


class _Group:
    """Some batches of one task, whose shingles are counted together."""

    def __init__(self, settings: Settings, number: int, entries: int) -> None:
        self._settings = settings
        self._number = number
        self._entries = entries
        self.documents = 0
        self._counting = self._corpus(settings.rule.counted_shingle)

    def _corpus(self, shingle: int | None) -> _core.Corpus:
        from neardup import _core

        recipe = core_recipe(self._settings)
        return _core.Corpus(
            recipe, keeps_texts=False, shingle=shingle, workers=1, entries=self._entries
        )

    def sketched(self, records: pa.RecordBatch, batch: int, source: int) -> pa.RecordBatch:
        """Return the row of a batch."""
        from neardup._engine.ingest import readable

        read_piece = piece(records, self._settings)
        read = batch_of(read_piece)
        recipe = self._settings.recipe
        texts, units, problems = readable(read, recipe, core_recipe(self._settings))
        corpus, begin = self._counting, self.documents
        if self._settings.rule.counted_shingle is None:
            corpus, begin = self._corpus(None), 0
        corpus.push(texts, titles=None, units=units)
        self.documents += records.num_rows
        features = corpus.features()[begin:]
        return _row(
            batch=batch,
            batch_group=self._number,
            source=source,
            documents=records.num_rows,
            readable=int((features >= 0).sum()),
            without_features=int((features == 0).sum()),
            problem_count=len(problems),
            size=read.bytes_read,
            problems=problems_to_bytes(problems),
            identities=b"".join(corpus.identities()[begin:]),
            features=features.astype(np.int32).tobytes(),
            sketches=pack(corpus.sketches()[begin:]),
            records=batch_to_bytes(records),
            ids=ids_to_bytes(read_piece.ids),
        )

    def end(self) -> Iterator[pa.RecordBatch]:
        """Yield the row of the group."""
        from neardup import _core

        counted = self._counting.counted_shingles()
        if counted is not None:
            level, probe = probed(counted)
            yield _row(
                batch=self._number,
                batch_group=self._number,
                documents=0,
                counted=counted,
                probe=probe,
                # A whole table has no more than those of all together.
                doubted=level if self._entries < _core.MAX_SHINGLES else 0,
            )


_TYPES = {"long": pa.int64(), "int": pa.int32(), "binary": pa.large_binary()}
_KINDS = {name: _TYPES[kind] for name, kind in (c.split() for c in SCHEMA.split(", "))}


def _row(**values: Any) -> pa.RecordBatch:
    return pa.record_batch({name: pa.array([values.get(name)], _KINDS[name]) for name in _COLUMNS})


def identities_of(blob: bytes) -> np.ndarray[Any, np.dtype[np.uint64]]:
    """Return the identities of a batch, two halves each."""
    return np.frombuffer(blob, np.uint64).reshape(-1, 2)


__all__ = ["SCHEMA", "identities_of", "sketch"]
