"""Decisions: the one rule over all similar pairs, and the removed table that follows from them.

One task takes all pairs in input order, a batch at a time. Then it takes the capped lists, a bucket
at a time. It has a bit per document in memory. Its decisions go to the groups of the documents,
which know keys and ids.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import orjson
import pyarrow as pa

from neardup.base.lazy import NDArray
from neardup.spark.blobs import Blob, Inbox, make_schema, pack, unpack, unpack_array
from neardup.spark.kernels import BUCKETS, WHOLE, compile_shuffle
from neardup.spark.ordering import MAX_BATCH, PLACE_BITS, Layout
from neardup.spark.rows import FILED, JUDGED, NUMBER, REPEAT, are_new, divide_rows
from neardup.spark.sketching import TEXT, Settings
from neardup.writers.rows import list_kinds

_NAMES = ("later", "earlier", "similarity", "distance")
#: A dropped document, and the kept one that it repeats.
DECISION = np.dtype([*JUDGED.descr, ("identical", "?")])

#: The removed table, with the numbers of documents.
REMOVED = make_schema(
    number=pa.int64(),
    kept=pa.int64(),
    id=TEXT,
    kept_id=TEXT,
    identical=pa.bool_(),
    similarity=pa.float64(),
    measure=TEXT,
    distance=pa.int32(),
    kind=TEXT,
    cluster_size=pa.int64(),
    kept_from=TEXT,
)

#: Decisions are sent to groups this many at a time.
_DECISIONS = 1 << 20


class Documents:
    """A set of documents, as a bit for each document of the layout."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._bits = np.zeros((layout.documents + 7) // 8, np.uint8)

    def add(self, numbers: NDArray[np.int64]) -> None:
        """Add documents."""
        places = self._layout.find_places(numbers)
        np.bitwise_or.at(self._bits, places >> 3, np.uint8(1) << (places & 7).astype(np.uint8))

    def have(self, numbers: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which documents are in the set."""
        places = self._layout.find_places(numbers)
        bits = self._bits[places >> 3] >> (places & 7).astype(np.uint8)
        return np.asarray(bits & 1, np.bool_)

    def count(self) -> int:
        """Return the number of documents."""
        return int(np.unpackbits(self._bits).sum())


def decide(inboxes: Iterable[Inbox], settings: Settings, layout: Layout) -> Iterator[Blob]:
    """Apply the rule to the similar pairs of all batches, and to all capped lists.

    Yields, for the groups in the next round, the copies to be searched `again` because the first
    copy is dropped. They also get the documents that capped lists have `admitted`, and what these
    still have `left_out`. The batches get all documents that are `removed`, and the groups of the
    kept documents the `decisions`. The last blob is the `result` as JSON.
    """
    dropped = Documents(layout)
    skipped_documents = Documents(layout)
    # What the next round searches for.
    wanted = hashlib.blake2b(digest_size=16)
    decisions: list[NDArray[Any]] = []
    candidates = exact = admitted = again = lists = skipped_pairs = 0
    for inbox in inboxes:
        if inbox.receiver == WHOLE:
            candidates = int(inbox.read_rows("found", NUMBER).sum())
            continue
        if inbox.receiver >= BUCKETS:
            full = inbox.read_rows("full", FILED)
            is_admitted, is_left_out = find_admitted(
                full, dropped, compile_shuffle(settings).list_cap
            )
            wanted.update(full[is_admitted].tobytes())
            admitted += int(is_admitted.sum())
            yield from _send_to_groups(
                "admitted", full["number"][is_admitted], inbox.receiver, layout
            )
            rows = full[is_left_out]
            yield from _send_to_groups("left_out", rows, inbox.receiver, layout)
            _, counts = np.unique(rows["key"], return_counts=True)
            lists += len(counts)
            skipped_pairs += int((counts * (counts - 1) // 2).sum())
            skipped_documents.add(rows["number"])
            continue
        made, numbers, identical = _decide_batch(inbox, dropped, settings)
        wanted.update(numbers.tobytes())
        again += len(numbers)
        yield from _send_to_groups("again", numbers, inbox.receiver, layout)
        exact += identical
        if len(made):
            yield Blob(inbox.receiver, "removed", inbox.receiver, made["later"].tobytes())
        decisions.append(made)
        if sum(map(len, decisions)) >= _DECISIONS:
            yield from _send_decisions(decisions, inbox.receiver, layout)
            decisions = []
    yield from _send_decisions(decisions, WHOLE, layout)
    documents = skipped_documents.count()
    totals = {
        "candidates": candidates,
        "exact_duplicates": exact,
        "capped_lists": lists,
        "skipped_documents": documents,
        # Two documents that several lists left out are one pair.
        "skipped_pairs": min(skipped_pairs, documents * (documents - 1) // 2),
    }
    result = {
        "counts": totals,
        "admitted": admitted,
        "wanted": wanted.hexdigest() if admitted or again else None,
    }
    yield Blob(WHOLE, "result", WHOLE, orjson.dumps(result))


def _decide_batch(
    inbox: Inbox, dropped: Documents, settings: Settings
) -> tuple[NDArray[Any], NDArray[np.int64], int]:
    """Apply the rule to a batch, and add the documents that it drops to `dropped`.

    Returns its removals, and the copies to search again because their first copy is dropped.
    The number counts the removed documents with the text of another.
    """
    pairs = inbox.read_rows("similar", JUDGED)
    copies = inbox.read_rows("copies", REPEAT)
    with_text_of_others = copies["number"]
    if settings.against_only:
        copies = copies[copies["first"] < settings.first << PLACE_BITS]
    # Copies are not filed, so no document is dropped for one.
    is_copy = np.isin(pairs["later"], copies["number"])
    dropped.add(apply_rule(pairs[~is_copy], dropped))
    is_again = dropped.have(copies["first"])
    numbers = np.sort(copies["number"][is_again])
    is_valid = ~dropped.have(pairs["earlier"])
    is_valid &= ~is_copy | np.isin(pairs["later"], numbers)
    # The documents of another collection stay, also if they repeat each other.
    is_removed = ~is_again & (copies["number"] >= settings.first << PLACE_BITS)
    made = np.concatenate(
        [_pick_most_similar(pairs[is_valid]), _convert_copies(copies[is_removed])]
    )
    return made, numbers, int(np.isin(made["later"], with_text_of_others).sum())


def find_admitted(
    full: NDArray[Any], dropped: Documents, cap: int
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which entries of capped lists are admitted, and which are kept and left out.

    The entries are sorted by key and document. One is admitted because others are dropped.
    """
    is_kept = ~dropped.have(full["number"])
    begins = np.flatnonzero(are_new(full["key"]))
    lengths = np.diff(np.append(begins, len(full)))
    # The places in a list, with all documents and with those kept.
    place = np.arange(len(full)) - np.repeat(begins, lengths)
    before: NDArray[np.int64] = np.cumsum(is_kept) - is_kept
    place_kept: NDArray[np.int64] = before - np.repeat(before[begins], lengths)
    return is_kept & (place >= cap) & (place_kept < cap), is_kept & (place_kept >= cap)


def apply_rule(pairs: NDArray[Any], dropped: Documents) -> NDArray[np.int64]:
    """Return the documents of a batch that the one rule drops.

    `pairs` are all similar pairs in which they are the later ones; `dropped` were dropped before.
    """
    later, earlier = pairs["later"], pairs["earlier"]
    is_within = later >> PLACE_BITS == earlier >> PLACE_BITS
    # Documents of earlier batches are decided, and each that is kept drops all that repeat it.
    new = set(later[~is_within & ~dropped.have(earlier)].tolist())
    within = np.sort(pairs[is_within], order="later")
    for one, other in zip(within["later"].tolist(), within["earlier"].tolist(), strict=True):
        if other not in new:
            new.add(one)
    return np.array(sorted(new), np.int64)


def _pick_most_similar(pairs: NDArray[Any]) -> NDArray[Any]:
    """Return the most similar pair of each document, in a tie the one with the earliest."""
    ordered = pairs[np.lexsort((pairs["earlier"], -pairs["similarity"], pairs["later"]))]
    is_best = are_new(ordered["later"])
    best = np.zeros(int(is_best.sum()), DECISION)
    for name in _NAMES:
        best[name] = ordered[name][is_best]
    return best


def _convert_copies(copies: NDArray[Any]) -> NDArray[Any]:
    """Return exact copies as decisions."""
    made = np.empty(len(copies), DECISION)
    made["later"], made["earlier"] = copies["number"], copies["first"]
    made["similarity"], made["distance"] = 1.0, copies["distance"]
    made["identical"] = True
    return made


def _send_decisions(decisions: list[NDArray[Any]], sender: int, layout: Layout) -> Iterator[Blob]:
    """Yield decisions for the groups of the kept documents."""
    made = np.concatenate([np.empty(0, DECISION), *decisions])
    return _send_to_groups("decisions", made, sender, layout, by="earlier")


def _send_to_groups(
    kind: str, rows: NDArray[Any], sender: int, layout: Layout, by: str = "number"
) -> Iterator[Blob]:
    """Yield rows for the groups of documents."""
    groups = layout.find_groups(rows if rows.dtype == NUMBER else rows[by])
    for group, part in divide_rows(groups, rows):
        yield Blob(group, kind, sender, part.tobytes())


class _Ids:
    """The ids of a group; records without one are named by their place."""

    def __init__(self, inbox: Inbox, names: Mapping[int, tuple[str, int]]) -> None:
        self._ids = {blob.sender: blob.body for blob in inbox.get_blobs("ids")}
        self._names = names

    def find(self, numbers: NDArray[np.int64]) -> Any:
        """Return the ids of documents."""
        ids = np.empty(len(numbers), object)
        batches = numbers >> PLACE_BITS
        for batch in np.unique(batches).tolist():
            is_here = batches == batch
            places = numbers[is_here] & (MAX_BATCH - 1)
            of_batch = unpack_array(self._ids[batch]).take(pa.array(places)).to_pylist()
            name, first = self._names[batch]
            ids[is_here] = [
                f"{name}{first + place}" if id is None else id
                for id, place in zip(of_batch, places.tolist(), strict=True)
            ]
        return pa.array(ids, TEXT)


def answer_groups(
    inbox: Inbox, layout: Layout, names: Mapping[int, tuple[str, int]]
) -> Iterator[Blob]:
    """Answer the groups of dropped documents with the ids and the clusters of the kept ones.

    `names` has for each batch the beginning of a name, and the number of its first record.
    """
    made = inbox.read_rows("decisions", DECISION)
    kept, place, counts = np.unique(made["earlier"], return_inverse=True, return_counts=True)
    ids = _Ids(inbox, names).find(kept).take(pa.array(place))
    # The kept document counts too.
    sizes = counts[place] + 1
    groups = layout.find_groups(made["later"])
    for group in np.unique(groups).tolist():
        rows = np.flatnonzero(groups == group)
        columns = {name: pa.array(made[name][rows]) for name in (*_NAMES, "identical")}
        columns["kept_id"] = ids.take(pa.array(rows))
        columns["cluster_size"] = pa.array(sizes[rows])
        yield Blob(group, "answers", inbox.receiver, pack(pa.record_batch(columns)))


def list_removed(
    inboxes: Iterable[Inbox], settings: Settings, names: Mapping[int, tuple[str, int]]
) -> Iterator[pa.RecordBatch]:
    """Yield rows of the removed table."""
    for inbox in inboxes:
        ids = _Ids(inbox, names)
        for rows in map(unpack, inbox.get_bodies("answers")):
            number, kept = rows.column("later"), rows.column("earlier")
            identical, similarity = rows.column("identical"), rows.column("similarity")
            is_same = identical.to_numpy(zero_copy_only=False)
            distance = rows.column("distance").to_numpy()
            is_against = kept.to_numpy() < settings.first << PLACE_BITS
            columns = {
                "number": number,
                "kept": kept,
                "id": ids.find(number.to_numpy()),
                "kept_id": rows.column("kept_id"),
                "identical": identical,
                "similarity": similarity,
                "measure": pa.array([settings.rule.measure] * len(rows), TEXT),
                "distance": pa.array(distance, mask=distance < 0),
                "kind": list_kinds(is_same, similarity.to_numpy()),
                "cluster_size": rows.column("cluster_size"),
                "kept_from": pa.array(np.where(is_against, "against", "input"), TEXT),
            }
            yield pa.record_batch([columns[name] for name in REMOVED.names], schema=REMOVED)
