"""Kernels of the search: what a task does with the blobs of one receiver.

Documents are searched in the groups in which they were sketched. Keys and identities are
partitioned into *buckets* by hash, candidate pairs into *units*. In order of use:

| kernel | of a | takes | yields |
|---|---|---|---|
| `identities` | group | identities | per bucket: the same |
| `repeats` | bucket | identities | per group: exact copies with the first copy |
| `keys` | group | sketches, repeats | per bucket: keys, their frequencies in the group |
| `count` | bucket | keys | per group: document frequencies of its keys |
| `file` | group | frequencies, dropped documents | per bucket: postings |
| `lists` | bucket | postings | per group: posting lists of its keys |
| `candidates` | group | frequencies, lists, judged pairs | candidate pairs, requests |
| `send_samples` | batch | samples, requests | per unit: samples |
| `rule_out` | unit | pairs, samples | pairs that samples leave open, requests for texts |
| `send_documents` | batch | texts or sketches, requests | per unit: what the rule compares |
| `verify` | unit | pairs, documents | similarities |

The core does most of the work (`neardup._core.Shuffle`). All bodies of documents and pairs are
arrays of the types below.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from neardup.spark.blobs import Blob, Inbox, pack, unpack, unpack_array
from neardup.spark.ordering import MAX_BATCH, PLACE_BITS, Layout
from neardup.spark.sketching import TEXT, Settings, core_recipe

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from neardup import _core

#: Documents per verification unit. A unit holds the texts of some of them.
UNIT_DOCUMENTS = 1 << 14

#: Documents per unit that judges by samples. The fewer units, the fewer need the same sample.
UNIT_SAMPLES = 1 << 18

#: The receiver of what concerns the whole collection; it comes after all batches.
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
#: A document that a full list left out, with the key of the list.
LEFT_OUT = np.dtype([("key", "<i8"), ("number", "<i8")])
#: A document of a batch that a unit needs.
NEED = np.dtype([("unit", "<i4"), ("place", "<i4")])


@lru_cache(maxsize=8)
def core_rule(settings: Settings) -> _core.Rule:
    """Return the core's rule; computed once per process."""
    return settings.rule.compiled(settings.documents)


