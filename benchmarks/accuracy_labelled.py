"""Labelled pairs: how well each measure separates near-duplicates."""

import numpy as np

from accuracy_collections import SHINGLE, WORKERS, path_of, read, rows
from neardup.lab.datasets.collection import Documents, read_documents
from neardup.lab.experiments.labelled_pairs.measures import Measured, PairJudge, Pairs, measure_all
from neardup.lab.metrics import bootstrap_interval, f1_of_sums
from neardup.lab.thresholds import sweep
from neardup.recipe import load_recipe
from tables import interval, table

CONTENT, RESEMBLANCE = f"content({SHINGLE})", f"resemblance({SHINGLE})"
#: Recipes that decide by a measure of texts, or count words in the whole collection.
_OF_THE_COLLECTION = ("general", "shingle", "improved", "keywords")
#: Recipes that sketch each text by itself.
_OF_ONE_TEXT = ("minhash", "shingle-sample", "characters", "classic", "news")


def measure():
    """Return every measure with its figures on the labelled pairs."""
    documents, _ = read_documents([path_of("chinanews.jsonl.zst")])
    place = {text: at for at, text in reversed(list(enumerate(documents.texts)))}
    # The labelled documents are also in the news, under other ids.
    at = {d["id"]: place[d["text"]] for d in read("labelled_pairs_zh/docs.jsonl.zst")}
    labels = rows("labelled_pairs_zh/pairs.tsv")
    a, b = (np.array([at[row[key]] for row in labels], np.int64) for key in ("id_a", "id_b"))
    pairs = Pairs(documents, a, b)
    is_true = np.array([row["label"] == "near-duplicate" for row in labels])
    sure = np.array([row["confidence"] == "high" for row in labels])
    measured, evidence = _measured(pairs, _OF_THE_COLLECTION)
    measured += _sketches_of_one_text(pairs)
    measured += _parts(measured, evidence)
    results = [_result(one, is_true, sure) for one in measured]
    results.sort(key=lambda r: -r["left_out"])
    return {
        "pairs": len(labels),
        "true": int(is_true.sum()),
        "sure": int(sure.sum()),
        "sure_true": int((sure & is_true).sum()),
        "documents": len(documents),
        "results": {r["name"]: r for r in results},
    }


def _measured(pairs, recipes):
    """Return the measures of the recipes, and the evidence of the default."""
    default = load_recipe()
    judge = PairJudge(pairs.documents, default, workers=WORKERS)
    evidence = judge.evidence(pairs, default)
    return measure_all(pairs, recipes, judge, evidence, workers=WORKERS), evidence


def _sketches_of_one_text(pairs):
    """Return the measures of recipes that sketch each text by itself."""
    places, compared = pairs.compared()
    whole = pairs.documents
    some = Documents(
        tuple(whole.ids[at] for at in places),
        tuple(whole.titles[at] for at in places),
        tuple(whole.texts[at] for at in places),
    )
    few = Pairs(some, *np.array(compared, np.int64).T)
    return [m for m in _measured(few, _OF_ONE_TEXT)[0] if m.kind == "sketch"]


def _parts(measured, evidence):
    """Return what numbers take alone, and resemblance with it."""
    found = [one.comparison for one in evidence]
    penalty = np.array([one.number_penalty for one in found])
    resemblance = next(m.values for m in measured if m.name == RESEMBLANCE)
    return [
        Measured("numbers alone", "text", False, 1 - penalty, ()),
        Measured(
            "resemblance with numbers", "text", False, np.maximum(resemblance - penalty, 0), ()
        ),
    ]


def _result(one, is_true, sure):
    whole = sweep(one.values, is_true, by_distance=one.by_distance)
    some = sweep(one.values[sure], is_true[sure], by_distance=one.by_distance)
    own = one.own_cut_off
    result = {
        "name": one.name,
        "cut": one.bound(whole.cut_off),
        "best": whole.best.f1,
        "left_out": whole.left_out.f1,
        "left_out_interval": whole.left_out_interval,
        "sure_cut": one.bound(some.cut_off),
        "sure_best": some.best.f1,
        "sure_left_out": some.left_out.f1,
        "own": "" if own is None else one.bound(own),
        "own_f1": None,
    }
    if own is not None:
        taken = one.passes(own)
        result |= _at_own(taken, is_true) | {"own_sure": _at_own(taken[sure], is_true[sure])}
    return result


def _at_own(taken, is_true):
    columns = np.column_stack([taken & is_true, taken & ~is_true, ~taken & is_true])
    tp, fp, fn = (int(n) for n in columns.sum(axis=0))
    return {
        "own_f1": 2 * tp / (2 * tp + fp + fn),
        "own_interval": bootstrap_interval(columns, f1_of_sums),
        "own_counts": (tp, fp, fn),
    }


def page(found):
    """Return the section."""
    results = found["results"]
    lines = []
    for r in results.values():
        own = [r["own"], "", ""]
        if r["own_f1"] is not None:
            own = [r["own"], f"{r['own_f1']:.2f}", interval(r["own_interval"])]
        lines.append(
            [
                r["name"],
                r["cut"],
                f"{r['best']:.2f}",
                f"{r['left_out']:.2f}",
                interval(r["left_out_interval"]),
                *own,
                f"{r['sure_best']:.2f}",
                f"{r['sure_left_out']:.2f}",
            ]
        )
    heading = [
        "measure",
        "best cut",
        "F1 there",
        "F1, each left out",
        "95 %",
        "own cut",
        "F1 there",
        "95 %",
        "sure: best F1",
        "each left out",
    ]
    content, resemblance = results[CONTENT], results[RESEMBLANCE]
    tp, fp, fn = content["own_counts"]
    sure_tp, sure_fp, sure_fn = content["own_sure"]["own_counts"]
    return f"""\
### Every measure on one set of labels

{found["pairs"]} pairs of news items read and labelled by one reader, {found["true"]} of them
near-duplicates; the rest are texts on the same event, or different ones. {found["sure"]} labels
are sure ({found["sure_true"]} near-duplicates). What is common is counted in the
{found["documents"]:,} news items that the pairs are from. A recipe in the list is the distance
or similarity of its sketches; those that verify decide by resemblance or content.

{table(heading, lines)}

The best single cut of resemblance is {resemblance["cut"]}, with an F1 of
{resemblance["best"]:.2f}; left out, {resemblance["left_out"]:.2f}. Content at its default
{content["own"]} has {content["own_f1"]:.2f}: {tp} found, {fp} wrong, {fn} missed; on the sure
pairs {content["own_sure"]["own_f1"]:.2f}: {sure_tp} found, {sure_fp} wrong, {sure_fn} missed.
The intervals are wide: {found["true"]} near-duplicates cannot tell measures apart that differ
by less than a tenth.
"""
