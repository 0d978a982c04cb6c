"""docs/accuracy.md: the evidence for the defaults, measured on corpora outside of the repository.

All figures are deterministic except the times of the published comparison.
"""

import hashlib
import math
import sys
import tempfile
import time
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa

import neardup
from corpora import path_of, read, rows
from harness import HERE, Measurement, machine
from neardup.base.progress import Progress
from neardup.index import NewDocument
from neardup.lab import EditModel, published
from neardup.lab.datasets.collection import Documents, read_collection
from neardup.lab.datasets.labels import Truth
from neardup.lab.experiments.labelled_pairs.cases import Cases
from neardup.lab.experiments.labelled_pairs.measures import PairJudge
from neardup.lab.experiments.zhang_he_2020.cases import make_cases
from neardup.lab.experiments.zhang_he_2020.runs import Scorer, find_pairs
from neardup.lab.scores import count_scores, estimate_f1
from neardup.recipe import load_recipe
from tables import percent, table, wrapped, write_page

PAGE = HERE.parent / "docs" / "accuracy.md"
WORKERS = 2
#: The collections of real texts: their files, and whether their texts are HTML.
COLLECTIONS = {
    "chinanews": ("chinanews", False),
    "bulletins": ("bulletins", True),
    "laws": ("laws", False),
    "reuters": ("reuters_en", False),
}
RECIPES = ("general", "classic", "keywords", "improved", "shingle-sample", "shingle")
RECIPES += ("characters", "minhash", "news")


@dataclass(frozen=True)
class Collection:
    """The documents of one collection, in file order."""

    documents: tuple
    is_markup: bool = False

    @cached_property
    def of_id(self):
        """Each document by its id."""
        return {document["id"]: document for document in self.documents}

    @cached_property
    def table(self):
        """The documents as `neardup` takes them."""
        columns = ("id", "title", "text")
        return pa.table({key: [d.get(key) for d in self.documents] for key in columns})

    def recipe(self, recipe="general", **stages):
        """Return a recipe, adapted to this collection."""
        chosen = load_recipe(recipe)
        if self.is_markup:
            chosen = chosen.replace(normalize={"strip_markup": True})
        return chosen.replace(**stages)


@cache
def collection(name):
    """Return a collection by name."""
    file, is_markup = COLLECTIONS[name]
    return Collection(tuple(read(f"{file}.jsonl.zst")), is_markup)


def similarities(documents, pairs, measures):
    """Return the similarities of some pairs of ids in a collection, by measure."""
    place_of = {document["id"]: place for place, document in enumerate(documents)}
    a, b = (np.array([place_of[id] for id in ids]) for ids in zip(*pairs, strict=True))
    of_documents = Documents.from_rows((d["id"], None, d["text"]) for d in documents)
    cases = Cases(Truth("", (), 0), of_documents, a, b)
    judge = PairJudge(cases, load_recipe(), workers=WORKERS)
    return {measure: judge.measure_similarities(measure) for measure in measures}


@cache
def pairs_of(name, recipe="general", threshold=None, measure=None, size=None):
    """Return the duplicates in a collection by a recipe: similarity by (id, id)."""
    whole = collection(name)
    stages = {"decide": {"measure": measure}} if measure else {}
    stages |= {"sketch": {"size": size}} if size else {}
    return found_pairs(whole.table, whole.recipe(recipe, **stages), threshold)


def found_pairs(documents, recipe, threshold=None):
    """Return the duplicates among documents: similarity by (id, id)."""
    result = neardup.pairs(documents, recipe=recipe, threshold=threshold, workers=WORKERS).table
    pairs = zip(result["id_a"].to_pylist(), result["id_b"].to_pylist(), strict=True)
    return dict(zip(pairs, result["similarity"].to_pylist(), strict=True))