@lru_cache(maxsize=8)
def core_shuffle(settings: Settings) -> _core.Shuffle:
    """Return the core's search steps; computed once per process."""
    from neardup import _core

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
        self._inbox = inbox

    def sketches(self) -> list[bytes]:
        """Return the sketches."""
        bodies = self._inbox.bodies("sketches")
        return [sketch for body in bodies for sketch in unpack_array(body).to_pylist()]

    def are(self, kind: str) -> NDArray[np.bool_]:
        """Return which documents are among those in the inbox."""
        return np.isin(self.numbers, self._inbox.rows(kind, NUMBER))

    def are_repeats(self, *, of_others: bool = False) -> NDArray[np.bool_]:
        """Return which documents are exact copies, or only those of another collection."""
        copies = self._inbox.rows("repeats", REPEAT)
        if of_others:
            copies = copies[copies["first"] < self.settings.first << PLACE_BITS]
        return np.isin(self.numbers, copies["number"])

    def are_searched(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return which documents look for earlier ones, and which are filed.

        The documents of another collection are filed without a comparison. Copies wait for the
        decision on the first copy.
        """
        settings = self.settings
        is_repeat = self.are_repeats(of_others=settings.against_only)
        has_sketch = self.features >= settings.rule.least_features
        is_own = self.numbers >= settings.first << PLACE_BITS
        is_searched = has_sketch & is_own & (~is_repeat | self.are("again"))
        is_filed = has_sketch & ~is_repeat & ~self.are("dropped")
        if settings.against_only:
            is_filed &= ~is_own
        return is_searched, is_filed


def identities(inbox: Inbox, settings: Settings) -> Iterator[Blob]:
    """Partition the texts of a group into buckets by identity."""
    group = _Group(inbox, settings)
    texts = np.empty(len(group.numbers), TEXT_ROW)
    texts["identity"] = inbox.rows("identities", TEXT_ROW["identity"])
    texts["number"], texts["features"] = group.numbers, group.features
    texts = texts[texts["features"] >= 0]
    bucket = (texts["identity"]["low"] % np.uint64(settings.buckets)).astype(np.int64)
    for to, part in _parts(bucket, texts):
        yield Blob(to, "texts", group.number, part.tobytes())


def repeats(inbox: Inbox, settings: Settings) -> Iterator[Blob]:
    """Yield the exact copies in a bucket for their groups, and as `copies` for their batches."""
    texts = inbox.rows("texts", TEXT_ROW)
    sizes = [len(body) // TEXT_ROW.itemsize for body in inbox.bodies("texts")]
    groups = np.repeat(np.array([blob.sender for blob in inbox.of("texts")], np.int64), sizes)
    numbers, identity = texts["number"], (texts["identity"]["low"], texts["identity"]["high"])
    first = _firsts(numbers, *identity)
    is_copy = first != numbers
    has_fingerprint = texts["features"] >= max(settings.rule.min_features, 1)
    has_fingerprint &= settings.recipe.sketch.kind == "simhash"
    copies = np.empty(int(is_copy.sum()), REPEAT)
    copies["number"], copies["first"] = numbers[is_copy], first[is_copy]
    copies["distance"] = np.where(has_fingerprint[is_copy], 0, -1)
    for kind, receivers in (
        ("repeats", groups[is_copy]),
        ("copies", copies["number"] >> PLACE_BITS),
    ):
        for to, part in _parts(receivers, copies):
            yield Blob(to, kind, inbox.receiver, part.tobytes())


def _firsts(numbers: NDArray[np.int64], *keys: NDArray[Any]) -> NDArray[np.int64]:
    """Return, for each document, the lowest number among those with the same keys."""
    order = np.lexsort((numbers, *keys))
    is_new = np.ones(len(order), np.bool_)
    is_new[1:] = False
    for key in keys:
        is_new[1:] |= key[order][1:] != key[order][:-1]
    begins = np.flatnonzero(is_new)
    firsts = np.empty(len(order), np.int64)
    firsts[order] = np.repeat(numbers[order][begins], np.diff(np.append(begins, len(order))))
    return firsts


def hashes(inbox: Inbox, parts: int) -> Iterator[Blob]:
    """Deal the hashes by which the texts of a group are counted into parts, those of copies not.

    A body begins with the number of texts.
    """
    from neardup import _core

    samples = inbox.of("samples")
    copies = np.sort(inbox.rows("repeats", REPEAT), order="number")
    # Of a text of a group only the copy that was read first has a sample, whatever its number.
    is_here = np.isin(copies["first"] >> PLACE_BITS, [blob.sender for blob in samples])
    skipped = copies["number"][~is_here]
    texts = 0
    of_parts: list[list[bytes]] = [[] for _ in range(parts)]
    for blob in samples:
        more, dealt = _core.deal_samples(blob.body, skipped, parts)
        texts += more
        for of_part, some in zip(of_parts, dealt, strict=True):
            of_part.append(some)
    for to, of_part in enumerate(of_parts):
        yield Blob(to, "hashes", inbox.receiver, _number(texts) + b"".join(of_part))


def count_hashes(inbox: Inbox) -> Iterator[Blob]:
    """Count the hashes of a part; only common ones stay. The body begins as in `hashes`."""
    from neardup import _core

    texts, dealt = _with_texts(inbox, "hashes")
    body = _core.common_shingles(dealt, texts)
    yield Blob(0, "counts", inbox.receiver, _number(texts) + body)


def common(inbox: Inbox, settings: Settings) -> Iterator[Blob]:
    """Yield the common shingles of a collection, as verification needs them."""
    from neardup import _core

    texts, parts = _with_texts(inbox, "counts")
    # Each part has counted the texts.
    texts //= len(parts)
    found = _core.Background.of_shingles(settings.documents, texts, parts)
    yield Blob(0, "common", 0, found.to_bytes())


def _number(texts: int) -> bytes:
    return texts.to_bytes(8, "little")


def _with_texts(inbox: Inbox, kind: str) -> tuple[int, list[bytes]]:
    """Return the sum of the numbers that bodies begin with, and the rest of each."""
    bodies = inbox.bodies(kind)
    return sum(int.from_bytes(body[:8], "little") for body in bodies), [b[8:] for b in bodies]


def keys(inbox: Inbox, settings: Settings) -> Iterator[Blob]:
    """Partition the keys of a group into buckets; those of exact copies are not counted."""
    group = _Group(inbox, settings)
    is_first = ~group.are_repeats()
    dealt = core_shuffle(settings).keys(group.sketches(), int(group.numbers[-1]), is_first)
    for bucket, body in enumerate(dealt):
        yield Blob(bucket, "keys", group.number, body)


def count(inbox: Inbox, settings: Settings) -> Iterator[Blob]:
    """Return, for each group, the document frequencies of its keys in a bucket."""
    counts = core_shuffle(settings).count(inbox.bodies("keys"))
    for blob, body in zip(inbox.of("keys"), counts, strict=True):
        yield Blob(blob.sender, "counts", inbox.receiver, body)


def file(inbox: Inbox, settings: Settings) -> Iterator[Blob]:
    """Add documents of a group to the inverted index."""
    group = _Group(inbox, settings)
    _, is_filed = group.are_searched()
    counts = inbox.bodies("counts")
    entries = core_shuffle(settings).file(group.sketches(), group.numbers, is_filed, counts)
    for bucket, body in enumerate(entries):
        yield Blob(bucket, "entries", group.number, body)


def lists(inbox: Inbox, settings: Settings) -> Iterator[Blob]:
    """Return a bucket's lists that each group needs, and the documents in and out of full lists."""
    asked = inbox.of("counts")
    of_groups, closed, keys, numbers = core_shuffle(settings).lists(
        inbox.bodies("entries"), [blob.body for blob in asked]
    )
    for blob, body in zip(asked, of_groups, strict=True):
        yield Blob(blob.sender, "lists", inbox.receiver, body)
    if asked:
        left_out = np.empty(len(keys), LEFT_OUT)
        left_out["key"], left_out["number"] = keys, numbers
        # A group passes them on.
        for kind, rows in (("closed", closed), ("left_out", left_out)):
            yield Blob(asked[0].sender, kind, inbox.receiver, rows.tobytes())


def candidates(inbox: Inbox, settings: Settings) -> Iterator[Blob]:
    """Return the candidate pairs of a group, and requests for what judges them."""
    group = _Group(inbox, settings)
    is_searched, _ = group.are_searched()
    later, earlier = core_shuffle(settings).candidates(
        group.sketches(),
        group.numbers,
        is_searched,
        inbox.bodies("counts"),
        inbox.bodies("lists"),
    )
    found = np.array([len(later)], NUMBER)
    known = inbox.rows("judged", JUDGED)
    is_new, is_again = _match(later, earlier, known)
    later, earlier, known = later[is_new], earlier[is_new], known[is_again]
    units = units_of(later, earlier, settings, settings.groups)
    yield from requests(later, earlier, units, group.number)
    yield from _similar(known, group.number)
    yield Blob(WHOLE, "found", group.number, found.tobytes())
    for kind in ("closed", "left_out"):
        for blob in inbox.of(kind):
            yield blob._replace(receiver=WHOLE)


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
    later: NDArray[np.int64], earlier: NDArray[np.int64], units: NDArray[np.int64], sender: int
) -> Iterator[Blob]:
    """Yield the pairs of each unit, and for each batch the documents that units need."""
    pairs = np.empty(len(later), PAIR)
    pairs["later"], pairs["earlier"] = later, earlier
    batches, needs = [np.empty(0, np.int64)], [np.empty(0, NEED)]
    for unit, part in _parts(units, pairs):
        yield Blob(unit, "pairs", sender, part.tobytes())
        numbers = np.unique(part.view(np.int64))
        need = np.empty(len(numbers), NEED)
        need["unit"], need["place"] = unit, numbers & (MAX_BATCH - 1)
        batches.append(numbers >> PLACE_BITS)
        needs.append(need)
    for batch, part in _parts(np.concatenate(batches), np.concatenate(needs)):
        yield Blob(batch, "needs", sender, part.tobytes())


