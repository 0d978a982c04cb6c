"""Scores of pairs, and their intervals.

A share of nothing is 1: if nothing was found, nothing is wrong and precision is 1; if there is
nothing to find, recall is 1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

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
        return _divide(self.tp, self.tp + self.fp)

    @property
    def recall(self) -> float:
        """Share of what is true that was found, in [0, 1]; 1 if nothing is."""
        return _divide(self.tp, self.tp + self.fn)

    @property
    def f1(self) -> float:
        """Harmonic mean of the two, in [0, 1]; 1 if nothing is true or found."""
        return _divide(2 * self.tp, 2 * self.tp + self.fp + self.fn)


def count_scores(found: Flags, true: Flags) -> Scores:
    """Return the counts of pairs by whether each was found and whether it is true."""
    return Scores(int((found & true).sum()), int((found & ~true).sum()), int((~found & true).sum()))


def estimate_f1(
    found: Flags, true: Flags, units: Numbers | None = None, *, seed: int = 0
) -> tuple[float, float]:
    """Return the 95 % bootstrap interval of F1; pairs of one unit are drawn together.

    >>> estimate_f1(np.ones(4, bool), np.ones(4, bool))
    (1.0, 1.0)
    """
    return estimate_interval(count_outcomes(found, true, units), compute_f1, seed=seed)


def count_outcomes(found: Flags, true: Flags, units: Numbers | None = None) -> Floats:
    """Return what each unit adds to tp, fp and fn, for `estimate_interval`."""
    rows = np.column_stack([found & true, found & ~true, ~found & true]).astype(np.float64)
    if units is None:
        return rows
    sums = np.zeros((int(units.max()) + 1, rows.shape[1]))
    np.add.at(sums, units, rows)
    return sums


def compute_f1(sums: Floats) -> Floats:
    """Return F1 from rows of tp, fp and fn, for `estimate_interval`; 1 where all are 0."""
    tp, fp, fn = sums
    whole = 2 * tp + fp + fn
    f1: Floats = np.divide(2 * tp, whole, out=np.ones_like(whole), where=whole > 0)
    return f1


def estimate_interval(
    contributions: Floats, statistic: Callable[[Floats], Floats], *, seed: int = 0
) -> tuple[float, float]:
    """Return the 95 % interval of a statistic of sums, by the percentile bootstrap.

    A row says what an item, a pair or a document, adds to each sum; the statistic takes sums of
    shape (n_sums, resamples). Items with equal rows are drawn together from a multinomial. It has
    the same distribution, and costs time by distinct rows.

    >>> estimate_interval(np.array([[2.0]] * 3), lambda sums: sums[0] / 3)
    (2.0, 2.0)
    """
    kinds, counts = np.unique(contributions, axis=0, return_counts=True)
    generator = np.random.Generator(np.random.PCG64(seed))
    drawn = generator.multinomial(len(contributions), counts / len(contributions), size=_RESAMPLES)
    low, high = np.percentile(statistic((drawn @ kinds).T), [2.5, 97.5])
    return float(low), float(high)


def _divide(part: int, whole: int) -> float:
    """Return a part of a whole, in [0, 1]; 1 if the whole is nothing."""
    return part / whole if whole else 1.0
