"""A million news articles for the benchmark of the index, made of some 28,000.

The articles come again and again, each generation in a cipher of its own: a
bijection of the Chinese characters that occur. Lengths, punctuation, digits,
forms, and what repeats inside a generation stay as they are, and nothing of two
generations resembles. Generation 0 is not ciphered. Every tenth article is
followed by an edited copy, 1 to 100,000 documents later.

JSON lines of `id` and `text`. The id of a copy is that of the article with a plus
and more behind it. For each size of the index there are three files: what
brings it there but for the last thousand; that thousand, and a thousand queries,
which are the articles that come next. Of both a tenth are edited copies of
documents of any age.
"""

import heapq
import itertools
import json
import random
import shutil
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import corpus

SIZES = (10_000, 30_000, 100_000, 300_000, 1_000_000)

#: Documents that are added one by one, and as many queries, at each size.
SINGLE = 1_000

#: The share of copies.
COPIES = 0.1

#: Bytes of a line, somewhat more than the mean.
_LINE = 3_700

#: CJK Unified Ideographs, and of their first extension.
_CHINESE = ((0x4E00, 0xA000), (0x3400, 0x4DC0))


@dataclass(frozen=True)
class Part:
    """The inputs that bring an index to a size: many at once, one by one, and queries."""

    size: int

    @property
    def many(self) -> Path:
        """Documents that are added together."""
        return corpus.WORK / f"index_{self.size}_many.jsonl"

    @property
    def single(self) -> Path:
        """Documents that are added one by one."""
        return corpus.WORK / f"index_{self.size}_single.jsonl"

    @property
    def queries(self) -> Path:
        """Texts that are looked up."""
        return corpus.WORK / f"index_{self.size}_queries.jsonl"

    @property
    def certain(self) -> int:
        """Articles that are in the index before the single documents, whatever copies come."""
        return round(0.85 * (self.size - SINGLE))

    def is_there(self):
        """Return whether all files are there."""
        return all(path.exists() for path in (self.many, self.single, self.queries))


class Articles:
    """All articles, end to end, to be read in any cipher."""

    def __init__(self):
        texts = list(corpus.articles())
        self._count = len(texts)
        self._ends = np.cumsum([len(text) for text in texts]).tolist()
        self._codes = np.frombuffer("".join(texts).encode("utf-32-le"), np.uint32)
        present = np.unique(self._codes)
        is_chinese = np.zeros(len(present), bool)
        for begin, end in _CHINESE:
            is_chinese |= (begin <= present) & (present < end)
        self._chinese = present[is_chinese]

    def ciphered(self, generation):
        """Return the articles of a generation."""
        codes = self._codes
        if generation:
            order = list(range(len(self._chinese)))
            random.Random(f"{corpus.SEED}/cipher/{generation}").shuffle(order)
            table = np.arange(codes.max() + 1, dtype=np.uint32)
            table[self._chinese] = self._chinese[order]
            codes = table[codes]
        whole = codes.tobytes().decode("utf-32-le")
        begins = [0, *self._ends]
        return [whole[begin:end] for begin, end in itertools.pairwise(begins)]

    def ids(self, places):
        """Return the ids of articles by their places, all generations end to end."""
        found = (divmod(place, self._count) for place in places)
        return [f"{generation:02}/{number:05}" for generation, number in found]

    def stream(self):
        """Yield (id, text) without an end: articles, and among them the copies of some."""
        rng = random.Random(f"{corpus.SEED}/stream")
        coming, place = [], 0
        for generation in itertools.count():
            for number, text in enumerate(self.ciphered(generation)):
                id = f"{generation:02}/{number:05}"
                yield id, text
                place += 1
                if rng.random() < COPIES:
                    # The age of a copy: evenly spread over its order of magnitude.
                    due = place + round(10 ** rng.uniform(0, 5))
                    heapq.heappush(coming, (due, f"{id}+", corpus.edited(text, rng)))
                while coming and coming[0][0] <= place:
                    yield heapq.heappop(coming)[1:]
                    place += 1


def parts(largest):
    """Return the parts up to a size, in order; they are made where they are missing."""
    found = [Part(size) for size in SIZES if size <= largest]
    if not all(part.is_there() for part in found):
        corpus.WORK.mkdir(exist_ok=True)
        check_space(corpus.WORK, largest * _LINE, "the inputs")
        make(found)
    return found


def check_space(folder, needed, what):
    """Raise a RuntimeError if a disk has not enough room."""
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise RuntimeError(
            f"{folder}: {what} need {needed / 1e9:.1f} GB. Only {free / 1e9:.1f} GB are free."
        )


def make(wanted):
    """Write all files of some parts, which begin with the first."""
    articles = Articles()
    # One for each part: its bytes are not to depend on how many parts are made.
    rngs = {part: random.Random(f"{corpus.SEED}/single/{part.size}") for part in wanted}
    copied = round(SINGLE * COPIES)
    chosen = {
        part: articles.ids(rng.sample(range(part.certain), 2 * copied))
        for part, rng in rngs.items()
    }
    texts = dict.fromkeys(itertools.chain.from_iterable(chosen.values()))
    stream = remembered(articles.stream(), texts)
    before = 0
    for part in wanted:
        write(part.many, itertools.islice(stream, part.size - before - SINGLE))
        before = part.size
        rng = rngs[part]
        new = (document for document in stream if not is_copy(document[0]))
        for path in (part.single, part.queries):
            ids, chosen[part] = chosen[part][:copied], chosen[part][copied:]
            items = [(f"{id}+{part.size}", corpus.edited(texts[id], rng)) for id in ids]
            items += itertools.islice(new, SINGLE - copied)
            rng.shuffle(items)
            write(path, items)


def remembered(stream, texts):
    """Pass documents on, and note the texts of some ids."""
    for id, text in stream:
        if id in texts:
            texts[id] = text
        yield id, text


def is_copy(id):
    """Return whether a document is a planted copy."""
    return "+" in id


def write(path, documents):
    """Write a file of (id, text) that is either whole or not there."""
    unfinished = path.with_suffix(".unfinished")
    with unfinished.open("w", encoding="utf-8") as file:
        for id, text in documents:
            file.write(json.dumps({"id": id, "text": text}, ensure_ascii=False) + "\n")
    unfinished.replace(path)


def read(path):
    """Return the (id, text) of a file."""
    with path.open(encoding="utf-8") as file:
        documents = [json.loads(line) for line in file]
    return [(document["id"], document["text"]) for document in documents]


def copies(path):
    """Return how many copies there are in a file, by the beginnings of its lines."""
    with path.open("rb") as file:
        return sum(b"+" in line[:24] for line in file)


if __name__ == "__main__":
    for made in parts(SIZES[-1]):
        print(made.many, made.many.stat().st_size)
