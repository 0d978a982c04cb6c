"""Kernels of the search: what a task does with one batch, bucket or unit. Arrow tables in and out.

Keys are partitioned into *buckets* by hash, candidate pairs into *units*. In order of use:

| kernel | of a | input | output |
|---|---|---|---|
| `keys` | batch | sketches, repeated texts | per bucket: keys, their frequencies in the batch |
| `count` | bucket | keys | per batch: document frequencies of its keys |
| `file` | batch | frequencies, dropped documents | per bucket: postings |
| `lists` | bucket | postings | per batch: posting lists of its keys |
| `candidates` | batch | frequencies, lists, known pairs | candidate pairs, requests |
| `select` | batch | samples, requests | per unit: samples |
| `rule_out` | unit | pairs, samples | pairs that samples leave open, requests for texts |
| `verify` | unit | pairs, texts | similarities |
| `apply_rule` | all | similar pairs | dropped documents |

The core does most of the work (`neardup._core.Shuffle`). The inputs of a batch that come from
several sources are one table, `inputs`; each row has values in some of its columns. Spark handles
each row and each value apart, so what only kernels read is one row of bytes: pairs, say.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

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

#: Documents per unit that judges by samples. The fewer units, the fewer need the same sample.
UNIT_SAMPLES = 1 << 18

KEYS = arrow_schema(batch=LONG, bucket=INT, keys=BYTES)
COUNTS = arrow_schema(batch=LONG, bucket=INT, counts=BYTES)
FILED = arrow_schema(batch=LONG, bucket=INT, entries=BYTES, counts=BYTES)
#: The lists of a bucket that a batch asked for. The first row of a bucket also has the documents in
#: its full lists, and each document that a full list left out, with the key of that list.
LISTS = arrow_schema(
    batch=LONG,
    bucket=INT,
    entries=BYTES,
    closed=pa.list_(LONG),
    full_key=pa.list_(LONG),
    left_out=pa.list_(LONG),
)
#: A pair and its similarity; distance is -1 without fingerprints.
PAIRS = arrow_schema(later=LONG, earlier=LONG, similarity=pa.float64(), distance=INT)
#: One of: pairs, as bytes of `_PAIR`, for the unit that judges them; the places of documents of a
#: batch that a unit needs.
REQUESTS = arrow_schema(unit=LONG, pairs=BYTES, batch=LONG, places=pa.list_(INT))
#: One of: a similar pair; judged pairs of the documents of a batch, as bytes of `_JUDGED`.
JUDGED = pa.unify_schemas([PAIRS, arrow_schema(batch=LONG, judged=BYTES)])
#: One of: a row of `REQUESTS`; a similar pair that was judged before; the number of candidate pairs
#: of a batch; the last three of `LISTS`.
CANDIDATES = pa.unify_schemas(
    [REQUESTS, PAIRS, arrow_schema(found=LONG), pa.schema([LISTS.field(at) for at in (3, 4, 5)])]
)
#: Requests for the texts of pairs that samples could not decide, and the pairs that they ruled out.
RULED = pa.unify_schemas([REQUESTS, arrow_schema(judged=BYTES)])
SAMPLES = arrow_schema(unit=LONG, samples=BYTES)

_PAIR = np.dtype([("later", "<i8"), ("earlier", "<i8")])
_JUDGED = np.dtype([*_PAIR.descr, ("similarity", "<f8"), ("distance", "<i4")])


@lru_cache(maxsize=8)
def core_rule(settings: Settings) -> _core.Rule:
    """Return the core's rule; computed once per process."""
    return settings.rule.compiled(settings.documents)


@lru_cache(maxsize=8)
def core_shuffle(settings: Settings) -> _core.Shuffle:
    """Return the core's search steps; computed once per process."""
    from neardup import _core

    return _core.Shuffle(core_rule(settings), core_recipe(settings), buckets=settings.buckets)


def keys(batches: pa.Table, repeats: pa.Table, *, settings: Settings) -> pa.Table:
    """Partition the keys of a batch into buckets; those of `repeats` of a text are not counted."""
    if not batches.num_rows:
        return KEYS.empty_table()
    documents = _Batch(batches, repeats, settings)
    dealt = core_shuffle(settings).keys(
        documents.sketches, int(documents.numbers[-1]), ~documents.skipped
    )
    batch = [documents.number] * len(dealt)
    return _table(KEYS, bucket=range(len(dealt)), batch=batch, keys=dealt)


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
        self.skipped = np.isin(self.numbers, skipped)
        has_sketch = features >= settings.rule.least_features
        candidates = has_sketch & ~self.skipped
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
    rows = len(of_batches)

    def first(values: NDArray[np.int64]) -> Any:
        bounds = pa.array([0, *[len(values)] * rows], INT)
        # The first row has all values, which the batch passes on.
        return pa.ListArray.from_arrays(bounds, pa.array(values, LONG))

    return _table(
        LISTS,
        batch=filed.column("batch"),
        bucket=filed.column("bucket"),
        entries=of_batches,
        closed=first(closed),
        full_key=first(full),
        left_out=first(left_out),
    )


