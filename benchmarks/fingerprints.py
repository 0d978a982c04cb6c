"""Synthetic fingerprints: random ones, and near copies planted among them."""

import numpy as np

import corpus
import truth

SEED = 20070508
QUERIES = 10_000


def planted(count):
    """Return the path of `count` distinct 64-bit fingerprints, one in 50 a near copy.

    A copy differs from an earlier fingerprint in 1 to 8 bits, so both sides of
    every bound up to 7 have pairs.
    """
    path = corpus.WORK / f"fingerprints_{count}.npy"
    truth.cached(path, lambda: distinct(count))
    return path


def distinct(count):
    """Make the fingerprints; a value met twice is replaced."""
    rng = np.random.default_rng(SEED)
    values = rng.integers(0, 2**64, count, dtype=np.uint64)
    copies = rng.choice(np.arange(count // 2, count), count // 50, replace=False)
    sources = rng.integers(0, count // 2, len(copies))
    values[copies] = values[sources] ^ flips(rng, rng.integers(1, 9, len(copies)))
    while len(repeated := np.setdiff1d(np.arange(count), np.unique(values, return_index=True)[1])):
        values[repeated] = rng.integers(0, 2**64, len(repeated), dtype=np.uint64)
    return values


def flips(rng, bits):
    """Return a word for each entry with that many bits set."""
    order = np.argsort(rng.random((len(bits), 64)), axis=1)
    chosen = np.arange(64)[None, :] < bits[:, None]
    powers = np.where(chosen, np.uint64(1) << order.astype(np.uint64), np.uint64(0))
    return np.bitwise_or.reduce(powers, axis=1)


def true_pairs(count, max_distance):
    """Return (a, b) of all pairs within the distance, exact."""
    return truth.cached(
        corpus.WORK / f"near_{count}_{max_distance}.npy",
        lambda: truth.near_pairs(np.load(planted(count)), max_distance),
    )


def queries(count):
    """Return 10,000 queries: half within 0 to 3 bits of a stored one, half random."""
    rng = np.random.default_rng(SEED + 1)
    stored = np.load(planted(count), mmap_mode="r")
    half = QUERIES // 2
    near = stored[rng.integers(0, count, half)] ^ flips(rng, rng.integers(0, 4, half))
    both = np.concatenate((near, rng.integers(0, 2**64, QUERIES - half, dtype=np.uint64)))
    rng.shuffle(both)
    return both


def lookup(count):
    """Return the path of a folder-less pair: the stored ones, and queries beside them."""
    path = planted(count)
    truth.cached(path.with_name(f"queries_{count}.npy"), lambda: queries(count))
    return path


def true_hits(count, max_distance):
    """Return (query, document) of all stored fingerprints within the distance: by scan."""

    def scan():
        stored = np.load(planted(count))
        found = []
        for number, query in enumerate(np.load(lookup(count).with_name(f"queries_{count}.npy"))):
            near = np.flatnonzero(np.bitwise_count(stored ^ query) <= max_distance)
            found += [(number, document) for document in near.tolist()]
        return np.array(found, dtype=np.int64)

    return truth.cached(corpus.WORK / f"hits_{count}_{max_distance}.npy", scan)
