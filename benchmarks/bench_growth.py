"""Near-duplicates among 10^4 to 10^7 short documents, file to file.

Each engine reads a file of JSON lines and writes the lines to keep, within limits of time and
memory. Engines differ in which of two similar documents they keep. So answers are judged by two
rules: at most one of two similar documents is kept, and every removed document is similar to a
kept one.
"""

import functools

import numpy as np

import bench_news
import corpus
import growing
from harness import PRODUCT, Engine, Work, WrongAnswerError

THRESHOLD = growing.THRESHOLD
LIMITS = bench_news.LIMITS
NAMES = {10_000: "growth_10k", 100_000: "growth_100k", 1_000_000: "growth_1m"}
LARGEST = {10_000_000: "growth_10m"}

POSTINGS, BANDS = bench_news.POSTINGS, bench_news.BANDS

ENGINES = (
    Engine("neardup, bands", PRODUCT, "dedup_file", BANDS),
    Engine("neardup, postings", PRODUCT, "dedup_file", POSTINGS),
    Engine("neardup, bands, --memory 2GB", PRODUCT, "dedup_file", BANDS | {"memory": "2GB"}),
    Engine(
        "neardup on Spark, bands", PRODUCT, "spark_file", BANDS | {"memory": "4g"}, several=True
    ),
    Engine("gaoya", "gaoya", "dedup_file", {"threshold": THRESHOLD}),
    Engine("rensa", "rensa", "dedup_file", {"threshold": THRESHOLD}),
    Engine("datasketch", "datasketch", "dedup_file", {"threshold": THRESHOLD}),
    *bench_news.PEERS,
)


@functools.cache
def expected(documents):
    """Return the similar pairs: (earlier, later, resemblance)."""
    path = growing.clauses(documents)
    pairs = np.load(growing.truth_path(path))
    if documents <= 10_000:
        exact = growing.exact_pairs(path, THRESHOLD)
        if not np.array_equal(pairs[:, :2], exact[np.lexsort((exact[:, 1], exact[:, 0])), :2]):
            raise WrongAnswerError("the exact join has other pairs than were planted")
    return pairs


def judge(documents, answer, engine):
    """Return recall, precision and F1 of an answer."""
    if int(answer["documents"]) != documents:
        raise WrongAnswerError(f"{documents} documents in, {answer['documents']} read")
    row = bench_news.judge_removed(answer["removed"], expected(documents), documents)
    if engine.peer == PRODUCT and (row["recall"] < 0.99 or row["precision"] < 1.0):
        raise WrongAnswerError(f"recall {row['recall']:.4f}, precision {row['precision']:.4f}")
    both = row["recall"] + row["precision"]
    path = growing.clauses(documents)
    return row | {
        "f1": 2 * row["recall"] * row["precision"] / both if both else 0.0,
        "megabytes": path.stat().st_size / 1e6,
    }


def work(documents, name):
    """Return the work of one size."""
    names = {**NAMES, **LARGEST}
    smaller = tuple(names[size] for size in (documents // 10, documents // 100) if size in names)
    return Work(
        name=name,
        title=f"Near-duplicates of {documents:,} short documents, file to file",
        prepare=functools.partial(growing.clauses, documents),
        judge=functools.partial(judge, documents),
        needs=corpus.NEEDS,
        threads=2,
        documents=documents,
        limits=LIMITS,
        smaller=smaller,
        notes="" if smaller else NOTES,
        engines=ENGINES,
    )


NOTES = (
    "Clauses of real text put together anew, 90 characters a document; every tenth one is an "
    "edited copy. Threshold .8 by character 5-shingles. Recall: of similar pairs, those of which "
    "not both were kept; precision: of removed documents, those that resemble one that was kept. "
    "Memory of several processes is added up. datasketch, rensa's shingles and simhash-pybind "
    "have one thread, all others two threads or processes. FAISS searches fingerprints made by "
    "simhash-pybind. Drawn, and put in words: [the page](../docs/benchmarks.md)."
)

WORKS = tuple(work(documents, name) for documents, name in NAMES.items())
LARGE = tuple(work(documents, name) for documents, name in LARGEST.items())
