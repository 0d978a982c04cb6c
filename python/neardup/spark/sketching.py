"""Sketching: from records to batches with sketches, and the common shingles of the collection.

This module does not use Spark. A batch has blobs with a value per document. While they sketch,
tasks count the shingles of their documents, in groups of batches.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc

from neardup.base.lazy import NDArray, _core
from neardup.readers.batch import Batch, Problem
from neardup.readers.columns import ColumnReader, choose_columns
from neardup.readers.fields import Fields
from neardup.readers.jsonl import LineReader
from neardup.recipe import Recipe
from neardup.recipe.assets import compiled
from neardup.recipe.batches import readable
from neardup.recipe.rule import Rule
from neardup.spark.blobs import Blob, pack, to_rows
from neardup.spark.errors import errors_for_driver
from neardup.spark.ordering import PLACE_BITS, BatchNumberer, File, split_by_part

_spark = sys.modules.get("pyspark")
if _spark is not None and _spark.TaskContext.get() is not None:
    # Spark's worker runs the garbage collector after each task, over every imported module. That
    # takes as long as a small task.
    gc.freeze()

#: Documents per group, about.
GROUP_DOCUMENTS = 1 << 17

#: Hashes are counted in this many parts, so that one of them fits into a task's memory.
PARTS = 256

#: Bits of a group's number for the task that sketches it.
_TASK_BITS = 32

BYTES, TEXT = pa.large_binary(), pa.large_string()

#: Tells in the schema of stored records whether they are lines.
_LINES = b"lines"

_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Settings:
    """The settings of a job that its tasks need; sent to them by pickle.

    `lines` tells whether records are JSON lines rather than rows with `columns`. `documents` and
    `groups` count the input. Keys are partitioned into `buckets`, pairs into `units`, and pairs
    that need texts into `text_units`.
    Batches before `first` are of another collection, all of whose documents count as kept. While
    they are sketched, `is_other` is set. `against_only` compares documents with them only.
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


def compile_recipe(settings: Settings) -> _core.Recipe:
    """Return the core's recipe; computed once per process."""
    # Each task has one core; a thread pool would take cores from other tasks.
    os.environ.setdefault("RAYON_NUM_THREADS", "1")
    return compiled(settings.recipe)


def _select_records(
    rows: pa.RecordBatch, settings: Settings, *, at_beginning: bool
) -> pa.RecordBatch:
    """Return the rows that are records: not blank lines, and without a file's byte order mark."""
    if not settings.lines:
        return rows
    lines: Any = rows.column(0).cast(BYTES)
    if at_beginning and lines and lines[0].as_py().startswith(_MARK):
        first = pa.array([lines[0].as_py().removeprefix(_MARK)], BYTES)
        lines = pa.concat_arrays([first, lines[1:]])
    if _core.count_records(_join_lines(lines)) < len(lines):
        lines = pa.array([line for line in lines.to_pylist() if line and not line.isspace()], BYTES)
    return pa.record_batch({settings.columns[0]: lines})


def _join_lines(lines: Any) -> bytes:
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
        reading = LineReader("", settings.fields, True)
        return reading.read(_join_lines(records.column(0)))
    columns = choose_columns(records.schema, settings.fields, "input")
    reader = ColumnReader(columns, settings.fields, True, "", id_of=lambda _: None)
    return reader.read(records.column, records.nbytes)


def read_texts(records: pa.RecordBatch, places: NDArray[np.int64], settings: Settings) -> Any:
    """Return the texts of some of the records that were stored."""
    are_lines = (records.schema.metadata or {})[_LINES] == b"1"
    settings = replace(settings, fields=replace(settings.fields, id=None))
    if not are_lines:
        records = _select_text_columns(records, settings)
    read = _read(records.take(places), replace(settings, lines=are_lines))
    return _convert_column(read.texts, TEXT)


def _select_text_columns(rows: pa.RecordBatch, settings: Settings) -> pa.RecordBatch:
    """Return only those columns that the text is in."""
    columns = choose_columns(rows.schema, replace(settings.fields, id=None), "input")
    return rows.select(list(columns.roots.get(columns.text, (columns.text,))))


