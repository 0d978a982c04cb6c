"""sketch: a set of features to a sample of them.

All documents choose alike, by the high half of a feature's XXH3: at rate r, a
power of two, those where it is divisible by r (Manber 1994). The low half is the
key that stands for the feature.
"""

from .sketch import xxh3


def rate_of(count, size):
    """Return the largest power of two that leaves `size` of `count` features; 0 wants all."""
    rate = 1
    while size and count >= 2 * rate * size:
        rate *= 2
    return rate


def sample(features, size):
    """Return (rate, keys) of a set of features, the keys in ascending order."""
    rate = rate_of(len(features), size)
    hashes = [xxh3(feature, 64) for feature in features]
    return rate, sorted({h % 2**32 for h in hashes if (h >> 32) % rate == 0})


def resemblance(one, other):
    """Return the resemblance of two samples, each with its rate.

    Both are taken at the larger rate: a sample of the smaller one counts with the
    share that it should have there.
    """
    (rate_a, keys_a), (rate_b, keys_b) = one, other
    larger = max(rate_a, rate_b)
    common = len(set(keys_a) & set(keys_b))
    union = len(keys_a) * rate_a / larger + len(keys_b) * rate_b / larger - common
    return min(1.0, common / union) if common else 0.0


def share_enough(keys, others, threshold):
    """Return whether two documents are candidates, by the keys of both.

    Where no key stands in many documents, all count alike. What is asked for is
    half of the threshold, of all keys that the document with fewer of them has.
    """
    common = len(set(keys) & set(others))
    return common >= max(1, int(min(len(keys), len(others)) * threshold / 2))
