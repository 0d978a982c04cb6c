"""Near-duplicates among Chinese news, file to file; ten gigabytes in two.

Engines differ in which of two similar documents they keep. So answers are judged by two rules: at
most one of two similar documents is kept, and every removed document is similar to a kept one.
"""

import numpy as np

import corpora
from harness import PRODUCT, Engine, Limits, Work, WrongAnswerError

THRESHOLD = corpora.THRESHOLD
DOCUMENTS = 55_000

#: The command as it is typed: it decides by content, not by the resemblance of the truth.
DEFAULT = "neardup dedup, the default"
#: The truth and the peers count every character, so the other rows of neardup do too.
EVERY_CHARACTER = {"normalize": dict.fromkeys(("punctuation", "numbers", "ends"), "keep")}
#: The truth is by resemblance, so resemblance must also decide here.
BY_RESEMBLANCE = {"decide": {"measure": "resemblance"}} | EVERY_CHARACTER
POSTINGS = {"threshold": THRESHOLD, "settings": BY_RESEMBLANCE}
BANDS = {"threshold": THRESHOLD, "recipe": "minhash", "settings": EVERY_CHARACTER}
EXACT = {"threshold": THRESHOLD, "recipe": "shingle", "settings": EVERY_CHARACTER}


def judge(answer, engine, path):
    """Compare an answer with an exact join; it has pairs, or removed documents.

    An engine of neardup must find nearly all, and nothing else unless it decides by content.
    """
    pairs, count = corpora.similar_pieces(), int(answer["documents"])
    if count != DOCUMENTS:
        raise WrongAnswerError(f"{DOCUMENTS} documents in, {count} read")
    if "a" in answer:
        result, expected = codes((answer["a"], answer["b"]), count), codes(pairs[:, :2].T, count)
        row = {"answer": "pairs", "found": len(result), "expected": len(expected)}
        row |= {"recall": share(np.isin(expected, result))}
        row |= {"precision": share(np.isin(result, expected))}
    else:
        row = judge_removed(answer["removed"], pairs, count)
    recall = 0.99 if "bands" in engine.label or engine.label == DEFAULT else 0.999
    precision = 0.0 if engine.label == DEFAULT else 1.0
    if engine.peer == PRODUCT and (row["recall"] < recall or row["precision"] < precision):
        raise WrongAnswerError(f"recall {row['recall']:.4f}, precision {row['precision']:.4f}")
    return row


def codes(sides, count):
    """Return one number for each pair, in either order of its sides."""
    one, other = (np.asarray(side).astype(np.int64) for side in sides)
    return np.unique(np.minimum(one, other) * count + np.maximum(one, other))


def share(flags):
    """Return the share of true flags; 1 if there are none."""
    return float(np.mean(flags)) if len(flags) else 1.0


def judge_removed(removed, pairs, count):
    """Judge removals; an engine may keep either of two similar documents.

    Recall is the share of similar pairs of which not both documents are kept. Precision is the
    share of removed documents that are similar to a kept one.
    """
    gone = np.zeros(count, bool)
    gone[np.asarray(removed, np.int64)] = True
    a, b = pairs[:, :2].astype(np.int64).T
    has_keeper = np.zeros(count, bool)
    has_keeper[a[~gone[b]]] = True
    has_keeper[b[~gone[a]]] = True
    return {
        "answer": "documents removed",
        "found": int(gone.sum()),
        "expected": removed_by_rule(pairs),
        "recall": share(gone[a] | gone[b]),
        "precision": share(has_keeper[gone]),
    }


def removed_by_rule(pairs):
    """Return how many documents are similar to an earlier kept one."""
    before, dropped = {}, set()
    for a, b in pairs[:, :2].astype(np.int64).tolist():
        before.setdefault(max(a, b), []).append(min(a, b))
    for document in sorted(before):
        if any(other not in dropped for other in before[document]):
            dropped.add(document)
    return len(dropped)


PIECES = Work(
    name="pieces",
    title="Near-duplicates of 55,000 Chinese news items, 47 MB, file to file",
    prepare=lambda trial: corpora.pieces(),
    judge=judge,
    notes="Truth: all pairs with a Jaccard of character 5-shingles of at least 0.8. By default "
    "neardup also drops weaker duplicates, and keeps texts with other numbers; both count as "
    "errors here.",
    engines=(
        Engine(DEFAULT, PRODUCT, "dedup_file"),
        Engine("neardup dedup, postings", PRODUCT, "dedup_file", POSTINGS),
        Engine("neardup pairs, postings", PRODUCT, "pairs_file", POSTINGS),
        Engine("neardup dedup, bands", PRODUCT, "dedup_file", BANDS),
        Engine("neardup pairs, bands", PRODUCT, "pairs_file", BANDS),
        Engine("neardup pairs, exact", PRODUCT, "pairs_file", EXACT),
        Engine("gaoya, at 0.8", "gaoya", "pairs_file", {"threshold": THRESHOLD}),
        Engine("gaoya, at 0.7", "gaoya", "pairs_file", {"threshold": 0.7}),
        Engine("rensa, LSH pairs", "rensa", "pairs_file", {"threshold": THRESHOLD}),
        Engine("rensa, deduplicator", "rensa", "dedup_file", {"threshold": THRESHOLD}),
        Engine("datasketch, LSH pairs", "datasketch", "pairs_file", {"threshold": THRESHOLD}),
        Engine("text-dedup", "text_dedup", "dedup_file", {"threshold": THRESHOLD}),
        Engine("simhash-pybind", "simhash_pybind", "dedup_file", {"max_distance": 8, "blocks": 10}),
    ),
)

#: The bytes of more text than memory, those of a trial, and the memory limit.
BYTES, TRIAL_BYTES, MEMORY = 10e9, 0.2e9, "2GB"


def stories(trial):
    """Return the path of news grown to more text than memory."""
    size = TRIAL_BYTES if trial else BYTES
    path = corpora.WORK / f"grown_{size:.0e}.jsonl"
    if not path.exists():
        corpora.check_space(corpora.WORK, 3 * size, "the input and temporary files")
        corpora.write(path, corpora.stories(), size)
    return path


def judge_stories(answer, engine, path):
    """Return how many documents are removed, and the share of planted re-posts among them."""
    gone = np.zeros(int(answer["documents"]), bool)
    gone[answer["removed"]] = True
    posted = np.array(["of" in record for record in corpora.lines_of(path)])
    return {
        "answer": "documents removed",
        "megabytes": path.stat().st_size / 1e6,
        "found": int(gone.sum()),
        "expected": int(posted.sum()),
        "recall": share(gone[posted]),
    }


BOUNDED = Work(
    name="bounded",
    title=f"{BYTES / 1e9:.0f} GB of news with `--memory {MEMORY}`",
    prepare=stories,
    judge=judge_stories,
    notes="Three million records grown from news articles, file to file. *Recall* is the share "
    "of re-posts, with 1 to 8 % of the characters replaced, that neardup removed.",
    engines=(Engine("neardup dedup", PRODUCT, "dedup_file", {"memory": MEMORY}),),
    limits=Limits(seconds=3_000, megabytes=4_000),
    large=True,
)

BENCHMARKS = (PIECES, BOUNDED)
