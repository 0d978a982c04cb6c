"""verify: a pair's normalized texts to a similarity.

Resemblance is |A n B| / |A u B| and containment |A n B| / |A| over the sets of
character shingles (Broder 1997).
"""

from functools import lru_cache

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
    """Return the Levenshtein distance by the textbook table, row by row.

    >>> edit_distance("kitten", "sitting")
    3
    """
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        above_left, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            above = row[j]
            row[j] = min(above + 1, row[j - 1] + 1, above_left + (x != y))
            above_left = above
    return row[-1]


def edit_distance_by_columns(a, b):
    """Return the same for long texts: a column is two integers (Hyyro 2003).

    Bit i of `up` (`down`) says that cell i + 1 of the column is one more (less)
    than the cell above it.

    >>> from itertools import product
    >>> texts = ["".join(letters) for n in range(5) for letters in product("abc", repeat=n)]
    >>> all(edit_distance_by_columns(a, b) == edit_distance(a, b) for a in texts for b in texts)
    True
    """
    if not a:
        return len(b)
    mask, last = (1 << len(a)) - 1, 1 << (len(a) - 1)
    where = {}
    for i, x in enumerate(a):
        where[x] = where.get(x, 0) | 1 << i
    up, down, total = mask, 0, len(a)
    for y in b:
        equal = where.get(y, 0)
        diagonal = (((equal & up) + up) ^ up) | equal | down
        right_up = down | ~(diagonal | up)
        right_down = diagonal & up
        total += bool(right_up & last) - bool(right_down & last)
        right_up = right_up << 1 | 1
        up = (right_down << 1 | ~(diagonal | right_up)) & mask
        down = right_up & diagonal & mask
    return total


def edit_similarity(a, b):
    """Return 1 - edit distance / the longer length, in [0, 1]."""
    longer = max(len(a), len(b))
    return 1 - edit_distance_by_columns(a, b) / longer if longer else 1.0
