"""Sketching: records to batches with their sketches, and what the collection has in common.

All of it without Spark. A batch is a row with a list for each thing that its documents have. Tasks
count the shingles of their documents on the way, in groups of batches.
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

from neardup._engine.rule import Rule
from neardup.readers.batch import Batch, Chunk, Problem
from neardup.readers.columns import check_types, chunk_of
from neardup.readers.fields import Columns, Fields
from neardup.readers.jsonl import LineReading
from neardup.recipe import Recipe
from neardup.spark.ordering import BatchNumberer, File, split_by_part

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from neardup import _core

_spark = sys.modules.get("pyspark")
if _spark is not None and _spark.TaskContext.get() is not None:
    # Spark's worker collects garbage after each task, among all that was ever imported: that
    # takes as long as a small task.
    gc.freeze()

#: Documents after which the shingles that a task has counted are handed on.
GROUP_DOCUMENTS = 1 << 17

#: Shingles of a table of a task: all tables together have room for so many of the largest,
#: and each has some.
_ROOM = 8
_LEAST_SHINGLES = 4096

#: Tables of shingles that wait to be merged, up to 72 MB each.
_TABLES = 8

#: The source of a record until its name is known. No text of UTF-8 can hold it, so no id
#: begins with it.
_NAMELESS = "\udfff"

_MARK = b"\xef\xbb\xbf"


#: Types of columns.
LONG, INT, BYTES, TEXT = pa.int64(), pa.int32(), pa.large_binary(), pa.large_string()


def arrow_schema(**types: pa.DataType) -> pa.Schema:
    """Return a schema of columns by their names."""
    return pa.schema(list(types.items()))


#: A row for each batch, beside its `records`. The last batch of a group has what was `counted` of
#: the group's shingles; `doubted` is the level of that table if that of all may be lower.
BATCHES = arrow_schema(
    batch=LONG,
    batch_group=LONG,
    size=LONG,
    problems=TEXT,
    features=pa.list_(INT),
    identities=pa.list_(BYTES),
    sketches=pa.list_(BYTES),
    ids=pa.list_(TEXT),
    counted=BYTES,
    probe=BYTES,
    doubted=INT,
)
SHINGLES = arrow_schema(counted=BYTES)


@dataclass(frozen=True)
class Settings:
    """What the tasks of a job need to know; they get it by pickle.

    Parameters
    ----------
    recipe : Recipe
    rule : Rule
    fields : Fields
        Which fields are text and id.
    lines : bool
        Whether records are JSON lines, and not rows of a table.
    columns : tuple of str
        Names of the columns of a record.
    documents, batches : int
        Of the input.
    buckets, units : int
        Parts that keys and pairs are dealt to.
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

    @property
    def compares_sketches(self) -> bool:
        """Whether sketches decide which candidates are duplicates, or are reported."""
        return self.rule.scheme in ("near", "prefix") or not self.rule.keeps_texts


def core_recipe(settings: Settings) -> _core.Recipe:
    """Return the core's recipe; it is made once in each process."""
    from neardup.recipe.assets import compiled

    # Each task has a core to itself; a pool of threads would take its neighbours'.
    os.environ.setdefault("RAYON_NUM_THREADS", "1")
    return compiled(settings.recipe)


def choose_columns(schema: pa.Schema, fields: Fields) -> Columns:
    """Return the columns of text and id.

    Raises
    ------
    InputError
        If there is none for the text, or one that was named is missing or of another type.
    """
    return check_types(schema, Columns.choose(schema.names, fields, "input"), fields, "input")


def _records(rows: pa.RecordBatch, settings: Settings, *, at_beginning: bool) -> pa.RecordBatch:
    """Return the records among rows: blank lines and the byte order mark of a file are none."""
    if not settings.lines:
        return rows
    lines: list[Any] = rows.column(0).to_pylist()
    if at_beginning and lines:
        lines[0] = lines[0].removeprefix(_MARK)
    kept = [line for line in lines if line and not line.isspace()]
    return pa.record_batch({settings.columns[0]: pa.array(kept, BYTES)})


def _read(records: pa.RecordBatch, settings: Settings) -> Chunk:
    """Read texts, ids and problems of records, as of a source without a name."""
    if settings.lines:
        lines: list[Any] = records.column(0).to_pylist()
        reading = LineReading(_NAMELESS, settings.fields, False)
        return reading.clean(lines) or reading.careful(lines)
    columns = choose_columns(records.schema, settings.fields)
    return chunk_of(
        *(records.column, columns, settings.fields, False, _NAMELESS, 0),
        lambda number: f"{_NAMELESS}:{number}",
        records.nbytes,
    )


def _push(corpus: _core.Corpus, read: Chunk, settings: Settings) -> list[Problem]:
    """Sketch what was read of records, and return all problems."""
    from neardup._engine.ingest import readable

    problems = [problem for _, problem in read.problems]
    batch = Batch(
        first=0,
        texts=read.texts,
        ids=read.ids,
        problems=problems,
        bytes_read=read.bytes_read,
        runs=read.runs,
    )
    texts, units, problems = readable(batch, settings.recipe, core_recipe(settings))
    corpus.push(texts, titles=None, units=units)
    return problems


def problems_to_json(problems: Sequence[Problem]) -> str:
    """Return problems as JSON, with their codes and values but without their source."""
    return orjson.dumps([{**problem.to_dict(), "source": ""} for problem in problems]).decode()


