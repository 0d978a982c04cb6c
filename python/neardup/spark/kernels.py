"""Kernels: what a task does with one batch, bucket or unit. Arrow tables in and out, no Spark.

Keys are dealt to *buckets* by their hash, candidate pairs to *units*. The order of the kernels is
that of the file:

| kernel | of a | takes | yields |
|---|---|---|---|
| `sketch` | task | records | batches with records, ids, sketches; counted shingles |
| `keys` | batch | sketches | for each bucket: keys, and how many documents have them |
| `count` | bucket | keys | for each batch: how many documents have its keys |
| `prepare` | batch | counts, exact copies | which documents are searched |
| `file` | batch | dropped documents | for each bucket: entries of its posting lists |
| `lists` | bucket | entries | for each batch: the lists of its keys |
| `candidates` | batch | lists, known pairs | candidate pairs, and the texts they need |
| `texts` | batch | requests | for each unit: texts |
| `verify` | unit | pairs, texts | similarities |

The core does the work of most (`neardup._core.Exchange`).
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc

from neardup.plan import Rule
from neardup.readers.batch import Batch, Piece, Problem
from neardup.readers.columns import check_types, piece_of
from neardup.readers.fields import Columns, Fields
from neardup.readers.jsonl import LineReading
from neardup.recipe import Recipe
from neardup.spark.ordering import MAX_BATCH, PLACE_BITS, BatchNumberer, File, split_by_part

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

#: Documents for each unit that pairs are judged in; it holds the texts of some of them.
UNIT_DOCUMENTS = 1 << 14

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


def _schema(**types: pa.DataType) -> pa.Schema:
    return pa.schema(list(types.items()))


_LONG, _INT, _BYTES, _TEXT = pa.int64(), pa.int32(), pa.large_binary(), pa.large_string()

#: A row for each batch, beside its `records`. The last batch of a group has what was `counted` of
#: the group's shingles; `doubted` is the level of that table if that of all may be lower.
BATCHES = _schema(
    **{"batch": _LONG, "batch_group": _LONG, "size": _LONG, "problems": _TEXT},
    **{"features": pa.list_(_INT), "identities": pa.list_(_BYTES), "sketches": pa.list_(_BYTES)},
    **{"ids": pa.list_(_TEXT), "counted": _BYTES, "probe": _BYTES, "doubted": _INT},
)
KEYS = _schema(bucket=_INT, batch=_LONG, keys=_BYTES)
COUNTS = _schema(batch=_LONG, bucket=_INT, counts=_BYTES)
PREPARED = _schema(
    batch=_LONG, sketches=pa.list_(_BYTES), searched=pa.list_(pa.bool_()), counts=pa.list_(_BYTES)
)
FILED = _schema(bucket=_INT, batch=_LONG, entries=_BYTES, counts=_BYTES)
#: Lists of a bucket for a batch; or a document of the batch in a closed list.
LISTS = _schema(batch=_LONG, bucket=_INT, entries=_BYTES, closed=_LONG)
#: A pair and its similarity, null if the two are not similar; distance is -1 where there is none.
PAIRS = _schema(later=_LONG, earlier=_LONG, similarity=pa.float64(), distance=_INT)
#: A pair with the unit that verifies it; a pair that was verified before; a document of a batch
#: that a unit needs (unit and place in one number); or a document in a closed list.
CANDIDATES = pa.unify_schemas([PAIRS, _schema(unit=_LONG, batch=_LONG, needed=_LONG, closed=_LONG)])
TEXTS = _schema(unit=_LONG, number=_LONG, text=_TEXT, features=_INT, sketch=_BYTES)
SHINGLES = _schema(counted=_BYTES)


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
    from neardup._engine.recipe_assets import compiled

    # Each task has a core to itself; a pool of threads would take its neighbours'.
    os.environ.setdefault("RAYON_NUM_THREADS", "1")
    return compiled(settings.recipe)


@lru_cache(maxsize=8)
def core_rule(settings: Settings) -> _core.Rule:
    """Return the core's rule; it is made once in each process."""
    return settings.rule.compiled(settings.documents)


