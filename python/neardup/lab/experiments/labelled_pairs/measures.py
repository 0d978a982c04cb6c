"""Measures of labelled pairs: of their texts, and of their sketches.

========================  =====================================================
measure                   value of a pair
========================  =====================================================
``content(5)`` ...        each measure of texts that a recipe can decide by
``weighted resemblance``  shingles in common over all shingles of both, those
                          that many documents share discounted
name of a recipe          distance of its fingerprints in bits, else the
                          similarity of its sketches
========================  =====================================================
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

import neardup
from neardup.lab.experiments.labelled_pairs.evidence import Evidence, PairJudge
from neardup.lab.experiments.labelled_pairs.pairs import Pairs
from neardup.recipe import Recipe, load_recipe
from neardup.recipe.assets import compiled
from neardup.recipe.checks import measures_of_texts
from neardup.recipe.rule import measure_name
from neardup.recipe.text_inputs import prepared

if TYPE_CHECKING:
    from neardup.base.progress import Progress

__all__ = ["Decider", "Measured", "measure_all", "own_cut_off"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Decider:
    """A recipe whose rule is a measure and a cut-off.

    Parameters
    ----------
    recipe : str, Path or Recipe
        As it was given.
    name : str
    cut_off : float or None
        The recipe's own; None where it decides by another measure, and would
        decide by this one only on request.
    """

    recipe: str | Path | Recipe
    name: str
    cut_off: float | None


@dataclass(frozen=True)
class Measured:
    """One measure of all pairs.

    Parameters
    ----------
    name : str
    kind : {"text", "sketch"}
    by_distance : bool
        Less is more similar.
    values : ndarray of shape (n_pairs,), float64
        NaN where a text has no sketch and the other is not identical.
    deciders : tuple of Decider
        Recipes that decide by it, so that `neardup.dedup` can.
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

    def bound(self, cut_off: float | None) -> str:
        """Return a cut-off, for people: ``≤ 3`` bits, or ``≥ 0.55``."""
        if cut_off is None:
            return ""
        return f"{'≤' if self.by_distance else '≥'} {cut_off:.4g}"

    def passes(self, cut_off: float) -> npt.NDArray[np.bool_]:
        """Return which pairs a cut-off calls duplicates."""
        return self.values <= cut_off if self.by_distance else self.values >= cut_off


def measure_all(
    pairs: Pairs,
    recipes: Sequence[str | Path | Recipe],
    judge: PairJudge,
    evidence: Sequence[Evidence],
    *,
    workers: int = 0,
    progress: Progress | None = None,
) -> list[Measured]:
    """Return all measures of all pairs: of texts, then of sketches by recipe.

    Parameters
    ----------
    pairs : Pairs
    recipes : sequence of str, Path or Recipe
        Each of another name.
    judge : PairJudge
        Of the collection, by the default recipe.
    evidence : sequence of Evidence
        Of each pair, by the default recipe.
    workers : int, default=0
        Threads; 0 means one for each processor. Changes nothing.
    progress : Progress or None, default=None
        Reports each stage; None ignores it.

    Returns
    -------
    list of Measured
        A recipe whose sketches only find candidates, such as samples that are
        verified, is only among the deciders of another measure.
    """
    from neardup.base.progress import Progress

    progress = progress or Progress()
    sketched: list[Measured] = []
    deciders: dict[str, list[Decider]] = {}
    for recipe in recipes:
        loaded = load_recipe(recipe)
        progress.stage(f"{loaded.name}: sketches", None)
        own = own_cut_off(loaded)
        found = _sketches(pairs, loaded, workers)
        if found is not None:
            by_distance, values = found
            decides: tuple[Decider, ...] = ()
            if own is not None and own[0] in _OF_SKETCHES:
                decides = (Decider(recipe, loaded.name, own[1]),)
            elif by_distance:
                # A distance of the user's own replaces what the recipe verifies.
                decides = (Decider(recipe, loaded.name, None),)
            sketched.append(Measured(loaded.name, "sketch", by_distance, values, decides))
        if own is not None and own[0] not in _OF_SKETCHES:
            deciders.setdefault(own[0], []).append(Decider(recipe, loaded.name, own[1]))
    progress.stage("texts", None)
    by_name = _texts(pairs, judge, evidence)
    for name in [name for name in deciders if name not in by_name]:
        # Of a recipe with other shingles than the default has.
        own_recipe = load_recipe(deciders[name][0].recipe)
        its_judge = PairJudge(pairs.documents, own_recipe, workers=workers)
        by_name[name] = its_judge.similarities(pairs, own_recipe.decide.measure)
    texts = [
        Measured(name, "text", False, found, tuple(deciders.get(name, ())))
        for name, found in by_name.items()
    ]
    return texts + sketched


