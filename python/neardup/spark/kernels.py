"""Kernels of the search: what a task does with the blobs of one receiver.

Documents are searched in the groups in which they were sketched. Keys and identities are
partitioned into *buckets* by hash, sampled shingles into *parts*, candidate pairs into *units*. In
order of use:

| kernel | of a | takes | yields |
|---|---|---|---|
| `deal_identities` | group | identities | per bucket: the same |
| `find_repeats` | bucket | identities | per group: exact copies with the first copy |
| `uncount` | batch | samples of copies | per part: hashes that several groups have counted |
| `count_hashes`, `merge_common` | part | hashes of groups | the common shingles |
| `deal_keys` | group | sketches, repeats | per bucket: keys, their frequencies in the group |
| `count` | bucket | keys | per group: document frequencies of its keys |
| `file` | group | frequencies | per bucket: postings |
| `make_lists` | bucket | postings | per group: posting lists of its keys; capped lists |
| `find_candidates` | group | frequencies, lists | pairs, requests; waiting pairs of copies |
| `admit` | group | frequencies, what capped lists admit | per bucket: postings |
| `find_more_candidates` | group | frequencies, lists | pairs, requests |
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
from functools import lru_cache
from typing import Any

import numpy as np

from neardup.base.lazy import NDArray, _core
from neardup.spark.blobs import Blob, Inbox, unpack_array
from neardup.spark.ordering import PLACE_BITS
from neardup.spark.rows import FILED, NUMBER, PAIR, REPEAT, TEXT_ROW, are_new, divide_rows
from neardup.spark.sketching import PARTS, Settings, compile_recipe, prepend_texts
from neardup.spark.units import assign_units, compile_rule, request_documents

#: The receivers of what is decided about the capped lists of a bucket; they come after all batches.
BUCKETS = 1 << 62

#: The receiver of what concerns the whole collection; it comes last.
WHOLE = (1 << 63) - 1


@lru_cache(maxsize=8)
def compile_shuffle(settings: Settings) -> _core.Shuffle:
    """Return the core's search steps; computed once per process."""
    return _core.Shuffle(compile_rule(settings), compile_recipe(settings), buckets=settings.buckets)


