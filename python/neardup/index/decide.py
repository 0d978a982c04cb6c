"""One batch decided: the rule of `dedup`, among the documents of a store.

Everything that takes long and needs no look at the store, sketching above all, is
done before the transaction begins. Inside it the keys of the batch are looked up,
the documents that may be similar are fetched with their texts, and the core decides
document by document, as it does in memory.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Container, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from neardup import _core
from neardup._engine.recipe_assets import compiled
from neardup.index.store import EVER, restore, signed

if TYPE_CHECKING:
    from sqlalchemy import RowMapping

    from neardup.index.settings import Settings
    from neardup.index.store import Entries, Session
    from neardup.plan import Rule

__all__ = ["Among", "Decided", "Decider", "NewEntries", "empty_corpus"]


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
class NewEntries:
    """What is to be stored in the table of keys.

    Parameters
    ----------
    keys, rows, shares : list of int
        Keys are signed; rows are those of the batch.
    replaced : dict of str to list of int
        By ``key`` and ``number`` what is to be deleted: in a full list, a new entry
        takes the place of the oldest that is outside of the window, so that none stays
        closed by what has long passed.
    """

    keys: list[int]
    rows: list[int]
    shares: list[int]
    replaced: dict[str, list[int]]

    def of_rows(self, rows: Container[int]) -> NewEntries:
        """Return what belongs to some rows."""
        kept = [at for at, row in enumerate(self.rows) if row in rows]
        keys = {self.keys[at] for at in kept}
        pairs = zip(self.replaced["key"], self.replaced["number"], strict=True)
        replaced = [pair for pair in pairs if pair[0] in keys]
        return NewEntries(
            [self.keys[at] for at in kept],
            [self.rows[at] for at in kept],
            [self.shares[at] for at in kept],
            {"key": [key for key, _ in replaced], "number": [number for _, number in replaced]},
        )


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
        self.filing = _core.KeyScheme(self.rule, bits=rule.sketch.bits, background=background)
        self.scanned: Scanned | None = None
        if not self.filing.has_keys():
            self.scanned = like.scanned if like is not None else None
            if self.scanned is None:
                self.scanned = Scanned(rule)

    def among(
        self, session: Session, corpus: _core.Corpus, *, not_before: int | None = None
    ) -> Among:
        """Return a keeper for the documents of a corpus, and the stored ones it knows.

        Those are restored behind the batch. A stored document that arrived before
        `not_before` is not looked at.
        """
        if self.background is not None:
            corpus.set_background(self.background)
        since = EVER if not_before is None else not_before
        entries = passed = None
        if self.scanned is not None:
            offsets, numbers = self.scanned.near(session, corpus)
            stored = _core.FetchedIndex.listed(self.filing, offsets, numbers)
        else:
            looked_up = self.filing.lookup_keys(corpus, self.rule)
            if not_before is None:
                entries = session.entries(looked_up)
            else:
                entries, passed = session.entries_since(looked_up, not_before)
            stored = _core.FetchedIndex(
                self.filing,
                entries.keys.view(np.uint64),
                entries.numbers.view(np.uint64),
                entries.shares.astype(np.uint16),
            )
        wanted = set(stored.candidates(corpus).tolist())
        identities = sorted(set(corpus.identities()))
        wanted.update(session.kept_with(identities, not_before=since))
        rows = session.kept(sorted(wanted), with_texts=self._keeps_texts, not_before=since)
        texts: list[str | None] = [None] * len(rows)
        if self._keeps_texts:
            texts = [session.unpacked(row["text"], row["number"]) for row in rows]
        restore(corpus, rows, session.location, pa.array(texts, pa.large_string()))
        numbers = [row["number"] for row in rows]
        keeper = _core.Clusterer.among(corpus, self.rule, stored, numbers)
        return Among(keeper, rows, entries, passed)

    def decide(
        self,
        session: Session,
        corpus: _core.Corpus,
        todo: Sequence[int],
        *,
        not_before: int | None = None,
    ) -> tuple[list[Decided | None], NewEntries]:
        """Decide some rows of a batch, in this order; None for those that are kept."""
        if not todo:
            return [], NewEntries([], [], [], {"key": [], "number": []})
        batch = len(corpus)
        among = self.among(session, corpus, not_before=not_before)
        columns = among.keeper.decide(corpus, np.array(todo, np.uint32))
        decided: list[Decided | None] = []
        for kept, similarity, distance, identical in zip(
            *(column.tolist() for column in columns), strict=True
        ):
            if kept < 0:
                decided.append(None)
                continue
            row = among.stored[kept - batch] if kept >= batch else None
            decided.append(
                Decided(
                    kept=None if row is None else (row["number"], row["id"]),
                    kept_row=kept if row is None else None,
                    similarity=similarity,
                    distance=None if distance < 0 else distance,
                    identical=identical,
                )
            )
        keys, rows, shares = among.keeper.new_entries()
        stored_keys = [signed(key) for key in keys]
        replaced = among.oldest_passed(stored_keys, self.filing.max_list_len())
        return decided, NewEntries(stored_keys, rows, shares, replaced)

    def entries(self, corpus: _core.Corpus) -> NewEntries:
        """Return what the documents of a corpus are filed under if all of them are kept."""
        if self.background is not None:
            corpus.set_background(self.background)
        found = NewEntries([], [], [], {"key": [], "number": []})
        for row in range(len(corpus)):
            # Alone, it repeats nothing.
            stored = _core.FetchedIndex.listed(self.filing, [0] * (len(corpus) + 1), [])
            keeper = _core.Clusterer.among(corpus, self.rule, stored, [])
            keeper.decide(corpus, np.array([row], np.uint32))
            keys, rows, shares = keeper.new_entries()
            found.keys.extend(map(signed, keys))
            found.rows.extend(rows)
            found.shares.extend(shares)
        return found


@dataclass(frozen=True)
class Among:
    """A keeper, the stored documents that it knows, and entries outside of the window."""

    keeper: _core.Clusterer
    stored: list[RowMapping]
    entries: Entries | None
    passed: Entries | None

    def oldest_passed(self, keys: Sequence[int], longest: int | None) -> dict[str, list[int]]:
        """Return for each key whose list is full its oldest entry outside of the window."""
        found: dict[str, list[int]] = {"key": [], "number": []}
        if self.entries is None or self.passed is None or longest is None:
            return found
        lengths = Counter(self.entries.keys.tolist()) + Counter(self.passed.keys.tolist())
        oldest: dict[int, int] = {}
        pairs = zip(self.passed.keys.tolist(), self.passed.numbers.tolist(), strict=True)
        for key, number in pairs:
            oldest[key] = min(number, oldest.get(key, number))
        for key in dict.fromkeys(keys):
            if key in oldest and lengths[key] >= longest:
                found["key"].append(key)
                found["number"].append(oldest[key])
        return found


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
        last = self._numbers[-1] if self._numbers else 0
        new = session.fingerprints(last, self._least, -(-self._bits // 8))
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
    # Stored are whole bytes, the lowest first; in memory, whole words of 64 bits.
    words, size = -(-bits // 64), -(-bits // 8)
    rows = np.zeros((len(sketches), 8 * words), np.uint8)
    rows[:, :size] = np.frombuffer(b"".join(sketches), np.uint8).reshape(-1, size)
    return rows.view("<u8").astype(np.uint64, copy=False)


def empty_corpus(settings: Settings, *, workers: int) -> _core.Corpus:
    """Return a corpus whose threads the corpora of all batches share."""
    return _core.Corpus(compiled(settings.recipe), keeps_texts=False, shingle=None, workers=workers)
