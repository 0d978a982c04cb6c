"""sketch: a set of features to a MinHash signature.

Value i of a signature is the smallest rank that a feature has under order i. An
order ranks the low 32 bits x of a feature's XXH3 by a * x + b modulo 2^32, a odd.
Two sets have equal values with a probability that is their resemblance (Broder
1997).
"""

from .sketch import xxh3

EMPTY = 2**32 - 1


def split_mix(count):
    """Return the first numbers of SplitMix64 from seed 0 (Steele, Lea, Flood 2014).

    >>> [f"{number:x}" for number in split_mix(3)]
    ['e220a8397b1dcdaf', '6e789e6aa1b965f4', '6c45d188009454f']
    """
    numbers, state = [], 0
    for _ in range(count):
        state = (state + 0x9E3779B97F4A7C15) % 2**64
        mixed = (state ^ state >> 30) * 0xBF58476D1CE4E5B9 % 2**64
        mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EB % 2**64
        numbers.append(mixed ^ mixed >> 31)
    return numbers


def orders(num_perm):
    """Return (a, b) of each order: the low half of a random number, made odd, and the high.

    >>> orders(1) == [(0x7B1DCDAF, 0xE220A839)], all(a % 2 for a, _ in orders(64))
    (True, True)
    """
    return [(number % 2**32 | 1, number >> 32) for number in split_mix(num_perm)]


def signature(features, num_perm):
    """Return the values of a set of features; of an empty one, all are the largest number.

    >>> signature([""], 16)[0] == (0x7B1DCDAF * 0x38D394C2 + 0xE220A839) % 2**32
    True
    >>> signature([], 2) == [EMPTY, EMPTY]
    True
    >>> list(map(min, signature("abcd", 64), signature("abce", 64))) == signature("abcde", 64)
    True
    """
    lows = [xxh3(feature, 32) for feature in features]
    return [min(((a * x + b) % 2**32 for x in lows), default=EMPTY) for a, b in orders(num_perm)]


def equal_values(a, b):
    """Return the share of values in which two signatures agree: estimates resemblance.

    >>> equal_values([1, 2, 3, 4], [1, 2, 4, 3])
    0.5
    """
    return sum(x == y for x, y in zip(a, b, strict=True)) / len(a)


def share_a_band(a, b, bands, rows):
    """Return whether two signatures agree on all values of one of the bands.

    >>> share_a_band([1, 2, 3, 4], [9, 2, 3, 4], 2, 2)
    True
    >>> share_a_band([1, 2, 3, 4], [1, 9, 9, 4], 2, 2)
    False

    Values behind the last band are in none.

    >>> share_a_band([1, 2, 3], [9, 2, 3], 1, 2)
    False
    """
    cuts = range(0, bands * rows, rows)
    return any(a[begin : begin + rows] == b[begin : begin + rows] for begin in cuts)
