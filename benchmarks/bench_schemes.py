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
import planted
import truth
from harness import PRODUCT, Engine, Work, WrongAnswerError
from limits import Limits

THRESHOLDS = (0.55, 0.8)
TASKS = ("pairs", "dedup")
#: Recipes by the way their candidates are found. The exact join comes first: it is the truth.
SCHEMES = {"prefix": "shingle", "bands": "minhash", "postings": "general", "near": "characters"}
EXACT, DEFAULT = "prefix", "default call"

COLLECTIONS = {
    "news_10k": ("News pieces, 10,000", lambda: planted.news(10_000)),
    "news_30k": ("News pieces, 30,000", lambda: planted.news(30_000)),
    "news_100k": ("News pieces, 100,000", lambda: planted.news(100_000)),
    "news_300k": ("News pieces, 300,000", lambda: planted.news(300_000)),
    "news_1m": ("News pieces, 1,000,000", lambda: planted.news(1_000_000)),
    "long": ("Long documents", planted.long_documents),
    "short": ("Very short", lambda: planted.very_short(30_000)),
    "posted": ("One text posted 2,000 times", lambda: planted.posted(30_000)),
    "form": ("One form", lambda: planted.one_form(20_000)),
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
        self.planted = np.load(planted.planted_path(path))
        self.exact = {}

    def learn(self, threshold, answer):
        """Take the pairs of an exact join for the truth."""
        pairs = np.column_stack((answer["a"], answer["b"]))
        if self.checked:
            name = f"{self.path.stem}_{threshold:g}_truth.npy"
            texts = corpus.read_pieces(self.path)
            expected = truth.cached(
                self.path.with_name(name), lambda: truth.resemblance_pairs(texts, threshold)
            )
            if not np.array_equal(np.sort(self.codes(pairs)), np.sort(self.codes(expected[:, :2]))):
                raise WrongAnswerError(f"{len(pairs)} pairs joined, {len(expected)} expected")
        self.exact[threshold] = pairs

    def copies(self, threshold, answer):
        """Return the share of the planted pairs of at least a resemblance that were found."""
        wanted = self.planted[self.planted[:, 2] >= threshold, :2].astype(np.int64)
        if "removed" in answer:
            return share(np.isin(wanted, answer["removed"]).any(axis=1))
        return share(np.isin(self.codes(wanted), self.found(answer)))

    def against(self, threshold, answer):
        """Return recall and precision against the exact pairs; nothing where there are none."""
        if threshold not in self.exact:
            return {}
        exact = self.exact[threshold]
        if "removed" in answer:
            wanted, right = bench_news.rule(exact), bench_news.earlier(exact)
            found = answer["removed"]
        else:
            wanted = right = self.codes(exact)
            found = self.found(answer)
        return {"recall": share(np.isin(wanted, found)), "precision": share(np.isin(found, right))}

    def found(self, answer):
        """Return one number for each pair of an answer."""
        return self.codes(np.column_stack((answer["a"], answer["b"])))

    def codes(self, pairs):
        """Return one number for each pair, whichever stands first."""
        pairs = pairs.astype(np.int64)
        return pairs.min(axis=1) * self.documents + pairs.max(axis=1)


def share(flags):
    """Return the share of what is true; 1 of nothing."""
    return float(np.mean(flags)) if len(flags) else 1.0


def prepare(name):
    """Return the path of a collection, or None without the corpora."""
    make = COLLECTIONS[name][1]
    return planted.made(f"schemes_{name}", make) if corpus.NEWS.exists() else None


@functools.cache
def truths_of(name):
    """Return what is true of a collection."""
    return Truths(prepare(name), checked=name in CHECKED)


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
