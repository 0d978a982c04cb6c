"""The collections of all benchmarks: real corpora, and larger ones made of them, with their truth.

The corpora are beside the repository and not part of it. What is made of them is written once, to
benchmarks/.inputs/, with fixed seeds. True pairs are in a file beside the documents, as rows of
(document, document, resemblance). Texts are already normalized, except those of `sample` and of
the news in generations, so every engine and every recipe sees the same shingles.

==============  ======================================================================
`clauses`       10^4 to 10^7 documents of at least 80 characters, each a random sequence of
                clauses of 5 to 16 characters. Shingles inside a clause recur as the
                collection grows; shingles across two clauses are mostly new. So half of the
                shingles are rare at any size, as in real collections. Every tenth document
                is a copy, edited in one of the ways of `EDITS`. A smaller collection is the
                beginning of a larger one.
`pieces`        55,000 pieces of 200 to 400 characters of news; 5,000 are edited copies
`news`          pieces of all Chinese corpora, and their sentences recombined
`sample`        24 MB of unchanged articles; every tenth is followed by an edited copy
`parts`         news in generations: each replaces the Chinese characters by a permutation of
                its own, so that no two resemble each other; every tenth has an edited copy, 1
                to 100,000 documents later, whose id is that of the article with a plus
`reposts`       news in generations: 35 % of the characters are replaced, or, in three of ten,
                1 to 8 % of those of the newest story of the article, whose id is in `of`
==============  ======================================================================
"""

import heapq
import itertools
import json
import random
import re
import shutil
import unicodedata
from pathlib import Path
from typing import NamedTuple

import numpy as np
import zstandard

import truth

HERE = Path(__file__).resolve().parent
WORK = HERE / ".inputs"
SHARED = HERE.parent.parent / "shared" / "corpora"
NEWS = SHARED / "chinanews.jsonl.zst"
TOPICS = ("distractors", "education", "finance", "housing", "medical", "transport")
#: All Chinese corpora.
CHINESE = ("chinanews", *(f"topics_zh/{topic}" for topic in TOPICS), "laws", "bulletins")
NEEDS = "needs the corpora in ../shared/corpora beside the repository"

SEED = 20200402
WHITE_SPACE = re.compile(r"\s+")
INVISIBLE = re.compile(r"[\x00-\x1f\x7f-\x9f\xad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]")
TAG = re.compile(r"<[^<>]*>")
SENTENCE = re.compile(r"[^。！？!?]*[。！？!?]?")


class MissingError(Exception):
    """A file of the reference data is missing."""


def path_of(name):
    """Return the path of a file of the reference data."""
    path = SHARED / name
    if not path.exists():
        raise MissingError(f"{path.name}: {NEEDS}.")
    return path


def read(name):
    """Return the records of a file of JSON lines."""
    return list(records(path_of(name)))


def rows(name):
    """Return the rows of a file of tab-separated values with a heading."""
    heading, *lines = path_of(name).read_text("utf-8").splitlines()
    names = heading.split("\t")
    return [dict(zip(names, line.split("\t"), strict=True)) for line in lines if line]


def records(path):
    """Yield the records of a compressed file of JSON lines."""
    with zstandard.open(path, "rt", encoding="utf-8") as file:
        yield from map(json.loads, file)


def articles():
    """Yield the texts of the news in file order."""
    for record in records(NEWS):
        yield record["text"]


def documents_of(*names):
    """Yield the normalized texts of corpora, without tags."""
    for name in names:
        for record in records(SHARED / f"{name}.jsonl.zst"):
            yield plain(TAG.sub("", record["text"]))


def plain(text):
    """Return a text that normalization no longer changes."""
    text = unicodedata.normalize("NFKC", text).lower()
    return unicodedata.normalize("NFKC", INVISIBLE.sub("", WHITE_SPACE.sub("", text)))


def sentences_of(text):
    """Return the sentences of a text."""
    return [sentence for sentence in SENTENCE.findall(text) if sentence]


