"""Near-duplicates among Chinese news and among 10^4 to 10^7 short documents, file to file.

Each engine reads a file of JSON lines and writes the lines to keep, within limits of time and
memory. Engines differ in which of two similar documents they keep. So answers are judged by two
rules: at most one of two similar documents is kept, and every removed document is similar to a
kept one.
"""

import functools

import numpy as np

import corpora
from harness import PRODUCT, Engine, Work, WrongAnswerError, case_of
from limits import Limits

THRESHOLD = corpora.THRESHOLD
LIMITS = Limits(seconds=180, megabytes=8_000)

#: The command as it is typed: it decides by content, not by the resemblance of the truth.
DEFAULT = "neardup dedup, the default"
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
    pairs = corpora.exact_pairs(corpora.pieces(), THRESHOLD)
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


def checked(row, engine, least=0.999):
    """Return a row; an answer of neardup must find nearly all and nothing else."""
    least = 0.99 if "bands" in engine.label or engine.label == DEFAULT else least
    precise = 0.0 if engine.label == DEFAULT else 1.0
    if engine.peer == PRODUCT and (row["recall"] < least or row["precision"] < precise):
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
    path = corpora.pieces()
    pairs = corpora.exact_pairs(path, THRESHOLD)[:, :2].astype(np.int64)
    across = pairs[pairs[:, 0] % 2 != pairs[:, 1] % 2].ravel()
    wanted = np.unique(across[across % 2 == 1])
    removed, documents = np.unique(answer["removed"]), int(answer["documents"])
    if documents != 27_500:
        raise WrongAnswerError(f"27,500 documents in, {documents} read")
    row = {"answer": "documents removed", "found": len(removed), "expected": len(wanted)}
    row |= shares(removed, wanted, wanted)
    return checked(row, engine)


#: The names of the growing collection by size.
GROWTH = {10_000: "growth_10k", 100_000: "growth_100k", 1_000_000: "growth_1m"}
LARGEST = {10_000_000: "growth_10m"}

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
    *PEERS,
)


@functools.cache
def expected(documents):
    """Return the similar pairs of the growing collection: (earlier, later, resemblance)."""
    path = corpora.clauses(documents)
    pairs = np.load(corpora.truth_path(path))
    if documents <= 10_000:
        exact = corpora.exact_pairs(path, THRESHOLD)
        if not np.array_equal(pairs[:, :2], exact[np.lexsort((exact[:, 1], exact[:, 0])), :2]):
            raise WrongAnswerError("the exact join has other pairs than were planted")
    return pairs


def judge_growth(documents, answer, engine):
    """Return recall, precision and F1 of an answer."""
    if int(answer["documents"]) != documents:
        raise WrongAnswerError(f"{documents} documents in, {answer['documents']} read")
    row = judge_removed(answer["removed"], expected(documents), documents)
    both = row["recall"] + row["precision"]
    return checked(row, engine, 0.99) | {
        "f1": 2 * row["recall"] * row["precision"] / both if both else 0.0,
        "megabytes": corpora.clauses(documents).stat().st_size / 1e6,
    }


def growth_work(documents, name):
    """Return the work of one size of the growing collection."""
    names = GROWTH | LARGEST
    smaller = tuple(names[size] for size in (documents // 10, documents // 100) if size in names)
    return Work(
        name=name,
        title=f"Near-duplicates of {documents:,} short documents, file to file",
        prepare=functools.partial(corpora.clauses, documents),
        judge=functools.partial(judge_growth, documents),
        needs=corpora.NEEDS,
        threads=2,
        documents=documents,
        limits=LIMITS,
        smaller=smaller,
        engines=ENGINES,
    )


def recombined(documents):
    """Return the path of N pieces of all Chinese corpora, of which most repeat sentences."""
    return corpora.filed(f"recombined_{documents}", lambda: corpora.news(documents))


def judge_copies(documents, answer, engine):
    """Return the share of the planted pairs at the threshold of which not both were kept."""
    planted = np.load(corpora.truth_path(recombined(documents)))
    a, b = planted[planted[:, 2] >= THRESHOLD, :2].astype(np.int64).T
    gone = np.zeros(documents, bool)
    gone[answer["removed"]] = True
    return {"removed": int(gone.sum()), "copies_found": share(gone[a] | gone[b])}


def recombined_work(documents):
    """Return the work where sentences recur, by the default recipe."""
    return Work(
        name=f"recombined_{documents // 1000}k",
        title=f"Near-duplicates of {documents:,} pieces of news, whose sentences recur from "
        "220,000 on, file to file",
        prepare=functools.partial(recombined, documents),
        judge=functools.partial(judge_copies, documents),
        needs=corpora.NEEDS,
        threads=2,
        documents=documents,
        limits=LIMITS,
        engines=(
            Engine(DEFAULT, PRODUCT, "dedup_file"),
            Engine("gaoya", "gaoya", "dedup_file", {"threshold": THRESHOLD}),
        ),
    )


WORKS = (
    Work(
        name="news",
        title="Near-duplicates of 55,000 Chinese news items, 47 MB, file to file",
        prepare=corpora.pieces,
        judge=judge,
        needs=corpora.NEEDS,
        threads=2,
        limits=LIMITS,
        notes="Truth: all pairs with Jaccard of character 5-shingles >= .8, by an exact join. "
        "By default neardup also drops what repeats a text at a lower resemblance, and keeps what "
        "has another number; both count against it here.",
        engines=(
            Engine(DEFAULT, PRODUCT, "dedup_file"),
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
        prepare=corpora.pieces,
        judge=judge_across,
        needs=corpora.NEEDS,
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
    *(growth_work(documents, name) for documents, name in GROWTH.items()),
    *(recombined_work(documents) for documents in (100_000, 400_000)),
)
LARGE = (growth_work(10_000_000, "growth_10m"),)
CASES = (
    *(case_of(work, usual=True) for work in WORKS),
    *(case_of(work, large=True) for work in LARGE),
)
