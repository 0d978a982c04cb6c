"""Metrics of clusterings and of kept sets.

The adjusted Rand index is scikit-learn's. Empty cases have one rule: a share of
nothing is 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from neardup.base.messages import Message
from neardup.base.validation import bad
from neardup.exceptions import ParameterError
from neardup.lab.metrics import scikit_learn, share

__all__ = ["BCubed", "KeptScores", "adjusted_rand_index", "b_cubed", "kept_scores"]

Labels = npt.NDArray[np.int64]


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
    return float(scikit_learn().adjusted_rand_score(theirs, ours))


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
    cells = scikit_learn().cluster.contingency_matrix(theirs, ours, sparse=True).tocoo()
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
        raise bad("kept_of", "lab.place_a_document", kept_of, count=labels.size)
    points = points.astype(np.int64)
    if points.size and not (points.min() >= 0 and points.max() < points.size):
        raise bad("kept_of", "lab.places", kept_of, most=points.size - 1)
    if not np.array_equal(points[points], points):
        document = int(np.flatnonzero(points[points] != points)[0])
        raise ParameterError(Message("lab.chain_of_kept", parameter="kept_of", document=document))
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
        raise bad(name, "lab.label_a_document", values)
    return np.unique(labels, return_inverse=True)[1].astype(np.int64)


def _two_clusterings(found: npt.ArrayLike, true: npt.ArrayLike) -> tuple[Labels, Labels]:
    ours, theirs = _labels(found, "found"), _labels(true, "true")
    if ours.shape != theirs.shape:
        raise bad("found", "lab.labels_of_documents", found, count=theirs.size)
    return ours, theirs
