"""Sketching: from records to batches with sketches, and the common shingles of the collection.

This module does not use Spark. A batch is a row; its columns are lists with a value per document.
While they sketch, tasks count the shingles of their documents, in groups of batches.
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
from neardup.spark.ordering import PLACE_BITS, BatchNumberer, File, split_by_part

if TYPE_CHECKING:
    from neardup import _core

_spark = sys.modules.get("pyspark")
if _spark is not None and _spark.TaskContext.get() is not None:
    # Spark's worker runs the garbage collector after each task, over every imported module. That
    # takes as long as a small task.
    gc.freeze()

#: Documents per group: then the task outputs the shingles that it has counted.
GROUP_DOCUMENTS = 1 << 17

#: Limits the shingles per table of a task: all tables together hold this many times the largest
#: table, but each table holds at least `_LEAST_SHINGLES`.
_ROOM = 8
_LEAST_SHINGLES = 4096

#: The most tables of shingles that wait to be merged; each has up to 72 MB.
_TABLES = 8

_MARK = b"\xef\xbb\xbf"


#: Column types.
LONG, INT, BYTES, TEXT = pa.int64(), pa.int32(), pa.large_binary(), pa.large_string()


def arrow_schema(**types: pa.DataType) -> pa.Schema:
    """Return a schema of columns by their names."""
    return pa.schema(list(types.items()))


#: One row per batch, besides its `records`. There are `texts` if candidates are verified by them,
#: so that records are parsed once. The last batch of a group has what was made for the whole group:
#: the `counted` shingles, and for each of its batches, which are `sampled`, the `samples` of the
#: documents. `doubted` is the level of that table if the table of all documents may have a lower
#: one.
BATCHES = arrow_schema(
    batch=LONG,
    batch_group=LONG,
    size=LONG,
    problems=TEXT,
    features=pa.list_(INT),
    identities=pa.list_(BYTES),
    sketches=pa.list_(BYTES),
    ids=pa.list_(TEXT),
    texts=pa.list_(TEXT),
    counted=BYTES,
    probe=BYTES,
    doubted=INT,
    sampled=pa.list_(LONG),
    samples=pa.list_(BYTES),
)
SHINGLES = arrow_schema(counted=BYTES)


@dataclass(frozen=True)
class Settings:
    """The settings of a job that its tasks need; sent to them by pickle.

    `lines` tells whether records are JSON lines rather than rows with `columns`. `documents` and
    `batches` are those of the input; keys are partitioned into `buckets`, pairs into `units`, and
    those that need texts into `text_units`.
    Batches before `first` are those of another collection, all of whose documents count as kept;
    `against_only` compares documents with those only.
    """

    recipe: Recipe
    rule: Rule
    fields: Fields
    lines: bool
    columns: tuple[str, ...] = ()
    documents: int = 1
    batches: int = 1
    buckets: int = 1
    units: int = 1
    text_units: int = 1
    first: int = 0
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


def problems_to_json(problems: Sequence[Problem]) -> str:
    """Return problems as JSON: codes and values, without the source."""
    return orjson.dumps([{**problem.to_dict(), "source": ""} for problem in problems]).decode()


def sketch(
    rows: Iterable[pa.RecordBatch],
    *,
    settings: Settings,
    files: Mapping[int, File],
    partitions: int,
    most: int,
    partition: int | None = None,
    first: int = 0,
) -> Iterator[pa.RecordBatch]:
    """Read and sketch the records of one task; yield a row of `BATCHES` for each batch.

    There are about `partitions` tasks, and at most `most` documents in a batch. `files` are by the
    hash of the path; the batches of a table have numbers from `first` on.
    """
    numberer = BatchNumberer(files, _partition() if partition is None else partition, first)
    group: _Group | None = None
    last: dict[str, Any] | None = None
    for rows_together in rows:
        for path, begin, part in split_by_part(rows_together, most):
            batch = numberer.next(path, begin)
            at_beginning = bool(files) and batch == files[path].begin
            records = _records(part, settings, at_beginning=at_beginning)
            if not records.num_rows:
                continue
            if last is not None:
                yield _batch_row(last)
            group = group or _Group(settings, batch, shingles_of_part(partitions))
            last = group.sketch(records, batch)
            if group.is_full:
                last |= group.shingles()
                group = None
    if last is not None:
        yield _batch_row(last | (group.shingles() if group is not None else {}))


def _partition() -> int:
    from pyspark import TaskContext

    context = TaskContext.get()
    assert context is not None
    return context.partitionId()


def _batch_row(values: Mapping[str, Any]) -> pa.RecordBatch:
    arrays: dict[str, Any] = {}
    for field in [*BATCHES, pa.field("records", pa.list_(values["records"].type))]:
        value = values.get(field.name)
        if value is not None and pa.types.is_list(field.type):
            items: Any = value
            if not isinstance(items, pa.Array):
                items = pa.array(value, field.type.value_type)
            bounds = pa.array([0, len(items)], INT)
            arrays[field.name] = pa.ListArray.from_arrays(bounds, items)
        else:
            arrays[field.name] = pa.array([value], field.type)
    return pa.record_batch(arrays)


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
        counts = self._settings.rule.counted_shingle is not None
        return self._documents >= (GROUP_DOCUMENTS if counts else 1)

    def sketch(self, records: pa.RecordBatch, batch: int) -> dict[str, Any]:
        """Return the columns of a batch."""
        read = self._settings.fields.bounded(_read(records, self._settings))
        problems = _push(self._corpus, read, self._settings)
        begin, self._documents = self._documents, self._documents + records.num_rows
        self._batches.append((batch, records.num_rows))
        # Columns by position: names may repeat, or differ only in case.
        names = [f"c{number}" for number in range(records.num_columns)]
        return {
            "batch": batch,
            "batch_group": self._number,
            "size": read.bytes_read,
            "problems": problems_to_json(problems) if problems else None,
            "features": self._corpus.features()[begin:],
            "identities": self._corpus.identities()[begin:],
            "sketches": self._corpus.sketches()[begin:],
            "ids": read.ids,
            "texts": read.texts if self._settings.rule.keeps_texts else None,
            "records": pa.StructArray.from_arrays(records.columns, names),
        }

    def shingles(self) -> dict[str, Any]:
        """Return the columns that the group's last batch has for the whole group."""
        from neardup import _core

        counted = self._corpus.counted_shingles()
        if counted is None:
            return {}
        level, probe = _core.probe_shingles(counted)
        # A table of full size never has a higher level than the table of all documents.
        doubted = level if self._entries < _core.MAX_SHINGLES else 0
        # Not before the whole group is counted: the more shingles, the smaller are the samples.
        samples, begin = [], 0
        for batch, documents in self._batches:
            numbers = (batch << PLACE_BITS) + np.arange(documents, dtype=np.int64)
            samples.append(self._corpus.samples(begin, numbers))
            begin += documents
        return {
            "counted": counted,
            "probe": probe.tobytes(),
            "doubted": doubted,
            "sampled": [batch for batch, _ in self._batches],
            "samples": samples,
        }


