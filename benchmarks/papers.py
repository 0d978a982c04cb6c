"""The paper check: what it finds, what it reports of texts that nobody copied, and how fast.

*passages*: passages of news and laws are planted in others, so the truth is exact. *subjects*:
pairs of texts on one subject are checked against each other, and single texts against a library of
all texts on their subject; a person has read every reported passage. The classes are in
readings/passages.tsv, which has ids, places and lengths but no text. *thesis*: the check of a
hundred pages against ten thousand documents.
"""

import hashlib
import json
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import neardup
from corpora import WORK, read
from harness import Case
from neardup.papers import open_library
from neardup.papers.align import align
from neardup.papers.check import Checking
from neardup.papers.limits import ReportLimits
from neardup.readers.extracted import FileText
from planted import Case as Passage
from planted import plant, scores
from readings import FOLDER, classified
from results import memory
from tables import measured_on, percent, table, wrapped

SEED = 20261120

#: The planted passages: name, kind and rate.
KINDS = (
    ("verbatim", "verbatim", 0),
    ("edited, 5 %", "edited", 0.05),
    ("edited, 10 %", "edited", 0.10),
    ("edited, 20 %", "edited", 0.20),
    ("reordered", "reordered", 0),
    ("synonyms", "synonyms", 0),
    ("mixed, 5 %", "mixed", 0.05),
    ("mixed, 10 %", "mixed", 0.10),
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
    return "\n\n".join(
        ["## Passages and papers", table(heading, lines), wrapped(text), f"*{measured_on(result)}*"]
    )


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


SUBJECTS_SEED = 20261123
#: The classes of a passage. To report one of the first three is no error.
CLASSES = (
    "copy",
    "quotation",
    "furniture",
    "set phrase",
    "nothing",
)
UNREAD = "not read"

#: By collection: the number of pairs, and of texts checked against a library.
PAIRS = {"topics_zh": 150, "chinanews": 100, "bbc_en": 150, "reuters_en": 100}
PAPERS = {"topics_zh": 40, "chinanews": 40, "bbc_en": 60, "reuters_en": 40}

TOPICS = ("education", "finance", "housing", "medical", "transport")
#: Title words that give the subject of a news agency's item.
WORDS = ("OIL", "TRADE", "WHEAT", "BANK", "DOLLAR", "STAKE", "COFFEE", "GOLD")
#: The minimum length of a text, in characters.
SHORTEST = 300
#: The maximum number of texts in a library.
LARGEST = 2000
#: Characters printed before and after a passage.
CONTEXT = 40


@dataclass(frozen=True)
class Found:
    """A passage that `check` reports of two texts on one subject."""

    collection: str
    against: str
    paper: str
    source: str
    begin: int
    end: int
    source_begin: int
    source_end: int
    characters: int

    @property
    def key(self):
        """The key of a reading: the two texts, and the span in the paper."""
        return self.paper, self.source, self.begin, self.end


def subjects(options):
    """Return the classes of the passages reported of texts on one subject."""
    groups = {name: of_subjects(name) for name in PAIRS}
    found = [*in_pairs(groups), *in_libraries(groups)]
    known = {
        (line["paper"], line["source"], int(line["begin"]), int(line["end"])): line["class"]
        for line in classified(FOLDER / "passages.tsv", CLASSES)
    }
    if options.unread:
        records = (r for of_one in groups.values() for some in of_one.values() for r in some)
        texts = {record["id"]: record["text"] for record in records}
        for passage in found:
            if passage.key not in known:
                show_unread(passage, texts)
        return None
    result = {}
    for against, sizes in (("pair", PAIRS), ("library", PAPERS)):
        for name, size in sizes.items():
            mine = [one for one in found if (one.collection, one.against) == (name, against)]
            counts = Counter(known.get(one.key, UNREAD) for one in mine)
            having = len({(one.paper, against == "pair" and one.source) for one in mine})
            result[f"{name}, {against}"] = {"of": size, "with": having, **counts}
    return {"groups": result}


def show_subjects(result):
    """Return the part of the page."""
    rows = [
        [name, its["of"], its["with"], *(its.get(one, 0) for one in (*CLASSES, UNREAD))]
        for name, its in result["groups"].items()
    ]
    text = """Passages reported between texts on one subject, without planted copies: random pairs,
    and texts that are each checked against the library of all texts on their subject. A person read
    every reported passage once; of a long one only the beginning and the end, and of several that
    overlap the largest. The rules on common wording were fitted to these samples."""
    heading = ["collection, against", "read", "with a passage", *CLASSES, UNREAD]
    return "\n\n".join([wrapped(text), table(heading, rows)])


def digest(*parts):
    """Return a digest; sorting by it gives the same sample everywhere."""
    return hashlib.blake2b("\n".join([str(SUBJECTS_SEED), *parts]).encode(), digest_size=8).digest()


def of_subjects(name):
    """Return the texts of a collection by subject."""
    found = {}
    if name == "topics_zh":
        for topic in TOPICS:
            for record in read(f"topics_zh/{topic}.jsonl.zst"):
                found.setdefault(topic, []).append(record)
    else:
        for record in read(f"{name}.jsonl.zst"):
            if name == "reuters_en":
                words = set((record["title"] or "").split())
                subject = next((word for word in WORDS if word in words), None)
            else:
                subject = record.get("label") or record.get("channel")
            if subject:
                found.setdefault(subject, []).append(record)
    fitting = {
        subject: sorted(
            (record for record in records if len(record["text"]) >= SHORTEST),
            key=lambda record: digest(record["id"]),
        )[:LARGEST]
        for subject, records in found.items()
    }
    return {subject: records for subject, records in fitting.items() if len(records) >= 50}


def in_pairs(groups):
    """Yield the passages reported of pairs of texts on one subject."""
    for name, of_subject in groups.items():
        pairs = [
            (digest(a["id"], b["id"]), a, b)
            for records in of_subject.values()
            # Texts are sorted by digest, so the first ones are a random sample.
            for a, b in combinations(records[:60], 2)
        ]
        pairs.sort(key=lambda pair: pair[0])
        for _, a, b in pairs[: PAIRS[name]]:
            yield from reported(name, "pair", [b], [a])


def in_libraries(groups):
    """Yield the passages reported of texts against a library.

    The library has all texts on the same subject.
    """
    for name, of_subject in groups.items():
        papers = sorted(
            (digest("paper", record["id"]), subject, at)
            for subject, records in of_subject.items()
            for at, record in enumerate(records)
        )[: PAPERS[name]]
        for subject in dict.fromkeys(subject for _, subject, _ in papers):
            records = of_subject[subject]
            chosen = [records[at] for _, its_subject, at in papers if its_subject == subject]
            yield from reported(name, "library", records, chosen)


def reported(collection, against, library, papers):
    """Yield the passages of some papers.

    If a paper is in the library, it is not compared with itself.
    """
    places = {record["id"]: at for at, record in enumerate(library)}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "library.jsonl")
        lines = [json.dumps({"id": one["id"], "text": one["text"]}) + "\n" for one in library]
        path.write_text("".join(lines), encoding="utf-8")
        with open_library(path) as opened:
            checking = Checking(opened, (), 20, ReportLimits(), 1)
            for paper in papers:
                text = FileText(paper["text"], "text")
                skip = [places[paper["id"]]] if paper["id"] in places else []
                report = checking.report(text, paper["id"], skip)
                for one in largest(report.passages):
                    yield Found(
                        collection,
                        against,
                        paper["id"],
                        report.sources[one.source].id,
                        one.begin,
                        one.end,
                        one.source_begin,
                        one.source_end,
                        one.characters,
                    )


