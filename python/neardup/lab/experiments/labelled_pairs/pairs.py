"""Labelled pairs within their collection, and which of them depend on each other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from neardup.lab.datasets.collection import Documents

__all__ = ["Pairs", "components", "sharing_documents"]

Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Pairs:
    """Labelled pairs of documents, by place.

    Parameters
    ----------
    documents : Documents
        The whole collection.
    a, b : ndarray of shape (n_pairs,), dtype int64
        Places of the documents of each pair.
    """

    documents: Documents
    a: Numbers
    b: Numbers

    def __len__(self) -> int:
        return len(self.a)

    def compared(self) -> tuple[list[int], list[tuple[int, int]]]:
        """Return the documents that occur, and each pair as two places among them."""
        places, inverse = np.unique(np.concatenate([self.a, self.b]), return_inverse=True)
        a, b = np.split(inverse, 2)
        return places.tolist(), list(zip(a.tolist(), b.tolist(), strict=True))


def components(pairs: Pairs, is_joined: npt.NDArray[np.bool_]) -> tuple[Numbers, Numbers]:
    """Return the documents that occur, and which of them some pairs join.

    Parameters
    ----------
    pairs : Pairs
    is_joined : ndarray of shape (n_pairs,), bool
        The pairs whose documents belong together.

    Returns
    -------
    places : ndarray of shape (n_labelled,), dtype int64
        Documents that occur in a pair, ascending.
    numbers : ndarray of shape (n_labelled,), dtype int64
        Documents joined directly or over others have the same number, from 0.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    places, compared = pairs.compared()
    a, b = np.array(compared, np.int64).reshape(-1, 2)[is_joined].T
    joined = coo_array((np.ones(len(a)), (a, b)), (len(places), len(places)))
    numbers = connected_components(joined, directed=False)[1].astype(np.int64)
    return np.array(places, np.int64), numbers


def sharing_documents(pairs: Pairs) -> Numbers:
    """Return a number for each pair, from 0: pairs that share documents have the same one.

    If more than half of the pairs hang together, there is too little left to learn from
    without them, or to resample: then each pair has its own number.

    Examples
    --------
    >>> documents = Documents(tuple("abcdefg"), (None,) * 7, tuple("ABCDEFG"))
    >>> sharing_documents(Pairs(documents, np.array([0, 2, 1, 5]), np.array([1, 3, 4, 6])))
    array([0, 1, 0, 2])
    """
    places, numbers = components(pairs, np.ones(len(pairs), np.bool_))
    of_pairs = numbers[np.searchsorted(places, pairs.a)]
    if 2 * np.bincount(of_pairs).max() > len(pairs):
        return np.arange(len(pairs))
    return of_pairs
