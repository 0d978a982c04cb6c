"""Metrics of found pairs, of clusterings and of kept sets, and their intervals.

The curve and the adjusted Rand index are scikit-learn's. Empty cases have one rule: a share of
nothing is 1. If nothing was found, nothing is wrong and precision is 1; if there is nothing to
find, recall is 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from neardup.base.extras import require
from neardup.base.messages import N_, Message
from neardup.base.validation import bad, check_whole
from neardup.exceptions import ParameterError

__all__ = [
    "Accuracy",
    "BCubed",
    "KeptScores",
    "Scores",
    "accuracy",
    "adjusted_rand_index",
    "average_precision",
    "b_cubed",
    "bootstrap_interval",
    "contributions",
    "count_scores",
    "f1_of_sums",
    "kept_scores",
    "pair_scores",
    "precision_recall_curve",
    "share",
]

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
Labels = npt.NDArray[np.int64]


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
        raise bad("similarity", "one number for each pair", similarity)
    if labels.shape != values.shape or (labels.size and labels.dtype != np.bool_):
        raise bad(
            "is_true", "one True or False for each pair, {count} in all", is_true, count=values.size
        )
    check_whole(missed, "missed", 0)
    distinct, rank = np.unique(values, return_inverse=True)
    true = int(labels.sum())
    if not true:
        nothing = np.zeros(len(distinct))
        return nothing, nothing + (not missed), distinct[::-1]
    # Ranks, since scikit-learn refuses infinite scores.
    precision, recall, _ = _scikit_learn().precision_recall_curve(labels, rank)
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
        raise bad("contributions", "one row of numbers for each item", contributions)
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


def adjusted_rand_index(found: npt.ArrayLike, true: npt.ArrayLike) -> float:
    """Return the adjusted Rand index of two clusterings.

    Parameters
    ----------
    found, true : array-like of shape (n_documents,)
        A label a document, of any kind; equal labels are one cluster.

    Returns
    -------
    float
        In [-0.5, 1]: 1 for equal clusterings, 0 as expected by chance. 1 for
        no document, and where both clusterings are all single documents, or both
        one cluster.

    Raises
    ------
    ParameterError
        If the lengths differ.

    Examples
    --------
    >>> adjusted_rand_index([0, 0, 1, 1], [5, 5, 7, 7])
    1.0
    """
    ours, theirs = _two_clusterings(found, true)
    return float(_scikit_learn().adjusted_rand_score(theirs, ours))


@dataclass(frozen=True)
class BCubed:
    """B-cubed precision and recall, means over documents.

    Parameters
    ----------
    precision, recall : float
        In [0, 1].
    f1 : float
        Their harmonic mean, in [0, 1].
    """

    precision: float
    recall: float
    f1: float


def b_cubed(found: npt.ArrayLike, true: npt.ArrayLike) -> BCubed:
    """Return B-cubed precision, recall and F1 of two clusterings.

    Parameters
    ----------
    found, true : array-like of shape (n_documents,)
        A label a document, of any kind; equal labels are one cluster.

    Returns
    -------
    BCubed
        All 1 for no document.

    Raises
    ------
    ParameterError
        If the lengths differ.

    Notes
    -----
    For a document, precision is the share of its found cluster, itself
    included, that is in its true cluster; recall the share of its true cluster
    that is in its found one [1]_. O(n log n) for n documents.

    References
    ----------
    .. [1] Bagga, Baldwin. Entity-based cross-document coreferencing using the
       vector space model. COLING-ACL 1998.

    Examples
    --------
    >>> b_cubed([0, 0, 0], [0, 0, 1]).recall
    1.0
    """
    ours, theirs = _two_clusterings(found, true)
    if not len(ours):
        return BCubed(1.0, 1.0, 1.0)
    cells = _scikit_learn().cluster.contingency_matrix(theirs, ours, sparse=True).tocoo()
    squares = cells.data.astype(np.float64) ** 2
    # Rounded once, so that the order of labels does not matter.
    precision = math.fsum(squares / np.bincount(ours)[cells.col]) / len(ours)
    recall = math.fsum(squares / np.bincount(theirs)[cells.row]) / len(ours)
    return BCubed(precision, recall, 2 * precision * recall / (precision + recall))


@dataclass(frozen=True)
class KeptScores:
    """How good a kept set is.

    Parameters
    ----------
    to_drop : int
        Documents that should be dropped: all but one of each true cluster.
    dropped : int
        Documents that were dropped.
    rightly : int
        Dropped documents that point to a kept document of their own true cluster.
    lost : int
        True clusters of which no document was kept.
    """

    to_drop: int
    dropped: int
    rightly: int
    lost: int

    @property
    def recall(self) -> float:
        """Rightly dropped share of the documents to drop, in [0, 1]; 1 if there are none."""
        return share(self.rightly, self.to_drop)

    @property
    def precision(self) -> float:
        """Rightly dropped share of the dropped documents, in [0, 1]; 1 if there are none."""
        return share(self.rightly, self.dropped)


def kept_scores(kept_of: npt.ArrayLike, true: npt.ArrayLike) -> KeptScores:
    """Return the scores of a kept set.

    Parameters
    ----------
    kept_of : array-like of shape (n_documents,), whole numbers
        Index of the kept document that each document points to; its own index if it was kept.
    true : array-like of shape (n_documents,)
        A label a document, of any kind; equal labels are one cluster.

    Returns
    -------
    KeptScores
        It does not matter which document of a cluster was kept.

    Raises
    ------
    ParameterError
        If the lengths differ, or a document points at one that was not kept.

    Examples
    --------
    >>> kept_scores([0, 0, 0, 3], ["a", "a", "b", "b"])
    KeptScores(to_drop=2, dropped=2, rightly=1, lost=0)
    """
    points = np.asarray(kept_of)
    labels = _labels(true, "true")
    if points.shape != labels.shape or (points.size and points.dtype.kind not in "iu"):
        raise bad(
            "kept_of", "one place for each document, {count} in all", kept_of, count=labels.size
        )
    points = points.astype(np.int64)
    if points.size and not (points.min() >= 0 and points.max() < points.size):
        raise bad("kept_of", "places from 0 to {most}", kept_of, most=points.size - 1)
    if not np.array_equal(points[points], points):
        document = int(np.flatnonzero(points[points] != points)[0])
        raise ParameterError(
            Message(
                "{parameter:named} must point at kept documents, which point at "
                "themselves. Got a chain at document {document} instead.",
                parameter="kept_of",
                document=document,
            )
        )
    dropped = points != np.arange(points.size)
    rightly = dropped & (labels[points] == labels)
    clusters = int(labels.max()) + 1 if labels.size else 0
    kept = np.bincount(labels[~dropped], minlength=clusters)
    return KeptScores(
        to_drop=labels.size - clusters,
        dropped=int(dropped.sum()),
        rightly=int(rightly.sum()),
        lost=int((kept == 0).sum()),
    )


def _labels(values: npt.ArrayLike, name: str) -> Labels:
    labels: npt.NDArray[Any] = np.asarray(values)
    if labels.ndim != 1:
        raise bad(name, "one label for each document", values)
    return np.unique(labels, return_inverse=True)[1].astype(np.int64)


def _two_clusterings(found: npt.ArrayLike, true: npt.ArrayLike) -> tuple[Labels, Labels]:
    ours, theirs = _labels(found, "found"), _labels(true, "true")
    if ours.shape != theirs.shape:
        raise bad("found", "one label for each document, {count} in all", found, count=theirs.size)
    return ours, theirs


def share(part: int, whole: int) -> float:
    """Return a part of a whole, in [0, 1]; 1 if the whole is nothing."""
    return part / whole if whole else 1.0


def _pairs(values: npt.ArrayLike, name: str) -> set[tuple[int, int]]:
    pairs: npt.NDArray[Any] = np.asarray(values)
    if pairs.size == 0:
        return set()
    if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "iu":
        raise bad(name, "pairs of whole numbers", values)
    if (pairs[:, 0] == pairs[:, 1]).any():
        raise bad(name, "pairs of two different documents", values)
    ordered = np.sort(pairs, axis=1)
    return set(zip(ordered[:, 0].tolist(), ordered[:, 1].tolist(), strict=True))


def _scikit_learn() -> Any:
    """Return the metrics of scikit-learn, which takes a second to import."""
    require(N_("A metric"), "lab", "sklearn")
    from sklearn import metrics

    return metrics