def _parts(keys: NDArray[np.int64], values: NDArray[Any]) -> Iterator[tuple[int, NDArray[Any]]]:
    """Yield the keys, ascending, and the values of each."""
    keys, places = np.unique(keys, return_inverse=True)
    # Small numbers are sorted in one pass.
    order = np.argsort(places.astype(np.min_scalar_type(len(keys))), kind="stable")
    ends = np.cumsum(np.bincount(places, minlength=len(keys)))
    yield from zip(keys.tolist(), np.split(values[order], ends)[: len(keys)], strict=True)


def _similar(judged: NDArray[Any], sender: int) -> Iterator[Blob]:
    """Yield the similar ones of judged pairs, for the batch of the later document."""
    similar = judged[~np.isnan(judged["similarity"])]
    for batch, part in _parts(similar["later"] >> PLACE_BITS, similar):
        yield Blob(batch, "similar", sender, part.tobytes())


def _judged(judged: NDArray[Any], sender: int, layout: Layout) -> Iterator[Blob]:
    """Yield judged pairs for the group of the later document."""
    for group, part in _parts(layout.groups_of(judged["later"]), judged):
        yield Blob(group, "judged", sender, part.tobytes())


def _needs(inbox: Inbox) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """Yield each unit and the places of the documents of a batch that it needs, ascending."""
    for unit, part in _parts(inbox.rows("needs", NEED)["unit"], inbox.rows("needs", NEED)["place"]):
        # Several groups may ask for the same document.
        yield unit, np.unique(part).astype(np.int64)


