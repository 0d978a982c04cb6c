"""Steps of the search: what is done with one batch, or with one bucket of keys.

Pure functions of bytes, without Spark. Keys and identities (of equal texts) are dealt to
buckets; a bucket tells each batch who else has them; the batch files its documents; the
bucket makes lists of them; and by its lists a batch knows its candidates. The core does it
(`neardup._core.Exchange`), here is what goes into a row and what comes out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from neardup.spark.blobs import numbers_from_bytes, numbers_to_bytes, pack, unpack
from neardup.spark.numbering import batches_of, numbers
from neardup.spark.sketching import identities_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from neardup import _core

#: Of a pair that has not been verified; NaN is a pair that is not similar.
UNKNOWN = -1.0


@dataclass(frozen=True)
class State:
    """What a batch knows of its documents.

    Parameters
    ----------
    numbers : ndarray of int64
    firsts : ndarray of int64
        The number of the first document with the same text; -1 for one that cannot be
        read.
    has_sketch : ndarray of bool
    overcounted : ndarray of bool
        Whether its shingles were counted although the same text was counted elsewhere.
    """

    numbers: NDArray[np.int64]
    firsts: NDArray[np.int64]
    has_sketch: NDArray[np.bool_]
    overcounted: NDArray[np.bool_]

    @property
    def is_searched(self) -> NDArray[np.bool_]:
        """Whether a document takes part in the search; copies of a text do not."""
        is_first: NDArray[np.bool_] = self.firsts == self.numbers
        return self.has_sketch & is_first

    def to_bytes(self) -> bytes:
        """All of it as bytes."""
        flags = (self.has_sketch, self.overcounted)
        return pack(
            [numbers_to_bytes(self.numbers), numbers_to_bytes(self.firsts)]
            + [flag.tobytes() for flag in flags]
        )

    @classmethod
    def from_bytes(cls, blob: bytes) -> State:
        """What `to_bytes` made bytes of."""
        own, firsts, has_sketch, overcounted = unpack(blob)
        return cls(
            numbers_from_bytes(own),
            numbers_from_bytes(firsts),
            np.frombuffer(has_sketch, np.bool_),
            np.frombuffer(overcounted, np.bool_),
        )


def ask(
    exchange: _core.Exchange,
    buckets: int,
    batch: int,
    group: int,
    identities: bytes,
    features: bytes,
    sketches: bytes,
) -> list[bytes]:
    """Deal a batch's keys and identities: a blob for each bucket."""
    every = unpack(sketches)
    own = numbers(batch, len(every))
    keys = exchange.keys(every, int(own[-1]))
    distinct, places = _distinct(identities, features)
    bucket = (distinct[:, 0] % np.uint64(buckets)).astype(np.int64)
    head = numbers_to_bytes(np.array([group]))
    blobs = []
    for at in range(buckets):
        here = bucket == at
        blobs.append(
            pack([keys[at], distinct[here].tobytes(), numbers_to_bytes(own[places[here]]), head])
        )
    return blobs


def count(exchange: _core.Exchange, asked: Sequence[bytes]) -> list[bytes]:
    """Tell each batch what a bucket knows of its keys and identities."""
    parts = [unpack(blob) for blob in asked]
    counts = exchange.count([part[0] for part in parts])
    identities = [identities_of(part[1]) for part in parts]
    own = [numbers_from_bytes(part[2]) for part in parts]
    groups = [
        np.full(len(some), numbers_from_bytes(part[3])[0])
        for part, some in zip(parts, own, strict=True)
    ]
    firsts, overcounted = _firsts(
        np.concatenate(identities), np.concatenate(own), np.concatenate(groups)
    )
    ends = np.cumsum([len(some) for some in own])[:-1]
    answers = zip(counts, np.split(firsts, ends), np.split(overcounted, ends), strict=True)
    return [
        pack([counted, numbers_to_bytes(first), over.tobytes()]) for counted, first, over in answers
    ]


def prepare(
    batch: int, identities: bytes, features: bytes, least: int, answers: Sequence[bytes]
) -> tuple[bytes, bytes]:
    """Return a batch's state, and the counts of its keys, from what the buckets told it.

    `answers` are in the order of the buckets, and a text with fewer features than `least`
    has no sketch.
    """
    parts = [unpack(blob) for blob in answers]
    known = np.frombuffer(features, np.int32)
    own = numbers(batch, len(known))
    distinct, places = _distinct(identities, features)
    bucket = (distinct[:, 0] % np.uint64(len(parts))).astype(np.int64)
    firsts = np.full(len(known), -1, np.int64)
    overcounted = np.zeros(len(known), np.bool_)
    for at, (_, first, over) in enumerate(parts):
        here = places[bucket == at]
        firsts[here] = numbers_from_bytes(first)
        overcounted[here] = np.frombuffer(over, np.bool_)
    # Copies inside the batch were not asked for.
    readable = np.flatnonzero(known >= 0)
    rows = identities_of(identities)[readable]
    order = np.lexsort((readable, rows[:, 1], rows[:, 0]))
    begins = _begins(rows[order])
    owners = readable[order][begins][np.cumsum(begins) - 1]
    firsts[readable[order]] = firsts[owners]
    state = State(own, firsts, known >= max(least, 1), overcounted & (known > 0))
    return state.to_bytes(), pack([part[0] for part in parts])


