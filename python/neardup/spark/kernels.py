"""Kernels of the search: what a task does with one batch, bucket or unit. Arrow tables in and out.

Keys are partitioned into *buckets* by hash, candidate pairs into *units*. In order of use:

| kernel | of a | input | output |
|---|---|---|---|
| `keys` | batch | sketches | per bucket: keys and their frequencies in the batch |
| `count` | bucket | keys | per batch: document frequencies of its keys |
| `file` | batch | frequencies, dropped documents | per bucket: postings |
| `lists` | bucket | postings | per batch: posting lists of its keys |
| `candidates` | batch | frequencies, lists, known pairs | candidate pairs, requests for texts |
| `verify` | unit | pairs, texts | similarities |
| `apply_rule` | all | similar pairs | dropped documents |

The core does most of the work (`neardup._core.Shuffle`). The inputs of a batch that come from
several sources are one table, `inputs`; each row has values in some of its columns.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.spark.ordering import MAX_BATCH, PLACE_BITS
from neardup.spark.sketching import (
    BYTES,
    INT,
    LONG,
    TEXT,
    Settings,
    arrow_schema,
    core_recipe,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from neardup import _core

#: Documents per verification unit. A unit holds the texts of some of them.
UNIT_DOCUMENTS = 1 << 14

KEYS = arrow_schema(batch=LONG, bucket=INT, keys=BYTES)
COUNTS = arrow_schema(batch=LONG, bucket=INT, counts=BYTES)
FILED = arrow_schema(batch=LONG, bucket=INT, entries=BYTES, counts=BYTES)
#: One of: a bucket's lists for a batch; a document of the batch that is in a full list; one that
#: the full list of a key left out.
LISTS = arrow_schema(
    batch=LONG, bucket=INT, entries=BYTES, closed=LONG, full_key=LONG, left_out=LONG
)
#: A pair and its similarity, null if not similar; distance is -1 without fingerprints.
PAIRS = arrow_schema(later=LONG, earlier=LONG, similarity=pa.float64(), distance=INT)
#: One of: a pair with the unit that verifies it; a pair verified before; a document of a batch
#: that a unit needs (unit and place in one number); the last two of `LISTS`.
CANDIDATES = pa.unify_schemas(
    [
        PAIRS,
        arrow_schema(unit=LONG, batch=LONG, needed=LONG, closed=LONG, full_key=LONG, left_out=LONG),
    ]
)


@lru_cache(maxsize=8)
def core_rule(settings: Settings) -> _core.Rule:
    """Return the core's rule; computed once per process."""
    return settings.rule.compiled(settings.documents)


@lru_cache(maxsize=8)
def core_shuffle(settings: Settings) -> _core.Shuffle:
    """Return the core's search steps; computed once per process."""
    from neardup import _core

    return _core.Shuffle(core_rule(settings), core_recipe(settings), buckets=settings.buckets)


def keys(row: Mapping[str, Any], settings: Settings) -> pa.Table:
    """Partition the keys of a batch into buckets."""
    batch, sketches = row["batch"].as_py(), row["sketches"].values.to_pylist()
    dealt = core_shuffle(settings).keys(sketches, (batch << PLACE_BITS) + len(sketches) - 1)
    return _table(KEYS, bucket=range(len(dealt)), batch=[batch] * len(dealt), keys=dealt)


def count(asked: pa.Table, *, settings: Settings) -> pa.Table:
    """Return, for each batch, the document frequencies of its keys in a bucket."""
    dealt: list[Any] = asked.column("keys").to_pylist()
    counts = core_shuffle(settings).count(dealt)
    return _table(COUNTS, batch=asked.column("batch"), bucket=asked.column("bucket"), counts=counts)