def cut(text, rng):
    """Cut an article into pieces of 200 to 400 characters.

    A rest of fewer than 200 characters is left out.
    """
    found, begin = [], 0
    while len(text) - begin >= 200:
        end = begin + rng.randint(200, 400)
        found.append(text[begin:end])
        begin = end
    return found


def edited(text, rng):
    """Return a copy with 2 to 10 % of its characters edited.

    The edits are single characters or whole sentences.
    """
    share = rng.uniform(0.02, 0.10)
    if rng.random() < 0.5:
        return scattered(text, share, rng)
    return by_sentence(text, share, rng)


def scattered(text, share, rng):
    """Replace, delete, or add single characters at random places."""
    characters = list(text)
    for place in rng.sample(range(len(text)), max(1, round(share * len(text)))):
        kind = rng.randrange(3)
        if kind == 0:
            characters[place] = rng.choice(text)
        elif kind == 1:
            characters[place] = ""
        else:
            characters[place] += rng.choice(text)
    return "".join(characters)


def by_sentence(text, share, rng):
    """Delete sentences, or replace them by others of the same text."""
    sentences = sentences_of(text)
    budget = share * len(text)
    order = list(range(len(sentences)))
    rng.shuffle(order)
    for place in order:
        if 0 < len(sentences[place]) <= budget:
            budget -= len(sentences[place])
            sentences[place] = rng.choice(sentences) if rng.random() < 0.3 else ""
    changed = "".join(sentences)
    # If no sentence is short enough to be edited, cut off the end instead.
    return changed if changed != text else text[: len(text) - max(1, round(share * len(text)))]


def write(path, documents, size=None):
    """Write records as JSON lines; return the number of records.

    With `size`, stop after that many bytes. An incomplete file never gets this name.
    """
    path.parent.mkdir(exist_ok=True)
    unfinished = path.with_suffix(".unfinished")
    written = count = 0
    with unfinished.open("wb") as file:
        for record in documents:
            written += file.write(json.dumps(record, ensure_ascii=False).encode() + b"\n")
            count += 1
            if size is not None and written >= size:
                break
    unfinished.replace(path)
    return count


def lines_of(path):
    """Yield the records of a file that `write` wrote."""
    with path.open(encoding="utf-8") as file:
        yield from map(json.loads, file)


def texts_of(path):
    """Return the texts of a file that `write` wrote."""
    return [record["text"] for record in lines_of(path)]


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


def filed(name, make):
    """Return the path of a collection; make the collection if it is missing.

    None if the corpora are missing. `make` returns a collection with two methods: `records`
    yields the documents, and `truth`, called afterwards, returns the true pairs.
    """
    if not NEWS.exists():
        return None
    path = WORK / f"{name}.jsonl"
    if not (path.exists() and truth_path(path).exists()):
        collection = make()
        write(path, collection.records())
        np.save(truth_path(path), np.array(collection.truth()).reshape(-1, 3))
    return path


def truth_path(path):
    """Return the path of a collection's true pairs."""
    return path.with_name(f"{path.stem}_truth.npy")


def exact_pairs(path, threshold):
    """Return (a, b, resemblance) of all pairs, by an exact join."""
    return truth.cached(
        path.with_name(f"{path.stem}_{threshold:g}_exact.npy"),
        lambda: truth.resemblance_pairs(texts_of(path), threshold),
    )


def clauses(documents):
    """Return the path of a collection of N documents made of clauses."""
    return filed(f"growth_{documents}", lambda: Clauses(clause_pool(), documents))


def pieces():
    """Return the path of 55,000 pieces of news. 5,000 of them are edited copies of others."""

    def make():
        rng = random.Random(SEED)
        texts = map(plain, articles())
        originals = itertools.islice(cut_of(texts, rng), 50_000)
        return with_copies(list(originals), 5_000, rng, "piece/{:05}")

    return filed("pieces", make)


