"""Measures of labelled pairs: of their texts, and of their sketches.

=====================  ========================================================
measure                value of a pair
=====================  ========================================================
``resemblance(5)``     shingles in common over all shingles of both
``containment(5)``     what the recipe of that name decides by: how much of one text
                       lies in the other, by the evidence of ``content(5)``
``content(5)``         what ``general`` decides by: numbers that are replaced lower
                       it, and text that many documents share counts less
``rare resemblance``   as the first, over shingles that few documents have
``rare containment``   the same over those of the text that has fewer of them
``aligned``            what the recipe of that name decides by: edit similarity
name of a recipe       distance of its fingerprints in bits, else the similarity
                       of its sketches
=====================  ========================================================
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

import neardup
from neardup._engine.rule import measure_name
from neardup._engine.text_inputs import prepared
from neardup.lab.experiments.labelled_pairs.rare_shingles import rare_overlaps
from neardup.recipe import Recipe, load_recipe
from neardup.recipe.assets import compiled

if TYPE_CHECKING:
    from neardup._engine.summary import Progress
    from neardup.lab.datasets.collection import Documents

__all__ = ["SHINGLE", "Decider", "Measured", "Pairs", "measure_all"]

#: Characters in the shingles of the measures of texts.
SHINGLE = 5
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Pairs:
    """Labelled pairs of documents, by place.

    Parameters
    ----------
    documents : Documents
        The whole collection.
    a, b : ndarray of shape (n_pairs,), dtype int64
        Places of the documents of each pair.
    """

    documents: Documents
    a: npt.NDArray[np.int64]
    b: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.a)

    def compared(self) -> tuple[list[int], list[tuple[int, int]]]:
        """Return the documents that occur, and each pair as two places among them."""
        places, inverse = np.unique(np.concatenate([self.a, self.b]), return_inverse=True)
        a, b = np.split(inverse, 2)
        return places.tolist(), list(zip(a.tolist(), b.tolist(), strict=True))


@dataclass(frozen=True)
class Decider:
    """A recipe whose rule is a measure and a cut-off.

    Parameters
    ----------
    recipe : str or Recipe
    name : str
    cut_off : float or None
        The recipe's own; None where it decides by another measure, and would
        decide by this one only on request.
    """

    recipe: str | Recipe
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
    recipes: Sequence[str | Recipe],
    *,
    workers: int = 0,
    progress: Progress | None = None,
) -> list[Measured]:
    """Return all measures of all pairs: of texts, then of sketches by recipe.

    Parameters
    ----------
    pairs : Pairs
    recipes : sequence of str or Recipe
        Each of another name.
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
    from neardup._engine.summary import Progress

    progress = progress or Progress()
    sketched: list[Measured] = []
    deciders: dict[str, list[Decider]] = {}
    for recipe in recipes:
        loaded = load_recipe(recipe)
        progress.stage(f"{loaded.name}: sketches", None)
        own = _own_cut_off(recipe, loaded)
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
    texts = [
        Measured(name, "text", False, values, tuple(deciders.get(name, ())))
        for name, values in _texts(pairs, workers).items()
    ]
    return texts + sketched


#: Names of measures that look at sketches alone.
_OF_SKETCHES = ("equal_bits", "equal_values", "sampled_resemblance")


def _own_cut_off(recipe: str | Recipe, loaded: Recipe) -> tuple[str, float] | None:
    """The measure that a recipe decides by and its cut-off; distance or similarity."""
    decide = loaded.decide
    if decide.threshold is None and decide.max_distance is None:
        return None
    plan = neardup.plan(1, recipe=recipe)
    if plan.threshold is not None:
        return plan.measure, plan.threshold
    return plan.measure, float(plan.max_distance or 0)


def _texts(pairs: Pairs, workers: int) -> dict[str, Floats]:
    from neardup import _core

    core = compiled(load_recipe("general"))
    normalized = [core.normalize(text) for text in pairs.documents.texts]
    places, compared = pairs.compared()
    texts = [normalized[place] for place in places]
    rare = rare_overlaps(texts, compared, normalized, SHINGLE)
    columns: dict[str, list[float]] = {
        f"resemblance({SHINGLE})": [],
        "rare resemblance": [],
        "rare containment": [],
    }
    for (a, b), counts in zip(compared, rare, strict=True):
        overlap = _core.overlap(texts[a], texts[b], shingle=SHINGLE)
        plain, _ = _shares(overlap, texts[a] == texts[b])
        few = _shares(counts, texts[a] == texts[b])
        for column, value in zip(columns.values(), (plain, *few), strict=True):
            column.append(value)
    found = {name: np.array(column, np.float64) for name, column in columns.items()}
    return _own_measures(pairs, workers) | found


def _shares(counts: tuple[int, int, int], equal: bool) -> tuple[float, float]:
    """Resemblance, and the larger containment; of nothing at all 1 for equal texts, else 0."""
    in_a, in_b, common = counts
    union, fewer = in_a + in_b - common, min(in_a, in_b)
    nothing = float(equal)
    return common / union if union else nothing, common / fewer if fewer else nothing


def _own_measures(pairs: Pairs, workers: int) -> dict[str, Floats]:
    """Return the measures that recipes decide by and that are of more than sets of shingles."""
    import pyarrow as pa

    from neardup import _core

    core = compiled(load_recipe("general"))
    corpus = _core.Corpus(core, keeps_texts=True, shingle=SHINGLE, workers=workers)
    corpus.push(pa.array(pairs.documents.texts, pa.large_string()), titles=None, units=None)
    corpus.finish()
    names = {
        name: measure_name(name, SHINGLE, "") for name in ("content", "containment", "aligned")
    }
    values: dict[str, list[float]] = {name: [] for name in names.values()}
    for a, b in zip(pairs.a.tolist(), pairs.b.tolist(), strict=True):
        for measure, name in names.items():
            found = _core.judge(corpus, a, b, measure=measure, shingle=SHINGLE)
            values[name].append(found["similarity"])
    return {name: np.array(column, np.float64) for name, column in values.items()}


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
