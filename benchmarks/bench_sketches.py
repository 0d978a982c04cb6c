"""SimHash fingerprints of Chinese texts, on one core.

They are made of words with parts of speech, or of characters. Every tenth text of the sample is
followed by an edited copy. So fingerprints are also judged by how well they separate copies from
other texts.
"""

import numpy as np

import corpus
import growing
from harness import PRODUCT, Engine, Work, WrongAnswerError

#: At most this share of pairs of unrelated texts may lie within the cut.
FALSE_SHARE = 1e-4


def judge(answer, engine):
    """Check the number of fingerprints; measure how many copies they find.

    The cut is the largest distance within which at most one in 10^4 pairs of different texts
    lies. So fingerprints of different widths can be compared.
    """
    texts, count = int(answer["texts"]), int(answer["count"])
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
    """Return the cut, from a million random pairs of texts that are no copies."""
    rng = np.random.default_rng(1)
    a, b = rng.integers(0, len(words), (2, 1_000_000))
    apart = np.abs(a - b) > 1
    distances = distance(words[a[apart]], words[b[apart]])
    share = np.cumsum(np.bincount(distances, minlength=words.shape[1] * 64 + 1)) / len(distances)
    return int(np.searchsorted(share, FALSE_SHARE, side="right")) - 1


def distance(a, b):
    """Return the Hamming distances between the rows of two arrays."""
    return np.bitwise_count(a ^ b).sum(axis=1, dtype=np.int64)


def ours(label, **options):
    """Return neardup on the whole sample."""
    return Engine(label, PRODUCT, "fingerprints", {"mb": 24} | options)


def work(name, title, notes, *engines):
    """Return the work for one kind of feature."""
    return Work(name, title, growing.sample, judge, engines, notes, needs=corpus.NEEDS)


WORKS = (
    work(
        "words",
        "Words and parts of speech to weighted SimHash, Chinese, one core",
        "64 bits. Each engine takes as much of the same text as its speed allows. The "
        "dictionary is loaded before the clock starts.",
        ours("neardup, improved, bundled IDF", recipe="improved", idf="bundled"),
        ours("neardup, improved, the corpus' IDF: two passes", recipe="improved"),
        ours("neardup, classic", recipe="classic"),
        Engine("cppjieba (Python binding) + simhash", "cppjieba", "words", {"mb": 4}, 3),
        Engine("jieba.posseg + simhash", "simhash", "words", {"mb": 0.6}, 3),
    ),
    work(
        "characters",
        "Character 2-grams to SimHash, Chinese, one core",
        "gaoya keeps its fingerprints to itself: its figure includes filing them in its "
        "index, and their quality is not seen. simhash-pybind takes hashes, so its figure "
        "includes making them with Python's own hash().",
        ours("neardup, characters", recipe="characters"),
        Engine("gaoya", "gaoya", "characters", {"mb": 24}),
        Engine("simhash-pybind", "simhash_pybind", "characters", {"mb": 12}),
        Engine("simhash", "simhash", "characters", {"mb": 2}, 3),
    ),
)
