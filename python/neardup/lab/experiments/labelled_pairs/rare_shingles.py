"""Shingles that few documents have: content without the template.

Bulletins of one form share most of their shingles and say different things. A
shingle that hundreds of documents have is form, one that two have is content.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

__all__ = ["RARE", "rare_overlaps", "shingles"]

#: A shingle is rare if at most this many different texts have it.
RARE = 4


def shingles(text: str, k: int) -> set[str]:
    """Return the runs of k characters of a text; a shorter one is one shingle, an empty one none.

    Examples
    --------
    >>> sorted(shingles("ababab", 3))
    ['aba', 'bab']
    """
    return {text[at : at + k] for at in range(max(len(text) - k, 0) + 1)} - {""}


def rare_overlaps(
    texts: Sequence[str], pairs: Sequence[tuple[int, int]], collection: Iterable[str], k: int
) -> npt.NDArray[np.int64]:
    """Return how many rare shingles the texts of each pair have, and how many in common.

    Parameters
    ----------
    texts : sequence of str
        Normalized.
    pairs : sequence of (int, int)
        Places in `texts`.
    collection : iterable of str
        All texts of the collection, normalized; a text that occurs several
        times counts once, since a re-post makes no template.
    k : int
        Characters in a shingle.

    Returns
    -------
    ndarray of shape (n_pairs, 3), dtype int64
        Rare shingles of the first text, of the second, and of both.

    Examples
    --------
    >>> rare_overlaps(["abcx", "abcy"], [(0, 1)], ["abcx", "abcy", *"ABCD"], 3).tolist()
    [[2, 2, 1]]
    """
    from sklearn.feature_extraction.text import CountVectorizer

    # Only shingles of `texts` are counted: the collection may be far larger.
    vocabulary = sorted(set().union(*(shingles(text, k) for text in texts)) or {""})
    counter = CountVectorizer(
        analyzer=lambda text: shingles(text, k), vocabulary=vocabulary, dtype=np.int64
    )
    documents = counter.transform(dict.fromkeys(collection)).sum(axis=0)
    rare = counter.transform(texts)[:, np.flatnonzero(documents <= RARE)]
    a, b = (rare[list(side)] for side in zip(*pairs, strict=True))
    counts = (np.asarray(some.sum(axis=1)).ravel() for some in (a, b, a.multiply(b)))
    return np.column_stack(list(counts))
