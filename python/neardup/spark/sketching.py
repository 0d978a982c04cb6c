"""Sketching: from records to batches with sketches, and the common shingles of the collection.

This module does not use Spark. A batch has blobs with a value per document. While they sketch,
tasks count the shingles of their documents, in groups of batches.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc

from neardup.readers.batch import Batch, Problem
from neardup.readers.columns import batch_of_columns, choose_columns
from neardup.readers.fields import Fields
from neardup.readers.jsonl import LineReading
from neardup.recipe import Recipe
from neardup.recipe.rule import Rule
from neardup.spark.blobs import Blob, Inbox, pack, to_rows, unpack_array
from neardup.spark.ordering import MAX_BATCH, PLACE_BITS, BatchNumberer, File, split_by_part

if TYPE_CHECKING:
    from neardup import _core

_spark = sys.modules.get("pyspark")
if _spark is not None and _spark.TaskContext.get() is not None:
    # Spark's worker runs the garbage collector after each task, over every imported module. That
    # takes as long as a small task.
    gc.freeze()

#: Documents per group: then the task outputs the shingles that it has counted.
GROUP_DOCUMENTS = 1 << 17

#: Bits of a group's number for the task that sketches it.
_TASK_BITS = 32

#: Limits the shingles per table of a task: all tables together hold this many times the largest
#: table, but each table holds at least `_LEAST_SHINGLES`.
_ROOM = 8
_LEAST_SHINGLES = 4096

#: The most tables of shingles that wait to be merged; each has up to 72 MB.
_TABLES = 8

BYTES, TEXT = pa.large_binary(), pa.large_string()

_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Settings:
    """The settings of a job that its tasks need; sent to them by pickle.

    `lines` tells whether records are JSON lines rather than rows with `columns`. `documents` and
    `groups` are those of the input; keys are partitioned into `buckets`, pairs into `units`, and
    those that need texts into `text_units`.
    Batches before `first` are those of another collection, all of whose documents count as kept;
    `is_other` while these are sketched. `against_only` compares documents with those only.
    """

    recipe: Recipe
    rule: Rule
    fields: Fields
    lines: bool
    columns: tuple[str, ...] = ()
    documents: int = 1
    groups: int = 1
    buckets: int = 1
    units: int = 1
    text_units: int = 1
    first: int = 0
    is_other: bool = False
    against_only: bool = False

    @property
    def compares_sketches(self) -> bool:
        """Whether sketches are compared to decide on candidates, or to report a distance."""
        return self.rule.scheme in ("near", "prefix") or not self.rule.keeps_texts

    @property
    def compares_samples(self) -> bool:
        """Whether the samples of two documents may rule out that they are similar."""
        return self.rule.counted_shingle is not None


def core_recipe(settings: Settings) -> _core.Recipe:
    """Return the core's recipe; computed once per process."""
    from neardup.recipe.assets import compiled

    # Each task has one core; a thread pool would take cores from other tasks.
    os.environ.setdefault("RAYON_NUM_THREADS", "1")
    return compiled(settings.recipe)


def _records(rows: pa.RecordBatch, settings: Settings, *, at_beginning: bool) -> pa.RecordBatch:
    """Return the rows that are records: not blank lines, and without a file's byte order mark."""
    from neardup import _core

    if not settings.lines:
        return rows
    lines: Any = rows.column(0).cast(BYTES)
    if at_beginning and lines and lines[0].as_py().startswith(_MARK):
        first = pa.array([lines[0].as_py().removeprefix(_MARK)], BYTES)
        lines = pa.concat_arrays([first, lines[1:]])
    if _core.count_records(_block(lines)) < len(lines):
        lines = pa.array([line for line in lines.to_pylist() if line and not line.isspace()], BYTES)
    return pa.record_batch({settings.columns[0]: lines})


def _block(lines: Any) -> bytes:
    """Return lines as a file has them, without an object for each."""
    if not len(lines):
        return b""
    nothing, end = pa.scalar(b"", BYTES), pa.scalar(b"\n", BYTES)
    ended: Any = pc.binary_join_element_wise(lines, nothing, end)
    # The values of a new column follow each other, and its memory may be larger than they are.
    size = pc.sum(pc.binary_length(ended)).as_py()
    block: bytes = ended.buffers()[2].slice(0, size - 1).to_pybytes()
    return block


def _read(records: pa.RecordBatch, settings: Settings) -> Batch:
    """Read texts, ids and problems of records, from a source whose name is not known yet."""
    if settings.lines:
        reading = LineReading("", settings.fields, False)
        return reading.read(_block(records.column(0)))
    columns = choose_columns(records.schema, settings.fields, "input")
    return batch_of_columns(
        *(records.column, columns, settings.fields, False, "", 0),
        lambda _: None,
        records.nbytes,
    )