@lru_cache(maxsize=8)
def exchange(settings: Settings) -> _core.Exchange:
    """Return the core's steps of the search; they are made once in each process."""
    from neardup import _core

    return _core.Exchange(core_rule(settings), core_recipe(settings), buckets=settings.buckets)


# Records


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
    return pa.record_batch({settings.columns[0]: pa.array(kept, _BYTES)})


def _read(records: pa.RecordBatch, settings: Settings) -> Piece:
    """Read texts, ids and problems of records, as of a source without a name."""
    if settings.lines:
        lines: list[Any] = records.column(0).to_pylist()
        reading = LineReading(_NAMELESS, settings.fields, False)
        return reading.clean(lines) or reading.careful(lines)
    columns = choose_columns(records.schema, settings.fields)
    return piece_of(
        *(records.column, columns, settings.fields, False, _NAMELESS, 0),
        lambda number: f"{_NAMELESS}:{number}",
        records.nbytes,
    )


def _push(corpus: _core.Corpus, read: Piece, settings: Settings) -> list[Problem]:
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
            bounds = pa.array([0, len(items)], _INT)
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


# Search


def keys(row: Mapping[str, Any], settings: Settings) -> pa.Table:
    """Deal the keys of a batch to buckets."""
    batch, sketches = row["batch"].as_py(), row["sketches"].values.to_pylist()
    dealt = exchange(settings).keys(sketches, (batch << PLACE_BITS) + len(sketches) - 1)
    return _table(KEYS, bucket=range(len(dealt)), batch=[batch] * len(dealt), keys=dealt)


def count(asked: pa.Table, *, settings: Settings) -> pa.Table:
    """Count for each batch how many documents have its keys in a bucket."""
    counts = exchange(settings).count(asked.column("keys").to_pylist())
    return _table(COUNTS, batch=asked.column("batch"), bucket=asked.column("bucket"), counts=counts)


def prepare(batches: pa.Table, told: pa.Table, *, settings: Settings) -> pa.Table:
    """Put together the counts of a batch, and which of its documents are searched.

    Those are all with a sketch but for exact copies, whose numbers are in `told`.
    """
    if not batches.num_rows:
        return PREPARED.empty_table()
    row = _first(batches)
    features = row["features"].values.to_numpy()
    searched = features >= max(settings.rule.min_features, 1)
    searched[_valid(told, "number").column("number").to_numpy() & (MAX_BATCH - 1)] = False
    counts = _valid(told, "bucket").sort_by("bucket").column("counts").to_pylist()
    return _table(
        PREPARED,
        batch=[row["batch"].as_py()],
        sketches=[row["sketches"].values.to_pylist()],
        searched=[searched],
        counts=[counts],
    )


class _Prepared:
    """A prepared batch, as the search takes it."""

    def __init__(self, prepared: pa.Table) -> None:
        row = _first(prepared)
        self.batch: int = row["batch"].as_py()
        self.sketches: list[bytes] = row["sketches"].values.to_pylist()
        self.searched = row["searched"].values.to_numpy(zero_copy_only=False)
        self.counts: list[bytes] = row["counts"].values.to_pylist()
        self.numbers = (self.batch << PLACE_BITS) + np.arange(len(self.sketches), dtype=np.int64)


def file(prepared: pa.Table, dropped: pa.Table, *, settings: Settings) -> pa.Table:
    """File the searched documents of a batch that are not dropped.

    The counts go to the buckets again, since they state which lists the batch needs.
    """
    if not prepared.num_rows:
        return FILED.empty_table()
    own = _Prepared(prepared)
    is_filed = own.searched & ~np.isin(own.numbers, dropped.column("number").to_numpy())
    entries = exchange(settings).file(own.sketches, own.numbers, is_filed, own.counts)
    buckets = len(entries)
    return _table(
        FILED,
        bucket=range(buckets),
        batch=[own.batch] * buckets,
        entries=entries,
        counts=own.counts,
    )


def lists(filed: pa.Table, *, settings: Settings) -> pa.Table:
    """Return the lists of a bucket that each batch needs, and the documents in closed ones."""
    of_batches, closed = exchange(settings).lists(
        filed.column("entries").to_pylist(), filed.column("counts").to_pylist()
    )
    batch, bucket = filed.column("batch"), filed.column("bucket")
    return pa.concat_tables(
        [
            _table(LISTS, batch=batch, bucket=bucket, entries=of_batches),
            _table(LISTS, batch=closed >> PLACE_BITS, closed=closed),
        ]
    )