def send_samples(inbox: Inbox) -> Iterator[Blob]:
    """Return the samples of a batch's documents that each unit needs."""
    from neardup import _core

    first = inbox.receiver << PLACE_BITS
    for samples in inbox.bodies("samples"):
        for unit, places in _needs(inbox):
            body = _core.select_samples(samples, first + places)
            yield Blob(unit, "samples", inbox.receiver, body)


def rule_out(inbox: Inbox, settings: Settings, layout: Layout, background: Any) -> Iterator[Blob]:
    """Return the pairs of a unit that samples leave open, with requests for the texts, and the
    others as judged pairs."""
    from neardup import _core

    known = _background(background.value)
    asked = inbox.rows("pairs", PAIR)
    later, earlier = (np.ascontiguousarray(asked[name]) for name in ("later", "earlier"))
    is_open = np.ones(len(asked), np.bool_)
    if known is not None:
        rules = core_rule(settings), core_recipe(settings)
        is_open = _core.open_pairs(*rules, known, inbox.bodies("samples"), later, earlier)
    ruled_out = np.empty(len(asked) - int(is_open.sum()), JUDGED)
    ruled_out["later"], ruled_out["earlier"] = later[~is_open], earlier[~is_open]
    ruled_out["similarity"], ruled_out["distance"] = np.nan, -1
    later, earlier = later[is_open], earlier[is_open]
    units = units_of(later, earlier, replace(settings, units=settings.text_units), 1)
    yield from requests(later, earlier, units, inbox.receiver)
    yield from _judged(ruled_out, inbox.receiver, layout)


def units_of(
    later: NDArray[np.int64], earlier: NDArray[np.int64], settings: Settings, groups: int
) -> NDArray[np.int64]:
    """Return the unit that judges each pair.

    The pairs are those of one group of `groups`, sorted by the later document.

    The unit is chosen by the first candidate of the later document: thus the pairs of similar
    documents meet, and each document is sent to few units. If a first candidate is estimated (from
    these pairs, for all groups) to have more later documents than a unit should, its pairs are
    divided by batch among as many units as they need.
    """
    begins = np.flatnonzero(np.append(True, later[1:] != later[:-1])[: len(later)])
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


def send_documents(inbox: Inbox, settings: Settings) -> Iterator[Blob]:
    """Return what the rule compares of a batch's documents that each unit needs."""
    if not inbox.of("needs"):
        return
    features = inbox.rows("features", np.int32)
    (texts,) = map(unpack_array, inbox.bodies("texts")) if settings.rule.keeps_texts else (None,)
    sketches = None
    if settings.compares_sketches:
        (sketches,) = map(unpack_array, inbox.bodies("sketches"))
    for unit, places in _needs(inbox):
        columns = {
            "number": pa.array((inbox.receiver << PLACE_BITS) + places),
            "features": pa.array(features[places]),
        }
        if texts is not None:
            columns["texts"] = texts.take(pa.array(places)).fill_null("")
        if sketches is not None:
            columns["sketches"] = sketches.take(pa.array(places))
        yield Blob(unit, "documents", inbox.receiver, pack(pa.record_batch(columns)))


def verify(inbox: Inbox, settings: Settings, layout: Layout, background: Any) -> Iterator[Blob]:
    """Return the similar pairs of a unit, with similarities and distances, and all judged ones.

    `background` are the common shingles, as bytes that Spark has broadcast, or None.
    """
    from neardup import _core

    asked = inbox.rows("pairs", PAIR)
    if not len(asked):
        return
    documents = pa.Table.from_batches(map(unpack, inbox.bodies("documents"))).combine_chunks()
    # Batches ascend, and so do the documents of each.
    numbers = documents.column("number").to_numpy()
    texts: Any = pa.nulls(len(numbers), TEXT)
    if settings.rule.keeps_texts:
        texts = documents.column("texts").chunk(0)
    sketches: list[Any] = [_no_sketch(settings)] * len(numbers)
    if settings.compares_sketches:
        sketches = documents.column("sketches").to_pylist()
    judged = np.empty(len(asked), JUDGED)
    judged["later"], judged["earlier"] = asked["later"], asked["earlier"]
    judged["similarity"], judged["distance"] = _core.judge_pairs(
        core_rule(settings),
        core_recipe(settings),
        None if background is None else _background(background.value),
        texts,
        sketches,
        documents.column("features").to_numpy().astype(np.uint32),
        np.searchsorted(numbers, asked["later"]).astype(np.uint32),
        np.searchsorted(numbers, asked["earlier"]).astype(np.uint32),
    )
    yield from _similar(judged, inbox.receiver)
    yield from _judged(judged, inbox.receiver, layout)


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
