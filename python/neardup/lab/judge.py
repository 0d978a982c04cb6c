"""Which found pairs are right, which are wrong, and which are set aside."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from neardup.lab.methods import Found, Method, find
from neardup.lab.metrics import Scores
from neardup.lab.trial import OVERALL

if TYPE_CHECKING:
    import pyarrow as pa

    from neardup.lab.trial import Split

__all__ = ["ASIDE", "RIGHT", "WRONG", "Judge", "Tally", "natural_repeats"]

RIGHT, WRONG, ASIDE = 1, 0, -1

#: Texts that resemble each other so much by themselves are nobody's mistake.
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
        Without the pairs set aside.
    aside : int
        Found pairs set aside.
    """

    topic: str
    scores: Scores
    aside: int

    @property
    def strict_precision(self) -> float:
        """Precision with the pairs set aside counted as wrong."""
        strict = Scores(self.scores.tp, self.scores.fp + self.aside, self.scores.fn)
        return strict.precision


def natural_repeats(split: Split, table: pa.Table, *, workers: int = 0) -> Places:
    """Return the pairs of untouched documents that repeat each other anyway.

    Parameters
    ----------
    split : Split
    table : pyarrow.Table
        Its documents; those that are copies are left out here.
    workers : int, default=0
        Threads; 0 means one for each processor. Changes nothing.

    Returns
    -------
    ndarray of shape (n_pairs, 2), dtype int64
        Places of the documents; the smaller first.

    Notes
    -----
    All pairs with resemblance(5) of at least .5: the recipe ``shingle`` is
    exact.
    """
    found = find(_RESEMBLES, table.filter(split.untouched), _NATURAL, workers=workers)
    return np.sort(np.column_stack([found.a, found.b]), axis=1)


class Judge:
    """Tells right pairs from wrong ones on one split.

    Every copy stands for its original. A pair of a copy and its own original
    is right. A pair whose originals repeat each other naturally is set aside:
    neither right nor wrong. All other pairs are wrong.

    Parameters
    ----------
    split : Split
    natural : ndarray of shape (n_pairs, 2), dtype int64
        The natural repeats of this split.
    """

    def __init__(self, split: Split, natural: Places) -> None:
        self._split = split
        self._natural = np.unique(self._codes(natural[:, 0], natural[:, 1]))
        copies = ~split.untouched
        #: True pairs of each topic, then of all documents.
        self.true_pairs: tuple[int, ...] = (
            *(int((copies & (split.topic == at)).sum()) for at in range(len(split.topics))),
            int(copies.sum()),
        )

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
        labels[np.isin(self._codes(base[a], base[b]), self._natural)] = ASIDE
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
            rows.append((cut_off, Scores(tp, fp, self.true_pairs[-1] - tp)))
        return rows

    def tallies(self, found: Found) -> list[Tally]:
        """Return the counts by topic, and then of all documents.

        Parameters
        ----------
        found : Found

        Returns
        -------
        list of Tally
            A pair counts for the topics of both its documents, and once over
            all; pairs of two distractors count over all only.
        """
        labels = self.labels(found.a, found.b)
        topic_a, topic_b = self._split.topic[found.a], self._split.topic[found.b]
        tallies = []
        for at, name in enumerate((*self._split.topics, OVERALL)):
            mine = labels
            if at < len(self._split.topics):
                mine = labels[(topic_a == at) | (topic_b == at)]
            tp = int((mine == RIGHT).sum())
            scores = Scores(tp, int((mine == WRONG).sum()), self.true_pairs[at] - tp)
            tallies.append(Tally(name, scores, int((mine == ASIDE).sum())))
        return tallies

    def _codes(self, a: Places, b: Places) -> Places:
        """A number for each unordered pair."""
        return np.minimum(a, b) * len(self._split.base) + np.maximum(a, b)
