"""Shingles that few documents have: content without the template.

Bulletins of one form share most of their shingles and say different things. A
shingle that hundreds of documents have is form, one that two have is content.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

__all__ = ["RARE", "RareShingles", "shingle_hashes"]

#: A shingle is rare if at most so many different texts have it.
RARE = 4

Hashes = npt.NDArray[np.uint64]

#: Odd, so that no power of it is 0 modulo 2^64.
_BASE = np.uint64(0x9E3779B97F4A7C15)
_MIX = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))


def shingle_hashes(text: str, k: int) -> Hashes:
    """Return the hashes of the distinct shingles of a text, ascending.

    Parameters
    ----------
    text : str
        Normalized.
    k : int
        Characters in a shingle. A shorter text is one shingle, the whole; an
        empty one has none.

    Returns
    -------
    ndarray of shape (n_shingles,), dtype uint64

    Notes
    -----
    A polynomial of the code points modulo 2^64, and a mix of its bits: two
    shingles of one text are mistaken for one with a chance of some 1e-13 for a
    million of them.

    Examples
    --------
    >>> len(shingle_hashes("ababab", 3))
    2
    """
    points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    if not points.size:
        return np.zeros(0, np.uint64)
    size = min(k, points.size)
    # One is added so that a leading NUL counts.
    wide = points.astype(np.uint64) + np.uint64(1)
    value = np.zeros(points.size - size + 1, np.uint64)
    for at in range(size):
        value = value * _BASE + wide[at : at + value.size]
    value ^= value >> np.uint64(30)
    value *= _MIX[0]
    value ^= value >> np.uint64(27)
    value *= _MIX[1]
    return np.unique(value ^ (value >> np.uint64(31)))


class RareShingles:
    """The rare shingles of some texts of a collection.

    Parameters
    ----------
    texts : sequence of str
        Those that will be asked about, normalized.
    collection : iterable of str
        All texts of the collection, normalized; a text that occurs several
        times counts once, since a re-post makes no template.
    k : int
        Characters in a shingle.

    Notes
    -----
    Counts only shingles of `texts`: memory is theirs, time that of reading the
    collection.

    Examples
    --------
    >>> rare = RareShingles(["abcx", "abcy"], ["abcx", "abcy", *"ABCD"], 3)
    >>> rare.overlap(0, 1)
    (2, 2, 1)
    """

    def __init__(self, texts: Sequence[str], collection: Iterable[str], k: int) -> None:
        sets = [shingle_hashes(text, k) for text in texts]
        wanted = np.unique(np.concatenate([np.zeros(0, np.uint64), *sets]))
        counts = np.zeros(len(wanted), np.int64)
        for text in dict.fromkeys(collection):
            found = shingle_hashes(text, k)
            places = np.minimum(np.searchsorted(wanted, found), max(len(wanted) - 1, 0))
            if len(wanted):
                counts[places[wanted[places] == found]] += 1
        self._sets = [hashes[counts[np.searchsorted(wanted, hashes)] <= RARE] for hashes in sets]

    def overlap(self, a: int, b: int) -> tuple[int, int, int]:
        """Return how many rare shingles two texts have, and how many in common."""
        in_a, in_b = self._sets[a], self._sets[b]
        return len(in_a), len(in_b), len(np.intersect1d(in_a, in_b, assume_unique=True))
