"""Kernels of the search: what a task does with the blobs of one receiver.

Documents are searched in the groups in which they were sketched. Keys and identities are
partitioned into *buckets* by hash, sampled shingles into *parts*, candidate pairs into *units*. In
order of use:

| kernel | of a | takes | yields |
|---|---|---|---|
| `identities` | group | identities | per bucket: the same |
| `repeats` | bucket | identities | per group: exact copies with the first copy |
| `uncount` | batch | samples of copies | per part: hashes that several groups have counted |
| `count_hashes`, `common` | part | hashes of groups | the common shingles |
| `keys` | group | sketches, repeats | per bucket: keys, their frequencies in the group |
| `count` | bucket | keys | per group: document frequencies of its keys |
| `file` | group | frequencies | per bucket: postings |
| `lists` | bucket | postings | per group: posting lists of its keys; capped lists |
| `candidates` | group | frequencies, lists | candidate pairs, requests; waiting pairs of copies |
| `admit` | group | frequencies, what capped lists admit | per bucket: postings |
| `more_candidates` | group | frequencies, lists | candidate pairs, requests |
| `awaken` | group | waiting pairs, copies to search | candidate pairs, requests |
| `send` | batch | samples, requests | per unit: samples |
| `rule_out` | unit | pairs, samples | pairs that samples leave open, requests for texts |
| `send` | batch | texts or sketches, requests | per unit: what the rule compares |
| `verify` | unit | pairs, documents | similarities |

The core does most of the work (`neardup._core.Shuffle`). Bodies of numbers and pairs are arrays of
the types below.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from neardup.base.lazy import _core
from neardup.spark.blobs import Blob, Inbox, pack, unpack, unpack_array
from neardup.spark.ordering import MAX_BATCH, PLACE_BITS
from neardup.spark.sketching import (
    PARTS,
    TEXT,
    Settings,
    core_recipe,
    texts_of,
    with_texts,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray


#: Documents per verification unit. A unit holds the texts of some of them.
UNIT_DOCUMENTS = 1 << 14

#: Documents per unit that judges by samples. The fewer units, the fewer need the same sample.
UNIT_SAMPLES = 1 << 19

#: The receivers of what is decided about the capped lists of a bucket; they come after all batches.
BUCKETS = 1 << 62

#: The receiver of what concerns the whole collection; it comes last.
WHOLE = (1 << 63) - 1

#: The number of a document.
NUMBER = np.dtype("<i8")
#: The text of a document: 128 bits of identity, and the number of features.
TEXT_ROW = np.dtype(
    [("identity", [("low", "<u8"), ("high", "<u8")]), ("number", "<i8"), ("features", "<i4")]
)
#: An exact copy, and the first document of all with the same text; `distance` is that of the
#: fingerprints, -1 if there are none.
REPEAT = np.dtype([("number", "<i8"), ("first", "<i8"), ("distance", "<i4")])
PAIR = np.dtype([("later", "<i8"), ("earlier", "<i8")])
#: A pair and its similarity, NaN if it is not similar; distance is -1 without fingerprints.
JUDGED = np.dtype([*PAIR.descr, ("similarity", "<f8"), ("distance", "<i4")])
#: A document that is filed under a key.
FILED = np.dtype([("key", "<u4"), ("number", "<i8")])
#: A document of a batch that a unit needs.
NEED = np.dtype([("unit", "<i4"), ("place", "<i4")])


@lru_cache(maxsize=8)
def core_rule(settings: Settings) -> _core.Rule:
    """Return the core's rule; computed once per process."""
    return settings.rule.compiled(settings.documents)


@lru_cache(maxsize=8)
def core_shuffle(settings: Settings) -> _core.Shuffle:
    """Return the core's search steps; computed once per process."""
    return _core.Shuffle(core_rule(settings), core_recipe(settings), buckets=settings.buckets)