def measure(options):
    """Write the page; it is not stored."""
    begin = time.perf_counter()
    sections = [HEAD]
    # The times of the published comparison come first, while nothing else is in memory.
    measured = {"published": published(path_of("topics_zh"), workers=WORKERS)}
    for name, section in SECTIONS.items():
        sections.append(section(measured))
        seconds = time.perf_counter() - begin
        print(f"accuracy: {name}, {seconds:.0f} s", file=sys.stderr, flush=True)
    text = wrapped("\n\n".join(section.strip("\n") for section in sections)) + "\n"
    write_page(PAGE, text, KEPT)


#: The headings whose tables stay on the page.
KEPT = {
    "1. The defaults compared": (),
    "3. Pairs that people labelled": (),
    "6. The published comparison": ("method", "cut-off", "documents by topic", "seconds"),
}

HEAD = """\
# Accuracy: the evidence for the defaults

Made by `make accuracy` from corpora outside of the repository; do not edit.
[Methods](methods.md) defines the measures.
"""

RATES = (0.02, 0.05, 0.10, 0.15, 0.20, 0.30)
#: The rate of the summary.
USUAL = 0.10
#: English: the number of documents copied, their minimum length, the recipes and the rates.
COPIES, LEAST = 1000, 300
ENGLISH_RECIPES, ENGLISH_RATES = ("general", "minhash", "characters"), (0.05, 0.10, 0.20)


@cache
def edited():
    """Return the cases of the published comparison, its natural repeats, and what is found.

    What is found are tallies of pairs, by recipe and rate.
    """
    cases, found = make_cases(read_collection(path_of("topics_zh"), Progress())), {}
    for rate in RATES:
        documents = cases.make_table("edits", rate)
        scorer = Scorer(cases, documents, workers=WORKERS)
        for name in RECIPES:
            pairs = find_pairs(load_recipe(name), documents, workers=WORKERS)
            found[name, rate] = scorer.count_pairs(pairs)[-1]
    return cases, len(scorer.natural), found


@cache
def edited_english():
    """Return by rate the recall of each recipe on edited copies of Reuters texts."""
    reuters = collection("reuters")
    long = [d for d in reuters.documents if len(d["text"]) >= LEAST]
    long.sort(key=lambda d: hashlib.blake2b(d["id"].encode(), digest_size=8).digest())
    chosen, donors = long[:COPIES], long[COPIES : 2 * COPIES]
    found = {}
    for rate in ENGLISH_RATES:
        edits = EditModel([d["text"] for d in donors], rate=rate)
        copies = {d["id"]: edits.copy(d["text"], d["id"]) for d in chosen}
        ids = [*reuters.of_id, *(f"copy of {id}" for id in copies)]
        texts = [*(d["text"] for d in reuters.documents), *copies.values()]
        documents, recalls = pa.table({"id": ids, "text": texts}), {}
        for name in ENGLISH_RECIPES:
            pairs = found_pairs(documents, load_recipe(name))
            missed = [id for id in copies if (id, f"copy of {id}") not in pairs]
            recalls[name] = 1 - len(missed) / len(copies)
        found[rate] = recalls
    return found


