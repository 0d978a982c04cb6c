"""Pairs that people labelled: how well `general`, and each measure, agrees with them.

The pairs are of news, notices and laws, in three sets: pairs beside the repository, each read
twice; older pairs of Chinese news, read once; and `readings/pairs.tsv`, read once to fit the
factors of content(k). The last set is drawn evenly over resemblances from .2 to 1. A pair
labelled *same* is a duplicate; *form*, *event* and *different* are not.

F1 leaves out versions, disputed pairs, and pairs whose reader was unsure. For versions, the share
that is called duplicates is shown. Document frequencies are counted in the whole collection.
"""

from itertools import product

import numpy as np

from corpora import path_of, read, rows
from neardup.lab.datasets.collection import read_documents
from neardup.lab.experiments.labelled_pairs.measures import PairJudge, Pairs, measure_all
from neardup.lab.experiments.labelled_pairs.settings import ranked
from neardup.lab.metrics import accuracy, count_scores
from neardup.lab.thresholds import sweep
from neardup.recipe import load_recipe
from readings import FOLDER, SHINGLE, WORKERS, Collection
from tables import interval, table

READINGS = FOLDER / "pairs.tsv"
#: The threshold of the default recipe.
BOUND = 0.45
#: Collections with spaces between words.
ENGLISH = ("bbc_en", "reuters_en")
#: Recipes whose measures are compared, and what a measure found in a pair.
MEASURES = {
    "general": lambda one: one["similarity"],
    "containment": lambda one: one["containment"]["similarity"],
    "aligned": lambda one: one["aligned"]["similarity"],
}
#: Constants of content(k) that are tried on unseen collections: letters for which a number speaks,
#: and what resemblance and alignment must have together, without spaces and with them.
REACHES, NEEDED = (100, 150, 200, 300), (1.06, 1.08, 1.1, 1.12, 1.14)
NEEDED_SPACED = (1.12, 1.14, 1.16, 1.18)
#: Pairs that people judged, and the least grade that means *same*.
JUDGED = {"webis_en": 1, "bills_en": 3}
TWICE = ("bbc_en", "bulletins", "chinanews", "laws", "reuters_en")

CONTENT, RESEMBLANCE = f"content({SHINGLE})", f"resemblance({SHINGLE})"
#: The recipes whose measures are compared on one set of labels.
RECIPES = (
    *("general", "shingle", "improved", "keywords", "minhash", "shingle-sample"),
    *("characters", "classic", "news"),
)


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


def judged():
    """Yield (collection, id, id, class, source) of each pair of web pages or sections of bills."""
    for name, least in JUDGED.items():
        for row in rows(f"judged/{name}.tsv"):
            is_same = int(row["grade"]) >= least
            yield name, row["id_a"], row["id_b"], "same" if is_same else "other", "judged"


def evidence(pairs):
    """Return what `general` finds out about each pair."""
    found = {}
    for name in sorted({pair[0] for pair in pairs}):
        folder = "judged/" if name in JUDGED else ""
        whole = Collection(name, tuple(read(f"{folder}{name}.jsonl.zst")), is_markup=False)
        found |= {pair[:3]: whole.evidence(pair[1:3]) for pair in pairs if pair[0] == name}
    return [found[pair[:3]] for pair in pairs]


def verdict(pair, reach, needed, needed_spaced):
    """Return whether a pair were a duplicate if content had other constants."""
    if pair["short"]:
        return pair["similarity"] >= BOUND
    aligned, resemblance = pair["aligned"], (pair["weighed"] or pair)["resemblance"]
    numbers = 0
    if replaced := aligned["replaced"]:
        edited = aligned["edited"] / (aligned["edited"] + aligned["equal"])
        beyond = replaced / (replaced + aligned["agree"]) - edited
        numbers = min(reach * min(replaced, 3) / aligned["letters"], 6 * max(0, beyond))
    least = needed_spaced if aligned["spaced"] else needed
    return resemblance >= BOUND and resemblance + pair["alignment"] - numbers >= least


def fitted_elsewhere(evident, is_same, names):
    """Return the verdicts on each collection with the constants fitted to all others."""
    tried = {
        setting: np.array([verdict(pair, *setting) for pair in evident])
        for setting in product(REACHES, NEEDED, NEEDED_SPACED)
    }
    called = np.zeros(len(evident), bool)
    for name in np.unique(names):
        others = names != name

        def f1(setting, others=others):
            return count_scores(tried[setting][others], is_same[others]).f1

        called[~others] = tried[max(tried, key=f1)][~others]
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
            cells.append(f"{count_scores(values[chosen] >= threshold, is_same[chosen]).f1:.3f}")
            cells.append(f"{best.best.f1:.3f} at {best.cut_off:g}")
        lines.append([recipe, f"{threshold:g}", *cells])
    groups = ("all", "Chinese", "English")
    heading = [f"{group}: {what}" for group in groups for what in ("F1", "best")]
    return table(["recipe", "threshold", *heading], lines)


