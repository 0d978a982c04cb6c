"""Collections of any size with known pairs.

A collection is drawn from the corpora with fixed seeds; some of its documents are edited copies
of others. `filed` writes it once as JSON lines. Its true pairs are written to a file beside it,
as rows of (document, document, resemblance); a document is given by its line number. Texts are
already normalized, except those of `sample`. So every engine and every recipe sees the same
shingles. A smaller collection of clauses is the beginning of a larger one.

=========  ===========================================================================
`clauses`  10^4 to 10^7 documents of at least 80 characters, each a random sequence of
           clauses of 5 to 16 characters. Shingles inside a clause recur as the
           collection grows; shingles across two clauses are mostly new. So half of the
           shingles are rare at any size, as in real collections. Every tenth document
           is a copy, edited in one of the ways of `EDITS`.
`pieces`   55,000 pieces of 200 to 400 characters of news; 5,000 are edited copies
`sample`   24 MB of unchanged articles; every tenth is followed by an edited copy
others     the collections of `bench_schemes.py`
=========  ===========================================================================

For news articles in generations that do not resemble each other, see `generations.py`.
"""

import itertools
import random
import re

import numpy as np

import corpus
import truth

#: The minimum resemblance of a true pair of `clauses`.
THRESHOLD = 0.8
#: The share of documents that are edited copies of others.
COPIES = 0.1
CHARACTERS = 80
SHORTEST, LONGEST = 5, 16
#: The maximum number of clauses in a document.
MOST = CHARACTERS // SHORTEST
BLOCK = 10_000
CLAUSE = re.compile(r"[^,。!?;:、]*[,。!?;:、]?")
EDITS = ("as it is", "characters replaced", "a clause replaced", "clauses added", "clauses cut off")
CHANCES = (0.2, 0.25, 0.25, 0.15, 0.15)

#: A form of 162 characters with four gaps; their text is 40 % of a document.
FORM = (
    "为方便居民办理相关事项，现将本次通告的主要内容公布如下，请各有关单位和个人认真阅读。",
    "以上安排自公布之日起执行，如遇特殊情况，将另行发布补充说明，不再逐一通知。",
    "办理时请携带本人有效证件，并按窗口工作人员的指引依次排队，完成登记手续。",
    "对本通告有疑问的，可在工作时间内拨打服务电话咨询，或前往就近的服务大厅当面了解情况。特此通告。",
)


def filed(name, make):
    """Return the path of a collection; make the collection if it is missing.

    None if the corpora are missing. `make` returns a collection with two methods: `records`
    yields the documents, and `truth`, called afterwards, returns the true pairs.
    """
    if not corpus.NEWS.exists():
        return None
    path = corpus.WORK / f"{name}.jsonl"
    if not (path.exists() and truth_path(path).exists()):
        collection = make()
        corpus.write(path, collection.records())
        np.save(truth_path(path), np.array(collection.truth()).reshape(-1, 3))
    return path


def truth_path(path):
    """Return the path of a collection's true pairs."""
    return path.with_name(f"{path.stem}_truth.npy")


def exact_pairs(path, threshold):
    """Return (a, b, resemblance) of all pairs, by an exact join."""
    return truth.cached(
        path.with_name(f"{path.stem}_{threshold:g}_exact.npy"),
        lambda: truth.resemblance_pairs(corpus.texts_of(path), threshold),
    )


def clauses(documents):
    """Return the path of a collection of N documents made of clauses."""
    return filed(f"growth_{documents}", lambda: Clauses(clause_pool(), documents))


def pieces():
    """Return the path of 55,000 pieces of news.

    5,000 of them are edited copies of others.
    """

    def make():
        rng = random.Random(corpus.SEED)
        texts = map(corpus.plain, corpus.articles())
        originals = itertools.islice(cut_of(texts, rng), 50_000)
        return with_copies(list(originals), 5_000, rng, "piece/{:05}")

    return filed("pieces", make)


def sample():
    """Return the path of 24 MB of articles.

    Text i is an edited copy of text i - 1 if i % 11 == 10. So the first texts of any number
    include copies.
    """

    def make():
        rng, collection, size = random.Random(corpus.SEED), Planted(), 0
        for number, text in enumerate(corpus.articles()):
            collection.texts.append(text)
            if number % 10 == 9:
                collection.add_copy(len(collection.texts) - 1, corpus.edited(text, rng))
            size += len(text.encode("utf-8"))
            if size > 22_000_000:
                break
        return collection

    return filed("sample", make)