def defaults(measured):
    """Return the section on the defaults and their alternatives."""
    truth = {(row["id_a"], row["id_b"]) for row in rows("laws_versions.tsv")}
    labelled = [pair for pair, _ in older_labels()]
    is_same = np.array([pair.kind == "same" for pair in labelled])
    lines, names = [], {}
    for name in RECIPES:
        tally = edited()[-1][name, USUAL]
        cells = [f"**`{name}`**" if name == "general" else f"`{name}`"]
        news = pairs_of("chinanews", name)
        called = np.array([(p.a, p.b) in news or (p.b, p.a) in news for p in labelled])
        cells += [f"{tally.scores.recall:.3f} / {tally.strict_precision:.3f}"]
        cells += [f"{count_scores(called, is_same).f1:.2f}"]
        if name == "news":
            lines.append([*cells, "–", "–"])
            continue
        laws, bulletins = pairs_of("laws", name).keys(), collection("bulletins")
        days = sum(
            bulletins.of_id[a]["date"] != bulletins.of_id[b]["date"]
            for a, b in pairs_of("bulletins", name)
        )
        cells += [f"{days:,}", f"{len(laws & truth)} / {len(laws - truth):,}"]
        lines.append(cells)
    for name, *figures in lines:
        names.setdefault(tuple(figures), []).append(name)
    lines = [[", ".join(some), *figures] for figures, some in names.items()]
    heading = ["recipe", "edited copies, 10 %: recall / strict precision"]
    heading += [f"{len(labelled)} labelled pairs of Chinese news: F1"]
    heading += ["bulletins: pairs of different days", f"laws: versions of {len(truth)} / others"]
    false = edited()[-1]["news", USUAL].scores
    return f"""\
## 1. The defaults compared

Each recipe with its own [decision](guide/recipes.md#built-in-recipes).

{table(heading, lines)}

Bulletins of different days come from one template, so such pairs are mostly wrong. `news`
calls {false.tp + false.fp:,} pairs of section 2 duplicates.
"""


def copies_section(measured):
    """Return the section on edited copies."""
    cases, natural, found = edited()

    recalls = [
        [f"`{name}`", *(f"{found[name, rate].scores.recall:.3f}" for rate in RATES), precision]
        for name in RECIPES
        for precision in [f"{found[name, USUAL].scores.precision:.3f}"]
    ]
    english = edited_english()
    in_english = [
        [f"`{name}`", *(f"{english[rate][name]:.3f}" for rate in ENGLISH_RATES)]
        for name in ENGLISH_RECIPES
    ]
    return f"""\
## 2. Edited copies at each rate

Among {len(cases.base):,} Chinese articles, {cases.true_pairs:,} are copies with that share of their
characters edited. Recall at each rate, and precision:

{table(["recipe", *map(percent, RATES), f"precision, {percent(USUAL)}"], recalls)}

The strict precision of section 1 counts {natural:,} natural pairs with a resemblance of at least
0.5 as wrong. Recall of {COPIES:,} edited copies among the English Reuters texts:

{table(["recipe", *map(percent, ENGLISH_RATES)], in_english)}

`general` keeps some of them because an edit changed a number.
"""


@dataclass(frozen=True)
class LabelledPairs:
    """A pair that people labelled; its kind is same, version or other."""

    collection: str
    a: str
    b: str
    kind: str
    source: str


#: Collections with spaces between words.
ENGLISH = ("bbc_en", "reuters_en")
#: Recipes whose measures are compared, and these measures.
MEASURES = {"general": "content", "containment": "containment", "aligned": "aligned"}
#: Pairs that people judged, and the least grade that means *same*.
JUDGED = {"webis_en": 1, "bills_en": 3}
TWICE = ("bbc_en", "bulletins", "chinanews", "laws", "reuters_en")


def older_labels():
    """Yield the older pairs of Chinese news, and whether their reader was sure."""
    first = {d["text"]: d["id"] for d in reversed(collection("chinanews").documents)}
    at = {d["id"]: first[d["text"]] for d in read("labelled_pairs_zh/docs.jsonl.zst")}
    for row in rows("labelled_pairs_zh/pairs.tsv"):
        kind = "same" if row["label"] == "near-duplicate" else "other"
        pair = LabelledPairs("chinanews", at[row["id_a"]], at[row["id_b"]], kind, "older")
        yield pair, row["confidence"] == "high"


