"""verify: a pair's normalized texts to a similarity.

Resemblance is |A n B| / |A u B| and containment |A n B| / |A| over the sets of
character shingles (Broder 1997).
"""

from functools import lru_cache

from rapidfuzz.distance import Levenshtein

from .segment import shingles


@lru_cache(maxsize=1000)
def distinct(text, k):
    """Return the set of a text's shingles."""
    return frozenset(shingles(text, k))


def resemblance(a, b, k=5):
    """Return the resemblance of two texts, in [0, 1].

    A text shorter than k is one shingle; an empty text has none and resembles
    an empty text only.

    >>> resemblance("abcdef", "abcdeg") == 1 / 3
    True
    >>> resemblance("ab", "ab"), resemblance("ab", "ba"), resemblance("", "a")
    (1.0, 0.0, 0.0)
    """
    first, second = distinct(a, k), distinct(b, k)
    union = len(first | second)
    return len(first & second) / union if union else 1.0


def containment(a, b, k=5):
    """Return the share of a's shingles that b has too, in [0, 1].

    >>> containment("abcdef", "abcdefgh"), containment("abcdefgh", "abcdef")
    (1.0, 0.5)
    """
    first, second = distinct(a, k), distinct(b, k)
    return len(first & second) / len(first) if first else 1.0


def edit_distance(a, b):
    """Return the Levenshtein distance of two texts, or of two lists of units.

    >>> edit_distance("kitten", "sitting")
    3
    """
    return Levenshtein.distance(a, b)


def edit_similarity(a, b):
    """Return 1 - edit distance / the longer length, in [0, 1]."""
    longer = max(len(a), len(b))
    return 1 - edit_distance(a, b) / longer if longer else 1.0