class _Group:
    """The documents of a group."""

    def __init__(self, inbox: Inbox, settings: Settings) -> None:
        self.settings = settings
        self.number = inbox.receiver
        self.features = inbox.read_rows("features", np.int32)
        numbers = [
            (blob.sender << PLACE_BITS) + np.arange(len(blob.body) // 4, dtype=np.int64)
            for blob in inbox.get_blobs("features")
        ]
        self.numbers = np.concatenate([np.empty(0, np.int64), *numbers])
        self.inbox = inbox

    def read_sketches(self) -> list[bytes]:
        """Return the sketches."""
        bodies = self.inbox.get_bodies("sketches")
        return [sketch for body in bodies for sketch in unpack_array(body).to_pylist()]

    def are(self, kind: str) -> NDArray[np.bool_]:
        """Return which documents are among those in the inbox."""
        return np.isin(self.numbers, self.inbox.read_rows(kind, NUMBER))

    def are_repeats(self) -> NDArray[np.bool_]:
        """Return which documents are exact copies; if documents are compared with another
        collection only, of a document of that."""
        copies = self.inbox.read_rows("repeats", REPEAT)
        if self.settings.against_only:
            copies = copies[copies["first"] < self.settings.first << PLACE_BITS]
        return np.isin(self.numbers, copies["number"])

    def are_of_input(self) -> NDArray[np.bool_]:
        """Return which documents are of the input."""
        return self.numbers >= self.settings.first << PLACE_BITS

    def have_sketches(self) -> NDArray[np.bool_]:
        """Return which documents can be searched."""
        return self.features >= self.settings.rule.least_features

    def are_filed(self) -> NDArray[np.bool_]:
        """Return which documents are found by later ones: not exact copies, whose first is."""
        is_filed = self.have_sketches() & ~self.are_repeats()
        if self.settings.against_only:
            is_filed &= ~self.are_of_input()
        return is_filed


def deal_identities(inbox: Inbox, settings: Settings) -> Iterator[Blob]:
    """Partition the texts of a group into buckets by identity."""
    group = _Group(inbox, settings)
    texts = np.empty(len(group.numbers), TEXT_ROW)
    texts["identity"] = inbox.read_rows("identities", TEXT_ROW["identity"])
    texts["number"], texts["features"] = group.numbers, group.features
    texts = texts[texts["features"] >= 0]
    bucket = (texts["identity"]["low"] % np.uint64(settings.buckets)).astype(np.int64)
    for to, part in divide_rows(bucket, texts):
        yield Blob(to, "texts", group.number, part.tobytes())


def find_repeats(inbox: Inbox, settings: Settings) -> Iterator[Blob]:
    """Yield the exact copies in a bucket for their groups, and as `copies` for their batches; and
    those whose first copy is of another group."""
    texts = inbox.read_rows("texts", TEXT_ROW)
    sizes = [len(body) // TEXT_ROW.itemsize for body in inbox.get_bodies("texts")]
    groups = np.repeat(
        np.array([blob.sender for blob in inbox.get_blobs("texts")], np.int64), sizes
    )
    numbers = texts["number"]
    first = _find_firsts(numbers, texts["identity"]["low"], texts["identity"]["high"])
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
        for to, part in divide_rows(receivers, rows):
            yield Blob(to, kind, inbox.receiver, part.tobytes())


def _find_firsts(numbers: NDArray[np.int64], *keys: NDArray[Any]) -> NDArray[np.int64]:
    """Return, for each document, the place of the lowest number among those with the same keys."""
    order = np.lexsort((numbers, *keys))
    begins = np.flatnonzero(are_new(*(key[order] for key in keys)))
    firsts = np.empty(len(order), np.int64)
    firsts[order] = np.repeat(order[begins], np.diff(np.append(begins, len(order))))
    return firsts


def uncount(inbox: Inbox) -> Iterator[Blob]:
    """Return the counts of a batch's texts that the group of the first copy has counted too."""
    numbers = np.sort(inbox.read_rows("elsewhere", NUMBER))
    # Of equal texts of a group, only the one that was read first has a sample, and was counted.
    for samples in inbox.get_bodies("samples"):
        texts, counts = _core.counts_of_samples(samples, numbers, PARTS)
        for part, body in enumerate(counts if texts else ()):
            yield Blob(part, "subtracted", inbox.receiver, prepend_texts(texts, body))


def count_hashes(inbox: Inbox) -> Iterator[Blob]:
    """Count the hashes of a part; only common ones stay. The body has the number of texts too."""
    counted, counts = _sum_texts(inbox, "hashes")
    several, subtracted = _sum_texts(inbox, "subtracted")
    body = _core.common_shingles(counts, subtracted, counted - several)
    yield Blob(0, "counts", inbox.receiver, prepend_texts(counted - several, body))


def merge_common(inbox: Inbox, settings: Settings) -> Iterator[Blob]:
    """Yield the common shingles of a collection, as verification needs them."""
    texts, parts = _sum_texts(inbox, "counts")
    # Each part has counted the texts.
    texts //= len(parts)
    background = _core.Background.of_shingles(settings.documents, texts, parts)
    yield Blob(0, "common", 0, background.to_bytes())


def _sum_texts(inbox: Inbox, kind: str) -> tuple[int, list[bytes]]:
    """Return the sum of the numbers that bodies begin with, and the rest of each."""
    bodies = inbox.get_bodies(kind)
    return sum(int.from_bytes(body[:8], "little") for body in bodies), [b[8:] for b in bodies]


def deal_keys(inbox: Inbox, settings: Settings) -> Iterator[Blob]:
    """Partition the keys of a group into buckets; keys of exact copies are not counted."""
    group = _Group(inbox, settings)
    is_first = ~np.isin(group.numbers, inbox.read_rows("repeats", REPEAT)["number"])
    dealt = compile_shuffle(settings).keys(group.read_sketches(), int(group.numbers[-1]), is_first)
    for bucket, body in enumerate(dealt):
        yield Blob(bucket, "keys", group.number, body)


def count(inbox: Inbox, settings: Settings) -> Iterator[Blob]:
    """Return, for each group, the document frequencies of its keys in a bucket."""
    counts = compile_shuffle(settings).count(inbox.get_bodies("keys"))
    for blob, body in zip(inbox.get_blobs("keys"), counts, strict=True):
        yield Blob(blob.sender, "counts", inbox.receiver, body)


def file(inbox: Inbox, settings: Settings) -> Iterator[Blob]:
    """File the documents of a group under their keys."""
    group = _Group(inbox, settings)
    return _file(group, group.are_filed())


def admit(inbox: Inbox, settings: Settings) -> Iterator[Blob]:
    """File the documents of a group that capped lists admit since others are dropped.

    They are not filed under the keys of lists that still leave them out.
    """
    if not inbox.get_blobs("admitted"):
        return iter(())
    group = _Group(inbox, settings)
    return _file(group, group.are("admitted"))


def _file(group: _Group, is_filed: NDArray[np.bool_]) -> Iterator[Blob]:
    left_out = group.inbox.read_rows("left_out", FILED)
    left_out = np.sort(left_out[np.isin(left_out["number"], group.numbers[is_filed])])
    entries = compile_shuffle(group.settings).file(
        group.read_sketches(),
        group.numbers,
        is_filed,
        group.inbox.get_bodies("counts"),
        (left_out["key"].copy(), left_out["number"].copy()),
    )
    for bucket, body in enumerate(entries):
        yield Blob(bucket, "entries", group.number, body)


def make_lists(inbox: Inbox, settings: Settings) -> Iterator[Blob]:
    """Return a bucket's lists that each group needs, and the content of capped lists."""
    asked = inbox.get_blobs("counts")
    of_groups, keys, numbers = compile_shuffle(settings).lists(
        inbox.get_bodies("entries"), [blob.body for blob in asked]
    )
    for blob, body in zip(asked, of_groups, strict=True):
        yield Blob(blob.sender, "lists", inbox.receiver, body)
    if len(keys):
        full = np.empty(len(keys), FILED)
        full["key"], full["number"] = keys, numbers
        # A group passes them on.
        group = asked[inbox.receiver % len(asked)].sender
        yield Blob(group, "full", inbox.receiver, full.tobytes())


def find_candidates(inbox: Inbox, settings: Settings) -> Iterator[Blob]:
    """Return the candidate pairs of a group, and requests for what judges them. The pairs of exact
    copies wait."""
    group = _Group(inbox, settings)
    pairs = _search(group, np.ones(len(group.numbers), np.bool_))
    is_waiting = np.isin(pairs["later"], group.numbers[group.are_repeats()])
    yield Blob(group.number, "waiting", group.number, pairs[is_waiting].tobytes())
    yield from _send_candidates(pairs[~is_waiting], group.number, settings)
    for blob in inbox.get_blobs("full"):
        yield blob._replace(receiver=BUCKETS + blob.sender)


def find_more_candidates(inbox: Inbox, settings: Settings) -> Iterator[Blob]:
    """Return the candidate pairs of a group with documents that capped lists have admitted."""
    if any(inbox.get_bodies("lists")):
        group = _Group(inbox, settings)
        pairs = _search(group, ~group.are_repeats() | group.are("again"))
        yield from _send_candidates(pairs, group.number, settings)


def awaken(inbox: Inbox, settings: Settings) -> Iterator[Blob]:
    """Return the waiting pairs of a group's copies that are to be searched as candidate pairs."""
    pairs = inbox.read_rows("waiting", PAIR)
    is_again = np.isin(pairs["later"], inbox.read_rows("again", NUMBER))
    return _send_candidates(pairs[is_again], inbox.receiver, settings)


def _search(group: _Group, is_wanted: NDArray[np.bool_]) -> NDArray[Any]:
    """Return the candidate pairs of documents of a group, sorted."""
    later, earlier = compile_shuffle(group.settings).candidates(
        group.read_sketches(),
        group.numbers,
        is_wanted & group.have_sketches() & group.are_of_input(),
        group.inbox.get_bodies("counts"),
        group.inbox.get_bodies("lists"),
    )
    pairs = np.empty(len(later), PAIR)
    pairs["later"], pairs["earlier"] = later, earlier
    return pairs


def _send_candidates(pairs: NDArray[Any], sender: int, settings: Settings) -> Iterator[Blob]:
    """Yield candidate pairs of a group, with requests for what judges them, and their number."""
    units = assign_units(pairs, settings, settings.groups)
    yield from request_documents(pairs, units, sender)
    yield Blob(WHOLE, "found", sender, np.array([len(pairs)], NUMBER).tobytes())
