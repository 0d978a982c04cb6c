"""The cost of a document on one core, and its bytes on a network.

Usage: python benchmarks/rates.py

The steps of a job on a cluster run here in one process with one thread, on the first documents of
the growing collection. The steps are: reading and sketching; the exchange of keys, in batches and
buckets as on a cluster, with the bands for 10^9 documents; and verification. The bytes are those
that machines send each other, before the cluster compresses them. Results are written to
benchmarks/results/rates.json and used by `cost_model.py`.
"""

import argparse
import contextlib
import functools
import os
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa

import corpus
import growing
import machine
import results

THRESHOLD = growing.THRESHOLD
PLANNED = 10**9
BATCH, BUCKETS = 8192, 64
#: Every edited copy has a higher resemblance to its original.
UNRELATED = 0.25


def main(arguments=None):
    """Measure at the given sizes and store the rates."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[100_000, 1_000_000])
    options = parser.parse_args(arguments)
    # The variable is only read once, when threads are first needed.
    os.environ["RAYON_NUM_THREADS"] = "1"
    if growing.clauses(options.sizes[0]) is None:
        sys.exit(f"rates.py: {corpus.NEEDS}")
    result = {"rows": [measured(size) for size in options.sizes], "machine": machine.facts()}
    results.store("rates", result)


def measured(documents):
    """Return seconds and bytes for each document at one size."""
    path = growing.clauses(documents)
    row = {"documents": documents, "bytes": path.stat().st_size / documents, "planned": PLANNED}
    stages = stages_of(path)
    row["read_and_sketch_s"] = stages["read and sketch"] / documents
    row["write_s"] = stages["write"] / documents
    texts = corpus.texts_of(path)
    row |= exchanged(texts)
    return row


def stages_of(path):
    """Return the seconds of each stage of `neardup.dedup_files`."""
    import neardup

    with tempfile.TemporaryDirectory(dir=corpus.WORK) as folder:
        output = Path(folder) / "kept.jsonl"
        result = neardup.dedup_files(
            [path], output, recipe="minhash", threshold=THRESHOLD, workers=1
        )
    return result.summary.stages


def exchanged(texts):
    """Return the cost of exchange and verification for each document."""
    from neardup import _core, load_recipe
    from neardup.recipe import assets
    from neardup.recipe.rule import rule as rule_of

    recipe = load_recipe("minhash")
    rule = rule_of(recipe, threshold=THRESHOLD)
    wanted, compiled = rule.compiled(PLANNED), assets.compiled(recipe)
    exchange = _core.Shuffle(wanted, compiled, buckets=BUCKETS)
    batches = [sketched(compiled, texts[at : at + BATCH]) for at in range(0, len(texts), BATCH)]
    numbers = np.split(np.arange(len(texts)), range(BATCH, len(texts), BATCH))
    row = {}
    clock = functools.partial(timed, row, documents=len(texts))
    with clock("keys_s"):
        keys = [exchange.keys(s, int(n[-1])) for s, n in zip(batches, numbers, strict=True)]
    with clock("count_s"):
        counts = turned([exchange.count(blobs) for blobs in turned(keys)])
    everything = [np.ones(len(s), bool) for s in batches]
    asked = list(zip(batches, numbers, everything, counts, strict=True))
    with clock("file_s"):
        filed = [exchange.file(*batch) for batch in asked]
    with clock("lists_s"):
        buckets = zip(turned(filed), turned(counts), strict=True)
        lists = turned([exchange.lists(*bucket)[0] for bucket in buckets])
    with clock("candidates_s"):
        pairs = [exchange.candidates(*b, found) for b, found in zip(asked, lists, strict=True)]
    later, earlier = (np.concatenate(side) for side in zip(*pairs, strict=True))
    row |= {
        "bands": list(rule.banding(PLANNED)[:2]),
        "candidates": len(later) / len(texts),
        "unrelated": unrelated(texts, later, earlier),
        "keys_bytes": size_of(keys, texts),
        "counts_bytes": size_of(counts, texts),
        "entries_bytes": size_of(filed, texts),
        "lists_bytes": size_of(lists, texts),
        # A candidate's text is sent to the machine that has the later document.
        "texts_bytes": sum(len(texts[n].encode("utf-8")) for n in earlier.tolist()) / len(texts),
    }
    return row | {"verify_s": verified(wanted, compiled, texts, later, earlier)}


def unrelated(texts, later, earlier):
    """Return the number of candidates that are pairs by chance only."""
    return sum(
        growing.resemblance(growing.shingles(texts[a]), growing.shingles(texts[b])) < UNRELATED
        for a, b in zip(later.tolist(), earlier.tolist(), strict=True)
    )


def verified(wanted, compiled, texts, later, earlier):
    """Return the seconds to verify one candidate."""
    from neardup import _core

    involved, places = np.unique(np.concatenate((later, earlier)), return_inverse=True)
    column = pa.array([texts[number] for number in involved.tolist()], pa.large_string())
    a, b = places[: len(later)].astype(np.uint32), places[len(later) :].astype(np.uint32)
    corpus = _core.Corpus(compiled, keeps_texts=False, shingle=None, workers=1)
    corpus.push(column, titles=None, units=None)
    sketches, features = corpus.sketches(), corpus.features().astype(np.uint32)
    begun = time.perf_counter()
    _core.judge_pairs(wanted, compiled, None, column, sketches, features, a, b)
    return (time.perf_counter() - begun) / max(len(later), 1)


@contextlib.contextmanager
def timed(row, name, documents):
    """Note the seconds of the block, divided by the number of documents."""
    begun = time.perf_counter()
    yield
    row[name] = (time.perf_counter() - begun) / documents


def sketched(compiled, texts):
    """Return the sketches of a batch."""
    from neardup import _core

    batch = _core.Corpus(compiled, keeps_texts=False, shingle=None, workers=1)
    batch.push(pa.array(texts, pa.large_string()), titles=None, units=None)
    batch.finish()
    return batch.sketches()


def turned(answers):
    """Transpose lists by batch to lists by bucket, or back."""
    return [list(blobs) for blobs in zip(*answers, strict=True)]


def size_of(blobs, texts):
    """Return the bytes of all blobs, divided by the number of texts."""
    return sum(len(blob) for row in blobs for blob in row) / len(texts)


if __name__ == "__main__":
    main()
