"""Kernels of the search: what a task does with one batch, bucket or unit. Arrow tables in and out.

Keys are partitioned into *buckets* by hash, candidate pairs into *units*. In order of use:

| kernel | of a | input | output |
|---|---|---|---|
| `texts` | batch | identities | per bucket: texts |
| `repeats` | bucket | texts | per batch: exact copies |
| `keys` | batch | sketches, copies | per bucket: keys, their frequencies in the batch |
| `count` | bucket | keys | per batch: document frequencies of its keys |
| `file` | batch | frequencies, dropped documents | per bucket: postings |
| `lists` | bucket | postings | per batch: posting lists of its keys |
| `candidates` | batch | frequencies, lists, known pairs | candidate pairs, requests |
| `select` | batch | samples, requests | per unit: samples |
| `rule_out` | unit | pairs, samples | pairs that samples leave open, requests for texts |
| `verify` | unit | pairs, texts | similarities |
| `Keeping.decide` | batch, in order | similar pairs, copies | dropped and removed documents |

The core does most of the work (`neardup._core.Shuffle`). The inputs of a batch that come from
several sources are one table, `inputs`; each row has values in some of its columns. Spark handles
each row and each value apart, so what only kernels read is one row of bytes: pairs, say.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
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

#: The texts of a batch that belong to a bucket, as bytes of `_TEXT`.
TEXTS = arrow_schema(bucket=INT, batch=LONG, batch_group=LONG, texts=BYTES)
#: Exact copies of earlier texts among the documents of a batch, as bytes of `_COPY`; and the places
#: of those whose shingles were counted although another group had counted the same text.
COPIES = arrow_schema(batch=LONG, copies=BYTES, overcounted=pa.list_(INT))
#: The documents of a batch that are the first with their text.
FIRSTS = arrow_schema(batch=LONG, places=pa.list_(INT))
KEYS = arrow_schema(batch=LONG, bucket=INT, keys=BYTES)
COUNTS = arrow_schema(batch=LONG, bucket=INT, counts=BYTES)
FILED = arrow_schema(batch=LONG, bucket=INT, entries=BYTES, counts=BYTES)
#: The lists of a bucket that a batch asked for. The first row of a bucket also has its full lists
#: and what these left out, as bytes of `_FULL`.
LISTS = arrow_schema(batch=LONG, bucket=INT, entries=BYTES, full=BYTES)
NUMBERS = arrow_schema(numbers=pa.list_(LONG))
#: What full lists leave out: the number of these lists, of pairs of such documents, the documents.
LEFT_OUT = arrow_schema(lists=LONG, pairs=LONG, documents=pa.list_(LONG))
#: One of: pairs, as bytes of `_PAIR`, for the unit that judges them; the places of documents of a
#: batch that a unit needs.
REQUESTS = arrow_schema(unit=LONG, pairs=BYTES, batch=LONG, places=pa.list_(INT))
#: Judged pairs of the documents of a batch, and the similar ones of them, as bytes of `_JUDGED`.
JUDGED = arrow_schema(batch=LONG, judged=BYTES, similar=BYTES)
#: One of: a row of `REQUESTS`; similar pairs that were judged before; the number of pairs that were
#: not; the last of `LISTS`.
CANDIDATES = pa.unify_schemas([REQUESTS, arrow_schema(similar=BYTES, found=LONG, full=BYTES)])
#: Requests for the texts of pairs that samples could not decide, and the pairs that they ruled out.
RULED = pa.unify_schemas([REQUESTS, arrow_schema(judged=BYTES)])
SAMPLES = arrow_schema(unit=LONG, samples=BYTES)
#: What the one rule decides on a batch: the documents that it drops, besides exact copies; the
#: copies that are compared `again`, as the first with their text is dropped; and for each document
#: to remove, the most similar kept one. The distance is -1 without fingerprints.
DECIDED = arrow_schema(
    batch=LONG,
    dropped=pa.list_(LONG),
    again=pa.list_(LONG),
    removed=pa.list_(
        pa.struct(
            arrow_schema(
                number=LONG,
                kept=LONG,
                similarity=pa.float64(),
                distance=INT,
                identical=pa.bool_(),
            )
        )
    ),
)

_TEXT = np.dtype([("low", "<u8"), ("high", "<u8"), ("place", "<u2"), ("kind", "u1")])
_COPY = np.dtype([("number", "<i8"), ("first", "<i8"), ("distance", "<i4")])
_ENTRY = np.dtype([("key", "<u4"), ("min_overlap", "<u2"), ("number", "<i8")])
_FULL = np.dtype([("key", "<u4"), ("number", "<i8"), ("is_held", "?")])
_PAIR = np.dtype([("later", "<i8"), ("earlier", "<i8")])
_JUDGED = np.dtype([*_PAIR.descr, ("similarity", "<f8"), ("distance", "<i4")])

#: Kinds of a text: without features, with too few for a fingerprint, with one.
_EMPTY, _SHORT, _SKETCHED = range(3)


@lru_cache(maxsize=8)
def core_rule(settings: Settings) -> _core.Rule:
    """Return the core's rule; computed once per process."""
    return settings.rule.compiled(settings.documents)


