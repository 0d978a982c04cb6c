"""The paper check: what it finds, what it reports of texts that nobody copied, and how fast.

*passages*: passages of news and laws are planted in others, so the truth is exact. *thesis*: the
check of a hundred pages against ten thousand documents.
"""

import json
import random
import re
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

import neardup
from corpora import WORK, read
from harness import Measurement
from neardup.papers import open_library
from neardup.papers.align import align
from planted import Case as Passage
from planted import plant, scores
from tables import percent, provenance, table, wrapped

SEED = 20261120

#: The planted passages: name, kind and rate.
KINDS = (
    ("verbatim", "verbatim", 0),
    ("edited, 5 %", "edited", 0.05),
    ("edited, 10 %", "edited", 0.10),
    ("edited, 20 %", "edited", 0.20),
    ("reordered", "reordered", 0),
    ("synonyms", "synonyms", 0),
)
#: Papers of each kind: news with sources of both collections, and laws with news as sources.
NEWS_HOSTS, LAW_HOSTS = 75, 25
HOST_LENGTH = (1500, 6000)
#: The number of sources of passages, and the lengths of their texts.
NEWS_SOURCES, LAW_SOURCES = 300, 100
SOURCE_LENGTH = (600, 10_000)

#: The number of unrelated pairs of news items. A pair with at least this 5-character
#: resemblance is a natural re-post and is left out.
UNRELATED, REPOST = 200, 0.05
#: The minimum length of a text of such a pair.
LEAST = 300
#: Of an unrelated pair, a smaller share of the characters should be reported.
MOST_OF_NOTHING = 0.02


def passages(options):
    """Return the scores of planted passages, and what is reported of unrelated texts."""
    news, laws = read("chinanews.jsonl.zst"), read("laws.jsonl.zst")
    inputs = collections(news, laws)
    texts = [record["text"] for record in news if len(record["text"]) >= LEAST]
    return {
        "seed": SEED,
        "planted": {name: planted(inputs, kind, rate) for name, kind, rate in KINDS},
        "unrelated": of_nothing([texts]),
        "of_one_day": of_nothing(of_one_day(news)),
    }


def show_passages(result):
    """Return the section of the page."""
    keys = ("plagdet", "precision", "recall", "granularity")
    lines = [
        [name, *(f"{found[key]:.3f}" for key in keys), f"{found['detected']} of {found['cases']}"]
        for name, found in result["planted"].items()
    ]
    text = f"""Passages planted in news and laws, 100 papers and 300 passages a kind. PlagDet, macro
    precision and recall and granularity as the PAN competitions define them (Potthast et al.,
    COLING 2010), by the character, on both sides. Planted synonyms come from a list of 168 pairs
    of words.

- Pairs of unrelated news: {say_of_nothing(result["unrelated"])}
- Of one day and channel: {say_of_nothing(result["of_one_day"])}"""
    heading = ["planted", "PlagDet", "precision", "recall", "granularity", "found"]
    return "\n\n".join(["### Passages", table(heading, lines), wrapped(text), provenance(result)])


def collections(news, laws):
    """Return pairs of (hosts, sources), each a mapping from id to text."""
    draw = random.Random(SEED)

    def some(records, count, length):
        fitting = [r for r in records if length[0] <= len(r["text"]) <= length[1]]
        return {record["id"]: record["text"] for record in draw.sample(fitting, count)}

    news_hosts = some(news, NEWS_HOSTS, HOST_LENGTH)
    sources = some([r for r in news if r["id"] not in news_hosts], NEWS_SOURCES, SOURCE_LENGTH)
    law_hosts = some(laws, LAW_HOSTS, HOST_LENGTH)
    law_sources = some([r for r in laws if r["id"] not in law_hosts], LAW_SOURCES, SOURCE_LENGTH)
    # Laws repeat each other's sentences, so a passage found between two laws is no error.
    return [(news_hosts, sources | law_sources), (law_hosts, sources)]


def planted(inputs, kind, rate):
    """Return the figures of one kind of planted passages."""
    found, true = [], []
    for hosts, sources in inputs:
        for text, cases in plant(hosts, sources, kind, rate, SEED):
            for name in dict.fromkeys(case.source for case in cases):
                passages = align(text, sources[name])
                found += [of_passage(cases[0].document, name, passage) for passage in passages]
            true += cases
    return scores(found, true)


def of_passage(document, source, passage):
    """Return a reported passage as a detection."""
    return Passage(
        document,
        passage.begin,
        passage.end,
        source,
        passage.source_begin,
        passage.source_end,
    )


def share_of(text, passages):
    """Return the share of a text that passages cover."""
    covered = bytearray(len(text))
    for passage in passages:
        covered[passage.begin : passage.end] = b"\1" * (passage.end - passage.begin)
    return sum(covered) / len(text)


def of_one_day(news):
    """Return groups of texts with the same day and channel.

    Text that two of them share comes from a third source.
    """
    groups = {}
    for record in news:
        if len(record["text"]) >= LEAST:
            groups.setdefault((record["date"][:10], record["channel"]), []).append(record["text"])
    return [texts for texts in groups.values() if len(texts) > 1]


