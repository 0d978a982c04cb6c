"""Ways to find candidates, compared: ``python benchmarks/run.py schemes_news_10k ...``.

neardup alone, but every way it has: bands of MinHash signatures, postings of
samples, the exact prefix join, and fingerprints within a distance. All verify
their candidates by the same measure at the same threshold, so what differs is
the search. The *default call* measures content, of which there is no exact join: what
it finds is compared with all that was planted, however much it was edited.
"""

import functools

import numpy as np

import bench_news
import corpus
import growing
from harness import PRODUCT, Engine, Work, WrongAnswerError
from limits import Limits

THRESHOLDS = (0.55, 0.8)
TASKS = ("pairs", "dedup")
#: Recipes by the way their candidates are found. The exact join comes first: it is the truth.
SCHEMES = {"prefix": "shingle", "bands": "minhash", "postings": "general", "near": "characters"}
EXACT, DEFAULT = "prefix", "default call"

COLLECTIONS = {
    "news_10k": ("News pieces, 10,000", lambda: growing.news(10_000)),
    "news_30k": ("News pieces, 30,000", lambda: growing.news(30_000)),
    "news_100k": ("News pieces, 100,000", lambda: growing.news(100_000)),
    "news_300k": ("News pieces, 300,000", lambda: growing.news(300_000)),
    "news_1m": ("News pieces, 1,000,000", lambda: growing.news(1_000_000)),
    "long": ("Long documents", growing.long_documents),
    "short": ("Very short", lambda: growing.very_short(30_000)),
    "posted": ("One text posted 2,000 times", lambda: growing.posted(30_000)),
    "form": ("One form", lambda: growing.one_form(20_000)),
}
#: Where the exact join is compared with a slow one that shares no code with it.
CHECKED = ("news_10k", "news_30k", "short")
#: Where only one task is done: both would take an hour.
ONLY = {"news_1m": ("dedup",)}
SMALLER = {
    "news_100k": ("schemes_news_10k",),
    "news_300k": ("schemes_news_30k",),
    "news_1m": ("schemes_news_100k", "schemes_news_10k"),
}


class Truths:
    """What is true of a collection: its planted pairs, and the pairs of an exact join.

    Pairs are compared with the join's, and removed documents as in bench_news:
    recall is the share of documents dropped by the one rule that are found, precision is
    the share of removed documents that resemble an earlier document.
    """

    def __init__(self, path, checked):
        """Begin without the exact pairs; `checked`: whether they are to be made twice."""
        self.path, self.checked = path, checked
        with path.open("rb") as file:
            self.documents = sum(1 for _ in file)
        self.planted = np.load(growing.truth_path(path))
        self.exact = {}

    def codes(self, a, b):
        """Return one number for each pair."""
        return bench_news.codes((a, b), self.documents)

    def learn(self, threshold, answer):
        """Take the pairs of an exact join for the truth."""
        a, b = answer["a"], answer["b"]
        if self.checked:
            slow = self.codes(*growing.exact_pairs(self.path, threshold)[:, :2].T)
            if not np.array_equal(self.codes(a, b), slow):
                raise WrongAnswerError(f"{len(a)} pairs joined, {len(slow)} expected")
        self.exact[threshold] = np.column_stack((a, b))

    def copies(self, threshold, answer):
        """Return the share of the planted pairs of at least a resemblance that were found."""
        wanted = self.planted[self.planted[:, 2] >= threshold, :2].astype(np.int64)
        if "removed" in answer:
            return bench_news.share(np.isin(wanted, answer["removed"]).any(axis=1))
        found = self.codes(answer["a"], answer["b"])
        return bench_news.share(np.isin(self.codes(*wanted.T), found))

    def against(self, threshold, answer):
        """Return recall and precision against the exact pairs; nothing where there are none."""
        if threshold not in self.exact:
            return {}
        exact = self.exact[threshold]
        if "removed" in answer:
            earlier = np.unique(exact.max(axis=1))
            return bench_news.shares(answer["removed"], bench_news.rule(exact), earlier)
        wanted = self.codes(*exact.T)
        return bench_news.shares(self.codes(answer["a"], answer["b"]), wanted, wanted)


def prepare(name):
    """Return the path of a collection, or None without the corpora."""
    return growing.filed(f"schemes_{name}", COLLECTIONS[name][1])


@functools.cache
def truths_of(name):
    """Return what is true of a collection."""
    return Truths(prepare(name), name in CHECKED)


def judge(name, answer, engine):
    """Return what was found; the exact join's own pairs are the truth of the others."""
    truths, scheme = truths_of(name), engine.label.split(",")[0]
    threshold = engine.options.get("threshold", 0.0)
    if scheme == EXACT and "a" in answer:
        truths.learn(threshold, answer)
    row = {"documents": truths.documents, "copies_found": truths.copies(threshold, answer)}
    row |= {"pairs": len(answer["a"])} if "a" in answer else {"kept": int(answer["kept"])}
    return row if scheme == DEFAULT else row | truths.against(threshold, answer)


def engines(name):
    """Return all ways at all thresholds, and the default call."""
    found = []
    for task in ONLY.get(name, TASKS):
        for threshold in THRESHOLDS:
            for scheme, recipe in SCHEMES.items():
                # The same length of shingle and the same exact verdict for every scheme.
                decide = {"measure": "resemblance", "shingle": 5}
                options = {"threshold": threshold, "recipe": recipe, "decide": decide}
                label = f"{scheme}, {task}, {threshold:g}"
                found.append(Engine(label, PRODUCT, f"{task}_file", options))
        found.append(Engine(f"{DEFAULT}, {task}", PRODUCT, f"{task}_file"))
    # Pairs first: the exact ones are the truth.
    return tuple(found)


#: Works that are done only if they are named.
NAMED = tuple(
    Work(
        name=f"schemes_{name}",
        title=title,
        prepare=functools.partial(prepare, name),
        judge=functools.partial(judge, name),
        engines=engines(name),
        needs=corpus.NEEDS,
        threads=2,
        limits=Limits(seconds=300, megabytes=12_000),
        smaller=SMALLER.get(name, ()),
    )
    for name, (title, _) in COLLECTIONS.items()
)
