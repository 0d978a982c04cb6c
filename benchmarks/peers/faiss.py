"""FAISS: MultiHash indexes of binary vectors.

The index stores `tables` substrings of `bits` bits. A query also tries all flips of up to `flips`
bits. If two vectors differ in at most d bits, one of their `tables` substrings differs in at most
d // tables bits. So flips >= d // tables is exact.
"""

import itertools
import os
import time

import numpy as np

import faiss
import inputs

PACKAGES = ["faiss-cpu", "numpy"]
BATCH = 20_000


def near_pairs(path, folder, *, max_distance, tables, bits, flips):
    """Add all fingerprints, then look up the neighbours of each one."""
    faiss.omp_set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    values = np.load(path)

    def job():
        index = multihash(values, tables, bits, flips)
        begins, found = [], []
        for begin in range(0, len(values), BATCH):
            part = as_bytes(values[begin : begin + BATCH])
            limits, _, numbers = index.range_search(part, max_distance + 1)
            queries = begin + np.repeat(np.arange(len(part)), np.diff(limits.astype(np.int64)))
            later = numbers > queries
            begins.append(queries[later])
            found.append(numbers[later])
        return {"a": np.concatenate(begins), "b": np.concatenate(found)}

    return job


def dedup_file(path, folder, *, max_distance, tables, bits, flips):
    """Search fingerprints that simhash-pybind made. FAISS makes no fingerprints of texts."""
    from simhash_pybind import fingerprints_of

    faiss.omp_set_num_threads(int(os.environ["OMP_NUM_THREADS"]))

    def job():
        values = np.array(fingerprints_of(path), np.uint64)
        index = multihash(values, tables, bits, flips)

        def neighbours():
            for begin in range(0, len(values), BATCH):
                part = as_bytes(values[begin : begin + BATCH])
                limits, _, numbers = index.range_search(part, max_distance + 1)
                edges = limits.astype(np.int64).tolist()
                numbers = numbers.tolist()
                for place, (low, high) in enumerate(itertools.pairwise(edges)):
                    yield begin + place, numbers[low:high]

        removed = inputs.repeated(neighbours())
        inputs.write_kept(path, folder, removed)
        return {"removed": removed, "documents": len(values)}

    return job


def lookup(path, folder, *, tables, bits, flips):
    """Look up queries in one call, then one by one."""
    faiss.omp_set_num_threads(1)
    stored, queries = np.load(path), as_bytes(inputs.queries_beside(path))
    begun = time.perf_counter()
    index = multihash(stored, tables, bits, flips)
    return looking_up(index, queries, time.perf_counter() - begun)


def scan(path, folder):
    """Compare the first queries with all fingerprints."""
    faiss.omp_set_num_threads(1)
    stored, queries = np.load(path), as_bytes(inputs.queries_beside(path))
    begun = time.perf_counter()
    index = faiss.IndexBinaryFlat(64)
    index.add(as_bytes(stored))
    return looking_up(index, queries, time.perf_counter() - begun, 1000)


def looking_up(index, queries, built, single=None):
    """Return the job of looking up queries."""

    def hits(answer):
        limits, _, numbers = answer
        return np.repeat(np.arange(len(queries)), np.diff(limits.astype(np.int64))), numbers

    return inputs.looking_up(lambda some: index.range_search(some, 4), hits, queries, built, single)


def multihash(values, tables, bits, flips):
    """Return an index of all values."""
    index = faiss.IndexBinaryMultiHash(64, tables, bits)
    index.nflip = flips
    index.add(as_bytes(values))
    return index


def as_bytes(values):
    """Return 64-bit words as rows of 8 bytes."""
    return values.astype("<u8").view(np.uint8).reshape(-1, 8)
