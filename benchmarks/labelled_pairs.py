"""How well `general` agrees with people on labelled pairs.

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
from pathlib import Path

import numpy as np
import pyarrow as pa

from accuracy_collections import SHINGLE, WORKERS, MissingError, read, rows
from neardup import _core
from neardup.lab.metrics import bootstrap_interval, f1_of_sums
from neardup.recipe import load_recipe
from neardup.recipe.assets import compiled
from tables import interval, table

READINGS = Path(__file__).resolve().parent / "readings" / "pairs.tsv"
#: Collections with spaces between words.
ENGLISH = ("bbc_en", "reuters_en")
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


def verdicts(pairs):
    """Return for each pair whether `general` calls it duplicates."""
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
            found[name, a, b] = one["similarity"] >= general.decide.threshold
    return np.array([found[pair[:3]] for pair in pairs])


def main():
    """Print the table and return the exit code."""
    try:
        pairs = list(labels())
    except MissingError as error:
        print(f"labelled_pairs: {error}", file=sys.stderr)
        return 2
    called = verdicts(pairs)
    kinds, names, sources = (np.array([pair[at] for pair in pairs]) for at in (3, 0, 4))
    decided = kinds != "version"
    english = np.isin(names, ENGLISH)
    groups = {"all": decided, "Chinese": ~english, "English": english}
    groups |= {source: sources == source for source in dict.fromkeys(sources)}
    groups |= {name: names == name for name in dict.fromkeys(names)}
    lines = []
    for group, chosen in groups.items():
        chosen = chosen & decided
        is_same, hit = kinds[chosen] == "same", called[chosen]
        counts = np.column_stack([hit & is_same, hit & ~is_same, ~hit & is_same])
        found, wrong, missed = counts.sum(axis=0)
        f1, bounds = "–", "–"
        if is_same.any():
            f1 = f"{2 * found / (2 * found + wrong + missed):.3f}"
            bounds = interval(bootstrap_interval(counts, f1_of_sums))
        lines.append([group, str(chosen.sum()), str(found), str(wrong), str(missed), f1, bounds])
    print(table(["pairs", "number", "found", "wrong", "missed", "F1", "95 %"], lines))
    print(f"\nOf {(~decided).sum()} versions, {called[~decided].mean():.0%} are called duplicates.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