def agreement():
    """Return the section of the page."""
    pairs = [*labels(), *judged()]
    evident = evidence(pairs)
    called = np.array([one["similarity"] >= BOUND for one in evident])
    kinds, names, sources = (np.array([pair[at] for pair in pairs]) for at in (3, 0, 4))
    decided = kinds != "version"
    is_judged = np.isin(names, tuple(JUDGED))
    english = np.isin(names, ENGLISH)
    groups = {"all": ~is_judged, "Chinese": ~english & ~is_judged, "English": english}
    groups |= {source: sources == source for source in dict.fromkeys(sources)}
    groups |= {name: names == name for name in dict.fromkeys(names)}
    lines = []
    for group, chosen in groups.items():
        chosen = chosen & decided
        its = accuracy(called[chosen], kinds[chosen] == "same")
        tp, fp, fn = its.scores.tp, its.scores.fp, its.scores.fn
        shares = [f"{its.scores.f1:.3f}", interval(its.f1)] if tp + fn else ["–", "–"]
        lines.append([group, chosen.sum(), tp, fp, fn, *shares])
    some = [one for one, is_decided in zip(evident, decided, strict=True) if is_decided]
    is_same, english, is_judged = kinds[decided] == "same", english[decided], is_judged[decided]
    names = names[decided]
    unseen = fitted_elsewhere(some, is_same, names)
    parts = {
        "Chinese": ~english & ~is_judged,
        "English": english,
        **{name: names == name for name in JUDGED},
    }
    held_out = ", ".join(
        f"{name} {count_scores(unseen[part], is_same[part]).f1:.3f}" for name, part in parts.items()
    )
    strict = load_recipe("strict").decide.threshold
    of_strict = ", ".join(
        f"{name} {count_scores(similar[names == name] >= strict, is_same[names == name]).f1:.3f}"
        for similar in [np.array([one["similarity"] for one in some])]
        for name in dict.fromkeys(names)
        if is_same[names == name].any()
    )
    labelled = ~is_judged
    some = [one for one, is_labelled in zip(some, labelled, strict=True) if is_labelled]
    is_same, english = is_same[labelled], english[labelled]
    return f"""\
## 3. Pairs that people labelled

Pairs of news, notices and laws, drawn over all similarities. Only the label *same* means duplicate;
two texts from one template, about one event, or different ones do not. The last two rows are pairs
of web pages (Webis) and of sections of bills that others graded. The default calls duplicates:

{table(["pairs", "number", "found", "wrong", "missed", "F1", "95 %"], lines)}

Of {(~decided).sum()} pairs of versions, which are left out, {called[~decided].mean():.0%} are
called duplicates. With the constants of content fitted to all collections but one, and evaluated
on that one, F1 is: {held_out}.

**Where another bound is better.** Of laws and sections of bills, only nearly equal texts are
duplicates. With `--recipe strict`, the same measure from .75 on, F1 is: {of_strict}. The best
bound for your texts comes from 50 labelled pairs: `neardup evaluate pairs`.

The same pairs by the measures of other recipes, at their own threshold and at the best one in
hindsight:

{of_measures(some, is_same, english)}
"""


def measure():
    """Return every measure with its figures on one set of labels of Chinese news."""
    documents, _ = read_documents([path_of("chinanews.jsonl.zst")])
    place = {text: at for at, text in reversed(list(enumerate(documents.texts)))}
    # The labelled documents are also in the news, under other ids.
    at = {d["id"]: place[d["text"]] for d in read("labelled_pairs_zh/docs.jsonl.zst")}
    labelled = rows("labelled_pairs_zh/pairs.tsv")
    a, b = (np.array([at[row[key]] for row in labelled], np.int64) for key in ("id_a", "id_b"))
    pairs = Pairs(documents, a, b)
    is_true = np.array([row["label"] == "near-duplicate" for row in labelled])
    default = load_recipe()
    judge = PairJudge(documents, default, workers=WORKERS)
    evidence = judge.evidence(pairs, default)
    measured = measure_all(pairs, RECIPES, judge, evidence, workers=WORKERS)
    alone = np.arange(len(pairs))
    found = ranked(measured, is_true, alone, alone, 0)
    return {
        "pairs": len(labelled),
        "true": int(is_true.sum()),
        "documents": len(documents),
        "results": {one.name: one for one in found},
    }


def page(found):
    """Return the section."""
    lines = []
    for name, one in found["results"].items():
        own = one.measured.own_cut_off
        lines.append(
            [
                name,
                one.measured.bound(one.sweep.cut_off),
                f"{one.sweep.best.f1:.2f}",
                f"{one.sweep.left_out.f1:.2f}",
                interval(one.sweep.left_out_interval),
                one.measured.bound(own),
                "" if one.default is None else f"{one.default.f1:.2f}",
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
    ]
    content, resemblance = found["results"][CONTENT], found["results"][RESEMBLANCE]
    scores, bound = content.default, content.measured.bound(content.measured.own_cut_off)
    return f"""\
### Every measure on one set of labels

{found["pairs"]} pairs of news items read and labelled by one reader, {found["true"]} of them
near-duplicates; the rest are texts on the same event, or different ones. What is common is counted
in the {found["documents"]:,} news items that the pairs are from. A recipe in the list is the
distance or similarity of its sketches; recipes that verify decide by resemblance or
content.

{table(heading, lines)}

The best single cut of resemblance is {resemblance.measured.bound(resemblance.sweep.cut_off)}, with
an F1 of {resemblance.sweep.best.f1:.2f}; left out, {resemblance.sweep.left_out.f1:.2f}. Content at
its default {bound} has {scores.f1:.2f}: {scores.tp} found, {scores.fp} wrong, {scores.fn} missed.
The intervals are wide: {found["true"]} near-duplicates cannot tell measures apart that differ
by less than a tenth.
"""
