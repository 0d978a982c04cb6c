"""Scores of pairs, of clusterings and of kept sets, and their intervals.

A share of nothing is 1: if nothing was found, nothing is wrong and precision is 1; if there is
nothing to find, recall is 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = [
    "Accuracy",
    "BCubed",
    "KeptScores",
    "Scores",
    "accuracy",
    "b_cubed",
    "bootstrap_interval",
    "contributions",
    "count_scores",
    "f1_of_sums",
    "kept_scores",
]

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
Numbers = npt.NDArray[np.int64]

#: Resamples of an interval.
_RESAMPLES = 1000


@dataclass(frozen=True)
class Scores:
    """Precision and recall, from counts.

    Parameters
    ----------
    tp : int
        Found and true.
    fp : int
        Found and not true.
    fn : int
        True and not found.

    Examples
    --------
    >>> scores = Scores(tp=3, fp=1, fn=3)
    >>> scores.precision, scores.recall, scores.f1
    (0.75, 0.5, 0.6)
    """

    tp: int
    fp: int
    fn: int

    @property
    def precision(self) -> float:
        """Share of what was found that is true, in [0, 1]; 1 if nothing was."""
        return _share(self.tp, self.tp + self.fp)

    @property
    def recall(self) -> float:
        """Share of what is true that was found, in [0, 1]; 1 if nothing is."""
        return _share(self.tp, self.tp + self.fn)

    @property
    def f1(self) -> float:
        """Harmonic mean of the two, in [0, 1]; 1 if nothing is true or found."""
        return _share(2 * self.tp, 2 * self.tp + self.fp + self.fn)


@dataclass(frozen=True)
class Accuracy:
    """Scores with their 95 % intervals."""

    scores: Scores
    precision: tuple[float, float]
    recall: tuple[float, float]
    f1: tuple[float, float]


def count_scores(found: Flags, true: Flags) -> Scores:
    """Return the counts of pairs by whether each was found and whether it is true."""
    return Scores(int((found & true).sum()), int((found & ~true).sum()), int((~found & true).sum()))


def contributions(found: Flags, true: Flags, units: Numbers | None = None) -> Floats:
    """Return what each unit adds to tp, fp and fn, for `bootstrap_interval`."""
    rows = np.column_stack([found & true, found & ~true, ~found & true]).astype(np.float64)
    if units is None:
        return rows
    sums = np.zeros((int(units.max()) + 1, rows.shape[1]))
    np.add.at(sums, units, rows)
    return sums


def accuracy(found: Flags, true: Flags, units: Numbers | None = None, *, seed: int = 0) -> Accuracy:
    """Return precision, recall and F1 with their 95 % bootstrap intervals.

    >>> found = accuracy(np.ones(4, bool), np.array([True, True, True, False]))
    >>> found.scores, found.recall
    (Scores(tp=3, fp=1, fn=0), (1.0, 1.0))
    """
    rows = contributions(found, true, units)
    return Accuracy(
        count_scores(found, true),
        bootstrap_interval(rows, lambda sums: _shares(sums[0], sums[1]), seed=seed),
        bootstrap_interval(rows, lambda sums: _shares(sums[0], sums[2]), seed=seed),
        bootstrap_interval(rows, f1_of_sums, seed=seed),
    )


def _shares(part: Floats, rest: Floats) -> Floats:
    """Return parts of wholes; 1 where both are 0."""
    shares: Floats = np.divide(part, part + rest, out=np.ones_like(part), where=part + rest > 0)
    return shares


def f1_of_sums(sums: Floats) -> Floats:
    """Return F1 from rows of tp, fp and fn, for `bootstrap_interval`; 1 where all are 0."""
    tp, fp, fn = sums
    whole = 2 * tp + fp + fn
    f1: Floats = np.divide(2 * tp, whole, out=np.ones_like(whole), where=whole > 0)
    return f1


def bootstrap_interval(
    contributions: Floats, statistic: Callable[[Floats], Floats], *, seed: int = 0
) -> tuple[float, float]:
    """Return the 95 % interval of a statistic of sums, by the percentile bootstrap.

    A row says what an item, a pair or a document, adds to each sum; the statistic takes sums of
    shape (n_sums, resamples). Items with equal rows are drawn together from a multinomial, which
    has the same distribution and costs time by distinct rows.

    >>> bootstrap_interval(np.array([[2.0]] * 3), lambda sums: sums[0] / 3)
    (2.0, 2.0)
    """
    kinds, counts = np.unique(contributions, axis=0, return_counts=True)
    generator = np.random.Generator(np.random.PCG64(seed))
    drawn = generator.multinomial(len(contributions), counts / len(contributions), size=_RESAMPLES)
    low, high = np.percentile(statistic((drawn @ kinds).T), [2.5, 97.5])
    return float(low), float(high)


class BCubed(NamedTuple):
    """Means over documents, and the harmonic mean of both."""

    precision: float
    recall: float
    f1: float


def b_cubed(found: Numbers, true: Numbers) -> BCubed:
    """Return B-cubed precision, recall and F1 of two clusterings, given by a label a document.

    For a document, precision is the share of its found cluster, itself included, that is in its
    true cluster; recall the share of its true cluster that is in its found one (Bagga, Baldwin,
    COLING-ACL 1998).

    >>> b_cubed(np.array([0, 0, 0]), np.array([0, 0, 1])).recall
    1.0
    """
    from sklearn.metrics.cluster import contingency_matrix

    cells = contingency_matrix(true, found, sparse=True).tocoo()
    squares = cells.data.astype(np.float64) ** 2
    of_true, of_found = (np.asarray(cells.sum(axis=axis)).ravel() for axis in (1, 0))
    # Rounded once, so that the order of labels does not matter.
    precision = math.fsum(squares / of_found[cells.col]) / len(found)
    recall = math.fsum(squares / of_true[cells.row]) / len(found)
    return BCubed(precision, recall, 2 * precision * recall / (precision + recall))


@dataclass(frozen=True)
class KeptScores:
    """How good a kept set is: counts of documents, and of true clusters without a kept one."""

    to_drop: int
    dropped: int
    rightly: int
    lost: int


def kept_scores(kept_of: Numbers, true: Numbers) -> KeptScores:
    """Return the scores of a kept set, from the kept document and the cluster of each document.

    A kept document points at itself. It does not matter which one of a cluster was kept.

    >>> kept_scores(np.array([0, 0, 0, 3]), np.array([5, 5, 7, 7]))
    KeptScores(to_drop=2, dropped=2, rightly=1, lost=0)
    """
    clusters = len(np.unique(true))
    dropped = kept_of != np.arange(len(kept_of))
    return KeptScores(
        to_drop=len(true) - clusters,
        dropped=int(dropped.sum()),
        rightly=int((dropped & (true[kept_of] == true)).sum()),
        lost=clusters - len(np.unique(true[~dropped])),
    )


def _share(part: int, whole: int) -> float:
    """Return a part of a whole, in [0, 1]; 1 if the whole is nothing."""
    return part / whole if whole else 1.0