class Planted:
    """A list of texts, and the planted pairs among them."""

    def __init__(self, texts=(), planted=(), id_form="{}"):
        """Begin with texts and planted pairs: (place of copy, place of text)."""
        self.texts, self.planted, self.id_form = list(texts), list(planted), id_form

    def copy(self, place, rng):
        """Add an edited copy of the text at a place."""
        self.add_copy(place, corpus.plain(corpus.edited(self.texts[place], rng)))

    def add_copy(self, place, text):
        """Add a text as a copy of the text at a place."""
        self.planted.append((len(self.texts), place))
        self.texts.append(text)

    def shuffled(self, rng):
        """Return the same texts in random order.

        A copy may then come before its original.
        """
        order = list(range(len(self.texts)))
        rng.shuffle(order)
        places = np.argsort(order).tolist()
        planted = [(places[copy], places[text]) for copy, text in self.planted]
        return Planted([self.texts[place] for place in order], planted, self.id_form)

    def records(self):
        """Yield the documents."""
        for number, text in enumerate(self.texts):
            yield {"id": self.id_form.format(number), "text": text}

    def truth(self):
        """Return (copy, text, resemblance) of the planted pairs."""
        found = []
        for pair in self.planted:
            sets = (set(truth.shingle_hashes(self.texts[place]).tolist()) for place in pair)
            found.append((*pair, resemblance(*sets)))
        return found


def news(documents):
    """Return N pieces of all Chinese corpora; 10 % of them are edited copies.

    The corpora have 244,356 pieces. Further pieces are put together from sentences of different
    pieces: shingles recur as often as sentences do, but no two pieces become similar.
    """
    rng = random.Random(corpus.SEED)
    copies = round(COPIES * documents)
    texts = list(itertools.islice(all_pieces(), documents - copies))
    if len(texts) < documents - copies:
        sentences = [s for text in texts for s in corpus.sentences_of(text)]
        texts += [recombined(sentences, rng) for _ in range(documents - copies - len(texts))]
    return with_copies(texts, copies, rng)


def with_copies(texts, copies, rng, id_form="{}"):
    """Return texts, in random order, with edited copies of some of them."""
    collection = Planted(texts, id_form=id_form)
    for place in rng.sample(range(len(texts)), copies):
        collection.copy(place, rng)
    return collection.shuffled(rng)


def all_pieces():
    """Yield pieces of 200 to 400 characters of all Chinese corpora."""
    return cut_of(corpus.documents_of(*corpus.CHINESE), random.Random(corpus.SEED))


def cut_of(texts, rng):
    """Yield the pieces of texts."""
    for text in texts:
        yield from corpus.cut(text, rng)


def recombined(sentences, rng):
    """Return a text of random sentences of different documents.

    It has 200 to 400 characters.
    """
    text = ""
    while len(text) < 200:
        text += rng.choice(sentences)
    return text[:400]


def long_documents():
    """Return all laws, and two edited copies of each."""
    rng = random.Random(corpus.SEED)
    collection = Planted(text for text in corpus.documents_of("laws") if text)
    for place in range(len(collection.texts)):
        collection.copy(place, rng)
        collection.copy(place, rng)
    return collection.shuffled(rng)


def very_short(documents):
    """Return N sentences of 10 to 40 characters; 10 % are edited copies.

    A sentence is the first one of this length in a document.
    """
    copies = round(COPIES * documents)
    sentences = (
        next((s for s in corpus.sentences_of(text) if 10 <= len(s) <= 40), None)
        for text in corpus.documents_of(*corpus.CHINESE)
    )
    texts = itertools.islice(filter(None, sentences), documents - copies)
    return with_copies(list(texts), copies, random.Random(corpus.SEED))


def posted(documents):
    """Return the collection `news` and one text that is posted 2,000 times.

    1,000 of these are exact and 1,000 are edited.
    """
    rng = random.Random(corpus.SEED)
    collection = news(documents)
    first = len(collection.texts)
    collection.texts += [next(itertools.islice(all_pieces(), documents, None))] * 1_000
    for _ in range(1_000):
        collection.copy(first, rng)
    return collection.shuffled(rng)


def one_form(documents):
    """Return texts that are all made from one form.

    10 % of them are copies that differ in the text of the gaps.
    """
    rng = random.Random(corpus.SEED)
    gap = round(sum(map(len, FORM)) * 0.4 / 0.6 / len(FORM))
    fillings = [
        [piece[at : at + gap] for at in range(0, gap * len(FORM), gap)]
        for piece in itertools.islice(all_pieces(), round(documents * (1 - COPIES)))
    ]
    collection = Planted(map(filled, fillings))
    for place in rng.sample(range(len(fillings)), round(documents * COPIES)):
        parts = [corpus.scattered(part, rng.uniform(0.02, 0.10), rng) for part in fillings[place]]
        collection.add_copy(place, filled(parts))
    return collection.shuffled(rng)


def filled(filling):
    """Return the form with its gaps filled."""
    return corpus.plain("".join(itertools.chain(*zip(FORM, filling, strict=True))))


def clause_pool():
    """Return clauses of all corpora; no two of them share a 5-shingle."""
    seen, found = set(), []
    for text in corpus.documents_of(*corpus.CHINESE):
        for clause in CLAUSE.findall(text):
            if not SHORTEST <= len(clause) <= LONGEST or '"' in clause or "\\" in clause:
                continue
            inside = shingles(clause)
            if inside.isdisjoint(seen):
                seen |= inside
                found.append(clause)
    return found


def shingles(text):
    """Return the distinct shingles of five characters."""
    return {text[i : i + 5] for i in range(len(text) - 4)}