def sample():
    """Return the path of 24 MB of articles.

    Text i is an edited copy of text i - 1 if i % 11 == 10. So the first texts of any number
    include copies.
    """

    def make():
        rng, collection, size = random.Random(SEED), Planted(), 0
        for number, text in enumerate(articles()):
            collection.texts.append(text)
            if number % 10 == 9:
                collection.add_copy(len(collection.texts) - 1, edited(text, rng))
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
        self.add_copy(place, plain(edited(self.texts[place], rng)))

    def add_copy(self, place, text):
        """Add a text as a copy of the text at a place."""
        self.planted.append((len(self.texts), place))
        self.texts.append(text)

    def shuffled(self, rng):
        """Return the same texts in random order. A copy may then come before its original."""
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
    rng = random.Random(SEED)
    copies = round(COPIES * documents)
    texts = list(itertools.islice(all_pieces(), documents - copies))
    if len(texts) < documents - copies:
        sentences = [s for text in texts for s in sentences_of(text)]
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
    return cut_of(documents_of(*CHINESE), random.Random(SEED))


def cut_of(texts, rng):
    """Yield the pieces of texts."""
    for text in texts:
        yield from cut(text, rng)


def recombined(sentences, rng):
    """Return a text of random sentences of different documents. It has 200 to 400 characters."""
    text = ""
    while len(text) < 200:
        text += rng.choice(sentences)
    return text[:400]


