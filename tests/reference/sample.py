"""sketch: a set of features to a sample of them.

The leading half of a feature's XXH3 is its key. All documents keep the smallest keys:
at rate r, a power of two, those of at most (2^32 - 1) / r (Broder 1997). So a sample
cut at a larger rate is the sample of that rate.
"""

from .sketch import xxh3

#: Keys that are smaller still would too often be equal by chance.
MAX_RATE = 2**12


def rate_of(count, size):
    """Return the largest power of two that leaves `size` of `count` features; 0 wants all.

    >>> [rate_of(count, 32) for count in (0, 31, 63, 64, 127, 128, 10**9)]
    [1, 1, 1, 2, 2, 4, 4096]
    >>> rate_of(10**6, 0)
    1
    """
    rate = 1
    while size and rate < MAX_RATE and count >= 2 * rate * size:
        rate *= 2
    return rate


def sample(features, size):
    """Return (rate, keys) of a set of features, the keys in ascending order.

    >>> sample("abc", 2) == (1, sorted(xxh3(unit, 64) >> 32 for unit in "abc"))
    True
    >>> rate, keys = sample("abcdefgh", 2)
    >>> rate, keys == [key for key in sample("abcdefgh", 0)[1] if key < 2**30]
    (4, True)
    """
    rate = rate_of(len(features), size)
    return rate, cut(sorted({xxh3(feature, 64) >> 32 for feature in features}), rate)


def cut(keys, rate):
    """Return the keys that a sample of that rate keeps."""
    return [key for key in keys if key <= (2**32 - 1) // rate]


def resemblance(a, b):
    """Return the resemblance of two samples, each with its rate, cut at the larger one.

    >>> resemblance((1, [1, 2, 3]), (1, [2, 3, 4]))
    0.5

    At rate 2 keys end below 2^31.

    >>> resemblance((1, [1, 2, 2**31 - 1, 2**31]), (2, [1, 9]))
    0.25
    >>> resemblance((1, [2**31]), (2, [1])), resemblance((1, []), (1, []))
    (0.0, 0.0)
    """
    (rate_a, keys_a), (rate_b, keys_b) = a, b
    rate = max(rate_a, rate_b)
    kept_a, kept_b = set(cut(keys_a, rate)), set(cut(keys_b, rate))
    return len(kept_a & kept_b) / len(kept_a | kept_b) if kept_a & kept_b else 0.0
