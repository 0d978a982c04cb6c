"""How well `general`, and the measures of other recipes, agree with people on labelled pairs.

Usage: python benchmarks/labelled_pairs.py

The pairs are of news, notices and laws, in three sets: pairs beside the repository, each read
twice; older pairs of Chinese news, read once; and `readings/pairs.tsv`, read once to fit the
factors of content(k). The last set is drawn evenly over resemblances from .2 to 1. A pair
labelled *same* is a duplicate; *form*, *event* and *different* are not.

F1 leaves out versions, disputed pairs, and pairs whose reader was unsure. For versions, the share
that is called duplicates is printed. Document frequencies are counted in the whole collection.

The program takes a minute on two cores and 2 GB. Exit codes: 0 done; 2 if the corpora are
missing.
"""

import sys
from itertools import product
from pathlib import Path

import numpy as np
import pyarrow as pa

from accuracy_collections import SHINGLE, WORKERS, MissingError, read, rows
from neardup import _core
from neardup.lab.metrics import bootstrap_interval, f1_of_sums
from neardup.lab.thresholds import sweep
from neardup.recipe import load_recipe
from neardup.recipe.assets import compiled
from tables import interval, table

READINGS = Path(__file__).resolve().parent / "readings" / "pairs.tsv"
#: Collections with spaces between words.
ENGLISH = ("bbc_en", "reuters_en")
#: Recipes whose measures are compared, and what a measure found in a pair.
MEASURES = {
    "general": lambda one: one["similarity"],
    "containment": lambda one: one["containment"]["similarity"],
    "aligned": lambda one: one["aligned"]["similarity"],
}
#: Factors of the number penalty and thresholds that are tried on unseen collections.
LONG, FACTORS, BOUNDS = (200, 300, 400, 600), (2, 3, 4), (0.4, 0.45, 0.5, 0.55)
TWICE = ("bbc_en", "bulletins", "chinanews", "laws", "reuters_en")


def labels():
    """Yield (collection, id, id, class, source) of each pair.

    The class is same, version or other.
    """
    named = {"near-duplicate": "same", "version": "version", "different": "other"}
    for name in TWICE:
        for row in rows(f"labelled_pairs/{name}.tsv"):
            if row["label"] in named:
                yield name, row["id_a"], row["id_b"], named[row["label"]], "read twice"
    first = {d["text"]: d["id"] for d in reversed(list(read("chinanews.jsonl.zst")))}
    at = {d["id"]: first[d["text"]] for d in read("labelled_pairs_zh/docs.jsonl.zst")}
    for row in rows("labelled_pairs_zh/pairs.tsv"):
        is_same = row["label"] == "near-duplicate"
        if is_same or row["confidence"] == "high":
            kind = "same" if is_same else "other"
            yield "chinanews", at[row["id_a"]], at[row["id_b"]], kind, "older"
    for line in READINGS.read_text("utf-8").splitlines()[1:]:
        name, a, b, kind, _, sure = line.split("\t")
        kind = kind if kind in ("same", "version") else "other"
        if sure == "high" or kind == "version":
            yield name, a, b, kind, "read once"


def evidence(pairs):
    """Return what `general` finds out about each pair."""
    general = load_recipe("general")
    found = {}
    for name in sorted({pair[0] for pair in pairs}):
        documents = list(read(f"{name}.jsonl.zst"))
        place = {d["id"]: at for at, d in enumerate(documents)}
        corpus = _core.Corpus(compiled(general), keeps_texts=True, shingle=SHINGLE, workers=WORKERS)
        texts = pa.array([d["text"] for d in documents], pa.large_string())
        corpus.push(texts, titles=None, units=None)
        corpus.finish()
        for _, a, b, *_ in (pair for pair in pairs if pair[0] == name):
            one = _core.judge(corpus, place[a], place[b], measure="content", shingle=SHINGLE)
            found[name, a, b] = one
    return [found[pair[:3]] for pair in pairs]


def similarity(one, long, factor):
    """Return the content of a pair if numbers had other factors than the built-in ones."""
    side = one["aligned"]
    if one["short"] or not side["replaced"]:
        return one["similarity"]
    resemblance = (one["weighed"] or one)["resemblance"]
    weight = min(1, long / min(side["units_a"], side["units_b"]))
    edited = side["edited"] / (side["edited"] + side["equal"])
    beyond = side["replaced"] / (side["replaced"] + side["agree"]) - edited
    return max(0.0, resemblance - weight * min(1, factor * max(0, beyond)))