def resemblance(a, b):
    """Return the resemblance (Jaccard similarity) of two sets."""
    shared = len(a & b)
    return shared / (len(a) + len(b) - shared)


class Clauses:
    """Documents made of clauses, and the similar pairs among them.

    A pair is similar if its resemblance is at least `THRESHOLD`. A *family* is a text and its
    copies. Within a family, all pairs are compared. Families are compared with each other if
    their originals have two consecutive clauses in common. No other pair is similar: a 5-shingle
    occurs inside at most one clause of the pool. So texts of different families can only share
    shingles inside common clauses, and shingles across common consecutive clauses. A resemblance
    of .8 needs both. `bench_growth.py` checks this with the exact join at 10^4 documents.
    """

    def __init__(self, pool, documents):
        """Begin with the clauses to draw from."""
        self.clauses, self.documents = pool, documents
        self.lengths = np.array([len(clause) for clause in pool])
        #: For each block, the numbers of its clauses, and where each document begins among them.
        self.rows, self.begins = [], []
        #: The original of each copy, and the copies of each original with their texts.
        self.original_of, self.copies = {}, {}
        self.pairs = []

    def records(self):
        """Yield the documents; note the similar pairs within families."""
        for first in range(0, self.documents, BLOCK):
            # One generator for each block: a smaller collection is the beginning of a larger one.
            rng = np.random.default_rng((corpus.SEED, first // BLOCK))
            count = min(BLOCK, self.documents - first)
            drawn = rng.integers(0, len(self.clauses), (BLOCK, MOST), dtype=np.int32)
            reached = np.cumsum(self.lengths[drawn], axis=1)
            sizes = 1 + (reached < CHARACTERS).sum(axis=1)
            is_copy = rng.random(BLOCK) < COPIES
            is_copy[: 100 if first == 0 else 0] = False
            kinds = rng.choice(len(EDITS), BLOCK, p=CHANCES)
            sources = (rng.random(BLOCK) * (first + np.arange(BLOCK))).astype(np.int64)
            # A copy has no clauses of its own.
            sizes[is_copy] = 0
            sizes[count:] = 0
            self.rows.append(drawn[np.arange(MOST) < sizes[:, None]])
            self.begins.append(np.concatenate(([0], np.cumsum(sizes))))
            for number, source, kind, copied in zip(
                range(first, first + count), sources.tolist(), kinds, is_copy, strict=False
            ):
                text = self.copy(number, source, EDITS[kind], rng) if copied else self.text(number)
                yield {"id": str(number), "text": text}

    def clauses_of(self, number):
        """Return the clauses drawn for a document."""
        block, place = divmod(number, BLOCK)
        begin, end = self.begins[block][place : place + 2]
        return [self.clauses[clause] for clause in self.rows[block][begin:end].tolist()]

    def text(self, number):
        """Return the text of an original."""
        return "".join(self.clauses_of(number))

    def copy(self, number, source, kind, rng):
        """Return an edited copy; note the similar pairs with its family.

        If `source` is itself a copy, its original is copied.
        """
        original = self.original_of.get(source, source)
        text = self.edited(original, kind, rng)
        self.original_of[number] = original
        family = self.copies.setdefault(original, [])
        self.compare([(original, self.text(original)), *family], [(number, text)])
        family.append((number, text))
        return text

    def edited(self, number, kind, rng):
        """Return the text of an original, edited."""
        found = self.clauses_of(number)
        other = self.clauses[rng.integers(len(self.clauses))]
        if kind == "characters replaced":
            characters = list("".join(found))
            for place in rng.integers(0, len(characters), rng.integers(1, 5)):
                characters[place] = other[place % len(other)]
            return "".join(characters)
        if kind == "a clause replaced":
            found[rng.integers(len(found))] = other
        elif kind == "clauses added":
            found.append(other)
        elif kind == "clauses cut off":
            found.pop()
        return "".join(found)

    def compare(self, *sides):
        """Note the similar pairs between two lists of (number, text)."""
        sides = [[(number, shingles(text)) for number, text in side] for side in sides]
        for (a, one), (b, other) in itertools.product(*sides):
            value = resemblance(one, other)
            if value >= THRESHOLD:
                self.pairs.append((*sorted((a, b)), value))

    def truth(self):
        """Return all similar pairs, sorted."""
        for pair in self.sharing():
            self.compare(*([(n, self.text(n)), *self.copies.get(n, [])] for n in pair))
        return sorted(self.pairs)

    def sharing(self):
        """Return the pairs of originals with two common consecutive clauses."""
        drawn = np.concatenate(self.rows).astype(np.uint64)
        sizes = np.concatenate([np.diff(begins) for begins in self.begins])
        owners = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
        keys = (drawn[:-1] << np.uint64(32)) | drawn[1:]
        inside = owners[:-1] == owners[1:]
        found = set()
        for a, b in truth.runs_in_pairs(keys[inside], owners[:-1][inside]):
            found |= {tuple(sorted(pair)) for pair in zip(a.tolist(), b.tolist(), strict=True)}
        return sorted((a, b) for a, b in found if a != b)