@lru_cache(maxsize=8)
def core_shuffle(settings: Settings) -> _core.Shuffle:
    """Return the core's search steps; computed once per process."""
    from neardup import _core

    return _core.Shuffle(core_rule(settings), core_recipe(settings), buckets=settings.buckets)


def texts(row: Mapping[str, Any], *, settings: Settings) -> pa.Table:
    """Partition the texts of a batch into buckets by their identities; what could not be read is
    left out."""
    features = row["features"].values.to_numpy()
    of_batch = np.empty(len(features), _TEXT)
    identities = np.frombuffer(row["identities"].as_py(), "<u8")
    of_batch["low"], of_batch["high"] = identities[0::2], identities[1::2]
    of_batch["place"] = np.arange(len(features))
    has_fingerprint = features >= max(settings.rule.min_features, 1)
    has_fingerprint &= settings.recipe.sketch.kind == "simhash"
    of_batch["kind"] = np.where(has_fingerprint, _SKETCHED, np.where(features > 0, _SHORT, _EMPTY))
    of_batch = of_batch[features >= 0]
    buckets, parts = _parts(of_batch["low"] % np.uint64(settings.buckets), of_batch)
    same = {name: [row[name].as_py()] * len(parts) for name in ("batch", "batch_group")}
    return _table(TEXTS, bucket=buckets, texts=parts, **same)


