"""Metrics of found pairs: precision, recall, their curve, and intervals.

The curve is scikit-learn's. Empty cases have one rule: a share of nothing is 1. If nothing was
found, nothing is wrong and precision is 1; if there is nothing to find, recall is 1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from neardup.base.extras import require
from neardup.base.validation import bad, check_whole

__all__ = [
    "Accuracy",
    "Scores",
    "accuracy",
    "average_precision",
    "bootstrap_interval",
    "contributions",
    "count_scores",
    "f1_of_sums",
    "pair_scores",
    "precision_recall_curve",
    "scikit_learn",
    "share",
]

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


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
        return share(self.tp, self.tp + self.fp)

    @property
    def recall(self) -> float:
        """Share of what is true that was found, in [0, 1]; 1 if nothing is."""
        return share(self.tp, self.tp + self.fn)

    @property
    def f1(self) -> float:
        """Harmonic mean of the two, in [0, 1]; 1 if nothing is true or found."""
        return share(2 * self.tp, 2 * self.tp + self.fp + self.fn)


@dataclass(frozen=True)
class Accuracy:
    """Scores with their 95 % intervals."""

    scores: Scores
    precision: tuple[float, float]
    recall: tuple[float, float]
    f1: tuple[float, float]


def pair_scores(found: npt.ArrayLike, true: npt.ArrayLike) -> Scores:
    """Return the counts of found pairs against true pairs.

    Parameters
    ----------
    found, true : array-like of shape (n_pairs, 2), whole numbers >= 0
        Pairs of documents. Their order does not matter, and a repeated
        pair counts once.

    Returns
    -------
    Scores

    Raises
    ------
    ParameterError
        If an array has another shape, or a document is paired with itself.

    Notes
    -----
    O(n log n) for n pairs.

    Examples
    --------
    >>> pair_scores([(0, 1), (2, 3)], [(1, 0), (4, 5)])
    Scores(tp=1, fp=1, fn=1)
    """
    wanted, got = _pairs(true, "true"), _pairs(found, "found")
    tp = len(got & wanted)
    return Scores(tp, len(got) - tp, len(wanted) - tp)


def precision_recall_curve(
    similarity: npt.ArrayLike, is_true: npt.ArrayLike, *, missed: int = 0
) -> tuple[Floats, Floats, Floats]:
    """Return precision and recall at every similarity as the threshold.

    Parameters
    ----------
    similarity : array-like of shape (n_pairs,), float
        Of the pairs found; any order. For distances give their negatives.
    is_true : array-like of shape (n_pairs,), bool
    missed : int, default=0
        True pairs that were not found at any similarity.

    Returns
    -------
    precision, recall, threshold : ndarray of shape (n_thresholds,), float64
        One place for each distinct similarity, the largest first; the threshold
        is inclusive. Recall is 1 throughout if there is no true pair. All are
        empty if there is no pair.

    Raises
    ------
    ParameterError
        If the lengths differ, or a similarity is not a number.

    See Also
    --------
    average_precision : the area under it.

    Notes
    -----
    O(n log n) for n pairs.

    Examples
    --------
    >>> precision_recall_curve([0.9, 0.5, 0.7], [True, True, False])[0].round(2)
    array([1.  , 0.5 , 0.67])
    """
    values = np.asarray(similarity, np.float64)
    labels = np.asarray(is_true)
    if values.ndim != 1 or np.isnan(values).any():
        raise bad("similarity", "lab.number_a_pair", similarity)
    if labels.shape != values.shape or (labels.size and labels.dtype != np.bool_):
        raise bad("is_true", "lab.truth_a_pair", is_true, count=values.size)
    check_whole(missed, "missed", 0)
    distinct, rank = np.unique(values, return_inverse=True)
    true = int(labels.sum())
    if not true:
        nothing = np.zeros(len(distinct))
        return nothing, nothing + (not missed), distinct[::-1]
    # Ranks, since scikit-learn refuses infinite scores.
    precision, recall, _ = scikit_learn().precision_recall_curve(labels, rank)
    # The last entry belongs to no threshold.
    return precision[-2::-1], recall[-2::-1] * (true / (true + missed)), distinct[::-1]


def average_precision(
    similarity: npt.ArrayLike, is_true: npt.ArrayLike, *, missed: int = 0
) -> float:
    """Return the mean precision over all recalls, in [0, 1].

    Parameters
    ----------
    similarity, is_true, missed
        As in :func:`precision_recall_curve`.

    Returns
    -------
    float
        Sum over thresholds of precision times the recall gained there. True
        pairs that were missed gain nothing. 1 if there is no true pair.

    Raises
    ------
    ParameterError
        As :func:`precision_recall_curve` does.

    Examples
    --------
    >>> average_precision([0.9, 0.7], [True, False], missed=1)
    0.5
    """
    precision, recall, _ = precision_recall_curve(similarity, is_true, missed=missed)
    if not np.any(np.asarray(is_true)) and not missed:
        return 1.0
    return float(np.sum(precision * np.diff(recall, prepend=0.0)))


def bootstrap_interval(
    contributions: npt.ArrayLike,
    statistic: Callable[[npt.NDArray[np.float64]], npt.NDArray[np.float64]],
    *,
    seed: int = 0,
    resamples: int = 1000,
) -> tuple[float, float]:
    """Return the 95 % interval of a statistic of sums.

    Parameters
    ----------
    contributions : array-like of shape (n_items, n_sums)
        What each item, a pair or a document, adds to each of some sums; for
        F1 over pairs one row such as ``(1, 0, 0)`` for each pair that is tp,
        fp or fn.
    statistic : callable
        Sums, of shape (n_sums, resamples), to values of shape (resamples,).
    seed : int, default=0
        At least 0.
    resamples : int, default=1000
        Number of resamples of the items, drawn with replacement; at least 1.

    Returns
    -------
    (float, float)
        The percentiles 2.5 and 97.5 of the values. (nan, nan) without items.

    Raises
    ------
    ParameterError
        If a parameter is out of bounds.

    Notes
    -----
    The percentile bootstrap [1]_. Items with equal rows are drawn together from a
    multinomial, which has the same distribution and costs time by distinct rows instead of
    items.

    References
    ----------
    .. [1] Efron, Tibshirani. An introduction to the bootstrap. 1993.

    Examples
    --------
    >>> low, high = bootstrap_interval([[1], [0]] * 50, lambda sums: sums[0] / 100)
    >>> 0.3 < low < 0.5 < high < 0.7
    True
    """
    rows = np.asarray(contributions, np.float64)
    if rows.ndim != 2:
        raise bad("contributions", "lab.row_an_item", contributions)
    check_whole(seed, "seed", 0)
    check_whole(resamples, "resamples", 1)
    if not len(rows):
        return float("nan"), float("nan")
    kinds, counts = np.unique(rows, axis=0, return_counts=True)
    generator = np.random.Generator(np.random.PCG64(seed))
    drawn = generator.multinomial(len(rows), counts / len(rows), size=resamples)
    values = statistic((drawn @ kinds).T)
    low, high = np.percentile(values, [2.5, 97.5])
    return float(low), float(high)


def count_scores(found: Flags, true: Flags) -> Scores:
    """Return the counts of pairs by whether each was found and whether it is true."""
    return Scores(int((found & true).sum()), int((found & ~true).sum()), int((~found & true).sum()))


def contributions(found: Flags, true: Flags, units: npt.NDArray[np.int64] | None = None) -> Floats:
    """Return what each unit adds to tp, fp and fn, for `bootstrap_interval`."""
    rows = np.column_stack([found & true, found & ~true, ~found & true]).astype(np.float64)
    if units is None:
        return rows
    sums = np.zeros((int(units.max()) + 1, rows.shape[1]))
    np.add.at(sums, units, rows)
    return sums


def accuracy(
    found: Flags, true: Flags, units: npt.NDArray[np.int64] | None = None, *, seed: int = 0
) -> Accuracy:
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


def share(part: int, whole: int) -> float:
    """Return a part of a whole, in [0, 1]; 1 if the whole is nothing."""
    return part / whole if whole else 1.0


def _pairs(values: npt.ArrayLike, name: str) -> set[tuple[int, int]]:
    pairs: npt.NDArray[Any] = np.asarray(values)
    if pairs.size == 0:
        return set()
    if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "iu":
        raise bad(name, "lab.pairs_of_numbers", values)
    if (pairs[:, 0] == pairs[:, 1]).any():
        raise bad(name, "lab.pairs_of_two", values)
    ordered = np.sort(pairs, axis=1)
    return set(zip(ordered[:, 0].tolist(), ordered[:, 1].tolist(), strict=True))


def scikit_learn() -> Any:
    """Return the metrics of scikit-learn, which takes a second to import."""
    require("lab.metrics", "lab", "sklearn")
    from sklearn import metrics

    return metrics
