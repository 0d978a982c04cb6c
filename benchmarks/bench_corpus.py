"""De-duplication of the whole news corpus, file to file: ours alone."""

import corpus
from harness import PRODUCT, Engine, Work, WrongAnswerError

DOCUMENTS = 28_473
UNVERIFIED = {"decide": {"measure": "sketch"}}


def prepare():
    """Return the corpus's own file."""
    return corpus.NEWS if corpus.NEWS.exists() else None


def judge(answer, engine):
    """Every document is kept or removed, and re-posts are there to be found."""
    kept, removed = int(answer["kept"]), len(answer["removed"])
    if kept + removed != DOCUMENTS:
        raise WrongAnswerError(f"{DOCUMENTS} documents in, {kept} kept and {removed} removed")
    if not removed:
        raise WrongAnswerError("no document removed, where the corpus has natural re-posts")
    return {"documents": DOCUMENTS, "kept": kept, "removed": removed}


WORKS = (
    Work(
        name="corpus",
        title="neardup dedup of 28,473 Chinese news articles, 98 MB, file to file",
        prepare=prepare,
        judge=judge,
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
