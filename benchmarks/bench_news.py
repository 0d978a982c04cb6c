"""Near-duplicates among 55,000 short Chinese news items, file to file."""

import numpy as np

import corpus
import truth
from harness import PRODUCT, Engine, Work, WrongAnswerError
from limits import Limits

THRESHOLD = 0.8
LIMITS = Limits(seconds=180, megabytes=8_000)

#: The truth is by resemblance, so that is what has to decide.
POSTINGS = {"threshold": THRESHOLD, "recipe": "general", "decide": {"measure": "resemblance"}}
BANDS = {"threshold": THRESHOLD, "recipe": "minhash"}
EXACT = {"threshold": THRESHOLD, "recipe": "shingle"}

#: Peers that do the same work in both collections, each by its best plan for it.
PEERS = (
    Engine("text-dedup", "text_dedup", "dedup_file", {"threshold": THRESHOLD}, several=True),
    Engine("datatrove", "datatrove", "dedup_file", {"buckets": 16, "hashes": 12}, several=True),
    Engine("data-juicer", "data_juicer", "dedup_file", {"threshold": THRESHOLD}, several=True),
    Engine(
        "Spark MLlib MinHashLSH",
        "spark_mllib",
        "dedup_file",
        {"threshold": THRESHOLD, "tables": 3, "memory": "6g"},
        several=True,
    ),
    Engine("simhash-pybind", "simhash_pybind", "dedup_file", {"max_distance": 8, "blocks": 10}),
    Engine(
        "FAISS MultiHash",
        "faiss",
        "dedup_file",
        {"max_distance": 8, "tables": 3, "bits": 21, "flips": 2},
    ),
)


def expected():
    """Return (a, b, resemblance) of all pairs with Jaccard of 5-shingles >= .8, exact."""
    return truth.cached(
        corpus.WORK / "pieces_truth.npy",
        lambda: truth.resemblance_pairs(
            corpus.read_pieces(corpus.WORK / "pieces.jsonl"), THRESHOLD
        ),
    )


def judge(answer, engine):
    """Measure pairs or removals, whichever the engine answers with."""
    pairs = expected()
    count = int(answer["documents"])
    if count != 55_000:
        raise WrongAnswerError(f"55,000 documents in, {count} read")
    if "a" in answer:
        row = judge_pairs(answer, pairs, count)
    else:
        row = judge_removed(answer["removed"], pairs, count)
    least = 0.99 if "bands" in engine.label else 0.999
    if engine.peer == PRODUCT and (row["recall"] < least or row["precision"] < 1.0):
        raise WrongAnswerError(f"recall {row['recall']:.4f}, precision {row['precision']:.4f}")
    return row


def judge_pairs(answer, pairs, count):
    """Compare pairs with the exact ones."""
    low, high = np.minimum(answer["a"], answer["b"]), np.maximum(answer["a"], answer["b"])
    found = np.unique(low.astype(np.int64) * count + high)
    exact = pairs[:, 0].astype(np.int64) * count + pairs[:, 1].astype(np.int64)
    return shares(found, exact, "pairs", exact)


def judge_removed(removed, pairs, count):
    """Judge removals whichever of two similar documents stayed.

    Recall: of similar pairs, those of which not both were kept. Precision: of
    removed documents, those that resemble one that was kept.
    """
    gone = np.zeros(count, bool)
    gone[removed] = True
    a, b = pairs[:, :2].astype(np.int64).T
    stands_for = np.zeros(count, bool)
    stands_for[a[~gone[b]]] = True
    stands_for[b[~gone[a]]] = True
    return {
        "answer": "documents removed",
        "found": int(gone.sum()),
        "expected": len(rule(pairs)),
        "recall": float(np.mean(gone[a] | gone[b])) if len(pairs) else 1.0,
        "precision": float(np.mean(stands_for[gone])) if gone.any() else 1.0,
    }


def shares(found, wanted, what, right):
    """Return recall of what is wanted, and precision against all that would be right."""
    return {
        "answer": what,
        "found": len(found),
        "expected": len(wanted),
        "recall": len(np.intersect1d(found, wanted)) / len(wanted),
        "precision": len(np.intersect1d(found, right)) / max(len(found), 1),
    }


def rule(pairs):
    """Return the documents that the one rule drops: similar to an earlier kept one."""
    before = {}
    for a, b in pairs[:, :2].astype(np.int64).tolist():
        before.setdefault(max(a, b), []).append(min(a, b))
    dropped = set()
    for document in sorted(before):
        if any(other not in dropped for other in before[document]):
            dropped.add(document)
    return np.array(sorted(dropped))


def earlier(pairs):
    """Return the documents that resemble any earlier one: whose removal can be defended."""
    return np.unique(pairs[:, :2].astype(np.int64).max(axis=1))


WORKS = (
    Work(
        name="news",
        title="Near-duplicates of 55,000 Chinese news items, 47 MB, file to file",
        prepare=corpus.pieces,
        judge=judge,
        needs=corpus.NEEDS,
        threads=2,
        limits=LIMITS,
        notes="Truth: all pairs with Jaccard of character 5-shingles >= .8, by an exact join. "
        "Pairs are compared with it. Removals: recall is the share of similar pairs of which not "
        "both were kept, precision the share of removed documents that resemble a kept one. "
        "neardup runs as a command, so its seconds include starting Python.",
        engines=(
            Engine("neardup dedup, postings", PRODUCT, "dedup_file", POSTINGS),
            Engine("neardup pairs, postings", PRODUCT, "pairs_file", POSTINGS),
            Engine("neardup dedup, bands", PRODUCT, "dedup_file", BANDS),
            Engine("neardup pairs, bands", PRODUCT, "pairs_file", BANDS),
            Engine("neardup pairs, exact", PRODUCT, "pairs_file", EXACT),
            Engine("gaoya, threshold .8", "gaoya", "pairs_file", {"threshold": 0.8}),
            Engine("gaoya, asked for .7", "gaoya", "pairs_file", {"threshold": 0.7}),
            Engine("rensa, LSH pairs", "rensa", "pairs_file", {"threshold": 0.8}, 3),
            Engine("rensa, deduplicator", "rensa", "dedup_file", {"threshold": 0.8}, 3),
            Engine("datasketch, LSH pairs", "datasketch", "pairs_file", {"threshold": 0.8}, 2),
            *PEERS,
        ),
    ),
)