def candidates(batches: pa.Table, inputs: pa.Table, *, settings: Settings) -> pa.Table:
    """Return the candidate pairs of a batch, and requests for what judges them.

    `inputs` also has rows of `LISTS`, and rows of `JUDGED` or `RULED` from earlier rounds.
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
    found = len(later)
    known = _read(inputs, "judged", _JUDGED)
    is_new, is_again = _match(later, earlier, known)
    later, earlier, known = later[is_new], earlier[is_new], known[is_again]
    units = units_of(later, earlier, settings, settings.batches)
    full = _valid(inputs, "closed")
    names = ("closed", "full_key", "left_out")
    return pa.concat_tables(
        [
            _widened(CANDIDATES, requests(later, earlier, units)),
            _widened(CANDIDATES, _similar(known)),
            _table(CANDIDATES, found=[found]),
            # Documents in and out of full lists are only passed on.
            _table(CANDIDATES, **{name: full.column(name) for name in names}),
        ]
    )


def _match(
    later: NDArray[np.int64], earlier: NDArray[np.int64], known: NDArray[Any]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which pairs are not among the known ones, and which known ones are among the pairs."""
    is_twice = np.zeros(len(later) + len(known), np.bool_)
    if len(known):
        pairs = np.empty((2, len(is_twice)), np.int64)
        pairs[0] = np.concatenate([later, known["later"]])
        pairs[1] = np.concatenate([earlier, known["earlier"]])
        order = np.lexsort(pairs[::-1])
        same = np.flatnonzero((pairs[:, order[1:]] == pairs[:, order[:-1]]).all(axis=0))
        is_twice[order[same]] = is_twice[order[same + 1]] = True
    return ~is_twice[: len(later)], is_twice[len(later) :]


def requests(
    later: NDArray[np.int64], earlier: NDArray[np.int64], units: NDArray[np.int64]
) -> pa.Table:
    """Return rows of `REQUESTS`: the pairs of each unit, and the documents that it needs."""
    pairs = np.empty(len(later), _PAIR)
    pairs["later"], pairs["earlier"] = later, earlier
    names, parts = _parts(units, pairs)
    unit, batch, places, bounds = [], [], [], [0]
    for name, part in zip(names.tolist(), parts, strict=True):
        numbers = np.unique(np.frombuffer(part, np.int64))
        of_batch, begins = np.unique(numbers >> PLACE_BITS, return_index=True)
        unit += [name] * len(of_batch)
        batch += of_batch.tolist()
        bounds += (bounds[-1] + np.append(begins[1:], len(numbers))).tolist()
        places.append(numbers & (MAX_BATCH - 1))
    every = pa.array(np.concatenate([*places, np.empty(0, np.int64)]), INT)
    of_each = pa.ListArray.from_arrays(pa.array(bounds, INT), every)
    return pa.concat_tables(
        [
            _table(REQUESTS, unit=names, pairs=parts),
            _table(REQUESTS, batch=batch, unit=unit, places=of_each),
        ]
    )


def _parts(keys: NDArray[np.int64], values: NDArray[Any]) -> tuple[NDArray[np.int64], list[bytes]]:
    """Return the keys, ascending, and the bytes of the values of each."""
    keys, places = np.unique(keys, return_inverse=True)
    # Small numbers are sorted in one pass.
    order = np.argsort(places.astype(np.min_scalar_type(len(keys))), kind="stable")
    ends = np.cumsum(np.bincount(places, minlength=len(keys)))
    return keys, [part.tobytes() for part in np.split(values[order], ends)[: len(keys)]]


def _of_batches(schema: pa.Schema, judged: NDArray[Any]) -> pa.Table:
    """Return judged pairs by the batch of the later document."""
    batch, parts = _parts(judged["later"] >> PLACE_BITS, judged)
    return _table(schema, batch=batch, judged=parts)


def _similar(judged: NDArray[Any]) -> pa.Table:
    """Return the similar ones of judged pairs as rows of `PAIRS`."""
    similar = judged[~np.isnan(judged["similarity"])]
    return _table(PAIRS, **{name: similar[name] for name in PAIRS.names})


def _widened(schema: pa.Schema, rows: pa.Table) -> pa.Table:
    """Return the rows with further columns, which are null."""
    return _table(schema, **{name: rows.column(name) for name in rows.column_names})


def select(row: Mapping[str, Any]) -> pa.Table:
    """Return the samples of a batch's documents that each unit needs."""
    from neardup import _core

    samples = row["samples"].as_py()
    first = row["batch"].as_py() << PLACE_BITS
    asked = row["needed"].values
    unit, places = asked.field("unit").to_pylist(), asked.field("places")
    numbers = [first + place.values.to_numpy().astype(np.int64) for place in places]
    selected = [_core.select_samples(samples, np.sort(of_unit)) for of_unit in numbers]
    return _table(SAMPLES, unit=unit, samples=selected)