def _push(corpus: _core.Corpus, batch: Batch, settings: Settings) -> list[Problem]:
    """Sketch the texts of a batch, and return all problems."""
    from neardup.recipe.batches import readable

    texts, units, problems = readable(batch, settings.recipe, core_recipe(settings))
    corpus.push(texts, titles=None, units=units)
    return problems


def problems_to_json(problems: Sequence[Problem]) -> bytes:
    """Return problems as JSON: codes and values, without the source."""
    return orjson.dumps([{**problem.to_dict(), "source": ""} for problem in problems])


def sketched_rows(rows: Iterable[pa.RecordBatch], **known: Any) -> Iterator[pa.RecordBatch]:
    """Return the blobs of `sketch` as rows."""
    from pyspark import TaskContext

    context = TaskContext.get()
    assert context is not None
    return to_rows(sketch(rows, task=context.partitionId(), **known))


def sketch(
    rows: Iterable[pa.RecordBatch],
    *,
    settings: Settings,
    files: Mapping[int, File],
    partitions: int,
    most: int,
    task: int,
    first: int = 0,
) -> Iterator[Blob]:
    """Read and sketch the records of one task; yield blobs of each batch, for its group.

    There are about `partitions` tasks, and at most `most` documents in a batch. `files` are by the
    hash of the path; the batches of a table have numbers from `first` on.

    | kind | of each | body |
    |---|---|---|
    | `info` | batch | JSON of its counts |
    | `problems` | batch, if any | JSON |
    | `records` | batch of the input | the records as a packed batch, columns by position |
    | `ids`, `texts` | batch | packed arrays; texts only if candidates are verified by them |
    | `features`, `identities` | batch | 4 and 16 bytes per document |
    | `sketches` | batch | packed array |
    | `counted`, `probe` | group | the shingles of its documents, and a probe of them |
    | `samples` | batch | samples of the shingles |
    """
    numberer = BatchNumberer(files, task, first)
    group: _Group | None = None
    groups = 0
    for rows_together in rows:
        for path, begin, part in split_by_part(rows_together, most):
            batch = numberer.next(path, begin)
            at_beginning = bool(files) and batch == files[path].begin
            records = _records(part, settings, at_beginning=at_beginning)
            if not records.num_rows:
                continue
            if group is None:
                group = _Group(settings, groups << _TASK_BITS | task, shingles_of_part(partitions))
                groups += 1
            yield from group.sketch(records, batch)
            if group.is_full:
                yield from group.shingles()
                group = None
    if group is not None:
        yield from group.shingles()


class _Group:
    """Batches of one task whose shingles are counted together, those of equal texts once.

    Copies in other groups are subtracted later, when all groups are known.
    """

    def __init__(self, settings: Settings, number: int, entries: int) -> None:
        from neardup import _core

        self._settings = settings
        self._number = number
        self._entries = entries
        self._documents = 0
        #: The number of each batch, and of its documents.
        self._batches: list[tuple[int, int]] = []
        self._corpus = _core.Corpus(
            core_recipe(settings),
            keeps_texts=False,
            shingle=settings.rule.counted_shingle,
            workers=1,
            entries=entries,
        )

    @property
    def is_full(self) -> bool:
        """Whether the group is complete; until then its sketches are in memory."""
        return self._documents >= GROUP_DOCUMENTS

    def sketch(self, records: pa.RecordBatch, batch: int) -> Iterator[Blob]:
        """Yield the blobs of a batch."""
        read = self._settings.fields.bounded(_read(records, self._settings))
        problems = _push(self._corpus, read, self._settings)
        begin, self._documents = self._documents, self._documents + records.num_rows
        self._batches.append((batch, records.num_rows))
        rows = self._corpus.rows(begin, self._documents)
        columns: list[Any] = list(map(pa.array, rows))
        identities, counts, sketches = columns
        features = counts.cast(pa.int64()).fill_null(-1).to_numpy().astype(np.int32)
        info = {
            "batch": batch,
            "group": self._number,
            "size": read.bytes_read,
            "documents": len(features),
            "unreadable": int(np.count_nonzero(features < 0)),
            "without_features": int(np.count_nonzero(features == 0)),
            "problems": sum(problem.count for problem in problems),
        }
        bodies = {
            "info": orjson.dumps(info),
            "features": features.tobytes(),
            "identities": b"".join(identities.to_pylist()),
            "sketches": pack(sketches),
            "ids": pack(_plain(read.ids, TEXT), compressed=True),
        }
        if problems:
            bodies["problems"] = problems_to_json(problems)
        if self._settings.rule.keeps_texts:
            bodies["texts"] = pack(_plain(read.texts, TEXT), compressed=True)
        if not self._settings.is_other:
            # Columns by position: names may repeat, or differ only in case.
            names = [f"c{number}" for number in range(records.num_columns)]
            bodies["records"] = pack(pa.record_batch(records.columns, names), compressed=True)
        for kind, body in bodies.items():
            yield Blob(self._number, kind, batch, body)

    def shingles(self) -> Iterator[Blob]:
        """Yield what is known when the whole group is counted."""
        from neardup import _core

        counted = self._corpus.counted_shingles()
        if counted is None:
            return
        level, hashes = _core.probe_shingles(counted)
        # A table of full size never has a higher level than the table of all documents.
        doubted = level if self._entries < _core.MAX_SHINGLES else 0
        probe = np.append(np.uint32(doubted), hashes).astype(np.uint32)
        sender = self._batches[0][0]
        yield Blob(self._number, "counted", sender, counted)
        yield Blob(self._number, "probe", sender, probe.tobytes())
        # Not before the whole group is counted: the more shingles, the smaller are the samples.
        begin = 0
        for batch, documents in self._batches:
            numbers = (batch << PLACE_BITS) + np.arange(documents, dtype=np.int64)
            yield Blob(self._number, "samples", batch, self._corpus.samples(begin, numbers))
            begin += documents


