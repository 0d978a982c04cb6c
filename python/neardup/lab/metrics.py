"""How good found pairs are: precision, recall, and their curve.

Empty cases have one rule: a share of nothing is 1. Who found nothing has said
nothing wrong, so precision is 1; where there is nothing to find, recall is 1.
All is plain NumPy and exact: counts are whole numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from neardup._engine.validation import bad, check_whole

__all__ = ["Scores", "average_precision", "pair_scores", "precision_recall_curve", "share"]

Floats = npt.NDArray[np.float64]


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


def pair_scores(found: npt.ArrayLike, true: npt.ArrayLike) -> Scores:
    """Return the counts of found pairs against true pairs.

    Parameters
    ----------
    found, true : array-like of shape (n_pairs, 2), whole numbers >= 0
        Pairs of documents. Which comes first does not matter, and a pair that
        stands twice counts once.

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
    order = np.argsort(-values, kind="stable")
    values = values[order]
    # Pairs of one similarity are all in or all out: a place ends each run of them.
    last = np.flatnonzero(np.append(values[1:] != values[:-1], True)) if values.size else order
    tp = np.cumsum(labels[order], dtype=np.int64)[last]
    wanted = int(labels.sum()) + missed
    recall = tp / wanted if wanted else np.ones(len(last))
    return tp / (last + 1), recall, values[last]


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
