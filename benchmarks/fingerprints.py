"""SimHash fingerprints: how fast they are made of texts, and found within a distance.

Texts are news, of which every tenth is followed by an edited copy, so fingerprints are also judged
by how well they separate copies from other texts. What is searched are random fingerprints with
near copies planted among them; every engine here claims to be exact, so it must find every pair.
"""

import functools

import numpy as np

import corpora
import truth
from harness import PRODUCT, Engine, Work, WrongAnswerError, case_of

SEED = 20070508
QUERIES = 10_000
MILLION = 10**6


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


def queries(count):
    """Return 10,000 queries.

    Half of them are within 0 to 3 bits of a stored fingerprint, the others are random.
    """
    rng = np.random.default_rng(SEED + 1)
    stored = np.load(planted(count), mmap_mode="r")
    half = QUERIES // 2
    near = stored[rng.integers(0, count, half)] ^ flips(rng, rng.integers(0, 4, half))
    both = np.concatenate((near, rng.integers(0, 2**64, QUERIES - half, dtype=np.uint64)))
    rng.shuffle(both)
    return both


def stored_queries(count):
    """Return the queries, which are stored beside the fingerprints."""
    return truth.cached(corpora.WORK / f"queries_{count}.npy", lambda: queries(count))


def planted_beside_queries(count):
    """Return the path of the fingerprints; store queries beside them."""
    stored_queries(count)
    return planted(count)


def true_pairs(count, max_distance):
    """Return (a, b) of all pairs within the distance, by an exact join."""
    return truth.cached(
        corpora.WORK / f"near_{count}_{max_distance}.npy",
        lambda: truth.near_pairs(np.load(planted(count)), max_distance),
    )


def true_hits(count, max_distance):
    """Return (query, document) of all pairs within the distance, by a scan."""

    def scan():
        stored = np.load(planted(count))
        found = []
        for number, query in enumerate(stored_queries(count)):
            near = np.flatnonzero(np.bitwise_count(stored ^ query) <= max_distance)
            found += [(number, document) for document in near.tolist()]
        return np.array(found, dtype=np.int64)

    return truth.cached(corpora.WORK / f"hits_{count}_{max_distance}.npy", scan)


def exact_judge(count, columns, kind, expected):
    """Return a judge that compares an answer with the exact pairs or hits.

    `columns` are the names of the two columns of an answer, `kind` is what its rows are called,
    and `expected()` returns the exact rows.
    """

    def judge(answer, engine):
        wanted = np.sort(expected() @ np.array([count, 1]))
        one, other = (answer[name].astype(np.int64) for name in columns)
        found = np.unique(one * count + other)
        if not np.array_equal(found, wanted):
            right = len(np.intersect1d(found, wanted))
            raise WrongAnswerError(
                f"{len(wanted)} expected, {len(found)} found, {right} of them right"
            )
        return {"recall": 1.0, "precision": 1.0, kind: len(found)}

    return judge


def pairs_work(count, max_distance, *engines):
    """Return the work of finding all pairs, for one size and distance."""
    return Work(
        name=f"near_pairs_{count // MILLION}m_{max_distance}",
        title=f"All pairs within {max_distance} bits among {count:,} 64-bit fingerprints",
        prepare=functools.partial(planted, count),
        judge=exact_judge(count, ("a", "b"), "pairs", lambda: true_pairs(count, max_distance)),
        threads=2,
        notes="Random fingerprints with planted near copies. Each engine begins with them in the "
        "form it takes (simhash-pybind: a Python set of int), which is counted in its peak memory "
        "and not in its seconds. neardup and FAISS use 2 threads, simhash-pybind has one.",
        engines=engines,
    )


def lookup_work(count, *engines):
    """Return the work of looking up queries, for one size."""
    return Work(
        name=f"lookup_{count // MILLION}m",
        title=f"One look-up within 3 bits among {count:,} 64-bit fingerprints, one core",
        prepare=functools.partial(planted_beside_queries, count),
        judge=exact_judge(count, ("query", "document"), "hits", lambda: true_hits(count, 3)),
        notes=f"Microseconds a look-up, over {QUERIES:,} look-ups: in one call, and "
        "called one by one from Python. Half of the queries lie within 0 to 3 bits of a stored "
        "fingerprint.",
        engines=engines,
    )


def neardup(max_distance):
    """Return neardup as an engine."""
    return Engine("neardup", PRODUCT, "near_pairs", {"max_distance": max_distance, "workers": 2})


def pybind(max_distance, blocks, repetitions=None):
    """Return simhash-pybind as an engine. `blocks`: the number of blocks that was fastest here."""
    options = {"max_distance": max_distance, "blocks": blocks}
    return Engine(
        f"simhash-pybind, {blocks} blocks", "simhash_pybind", "near_pairs", options, repetitions
    )


def faiss(tables, bits, flips, repetitions=3, **options):
    """Return FAISS MultiHash as an engine. Its plan is exact by the pigeonhole principle."""
    label = f"FAISS MultiHash, {tables} x {bits} bits, {flips} flips"
    function = "near_pairs" if options else "lookup"
    plan = {"tables": tables, "bits": bits, "flips": flips}
    return Engine(label, "faiss", function, plan | options, repetitions)


NEARDUP = Engine("neardup", PRODUCT, "lookup")
SCAN = Engine("FAISS scan (brute force)", "faiss", "scan", {}, 2)

#: At most this share of pairs of unrelated texts may lie within the cut.
FALSE_SHARE = 1e-4


def judge_sketches(answer, engine):
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


def sketch_work(name, title, notes, *engines):
    """Return the work for one kind of feature."""
    return Work(name, title, corpora.sample, judge_sketches, engines, notes, needs=corpora.NEEDS)


WORKS = (
    sketch_work(
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
    sketch_work(
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
    pairs_work(MILLION, 3, neardup(3), pybind(3, 5), faiss(4, 16, 0, 3, max_distance=3)),
    pairs_work(MILLION, 6, neardup(6), pybind(6, 8, 3), faiss(4, 16, 1, 1, max_distance=6)),
    lookup_work(MILLION, NEARDUP, faiss(4, 16, 0), SCAN),
)
LARGE = (
    pairs_work(
        10 * MILLION,
        3,
        neardup(3),
        pybind(3, 6, 2),
        faiss(2, 32, 1, 1, max_distance=3),
    ),
    # Every peer would need ten minutes or more.
    pairs_work(10 * MILLION, 6, neardup(6)),
    lookup_work(10 * MILLION, NEARDUP, faiss(4, 16, 0), faiss(2, 32, 1)),
)
CASES = (
    *(case_of(work, usual=True) for work in WORKS),
    *(case_of(work, large=True) for work in LARGE),
)
