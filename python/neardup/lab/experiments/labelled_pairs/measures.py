"""Labelled pairs within their collection: what is measured of them, and the best cut-offs.

A measure is one of texts, such as ``content(5)``, or has the name of the recipe whose sketches it
compares. A cut-off also fits the noise of the pairs that chose it. So each pair is judged by the
cut-off of the pairs that share no document with it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from neardup.base.lazy import _core, pa
from neardup.base.messages import Message
from neardup.base.progress import Progress
from neardup.lab.experiments import format_bound
from neardup.lab.experiments.labelled_pairs.cases import Cases
from neardup.lab.scores import Flags, Floats, Numbers, Scores, compute_f1, count_scores
from neardup.recipe import Recipe, load_recipe
from neardup.recipe.assets import compiled
from neardup.recipe.measures import MEASURES_OF_TEXTS, measure_name
from neardup.recipe.rule import rule
from neardup.recipe.text_inputs import prepare_text
from neardup.tasks.compare import compare_documents
from neardup.tasks.comparison import Comparison

#: Names of measures that look at sketches alone.
_OF_SKETCHES = ("equal_bits", "equal_values", "sampled_resemblance")
#: Beyond this number of folds, groups of them are left out together.
_FOLDS = 100
_MOST_DIGITS = 15
#: Less than every similarity and every negative distance.
_NO_VALUE = -1e9


class PairJudge:
    """Compares labelled pairs within their collection, which says what is common text.

    The texts are held in memory a second time.
    """

    def __init__(self, cases: Cases, recipe: Recipe, *, workers: int = 0) -> None:
        self._cases = cases
        self._core = compiled(recipe)
        self._shingle = recipe.decide.shingle
        self._corpus = _make_corpus(cases, recipe, shingle=self._shingle, workers=workers)

    def measure_similarities(self, measure: str) -> Floats:
        """Return the similarity of each pair by a measure of texts, such as ``content``."""
        values = [self._judge(a, b, measure)["similarity"] for a, b in self._cases.pairs]
        return np.array(values, np.float64)

    def collect_evidence(self, recipe: Recipe) -> tuple[Comparison, ...]:
        """Compare each pair by the recipe of this object, perhaps with other bounds."""
        return tuple(self._compare(a, b, recipe) for a, b in self._cases.pairs)

    def _judge(self, a: int, b: int, measure: str) -> dict[str, Any]:
        judgement: dict[str, Any] = _core.judge(
            self._corpus, a, b, measure=measure, shingle=self._shingle
        )
        return judgement

    def _compare(self, a: int, b: int, recipe: Recipe) -> Comparison:
        texts = [self._cases.documents.texts[place] for place in (a, b)]
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
class MeasureScores:
    """One measure of all pairs, and who decides by it.

    With `by_distance`, less is more similar. A value is NaN where a text has no sketch and the
    other is not identical.
    """

    name: str
    by_distance: bool
    values: Floats
    deciders: tuple[Decider, ...]

    @property
    def recipe_cut_off(self) -> float:
        """Cut-off of the first recipe that decides by this; NaN without."""
        return next((d.cut_off for d in self.deciders if d.cut_off is not None), math.nan)

    @property
    def likeness(self) -> Floats:
        """Scores, higher is more similar; a missing value sorts below all others."""
        likeness = -self.values if self.by_distance else self.values
        # scikit-learn takes finite numbers only.
        return np.where(np.isnan(self.values), _NO_VALUE, likeness)

    def format_bound(self, cut_off: float) -> str:
        """Return a cut-off, for people."""
        return "" if math.isnan(cut_off) else format_bound(cut_off, by_distance=self.by_distance)

    def passes(self, cut_off: float) -> Flags:
        """Return which pairs a cut-off calls duplicates."""
        return self.values <= cut_off if self.by_distance else self.values >= cut_off


def measure_all(
    cases: Cases,
    recipes: Sequence[str | Path | Recipe],
    judge: PairJudge,
    *,
    workers: int = 0,
    progress: Progress | None = None,
) -> list[MeasureScores]:
    """Return all measures of all pairs: of texts, then of sketches by recipe.

    `judge` is by the default recipe. The sketches of some recipes only find candidates, such as
    samples that are verified. These recipes are only among the deciders of another measure.
    """
    progress = progress or Progress()
    sketched: list[MeasureScores] = []
    deciders: dict[str, list[Decider]] = {}
    for given in recipes:
        recipe = load_recipe(given)
        progress.stage(Message("sketches of {recipe}", recipe=recipe.name), None)
        measure, cut_off = find_cut_off(recipe) or ("", None)
        by_sketch = measure in _OF_SKETCHES
        if measure and not by_sketch:
            deciders.setdefault(measure, []).append(Decider(given, recipe.name, cut_off))
        by_distance = recipe.sketch.kind == "simhash"
        if by_distance or recipe.sketch.kind == "minhash" or recipe.decide.measure == "sketch":
            # A distance of the user's own replaces what a recipe of fingerprints verifies.
            of_sketch = Decider(given, recipe.name, cut_off if by_sketch else None)
            decides = (of_sketch,) if by_sketch or by_distance else ()
            values = _compare_sketches(cases, recipe, workers)
            sketched.append(MeasureScores(recipe.name, by_distance, values, decides))
    progress.stage("texts", None)
    shingle = load_recipe().decide.shingle
    by_name = {
        measure_name(measure, shingle, ""): judge.measure_similarities(measure)
        for measure in MEASURES_OF_TEXTS
    }
    for name in [name for name in deciders if name not in by_name]:
        # Of a recipe with other shingles than the default has.
        recipe = load_recipe(deciders[name][0].recipe)
        other_judge = PairJudge(cases, recipe, workers=workers)
        by_name[name] = other_judge.measure_similarities(recipe.decide.measure)
    texts = [
        MeasureScores(name, False, values, tuple(deciders.get(name, ())))
        for name, values in by_name.items()
    ]
    return texts + sketched


def find_cut_off(recipe: Recipe) -> tuple[str, float] | None:
    """Return the measure that a recipe decides by and its cut-off, or None without a bound."""
    if recipe.decide.threshold is None and recipe.decide.max_distance is None:
        return None
    bounds = rule(recipe)
    return bounds.measure, float(
        bounds.max_distance or 0
    ) if bounds.threshold is None else bounds.threshold


def _compare_sketches(cases: Cases, recipe: Recipe, workers: int) -> Floats:
    """Return the differing bits of the fingerprints of each pair, or the sketches' similarity.

    A text without a sketch equals an identical one, and nothing else.
    """
    bits = recipe.sketch.bits if recipe.sketch.kind == "simhash" else None
    corpus = _make_corpus(cases, recipe, shingle=None, workers=workers)
    has_sketch, texts = corpus.features() > 0, cases.documents.texts
    values = np.full(len(cases.a), np.nan)
    for place, (a, b) in enumerate(cases.pairs):
        if has_sketch[a] and has_sketch[b]:
            values[place] = corpus.sketch_similarity(a, b)
        elif texts[a] == texts[b]:
            values[place] = 1.0
    return values if bits is None else np.rint(bits * (1 - values))


def _make_corpus(cases: Cases, recipe: Recipe, *, shingle: int | None, workers: int) -> Any:
    """Return the collection in the core, sketched by a recipe; with `shingle` also its texts."""
    core = compiled(recipe)
    texts, titles = cases.documents.texts, cases.documents.titles
    units = None
    if recipe.callable_name is not None:
        of_texts = (prepare_text(core, recipe, text)[1] for text in texts)
        units = pa.array(of_texts, pa.large_string())
    keeps_texts = shingle is not None
    corpus = _core.Corpus(core, keeps_texts=keeps_texts, shingle=shingle, workers=workers)
    corpus.push(
        pa.array(texts, pa.large_string()), titles=pa.array(titles, pa.large_string()), units=units
    )
    corpus.finish()
    return corpus


@dataclass(frozen=True)
class MeasureResult:
    """How well one measure separates duplicates from other pairs.

    `cut_off` is best on all pairs. `left_out` has the scores with each pair judged by the cut-off
    that is best on the others. `own` has the scores at the own cut-off of the first recipe that
    decides by the measure, None without.
    """

    measured: MeasureScores
    average_precision: float
    cut_off: float
    left_out: Scores
    own: Scores | None

    @property
    def name(self) -> str:
        """Name of the measure."""
        return self.measured.name

    @property
    def can_decide(self) -> bool:
        """Whether a recipe decides by it, so that `neardup.dedup` can."""
        return bool(self.measured.deciders)

    @property
    def is_usable(self) -> bool:
        """Whether `neardup.dedup` can decide by the best cut-off: a distance, or in (0, 1]."""
        is_bound = self.cut_off >= 0 if self.measured.by_distance else 0 < self.cut_off <= 1
        return self.can_decide and is_bound


def rank_measures(
    measured: Sequence[MeasureScores], is_true: Flags, folds: Numbers, *, seed: int = 0
) -> tuple[MeasureResult, ...]:
    """Return the scores of all measures, the best first; of equals the first one is simpler.

    Pairs of one number in `folds` are left out together.
    """
    results = [_score_measure(measure, is_true, folds, seed) for measure in measured]
    return tuple(sorted(results, key=lambda of: (-of.left_out.f1, of.left_out.fp)))


def _score_measure(
    measured: MeasureScores, is_true: Flags, folds: Numbers, seed: int
) -> MeasureResult:
    from sklearn.metrics import average_precision_score

    def judge_all(known: Flags) -> Flags:
        return measured.passes(choose_cut_off(measured, is_true, known))

    usual = measured.recipe_cut_off
    return MeasureResult(
        measured=measured,
        average_precision=float(average_precision_score(is_true, measured.likeness)),
        cut_off=choose_cut_off(measured, is_true, np.ones_like(is_true)),
        left_out=count_scores(judge_left_out(judge_all, folds, seed=seed), is_true),
        own=None if math.isnan(usual) else count_scores(measured.passes(usual), is_true),
    )


def judge_left_out(call: Callable[[Flags], Flags], folds: Numbers, *, seed: int = 0) -> Flags:
    """Return how each pair is judged by what the pairs outside its fold decide.

    `call` takes which pairs are known, and returns whether each pair is called a duplicate. If
    there are more than a hundred folds, seeded groups are left out together.
    """
    count = int(folds.max()) + 1
    groups = folds
    if count > _FOLDS:
        generator = np.random.Generator(np.random.PCG64(seed))
        groups = (generator.permutation(count) % _FOLDS)[folds]
    judged = np.zeros(len(folds), np.bool_)
    for group in range(int(groups.max()) + 1):
        left_out = groups == group
        judged[left_out] = call(~left_out)[left_out]
    return judged


def choose_cut_off(measured: MeasureScores, is_true: Flags, known: Flags) -> float:
    """Return the cut-off with the highest F1 on some of the pairs, the strictest of several.

    It is a short number between the last value that it includes and the next one; NaN without a
    value.
    """
    likeness, is_true = measured.likeness[known], is_true[known]
    # Whole counts, so that equal F1 are equal.
    ascending, inverse = np.unique(likeness, return_inverse=True)
    distinct = ascending[::-1]
    rows = len(distinct) - 1 - inverse
    hits, wrong = (
        np.cumsum(np.bincount(rows, flags, len(distinct))) for flags in (is_true, ~is_true)
    )
    count = int((distinct > _NO_VALUE).sum())
    if not count:
        return math.nan
    f1 = compute_f1(np.stack([hits, wrong, hits[-1] - hits])[:, :count])
    row = int(f1.argmax())
    high = float(distinct[row])
    low = float(distinct[row + 1]) if row + 1 < count else -math.inf
    middle = high if math.isinf(low) else (low + high) / 2
    # Negative distances: the smallest whole number above the middle.
    return float(-math.ceil(middle)) if measured.by_distance else _shorten(middle, high, low)


def _shorten(middle: float, high: float, low: float) -> float:
    """The number of fewest digits near `middle` that is above `low` and at most `high`."""
    if math.isinf(low):
        # No smaller value must be excluded: round down, not up.
        shorter = math.floor(middle * 100) / 100
        return shorter if shorter > 0 else middle
    for digits in range(2, _MOST_DIGITS):
        rounded = round(middle, digits)
        if low < rounded <= high:
            return rounded
    return high
