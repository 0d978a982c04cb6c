"""All pairs of 64-bit fingerprints within a distance."""

import functools

import numpy as np

import fingerprints
from harness import PRODUCT, Engine, Work, WrongAnswerError

MILLION = 10**6


def judge(answer, engine, *, count, max_distance):
    """Compare with the exact pairs. An engine that says it is exact must find all."""
    expected = fingerprints.true_pairs(count, max_distance)
    expected = expected[:, 0] * count + expected[:, 1]
    found = np.unique(answer["a"].astype(np.int64) * count + answer["b"].astype(np.int64))
    right = len(np.intersect1d(found, expected))
    if len(found) != right or right != len(expected):
        raise WrongAnswerError(
            f"{len(expected)} pairs expected, {len(found)} found, {right} of them right"
        )
    return {"pairs": right, "recall": 1.0, "precision": 1.0}


def work(count, max_distance, engines):
    """Return the work of one size and distance."""
    name = f"near_pairs_{count // MILLION}m_{max_distance}"
    return Work(
        name=name,
        title=f"All pairs within {max_distance} bits among {count:,} 64-bit fingerprints",
        prepare=functools.partial(fingerprints.planted, count),
        judge=functools.partial(judge, count=count, max_distance=max_distance),
        threads=2,
        notes="Random fingerprints with planted near copies. Each engine begins with them in the "
        "form it takes (simhash-pybind: a Python set of int), which is counted in its peak memory "
        "and not in its seconds. neardup and FAISS use 2 threads, simhash-pybind has one.",
        engines=tuple(engines),
    )


def neardup(max_distance):
    """Return our engine."""
    return Engine("neardup", PRODUCT, "near_pairs", {"max_distance": max_distance, "workers": 2})


def pybind(max_distance, blocks, repetitions=None):
    """Return simhash-pybind with the number of blocks that was fastest here."""
    options = {"max_distance": max_distance, "blocks": blocks}
    return Engine(
        f"simhash-pybind, {blocks} blocks", "simhash_pybind", "near_pairs", options, repetitions
    )


def faiss(max_distance, tables, bits, flips, repetitions=None):
    """Return FAISS MultiHash with a plan that is exact by the pigeonhole principle."""
    options = {"max_distance": max_distance, "tables": tables, "bits": bits, "flips": flips}
    label = f"FAISS MultiHash, {tables} x {bits} bits, {flips} flips"
    return Engine(label, "faiss", "near_pairs", options, repetitions)


WORKS = (
    work(MILLION, 3, [neardup(3), pybind(3, 5), faiss(3, 4, 16, 0, 3)]),
    work(MILLION, 6, [neardup(6), pybind(6, 8, 3), faiss(6, 4, 16, 1, 1)]),
)
LARGE = (
    work(10 * MILLION, 3, [neardup(3), pybind(3, 6, 2), faiss(3, 2, 32, 1, 1)]),
    # Of the peers each would need ten minutes or more.
    work(10 * MILLION, 6, [neardup(6)]),
)
