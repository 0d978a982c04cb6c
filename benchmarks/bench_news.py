"""Near-duplicates among Chinese news, file to file.

There are two works: 55,000 short items, and all articles.
"""

import numpy as np

import corpus
import growing
from harness import PRODUCT, Engine, Work, WrongAnswerError
from limits import Limits

THRESHOLD = 0.8
#: The number of articles in the whole corpus.
ARTICLES = 28_473
LIMITS = Limits(seconds=180, megabytes=8_000)

#: The truth is by resemblance, so resemblance must also decide here.
POSTINGS = {"threshold": THRESHOLD, "recipe": "general", "decide": {"measure": "resemblance"}}
SAVED = POSTINGS | {"saved": True}
BANDS = {"threshold": THRESHOLD, "recipe": "minhash"}
EXACT = {"threshold": THRESHOLD, "recipe": "shingle"}

#: Peers that are run on both collections, each with its best plan for the work.
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


def judge(answer, engine):
    """Compare an answer with an exact join.

    An engine answers with pairs or with removed documents.
    """
    pairs = growing.exact_pairs(growing.pieces(), THRESHOLD)
    count = int(answer["documents"])
    if count != 55_000:
        raise WrongAnswerError(f"55,000 documents in, {count} read")
    if "a" in answer:
        found, wanted = codes((answer["a"], answer["b"]), count), codes(pairs[:, :2].T, count)
        row = {"answer": "pairs", "found": len(found), "expected": len(wanted)}
        row |= shares(found, wanted, wanted)
    else:
        row = judge_removed(answer["removed"], pairs, count)
    return checked(row, engine)


def checked(row, engine):
    """Return a row; an answer of neardup must find nearly all and nothing else."""
    least = 0.99 if "bands" in engine.label else 0.999
    if engine.peer == PRODUCT and (row["recall"] < least or row["precision"] < 1.0):
        raise WrongAnswerError(f"recall {row['recall']:.4f}, precision {row['precision']:.4f}")
    return row


def codes(sides, count):
    """Return one number for each pair, in either order of its sides."""
    one, other = (np.asarray(side).astype(np.int64) for side in sides)
    return np.unique(np.minimum(one, other) * count + np.maximum(one, other))


def shares(found, wanted, right):
    """Return recall and precision.

    Recall is the share of `wanted` that is in `found`, precision the share of `found` that is in
    `right`.
    """
    return {"recall": share(np.isin(wanted, found)), "precision": share(np.isin(found, right))}


def share(flags):
    """Return the share of true flags; 1 if there are none."""
    return float(np.mean(flags)) if len(flags) else 1.0


def judge_removed(removed, pairs, count):
    """Judge removals; an engine may keep either of two similar documents.

    Recall is the share of similar pairs of which not both documents are kept. Precision is the
    share of removed documents that are similar to a kept one.
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
        "recall": share(gone[a] | gone[b]),
        "precision": share(stands_for[gone]),
    }


def rule(pairs):
    """Return the documents that the rule of neardup drops.

    It drops a document that is similar to an earlier kept one.
    """
    before = {}
    for a, b in pairs[:, :2].astype(np.int64).tolist():
        before.setdefault(max(a, b), []).append(min(a, b))
    dropped = set()
    for document in sorted(before):
        if any(other not in dropped for other in before[document]):
            dropped.add(document)
    return np.array(sorted(dropped))


def judge_across(answer, engine):
    """Compare the removed documents with an exact join of the two sides.

    Recall is the share of the documents of A which resemble one of B that is removed; precision is
    the share of removed documents that resemble one.
    """
    path = growing.pieces()
    pairs = growing.exact_pairs(path, THRESHOLD)[:, :2].astype(np.int64)
    across = pairs[pairs[:, 0] % 2 != pairs[:, 1] % 2].ravel()
    wanted = np.unique(across[across % 2 == 1])
    removed, documents = np.unique(answer["removed"]), int(answer["documents"])
    if documents != 27_500:
        raise WrongAnswerError(f"27,500 documents in, {documents} read")
    row = {"answer": "documents removed", "found": len(removed), "expected": len(wanted)}
    row |= shares(removed, wanted, wanted)
    return checked(row, engine)


def judge_articles(answer, engine):
    """Check that every document is either kept or removed.

    The corpus has natural re-posts, so some must be removed.
    """
    kept, removed = int(answer["kept"]), len(answer["removed"])
    if kept + removed != ARTICLES:
        raise WrongAnswerError(f"{ARTICLES} documents in, {kept} kept and {removed} removed")
    if not removed:
        raise WrongAnswerError("no document removed, where the corpus has natural re-posts")
    return {"documents": ARTICLES, "kept": kept, "removed": removed}


WORKS = (
    Work(
        name="news",
        title="Near-duplicates of 55,000 Chinese news items, 47 MB, file to file",
        prepare=growing.pieces,
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
    Work(
        name="across",
        title="Which of 27,500 Chinese news items resemble one of 27,500 others, file to file",
        prepare=growing.pieces,
        judge=judge_across,
        needs=corpus.NEEDS,
        threads=2,
        limits=LIMITS,
        notes="The input of the work before, cut in two: A has the odd numbers, B the even ones. "
        "Repeats inside A stay. Truth: an exact join across, Jaccard of 5-shingles >= .8. "
        "Recall is the share of the items of A with such a pair that are removed, precision the "
        "share of removed items that have one. With saved sketches, those of B were made before.",
        engines=(
            Engine("neardup --against, postings", PRODUCT, "across", POSTINGS),
            Engine("neardup --against, bands", PRODUCT, "across", BANDS),
            Engine("neardup --against, saved sketches", PRODUCT, "across", SAVED),
            Engine("gaoya, threshold .8", "gaoya", "across", {"threshold": 0.8}),
            Engine("gaoya, asked for .7", "gaoya", "across", {"threshold": 0.7}),
            Engine("rensa, LSH pairs", "rensa", "across", {"threshold": 0.8}, 3),
        ),
    ),
    Work(
        name="corpus",
        title="neardup dedup of 28,473 Chinese news articles, 98 MB, file to file",
        prepare=lambda: corpus.NEWS if corpus.NEWS.exists() else None,
        judge=judge_articles,
        needs=corpus.NEEDS,
        threads=2,
        notes="Reads zstd-compressed JSON lines and writes kept and removed "
        "records, at the default threshold. Unverified: the samples alone decide.",
        engines=(
            Engine("neardup dedup", PRODUCT, "dedup_file"),
            Engine(
                "neardup dedup, unverified",
                PRODUCT,
                "dedup_file",
                {"decide": {"measure": "sketch"}},
            ),
        ),
    ),
)