class _Batch:
    """A batch with its counts; documents `skipped` are neither searched nor filed."""

    def __init__(self, batches: pa.Table, inputs: pa.Table, settings: Settings) -> None:
        row = {name: batches.column(name)[0] for name in batches.column_names}
        self.number: int = row["batch"].as_py()
        self.sketches: list[bytes] = row["sketches"].values.to_pylist()
        self.counts = _bodies(inputs, "counts")
        features = row["features"].values.to_numpy()
        self.numbers = (self.number << PLACE_BITS) + np.arange(len(features), dtype=np.int64)
        skipped = _valid(inputs, "skipped").column("skipped").to_numpy()
        has_sketch = features >= max(settings.rule.min_features, 1)
        candidates = has_sketch & ~np.isin(self.numbers, skipped)
        # The documents of another collection are filed without a comparison.
        is_own, none = self.number >= settings.first, np.zeros_like(candidates)
        self.searched = candidates if is_own else none
        self.filed = none if is_own and settings.against_only else candidates


def file(batches: pa.Table, inputs: pa.Table, *, settings: Settings) -> pa.Table:
    """Add documents of a batch to the inverted index."""
    if not batches.num_rows:
        return FILED.empty_table()
    documents = _Batch(batches, inputs, settings)
    entries = core_shuffle(settings).file(
        documents.sketches, documents.numbers, documents.filed, documents.counts
    )
    batch = [documents.number] * len(entries)
    return _table(
        FILED, batch=batch, bucket=range(len(entries)), entries=entries, counts=documents.counts
    )


def lists(filed: pa.Table, *, settings: Settings) -> pa.Table:
    """Return a bucket's lists that each batch needs, and the documents in and out of full lists."""
    entries: list[Any] = filed.column("entries").to_pylist()
    counts: list[Any] = filed.column("counts").to_pylist()
    of_batches, closed, full, left_out = core_shuffle(settings).lists(entries, counts)
    batch, bucket = filed.column("batch"), filed.column("bucket")
    return pa.concat_tables(
        [
            _table(LISTS, batch=batch, bucket=bucket, entries=of_batches),
            _table(LISTS, batch=closed >> PLACE_BITS, closed=closed),
            _table(LISTS, batch=left_out >> PLACE_BITS, full_key=full, left_out=left_out),
        ]
    )


def candidates(batches: pa.Table, inputs: pa.Table, *, settings: Settings) -> pa.Table:
    """Return the candidate pairs of a batch, and requests for the texts that they need.

    `inputs` also has rows of `LISTS`, and rows of `PAIRS` from earlier rounds.
    """
    if not batches.num_rows:
        return CANDIDATES.empty_table()
    documents = _Batch(batches, inputs, settings)
    later, earlier = core_shuffle(settings).candidates(
        documents.sketches,
        documents.numbers,
        documents.searched,
        documents.counts,
        _bodies(inputs, "entries"),
    )
    known = _valid(inputs, "later")
    before = CANDIDATES.empty_table()
    if known.num_rows:
        joined = _table(arrow_schema(later=LONG, earlier=LONG), later=later, earlier=earlier).join(
            known.select(PAIRS.names), ["later", "earlier"], use_threads=False
        )
        # Only pairs that were verified have a distance.
        is_new = joined.column("distance").is_null()
        old = joined.filter(pc.invert(is_new))
        before = _table(CANDIDATES, **{name: old.column(name) for name in PAIRS.names})
        joined = joined.filter(is_new)
        later, earlier = (joined.column(name).to_numpy() for name in ("later", "earlier"))
    units = units_of(later, earlier, documents.number, settings)
    batch, needed = _requests(later, earlier, units)
    return pa.concat_tables(
        [
            _table(CANDIDATES, later=later, earlier=earlier, unit=units),
            before,
            _table(CANDIDATES, batch=batch, needed=needed),
            # Documents in and out of full lists are only passed on.
            _passed(inputs, "closed"),
            _passed(inputs, "full_key", "left_out"),
        ]
    )


