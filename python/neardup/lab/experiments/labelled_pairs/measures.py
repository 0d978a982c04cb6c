"""Labelled pairs within their collection: what is measured of them, and why.

A measure is one of texts, such as ``content(5)``, or has the name of the recipe whose sketches it
compares.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import neardup
from neardup.base.progress import Progress
from neardup.compare import Comparison, compare_documents
from neardup.lab.datasets.collection import Documents
from neardup.lab.experiments.labelled_pairs.cases import Pairs
from neardup.lab.experiments.labelled_pairs.cut_offs import likeness_of
from neardup.lab.metrics import Flags, Floats
from neardup.recipe import Recipe, load_recipe
from neardup.recipe.assets import compiled
from neardup.recipe.checks import measures_of_texts
from neardup.recipe.rule import measure_name, rule
from neardup.recipe.text_inputs import prepared

__all__ = [
    "EVIDENCE",
    "Decider",
    "Measured",
    "PairJudge",
    "measure_all",
    "own_cut_off",
]

#: Fields of a comparison that are evidence, in the order of the tables.
EVIDENCE = (
    "resemblance",
    "containment_a",
    "containment_b",
    "weighted_resemblance",
    "aligned",
    "numbers_agree",
    "numbers_differ",
    "numbers_replaced",
    "number_penalty",
    "short",
    "edit_similarity",
)
#: Names of measures that look at sketches alone.
_OF_SKETCHES = ("equal_bits", "equal_values", "sampled_resemblance")


class PairJudge:
    """Compares labelled pairs within their collection, which says what is common text.

    The texts are held in memory a second time.
    """

    def __init__(self, documents: Documents, recipe: Recipe, *, workers: int = 0) -> None:
        self._texts = documents.texts
        self._core = compiled(recipe)
        self._shingle = recipe.decide.shingle
        self._corpus = _corpus(
            recipe, documents.texts, documents.titles, shingle=self._shingle, workers=workers
        )

    def similarities(self, pairs: Pairs, measure: str) -> Floats:
        """Return the similarity of each pair by a measure of texts, such as ``content``."""
        both = zip(pairs.a.tolist(), pairs.b.tolist(), strict=True)
        return np.array([self._judge(a, b, measure)["similarity"] for a, b in both], np.float64)

    def evidence(self, pairs: Pairs, recipe: Recipe) -> tuple[Comparison, ...]:
        """Compare each pair by the recipe of this object, perhaps with other bounds."""
        both = zip(pairs.a.tolist(), pairs.b.tolist(), strict=True)
        return tuple(self._compare(a, b, recipe) for a, b in both)

    def _judge(self, a: int, b: int, measure: str) -> dict[str, Any]:
        from neardup import _core

        judgement: dict[str, Any] = _core.judge(
            self._corpus, a, b, measure=measure, shingle=self._shingle
        )
        return judgement

    def _compare(self, a: int, b: int, recipe: Recipe) -> Comparison:
        from neardup import _core

        texts = (self._texts[a], self._texts[b])
        content = self._judge(a, b, "content")
        # What many documents share is discounted, also where the similarity is not weighed.
        if content["weighed"] is None:
            normalized = [self._core.normalize(text) for text in texts]
            alone = _core.content(*normalized, shingle=self._shingle, counted=[], entries=1)
            content["resemblance"] = alone["resemblance"]
        else:
            content["resemblance"] = content["weighed"]["resemblance"]
        return compare_documents(self._corpus, a, b, recipe, content, _core.edit_similarity(*texts))


@dataclass(frozen=True)
class Decider:
    """A recipe, as it was given, whose rule is a measure and a cut-off.

    `cut_off` is None where the recipe decides by another measure, and by this one only on
    request.
    """

    recipe: str | Path | Recipe
    name: str
    cut_off: float | None


@dataclass(frozen=True)
class Measured:
    """One measure of all pairs: a ``text`` or a ``sketch`` measure, and who decides by it.

    With `by_distance`, less is more similar. A value is NaN where a text has no sketch and the
    other is not identical.
    """

    name: str
    kind: str
    by_distance: bool
    values: Floats
    deciders: tuple[Decider, ...]

    @property
    def own_cut_off(self) -> float | None:
        """Cut-off of the first recipe that decides by this; None without."""
        return next((d.cut_off for d in self.deciders if d.cut_off is not None), None)

    @property
    def likeness(self) -> Floats:
        """Values of which more is more similar."""
        return likeness_of(self.values, by_distance=self.by_distance)

    def bound(self, cut_off: float | None) -> str:
        """Return a cut-off, for people: ``≤ 3`` bits, or ``≥ 0.55``."""
        if cut_off is None or math.isnan(cut_off):
            return ""
        return f"{'≤' if self.by_distance else '≥'} {cut_off:.4g}"

    def passes(self, cut_off: float) -> Flags:
        """Return which pairs a cut-off calls duplicates."""
        return self.values <= cut_off if self.by_distance else self.values >= cut_off


def measure_all(
    pairs: Pairs,
    recipes: Sequence[str | Path | Recipe],
    judge: PairJudge,
    evidence: Sequence[Comparison],
    *,
    workers: int = 0,
    progress: Progress | None = None,
) -> list[Measured]:
    """Return all measures of all pairs: of texts, then of sketches by recipe.

    `judge` and `evidence` are by the default recipe. A recipe whose sketches only find
    candidates, such as samples that are verified, is only among the deciders of another measure.
    """
    progress = progress or Progress()
    sketched: list[Measured] = []
    deciders: dict[str, list[Decider]] = {}
    for recipe in recipes:
        loaded = load_recipe(recipe)
        progress.stage(f"{loaded.name}: sketches", None)
        decision = own_cut_off(loaded)
        decides_by_sketch = decision is not None and decision[0] in _OF_SKETCHES
        if decision is not None and not decides_by_sketch:
            deciders.setdefault(decision[0], []).append(Decider(recipe, loaded.name, decision[1]))
        by_distance = loaded.sketch.kind == "simhash"
        if by_distance:
            values = _distances(pairs, loaded, workers)
        elif loaded.sketch.kind == "minhash" or loaded.decide.measure == "sketch":
            values = _similarities(pairs, loaded, workers)
        else:
            continue
        decides: tuple[Decider, ...] = ()
        if decision is not None and decides_by_sketch:
            decides = (Decider(recipe, loaded.name, decision[1]),)
        elif by_distance:
            # A distance of the user's own replaces what the recipe verifies.
            decides = (Decider(recipe, loaded.name, None),)
        sketched.append(Measured(loaded.name, "sketch", by_distance, values, decides))
    progress.stage("texts", None)
    shingle = evidence[0].shingle
    by_name = {
        measure_name(measure, shingle, ""): judge.similarities(pairs, measure)
        for measure in measures_of_texts()
    }
    weighted = [of.weighted_resemblance for of in evidence]
    by_name["weighted resemblance"] = np.array(weighted, np.float64)
    for name in [name for name in deciders if name not in by_name]:
        # Of a recipe with other shingles than the default has.
        loaded = load_recipe(deciders[name][0].recipe)
        other_judge = PairJudge(pairs.documents, loaded, workers=workers)
        by_name[name] = other_judge.similarities(pairs, loaded.decide.measure)
    texts = [
        Measured(name, "text", False, values, tuple(deciders.get(name, ())))
        for name, values in by_name.items()
    ]
    return texts + sketched


def own_cut_off(recipe: Recipe) -> tuple[str, float] | None:
    """Return the measure that a recipe decides by and its cut-off, or None without a bound."""
    if recipe.decide.threshold is None and recipe.decide.max_distance is None:
        return None
    its = rule(recipe)
    return its.measure, float(its.max_distance or 0) if its.threshold is None else its.threshold


def _distances(pairs: Pairs, recipe: Recipe, workers: int) -> Floats:
    rows = neardup.fingerprint_many(
        pairs.documents.texts, titles=pairs.documents.titles, recipe=recipe, workers=workers
    )
    bits = np.bitwise_count(rows[pairs.a] ^ rows[pairs.b]).sum(axis=1).astype(np.float64)
    has_sketch = np.asarray(rows.any(axis=1), np.bool_)
    return _without_sketch(pairs, bits, has_sketch[pairs.a] & has_sketch[pairs.b], identical=0.0)


def _similarities(pairs: Pairs, recipe: Recipe, workers: int) -> Floats:
    places, compared = pairs.compared()
    texts = [pairs.documents.texts[place] for place in places]
    corpus = _corpus(recipe, texts, None, shingle=None, workers=workers, keeps_texts=False)
    values = np.array([corpus.sketch_similarity(a, b) for a, b in compared])
    has_sketch = corpus.features() > 0
    both = np.array([bool(has_sketch[a] and has_sketch[b]) for a, b in compared])
    return _without_sketch(pairs, values, both, identical=1.0)


def _without_sketch(pairs: Pairs, values: Floats, both: Flags, *, identical: float) -> Floats:
    """A text without a sketch equals an identical one, and nothing else."""
    texts = pairs.documents.texts
    for place in np.flatnonzero(~both).tolist():
        same = texts[pairs.a[place]] == texts[pairs.b[place]]
        values[place] = identical if same else np.nan
    return values


def _corpus(
    recipe: Recipe,
    texts: Sequence[str],
    titles: Sequence[str | None] | None,
    *,
    shingle: int | None,
    workers: int,
    keeps_texts: bool = True,
) -> Any:
    """Return texts in the core, normalized and sketched by a recipe."""
    import pyarrow as pa

    from neardup import _core

    core = compiled(recipe)
    units = None
    if recipe.callable_name is not None:
        of_texts = (prepared(core, recipe, text)[1] for text in texts)
        units = pa.array(of_texts, pa.large_string())
    corpus = _core.Corpus(core, keeps_texts=keeps_texts, shingle=shingle, workers=workers)
    corpus.push(
        pa.array(texts, pa.large_string()),
        titles=None if titles is None else pa.array(titles, pa.large_string()),
        units=units,
    )
    corpus.finish()
    return corpus
