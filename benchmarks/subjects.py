"""Passages that `check` reports of unrelated texts on one subject.

Pairs of news on one subject are checked against each other, and single texts against a library of
all texts on their subject. A person has read every reported passage. The classes are in
readings/passages.tsv, which has ids, places and lengths but no text. With `--unread` the passages
that nobody has read are printed with both texts.
"""

import argparse
import hashlib
import json
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from accuracy_collections import MissingError, read
from accuracy_readings import classified
from neardup.papers import open_library
from neardup.papers.check import Checking
from neardup.papers.limits import ReportLimits
from neardup.readers.files import FileText
from tables import table

HERE = Path(__file__).resolve().parent
READINGS = HERE / "readings" / "passages.tsv"
RESULT = HERE / "results" / "subjects.json"
SEED = 20261123

#: The classes of a passage. To report one of the first three is not an error.
COPY, QUOTATION, FURNITURE, PHRASE, NOTHING = CLASSES = (
    "copy",
    "quotation",
    "furniture",
    "set phrase",
    "nothing",
)

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


def main(arguments=None):
    """Measure, print, and return the exit code."""
    options = parser().parse_args(arguments)
    try:
        groups = {name: subjects(name, options.seed) for name in PAIRS}
    except MissingError as error:
        print(f"subjects: {error}", file=sys.stderr)
        return 2
    texts = {
        record["id"]: record["text"]
        for of_one in groups.values()
        for records in of_one.values()
        for record in records
    }
    found = [*in_pairs(groups, options.seed), *in_libraries(groups, options.seed)]
    known = readings()
    if options.unread:
        for one in found:
            if one.key not in known:
                show(one, texts)
        return 0
    rows, result = [], {}
    for against in ("pair", "library"):
        for name in groups:
            of_one = [one for one in found if (one.collection, one.against) == (name, against)]
            counts = Counter(known.get(one.key, "not read") for one in of_one)
            texts_with = len({(one.paper, against == "pair" and one.source) for one in of_one})
            size = (PAIRS if against == "pair" else PAPERS)[name]
            result[f"{name}, {against}"] = {"of": size, "with": texts_with, **counts}
            rows.append(
                [name, against, size, texts_with, *(counts[c] for c in (*CLASSES, "not read"))]
            )
    heading = ["collection", "against", "read", "with a passage", *CLASSES, "not read"]
    print(table(heading, [list(map(str, row)) for row in rows]))
    if options.seed == SEED:
        RESULT.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    return 0


def parser():
    """Return the parser of the arguments."""
    found = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    found.add_argument("--seed", type=int, default=SEED, help="another sample of pairs")
    found.add_argument(
        "--unread", action="store_true", help="print the passages that nobody has read"
    )
    return found


def digest(seed, *parts):
    """Return a digest; sorting by it gives the same sample everywhere."""
    return hashlib.blake2b("\n".join([str(seed), *parts]).encode(), digest_size=8).digest()


def subjects(name, seed=SEED):
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
            key=lambda record: digest(seed, record["id"]),
        )[:LARGEST]
        for subject, records in found.items()
    }
    return {subject: records for subject, records in fitting.items() if len(records) >= 50}


def in_pairs(groups, seed=SEED):
    """Yield the passages reported of pairs of texts on one subject."""
    for name, of_subject in groups.items():
        pairs = [
            (digest(seed, a["id"], b["id"]), a, b)
            for records in of_subject.values()
            # Texts are sorted by digest, so the first ones are a random sample.
            for a, b in combinations(records[:60], 2)
        ]
        pairs.sort(key=lambda pair: pair[0])
        for _, a, b in pairs[: PAIRS[name]]:
            yield from reported(name, "pair", [b], [a])


def in_libraries(groups, seed=SEED):
    """Yield the passages reported of texts against a library.

    The library has all texts on the same subject.
    """
    for name, of_subject in groups.items():
        papers = sorted(
            (digest(seed, "paper", record["id"]), subject, at)
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


def readings():
    """Return the class of each passage that was read."""
    return {
        (line["paper"], line["source"], int(line["begin"]), int(line["end"])): line["class"]
        for line in classified(READINGS, CLASSES)
    }


def show(one, texts):
    """Print a passage as a line of the readings, with its class left open.

    Both texts follow.
    """
    print(*(one.paper, one.source, one.begin, one.end, one.characters), "?", sep="\t")
    places = ((one.paper, one.begin, one.end), (one.source, one.source_begin, one.source_end))
    for name, begin, end in places:
        text = texts[name]
        before, after = text[max(begin - CONTEXT, 0) : begin], text[end : end + CONTEXT]
        print("   ", " ".join(f"{before}【{text[begin:end]}】{after}".split()))


if __name__ == "__main__":
    sys.exit(main())