def shingles_of_part(parts: int) -> int:
    """Return the most shingles in a table of one of `parts` parts of the input.

    The table of all documents holds so few shingles of each part that such small tables have all of
    them, unless most texts are the same or a few parts have most of the texts.
    """
    from neardup import _core

    most = _core.MAX_SHINGLES
    return max(min(_ROOM * most // parts, most), _LEAST_SHINGLES)


def shingle_level(probes: Iterable[bytes]) -> int:
    """Return a lower bound for the level of the table of all shingles, from its parts' probes.

    The level is the number of leading bits of a hash that must be zero. It rises when a table would
    hold too many shingles, so hashes with fewer zero bits need not be merged.
    """
    from neardup import _core

    return _core.level_of_probes(np.frombuffer(b"".join(probes), np.uint32))


def count_again(texts: pa.LargeStringArray, settings: Settings) -> bytes:
    """Return a table of the shingles of texts."""
    from neardup import _core

    corpus = _core.Corpus(
        core_recipe(settings), keeps_texts=False, shingle=settings.rule.counted_shingle, workers=1
    )
    _push(corpus, Batch(texts, ids=texts), settings)
    table = corpus.counted_shingles()
    assert table is not None
    return table


def merge_shingles(tables: Iterable[bytes], level: int = 0) -> bytes | None:
    """Return one table merged from several, at least at `level`; None for no tables."""
    from neardup import _core

    waiting: list[bytes] = []
    for table in tables:
        waiting.append(_core.thin_shingles(table, level) if level else table)
        if len(waiting) == _TABLES:
            waiting = [_core.merge_shingles(waiting)]
    return _core.merge_shingles(waiting) if len(waiting) > 1 else next(iter(waiting), None)


def common_shingles(counted: bytes, overcounted: bytes | None, documents: int) -> bytes:
    """Return the common shingles of a table, as verification needs them.

    `overcounted` has the shingles of texts that another group had already counted. Subtracting them
    is exact: such a text has the shingles of its first copy, so only the counts are too high.
    """
    from neardup import _core

    if overcounted is not None:
        counted = _core.subtract_shingles(counted, overcounted)
    return _core.Background.of_shingles(documents, counted).to_bytes()
