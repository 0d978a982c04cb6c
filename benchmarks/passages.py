"""Recall of planted passages, and passages reported without a copy.

Prints tables and writes results/passages.json. It needs the corpora beside the repository.
"""

import random
import sys
import time
from dataclasses import asdict

import machine
import neardup
import results
from accuracy_collections import MissingError, read
from neardup.lab import Case, passage_scores, plant
from neardup.papers.align import align
from tables import percent, table

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


def main():
    """Measure, print, and return the exit code."""
    try:
        news, laws = read("chinanews.jsonl.zst"), read("laws.jsonl.zst")
    except MissingError as error:
        print(f"passages: {error}", file=sys.stderr)
        return 2
    begun = time.perf_counter()
    inputs = collections(news, laws)
    result = {"machine": machine.facts(), "seed": SEED, "planted": {}}
    lines = []
    for name, kind, rate in KINDS:
        result["planted"][name] = planted(inputs, kind, rate)
        lines.append(line(name, result["planted"][name]))
    heading = "kind, PlagDet, precision, recall, granularity, cases found, rate error, Mchar/s"
    print(table(heading.split(", "), lines), end="\n\n")

    texts = [record["text"] for record in news if len(record["text"]) >= LEAST]
    result["unrelated"] = of_nothing([texts])
    print("Unrelated:", say_of_nothing(result["unrelated"]), end="\n\n")
    result["of_one_day"] = of_nothing(of_one_day(news))
    print("Of one day and channel:", say_of_nothing(result["of_one_day"]), end="\n\n")
    result["seconds"] = round(time.perf_counter() - begun, 1)
    results.store("passages", result)
    return 0


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
    found, true, errors = [], [], []
    seconds, size = 0.0, 0
    for hosts, sources in inputs:
        for paper in plant(hosts, sources, kind=kind, rate=rate, seed=SEED):
            reported = []
            for name in dict.fromkeys(case.source for case in paper.cases):
                begun = time.perf_counter()
                passages = align(paper.text, sources[name])
                seconds += time.perf_counter() - begun
                size += len(paper.text) + len(sources[name])
                reported += [of_passage(paper.document, name, passage) for passage in passages]
            found += reported
            true += paper.cases
            errors.append(abs(share_of(paper.text, reported) - share_of(paper.text, paper.cases)))
    scores = passage_scores(found, true)
    return {
        "papers": len(errors),
        **asdict(scores),
        "plagdet": scores.plagdet,
        "rate_error": sum(errors) / len(errors),
        "characters_a_second": round(size / seconds),
    }


def of_passage(document, source, passage):
    """Return a reported passage as a detection."""
    return Case(
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


def line(name, figures):
    """Return the table row of one kind."""
    keys = ("plagdet", "precision", "recall", "granularity")
    return [
        name,
        *(digits(figures[key]) for key in keys),
        f"{figures['detected']} / {figures['cases']}",
        digits(figures["rate_error"]),
        f"{figures['characters_a_second'] / 1e6:.1f}",
    ]


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


def digits(value):
    """Return a share with three decimals."""
    return f"{value:.3f}"


if __name__ == "__main__":
    sys.exit(main())
