"""Shingles that few documents have: content without the template.

Bulletins from one template share most of their shingles but differ in content. A shingle in
hundreds of documents is template, one in two documents is content.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

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
) -> list[tuple[int, int, int]]:
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
    list of (int, int, int)
        Rare shingles of the first text, of the second, and of both.

    Examples
    --------
    >>> rare_overlaps(["abcx", "abcy"], [(0, 1)], ["abcx", "abcy", *"ABCD"], 3)
    [(2, 2, 1)]
    """
    sets = [shingles(text, k) for text in texts]
    # Only shingles of `texts` are counted: the collection may be far larger.
    wanted = set().union(*sets)
    carriers: Counter[str] = Counter()
    for text in dict.fromkeys(collection):
        carriers.update(wanted & shingles(text, k))
    rare = [{shingle for shingle in own if carriers[shingle] <= RARE} for own in sets]
    return [(len(rare[a]), len(rare[b]), len(rare[a] & rare[b])) for a, b in pairs]
