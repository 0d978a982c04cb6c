"""The collections of the benchmarks: real corpora, and larger ones made of them, with their truth.

The corpora are beside the repository and not part of it. What is made of them is written once, to
benchmarks/.inputs/, with fixed seeds, and the truth beside it.

==============  ======================================================================
`pieces`        55,000 pieces of 200 to 400 characters of news; 5,000 are edited copies
`sample`        24 MB of unchanged articles; every tenth is followed by an edited copy
`stories`       news in generations: 35 % of the characters are replaced, or, in three of ten,
                1 to 8 % of those of the newest story of the article, whose id is in `of`
==============  ======================================================================
"""

import itertools
import json
import random
import re
import shutil
import unicodedata
from pathlib import Path

import numpy as np
import zstandard

import truth

HERE = Path(__file__).resolve().parent
WORK = HERE / ".inputs"
SHARED = HERE.parent.parent / "shared" / "corpora"

SEED = 20200402
WHITE_SPACE = re.compile(r"\s+")
INVISIBLE = re.compile(r"[\x00-\x1f\x7f-\x9f\xad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]")
SENTENCE = re.compile(r"[^。！？!?]*[。！？!?]?")


class MissingError(Exception):
    """A file of the reference data is missing."""


def path_of(name):
    """Return the path of a file of the reference data."""
    path = SHARED / name
    if not path.exists():
        raise MissingError(f"{path.name} is missing; it belongs to ../shared/corpora.")
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
    for record in records(path_of("chinanews.jsonl.zst")):
        yield record["text"]


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


#: The minimum resemblance of a true pair of `pieces`.
THRESHOLD = 0.8


def collection(name, records):
    """Return the path of a collection; `records()` makes it if it is missing."""
    path = WORK / f"{name}.jsonl"
    if not path.exists():
        write(path, records())
    return path


def pieces():
    """Return the path of 55,000 pieces of news. 5,000 of them are edited copies of others."""

    def records():
        rng = random.Random(SEED)
        cuts = (piece for text in articles() for piece in cut(plain(text), rng))
        texts = list(itertools.islice(cuts, 50_000))
        texts += [plain(edited(texts[at], rng)) for at in rng.sample(range(50_000), 5_000)]
        # A copy may come before its original.
        order = list(range(len(texts)))
        rng.shuffle(order)
        return ({"id": f"piece/{n:05}", "text": texts[at]} for n, at in enumerate(order))

    return collection("pieces", records)


def similar_pieces():
    """Return (a, b, resemblance) of all similar pairs of `pieces`, by an exact join."""
    path = pieces()
    return truth.cached(
        WORK / "pieces_exact.npy", lambda: truth.resemblance_pairs(texts_of(path), THRESHOLD)
    )


def sample():
    """Return the path of 24 MB of articles.

    Text i is an edited copy of text i - 1 if i % 11 == 10. So the first texts of any number
    include copies.
    """

    def records():
        rng, size, place = random.Random(SEED), 0, itertools.count()
        for number, text in enumerate(articles()):
            yield {"id": str(next(place)), "text": text}
            if number % 10 == 9:
                yield {"id": str(next(place)), "text": edited(text, rng)}
            size += len(text.encode("utf-8"))
            if size > 22_000_000:
                break

    return collection("sample", records)


#: The share of re-posts; the share of replaced characters in a new story and in a re-post.
REPOSTS, NEW, REPLACED = 0.3, 0.35, (0.01, 0.08)


def stories():
    """Yield stories and re-posts of them, without end.

    Characters are replaced in both, digits only in stories.
    """
    rng = np.random.default_rng(SEED)
    base = [np.frombuffer(text.encode("utf-32-le"), np.uint32) for text in articles()]
    is_digit = [(text >= ord("0")) & (text <= ord("9")) for text in base]
    letters = np.concatenate(base[:2000])
    letters = letters[letters > 0x3000]
    # The newest story of each article, and its id.
    newest = [(text, str(at)) for at, text in enumerate(base)]
    for generation in itertools.count():
        for at, text in enumerate(base):
            id, of = str(generation * len(base) + at), {}
            if generation:
                is_repost = rng.random() < REPOSTS
                share = rng.uniform(*REPLACED) if is_repost else NEW
                if is_repost:
                    text, of["of"] = newest[at]
                places = rng.random(len(text), np.float32) < share
                if is_repost:
                    # Another number would be another event.
                    places &= ~is_digit[at]
                text = text.copy()
                text[places] = letters[rng.integers(0, len(letters), int(places.sum()))]
            if not of:
                newest[at] = text, id
            yield {"id": id, "text": text.tobytes().decode("utf-32-le")} | of


def check_space(folder, needed, what):
    """Raise a RuntimeError if a disk has too little free space."""
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise RuntimeError(
            f"{folder}: {what} need {needed / 1e9:.1f} GB. Only {free / 1e9:.1f} GB are free."
        )