def candidates(prepared: pa.Table, told: pa.Table, *, settings: Settings) -> pa.Table:
    """Return the candidate pairs of a batch, and request the texts that they need.

    Parameters
    ----------
    prepared : Table
        A row of `PREPARED`.
    told : Table
        Rows of `LISTS`; of `PAIRS` that were verified before; and copies, in the column `again`,
        of a text that was dropped: they are searched too.
    settings : Settings
    """
    if not prepared.num_rows:
        return CANDIDATES.empty_table()
    own = _Prepared(prepared)
    again = _valid(told, "again")
    is_asked = own.searched
    if again.num_rows:
        is_asked = is_asked | np.isin(own.numbers, again.column("again").to_numpy())
    later, earlier = exchange(settings).candidates(
        *(own.sketches, own.numbers, is_asked, own.counts),
        _valid(told, "bucket").sort_by("bucket").column("entries").to_pylist(),
    )
    known = _valid(told, "later")
    before = CANDIDATES.empty_table()
    if known.num_rows:
        joined = _table(_schema(later=_LONG, earlier=_LONG), later=later, earlier=earlier).join(
            known.select(PAIRS.names), ["later", "earlier"], use_threads=False
        )
        # Only a pair that was verified has a distance.
        is_new = joined.column("distance").is_null()
        before = _table(CANDIDATES, **_columns(joined.filter(pc.invert(is_new))))
        joined = joined.filter(is_new)
        later, earlier = (joined.column(name).to_numpy() for name in ("later", "earlier"))
    units = units_of(later, earlier, own.batch, settings)
    batch, needed = _requests(later, earlier, units)
    return pa.concat_tables(
        [
            _table(CANDIDATES, later=later, earlier=earlier, unit=units),
            before,
            _table(CANDIDATES, batch=batch, needed=needed),
            # Who is in closed lists is only noted.
            _table(CANDIDATES, closed=_valid(told, "closed").column("closed")),
        ]
    )