def labels():
    """Return the labelled pairs: those read twice, older ones, and those of this folder.

    The last ones were read once, to fit the factors of content(k), drawn evenly over resemblances
    from .2 to 1. Pairs whose reader was unsure are left out.
    """
    named = {"near-duplicate": "same", "version": "version", "different": "other"}
    pairs = [
        LabelledPairs(name, row["id_a"], row["id_b"], named[row["label"]], "read twice")
        for name in TWICE
        for row in rows(f"labelled_pairs/{name}.tsv")
        if row["label"] in named
    ]
    pairs += [pair for pair, is_sure in older_labels() if pair.kind == "same" or is_sure]
    for line in (HERE / "labelled_pairs.tsv").read_text("utf-8").splitlines()[1:]:
        name, a, b, kind, _, sure = line.split("\t")
        kind = kind if kind in ("same", "version") else "other"
        if sure == "high" or kind == "version":
            pairs.append(LabelledPairs(name, a, b, kind, "read once"))
    return pairs


def judged():
    """Return the pairs of web pages and of sections of bills."""
    return [
        LabelledPairs(name, row["id_a"], row["id_b"], kind, "judged")
        for name, least in JUDGED.items()
        for row in rows(f"judged/{name}.tsv")
        for kind in ["same" if int(row["grade"]) >= least else "other"]
    ]


def measured_pairs(pairs):
    """Return the similarities of labelled pairs by each of `MEASURES`."""
    values = {measure: np.zeros(len(pairs)) for measure in MEASURES.values()}
    names = np.array([pair.collection for pair in pairs])
    for name in np.unique(names):
        folder = "judged/" if name in JUDGED else ""
        mine = np.flatnonzero(names == name)
        ids = [(pairs[place].a, pairs[place].b) for place in mine]
        documents = read(f"{folder}{name}.jsonl.zst")
        for measure, of_pairs in similarities(documents, ids, values).items():
            values[measure][mine] = of_pairs
    return values


def labels_section(measured):
    """Return the section on pairs that people labelled."""
    pairs = [*labels(), *judged()]
    values = measured_pairs(pairs)
    bound = load_recipe().decide.threshold
    kinds, names, sources = (
        np.array([getattr(pair, key) for pair in pairs]) for key in ("kind", "collection", "source")
    )
    versions = values["content"][kinds == "version"] >= bound
    # F1 leaves out versions.
    decided = kinds != "version"
    values = {measure: of_pairs[decided] for measure, of_pairs in values.items()}
    names, sources, is_same = names[decided], sources[decided], kinds[decided] == "same"
    called = values["content"] >= bound
    english, is_judged = np.isin(names, ENGLISH), sources == "judged"
    languages = {"Chinese": ~english & ~is_judged, "English": english}
    groups = {"all": ~is_judged, **languages}
    groups |= {source: sources == source for source in ("read twice", "judged")}
    collections = {name: names == name for name in dict.fromkeys(names)}
    is_strict = values["content"] >= load_recipe("strict").decide.threshold

    def line(group, chosen):
        scores = count_scores(called[chosen], is_same[chosen])
        f1 = ["–"] * 3
        if is_same[chosen].any():
            interval = estimate_f1(called[chosen], is_same[chosen])
            strict = count_scores(is_strict[chosen], is_same[chosen]).f1
            f1 = [f"{scores.f1:.3f}", "{:.2f}-{:.2f}".format(*interval), f"{strict:.3f}"]
        return [group, chosen.sum(), scores.tp, scores.fp, scores.fn, *f1]

    heading = ["pairs", "number", "found", "wrong", "missed", "F1", "95 %", "strict: F1"]
    lines = [line(*group)[:-1] for group in groups.items()]
    by_recipe = []
    for recipe, measure in MEASURES.items():
        threshold = load_recipe(recipe).decide.threshold
        passes = values[measure] >= threshold
        f1 = (count_scores(passes[m], is_same[m]).f1 for m in (~is_judged, *languages.values()))
        by_recipe.append([recipe, f"{threshold:g}", *(f"{value:.3f}" for value in f1)])
    return f"""\
## 3. Pairs that people labelled

Pairs of news, notices and laws, drawn over all similarities. Two texts from one template, or about
one event, are labelled as different. Others graded the *judged* pairs, web pages and sections of
bills. The default calls duplicates:

{table(heading[:-1], lines)}

Each collection, also with `strict`; among laws and bills, only nearly equal texts are duplicates:

{table(heading, [line(*group) for group in collections.items()])}

{len(versions)} pairs of versions are left out; {versions.mean():.0%} of them are called
duplicates. The measures of other recipes, at their own threshold:

{table(["recipe", "threshold", "all: F1", *(f"{name}: F1" for name in languages)], by_recipe)}
"""


