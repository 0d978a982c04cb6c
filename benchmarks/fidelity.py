"""How well fingerprints tell edited copies from other texts."""

import numpy as np

from harness import WrongAnswerError

# Of pairs of texts that have nothing to do with each other, this share may lie within the cut.
FALSE_SHARE = 1e-4


def judge(answer, engine):
    """Check the number of fingerprints and measure how many copies they find.

    The cut is the largest distance at which at most one in 10^4 pairs of
    different texts lie: so fingerprints of any width are compared alike.
    """
    texts = int(answer["texts"])
    count = int(answer["count"])
    if count != texts:
        raise WrongAnswerError(f"{texts} texts in, {count} fingerprints out")
    row = {"megabytes": float(answer["bytes"]) / 1e6}
    if "fingerprints" not in answer:
        return row | {"copies_found": None}
    words = answer["fingerprints"]
    if len(words) != texts or not words.any():
        raise WrongAnswerError(f"{len(words)} fingerprints for {texts} texts, or all of them 0")
    copies = np.arange(10, texts, 11)
    cut = cut_of(words)
    found = distance(words[copies], words[copies - 1]) <= cut
    return row | {"bits": int(answer["bits"]), "cut": cut, "copies_found": float(found.mean())}


def cut_of(words):
    """Return the cut, from a million random pairs of texts that are not copies of each other."""
    rng = np.random.default_rng(1)
    a, b = rng.integers(0, len(words), (2, 1_000_000))
    apart = np.abs(a - b) > 1
    distances = distance(words[a[apart]], words[b[apart]])
    share = np.cumsum(np.bincount(distances, minlength=words.shape[1] * 64 + 1)) / len(distances)
    return int(np.searchsorted(share, FALSE_SHARE, side="right")) - 1


def distance(a, b):
    """Return the Hamming distance of each two rows of words."""
    return np.bitwise_count(a ^ b).sum(axis=1, dtype=np.int64)
