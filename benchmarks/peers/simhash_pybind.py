"""simhash-pybind: SimHash sums and all near pairs in C++."""

import numpy as np
import simhash

import inputs

PACKAGES = ["simhash-pybind", "numpy"]
MASK = 2**64 - 1


def characters(path, folder, *, mb):
    """Sketch character 2-grams. They are hashed with Python's hash(), the fastest one available."""
    texts, size = inputs.beginning(path, mb)
    return lambda: inputs.sketched([fingerprint(text, 2) for text in texts], texts, size)


def near_pairs(path, folder, *, max_distance, blocks):
    """Find all pairs of a set of values; return them by number."""
    values = np.load(path)
    distinct = set(values.tolist())

    def job():
        pairs = simhash.find_all(distinct, blocks, max_distance)
        return lambda: numbered(pairs, values)

    return job


def dedup_file(path, folder, *, max_distance, blocks):
    """Sketch character 5-grams; drop what an earlier kept document has within the distance."""

    def job():
        fingerprints = [fingerprint(text, 5) for text in inputs.texts_of(path)]
        groups = {}
        for number, value in enumerate(fingerprints):
            groups.setdefault(value, []).append(number)
        near = {value: [value] for value in groups}
        for a, b in simhash.find_all(set(groups), blocks, max_distance):
            near[a].append(b)
            near[b].append(a)
        removed = inputs.repeated(
            (number, (other for neighbour in near[value] for other in groups[neighbour]))
            for number, value in enumerate(fingerprints)
        )
        inputs.write_kept(path, folder, removed)
        return {"removed": removed, "documents": len(fingerprints)}

    return job


def fingerprint(text, k):
    """Return the fingerprint of a text by shingles of k characters, as an integer."""
    return simhash.compute([hash(text[i : i + k]) & MASK for i in range(max(len(text) - k + 1, 1))])


def numbered(pairs, values):
    """Return pairs of values as pairs of their numbers."""
    order = np.argsort(values)
    pairs = np.array(list(pairs), dtype=np.uint64).reshape(-1, 2)
    numbers = order[np.searchsorted(values, pairs, sorter=order)]
    return {"a": numbers.min(axis=1), "b": numbers.max(axis=1)}
