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
from dataclasses import dataclass, field

import numpy as np

import corpus
import truth

#: One text in ten is an edited copy of another.
COPIES = 0.1

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
    for text in corpus.documents_of(*corpus.CHINESE):
        yield from corpus.cut(text, rng)


def recombined(sentences, rng):
    """Put sentences of different documents together to at least 200 characters, at most 400."""
    text = ""
    while len(text) < 200:
        text += rng.choice(sentences)
    return text[:400]


def long_documents():
    """Return all laws, and two edited copies of each."""
    rng = random.Random(corpus.SEED)
    collection = Collection([text for text in corpus.documents_of("laws") if text])
    for place in range(len(collection.texts)):
        collection.copy(place, rng)
        collection.copy(place, rng)
    return collection.shuffled(rng)


def very_short(documents):
    """Return the first sentence of 10 to 40 characters of each of so many documents."""
    rng = random.Random(corpus.SEED)
    copies = round(COPIES * documents)
    texts = []
    for text in corpus.documents_of(*corpus.CHINESE):
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