CONTENT_CUTS = (0.05, 0.1, 0.2, 0.3, 0.4)
#: Below this resemblance a search takes minutes: nearly all laws share some shingles.
LEAST_SEARCHED = 0.1
#: The share of the versions that should be found.
WANTED = 0.95


def laws(measured):
    """Return the section on versions of laws."""
    whole = collection("laws")
    truth = {(row["id_a"], row["id_b"]) for row in rows("laws_versions.tsv")}
    of_truth = similarities(whole.documents, sorted(truth), ["resemblance"])
    resemblance = sorted(of_truth["resemblance"], reverse=True)
    # Larger samples make the search for small similarities faster.
    content = pairs_of("laws", "general", CONTENT_CUTS[0], size=128)
    loose = pairs_of("laws", "general", LEAST_SEARCHED, measure="resemblance", size=128)

    def counts(pairs, cut):
        at = {pair for pair, similarity in pairs.items() if similarity >= cut}
        return [len(at & truth), f"{len(at - truth):,}"]

    lines = []
    for cut in CONTENT_CUTS:
        is_searched = cut >= LEAST_SEARCHED
        known = [sum(value >= cut for value in resemblance), "not searched"]
        lines.append(
            [f"≥ {cut:g}", *counts(content, cut), *(counts(loose, cut) if is_searched else known)]
        )
    needed = resemblance[math.ceil(WANTED * len(truth)) - 1]
    return f"""\
## 4. Versions of laws

{len(whole.documents):,} laws; {len(truth)} pairs are known to be versions of one law.

{table(["cut", "content: found", "other pairs", "resemblance: found", "other pairs"], lines)}

Many versions are rewritten laws, so a recall of 0.95 takes a cut at a resemblance of
{needed:.2f}. At 0.1 already {len(loose.keys() - truth):,} other pairs pass, mostly rules that one
city adopted from another.
"""


def limits(measured):
    """Return the section on what the defaults miss."""
    return """\
## 5. Where the defaults lose

- **Heavy scattered edits**, above all in English, where one changed number of a short item counts
  much. `--recipe minhash` finds more, and reports more texts from one template.
- **Templates.** neardup recognizes a template by five texts. A long one needs twenty documents, and
  each must add more than 12 letters or 4 words. If only names differ, two texts from one template
  are duplicates, such as the dividend notices of two companies.
- **Corrected numbers.** A short notice with a corrected figure is not a duplicate.
- **Partial copies.** A text that makes up at most half of another needs the recipe `containment`,
  a copied paragraph `neardup check`.
- **Short texts.** Below 40 letters and digits, one word inserted in the middle makes two texts
  different.
- **A million documents.** neardup then counts common shingles in a smaller sample, and does not
  recognize templates of short texts.
"""