def sketch(
    rows: Iterable[pa.RecordBatch],
    *,
    settings: Settings,
    files: Mapping[int, File],
    partitions: int,
    most: int,
    partition: int | None = None,
) -> Iterator[pa.RecordBatch]:
    """Read and sketch the records of one task, a row of `BATCHES` for each batch.

    Parameters
    ----------
    rows : iterable of RecordBatch
        Lines or rows, with the columns that `split_by_part` looks at if they come from files.
    settings : Settings
    files : mapping of int to File
        By the hash of the path; empty for a table.
    partitions : int
        About how many tasks there are.
    most : int
        Documents of a batch, at most.
    partition : int or None, default=None
        Number of the task's partition; None asks Spark.
    """
    numberer = BatchNumberer(files, _partition() if partition is None else partition)
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
            items = pa.array(value, field.type.value_type)
            bounds = pa.array([0, len(items)], INT)
            arrays[field.name] = pa.ListArray.from_arrays(bounds, items)
        else:
            arrays[field.name] = pa.array([value], field.type)
    return pa.record_batch(arrays)


class _Group:
    """Some batches of one task, whose shingles are counted together.

    Equal texts of a group are counted once; those of other groups are subtracted later, when
    all are known.
    """

    def __init__(self, settings: Settings, number: int, entries: int) -> None:
        from neardup import _core

        self._settings = settings
        self._number = number
        self._entries = entries
        self._documents = 0
        self._corpus = _core.Corpus(
            core_recipe(settings),
            keeps_texts=False,
            shingle=settings.rule.counted_shingle,
            workers=1,
            entries=entries,
        )

    @property
    def is_full(self) -> bool:
        """Whether the group ends; its sketches are in memory until then."""
        counts = self._settings.rule.counted_shingle is not None
        return self._documents >= (GROUP_DOCUMENTS if counts else 1)

    def sketch(self, records: pa.RecordBatch, batch: int) -> dict[str, Any]:
        """Return the columns of a batch."""
        read = _read(records, self._settings)
        problems = _push(self._corpus, read, self._settings)
        begin, self._documents = self._documents, self._documents + records.num_rows
        # Fields by their places: names of columns may repeat, and differ in case alone.
        names = [f"c{at}" for at in range(records.num_columns)]
        return {
            "batch": batch,
            "batch_group": self._number,
            "size": read.bytes_read,
            "problems": problems_to_json(problems) if problems else None,
            "features": self._corpus.features()[begin:],
            "identities": self._corpus.identities()[begin:],
            "sketches": self._corpus.sketches()[begin:],
            "ids": [None if key.startswith(_NAMELESS) else key for key in read.ids],
            "records": pa.StructArray.from_arrays(records.columns, names),
        }

    def shingles(self) -> dict[str, Any]:
        """Return the columns that the last batch of the group has for all."""
        from neardup import _core

        counted = self._corpus.counted_shingles()
        if counted is None:
            return {}
        level, probe = _core.probe_shingles(counted)
        # A table of the full size has no more than that of all together.
        doubted = level if self._entries < _core.MAX_SHINGLES else 0
        return {"counted": counted, "probe": probe.tobytes(), "doubted": doubted}


def shingles_of_part(parts: int) -> int:
    """Return how many shingles a table in one of `parts` parts of the input holds at most.

    The table of all holds so few of each that small tables know all that it will hold, unless
    most have the same texts, or few parts hold most of them.

    Examples
    --------
    >>> [shingles_of_part(parts) for parts in (1, 8, 80, 80_000)]
    [6000000, 6000000, 600000, 4096]
    """
    from neardup import _core

    most = _core.MAX_SHINGLES
    return max(min(_ROOM * most // parts, most), _LEAST_SHINGLES)


def read_needed(row: Mapping[str, Any], places: NDArray[np.int64], settings: Settings) -> Chunk:
    """Read the records at some places of a batch."""
    fields = row["records"].values.flatten()
    records = pa.RecordBatch.from_arrays(fields, names=list(settings.columns))
    return _read(records.take(pa.array(places, pa.int64())), settings)


def shingle_level(probes: Iterable[bytes]) -> int:
    """Return the level that a table of all shingles has at least, from the probes of its parts.

    A level says that so many leading bits of a hash are zero; a table's goes up when it
    would hold too many, so what is below the last one need not be merged.
    """
    from neardup import _core

    return _core.level_of_probes(np.frombuffer(b"".join(probes), np.uint64))


def count_again(row: Mapping[str, Any], settings: Settings) -> bytes:
    """Return a table of the shingles of some documents of a batch."""
    from neardup import _core

    corpus = _core.Corpus(
        core_recipe(settings), keeps_texts=False, shingle=settings.rule.counted_shingle, workers=1
    )
    _push(corpus, read_needed(row, row["needed"].values.to_numpy(), settings), settings)
    table = corpus.counted_shingles()
    assert table is not None
    return table


def merge_shingles(tables: Iterable[bytes], level: int = 0) -> bytes | None:
    """Return one table for several, at a level or above; None for none."""
    from neardup import _core

    waiting: list[bytes] = []
    for table in tables:
        waiting.append(_core.thin_shingles(table, level) if level else table)
        if len(waiting) == _TABLES:
            waiting = [_core.merge_shingles(waiting)]
    return _core.merge_shingles(waiting) if len(waiting) > 1 else next(iter(waiting), None)


def common_shingles(counted: bytes, overcounted: bytes | None, documents: int) -> bytes:
    """Return what verification needs of a table: the shingles that are common.

    `overcounted` has the shingles of texts that were counted in another group before. To
    subtract them is exact: such a text has the shingles of its first copy, so the shingles of
    the table are right already, and only counts are too high.
    """
    from neardup import _core

    if overcounted is not None:
        counted = _core.subtract_shingles(counted, overcounted)
    return _core.Background.of_shingles(documents, counted).to_bytes()