def fitted_elsewhere(found, is_same, names):
    """Return the verdicts on each collection with factors and bound fitted to all others."""
    tried = {
        setting: np.array([similarity(one, *setting) for one in found])
        for setting in product(LONG, FACTORS)
    }
    called = np.zeros(len(found), bool)
    for name in np.unique(names):
        others = names != name
        setting, bound = max(
            product(tried, BOUNDS),
            key=lambda one: f1(tried[one[0]][others] >= one[1], is_same[others]),
        )
        called[~others] = tried[setting][~others] >= bound
    return called


def of_measures(found, is_same, english):
    """Return the table of all measures: F1 at the recipe's threshold and at the best one."""
    lines = []
    for recipe, measure in MEASURES.items():
        threshold = load_recipe(recipe).decide.threshold
        values = np.array([measure(one) for one in found])
        cells = []
        for chosen in (np.ones_like(english), ~english, english):
            best = sweep(values[chosen], is_same[chosen])
            cells.append(f"{f1(values[chosen] >= threshold, is_same[chosen]):.3f}")
            cells.append(f"{best.best.f1:.3f} at {best.cut_off:g}")
        lines.append([recipe, f"{threshold:g}", *cells])
    groups = ("all", "Chinese", "English")
    heading = [f"{group}: {what}" for group in groups for what in ("F1", "best")]
    return table(["recipe", "threshold", *heading], lines)


def f1(called, is_same):
    """Return F1 of verdicts."""
    return float(f1_of_sums(counts_of(called, is_same).sum(axis=0, dtype=float)))


def counts_of(called, is_same):
    """Return for each pair whether it is found, wrong, or missed."""
    return np.column_stack([called & is_same, called & ~is_same, ~called & is_same])


def measure():
    """Return the section of the page."""
    pairs = list(labels())
    evident = evidence(pairs)
    threshold = load_recipe("general").decide.threshold
    called = np.array([one["similarity"] >= threshold for one in evident])
    kinds, names, sources = (np.array([pair[at] for pair in pairs]) for at in (3, 0, 4))
    decided = kinds != "version"
    english = np.isin(names, ENGLISH)
    groups = {"all": decided, "Chinese": ~english, "English": english}
    groups |= {source: sources == source for source in dict.fromkeys(sources)}
    groups |= {name: names == name for name in dict.fromkeys(names)}
    lines = []
    for group, chosen in groups.items():
        chosen = chosen & decided
        counts = counts_of(called[chosen], kinds[chosen] == "same")
        found, wrong, missed = counts.sum(axis=0)
        score, bounds = "–", "–"
        if found + missed:
            score = f"{2 * found / (2 * found + wrong + missed):.3f}"
            bounds = interval(bootstrap_interval(counts, f1_of_sums))
        lines.append([group, str(chosen.sum()), str(found), str(wrong), str(missed), score, bounds])
    some = [one for one, is_decided in zip(evident, decided, strict=True) if is_decided]
    is_same, english = kinds[decided] == "same", english[decided]
    unseen = fitted_elsewhere(some, is_same, names[decided])
    of_all, chinese, of_english = (
        f"{f1(unseen[part], is_same[part]):.3f}"
        for part in (np.ones_like(english), ~english, english)
    )
    return f"""\
## 3. Pairs that people labelled

{decided.sum()} pairs of news, notices and laws, drawn over all similarities. Only the label
*same* means duplicate; two texts from one template, about one event, or different ones do not. The
default calls duplicates:

{table(["pairs", "number", "found", "wrong", "missed", "F1", "95 %"], lines)}

Of {(~decided).sum()} pairs of versions, which are left out, {called[~decided].mean():.0%} are
called duplicates. With the factors of the number penalty and the threshold fitted to all
collections but one, and evaluated on that one, F1 is {of_all}: Chinese {chinese}, English
{of_english}.

The same pairs by the measures of other recipes, at their own threshold and at the best one in
hindsight:

{of_measures(some, is_same, english)}
"""


def main():
    """Print the section and return the exit code."""
    try:
        print(measure())
    except MissingError as error:
        print(f"labelled_pairs: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