def file(
    exchange: _core.Exchange,
    state: State,
    sketches: bytes,
    counts: bytes,
    dropped: NDArray[np.int64],
) -> list[bytes]:
    """File the documents of a batch that are not dropped: a blob for each bucket.

    The counts go with it, since they say which lists the batch will ask for.
    """
    every = unpack(counts)
    is_filed = state.is_searched & ~np.isin(state.numbers, dropped)
    filed = exchange.file(unpack(sketches), state.numbers, is_filed, every)
    return [pack(both) for both in zip(filed, every, strict=True)]


def lists(exchange: _core.Exchange, filed: Sequence[bytes]) -> list[bytes]:
    """Return the lists of a bucket that each batch asks for."""
    parts = [unpack(blob) for blob in filed]
    return exchange.lists([part[0] for part in parts], [part[1] for part in parts])


def closed(exchange: _core.Exchange, filed: Sequence[bytes]) -> NDArray[np.int64]:
    """Return the documents in those lists of a bucket that are closed and leave others out."""
    return exchange.closed([unpack(blob)[0] for blob in filed])


def candidates(
    exchange: _core.Exchange,
    state: State,
    sketches: bytes,
    counts: bytes,
    found: Sequence[bytes],
    is_asked: NDArray[np.bool_],
    known: Iterable[bytes],
) -> tuple[bytes, list[tuple[int, bytes]]]:
    """Return the candidate pairs of a batch, and the documents that it needs to judge them.

    Parameters
    ----------
    found : sequence of bytes
        Lists from all buckets.
    is_asked : ndarray of bool
        Documents that are looked up.
    known : iterable of bytes
        Pairs that were verified before.

    Returns
    -------
    pairs : bytes
        See `pairs_to_bytes`; `UNKNOWN` where a pair is to be verified.
    requests : list of (int, bytes)
        Batches, and the numbers of documents there.
    """
    later, earlier = exchange.candidates(
        unpack(sketches), state.numbers, is_asked, unpack(counts), list(found)
    )
    similarity = np.full(len(later), UNKNOWN)
    distance = np.full(len(later), -1, np.int32)
    verified: dict[tuple[int, int], tuple[float, int]] = {}
    for blob in known:
        a, b, *judged = (column.tolist() for column in pairs_from_bytes(blob))
        verified.update(zip(zip(a, b, strict=True), zip(*judged, strict=True), strict=True))
    if verified:
        pairs = enumerate(zip(later.tolist(), earlier.tolist(), strict=True))
        for at, pair in pairs:
            similarity[at], distance[at] = verified.get(pair, (UNKNOWN, -1))
    new = similarity == UNKNOWN
    needed = np.unique(np.concatenate([later[new], earlier[new]]))
    ends = np.flatnonzero(np.diff(batches_of(needed))) + 1
    requests = [
        (int(batches_of(some[:1])[0]), numbers_to_bytes(some))
        for some in np.split(needed, ends)
        if len(some)
    ]
    return pairs_to_bytes(later, earlier, similarity, distance), requests


def pairs_to_bytes(
    later: NDArray[np.int64],
    earlier: NDArray[np.int64],
    similarity: NDArray[np.float64],
    distance: NDArray[np.int32],
) -> bytes:
    """Return pairs of documents, their similarities and distances as bytes."""
    both = [numbers_to_bytes(later), numbers_to_bytes(earlier)]
    return pack([*both, similarity.tobytes(), distance.tobytes()])


def pairs_from_bytes(
    blob: bytes,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64], NDArray[np.int32]]:
    """Return what `pairs_to_bytes` made bytes of."""
    later, earlier, similarity, distance = unpack(blob)
    return (
        numbers_from_bytes(later),
        numbers_from_bytes(earlier),
        np.frombuffer(similarity, np.float64),
        np.frombuffer(distance, np.int32),
    )


def _distinct(identities: bytes, features: bytes) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Return each identity of the readable documents once, and the place of its first."""
    rows = identities_of(identities)
    readable = np.flatnonzero(np.frombuffer(features, np.int32) >= 0)
    rows = rows[readable]
    order = np.lexsort((readable, rows[:, 1], rows[:, 0]))
    first = order[_begins(rows[order])]
    return rows[first], readable[first]


def _firsts(
    identities: NDArray[np.uint64], numbers: NDArray[np.int64], groups: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return for each row the least number with its identity, and whether by this row a
    group counted a text that another one counted too."""
    order = np.lexsort((numbers, identities[:, 1], identities[:, 0]))
    begins = _begins(identities[order])
    firsts = np.empty_like(numbers)
    firsts[order] = numbers[order][begins][np.cumsum(begins) - 1]
    # The batches of a group need not follow each other.
    order = np.lexsort((numbers, groups, identities[:, 1], identities[:, 0]))
    begins = _begins(identities[order])
    begins[1:] |= groups[order][1:] != groups[order][:-1]
    overcounted = np.empty(len(numbers), np.bool_)
    overcounted[order] = begins
    overcounted &= firsts != numbers
    return firsts, overcounted


def _begins(rows: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Say which of sorted rows differ from the one before."""
    begins = np.ones(len(rows), np.bool_)
    begins[1:] = (rows[1:] != rows[:-1]).any(axis=1)
    return begins


def as_array(values: Any) -> NDArray[np.int64]:
    """Return whole numbers, or none, as an array."""
    return np.asarray([] if values is None else values, np.int64)
