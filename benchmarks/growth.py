"""Collections on which ways to find candidates are compared, and what is true of them.

Each is a file of JSON lines beside an array of its planted pairs: (copy, text,
resemblance), by number of line. All texts are as normalization leaves them, so
that every recipe sees the same shingles. All is made once, with fixed seeds.

`news` grows from 10^4 to 10^6 pieces of 200 to 400 characters, 10 % of them
edited copies of others. The first are cut from news, then from articles on five
topics, laws, and bulletins of one form: some 250,000. From there on sentences
of different documents are put together anew, so that shingles recur as often as
sentences do, and no two pieces resemble each other for it.
"""

import itertools
import json
import random
import re
from dataclasses import dataclass, field

import numpy as np
import zstandard

import bench_news
import corpus
import truth
from harness import WrongAnswerError

CORPORA = corpus.NEWS.parent
TOPICS = ("distractors", "education", "finance", "housing", "medical", "transport")
FILES = (
    "chinanews",
    *(f"topics_zh/{topic}" for topic in TOPICS),
    "laws",
    "bulletins",
)
NEEDS = "needs the corpora of ../shared/corpora beside the repository"

#: One text in ten is an edited copy of another.
COPIES = 0.1
TAG = re.compile(r"<[^<>]*>")

#: A form of 162 characters with four gaps; what fills them makes 40 % of a text.
FORM = (
    "为方便居民办理相关事项，现将本次通告的主要内容公布如下，请各有关单位和个人认真阅读。",
    "以上安排自公布之日起执行，如遇特殊情况，将另行发布补充说明，不再逐一通知。",
    "办理时请携带本人有效证件，并按窗口工作人员的指引依次排队，完成登记手续。",
    "对本通告有疑问的，可在工作时间内拨打服务电话咨询，或前往就近的服务大厅当面了解情况。特此通告。",
)


@dataclass
class Collection:
    """Texts, and for each planted copy its place and that of what it was copied from."""

    texts: list[str] = field(default_factory=list)
    planted: list[tuple[int, int]] = field(default_factory=list)

    def copy(self, place, rng):
        """Add an edited copy of the text at a place."""
        self.planted.append((len(self.texts), place))
        self.texts.append(corpus.plain(corpus.edited(self.texts[place], rng)))

    def shuffled(self, rng):
        """Return the same in another order, so that a copy may stand before its text."""
        order = list(range(len(self.texts)))
        rng.shuffle(order)
        places = np.empty(len(order), np.int64)
        places[order] = np.arange(len(order))
        planted = [(int(places[copy]), int(places[text])) for copy, text in self.planted]
        return Collection([self.texts[place] for place in order], planted)


def made(name, make):
    """Return the path of a collection, made and stored first if it is not there."""
    path = corpus.WORK / f"{name}.jsonl"
    pairs = planted_path(path)
    if not (path.exists() and pairs.exists()):
        collection = make()
        lines = (
            json.dumps({"id": str(number), "text": text}, ensure_ascii=False)
            for number, text in enumerate(collection.texts)
        )
        corpus.write(path, "\n".join(lines) + "\n")
        np.save(pairs, with_resemblance(collection))
    return path


def planted_path(path):
    """Return where a collection's planted pairs lie."""
    return path.with_name(f"{path.stem}_planted.npy")


def with_resemblance(collection):
    """Return (copy, text, resemblance) of the planted pairs, measured on the texts."""
    rows = []
    for copy, text in collection.planted:
        sets = [np.unique(truth.shingle_hashes(collection.texts[place])) for place in (copy, text)]
        shared = len(np.intersect1d(*sets, assume_unique=True))
        rows.append((copy, text, shared / (len(sets[0]) + len(sets[1]) - shared)))
    return np.array(rows).reshape(-1, 3)


