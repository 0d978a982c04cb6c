"""Test items planted into documents: how many `contamination` finds, what else, and how fast.

Beside it the rule of most papers on language models: a document has an item if it has a run of 13
words of it (Brown et al. 2020), here 13 characters in Chinese.
"""

import random
import re
import statistics
import time
from dataclasses import dataclass

import pyarrow as pa

from corpora import read, scattered
from harness import Case
from neardup import contamination
from tables import measured_on, table
from tables import wrapped as filled

SEED = 20261123
PLANTED = 100
RATES = (0.0, 0.05)
#: The lengths of items, in characters.
LENGTHS = {"english": (60, 600), "chinese": (25, 300)}
#: The characters of an answer after an item in chat markup.
ANSWER = 200
RUN = 13
#: Runs of neardup, of which the median counts.
RUNS = 5


@dataclass(frozen=True)
class Language:
    """Items and clean documents of one language."""

    name: str
    items: list
    documents: list


def measure(options):
    """Return the figures of both languages."""
    return {"seed": SEED, "languages": {one.name: measured(one) for one in (english(), chinese())}}


def english():
    """Return sentences of the BBC, and Reuters news."""
    draw = random.Random(SEED)
    items = []
    for record in read("bbc_en.jsonl.zst"):
        sentences = re.split(r"(?<=[.!?])\s+", record["text"])
        for _ in range(4):
            begin = draw.randrange(max(1, len(sentences) - 2))
            items.append(" ".join(sentences[begin : begin + draw.randrange(1, 3)]))
    documents = [record["text"] for record in read("reuters_en.jsonl.zst")]
    return Language("english", fitting(items, "english"), documents)


def chinese():
    """Return paragraphs of laws, and Chinese news."""
    lines = [line.strip() for law in read("laws.jsonl.zst") for line in law["text"].split("\n")]
    documents = [record["text"] for record in read("chinanews.jsonl.zst")]
    return Language("chinese", fitting(lines, "chinese"), documents)


def fitting(items, name):
    """Return up to 30,000 different items of a fitting length."""
    least, most = LENGTHS[name]
    found = [item for item in dict.fromkeys(items) if least <= len(item) <= most]
    random.Random(SEED).shuffle(found)
    return found[:30_000]


def is_chinese(text):
    """Return whether a text is Chinese."""
    return re.search("[一-鿿]", text) is not None


def verbatim(item, _):
    """Return an item alone."""
    return item


def wrapped(item, _):
    """Return an item in short lines."""
    if is_chinese(item):
        return "\n".join(item[at : at + 20] for at in range(0, len(item), 20))
    words = item.split()
    return "\n".join(" ".join(words[at : at + 6]) for at in range(0, len(words), 6))


def embedded(item, document):
    """Return a document with an item in its middle."""
    half = len(document) // 2
    return f"{document[:half]} {item} {document[half:]}"


def in_chat(item, document):
    """Return a conversation in which each clause of an item is set in bold type."""
    marked = "</b> <b>".join(re.split(r"(?<=[,，;；]) ?", item))
    question = f"<|im_start|>user\n**Question:** <b>{marked}</b><|im_end|>\n"
    return f"{question}<|im_start|>assistant\n{document[:ANSWER]}"


FORMS = {
    "verbatim": verbatim,
    "re-wrapped": wrapped,
    "embedded": embedded,
    "chat markup": in_chat,
}


def measured(language):
    """Return what each engine finds of planted items and in clean documents, and its speed."""
    draw = random.Random(SEED)
    documents = list(language.documents)
    places = draw.sample(range(len(documents)), len(FORMS) * len(RATES) * PLANTED)
    truth = {}
    for rate in RATES:
        for name, form in FORMS.items():
            for at in draw.sample(range(len(language.items)), PLANTED):
                item = language.items[at]
                made = scattered(item, rate, draw) if rate else item
                place = places.pop()
                documents[place] = form(made, documents[place])
                truth[place] = (name, rate, at)
    size = sum(len(document.encode()) for document in documents)
    engines = {
        "neardup": lambda texts: by_neardup(texts, language.items),
        f"a run of {RUN}": lambda texts: by_runs(texts, language),
    }
    # Libraries and tables are loaded once.
    by_neardup(documents[:1], language.items)
    rows = {}
    for name, engine in engines.items():
        times = []
        for _ in range(RUNS if name == "neardup" else 1):
            begun = time.perf_counter()
            found = engine(documents)
            times.append(time.perf_counter() - begun)
        seconds = statistics.median(times)
        found_of = {}
        for place, (form, rate, at) in truth.items():
            found_of[f"{form} {rate}"] = found_of.get(f"{form} {rate}", 0) + ((place, at) in found)
        clean = {place for place, _ in found if place not in truth}
        rows[name] = {
            "found": found_of,
            "seconds": round(seconds, 2),
            "megabytes_a_second": round(size / 1e6 / seconds, 1),
            "others": len(clean),
        }
    return {
        "items": len(language.items),
        "documents": len(documents),
        "megabytes": round(size / 1e6, 1),
        "engines": rows,
    }


def by_neardup(texts, items):
    """Return (document, item) of the findings of `contamination` on one core."""
    found = contamination(pa.table({"text": texts}), items, workers=1).findings
    columns = (map(int, found[name].to_pylist()) for name in ("id", "test_id"))
    return set(zip(*columns, strict=True))


def by_runs(texts, language):
    """Return (document, item) of the pairs that share a run of words or characters."""
    items_of = {}
    for at, item in enumerate(language.items):
        for run in runs_of(item, language):
            items_of.setdefault(run, set()).add(at)
    return {
        (place, at)
        for place, text in enumerate(texts)
        for run in runs_of(text, language)
        if run in items_of
        for at in items_of[run]
    }


def runs_of(text, language):
    """Yield the runs of a text, in lower case and without punctuation."""
    found = re.findall(r"\w" if is_chinese(language.items[0]) else r"\w+", text.lower())
    for at in range(len(found) - RUN + 1):
        yield tuple(found[at : at + RUN])


def show(result):
    """Return the section of the page."""
    forms = [f"{form} {rate}" for rate in RATES for form in FORMS]
    heads = [f"{form}, {rate:.0%} edits" if rate else form for rate in RATES for form in FORMS]
    rows = []
    for name, figures in result["languages"].items():
        for engine, row in figures["engines"].items():
            found = (row["found"][form] for form in forms)
            rows.append([f"{name}, {engine}", *found, row["others"], row["megabytes_a_second"]])
    sizes = "; ".join(
        f"{name}: {its['items']:,} items, {its['documents']:,} documents, {its['megabytes']:.0f} MB"
        for name, its in result["languages"].items()
    )
    text = f"""Test items planted into real text, {PLANTED} of each form ({sizes}): how many
    `contamination` finds, in how many documents without a planted item it reports one, and how
    fast, on one core. Beside it the usual rule: a run of {RUN} words, or characters in Chinese."""
    return "\n\n".join(
        [
            "## Contamination",
            filled(text),
            table(["", *heads, "other documents", "MB/s"], rows),
            f"*{measured_on(result)}*",
        ]
    )


CASES = (Case("contamination", "Test items planted into documents", measure, show),)