def of_nothing(groups):
    """Return figures on passages reported of unrelated pairs.

    Both texts of a pair are in one group, and neither is a copy of the other.
    """
    draw = random.Random(SEED)
    shares, excluded = [], 0
    while len(shares) < UNRELATED:
        a, b = draw.sample(draw.choice(groups), 2)
        if neardup.compare(a, b, recipe="characters").resemblance >= REPOST:
            excluded += 1
            continue
        shares.append(share_of(a, align(a, b)))
    return {
        "pairs": len(shares),
        "excluded": excluded,
        "mean": sum(shares) / len(shares),
        "largest": max(shares),
        "above": sum(share >= MOST_OF_NOTHING for share in shares),
        "with_any": sum(share > 0 for share in shares),
    }


def say_of_nothing(found):
    """Return the figures of unrelated pairs as a sentence."""
    return (
        f"{found['pairs']} pairs ({found['excluded']} left out as re-posts). Of "
        f"{found['with_any']} something is reported; on average {100 * found['mean']:.3f} % of the "
        f"characters of a pair, at most {100 * found['largest']:.2f} %; "
        f"{found['above']} with {percent(MOST_OF_NOTHING)} or more."
    )


#: The number of documents of each collection in the library.
NEWS, LAWS = 7000, 3000
#: Characters of the thesis, about a hundred pages, and of each planted passage.
THESIS, COPIED = 100_000, 400
INPUTS = WORK / "thesis"


def thesis(options):
    """Return the seconds and the memory of checks of a thesis, each in its own process."""
    made = make_inputs()
    # When it is opened for the first time, the library is sketched.
    begun = time.perf_counter()
    open_library(INPUTS / "library.db").close()
    first = time.perf_counter() - begun
    runs = []
    for _ in range(options.repetitions):
        begun = time.perf_counter()
        done = subprocess.run(
            [sys.executable, __file__], check=True, capture_output=True, text=True
        )
        runs.append({**json.loads(done.stdout), "whole": time.perf_counter() - begun})
    return {
        "documents": NEWS + LAWS,
        "characters_of_library": made["library"],
        "characters_of_thesis": made["thesis"],
        "seconds_to_sketch_it": first,
        "runs": runs,
    }


def show_thesis(result):
    """Return the part of the page."""
    runs = result["runs"]
    rows = [
        [name, f"{statistics.median(run[name] for run in runs):.2f}"]
        for name in ("open", "check", "page", "whole")
    ]
    memory_mb = max(run["peak_memory"] for run in runs) / 1e6
    text = f"""A thesis of {result["characters_of_thesis"]:,} characters, {runs[0]["rate"]:.0%} of
    it copied in {runs[0]["passages"]} passages of {runs[0]["sources"]} sources, against an index of
    {result["documents"]:,} news articles and laws ({result["characters_of_library"] / 1e6:.0f}
    million characters), which is sketched once in {result["seconds_to_sketch_it"]:.1f} s; medians
    of {len(runs)} processes, at most {memory_mb:,.0f} MB."""
    parts = ["### A thesis", wrapped(text), table(["step", "seconds"], rows), provenance(result)]
    return "\n\n".join(parts)


def make_inputs():
    """Make the index and the thesis; return their sizes."""
    news, laws = read("chinanews.jsonl.zst"), read("laws.jsonl.zst")
    library = [*news[:NEWS], *laws[:LAWS]]
    rng = random.Random(SEED)
    parts = []
    while sum(map(len, parts)) < THESIS:
        parts.append(rng.choice(news[NEWS + LAWS :])["text"])
        if rng.random() < 0.4:
            text = rng.choice(library)["text"]
            begin = rng.randrange(max(1, len(text) - COPIED))
            parts.append(text[begin : begin + COPIED])
    INPUTS.mkdir(parents=True, exist_ok=True)
    thesis = "\n\n".join(parts)
    (INPUTS / "thesis.txt").write_text(thesis, "utf-8")
    # An index has files and a folder beside it.
    for old in INPUTS.glob("library.db*"):
        shutil.rmtree(old) if old.is_dir() else old.unlink()
    records = [{"id": one["id"], "title": one.get("title"), "text": one["text"]} for one in library]
    with neardup.Index(INPUTS / "library.db") as index:
        index.add_many(records)
    return {"library": sum(len(one["text"]) for one in library), "thesis": len(thesis)}


def one_run():
    """Check the thesis, and return the seconds of each step."""
    begun = time.perf_counter()
    library = open_library(INPUTS / "library.db")
    opened = time.perf_counter()
    report = neardup.check(INPUTS / "thesis.txt", library)
    checked = time.perf_counter()
    report.to_html()
    return {
        "open": opened - begun,
        "check": checked - opened,
        "page": time.perf_counter() - checked,
        "peak_memory": peak_memory(),
        "rate": report.rates.total,
        "passages": len(report.passages),
        "sources": len(report.sources),
    }


def peak_memory():
    """Return the peak memory of this process in bytes."""
    status = Path("/proc/self/status").read_text("ascii")
    return int(re.search(r"VmHWM:\s*(\d+) kB", status)[1]) * 1024


BENCHMARKS = (
    Measurement("passages", "Planted passages, and unrelated texts", passages, show_passages),
    Measurement("thesis", "A thesis against 10,000 documents", thesis, show_thesis),
)

if __name__ == "__main__":
    print(json.dumps(one_run()))
