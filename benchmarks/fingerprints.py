"""SimHash fingerprints: how fast they are made of texts, and found within a distance.

Texts are news, of which every tenth is followed by an edited copy, so fingerprints are also judged
by how well they separate copies from other texts. What is searched are random fingerprints with
near copies planted among them; every engine here claims to be exact, so it must find every pair.
"""

import numpy as np

import corpora
import truth
from harness import PRODUCT, Engine, Work, WrongAnswerError

SEED = 20070508
MILLION = 10**6

#: Said of the first search among random fingerprints; the others are measured in the same way.
RANDOM = """Random fingerprints with planted near copies. neardup uses two threads, simhash-pybind
one."""


def planted(count):
    """Return the path of `count` distinct fingerprints of 64 bits.

    One in 50 is a copy of an earlier one with 1 to 8 bits changed. So for every bound up to 7,
    some pairs are within it and some are beyond it.
    """
    path = corpora.WORK / f"fingerprints_{count}.npy"
    truth.cached(path, lambda: distinct(count))
    return path


def distinct(count):
    """Make the fingerprints; a repeated value is replaced."""
    rng = np.random.default_rng(SEED)
    values = rng.integers(0, 2**64, count, dtype=np.uint64)
    copies = rng.choice(np.arange(count // 2, count), count // 50, replace=False)
    sources = rng.integers(0, count // 2, len(copies))
    values[copies] = values[sources] ^ flips(rng, rng.integers(1, 9, len(copies)))
    while len(repeated := np.setdiff1d(np.arange(count), np.unique(values, return_index=True)[1])):
        values[repeated] = rng.integers(0, 2**64, len(repeated), dtype=np.uint64)
    return values


def flips(rng, bits):
    """Return one word for each entry of `bits`, with that many bits set."""
    order = np.argsort(rng.random((len(bits), 64)), axis=1)
    chosen = np.arange(64)[None, :] < bits[:, None]
    powers = np.where(chosen, np.uint64(1) << order.astype(np.uint64), np.uint64(0))
    return np.bitwise_or.reduce(powers, axis=1)


def true_pairs(count, max_distance):
    """Return (a, b) of all pairs within the distance, by an exact join."""
    return truth.cached(
        corpora.WORK / f"near_{count}_{max_distance}.npy",
        lambda: truth.near_pairs(np.load(planted(count)), max_distance),
    )


def judge_pairs(max_distance):
    """Return a judge that compares an answer with the exact pairs."""

    def judge(answer, engine, path):
        count = len(np.load(path, mmap_mode="r"))
        expected = np.sort(true_pairs(count, max_distance) @ np.array([count, 1]))
        result = np.unique(answer["a"].astype(np.int64) * count + answer["b"].astype(np.int64))
        if not np.array_equal(result, expected):
            right = len(np.intersect1d(result, expected))
            raise WrongAnswerError(
                f"{len(expected)} expected, {len(result)} found, {right} of them right"
            )
        return {"recall": 1.0, "precision": 1.0, "pairs": len(result)}

    return judge


def pairs_work(count, max_distance, blocks):
    """Return the work of finding all pairs, for one size and distance.

    `blocks`: the number of blocks at which simhash-pybind is fastest.
    """
    peer = {"max_distance": max_distance, "blocks": blocks}
    engines = (
        Engine("neardup", PRODUCT, "near_pairs", {"max_distance": max_distance}),
        Engine(f"simhash-pybind, {blocks} blocks", "simhash_pybind", "near_pairs", peer),
    )
    return Work(
        name=f"near_pairs_{count // MILLION}m_{max_distance}",
        title=f"All pairs within {max_distance} bits among {count:,} 64-bit fingerprints",
        prepare=lambda trial: planted(count // 100 if trial else count),
        judge=judge_pairs(max_distance),
        notes=RANDOM if count == MILLION else "",
        engines=engines,
        large=count > MILLION,
    )


#: At most this share of pairs of unrelated texts may lie within the cut.
FALSE_SHARE = 1e-4


def judge_sketches(answer, engine, path):
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


SKETCHES = Work(
    name="sketches",
    title="Fingerprints of Chinese texts, one core",
    prepare=lambda trial: corpora.sample(),
    judge=judge_sketches,
    threads=1,
    notes="`improved` and `classic` weigh words; the others take every 2-gram of characters. The "
    "figure of gaoya includes filing, and the figure of simhash-pybind hash(). *Copies found* is "
    "the share within the largest distance that at most one in 10^4 unrelated pairs has.",
    engines=(
        ours("neardup, improved, bundled IDF", recipe="improved", idf="bundled"),
        ours("neardup, improved, the corpus' IDF: two passes", recipe="improved"),
        ours("neardup, classic", recipe="classic"),
        ours("neardup, characters", recipe="characters"),
        Engine("gaoya", "gaoya", "characters", {"mb": 24}),
        Engine("simhash-pybind", "simhash_pybind", "characters", {"mb": 12}),
    ),
)
BENCHMARKS = (
    SKETCHES,
    pairs_work(MILLION, 6, 8),
    pairs_work(10 * MILLION, 3, 6),
)
