"""News articles in generations: inputs for benchmarks of any size.

They are the inputs of the index, of the service, and of the run in 2 GB. Some 28,000 articles are
repeated. Each repetition is a *generation*, in which the texts are so changed that they resemble
no text of another generation. Generation 0 has the original texts. Edited copies are planted
among the articles. An article can be changed in two ways:

*cipher*: each generation replaces the Chinese characters by another permutation of them. Lengths,
punctuation, digits, templates, and repetitions within the generation do not change. Every tenth
article has an edited copy, 1 to 100,000 documents later; its id is the id of the article with a
plus and sometimes more. For each size of an index there are three files (`Part`).

*replace*: 35 % of the characters are replaced by others of the corpus, so a shingle of 5 survives
with probability .65^5. Three articles in ten are *re-posts* instead: they repeat the newest story
of the same article with 1 to 8 % of the characters replaced, which may include names and figures.
The record of a re-post has the field `of`, the id of that story.

    python benchmarks/generations.py 10e9 OUT.jsonl    # the input of bounded.py
"""

import argparse
import heapq
import itertools
import random
import shutil
from pathlib import Path
from typing import NamedTuple

import numpy as np

import corpus

SIZES = (10_000, 30_000, 100_000, 300_000, 1_000_000)
#: The number of documents added one by one at each size, and of queries.
SINGLE = 1_000
#: The share of copies among the ciphered articles, and among the single documents.
COPIES = 0.1
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
        return corpus.WORK / f"index_{self.size}_many.jsonl"

    @property
    def single(self) -> Path:
        """The last thousand, to be added one by one.

        A tenth are copies of documents of any age.
        """
        return corpus.WORK / f"index_{self.size}_single.jsonl"

    @property
    def queries(self) -> Path:
        """Texts to be looked up.

        They are the next articles of the stream, and as many copies as in `single`.
        """
        return corpus.WORK / f"index_{self.size}_queries.jsonl"

    def is_there(self):
        """Return whether all files exist."""
        return all(path.exists() for path in (self.many, self.single, self.queries))


def parts(largest):
    """Return the parts up to a size, in ascending order.

    Missing files are made.
    """
    found = [Part(size) for size in SIZES if size <= largest]
    if not all(part.is_there() for part in found):
        corpus.WORK.mkdir(exist_ok=True)
        check_space(corpus.WORK, largest * _LINE, "the inputs")
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
    texts = list(corpus.articles())
    copied = round(SINGLE * COPIES)
    # One for each part: its bytes must not depend on how many parts are made.
    rngs = {part: random.Random(f"{corpus.SEED}/single/{part.size}") for part in wanted}
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
        corpus.write(part.many, itertools.islice(stream, part.size - before - SINGLE))
        before = part.size
        new = (record for record in stream if not is_copy(record["id"]))
        for path in (part.single, part.queries):
            ids, chosen[part] = chosen[part][:copied], chosen[part][copied:]
            some = [
                {"id": f"{id}+{part.size}", "text": corpus.edited(text_of[id], rng)} for id in ids
            ]
            some += itertools.islice(new, SINGLE - copied)
            rng.shuffle(some)
            corpus.write(path, some)


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
    rng = random.Random(f"{corpus.SEED}/stream")
    coming, place = [], 0
    for generation, some in enumerate(ciphered(texts)):
        for number, text in enumerate(some):
            id = id_of(generation, number)
            yield {"id": id, "text": text}
            place += 1
            if rng.random() < COPIES:
                # The logarithm of a copy's age is uniform.
                due = place + round(10 ** rng.uniform(0, 5))
                heapq.heappush(coming, (due, f"{id}+", corpus.edited(text, rng)))
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
            random.Random(f"{corpus.SEED}/cipher/{generation}").shuffle(order)
            table[chinese] = chinese[order]
        whole = table[codes].tobytes().decode("utf-32-le")
        yield [whole[begin:end] for begin, end in itertools.pairwise([0, *ends])]


def replaced_stream():
    """Yield stories and re-posts of them, without end.

    Characters are replaced in both.
    """
    rng = np.random.default_rng(corpus.SEED)
    base = [np.frombuffer(text.encode("utf-32-le"), np.uint32) for text in corpus.articles()]
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


def main():
    """Write a file of stories and re-posts, and print its number of records."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bytes", type=float, help="such as 10e9")
    parser.add_argument("path", type=Path)
    options = parser.parse_args()
    print(corpus.write(options.path, replaced_stream(), options.bytes))


if __name__ == "__main__":
    main()
