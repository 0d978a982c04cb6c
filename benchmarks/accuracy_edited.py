"""Edited copies: the recall of each recipe at each rate of edits."""

import hashlib

import pyarrow as pa

import neardup
from accuracy_collections import SHARED, WORKERS, MissingError, collection
from neardup.lab import EditModel
from neardup.lab.datasets.collection import read_collection
from neardup.lab.datasets.split import make_split
from neardup.lab.experiments.zhang_he_2020.methods import METHODS, Method, find
from neardup.lab.experiments.zhang_he_2020.results import Scorer
from tables import percent, table

RATES = (0.02, 0.05, 0.10, 0.15, 0.20, 0.30)
#: The rate that the summary shows.
USUAL = 0.10
#: The recipe of the published experiment that the lab leaves out of its comparison.
NEWS = Method("news", "news", "max_distance", (3,))
RECIPES = ("general", *(m.name for m in METHODS if m.name != "general"), "news")

#: English: the number of documents copied, their minimum length, the recipes and the rates.
_COPIES, _LEAST = 1000, 300
_ENGLISH = ("general", "minhash", "characters")
_ENGLISH_RATES = (0.05, 0.10, 0.20)


def measure():
    """Return the tallies by recipe and rate, and recall on English copies."""
    folder = SHARED / "topics_zh"
    if not folder.is_dir():
        raise MissingError(f"{folder.name}: is missing.")
    split = make_split(read_collection(folder), "test")
    methods = {method.name: method for method in (*METHODS, NEWS)}
    scorer, tallies = None, {}
    for rate in RATES:
        documents = split.table("edits", rate)
        if scorer is None:
            # It depends on the unedited documents only, so it is the same at all rates.
            scorer = Scorer(split, documents, workers=WORKERS)
        for name in RECIPES:
            method = methods[name]
            found = find(method, documents, method.default, workers=WORKERS)
            tallies[name, rate] = scorer.tallies(found)[-1]
    return {
        "documents": len(split.base),
        "copies": scorer.true_pairs,
        "natural": len(scorer.natural),
        "tallies": tallies,
        "english": {rate: _english(rate) for rate in _ENGLISH_RATES},
    }


def _english(rate):
    """Return the recall of each recipe on edited copies of Reuters texts.

    Also return how many copies the default misses, and how many of these it misses only because
    of numbers.
    """
    reuters = collection("reuters")
    documents = [d for d in reuters.documents if len(d["text"]) >= _LEAST]
    documents.sort(key=lambda d: hashlib.blake2b(d["id"].encode(), digest_size=8).digest())
    chosen, donors = documents[:_COPIES], documents[_COPIES : 2 * _COPIES]
    edits = EditModel([d["text"] for d in donors], rate=rate)
    texts = [d["text"] for d in reuters.documents]
    ids = [d["id"] for d in reuters.documents]
    ids += [f"copy of {d['id']}" for d in chosen]
    copies = [edits.copy(d["text"], d["id"]).text for d in chosen]
    texts += copies
    wanted = {
        (d["id"], f"copy of {d['id']}"): (d["text"], copy)
        for d, copy in zip(chosen, copies, strict=True)
    }
    recalls = {}
    for name in _ENGLISH:
        found = neardup.pairs(pa.table({"id": ids, "text": texts}), recipe=name, workers=WORKERS)
        pairs = zip(found.table["id_a"].to_pylist(), found.table["id_b"].to_pylist(), strict=True)
        missed = wanted.keys() - set(pairs)
        recalls[name] = 1 - len(missed) / len(wanted)
        if name == "general":
            by_numbers = sum(_numbers_alone(*wanted[pair]) for pair in missed)
            counts = {"missed": len(missed), "by numbers": by_numbers}
    return recalls | counts


def _numbers_alone(a, b):
    """Return whether only numbers keep two texts from being duplicates."""
    found = neardup.compare(a, b)
    threshold = neardup.load_recipe().decide.threshold
    return not found.duplicate and found.similarity + found.number_penalty >= threshold


def page(found):
    """Return the section."""
    heading = ["recipe", *(percent(rate) for rate in RATES)]
    tallies = found["tallies"]

    def rows(read):
        return [[f"`{name}`", *(read(tallies[name, rate]) for rate in RATES)] for name in RECIPES]

    english = [
        [f"`{name}`", *(f"{found['english'][rate][name]:.3f}" for rate in _ENGLISH_RATES)]
        for name in _ENGLISH
    ]
    missed = found["english"][USUAL]
    lost = tallies["general", RATES[-1]].scores.recall
    return f"""\
## 2. Edited copies at each rate

{found["documents"]:,} Chinese articles, {found["copies"]:,} of them edited copies of others:
sentences, words and characters inserted, dropped, replaced and moved until so many characters
are touched. Every recipe decides by itself.

**Recall.**

{table(heading, rows(lambda t: f"{t.scores.recall:.3f}"))}

**Precision / strict precision.** Pairs of untouched documents that repeat each other by
themselves, {found["natural"]:,} with a resemblance of at least .5, count neither way; strictly,
they count as wrong.

{table(heading, rows(lambda t: f"{t.scores.precision:.3f} / {t.strict_precision:.3f}"))}

**English: recall** of {_COPIES:,} edited copies among the Reuters texts.

{table(["recipe", *(percent(rate) for rate in _ENGLISH_RATES)], english)}

Edits scattered over a text cut many shingles each: at 30 % `general` finds {percent(lost)} of
the Chinese copies. Chinese copies are found down to a content of .45, where resemblance at .55
has long given up. In English, {missed["by numbers"]} of the {missed["missed"]} copies that
`general` misses at {percent(USUAL)} are refused for their numbers alone, which edits have changed
or dropped; `minhash` and `characters` do not look at numbers.
"""


def summary(found, name):
    """Return recall and strict precision of a recipe at the usual rate."""
    tally = found["tallies"][name, USUAL]
    return f"{tally.scores.recall:.3f} / {tally.strict_precision:.3f}"
