"""One batch decided: the rule of `dedup`, among the documents of a store.

Everything that takes long and needs no look at the store, sketching above all, is
done before the transaction begins. Inside it the keys of the batch are looked up,
the documents that may be similar are fetched with their texts, and the core decides
document by document, as it does in memory.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from neardup import _core
from neardup.resources import compiled

if TYPE_CHECKING:
    from neardup.index.settings import Settings
    from neardup.index.store import Session
    from neardup.plan import Rule

__all__ = ["Decided", "Decider"]


@dataclass(frozen=True)
class Decided:
    """What the rule says of one document.

    Parameters
    ----------
    kept : tuple of (int, str) or None
        Number and id of the stored document that it repeats, unless it is of the
        same batch.
    kept_row : int or None
        Row in the same batch that it repeats.
    similarity : float
    distance : int or None
    identical : bool
    """

    kept: tuple[int, str] | None
    kept_row: int | None
    similarity: float
    distance: int | None
    identical: bool


@dataclass(frozen=True)
class Entries:
    """What is to be stored in the table of keys; rows are those of the batch."""

    keys: list[int]
    rows: list[int]
    shares: list[int]


class Decider:
    """The rule of an index, ready to be applied; for one state of the background."""

    def __init__(
        self, settings: Settings, *, background: _core.Background | None, like: Decider | None
    ) -> None:
        rule = settings.rule
        self._keeps_texts = rule.keeps_texts
        self.settings = settings
        self.background = background
        self.rule = rule.compiled(settings.expected)
        self.filing = _core.Filing(self.rule, bits=rule.sketch.bits, background=background)
        self.scanned: Scanned | None = None
        if not self.filing.has_keys():
            self.scanned = like.scanned if like is not None else None
            if self.scanned is None:
                self.scanned = Scanned(rule)

    def among(
        self, session: Session, corpus: _core.Corpus, *, not_before: int | None = None
    ) -> tuple[_core.Keeper, list[Any]]:
        """Return a keeper for the documents of a corpus, and the stored ones it knows.

        Those are restored behind the batch. A stored document that arrived before
        `not_before` is not looked at.
        """
        if self.background is not None:
            corpus.set_background(self.background)
        if self.scanned is not None:
            offsets, numbers = self.scanned.near(session, corpus)
            stored = _core.Stored.given(self.filing, offsets, numbers)
        else:
            looked_up = self.filing.looked_up(corpus, self.rule)
            stored = _core.Stored(self.filing, *session.entries(looked_up))
        wanted = set(stored.candidates(corpus).tolist())
        wanted.update(session.kept_with(sorted(set(corpus.identities()))))
        rows: list[Any] = session.kept(sorted(wanted), with_texts=self._keeps_texts)
        if not_before is not None:
            rows = [row for row in rows if row["at"] >= not_before]
        texts: list[str | None] = [None] * len(rows)
        if self._keeps_texts:
            texts = [session.unpacked(row["text"]) for row in rows]
        corpus.restore(
            pa.array(texts, pa.large_string()),
            [row["identity"] for row in rows],
            [row["features"] for row in rows],
            [row["sketch"] for row in rows],
        )
        numbers = [row["number"] for row in rows]
        return _core.Keeper.among(corpus, self.rule, stored, numbers), rows

    def decide(
        self,
        session: Session,
        corpus: _core.Corpus,
        todo: Sequence[int],
        *,
        not_before: int | None = None,
    ) -> tuple[list[Decided | None], Entries]:
        """Decide some rows of a batch, in this order; None for those that are kept."""
        if not todo:
            return [], Entries([], [], [])
        batch = len(corpus)
        keeper, stored = self.among(session, corpus, not_before=not_before)
        columns = keeper.decide(corpus, np.array(todo, np.uint32))
        decided: list[Decided | None] = []
        for kept, similarity, distance, identical in zip(
            *(column.tolist() for column in columns), strict=True
        ):
            if kept < 0:
                decided.append(None)
                continue
            row = stored[kept - batch] if kept >= batch else None
            decided.append(
                Decided(
                    kept=None if row is None else (row["number"], row["id"]),
                    kept_row=kept if row is None else None,
                    similarity=similarity,
                    distance=None if distance < 0 else distance,
                    identical=identical,
                )
            )
        keys, rows, shares = keeper.new_entries()
        return decided, Entries(keys, rows, shares)


class Scanned:
    """Fingerprints of all kept documents, for a distance that no key can serve.

    Read from the store when they are first needed, and then only what is new. Those of
    documents that are gone are found too, and passed over when they are fetched.
    """

    def __init__(self, rule: Rule) -> None:
        self._bits, self._max_distance = rule.sketch.bits, rule.max_distance or 0
        self._least = max(1, rule.min_features)
        self._lock = threading.Lock()
        self._index: _core.FingerprintIndex | None = None
        self._numbers: list[int] = []

    def near(self, session: Session, corpus: _core.Corpus) -> tuple[list[int], list[int]]:
        """Return for each document of a corpus the numbers of those within the distance.

        As offsets and numbers.
        """
        with self._lock:
            try:
                return self._near(session, corpus)
            except BaseException:
                # An interrupt may have come between fingerprints and their numbers.
                self._index, self._numbers = None, []
                raise

    def _near(self, session: Session, corpus: _core.Corpus) -> tuple[list[int], list[int]]:
        new = session.fingerprints(self._numbers[-1] if self._numbers else 0, self._least)
        rows = _rows([sketch for _, sketch in new], self._bits)
        if self._index is None:
            self._index = _core.FingerprintIndex(
                rows, bits=self._bits, max_distance=self._max_distance
            )
        elif new:
            self._index.add(rows)
        self._numbers.extend(number for number, _ in new)
        queries, found, _ = self._index.near(
            corpus.fingerprints(), max_distance=self._max_distance, workers=1
        )
        offsets = np.searchsorted(queries, np.arange(len(corpus) + 1)).tolist()
        return offsets, [self._numbers[at] for at in found.tolist()]


def _rows(sketches: list[bytes], bits: int) -> np.ndarray[Any, np.dtype[np.uint64]]:
    kind = np.uint32 if bits == 32 else np.uint64
    words = max(1, bits // 64)
    rows = np.frombuffer(b"".join(sketches), kind).astype(np.uint64)
    return np.ascontiguousarray(rows.reshape(-1, words))


def empty_corpus(settings: Settings, *, workers: int) -> _core.Corpus:
    """Return a corpus whose threads the corpora of all batches share."""
    return _core.Corpus(compiled(settings.recipe), keeps_texts=False, shingle=None, workers=workers)
