"""Exact answers, made without any of the engines.

They are stored in benchmarks/.inputs/. Both joins are exact by construction and short enough to
be checked by reading.
"""

import itertools
import math
import sys
from pathlib import Path

import numpy as np

K = 5


def resemblance_pairs(texts, threshold):
    """Return (a, b, resemblance) of all pairs with Jaccard >= threshold.

    The sets are those of 5-shingles. The method is prefix filtering (Chaudhuri, Ganti, Kaushik,
    ICDE 2006). Shingles are ordered from rare to frequent. Then two sets of sizes m and n with
    Jaccard >= t share a shingle among the first m - ceil(t m) + 1 of one and the first n - ceil(t
    n) + 1 of the other. All such candidates are compared in full.

    Shingles are identified by 64-bit hashes. Among N different shingles, the probability that any
    two have the same hash is below N^2 / 2^65: 1e-5 for 16 million.
    """
    sets = [np.unique(shingle_hashes(text)) for text in texts]
    owner = np.repeat(np.arange(len(sets)), [len(s) for s in sets])
    hashes = np.concatenate(sets)
    distinct, code, carriers = np.unique(hashes, return_inverse=True, return_counts=True)
    rank = np.empty(len(distinct), np.int64)
    rank[np.argsort(carriers, kind="stable")] = np.arange(len(distinct))
    shingle = rank[code]
    order = np.lexsort((shingle, owner))
    owner, shingle = owner[order], shingle[order]
    sizes = np.array([len(s) for s in sets])
    begins = np.concatenate(([0], np.cumsum(sizes)[:-1]))
    prefix = np.array([n - math.ceil(round(threshold * n, 9)) + 1 for n in sizes])
    inside = np.arange(len(owner)) - begins[owner] < prefix[owner]
    candidates = sharing(shingle[inside], owner[inside], len(sets))
    a, b = candidates // len(sets), candidates % len(sets)
    small, large = np.minimum(sizes[a], sizes[b]), np.maximum(sizes[a], sizes[b])
    possible = small >= threshold * large - 1e-9
    found = []
    for x, y in zip(a[possible].tolist(), b[possible].tolist(), strict=True):
        shared = len(np.intersect1d(sets[x], sets[y], assume_unique=True))
        value = shared / (sizes[x] + sizes[y] - shared)
        if value >= threshold:
            found.append((x, y, value))
    return np.array(found, dtype=np.float64).reshape(-1, 3)


def shingle_hashes(text):
    """Return a 64-bit hash of each 5-shingle. A shorter text is one shingle."""
    points = np.frombuffer(text.encode("utf-32-le"), dtype=np.uint32).astype(np.uint64)
    k = min(K, len(points))
    if not k:
        return np.empty(0, np.uint64)
    total = np.full(len(points) - k + 1, k, np.uint64)
    for i in range(k):
        total = mixed(total ^ points[i : len(points) - k + 1 + i])
    return total


def mixed(x):
    """Return the splitmix64 finalizer of each word, after one odd step."""
    x = x * np.uint64(0x9E3779B97F4A7C15) + np.uint64(0x632BE59BD9B4E019)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def sharing(keys, owners, count):
    """Return a * count + b, a < b, once for each two owners of a common key."""
    codes = np.empty(0, np.int64)
    for a, b in runs_in_pairs(keys, owners):
        low, high = np.minimum(a, b), np.maximum(a, b)
        codes = np.union1d(codes, (low * count + high)[low != high])
    return codes


def runs_in_pairs(keys, owners):
    """Yield pairs of arrays: all pairs of owners of one key.

    The two owners of a pair are at the same place of both arrays.
    """
    order = np.argsort(keys, kind="stable")
    keys, owners = keys[order], owners[order]
    for step in itertools.count(1):
        same = np.flatnonzero(keys[step:] == keys[:-step])
        if not len(same):
            return
        yield owners[same], owners[same + step]


def near_pairs(fingerprints, max_distance):
    """Return (a, b) of all pairs of fingerprints within max_distance bits.

    The 64 bits are cut into max_distance + 3 blocks. Two such fingerprints agree in at least
    three of them. So for every choice of three blocks, the fingerprints are sorted by these, and
    equal ones are compared.
    """
    count = max_distance + 3
    edges = [64 * i // count for i in range(count + 1)]
    masks = [(1 << high) - (1 << low) for low, high in itertools.pairwise(edges)]
    numbers = np.arange(len(fingerprints))
    found = np.empty(0, np.int64)
    for chosen in itertools.combinations(masks, 3):
        keys = fingerprints & np.uint64(sum(chosen))
        for a, b in runs_in_pairs(keys, numbers):
            near = np.bitwise_count(fingerprints[a] ^ fingerprints[b]) <= max_distance
            low, high = np.minimum(a, b)[near], np.maximum(a, b)[near]
            found = np.union1d(found, low * len(fingerprints) + high)
    return np.column_stack((found // len(fingerprints), found % len(fingerprints)))


def cached(path, make):
    """Return the array at path; make and store it if it is missing."""
    path = Path(path)
    if not path.exists():
        print(f"making {path.name}", file=sys.stderr, flush=True)
        unfinished = path.with_suffix(".unfinished.npy")
        np.save(unfinished, make())
        unfinished.replace(path)
    return np.load(path)