def units_of(
    later: NDArray[np.int64], earlier: NDArray[np.int64], batch: int, settings: Settings
) -> NDArray[np.int64]:
    """Return the unit that verifies each pair of a batch.

    The unit is chosen by the first candidate of the later document: thus the pairs of similar
    documents meet, and each text is sent to few units. If a first candidate is estimated (from
    this batch, for all batches) to have more later documents than a unit should, its pairs are
    divided by batch among as many units as they need.
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
    """Return hashes of integers."""
    mixed = numbers.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    return mixed ^ mixed >> np.uint64(32)


def _requests(
    later: NDArray[np.int64], earlier: NDArray[np.int64], units: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return each document that a unit needs, once: its batch, and unit and place in one number."""
    numbers, of_unit = np.concatenate([later, earlier]), np.concatenate([units, units])
    # `np.unique` of pairs compares them as strings of bytes, which takes seven times as long.
    order = np.lexsort((of_unit, numbers))
    numbers, of_unit = numbers[order], of_unit[order]
    is_new = np.ones(len(order), np.bool_)
    is_new[1:] = (numbers[1:] != numbers[:-1]) | (of_unit[1:] != of_unit[:-1])
    numbers, of_unit = numbers[is_new], of_unit[is_new]
    return numbers >> PLACE_BITS, of_unit << PLACE_BITS | numbers & (MAX_BATCH - 1)


def verify(pairs: pa.Table, got: pa.Table, *, settings: Settings, background: Any) -> pa.Table:
    """Return the pairs of a unit with their similarities and distances.

    `got` has the numbers of the unit's documents, and the columns of `BATCHES` that the rule
    compares; `background` the common shingles, as bytes that Spark has broadcast, or None.
    """
    from neardup import _core

    if not pairs.num_rows:
        return PAIRS.empty_table()
    order = np.argsort(got.column("number").to_numpy())
    numbers = got.column("number").to_numpy()[order]
    texts: Any = pa.nulls(len(numbers), TEXT)
    if settings.rule.keeps_texts:
        texts = pa.concat_arrays(got.column("texts").chunks).fill_null("")
    sketches: list[Any] = [_no_sketch(settings)] * len(numbers)
    features = np.zeros(len(numbers), np.uint32)
    if settings.compares_sketches:
        sketches = got.column("sketches").to_pylist()
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


def apply_rule(pairs: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the documents that the one rule drops, given all similar pairs by the later document.

    Examples
    --------
    A chain: the second repeats the first, so the third is kept.

    >>> pairs = pa.record_batch({"later": [2, 3, 4], "earlier": [1, 2, 2]})
    >>> [batch["number"].to_pylist() for batch in apply_rule([pairs])]
    [[2]]
    """
    #: A bit for each document of a batch.
    dropped: dict[int, int] = {}
    last = -1
    for batch in pairs:
        numbers = []
        for later, earlier in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            bits = dropped.get(earlier >> PLACE_BITS, 0)
            if later != last and not bits >> (earlier & (MAX_BATCH - 1)) & 1:
                last = later
                numbers.append(later)
                place = 1 << (later & (MAX_BATCH - 1))
                dropped[later >> PLACE_BITS] = dropped.get(later >> PLACE_BITS, 0) | place
        yield pa.record_batch({"number": pa.array(numbers, LONG)})


@lru_cache(maxsize=8)
def _no_sketch(settings: Settings) -> bytes:
    """Return an empty sketch, a placeholder where the rule does not compare sketches."""
    from neardup import _core

    corpus = _core.Corpus(core_recipe(settings), keeps_texts=False, shingle=None, workers=1)
    corpus.push(pa.array([""], TEXT), titles=None, units=None)
    return bytes(corpus.sketches()[0])


@lru_cache(maxsize=2)
def _background(common: bytes | None) -> _core.Background | None:
    """Return the background statistics; decoded once per process."""
    from neardup import _core

    return None if common is None else _core.Background.from_bytes(common)


def _table(schema: pa.Schema, **columns: Any) -> pa.Table:
    """Return a table with a schema; columns that are not given are null."""
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


def _valid(inputs: pa.Table, column: str) -> pa.Table:
    """Return the rows with a value in a column; none if the column is missing."""
    if column not in inputs.column_names:
        return inputs.slice(0, 0)
    return inputs.filter(inputs.column(column).is_valid())


def _passed(inputs: pa.Table, *names: str) -> pa.Table:
    """Return the columns of the rows with a value in the first one."""
    rows = _valid(inputs, names[0])
    return _table(CANDIDATES, **{name: rows.column(name) for name in names})


def _bodies(inputs: pa.Table, column: str) -> list[Any]:
    """Return the values of a column, one per bucket."""
    return _valid(inputs, column).sort_by("bucket").column(column).to_pylist()