def _push(corpus: _core.Corpus, batch: Batch, settings: Settings) -> list[Problem]:
    """Sketch the texts of a batch, and return all problems."""
    with errors_for_driver():
        texts, units, problems = readable(batch, settings.recipe, compile_recipe(settings))
    corpus.push(texts, titles=batch.titles, units=units)
    return problems


def problems_to_json(problems: Sequence[Problem]) -> bytes:
    """Return problems as JSON: codes and values, without the source."""
    return orjson.dumps([{**problem.to_dict(), "source": ""} for problem in problems])


def sketch_rows(rows: Iterable[pa.RecordBatch], **known: Any) -> Iterator[pa.RecordBatch]:
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
    limit: int,
    task: int,
    first: int = 0,
) -> Iterator[Blob]:
    """Read and sketch the records of one task; yield blobs of each batch, for its group, and of
    each group, for the parts of all hashes.

    A batch has at most `limit` documents. `files` are by the hash of the path; the batches of a
    table have numbers from `first` on.

    | kind | of each | body |
    |---|---|---|
    | `info` | batch | JSON of its counts |
    | `problems` | batch, if any | JSON |
    | `records` | batch | the records as a packed batch; of another table only the text |
    | `ids` | batch | packed array |
    | `features`, `identities` | batch | 4 and 16 bytes per document |
    | `sketches` | batch | packed array |
    | `samples` | batch | samples of the shingles, of equal texts of a group once |
    | `hashes` | group | for each part of all hashes, how many texts have each |
    """
    numberer = BatchNumberer(files, task, first)
    group: _SketchGroup | None = None
    groups = 0
    for rows_together in rows:
        for path, begin, part in split_by_part(rows_together, limit):
            batch = numberer.next(path, begin)
            at_beginning = bool(files) and batch == files[path].begin
            records = _select_records(part, settings, at_beginning=at_beginning)
            if not records.num_rows:
                continue
            if group is None:
                group = _SketchGroup(settings, groups << _TASK_BITS | task)
                groups += 1
            yield from group.sketch(records, batch)
            if group.is_full:
                yield from group.counts()
                group = None
    if group is not None:
        yield from group.counts()


class _SketchGroup:
    """Batches of one task; each text is sampled once."""

    def __init__(self, settings: Settings, number: int) -> None:
        self._settings = settings
        self._number = number
        self._documents = 0
        self._corpus = _core.Corpus(
            compile_recipe(settings),
            keeps_texts=False,
            shingle=settings.rule.counted_shingle,
            workers=1,
        )

    @property
    def is_full(self) -> bool:
        """Whether the group is complete; until then its sketches are in memory."""
        return self._documents >= GROUP_DOCUMENTS

    def counts(self) -> Iterator[Blob]:
        """Yield the number of texts of all batches, and how many have each hash, for the parts."""
        if self._settings.compares_samples:
            texts, counts = self._corpus.counts(PARTS)
            for part, body in enumerate(counts):
                yield Blob(part, "hashes", self._number, prepend_texts(texts, body))

    def sketch(self, records: pa.RecordBatch, batch: int) -> Iterator[Blob]:
        """Yield the blobs of a batch."""
        (read,) = self._settings.fields.bound([_read(records, self._settings)])
        problems = _push(self._corpus, read, self._settings)
        begin, self._documents = self._documents, self._documents + records.num_rows
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
            "ids": pack(_convert_column(read.ids, TEXT), compressed=True),
        }
        if problems:
            bodies["problems"] = problems_to_json(problems)
        if self._settings.compares_samples:
            numbers = (batch << PLACE_BITS) + np.arange(records.num_rows, dtype=np.int64)
            bodies["samples"] = self._corpus.samples(begin, numbers)
        if self._settings.is_other and not self._settings.lines:
            records = _select_text_columns(records, self._settings)
        are_lines = {_LINES: str(int(self._settings.lines))}
        bodies["records"] = pack(records.replace_schema_metadata(are_lines), compressed=True)
        for kind, body in bodies.items():
            yield Blob(self._number, kind, batch, body)


def prepend_texts(texts: int, body: bytes) -> bytes:
    """Return a body that begins with a number of texts."""
    return texts.to_bytes(8, "little") + body


def _convert_column(values: Any, type: pa.DataType) -> Any:
    """Return a column as one array of a type."""
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    return values.cast(type)