def largest(passages):
    """Return the passages that a reader sees.

    A passage is left out if a larger one covers at least half of it.
    """
    found = []
    for one in sorted(passages, key=lambda one: (-one.characters, one.begin)):
        if all(
            2 * (min(one.end, other.end) - max(one.begin, other.begin)) < one.end - one.begin
            for other in found
        ):
            found.append(one)
    return sorted(found, key=lambda one: one.begin)


def show_unread(one, texts):
    """Print a passage as a line of the readings, with its class left open. Both texts follow."""
    print(*(one.paper, one.source, one.begin, one.end, one.characters), "?", sep="\t")
    places = ((one.paper, one.begin, one.end), (one.source, one.source_begin, one.source_end))
    for name, begin, end in places:
        text = texts[name]
        before, after = text[max(begin - CONTEXT, 0) : begin], text[end : end + CONTEXT]
        print("   ", " ".join(f"{before}【{text[begin:end]}】{after}".split()))


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
    return "\n\n".join(
        [wrapped(text), table(["step", "seconds"], rows), f"*{measured_on(result)}*"]
    )


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
    for old in INPUTS.glob("library.db*"):
        old.unlink()
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
        "peak_memory": round(memory()["peak"] * 2**20),
        "rate": report.rates.total,
        "passages": len(report.passages),
        "sources": len(report.sources),
    }


CASES = (
    Case("passages", "Planted passages, and unrelated texts", passages, show_passages),
    Case("subjects", "Passages of texts on one subject, read", subjects, show_subjects),
    Case("thesis", "A thesis against 10,000 documents", thesis, show_thesis),
)

if __name__ == "__main__":
    print(json.dumps(one_run()))
