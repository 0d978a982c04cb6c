"""One look-up within 3 bits among many fingerprints, all in memory."""

import functools

import numpy as np

import fingerprints
from harness import PRODUCT, Engine, Work, WrongAnswerError

MILLION = 10**6


def judge(answer, engine, *, count):
    """Compare with the hits of a scan; every engine here says it is exact."""
    expected = fingerprints.true_hits(count, 3)
    expected = np.sort(expected[:, 0] * count + expected[:, 1])
    found = np.sort(answer["query"].astype(np.int64) * count + answer["document"].astype(np.int64))
    if not np.array_equal(found, expected):
        raise WrongAnswerError(f"{len(expected)} hits expected, {len(found)} found, or others")
    return {"hits": len(found), "recall": 1.0, "precision": 1.0}


def work(count, engines):
    """Return the work of one size."""
    return Work(
        name=f"lookup_{count // MILLION}m",
        title=f"One look-up within 3 bits among {count:,} 64-bit fingerprints, one core",
        prepare=functools.partial(fingerprints.lookup, count),
        judge=functools.partial(judge, count=count),
        notes=f"Microseconds a look-up, over {fingerprints.QUERIES:,} look-ups: in one call, and "
        "called one by one from Python. Half of the queries lie within 0 to 3 bits of a stored "
        "fingerprint.",
        engines=tuple(engines),
    )


def faiss(tables, bits, flips):
    """Return FAISS MultiHash with a plan that is exact by the pigeonhole principle."""
    options = {"tables": tables, "bits": bits, "flips": flips}
    return Engine(
        f"FAISS MultiHash, {tables} x {bits} bits, {flips} flips", "faiss", "lookup", options, 3
    )


NEARDUP = Engine("neardup", PRODUCT, "lookup")
SCAN = Engine("FAISS scan (brute force)", "faiss", "scan", {}, 2)

WORKS = (work(MILLION, [NEARDUP, faiss(4, 16, 0), SCAN]),)
LARGE = (work(10 * MILLION, [NEARDUP, faiss(4, 16, 0), faiss(2, 32, 1)]),)