class _Group:
    """The documents of a group."""

    def __init__(self, inbox: Inbox, settings: Settings) -> None:
        self.settings = settings
        self.number = inbox.receiver
        self.features = inbox.rows("features", np.int32)
        numbers = [
            (blob.sender << PLACE_BITS) + np.arange(len(blob.body) // 4, dtype=np.int64)
            for blob in inbox.of("features")
        ]
        self.numbers = np.concatenate([np.empty(0, np.int64), *numbers])
        self.inbox = inbox

    def sketches(self) -> list[bytes]:
        """Return the sketches."""
        bodies = self.inbox.bodies("sketches")
        return [sketch for body in bodies for sketch in unpack_array(body).to_pylist()]

    def are(self, kind: str) -> NDArray[np.bool_]:
        """Return which documents are among those in the inbox."""
        return np.isin(self.numbers, self.inbox.rows(kind, NUMBER))

    def are_repeats(self) -> NDArray[np.bool_]:
        """Return which documents are exact copies; if documents are compared with another
        collection only, of a document of that."""
        copies = self.inbox.rows("repeats", REPEAT)
        if self.settings.against_only:
            copies = copies[copies["first"] < self.settings.first << PLACE_BITS]
        return np.isin(self.numbers, copies["number"])

    def are_own(self) -> NDArray[np.bool_]:
        """Return which documents are of the input."""
        return self.numbers >= self.settings.first << PLACE_BITS

    def have_sketches(self) -> NDArray[np.bool_]:
        """Return which documents can be searched."""
        return self.features >= self.settings.rule.least_features

    def are_filed(self) -> NDArray[np.bool_]:
        """Return which documents are found by later ones: not exact copies, whose first is."""
        is_filed = self.have_sketches() & ~self.are_repeats()
        if self.settings.against_only:
            is_filed &= ~self.are_own()
        return is_filed


def identities(inbox: Inbox, settings: Settings) -> Iterator[Blob]:
    """Partition the texts of a group into buckets by identity."""
    group = _Group(inbox, settings)
    texts = np.empty(len(group.numbers), TEXT_ROW)
    texts["identity"] = inbox.rows("identities", TEXT_ROW["identity"])
    texts["number"], texts["features"] = group.numbers, group.features
    texts = texts[texts["features"] >= 0]
    bucket = (texts["identity"]["low"] % np.uint64(settings.buckets)).astype(np.int64)
    for to, part in parts_of(bucket, texts):
        yield Blob(to, "texts", group.number, part.tobytes())


def repeats(inbox: Inbox, settings: Settings) -> Iterator[Blob]:
    """Yield the exact copies in a bucket for their groups, and as `copies` for their batches; and
    those whose first copy is of another group."""
    texts = inbox.rows("texts", TEXT_ROW)
    sizes = [len(body) // TEXT_ROW.itemsize for body in inbox.bodies("texts")]
    groups = np.repeat(np.array([blob.sender for blob in inbox.of("texts")], np.int64), sizes)
    numbers = texts["number"]
    first = _firsts(numbers, texts["identity"]["low"], texts["identity"]["high"])
    is_copy = numbers[first] != numbers
    has_fingerprint = texts["features"] >= max(settings.rule.min_features, 1)
    has_fingerprint &= settings.recipe.sketch.kind == "simhash"
    copies = np.empty(int(is_copy.sum()), REPEAT)
    copies["number"], copies["first"] = numbers[is_copy], numbers[first][is_copy]
    copies["distance"] = np.where(has_fingerprint[is_copy], 0, -1)
    batches = copies["number"] >> PLACE_BITS
    elsewhere = (groups[first] != groups)[is_copy]
    for kind, receivers, rows in (
        ("repeats", groups[is_copy], copies),
        ("copies", batches, copies),
        ("elsewhere", batches[elsewhere], copies["number"][elsewhere]),
    ):
        for to, part in parts_of(receivers, rows):
            yield Blob(to, kind, inbox.receiver, part.tobytes())


def _firsts(numbers: NDArray[np.int64], *keys: NDArray[Any]) -> NDArray[np.int64]:
    """Return, for each document, the place of the lowest number among those with the same keys."""
    order = np.lexsort((numbers, *keys))
    begins = np.flatnonzero(are_new(*(key[order] for key in keys)))
    firsts = np.empty(len(order), np.int64)
    firsts[order] = np.repeat(order[begins], np.diff(np.append(begins, len(order))))
    return firsts


def uncount(inbox: Inbox) -> Iterator[Blob]:
    """Return the counts of a batch's texts that the group of the first copy has counted too."""
    numbers = np.sort(inbox.rows("elsewhere", NUMBER))
    # Of equal texts of a group, only the one that was read first has a sample, and was counted.
    for samples in inbox.bodies("samples"):
        texts, counts = _core.counts_of_samples(samples, numbers, PARTS)
        for part, body in enumerate(counts if texts else ()):
            yield Blob(part, "subtracted", inbox.receiver, with_texts(texts, body))


def count_hashes(inbox: Inbox) -> Iterator[Blob]:
    """Count the hashes of a part; only common ones stay. The body has the number of texts too."""
    counted, counts = _with_texts(inbox, "hashes")
    several, subtracted = _with_texts(inbox, "subtracted")
    body = _core.common_shingles(counts, subtracted, counted - several)
    yield Blob(0, "counts", inbox.receiver, with_texts(counted - several, body))


def common(inbox: Inbox, settings: Settings) -> Iterator[Blob]:
    """Yield the common shingles of a collection, as verification needs them."""
    texts, parts = _with_texts(inbox, "counts")
    # Each part has counted the texts.
    texts //= len(parts)
    found = _core.Background.of_shingles(settings.documents, texts, parts)
    yield Blob(0, "common", 0, found.to_bytes())


def _with_texts(inbox: Inbox, kind: str) -> tuple[int, list[bytes]]:
    """Return the sum of the numbers that bodies begin with, and the rest of each."""
    bodies = inbox.bodies(kind)
    return sum(int.from_bytes(body[:8], "little") for body in bodies), [b[8:] for b in bodies]


def keys(inbox: Inbox, settings: Settings) -> Iterator[Blob]:
    """Partition the keys of a group into buckets; keys of exact copies are not counted."""
    group = _Group(inbox, settings)
    is_first = ~np.isin(group.numbers, inbox.rows("repeats", REPEAT)["number"])
    dealt = core_shuffle(settings).keys(group.sketches(), int(group.numbers[-1]), is_first)
    for bucket, body in enumerate(dealt):
        yield Blob(bucket, "keys", group.number, body)


def count(inbox: Inbox, settings: Settings) -> Iterator[Blob]:
    """Return, for each group, the document frequencies of its keys in a bucket."""
    counts = core_shuffle(settings).count(inbox.bodies("keys"))
    for blob, body in zip(inbox.of("keys"), counts, strict=True):
        yield Blob(blob.sender, "counts", inbox.receiver, body)


def file(inbox: Inbox, settings: Settings) -> Iterator[Blob]:
    """File the documents of a group under their keys."""
    group = _Group(inbox, settings)
    return _file(group, group.are_filed())


def admit(inbox: Inbox, settings: Settings) -> Iterator[Blob]:
    """File the documents of a group that capped lists admit since others are dropped, and under all
    keys but those of lists that still leave them out."""
    if not inbox.of("admitted"):
        return iter(())
    group = _Group(inbox, settings)
    return _file(group, group.are("admitted"))


def _file(group: _Group, is_filed: NDArray[np.bool_]) -> Iterator[Blob]:
    left_out = group.inbox.rows("left_out", FILED)
    left_out = np.sort(left_out[np.isin(left_out["number"], group.numbers[is_filed])])
    entries = core_shuffle(group.settings).file(
        group.sketches(),
        group.numbers,
        is_filed,
        group.inbox.bodies("counts"),
        (left_out["key"].copy(), left_out["number"].copy()),
    )
    for bucket, body in enumerate(entries):
        yield Blob(bucket, "entries", group.number, body)


def lists(inbox: Inbox, settings: Settings) -> Iterator[Blob]:
    """Return a bucket's lists that each group needs, and the content of capped lists."""
    asked = inbox.of("counts")
    of_groups, keys, numbers = core_shuffle(settings).lists(
        inbox.bodies("entries"), [blob.body for blob in asked]
    )
    for blob, body in zip(asked, of_groups, strict=True):
        yield Blob(blob.sender, "lists", inbox.receiver, body)
    if len(keys):
        full = np.empty(len(keys), FILED)
        full["key"], full["number"] = keys, numbers
        # A group passes them on.
        group = asked[inbox.receiver % len(asked)].sender
        yield Blob(group, "full", inbox.receiver, full.tobytes())


def candidates(inbox: Inbox, settings: Settings) -> Iterator[Blob]:
    """Return the candidate pairs of a group, and requests for what judges them. The pairs of exact
    copies wait."""
    group = _Group(inbox, settings)
    pairs = _search(group, np.ones(len(group.numbers), np.bool_))
    is_waiting = np.isin(pairs["later"], group.numbers[group.are_repeats()])
    yield Blob(group.number, "waiting", group.number, pairs[is_waiting].tobytes())
    yield from _candidates(pairs[~is_waiting], group.number, settings)
    for blob in inbox.of("full"):
        yield blob._replace(receiver=BUCKETS + blob.sender)


def more_candidates(inbox: Inbox, settings: Settings) -> Iterator[Blob]:
    """Return the candidate pairs of a group with documents that capped lists have admitted."""
    if any(inbox.bodies("lists")):
        group = _Group(inbox, settings)
        pairs = _search(group, ~group.are_repeats() | group.are("again"))
        yield from _candidates(pairs, group.number, settings)


def awaken(inbox: Inbox, settings: Settings) -> Iterator[Blob]:
    """Return the waiting pairs of a group's copies that are to be searched as candidate pairs."""
    pairs = inbox.rows("waiting", PAIR)
    is_again = np.isin(pairs["later"], inbox.rows("again", NUMBER))
    return _candidates(pairs[is_again], inbox.receiver, settings)


def _search(group: _Group, is_wanted: NDArray[np.bool_]) -> NDArray[Any]:
    """Return the candidate pairs of documents of a group, sorted."""
    later, earlier = core_shuffle(group.settings).candidates(
        group.sketches(),
        group.numbers,
        is_wanted & group.have_sketches() & group.are_own(),
        group.inbox.bodies("counts"),
        group.inbox.bodies("lists"),
    )
    pairs = np.empty(len(later), PAIR)
    pairs["later"], pairs["earlier"] = later, earlier
    return pairs


def _candidates(pairs: NDArray[Any], sender: int, settings: Settings) -> Iterator[Blob]:
    """Yield candidate pairs of a group, with requests for what judges them, and their number."""
    units = units_of(pairs, settings, settings.groups)
    yield from requests(pairs, units, sender)
    yield Blob(WHOLE, "found", sender, np.array([len(pairs)], NUMBER).tobytes())


def requests(pairs: NDArray[Any], units: NDArray[np.int64], sender: int) -> Iterator[Blob]:
    """Yield the pairs of each unit, and for each batch the documents that units need."""
    batches, needs = [np.empty(0, np.int64)], [np.empty(0, NEED)]
    for unit, part in parts_of(units, pairs):
        yield Blob(unit, "pairs", sender, part.tobytes())
        numbers = _distinct(part.view(np.int64))
        need = np.empty(len(numbers), NEED)
        need["unit"], need["place"] = unit, numbers & (MAX_BATCH - 1)
        batches.append(numbers >> PLACE_BITS)
        needs.append(need)
    for batch, part in parts_of(np.concatenate(batches), np.concatenate(needs)):
        yield Blob(batch, "needs", sender, part.tobytes())


def _distinct(numbers: NDArray[Any]) -> NDArray[Any]:
    """Return the distinct numbers, ascending. `np.unique` hashes them, which takes far longer."""
    ordered: NDArray[Any] = np.sort(numbers)
    distinct: NDArray[Any] = ordered[are_new(ordered)]
    return distinct


def are_new(*keys: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which rows have other keys than the row before."""
    is_new = np.ones(len(keys[0]), np.bool_)
    is_new[1:] = False
    for key in keys:
        is_new[1:] |= key[1:] != key[:-1]
    return is_new


def parts_of(keys: NDArray[np.int64], values: NDArray[Any]) -> Iterator[tuple[int, NDArray[Any]]]:
    """Yield the keys, ascending, and the values of each."""
    keys, places = np.unique(keys, return_inverse=True)
    # Small numbers are sorted in one pass.
    order = np.argsort(places.astype(np.min_scalar_type(len(keys))), kind="stable")
    ends = np.cumsum(np.bincount(places, minlength=len(keys)))
    yield from zip(keys.tolist(), np.split(values[order], ends)[: len(keys)], strict=True)


def _needs(inbox: Inbox) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """Yield each unit and the places of the documents of a batch that it needs, ascending."""
    needs = inbox.rows("needs", NEED)
    for unit, part in parts_of(needs["unit"], needs["place"]):
        # Several groups may ask for the same document.
        yield unit, _distinct(part).astype(np.int64)


def send(inbox: Inbox, settings: Settings) -> Iterator[Blob]:
    """Return what each unit needs of the samples, features, sketches or texts of a batch."""
    first = inbox.receiver << PLACE_BITS
    for body in inbox.bodies("samples"):
        for unit, places in _needs(inbox):
            yield Blob(unit, "samples", inbox.receiver, _core.select_samples(body, first + places))
    for body in inbox.bodies("features"):
        features = np.frombuffer(body, np.int32)
        for unit, places in _needs(inbox):
            yield Blob(unit, "features", inbox.receiver, features[places].tobytes())
    for sketches in map(unpack_array, inbox.bodies("sketches")):
        for unit, places in _needs(inbox):
            picked = sketches.take(pa.array(places))
            yield Blob(unit, "sketches", inbox.receiver, pack(picked))
    for records in map(unpack, inbox.bodies("records")):
        every = _distinct(inbox.rows("needs", NEED)["place"])
        texts = texts_of(records, every, settings)
        for unit, places in _needs(inbox):
            picked = texts.take(pa.array(np.searchsorted(every, places)))
            yield Blob(unit, "texts", inbox.receiver, pack(picked))


def rule_out(inbox: Inbox, settings: Settings, background: Any) -> Iterator[Blob]:
    """Return the pairs of a unit that samples leave open, with requests for the texts."""
    known = _background(background.value)
    bodies = inbox.bodies("pairs")
    if known is not None:
        rules = core_rule(settings), core_recipe(settings)
        bodies = [_core.open_pairs(*rules, known, inbox.bodies("samples"), bodies)]
    pairs = np.frombuffer(b"".join(bodies), PAIR)
    units = units_of(pairs, replace(settings, units=settings.text_units), 1)
    yield from requests(pairs, units, inbox.receiver)


def units_of(pairs: NDArray[Any], settings: Settings, groups: int) -> NDArray[np.int64]:
    """Return the unit that judges each pair.

    The pairs are those of one group of `groups`; those of a later document follow each other.

    The unit is chosen by the first candidate of the later document: thus the pairs of similar
    documents meet, and each document is sent to few units. If a first candidate is estimated (from
    these pairs, for all groups) to have more later documents than a unit should, its pairs are
    divided by batch among as many units as they need.
    """
    later, earlier = pairs["later"], pairs["earlier"]
    begins = np.flatnonzero(are_new(later))
    if not len(begins):
        return np.empty(0, np.int64)
    firsts, inverse, laters = np.unique(
        np.minimum.reduceat(earlier, begins), return_inverse=True, return_counts=True
    )
    parts = (-(-laters * groups // UNIT_DOCUMENTS)).astype(np.uint64)
    spread = _mix(firsts)[inverse] ^ _mix(_mix(later[begins] >> PLACE_BITS) % parts[inverse])
    unit = (_mix(spread) % np.uint64(settings.units)).astype(np.int64)
    return np.repeat(unit, np.diff(np.append(begins, len(later))))


def _mix(numbers: NDArray[Any]) -> NDArray[np.uint64]:
    """Return hashes of integers."""
    mixed = numbers.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    return mixed ^ mixed >> np.uint64(32)


def verify(inbox: Inbox, settings: Settings, background: Any) -> Iterator[Blob]:
    """Return the similar pairs of a unit, with similarities and distances.

    `background` are the common shingles, as bytes that Spark has broadcast, or None.
    """
    asked = inbox.rows("pairs", PAIR)
    if not len(asked):
        return
    # Batches ascend, and so do the documents of each.
    numbers = _distinct(asked.view(np.int64))
    texts: Any = pa.nulls(len(numbers), TEXT)
    if settings.rule.keeps_texts:
        texts = pa.concat_arrays(map(unpack_array, inbox.bodies("texts"))).fill_null("")
    sketches: list[Any] = [_no_sketch(settings)] * len(numbers)
    if settings.compares_sketches:
        sketches = [
            sketch for body in inbox.bodies("sketches") for sketch in unpack_array(body).to_pylist()
        ]
    judged = np.empty(len(asked), JUDGED)
    judged["later"], judged["earlier"] = asked["later"], asked["earlier"]
    judged["similarity"], judged["distance"] = _core.judge_pairs(
        core_rule(settings),
        core_recipe(settings),
        None if background is None else _background(background.value),
        texts,
        sketches,
        inbox.rows("features", np.int32).astype(np.uint32),
        np.searchsorted(numbers, asked["later"]).astype(np.uint32),
        np.searchsorted(numbers, asked["earlier"]).astype(np.uint32),
    )
    similar = judged[~np.isnan(judged["similarity"])]
    for batch, part in parts_of(similar["later"] >> PLACE_BITS, similar):
        yield Blob(batch, "similar", inbox.receiver, part.tobytes())


@lru_cache(maxsize=8)
def _no_sketch(settings: Settings) -> bytes:
    """Return an empty sketch, a placeholder where the rule does not compare sketches."""
    corpus = _core.Corpus(core_recipe(settings), keeps_texts=False, shingle=None, workers=1)
    corpus.push(pa.array([""], TEXT), titles=None, units=None)
    return bytes(pa.array(corpus.rows(0, 1)[2])[0].as_py())


@lru_cache(maxsize=2)
def _background(common: bytes | None) -> _core.Background | None:
    """Return the background statistics; decoded once per process."""
    return None if common is None else _core.Background.from_bytes(common)
