"""The paper check: its findings, its false findings, and its speed.

*passages*: passages of news and laws are planted in others, so the truth is exact. *thesis*: the
check of a hundred pages against ten thousand documents.
"""

import random
import shutil

import neardup
from corpora import WORK, read
from harness import PRODUCT, Engine, Measurement, Work, WrongAnswerError
from neardup.papers import open_library
from neardup.papers.alignment import align
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
    text = f"""300 passages of each kind, planted in 100 papers, with the figures of the PAN
    competitions ([bibliography](bibliography.md)).

- Pairs of unrelated news: {say_of_nothing(result["unrelated"])}
- Pairs of one day and channel: {say_of_nothing(result["of_one_day"])}"""
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
        f"a passage is reported in {found['with_any']} of {found['pairs']} pairs, and "
        f"{percent(MOST_OF_NOTHING)} of a text or more in {found['above']}."
    )


#: The number of documents of each collection in the library.
NEWS, LAWS = 7000, 3000
#: Characters of the thesis, about a hundred pages, and of each planted passage.
THESIS, COPIED = 100_000, 400
#: The share of the thesis that is copied is between these.
COPIED_SHARE = (0.15, 0.25)
INPUTS = WORK / "thesis"


def thesis(trial):
    """Return the path of a thesis; make it, and the sketched index that it is checked against."""
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
    path = INPUTS / "thesis.txt"
    path.write_text("\n\n".join(parts), "utf-8")
    # An index has files and a folder next to it.
    for old in INPUTS.glob("library.db*"):
        shutil.rmtree(old) if old.is_dir() else old.unlink()
    records = [{"id": one["id"], "title": one.get("title"), "text": one["text"]} for one in library]
    with neardup.Index(INPUTS / "library.db") as index:
        index.add_many(records)
    # When it is opened for the first time, the library is sketched.
    open_library(INPUTS / "library.db").close()
    return path


def judge_thesis(answer, engine, path):
    """Return the number of passages; a check must find the planted share of the thesis."""
    if not COPIED_SHARE[0] <= answer["rate"] <= COPIED_SHARE[1]:
        raise WrongAnswerError(f"{float(answer['rate']):.1%} of the thesis reported")
    return {"answer": "passages", "found": int(answer["passages"])}


BENCHMARKS = (
    Measurement("passages", "Planted passages, and unrelated texts", passages, show_passages),
    Work(
        name="thesis",
        title="A thesis against 10,000 documents",
        prepare=thesis,
        judge=judge_thesis,
        notes=f"A fifth of the {THESIS:,} characters is copied, in passages of {COPIED}. neardup "
        f"opens an index of {NEWS + LAWS:,} sketched documents, checks, and makes the page.",
        engines=(Engine("neardup", PRODUCT, "check_file"),),
    ),
)
