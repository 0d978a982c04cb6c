"""Steps of the search: what is done with one batch, one bucket of keys or one unit of pairs.

Pure functions of bytes, without Spark. Keys and identities (of equal texts) are dealt to
buckets; a bucket tells each batch who else has them; the batch files its documents; the
bucket makes lists of them; and by its lists a batch knows its candidates. The core does it
(`neardup._core.Exchange`), here is what goes into a row and what comes out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from neardup.spark.blobs import numbers_from_bytes, numbers_to_bytes, pack, unpack
from neardup.spark.numbering import batches_of, numbers, places_of
from neardup.spark.sketching import identities_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from neardup import _core

#: Of a pair that has not been verified; NaN is a pair that is not similar.
UNKNOWN = -1.0

#: Documents for each unit that pairs are judged in; it holds the texts of some of so many.
UNIT_DOCUMENTS = 1 << 14


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


def lists(
    exchange: _core.Exchange, filed: Sequence[bytes]
) -> tuple[list[bytes], NDArray[np.int64]]:
    """Return the lists of a bucket that each batch asks for, and the documents in those that are
    closed and leave others out."""
    parts = [unpack(blob) for blob in filed]
    return exchange.lists([part[0] for part in parts], [part[1] for part in parts])


def candidates(
    exchange: _core.Exchange,
    state: State,
    sketches: bytes,
    counts: bytes,
    found: Sequence[bytes],
    is_asked: NDArray[np.bool_],
    known: Iterable[bytes],
) -> Pairs:
    """Return the candidate pairs of a batch; `UNKNOWN` where a pair is to be verified.

    Parameters
    ----------
    found : sequence of bytes
        Lists from all buckets.
    is_asked : ndarray of bool
        Documents that are looked up.
    known : iterable of bytes
        Pairs that were verified before.
    """
    later, earlier = exchange.candidates(
        unpack(sketches), state.numbers, is_asked, unpack(counts), list(found)
    )
    similarity = np.full(len(later), UNKNOWN)
    distance = np.full(len(later), -1, np.int32)
    verified: dict[tuple[int, int], tuple[float, int]] = {}
    for blob in known:
        a, b, *judged = (column.tolist() for column in Pairs.from_bytes(blob).columns)
        verified.update(zip(zip(a, b, strict=True), zip(*judged, strict=True), strict=True))
    if verified:
        pairs = enumerate(zip(later.tolist(), earlier.tolist(), strict=True))
        for at, pair in pairs:
            similarity[at], distance[at] = verified.get(pair, (UNKNOWN, -1))
    return Pairs(later, earlier, similarity, distance)


def units_of(pairs: Pairs, batch: int, batches: int, units: int) -> NDArray[np.int64]:
    """Return the unit in which each pair of a batch is judged; there are so many of both.

    That of the first document that the later one might repeat: so the pairs of similar
    documents meet, and each of their texts goes to few units. If in all batches as many
    repeat it as in this one, and they are more than a unit is for, as many units as they need
    share them by their batches.
    """
    order = np.lexsort((pairs.earlier, pairs.later))
    later, earlier = pairs.later[order], pairs.earlier[order]
    begins = np.ones(len(later), np.bool_)
    begins[1:] = later[1:] != later[:-1]
    firsts, inverse, laters = np.unique(earlier[begins], return_inverse=True, return_counts=True)
    parts = (-(-laters * batches // UNIT_DOCUMENTS)).astype(np.uint64)
    spread = _mixed(firsts) ^ _mixed(_mixed(np.array([batch])) % parts)
    unit = np.empty(len(later), np.int64)
    unit[order] = (_mixed(spread) % np.uint64(units))[inverse][np.cumsum(begins) - 1]
    return unit


def _mixed(numbers: NDArray[Any]) -> NDArray[np.uint64]:
    """Return hashes of whole numbers."""
    mixed = numbers.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    return mixed ^ mixed >> np.uint64(32)


#: A document that a unit needs: its place in its batch.
_NEEDED = np.dtype([("unit", "<u4"), ("place", "<u2")])


def needed(pairs: Pairs, units: NDArray[np.int64]) -> list[tuple[int, bytes]]:
    """Return batches, and the documents there that units need to judge pairs.

    See `needed_by_unit`.
    """
    both = np.concatenate([pairs.later, pairs.earlier])
    rows = np.unique(np.stack([both, np.concatenate([units, units])]), axis=1)
    ends = np.flatnonzero(np.diff(batches_of(rows[0]))) + 1
    found = []
    for documents, of_unit in np.split(rows, ends, axis=1) if rows.size else ():
        some = np.empty(len(documents), _NEEDED)
        some["unit"], some["place"] = of_unit, places_of(documents)
        found.append((int(batches_of(documents[:1])[0]), some.tobytes()))
    return found


def needed_by_unit(requests: Iterable[bytes]) -> dict[int, NDArray[np.int64]]:
    """Return the places of the documents of a batch that each unit needs, once, from all that
    was asked of the batch."""
    some = np.unique(np.concatenate([np.frombuffer(body, _NEEDED) for body in requests]))
    ends = np.flatnonzero(np.diff(some["unit"])) + 1
    parts = np.split(some, ends)
    return {int(part["unit"][0]): part["place"].astype(np.int64) for part in parts}


@dataclass(frozen=True)
class Pairs:
    """Pairs of documents, and what is known of them.

    Parameters
    ----------
    later, earlier : ndarray of int64
    similarity : ndarray of float64
        NaN if they are not similar, `UNKNOWN` if they were not compared.
    distance : ndarray of int32
        -1 where there is none.
    """

    later: NDArray[np.int64]
    earlier: NDArray[np.int64]
    similarity: NDArray[np.float64]
    distance: NDArray[np.int32]

    @property
    def columns(self) -> tuple[NDArray[Any], ...]:
        """All of it."""
        return self.later, self.earlier, self.similarity, self.distance

    def __getitem__(self, some: NDArray[Any]) -> Pairs:
        """Some of the pairs, by a mask or places."""
        return Pairs(*(column[some] for column in self.columns))

    def by(self, keys: NDArray[np.int64]) -> Iterator[tuple[int, Pairs]]:
        """Yield the pairs of each key."""
        order = np.argsort(keys, kind="stable")
        ends = np.flatnonzero(np.diff(keys[order])) + 1
        for some in np.split(order, ends):
            if len(some):
                yield int(keys[some[0]]), self[some]

    def to_bytes(self) -> bytes:
        """All of it as bytes."""
        both = [numbers_to_bytes(self.later), numbers_to_bytes(self.earlier)]
        return pack([*both, self.similarity.tobytes(), self.distance.tobytes()])

    @classmethod
    def from_bytes(cls, blob: bytes) -> Pairs:
        """What `to_bytes` made bytes of."""
        later, earlier, similarity, distance = unpack(blob)
        return cls(
            numbers_from_bytes(later),
            numbers_from_bytes(earlier),
            np.frombuffer(similarity, np.float64),
            np.frombuffer(distance, np.int32),
        )

    @classmethod
    def together(cls, blobs: Iterable[bytes]) -> Pairs:
        """All pairs of one or more blobs."""
        columns = zip(*(cls.from_bytes(blob).columns for blob in blobs), strict=True)
        return cls(*(np.concatenate(column) for column in columns))


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