def _plain(values: Any, type: pa.DataType) -> Any:
    """Return a column as one array of a type."""
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    return values.cast(type)


def shingles_of_part(parts: int) -> int:
    """Return the most shingles in a table of one of `parts` parts of the input.

    The table of all documents holds so few shingles of each part that such small tables have all of
    them, unless most texts are the same or a few parts have most of the texts.
    """
    from neardup import _core

    most = _core.MAX_SHINGLES
    return max(min(_ROOM * most // parts, most), _LEAST_SHINGLES)


def shingle_level(probes: Iterable[Blob]) -> tuple[int, bool]:
    """Return a lower bound for the level of the table of all shingles, from its parts' probes, and
    whether a part was counted at a higher level.

    The level is the number of leading bits of a hash that must be zero. It rises when a table would
    hold too many shingles, so hashes with fewer zero bits need not be merged.
    """
    from neardup import _core

    parts = [np.frombuffer(probe.body, np.uint32) for probe in probes]
    hashes = [part[1:] for part in parts]
    level = _core.level_of_probes(np.concatenate([np.empty(0, np.uint32), *hashes]))
    return level, any(part[0] > level for part in parts)


def count_again(inbox: Inbox, settings: Settings, level: int, kind: str) -> Iterator[Blob]:
    """Count the shingles of the documents of a batch that are `overcounted`."""
    from neardup import _core

    numbers = np.sort(inbox.rows("overcounted", np.int64))
    if not len(numbers):
        return
    (body,) = inbox.bodies("texts")
    texts = unpack_array(body).take(pa.array(numbers & (MAX_BATCH - 1)))
    corpus = _core.Corpus(
        core_recipe(settings), keeps_texts=False, shingle=settings.rule.counted_shingle, workers=1
    )
    _push(corpus, Batch(texts, ids=texts), settings)
    table = corpus.counted_shingles()
    assert table is not None
    yield Blob(0, kind, inbox.receiver, _core.thin_shingles(table, level) if level else table)


def common_shingles(inboxes: Iterable[Inbox], settings: Settings, level: int) -> Iterator[Blob]:
    """Yield the common shingles of a collection, as verification needs them.

    The `overcounted` shingles are of texts that another group had already counted. Subtracting them
    is exact: such a text has the shingles of its first copy, so only the counts are too high.
    """
    from neardup import _core

    tables: dict[str, list[bytes]] = {"counted": [], "overcounted": []}
    for inbox in inboxes:
        for kind, waiting in tables.items():
            for table in inbox.bodies(kind):
                waiting.append(_core.thin_shingles(table, level) if level else table)
                if len(waiting) == _TABLES:
                    waiting[:] = [_core.merge_shingles(waiting)]
    counted, overcounted = (
        _core.merge_shingles(waiting) if len(waiting) > 1 else next(iter(waiting), None)
        for waiting in tables.values()
    )
    if counted is None:
        return
    if overcounted is not None:
        counted = _core.subtract_shingles(counted, overcounted)
    common = _core.Background.of_shingles(settings.documents, counted)
    yield Blob(0, "common", 0, common.to_bytes())