def rule_out(pairs: pa.Table, got: pa.Table, *, settings: Settings, background: Any) -> pa.Table:
    """Return the pairs of a unit that samples leave open, with requests for the texts, and the
    others as judged pairs."""
    from neardup import _core

    if not pairs.num_rows:
        return RULED.empty_table()
    known = _background(background.value)
    asked = _read(pairs, "pairs", _PAIR)
    later, earlier = (np.ascontiguousarray(asked[name]) for name in ("later", "earlier"))
    is_open = np.ones(len(asked), np.bool_)
    if known is not None:
        samples: list[Any] = got.column("samples").to_pylist()
        rules = core_rule(settings), core_recipe(settings)
        is_open = _core.open_pairs(*rules, known, samples, later, earlier)
    ruled_out = np.empty(len(asked) - int(is_open.sum()), _JUDGED)
    ruled_out["later"], ruled_out["earlier"] = later[~is_open], earlier[~is_open]
    ruled_out["similarity"], ruled_out["distance"] = np.nan, -1
    later, earlier = later[is_open], earlier[is_open]
    units = units_of(later, earlier, replace(settings, units=settings.text_units), 1)
    return pa.concat_tables(
        [
            _widened(RULED, requests(later, earlier, units)),
            _of_batches(RULED, ruled_out),
        ]
    )


def _read(rows: pa.Table, column: str, type: np.dtype[Any]) -> NDArray[Any]:
    """Return the values of all bytes in a column; none if the column is missing."""
    blobs: list[Any] = []
    if column in rows.column_names:
        blobs = rows.column(column).drop_null().to_pylist()
    return np.frombuffer(b"".join(blobs), type)


def units_of(
    later: NDArray[np.int64], earlier: NDArray[np.int64], settings: Settings, batches: int
) -> NDArray[np.int64]:
    """Return the unit that judges each pair.

    The pairs are those of one batch of `batches`, sorted by the later document.

    The unit is chosen by the first candidate of the later document: thus the pairs of similar
    documents meet, and each document is sent to few units. If a first candidate is estimated (from
    these pairs, for all batches) to have more later documents than a unit should, its pairs are
    divided by batch among as many units as they need.
    """
    begins = np.flatnonzero(np.append(True, later[1:] != later[:-1])[: len(later)])
    if not len(begins):
        return np.empty(0, np.int64)
    firsts, inverse, laters = np.unique(
        np.minimum.reduceat(earlier, begins), return_inverse=True, return_counts=True
    )
    parts = (-(-laters * batches // UNIT_DOCUMENTS)).astype(np.uint64)
    spread = _mix(firsts)[inverse] ^ _mix(_mix(later[begins] >> PLACE_BITS) % parts[inverse])
    unit = (_mix(spread) % np.uint64(settings.units)).astype(np.int64)
    return np.repeat(unit, np.diff(np.append(begins, len(later))))


def _mix(numbers: NDArray[Any]) -> NDArray[np.uint64]:
    """Return hashes of integers."""
    mixed = numbers.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    return mixed ^ mixed >> np.uint64(32)


def verify(pairs: pa.Table, got: pa.Table, *, settings: Settings, background: Any) -> pa.Table:
    """Return the similar pairs of a unit, with similarities and distances, and all judged ones.

    `got` has the numbers of the unit's documents, and the columns of `BATCHES` that the rule
    compares; `background` the common shingles, as bytes that Spark has broadcast, or None.
    """
    from neardup import _core

    if not pairs.num_rows:
        return JUDGED.empty_table()
    order = np.argsort(got.column("number").to_numpy())
    numbers = got.column("number").to_numpy()[order]
    texts: Any = pa.nulls(len(numbers), TEXT)
    if settings.rule.keeps_texts:
        texts = pa.concat_arrays(got.column("texts").chunks).fill_null("")
    sketches: list[Any] = [_no_sketch(settings)] * len(numbers)
    features = got.column("features").to_numpy().astype(np.uint32)
    if settings.compares_sketches:
        sketches = got.column("sketches").to_pylist()
    asked = _read(pairs, "pairs", _PAIR)
    judged = np.empty(len(asked), _JUDGED)
    judged["later"], judged["earlier"] = asked["later"], asked["earlier"]
    judged["similarity"], judged["distance"] = _core.judge_pairs(
        core_rule(settings),
        core_recipe(settings),
        None if background is None else _background(background.value),
        texts,
        sketches,
        features,
        order[np.searchsorted(numbers, asked["later"])].astype(np.uint32),
        order[np.searchsorted(numbers, asked["earlier"])].astype(np.uint32),
    )
    return pa.concat_tables([_widened(JUDGED, _similar(judged)), _of_batches(JUDGED, judged)])


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


def _bodies(inputs: pa.Table, column: str) -> list[Any]:
    """Return the values of a column, one per bucket; none if the column is missing."""
    rows = _valid(inputs, column)
    return rows.sort_by("bucket").column(column).to_pylist() if rows.num_rows else []
