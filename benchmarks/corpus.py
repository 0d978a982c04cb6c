"""The corpora: reading, normalizing, cutting, editing and writing texts.

The corpora are beside the repository and not part of it. Inputs made from them are stored in
benchmarks/.inputs/. They are made once, by `growing.py`.
"""

import json
import re
import unicodedata
from pathlib import Path

import zstandard

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


def read(path):
    """Yield the records of a file that `write` wrote."""
    with path.open(encoding="utf-8") as file:
        yield from map(json.loads, file)


def texts_of(path):
    """Return the texts of a file that `write` wrote."""
    return [record["text"] for record in read(path)]
