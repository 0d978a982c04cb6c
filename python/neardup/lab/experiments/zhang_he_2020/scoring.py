"""Which found pairs are right, which are wrong, and which are set aside.

Pairs are counted, and documents: a document counts once, however many pairs it
is in.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from neardup.lab.datasets.collection import OVERALL
from neardup.lab.experiments.zhang_he_2020.methods import Found, Method, find
from neardup.lab.metrics import Scores

if TYPE_CHECKING:
    import pyarrow as pa

    from neardup.lab.datasets.split import Split

__all__ = ["ASIDE", "RIGHT", "WRONG", "Scorer", "Tally"]

RIGHT, WRONG, ASIDE = 1, 0, -1

#: Originals with at least this resemblance repeat each other naturally; finding them is no mistake.
_NATURAL = 0.5
_RESEMBLES = Method("natural repeats", "shingle", "threshold", (_NATURAL,))

Places = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Tally:
    """Counts of one topic, or of all documents.

    Parameters
    ----------
    topic : str
        ``all`` for all documents.
    scores : Scores
        Of pairs or of documents, without those set aside.
    aside : int
        Found pairs set aside, or documents that occur in no other found pair.
    """

    topic: str
    scores: Scores
    aside: int

    @property
    def strict_precision(self) -> float:
        """Precision if what is set aside counts as wrong."""
        strict = Scores(self.scores.tp, self.scores.fp + self.aside, self.scores.fn)
        return strict.precision


class Scorer:
    """Counts what is right and what is wrong among found pairs of one split.

    A pair of a copy and its own original is right. A pair whose originals repeat each
    other naturally is set aside: neither right nor wrong. All other pairs are wrong.

    Parameters
    ----------
    split : Split
    table : pyarrow.Table
        Its documents.
    workers : int, default=0
        Threads; 0 means one for each processor. Changes nothing.

    Notes
    -----
    Natural repeats are all pairs of untouched documents with resemblance(5) of at least
    .5: the recipe ``shingle`` is exact.
    """

    def __init__(self, split: Split, table: pa.Table, *, workers: int = 0) -> None:
        found = find(_RESEMBLES, table.filter(split.untouched), _NATURAL, workers=workers)
        self._split = split
        self._codes_of_natural = np.unique(self._codes(found.a, found.b))
        #: Places of the pairs that repeat each other naturally; of shape (n_pairs, 2).
        self.natural: Places = np.sort(np.column_stack([found.a, found.b]), axis=1)
        #: Number of pairs of a copy and its original.
        self.true_pairs = int((~split.untouched).sum())

    def labels(self, a: Places, b: Places) -> npt.NDArray[np.int8]:
        """Return for each pair whether it is RIGHT, WRONG or set ASIDE.

        Parameters
        ----------
        a, b : ndarray of shape (n_pairs,), dtype int64
            Places of the documents; in any order.

        Returns
        -------
        ndarray of shape (n_pairs,), dtype int8
        """
        base = self._split.base
        labels = np.full(len(a), WRONG, np.int8)
        labels[np.isin(self._codes(base[a], base[b]), self._codes_of_natural)] = ASIDE
        labels[base[a] == base[b]] = RIGHT
        return labels

    def sweep(self, found: Found, method: Method) -> list[tuple[float, Scores]]:
        """Return the counts at each cut-off of a method, the strictest first."""
        labels = self.labels(found.a, found.b)
        strictest_first = sorted(method.cut_offs, reverse=method.by_threshold)
        rows = []
        for cut_off in strictest_first:
            passed = labels[method.passes(found.value, cut_off)]
            tp, fp = int((passed == RIGHT).sum()), int((passed == WRONG).sum())
            rows.append((cut_off, Scores(tp, fp, self.true_pairs - tp)))
        return rows

    def tallies(self, found: Found, among: Places | None = None) -> list[Tally]:
        """Return the counts of pairs by topic, and then of all documents.

        Parameters
        ----------
        found : Found
        among : ndarray of shape (n_documents,), dtype int64, or None, default=None
            Places of the documents that were searched; None means all.

        Returns
        -------
        list of Tally
            A pair counts for the topics of both its documents, and once over
            all; pairs of two distractors count over all only.
        """
        labels = self.labels(found.a, found.b)
        tallies = []
        for topic, mine, true in self._topics(found, among):
            counts = {label: int((labels[mine] == label).sum()) for label in (RIGHT, WRONG, ASIDE)}
            scores = Scores(counts[RIGHT], counts[WRONG], true - counts[RIGHT])
            tallies.append(Tally(topic, scores, counts[ASIDE]))
        return tallies

    def document_tallies(self, found: Found, among: Places | None = None) -> list[Tally]:
        """Return the counts of documents by topic, and then of all documents.

        Parameters
        ----------
        found : Found
        among : ndarray of shape (n_documents,), dtype int64, or None, default=None
            Places of the documents that were searched; None means all.

        Returns
        -------
        list of Tally
            True positives are the documents that were found together with
            their copy or original, false positives all others that occur in a
            wrong pair, false negatives the documents whose copy or original is
            among those searched and was not found with them. A topic counts
            the pairs with at least one document of the topic, so documents of
            other topics and distractors that such a pair brings in are wrong
            ones; ``all`` counts every pair.

        Notes
        -----
        Precision is thus the share of truly similar documents among all
        documents reported as similar, as Zhang and He (2020) count.
        """
        labels = self.labels(found.a, found.b)
        tallies = []
        for topic, mine, true in self._topics(found, among):
            right, wrong, aside = (
                np.union1d(found.a[chosen], found.b[chosen])
                for chosen in (mine & (labels == label) for label in (RIGHT, WRONG, ASIDE))
            )
            fp = len(np.setdiff1d(wrong, right))
            unseen = len(np.setdiff1d(aside, np.union1d(right, wrong)))
            tallies.append(Tally(topic, Scores(len(right), fp, 2 * true - len(right)), unseen))
        return tallies

    def _topics(
        self, found: Found, among: Places | None
    ) -> Iterator[tuple[str, npt.NDArray[np.bool_], int]]:
        """Each topic, then all: its name, which found pairs count for it, its true pairs."""
        split = self._split
        copies = np.flatnonzero(~split.untouched)
        if among is not None:
            copies = copies[np.isin(copies, among) & np.isin(split.base[copies], among)]
        for at, name in enumerate(split.topics):
            mine = (split.topic[found.a] == at) | (split.topic[found.b] == at)
            yield name, mine, int((split.topic[copies] == at).sum())
        yield OVERALL, np.ones(len(found.a), np.bool_), len(copies)

    def _codes(self, a: Places, b: Places) -> Places:
        """A number for each unordered pair."""
        return np.minimum(a, b) * len(self._split.base) + np.maximum(a, b)