def clause_pool():
    """Return clauses of all corpora; no two of them share a 5-shingle."""
    seen, found = set(), []
    for text in documents_of(*CHINESE):
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
    of .8 needs both. `news.py` checks this with the exact join at 10^4 documents.
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
            rng = np.random.default_rng((SEED, first // BLOCK))
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


SIZES = (10_000, 30_000, 100_000, 300_000, 1_000_000)
#: The number of documents added one by one at each size, and of queries.
SINGLE = 1_000
#: The share of re-posts; the share of replaced characters in a new story and in a re-post.
REPOSTS, NEW, REPLACED = 0.3, 0.35, (0.01, 0.08)

#: The bytes of a line, a little above the mean.
_LINE = 3_700
#: The code points of CJK Unified Ideographs and of Extension A.
_CHINESE = ((0x4E00, 0xA000), (0x3400, 0x4DC0))


class Part(NamedTuple):
    """The input files that bring an index to a size."""

    size: int

    @property
    def many(self) -> Path:
        """Documents to be added together: all but the last thousand."""
        return WORK / f"index_{self.size}_many.jsonl"

    @property
    def single(self) -> Path:
        """The last thousand, to be added one by one. A tenth are copies of documents of any age."""
        return WORK / f"index_{self.size}_single.jsonl"

    @property
    def queries(self) -> Path:
        """Texts to be looked up.

        They are the next articles of the stream, and as many copies as in `single`.
        """
        return WORK / f"index_{self.size}_queries.jsonl"

    def is_there(self):
        """Return whether all files exist."""
        return all(path.exists() for path in (self.many, self.single, self.queries))


def parts(largest):
    """Return the parts up to a size, in ascending order. Missing files are made."""
    found = [Part(size) for size in SIZES if size <= largest]
    if not all(part.is_there() for part in found):
        WORK.mkdir(exist_ok=True)
        check_space(WORK, largest * _LINE, "the inputs")
        make(found)
    return found


def check_space(folder, needed, what):
    """Raise a RuntimeError if a disk has too little free space."""
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise RuntimeError(
            f"{folder}: {what} need {needed / 1e9:.1f} GB. Only {free / 1e9:.1f} GB are free."
        )


def make(wanted):
    """Write all files of some parts, from the first part on."""
    texts = list(articles())
    copied = round(SINGLE * COPIES)
    # One for each part: its bytes must not depend on how many parts are made.
    rngs = {part: random.Random(f"{SEED}/single/{part.size}") for part in wanted}
    chosen = {}
    for part, rng in rngs.items():
        # These articles are in the index before the single documents, wherever copies are.
        certain = range(round(0.85 * (part.size - SINGLE)))
        places = (divmod(place, len(texts)) for place in rng.sample(certain, 2 * copied))
        chosen[part] = [id_of(*place) for place in places]
    text_of = dict.fromkeys(itertools.chain.from_iterable(chosen.values()))
    stream = remembered(ciphered_stream(texts), text_of)
    before = 0
    for part, rng in rngs.items():
        write(part.many, itertools.islice(stream, part.size - before - SINGLE))
        before = part.size
        new = (record for record in stream if not is_copy(record["id"]))
        for path in (part.single, part.queries):
            ids, chosen[part] = chosen[part][:copied], chosen[part][copied:]
            some = [{"id": f"{id}+{part.size}", "text": edited(text_of[id], rng)} for id in ids]
            some += itertools.islice(new, SINGLE - copied)
            rng.shuffle(some)
            write(path, some)


def id_of(generation, number):
    """Return the id of an article in a generation."""
    return f"{generation:02}/{number:05}"


def is_copy(id):
    """Return whether a document is a planted copy."""
    return "+" in id


def copies(path):
    """Return the number of copies in a file, found by their ids."""
    with path.open("rb") as file:
        return sum(b"+" in line[:24] for line in file)


def remembered(stream, text_of):
    """Yield the documents of a stream; store the texts of some ids."""
    for record in stream:
        if record["id"] in text_of:
            text_of[record["id"]] = record["text"]
        yield record


def ciphered_stream(texts):
    """Yield ciphered articles and copies of some, without end."""
    rng = random.Random(f"{SEED}/stream")
    coming, place = [], 0
    for generation, some in enumerate(ciphered(texts)):
        for number, text in enumerate(some):
            id = id_of(generation, number)
            yield {"id": id, "text": text}
            place += 1
            if rng.random() < COPIES:
                # The logarithm of a copy's age is uniform.
                due = place + round(10 ** rng.uniform(0, 5))
                heapq.heappush(coming, (due, f"{id}+", edited(text, rng)))
            while coming and coming[0][0] <= place:
                _, id, text = heapq.heappop(coming)
                yield {"id": id, "text": text}
                place += 1


def ciphered(texts):
    """Yield the texts of each generation, with its own cipher."""
    ends = np.cumsum([len(text) for text in texts]).tolist()
    codes = np.frombuffer("".join(texts).encode("utf-32-le"), np.uint32)
    present = np.unique(codes)
    chinese = present[np.any([(low <= present) & (present < end) for low, end in _CHINESE], axis=0)]
    for generation in itertools.count():
        table = np.arange(codes.max() + 1, dtype=np.uint32)
        if generation:
            order = list(range(len(chinese)))
            random.Random(f"{SEED}/cipher/{generation}").shuffle(order)
            table[chinese] = chinese[order]
        whole = table[codes].tobytes().decode("utf-32-le")
        yield [whole[begin:end] for begin, end in itertools.pairwise([0, *ends])]


def reposts():
    """Yield stories and re-posts of them, without end. Characters are replaced in both."""
    rng = np.random.default_rng(SEED)
    base = [np.frombuffer(text.encode("utf-32-le"), np.uint32) for text in articles()]
    letters = np.concatenate(base[:2000])
    letters = letters[letters > 0x3000]
    # The newest story of each article, and its id.
    newest = [(text, f"000-{at:05d}") for at, text in enumerate(base)]
    for generation in itertools.count():
        for at, text in enumerate(base):
            id, of = f"{generation:03d}-{at:05d}", {}
            if generation:
                is_repost = rng.random() < REPOSTS
                share = rng.uniform(*REPLACED) if is_repost else NEW
                if is_repost:
                    text, of["of"] = newest[at]
                places = rng.random(len(text), np.float32) < share
                text = text.copy()
                text[places] = letters[rng.integers(0, len(letters), int(places.sum()))]
            if not of:
                newest[at] = text, id
            yield {"id": id, "text": text.tobytes().decode("utf-32-le")} | of
