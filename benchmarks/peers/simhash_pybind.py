"""simhash-pybind: SimHash sums and all near pairs in C++."""

import numpy as np

import inputs
import simhash

PACKAGES = ["simhash-pybind", "numpy"]
MASK = 2**64 - 1


def characters(path, folder, *, mb):
    """Sketch character 2-grams. They are hashed with Python's hash(), the fastest one available."""
    texts, size = inputs.beginning(path, mb)

    def job():
        fingerprints = [
            simhash.compute([hash(text[i : i + 2]) & MASK for i in range(max(len(text) - 1, 1))])
            for text in texts
        ]
        return inputs.sketched(fingerprints, texts, size)

    return job


def near_pairs(path, folder, *, max_distance, blocks):
    """Find all pairs of a set of values; return them by number."""
    values = np.load(path)
    given = set(values.tolist())

    def job():
        found = simhash.find_all(given, blocks, max_distance)
        return inputs.Answer(lambda: numbered(found, values))

    return job


def dedup_file(path, folder, *, max_distance, blocks):
    """Sketch character 5-grams.

    A document is dropped if an earlier kept one is within the distance.
    """

    def job():
        fingerprints = fingerprints_of(path)
        groups = {}
        for number, value in enumerate(fingerprints):
            groups.setdefault(value, []).append(number)
        near = {value: [value] for value in groups}
        for a, b in simhash.find_all(set(groups), blocks, max_distance):
            near[a].append(b)
            near[b].append(a)
        removed = inputs.repeated(
            (number, (other for found in near[value] for other in groups[found]))
            for number, value in enumerate(fingerprints)
        )
        inputs.write_kept(path, folder, removed)
        return {"removed": removed, "documents": len(fingerprints)}

    return job


def fingerprints_of(path):
    """Return the fingerprints of a file's texts as integers."""
    return [
        simhash.compute([hash(text[i : i + 5]) & MASK for i in range(max(len(text) - 4, 1))])
        for _, texts in inputs.batches(path)
        for text in texts
    ]


def numbered(pairs, values):
    """Return pairs of values as pairs of their numbers."""
    order = np.argsort(values)
    pairs = np.array(list(pairs), dtype=np.uint64).reshape(-1, 2)
    numbers = order[np.searchsorted(values, pairs, sorter=order)]
    return {"a": numbers.min(axis=1), "b": numbers.max(axis=1)}