def units_of(
    later: NDArray[np.int64], earlier: NDArray[np.int64], batch: int, settings: Settings
) -> NDArray[np.int64]:
    """Return the unit in which each pair of a batch is judged.

    That of the first document that the later one might repeat: so the pairs of similar
    documents meet, and each of their texts goes to few units. If in all batches as many
    repeat it as in this one, and they are more than a unit is for, as many units as they need
    share them by their batches.
    """
    order = np.lexsort((earlier, later))
    begins = np.ones(len(later), np.bool_)
    begins[1:] = later[order][1:] != later[order][:-1]
    firsts, inverse, laters = np.unique(
        earlier[order][begins], return_inverse=True, return_counts=True
    )
    parts = (-(-laters * settings.batches // UNIT_DOCUMENTS)).astype(np.uint64)
    spread = _mix(firsts) ^ _mix(_mix(np.array([batch])) % parts)
    unit = np.empty(len(later), np.int64)
    of_first = _mix(spread) % np.uint64(settings.units)
    unit[order] = of_first[inverse][np.cumsum(begins) - 1]
    return unit


def _mix(numbers: NDArray[Any]) -> NDArray[np.uint64]:
    """Return hashes of whole numbers."""
    mixed = numbers.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    return mixed ^ mixed >> np.uint64(32)


def _requests(
    later: NDArray[np.int64], earlier: NDArray[np.int64], units: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return each document that units need, once: its batch; and unit and place in one number."""
    both = np.concatenate([later, earlier])
    numbers, of_unit = np.unique(np.stack([both, np.concatenate([units, units])]), axis=1)
    return numbers >> PLACE_BITS, of_unit << PLACE_BITS | numbers & (MAX_BATCH - 1)


# Verification


def _read_needed(row: Mapping[str, Any], places: NDArray[np.int64], settings: Settings) -> Piece:
    """Read the records at some places of a batch."""
    fields = row["records"].values.flatten()
    records = pa.RecordBatch.from_arrays(fields, names=list(settings.columns))
    return _read(records.take(pa.array(places)), settings)


def texts(row: Mapping[str, Any], settings: Settings) -> pa.Table:
    """Send what the rule compares of a batch's documents to the units that need it.

    Texts, sketches or both; columns that it does not compare may be missing.
    """
    needed = np.unique(row["needed"].values.to_numpy())
    places, inverse = np.unique(needed & (MAX_BATCH - 1), return_inverse=True)
    columns: dict[str, Any] = {
        "unit": needed >> PLACE_BITS,
        "number": (row["batch"].as_py() << PLACE_BITS) + places[inverse],
    }
    if settings.rule.keeps_texts:
        read: Any = _read_needed(row, places, settings).texts
        columns["text"] = read.fill_null("").take(pa.array(inverse))
    if settings.compares_sketches:
        columns["sketch"] = row["sketches"].values.take(pa.array(places[inverse]))
        columns["features"] = row["features"].values.take(pa.array(places[inverse]))
    return _table(TEXTS, **columns)


def verify(pairs: pa.Table, got: pa.Table, *, settings: Settings, background: Any) -> pa.Table:
    """Return the pairs of a unit with their similarities and distances.

    `background` is what is common, as bytes that Spark has broadcast, or None.
    """
    from neardup import _core

    if not pairs.num_rows:
        return PAIRS.empty_table()
    order = np.argsort(got.column("number").to_numpy())
    numbers = got.column("number").to_numpy()[order]
    texts: Any = pa.nulls(len(numbers), _TEXT)
    if settings.rule.keeps_texts:
        texts = pa.concat_arrays(got.column("text").chunks)
    sketches: list[Any] = [_no_sketch(settings)] * len(numbers)
    features = np.zeros(len(numbers), np.uint32)
    if settings.compares_sketches:
        sketches = got.column("sketch").to_pylist()
        features = got.column("features").to_numpy().astype(np.uint32)
    later, earlier = (pairs.column(name).to_numpy() for name in ("later", "earlier"))
    similarity, distance = _core.judge_pairs(
        core_rule(settings),
        core_recipe(settings),
        None if background is None else _background(background.value),
        texts,
        sketches,
        features,
        order[np.searchsorted(numbers, later)].astype(np.uint32),
        order[np.searchsorted(numbers, earlier)].astype(np.uint32),
    )
    similar = pa.array(similarity, from_pandas=True)
    return _table(PAIRS, later=later, earlier=earlier, similarity=similar, distance=distance)


@lru_cache(maxsize=8)
def _no_sketch(settings: Settings) -> bytes:
    """Return the sketch of nothing, in place of those that the rule does not compare."""
    from neardup import _core

    corpus = _core.Corpus(core_recipe(settings), keeps_texts=False, shingle=None, workers=1)
    corpus.push(pa.array([""], _TEXT), titles=None, units=None)
    return bytes(corpus.sketches()[0])


@lru_cache(maxsize=2)
def _background(common: bytes | None) -> _core.Background | None:
    """Return what is common; it is read once in each process."""
    from neardup import _core

    return None if common is None else _core.Background.from_bytes(common)


# What the collection has in common


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
    _push(corpus, _read_needed(row, row["needed"].values.to_numpy(), settings), settings)
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


# Tables


def _table(schema: pa.Schema, **columns: Any) -> pa.Table:
    """Return a table of a schema; columns that are not named are null."""
    rows = len(next(iter(columns.values())))
    arrays = [
        _array(columns[field.name], field.type)
        if field.name in columns
        else pa.nulls(rows, field.type)
        for field in schema
    ]
    return pa.table(arrays, schema=schema)


def _array(values: Any, type: pa.DataType) -> Any:
    if isinstance(values, (pa.Array, pa.ChunkedArray)):
        return values.cast(type)
    return pa.array(values, type)


def _columns(table: pa.Table) -> dict[str, Any]:
    return {name: table.column(name) for name in table.column_names}


def _first(table: pa.Table) -> dict[str, Any]:
    return {name: table.column(name)[0] for name in table.column_names}


def _valid(told: pa.Table, column: str) -> pa.Table:
    """Return the rows that have a column; none if the table has no such column."""
    if column not in told.column_names:
        return told.slice(0, 0)
    return told.filter(told.column(column).is_valid())