def news(documents):
    """Return so many short pieces, 10 % of them edited copies."""
    rng = random.Random(corpus.SEED)
    copies = round(COPIES * documents)
    texts = list(itertools.islice(pieces(), documents - copies))
    if len(texts) < documents - copies:
        # Nothing of the real pieces is left: their sentences serve again.
        sentences = [s for text in texts for s in corpus.SENTENCE.findall(text) if s]
        texts += [recombined(sentences, rng) for _ in range(documents - copies - len(texts))]
    return with_copies(texts, copies, rng)


def with_copies(texts, copies, rng):
    """Return texts among which edited copies of some stand."""
    collection = Collection(texts)
    for place in rng.sample(range(len(texts)), copies):
        collection.copy(place, rng)
    return collection.shuffled(rng)


def pieces():
    """Yield pieces of 200 to 400 characters of all corpora, in the order of `FILES`."""
    rng = random.Random(corpus.SEED)
    for text in documents_of(*FILES):
        yield from corpus.cut(text, rng)


def documents_of(*names):
    """Yield the documents of corpora as normalization leaves them, without tags."""
    for name in names:
        with zstandard.open(CORPORA / f"{name}.jsonl.zst", "rt", encoding="utf-8") as file:
            for line in file:
                yield corpus.plain(TAG.sub("", json.loads(line)["text"]))


def recombined(sentences, rng):
    """Put sentences of different documents together to at least 200 characters, at most 400."""
    text = ""
    while len(text) < 200:
        text += rng.choice(sentences)
    return text[:400]


def long_documents():
    """Return all laws, and two edited copies of each."""
    rng = random.Random(corpus.SEED)
    collection = Collection([text for text in documents_of("laws") if text])
    for place in range(len(collection.texts)):
        collection.copy(place, rng)
        collection.copy(place, rng)
    return collection.shuffled(rng)


def very_short(documents):
    """Return the first sentence of 10 to 40 characters of each of so many documents."""
    rng = random.Random(corpus.SEED)
    copies = round(COPIES * documents)
    texts = []
    for text in documents_of(*FILES):
        fitting = (s for s in corpus.SENTENCE.findall(text) if 10 <= len(s) <= 40)
        texts += itertools.islice(fitting, 1)
        if len(texts) == documents - copies:
            break
    return with_copies(texts, copies, rng)


def posted(documents):
    """Return `news`, and one more text posted 1,000 times as it is and 1,000 times edited."""
    rng = random.Random(corpus.SEED)
    collection = news(documents)
    post = next(itertools.islice(pieces(), documents, None))
    first = len(collection.texts)
    collection.texts += [post] * 1_000
    for _ in range(1_000):
        collection.copy(first, rng)
    return collection.shuffled(rng)


def one_form(documents):
    """Return texts of one form, 10 % of them copies that differ in what fills the gaps."""
    rng = random.Random(corpus.SEED)
    gap = round(sum(map(len, FORM)) * 0.4 / 0.6 / len(FORM))
    source = pieces()
    collection, fillings = Collection(), []
    for _ in range(round(documents * (1 - COPIES))):
        piece = next(source)
        fillings.append([piece[at : at + gap] for at in range(0, gap * len(FORM), gap)])
        collection.texts.append(filled(fillings[-1]))
    for place in rng.sample(range(len(fillings)), round(documents * COPIES)):
        collection.planted.append((len(collection.texts), place))
        edited = [
            corpus.scattered(filling, rng.uniform(0.02, 0.10), rng) for filling in fillings[place]
        ]
        collection.texts.append(filled(edited))
    return collection.shuffled(rng)


def filled(filling):
    """Return the form with its gaps filled."""
    return corpus.plain("".join(itertools.chain(*zip(FORM, filling, strict=True))))


class Truths:
    """What is true of a collection: its planted pairs, and the pairs of an exact join.

    Pairs are compared with the join's, and removed documents as in bench_news:
    recall is of those that the one rule drops, precision is the share that
    resembles an earlier document.
    """

    def __init__(self, path, checked):
        """Begin without the exact pairs; `checked`: whether they are to be made twice."""
        self.path, self.checked = path, checked
        with path.open("rb") as file:
            self.documents = sum(1 for _ in file)
        self.planted = np.load(planted_path(path))
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