def repeats(rows: pa.Table) -> pa.Table:
    """Return the exact copies among the texts of a bucket, by batch."""
    blobs: list[Any] = rows.column("texts").to_pylist()
    every = np.frombuffer(b"".join(blobs), _TEXT)
    sizes = [len(blob) // _TEXT.itemsize for blob in blobs]
    batch, group = (
        np.repeat(rows.column(name).to_numpy(), sizes) for name in ("batch", "batch_group")
    )
    number = (batch << PLACE_BITS) + every["place"]
    order = np.lexsort((number, group, every["low"], every["high"]))
    every, number, group = every[order], number[order], group[order]
    is_new = (every["low"][1:] != every["low"][:-1]) | (every["high"][1:] != every["high"][:-1])
    is_new = np.append(True, is_new)[: len(every)]
    first = np.minimum.reduceat(number, np.flatnonzero(is_new))[np.cumsum(is_new) - 1]
    counted = is_new | np.append(True, group[1:] != group[:-1])[: len(every)]
    is_copy = number != first
    copies = np.empty(int(is_copy.sum()), _COPY)
    copies["number"], copies["first"] = number[is_copy], first[is_copy]
    copies["distance"] = np.where(every["kind"][is_copy] == _SKETCHED, 0, -1)
    again = number[is_copy & counted & (every["kind"] != _EMPTY)]
    batches, parts = _parts(copies["number"] >> PLACE_BITS, copies)
    again_batches, places = _parts(again >> PLACE_BITS, (again & (MAX_BATCH - 1)).astype(np.int32))
    return pa.concat_tables(
        [
            _table(COPIES, batch=batches, copies=parts),
            _table(
                COPIES,
                batch=again_batches,
                overcounted=[np.frombuffer(part, np.int32) for part in places],
            ),
        ]
    )


def firsts(batches: pa.Table, inputs: pa.Table) -> pa.Table:
    """Return the documents of a batch that are the first with their text."""
    if not batches.num_rows:
        return FIRSTS.empty_table()
    features = batches.column("features")[0].values.to_numpy()
    is_first = features >= 0
    is_first[_read(inputs, "copies", _COPY)["number"] & (MAX_BATCH - 1)] = False
    return _table(FIRSTS, batch=batches.column("batch"), places=[np.flatnonzero(is_first)])


def keys(batches: pa.Table, inputs: pa.Table, *, settings: Settings) -> pa.Table:
    """Partition the keys of a batch into buckets; those of exact copies are not counted."""
    if not batches.num_rows:
        return KEYS.empty_table()
    documents = _Batch(batches, inputs, settings)
    is_copy = np.isin(documents.numbers, _read(inputs, "copies", _COPY)["number"])
    dealt = core_shuffle(settings).keys(documents.sketches, int(documents.numbers[-1]), ~is_copy)
    batch = [documents.number] * len(dealt)
    return _table(KEYS, bucket=range(len(dealt)), batch=batch, keys=dealt)


def count(asked: pa.Table, *, settings: Settings) -> pa.Table:
    """Return, for each batch, the document frequencies of its keys in a bucket."""
    dealt: list[Any] = asked.column("keys").to_pylist()
    counts = core_shuffle(settings).count(dealt)
    return _table(COUNTS, batch=asked.column("batch"), bucket=asked.column("bucket"), counts=counts)


class _Batch:
    """The documents of a batch, with what other tasks and earlier rounds tell it."""

    def __init__(self, batches: pa.Table, inputs: pa.Table, settings: Settings) -> None:
        row = {name: batches.column(name)[0] for name in batches.column_names}
        self.number: int = row["batch"].as_py()
        self.sketches: list[bytes] = row["sketches"].values.to_pylist()
        self.counts = _bodies(inputs, "counts")
        features = row["features"].values.to_numpy()
        self.numbers = (self.number << PLACE_BITS) + np.arange(len(features), dtype=np.int64)
        has_sketch = features >= settings.rule.least_features
        copies = copies_of(_read(inputs, "copies", _COPY), settings)["number"]
        dropped, again = (_listed(inputs, name) for name in ("dropped", "again"))
        is_copy = np.isin(self.numbers, copies)
        candidates = has_sketch & ~(is_copy & ~np.isin(self.numbers, again))
        filed = has_sketch & ~is_copy & ~np.isin(self.numbers, dropped)
        # The documents of another collection are filed without a comparison.
        is_own, none = self.number >= settings.first, np.zeros_like(filed)
        self.searched = candidates if is_own else none
        self.filed = none if is_own and settings.against_only else filed


def copies_of(copies: NDArray[Any], settings: Settings) -> NDArray[Any]:
    """Return the copies that the rule looks at: all, or only those of the other collection."""
    is_kept = copies["first"] < settings.first << PLACE_BITS
    return copies[is_kept] if settings.against_only else copies


def file(
    batches: pa.Table, inputs: pa.Table, *, settings: Settings, changed: Changed | None
) -> pa.Table:
    """Add documents of a batch to the inverted index, only those that have `changed` if any."""
    if not batches.num_rows:
        return FILED.empty_table()
    documents = _Batch(batches, inputs, settings)
    filed = documents.filed
    if changed is not None:
        filed = filed & np.isin(documents.numbers, changed.documents)
    entries = core_shuffle(settings).file(
        documents.sketches, documents.numbers, filed, documents.counts
    )
    if changed is not None:
        entries = [changed.held(np.frombuffer(blob, _ENTRY)).tobytes() for blob in entries]
    batch = [documents.number] * len(entries)
    return _table(
        FILED, batch=batch, bucket=range(len(entries)), entries=entries, counts=documents.counts
    )


def lists(filed: pa.Table, *, settings: Settings) -> pa.Table:
    """Return a bucket's lists that each batch needs, and what full lists left out."""
    entries: list[Any] = filed.column("entries").to_pylist()
    counts: list[Any] = filed.column("counts").to_pylist()
    of_batches, held, left_out = core_shuffle(settings).lists(entries, counts)
    full = np.empty(len(held[0]) + len(left_out[0]), _FULL)
    full["is_held"] = np.arange(len(full)) < len(held[0])
    for at, name in enumerate(("key", "number")):
        full[name] = np.concatenate([held[at], left_out[at]])
    full = full[np.lexsort((full["number"], full["key"]))]
    # The first batch passes it on.
    of_bucket = [full.tobytes(), *[None] * len(of_batches)][: len(of_batches)]
    names = {name: filed.column(name) for name in ("batch", "bucket")}
    return _table(LISTS, entries=of_batches, full=of_bucket, **names)


@dataclass(frozen=True)
class Changed:
    """Documents that lists hold since the last round, or no longer, by number; ascending.

    `left_out` are the entries of these that full lists leave out, as `codes` returns them.
    """

    documents: NDArray[np.int64]
    left_out: NDArray[np.int64]

    def codes(self, entries: NDArray[Any]) -> NDArray[np.int64]:
        """Return a number for each entry of these documents."""
        places = np.searchsorted(self.documents, entries["number"])
        codes: NDArray[np.int64] = entries["key"].astype(np.int64) * len(self.documents) + places
        return codes

    def held(self, entries: NDArray[Any]) -> NDArray[Any]:
        """Return the entries of these documents that lists hold."""
        return entries[~np.isin(self.codes(entries), self.left_out)]


def full_lists(
    full: bytes, dropped: NDArray[np.int64]
) -> tuple[NDArray[Any], NDArray[np.bool_], NDArray[np.int64]]:
    """Return the entries of lists that were full, without `dropped` documents: the entries, whether
    the list holds each, and the number of the list."""
    every = np.frombuffer(full, _FULL)
    number = np.cumsum(np.append(False, every["key"][1:] != every["key"][:-1])[: len(every)])
    most = np.bincount(number, every["is_held"])
    is_kept = ~np.isin(every["number"], dropped)
    every, number = every[is_kept], number[is_kept]
    place = np.arange(len(every)) - np.searchsorted(number, number)
    return every, place < most[number], number


def changed_documents(
    full: bytes, before: NDArray[np.int64], dropped: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the kept documents that a full list holds only if these documents are dropped, or only
    if those `before` are."""
    every = np.frombuffer(full, _FULL)
    keys = every["key"][np.isin(every["number"], np.setxor1d(before, dropped))]
    full = every[np.isin(every["key"], keys)].tobytes()
    every, is_held, _ = full_lists(full, dropped)
    earlier, was_held, _ = full_lists(full, before)
    names = ["key", "number"]
    both = np.concatenate([every[is_held][names], earlier[was_held][names]])
    both, counts = np.unique(both, return_counts=True)
    numbers = np.unique(both["number"][counts == 1])
    return numbers[~np.isin(numbers, dropped)]


def left_out_codes(full: bytes, dropped: NDArray[np.int64], changed: Changed) -> NDArray[np.int64]:
    """Return the `codes` of the entries of changed documents that full lists leave out."""
    every, is_held, _ = full_lists(full, dropped)
    return changed.codes(every[~is_held & np.isin(every["number"], changed.documents)])


def left_out(full: bytes, dropped: NDArray[np.int64]) -> pa.Table:
    """Return what the full lists of a bucket leave out of documents that are not dropped."""
    every, is_held, number = full_lists(full, dropped)
    counts = np.bincount(number[~is_held])
    pairs = int((counts * (counts - 1) // 2).sum())
    documents = np.unique(every["number"][~is_held])
    return _table(LEFT_OUT, lists=[np.count_nonzero(counts)], pairs=[pairs], documents=[documents])


def candidates(
    batches: pa.Table, inputs: pa.Table, *, settings: Settings, changed: Changed | None
) -> pa.Table:
    """Return the candidate pairs of a batch, and requests for what judges them.

    `inputs` also has rows of `LISTS`, and what earlier rounds judged. If only some documents have
    `changed`, these are the only ones in the lists, and other pairs are still similar.
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
    known = _read(inputs, "judged", _JUDGED)
    is_new, is_again = _match(later, earlier, known)
    later, earlier, known = later[is_new], earlier[is_new], known[is_again]
    if changed is not None:
        similar = _read(inputs, "similar", _JUDGED)
        is_same = ~np.isin(similar["earlier"], changed.documents)
        known = np.concatenate([known, similar[is_same]])
    units = units_of(later, earlier, settings, settings.batches)
    full = _valid(inputs, "full")
    return pa.concat_tables(
        [
            _widened(CANDIDATES, requests(later, earlier, units)),
            _table(
                CANDIDATES,
                batch=[documents.number],
                similar=[_similar(known)],
                found=[len(later)],
            ),
            # Full lists are only passed on.
            _table(CANDIDATES, full=full.column("full")),
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


def _of_batches(judged: NDArray[Any]) -> pa.Table:
    """Return judged pairs by the batch of the later document."""
    batch, parts = _parts(judged["later"] >> PLACE_BITS, judged)
    similar = [_similar(np.frombuffer(part, _JUDGED)) for part in parts]
    return _table(JUDGED, batch=batch, judged=parts, similar=similar)


def _similar(judged: NDArray[Any]) -> bytes:
    """Return the similar ones of judged pairs."""
    similar: bytes = judged[~np.isnan(judged["similarity"])].tobytes()
    return similar


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
        rules = core_rule(settings), core_recipe(settings)
        samples = got.column("samples").chunks
        is_open = _core.open_pairs(*rules, known, samples, later, earlier)
    ruled_out = np.empty(len(asked) - int(is_open.sum()), _JUDGED)
    ruled_out["later"], ruled_out["earlier"] = later[~is_open], earlier[~is_open]
    ruled_out["similarity"], ruled_out["distance"] = np.nan, -1
    later, earlier = later[is_open], earlier[is_open]
    units = units_of(later, earlier, replace(settings, units=settings.text_units), 1)
    return pa.concat_tables(
        [
            _widened(RULED, requests(later, earlier, units)),
            _widened(RULED, _of_batches(ruled_out).drop_columns(["similar"])),
        ]
    )


def _listed(rows: pa.Table, column: str) -> NDArray[np.int64]:
    """Return the values of all lists in a column; none if the column is missing."""
    if column not in rows.column_names:
        return np.empty(0, np.int64)
    lists = rows.column(column).combine_chunks()
    return lists.flatten().to_numpy()


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
    """Return the judged pairs of a unit, with similarities and distances.

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
    return _of_batches(judged)


class Keeping:
    """The one rule, for batches in order: a document is dropped if it is similar to a kept one."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        #: A bit for each document of a batch.
        self._dropped: dict[int, int] = {}

    def decide(self, number: int, similar: Iterable[bytes], copies: Iterable[bytes]) -> pa.Table:
        """Return a row of `DECIDED` for a batch, given its similar pairs and its copies."""
        pairs = np.frombuffer(b"".join(similar), _JUDGED)
        pairs = pairs[np.lexsort((pairs["earlier"], pairs["later"]))]
        of_texts = copies_of(np.frombuffer(b"".join(copies), _COPY), self._settings)
        waiting = set(of_texts["number"].tolist())
        best: dict[int, tuple[int, int, float, int, bool]] = {}
        dropped = []
        for later, earlier, similarity, distance in pairs.tolist():
            if self._is_dropped(earlier):
                continue
            if later not in best and later not in waiting:
                # Copies are not indexed, so no document is dropped for one.
                dropped.append(later)
                place = 1 << (later & (MAX_BATCH - 1))
                self._dropped[number] = self._dropped.get(number, 0) | place
            # Of equally similar documents, the earliest.
            if later not in best or similarity > best[later][2]:
                best[later] = (later, earlier, similarity, distance, False)
        again = []
        begin = self._settings.first << PLACE_BITS
        for copy, first, distance in of_texts.tolist():
            if self._is_dropped(first):
                again.append(copy)
            elif copy >= begin:
                # The documents of another collection stay, also if they repeat each other.
                best[copy] = (copy, first, 1.0, distance, True)
        fields = list(DECIDED.field("removed").type.value_type)
        columns = list(zip(*best.values(), strict=True)) or [()] * len(fields)
        arrays = [
            pa.array(*column) for column in zip(columns, [f.type for f in fields], strict=True)
        ]
        removed = pa.ListArray.from_arrays(
            pa.array([0, len(best)], INT), pa.StructArray.from_arrays(arrays, fields=fields)
        )
        return _table(DECIDED, batch=[number], dropped=[dropped], again=[again], removed=removed)

    def _is_dropped(self, number: int) -> int:
        return self._dropped.get(number >> PLACE_BITS, 0) >> (number & (MAX_BATCH - 1)) & 1


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