#: Names of measures that look at sketches alone.
_OF_SKETCHES = ("equal_bits", "equal_values", "sampled_resemblance")


def own_cut_off(recipe: Recipe) -> tuple[str, float] | None:
    """Return the measure that a recipe decides by and its cut-off, or None without a bound."""
    if recipe.decide.threshold is None and recipe.decide.max_distance is None:
        return None
    plan = neardup.plan(1, recipe=recipe)
    if plan.threshold is not None:
        return plan.measure, plan.threshold
    return plan.measure, float(plan.max_distance or 0)


def _texts(pairs: Pairs, judge: PairJudge, evidence: Sequence[Evidence]) -> dict[str, Floats]:
    found = [one.comparison for one in evidence]
    values = {
        measure_name(measure, found[0].shingle, ""): judge.similarities(pairs, measure)
        for measure in measures_of_texts()
    }
    weighted = [one.weighted_resemblance for one in found]
    return values | {"weighted resemblance": np.array(weighted, np.float64)}


def _sketches(pairs: Pairs, recipe: Recipe, workers: int) -> tuple[bool, Floats] | None:
    """Whether a recipe's sketches have a distance, and their values; None without either."""
    if recipe.sketch.kind == "simhash":
        return True, _distances(pairs, recipe, workers)
    if recipe.sketch.kind == "minhash" or recipe.decide.measure == "sketch":
        return False, _similarities(pairs, recipe, workers)
    return None


def _distances(pairs: Pairs, recipe: Recipe, workers: int) -> Floats:
    rows = neardup.fingerprint_many(
        pairs.documents.texts, titles=pairs.documents.titles, recipe=recipe, workers=workers
    )
    in_a, in_b = rows[pairs.a], rows[pairs.b]
    bits = np.bitwise_count(in_a ^ in_b).sum(axis=1).astype(np.float64)
    some = np.asarray(rows.any(axis=1), np.bool_)
    return _without_sketch(pairs, bits, some[pairs.a] & some[pairs.b], identical=0.0)


def _similarities(pairs: Pairs, recipe: Recipe, workers: int) -> Floats:
    import pyarrow as pa

    from neardup import _core

    core = compiled(recipe)
    places, compared = pairs.compared()
    texts = [pairs.documents.texts[place] for place in places]
    units = None
    if recipe.callable_name is not None:
        units = pa.array([prepared(core, recipe, text)[1] for text in texts], pa.large_string())
    corpus = _core.Corpus(core, keeps_texts=False, shingle=None, workers=workers)
    corpus.push(pa.array(texts, pa.large_string()), titles=None, units=units)
    corpus.finish()
    values = [corpus.sketch_similarity(a, b) for a, b in compared]
    some = corpus.features() > 0
    both = [bool(some[a] and some[b]) for a, b in compared]
    return _without_sketch(pairs, np.array(values), np.array(both), identical=1.0)


def _without_sketch(
    pairs: Pairs, values: Floats, both: npt.NDArray[np.bool_], *, identical: float
) -> Floats:
    """A text without a sketch equals an identical one, and nothing else."""
    texts = pairs.documents.texts
    for at in np.flatnonzero(~both).tolist():
        same = texts[pairs.a[at]] == texts[pairs.b[at]]
        values[at] = identical if same else np.nan
    return values
