"""A comparison of the ways to find candidates.

Usage: python benchmarks/run.py schemes_news_10k ...

Only neardup is measured, with all its ways: bands of MinHash signatures, postings of samples, the
exact prefix join, and fingerprints within a distance. All of them verify their candidates by the
same measure and threshold, so only the search differs. The *default call* decides by content, for
which there is no exact join. So its result is compared with all planted pairs, even the most
edited ones.
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
#: Recipe by the way it finds candidates. The exact join is first: its pairs are the truth.
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
#: Here the exact join is compared with a slow one that shares no code with it.
CHECKED = ("news_10k", "news_30k", "short")
#: Here only one task is run: both would take an hour.
ONLY = {"news_1m": ("dedup",)}
SMALLER = {
    "news_100k": ("schemes_news_10k",),
    "news_300k": ("schemes_news_30k",),
    "news_1m": ("schemes_news_100k", "schemes_news_10k"),
}


class Truths:
    """The planted pairs of a collection, and the pairs of an exact join.

    Pairs are compared with those of the join. Removed documents are compared as follows: recall
    is the share of the documents dropped by the rule (`bench_news.rule`) that are removed,
    precision is the share of removed documents that resemble an earlier document.
    """

    def __init__(self, path, checked):
        """Begin without the exact pairs.

        `checked`: compare them with those of a second, slower join.
        """
        self.path, self.checked = path, checked
        with path.open("rb") as file:
            self.documents = sum(1 for _ in file)
        self.planted = np.load(growing.truth_path(path))
        self.exact = {}

    def codes(self, a, b):
        """Return one number for each pair."""
        return bench_news.codes((a, b), self.documents)

    def learn(self, threshold, answer):
        """Take the pairs of an exact join as the truth."""
        a, b = answer["a"], answer["b"]
        if self.checked:
            slow = self.codes(*growing.exact_pairs(self.path, threshold)[:, :2].T)
            if not np.array_equal(self.codes(a, b), slow):
                raise WrongAnswerError(f"{len(a)} pairs joined, {len(slow)} expected")
        self.exact[threshold] = np.column_stack((a, b))

    def copies(self, threshold, answer):
        """Return the share of planted pairs that were found.

        Only pairs with at least this resemblance count.
        """
        wanted = self.planted[self.planted[:, 2] >= threshold, :2].astype(np.int64)
        if "removed" in answer:
            return bench_news.share(np.isin(wanted, answer["removed"]).any(axis=1))
        found = self.codes(answer["a"], answer["b"])
        return bench_news.share(np.isin(self.codes(*wanted.T), found))

    def against(self, threshold, answer):
        """Return recall and precision against the exact pairs.

        Empty if the exact pairs are unknown.
        """
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
    """Return the true pairs of a collection."""
    return Truths(prepare(name), name in CHECKED)


def judge(name, answer, engine):
    """Return the figures of an answer.

    The pairs of the exact join are the truth for all others.
    """
    truths, scheme = truths_of(name), engine.label.split(",")[0]
    threshold = engine.options.get("threshold", 0.0)
    if scheme == EXACT and "a" in answer:
        truths.learn(threshold, answer)
    row = {"documents": truths.documents, "copies_found": truths.copies(threshold, answer)}
    row |= {"pairs": len(answer["a"])} if "a" in answer else {"kept": int(answer["kept"])}
    return row if scheme == DEFAULT else row | truths.against(threshold, answer)


def engines(name):
    """Return every way at every threshold, and the default call."""
    found = []
    for task in ONLY.get(name, TASKS):
        for threshold in THRESHOLDS:
            for scheme, recipe in SCHEMES.items():
                # Every scheme has the same shingle length and the same exact measure.
                decide = {"measure": "resemblance", "shingle": 5}
                options = {"threshold": threshold, "recipe": recipe, "decide": decide}
                label = f"{scheme}, {task}, {threshold:g}"
                found.append(Engine(label, PRODUCT, f"{task}_file", options))
        found.append(Engine(f"{DEFAULT}, {task}", PRODUCT, f"{task}_file"))
    # The task `pairs` is first: its exact pairs are the truth for the others.
    return tuple(found)


#: Works that run only if they are named.
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