def published_section(measured):
    """Return the section on the published comparison, made by `neardup evaluate published`."""
    from neardup.lab.experiments.zhang_he_2020.report import count_reproduced, list_findings

    result, lines = measured["published"], []
    for run in result.complete:
        pairs = run.overall.scores
        lines.append(
            [
                run.name,
                run.bound,
                f"{run.precision:.3f} / {run.recall:.3f}",
                f"{run.everywhere.precision:.3f} / {run.everywhere.recall:.3f}",
                f"{pairs.precision:.3f} / {pairs.recall:.3f}",
                f"{run.seconds:.2f} ({min(run.times):.2f}-{max(run.times):.2f})",
            ]
        )
    heading = ["method", "cut-off", "documents by topic", "documents, distractors included"]
    facts, said = machine(), [count_reproduced(result), *list_findings(result.runs)]
    # A claim without its figures, which `neardup evaluate published` prints.
    claims = (": ".join(line.rstrip(".").split(": ")[:2]) for line in said)
    sentences = "\n".join(f"- {claim}." for claim in claims)
    return f"""\
## 6. The published comparison

Zhang and He (2020) report a precision of 0.953 and a recall of 0.940 for `improved`. They found it
better and faster than traditional SimHash and Shingle, and do not say how their copies were made.
Copies with 2 to 10 % edits do not give that recall at distance 3. Re-posts do, with a line added at
the head, the tail or both: {100 * result.lengthened:.1f} % of the text on average, and
{percent(result.unchanged)} of the copies unchanged. {result.true_pairs:,} of {result.documents:,}
news items are copies. Precision / recall ([documents by topic](evaluation.md#documents) as in the
paper):

{table([*heading, "pairs", "seconds"], lines)}

{sentences}

*{facts["date"]}, {facts["processor"]}, {facts["cores"]} cores, {WORKERS} threads.*
"""


def streams(measured):
    """Return the section on the index."""
    lines = []
    for name in COLLECTIONS:
        ids = [document["id"] for document in collection(name).documents]
        digests = [hashlib.blake2b(id.encode()).digest() for id in ids]
        orders = {
            "as in the file": list(range(len(ids))),
            "by digest of the id": sorted(range(len(ids)), key=digests.__getitem__),
        }
        lines += [[name, order, *kept_by(name, places)] for order, places in orders.items()]
    heading = ["collection", "order", "documents"]
    heading += ["kept by both", "by the index only", "by `dedup` only"]
    return f"""\
## 7. The index against `dedup`

An index decides on each document when it arrives, and `dedup` after it has counted shingles in the
whole collection. Each collection is added to a new index, document by document.

{table(heading, lines, text=2)}
"""


def constants(measured):
    """Return the section on the constants of the verdict, whose data were measured by hand."""
    return """\
## 8. The constants varied

Each of the [constants](../crates/neardup-core/src/constants.rs) was made a fifth smaller and a
fifth larger, at least by one: [what changed](data/constants.csv). The sum of resemblance and
alignment (`NEEDED`, `LEFT`) matters most: F1 of section 3 falls by 0.01 to 0.04. The rules for
numbers and `MANY` follow, with at most 0.012; all others move F1 by at most 0.004.
"""


def kept_by(name, places):
    """Return how many documents there are, and how many are kept by both or by one only."""
    whole = collection(name)
    documents, recipe = whole.table.take(places), whole.recipe()
    batch = neardup.dedup(documents, recipe=recipe, workers=WORKERS).keep
    with (
        tempfile.TemporaryDirectory() as folder,
        neardup.Index(Path(folder, "index.db"), recipe=recipe, workers=WORKERS) as index,
    ):
        given = zip(documents["id"].to_pylist(), documents["text"].to_pylist(), strict=True)
        decisions = index.add_together([NewDocument(str(id), text) for id, text in given])
    for decision in decisions:
        if decision.problem is not None:
            raise RuntimeError(f"{name}: {decision.problem}")
    kept = np.array([decision.repeats is None for decision in decisions])
    parts = (kept & batch, kept & ~batch, batch & ~kept)
    return [f"{count:,}" for count in (len(places), *(int(part.sum()) for part in parts))]


#: The sections of the page by what the terminal calls them.
SECTIONS = {
    "defaults": defaults,
    "edited copies": copies_section,
    "labelled pairs": labels_section,
    "laws": laws,
    "limits": limits,
    "published comparison": published_section,
    "index": streams,
    "constants": constants,
}
BENCHMARKS = (
    Measurement("accuracy", "The evidence for the defaults: docs/accuracy.md", measure, str),
)
