"""The rule of `dedup`, applied to a batch against the stored documents.

Sketching is done before the transaction begins. The transaction looks up the keys of the batch and
fetches the candidates. Then the core decides one document after the other, as it does in memory.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup.base.arrays import word_count
from neardup.base.lazy import _core
from neardup.base.messages import N_
from neardup.exceptions import InputError
from neardup.index.results import Match
from neardup.index.settings import Settings
from neardup.index.store.rows import Postings, make_damage_error
from neardup.index.values import EVER
from neardup.recipe.assets import compiled
from neardup.recipe.rule import Rule

if TYPE_CHECKING:
    from sqlalchemy import RowMapping

    from neardup.index.store.session import Session


@dataclass(frozen=True)
class Verdicts:
    """The decisions on some documents, and the changes to the postings that follow from them."""

    #: The kept document that each document repeats, and its number; None if it is itself kept.
    matches: list[Match | None]
    kept_numbers: list[int | None]
    postings: Postings
    #: Number of kept documents that at least one capped list left out.
    skipped_documents: int = 0


def make_corpus(settings: Settings, *, workers: int, counts: bool = False) -> _core.Corpus:
    """Return an empty corpus, which may count shingles; corpora made from it share threads."""
    recipe, shingle = compiled(settings.recipe), settings.rule.counted_shingle if counts else None
    return _core.Corpus(recipe, keeps_texts=False, shingle=shingle, workers=workers)


def restore(
    corpus: _core.Corpus,
    rows: Sequence[Any],
    location: str,
    texts: pa.LargeStringArray | None = None,
) -> None:
    """Add stored documents with their stored sketches to a corpus."""
    texts = pa.nulls(len(rows), pa.large_string()) if texts is None else texts
    types = {"identity": pa.binary(16), "features": pa.uint32(), "sketch": pa.large_binary()}
    try:
        identities, features, sketches = (
            pa.array([row[name] for row in rows], kind) for name, kind in types.items()
        )
        corpus.restore(identities, features, sketches, texts, normalized=False)
    except (InputError, TypeError, pa.ArrowInvalid) as error:
        numbers = ", ".join(str(row["number"]) for row in rows[:3])
        template = N_(
            "{location}: sketches are damaged, among documents {numbers}: {reason} {remedy}"
        )
        raise make_damage_error(
            template, location, numbers=numbers, reason=error.args[0]
        ) from error


def read_identities(corpus: _core.Corpus) -> list[bytes]:
    """Return 16 bytes for each document, which are equal for equal texts."""
    steps = range(0, len(corpus), _core.MAX_BATCH)
    parts = [pa.array(corpus.rows(begin, begin + _core.MAX_BATCH)[0]) for begin in steps]
    return [identity for part in parts for identity in part.to_pylist()]


class Decider:
    """The rule of an index for one version of its background statistics."""

    def __init__(
        self,
        settings: Settings,
        background: _core.Background | None = None,
        *,
        like: Decider | None = None,
    ) -> None:
        rule = settings.rule
        self._keeps_texts = rule.keeps_texts
        self._measure = rule.measure
        self.background = background
        self.rule = rule.compiled(settings.expected)
        self.key_scheme = _core.KeyScheme(self.rule, bits=rule.sketch.bits, background=background)
        self._scan: FingerprintScan | None = None
        if not self.key_scheme.has_keys():
            known = None if like is None else like._scan
            self._scan = FingerprintScan(rule) if known is None else known

    def make_context(
        self, session: Session, corpus: _core.Corpus, *, not_before: int = EVER
    ) -> BatchContext:
        """Return the context that a batch is decided in: the stored candidates of its documents.

        Stored documents that arrived before the stamp `not_before` are not candidates.
        """
        if self.background is not None:
            corpus.set_background(self.background)
        postings = None
        if self._scan is not None:
            offsets, numbers = self._scan.find_near(session, corpus)
            stored = _core.FetchedIndex.listed(self.key_scheme, offsets, numbers)
        else:
            looked_up = self.key_scheme.lookup_keys(corpus, self.rule)
            postings = session.postings.find(looked_up)
            stored = _core.FetchedIndex(
                self.key_scheme,
                postings.keys.view(np.uint64),
                postings.numbers.view(np.uint64),
                postings.shares.astype(np.uint16),
            )
        wanted = set(stored.candidates(corpus).tolist())
        identities = sorted(set(read_identities(corpus)))
        wanted.update(session.documents.find_identical(identities, not_before=not_before))
        rows = session.documents.find_kept(
            sorted(wanted), with_texts=self._keeps_texts, not_before=not_before
        )
        numbers = [row["number"] for row in rows]
        texts = None
        if self._keeps_texts:
            texts = session.texts.read_all(rows)
        restore(corpus, rows, session.location, texts)
        clusterer = _core.Clusterer.of_stored(corpus, self.rule, stored, numbers)
        return BatchContext(clusterer, rows, postings)

    def decide(
        self,
        session: Session,
        corpus: _core.Corpus,
        ids: Sequence[str],
        rows: Sequence[int],
        first: int,
        *,
        not_before: int = EVER,
    ) -> Verdicts:
        """Decide some rows of a corpus, in this order; they are numbered from `first` on."""
        if not rows:
            return Verdicts([], [], Postings.make_empty())
        context = self.make_context(session, corpus, not_before=not_before)
        columns = context.clusterer.decide(corpus, np.array(rows, np.uint32))
        known = [*ids, *(row["id"] for row in context.stored)]
        numbers = {row: first + at for at, row in enumerate(rows)}
        numbers |= {len(ids) + at: row["number"] for at, row in enumerate(context.stored)}
        kept_numbers = [numbers.get(kept) for kept in columns[0].tolist()]
        entries = context.clusterer.new_entries()
        postings = _make_postings(entries, np.array(rows), np.arange(first, first + len(rows)))
        *_, skipped_documents, _, _ = context.clusterer.statistics()
        return Verdicts(
            self.make_matches(columns, known), kept_numbers, postings, skipped_documents
        )

    def make_matches(
        self, columns: Sequence[NDArray[Any]], ids: Sequence[str]
    ) -> list[Match | None]:
        """Return decisions of the core, given as columns, with the ids of the kept documents."""
        return [
            None
            if kept < 0
            else Match(ids[kept], similarity, self._measure, None if bits < 0 else bits, identical)
            for kept, similarity, bits, identical in zip(
                *(column.tolist() for column in columns), strict=True
            )
        ]

    def keep(self, corpus: _core.Corpus, number: int) -> Verdicts:
        """Return verdicts that keep the only document of a corpus, whatever it repeats."""
        postings = self.file(
            self.make_empty_lists(), corpus, np.zeros(1, np.int64), np.array([number])
        )
        return Verdicts([None], [None], postings)

    def make_empty_lists(self) -> _core.FetchedIndex:
        """Return empty posting lists to file documents in; see `file`."""
        nothing = np.zeros(0, np.uint64)
        return _core.FetchedIndex(self.key_scheme, nothing, nothing, np.zeros(0, np.uint16))

    def file(
        self,
        filing: _core.FetchedIndex,
        corpus: _core.Corpus,
        rows: NDArray[np.int64],
        numbers: NDArray[np.int64],
    ) -> Postings:
        """File kept documents, in ascending rows of a corpus, and return their postings."""
        if not self.key_scheme.has_keys():
            return Postings.make_empty()
        entries = filing.file(corpus, self.rule, rows.astype(np.uint32))
        return _make_postings(entries, rows, numbers)

    def list_keys(self, corpus: _core.Corpus) -> list[list[int]]:
        """Return all keys that each document of a corpus may be indexed by, as signed integers."""
        keys = (self.key_scheme.keys_of(corpus, row) for row in range(len(corpus)))
        return [np.array(of_row, np.uint64).view(np.int64).tolist() for of_row in keys]


@dataclass(frozen=True)
class BatchContext:
    """A clusterer, the stored candidates, and the postings of the keys of a batch."""

    clusterer: _core.Clusterer
    stored: list[RowMapping]
    postings: Postings | None


class FingerprintScan:
    """Fingerprints of all kept documents, for a distance too large to be found by keys.

    Only new ones are read. Keys of removed documents may match: they are never fetched.
    """

    def __init__(self, rule: Rule) -> None:
        self._bits, self._max_distance = rule.sketch.bits, rule.max_distance or 0
        self._least = rule.least_features
        self._lock = threading.Lock()
        self._fingerprints: _core.Fingerprints | None = None
        self._numbers: list[int] = []

    def find_near(self, session: Session, corpus: _core.Corpus) -> tuple[list[int], list[int]]:
        """Return offsets, and numbers of the documents near each document of a corpus."""
        with self._lock:
            try:
                self._read_new(session)
            except BaseException:
                # An interrupt may have left fingerprints without their numbers: read all again.
                self._fingerprints, self._numbers = None, []
                raise
            assert self._fingerprints is not None
            queries, positions, _ = self._fingerprints.near(
                corpus.fingerprints(), max_distance=self._max_distance
            )
            offsets = np.searchsorted(queries, np.arange(len(corpus) + 1)).tolist()
            return offsets, [self._numbers[position] for position in positions.tolist()]

    def _read_new(self, session: Session) -> None:
        last = self._numbers[-1] if self._numbers else 0
        new = session.documents.read_fingerprints(last, self._least)
        rows = _widen_sketches([sketch for _, sketch in new], self._bits)
        if self._fingerprints is None:
            self._fingerprints = _core.Fingerprints(rows, bits=self._bits)
        elif new:
            self._fingerprints.add(rows)
        self._numbers.extend(number for number, _ in new)


def _make_postings(
    entries: tuple[NDArray[np.uint64], NDArray[np.uint32], NDArray[np.uint16]],
    rows: NDArray[np.int64],
    numbers: NDArray[np.int64],
) -> Postings:
    """Return new entries of documents with these numbers, in ascending rows, as postings."""
    keys, filed, min_overlaps = entries
    numbers = numbers[np.searchsorted(rows, filed)]
    return Postings(keys.view(np.int64), numbers, min_overlaps.astype(np.int64))


def _widen_sketches(sketches: list[bytes], bits: int) -> np.ndarray[Any, np.dtype[np.uint64]]:
    # The store has whole bytes, lowest byte first; memory has whole 64-bit words.
    words, size = word_count(bits), -(-bits // 8)
    rows = np.zeros((len(sketches), 8 * words), np.uint8)
    rows[:, :size] = np.frombuffer(b"".join(sketches), np.uint8).reshape(-1, size)
    return rows.view("<u8").astype(np.uint64, copy=False)
