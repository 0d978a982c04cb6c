"""Measures and settings for labelled pairs, the best first, and whether it beats the default.

Each pair is judged by measure and cut-off that were both chosen without it: on the pairs that
chose it, the best setting looks better than it is.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from neardup.base.messages import N_, Message
from neardup.base.reprs import ReprMixin
from neardup.compare import Comparison
from neardup.lab.datasets.collection import Documents
from neardup.lab.datasets.labels import Truth
from neardup.lab.experiments.labelled_pairs.cases import Pairs
from neardup.lab.experiments.labelled_pairs.cut_offs import best_cut_off, judge_left_out
from neardup.lab.experiments.labelled_pairs.measures import Decider, Measured
from neardup.lab.metrics import (
    Accuracy,
    Flags,
    Numbers,
    Scores,
    accuracy,
    bootstrap_interval,
    contributions,
    count_scores,
    f1_of_sums,
)
from neardup.recipe import NAMES, Recipe, load_recipe

__all__ = [
    "Choice",
    "MeasureResult",
    "PairsEvaluation",
    "Setting",
    "choose",
    "judged_by_others",
    "measure_result",
    "pick",
    "ranked",
    "sentences",
]


@dataclass(frozen=True)
class MeasureResult:
    """How well one measure separates duplicates from other pairs.

    `best` is at the `cut_off` that is best on all pairs, `left_out` with each pair judged by the
    cut-off that is best on the others, and `default` at the own cut-off of the first recipe that
    decides by it.
    """

    measured: Measured
    average_precision: float
    cut_off: float
    best: Scores
    left_out: Scores
    left_out_interval: tuple[float, float]
    default: Scores | None

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


def _lead(
    judged: Flags, other: Flags, is_true: Flags, units: Numbers, seed: int
) -> tuple[float, float]:
    """Return the 95 % interval of the F1 of one judgement minus that of another."""
    rows = np.hstack([contributions(called, is_true, units) for called in (judged, other)])
    return bootstrap_interval(rows, lambda s: f1_of_sums(s[:3]) - f1_of_sums(s[3:]), seed=seed)


def measure_result(
    measured: Measured,
    is_true: Flags,
    *,
    folds: Numbers | None = None,
    units: Numbers | None = None,
    seed: int = 0,
) -> MeasureResult:
    """Return the scores of a measure.

    Pairs of one number in `folds` are left out together, those of one in `units` resampled.
    """
    from sklearn.metrics import average_precision_score

    def call(known: Flags) -> Flags:
        return measured.passes(_best(measured, is_true, known))

    folds = np.arange(len(is_true)) if folds is None else folds
    judged = judge_left_out(call, folds, seed=seed)
    cut_off = _best(measured, is_true, np.ones_like(is_true))
    own = measured.own_cut_off
    rows = contributions(judged, is_true, units)
    return MeasureResult(
        measured=measured,
        average_precision=float(average_precision_score(is_true, measured.likeness)),
        cut_off=cut_off,
        best=count_scores(measured.passes(cut_off), is_true),
        left_out=count_scores(judged, is_true),
        left_out_interval=bootstrap_interval(rows, f1_of_sums, seed=seed),
        default=None if own is None else count_scores(measured.passes(own), is_true),
    )


def _best(measured: Measured, is_true: Flags, known: Flags) -> float:
    """Return the cut-off that is best on some of the pairs."""
    values = measured.values[known]
    return best_cut_off(values, is_true[known], by_distance=measured.by_distance)


def ranked(
    measured: list[Measured], is_true: Flags, folds: Numbers, units: Numbers, seed: int
) -> tuple[MeasureResult, ...]:
    """Return all measures, the best first; of equals the first one is simpler."""
    options: dict[str, Any] = {"folds": folds, "units": units, "seed": seed}
    results = [measure_result(measure, is_true, **options) for measure in measured]
    return tuple(sorted(results, key=lambda of: (-of.left_out.f1, of.left_out.fp)))


@dataclass(frozen=True)
class Setting:
    """A recipe with a bound, and how it does on the labels.

    `judged` is whether each pair is called duplicates by a setting that was chosen without it,
    and `accuracy` is that of `judged`.
    """

    decider: Decider
    measured: Measured
    cut_off: float
    judged: Flags
    accuracy: Accuracy

    @property
    def called(self) -> Flags:
        """Whether each pair is called duplicates by the setting itself."""
        return self.measured.passes(self.cut_off)

    @property
    def is_own(self) -> bool:
        """Whether the bound is the recipe's own."""
        return self.decider.cut_off == self.cut_off

    @property
    def options(self) -> str:
        """Options of `neardup dedup` for this setting; empty for the default."""
        words = []
        recipe = self.decider.recipe
        if recipe != NAMES[0]:
            words = ["--recipe", recipe.name if isinstance(recipe, Recipe) else str(recipe)]
        if not self.is_own:
            option = "--max-distance" if self.measured.by_distance else "--threshold"
            words += [option, f"{self.cut_off:.6g}"]
        return shlex.join(words)

    def recipe(self) -> Recipe:
        """Return the recipe with the bound."""
        loaded = load_recipe(self.decider.recipe)
        if self.is_own:
            return loaded
        bounds: dict[str, float | None] = {"threshold": self.cut_off, "max_distance": None}
        if self.measured.by_distance:
            bounds = {"threshold": None, "max_distance": int(self.cut_off)}
        return loaded.replace(decide=bounds)


@dataclass(frozen=True)
class Choice:
    """The default, the best setting for the labels, and the difference of their F1.

    `knows` is whether the best is better by more than chance than to call all pairs duplicates.
    What was left out at a time is a ``group`` of the labels, pairs that have ``shared``
    documents, or a single ``pair``.
    """

    default: Setting
    best: Setting
    gain: float
    interval: tuple[float, float]
    knows: bool
    left_out: str
    folds: int

    @property
    def is_same(self) -> bool:
        """Whether the best setting decides by the default's measure and bound."""
        default, best = self.default, self.best
        return default.measured is best.measured and default.cut_off == best.cut_off

    @property
    def is_better(self) -> bool:
        """Whether the best setting is better by more than chance explains."""
        return not self.is_same and self.interval[0] > 0 and self.knows

    @property
    def advised(self) -> Setting:
        """The best setting if it is better than the default, else the default."""
        return self.best if self.is_better else self.default


def pick(measured: Sequence[Measured], is_true: Flags, known: Flags) -> tuple[Measured, float]:
    """Return the measure and cut-off with the highest F1 on some of the pairs."""
    cut_offs = [_best(measure, is_true, known) for measure in measured]
    f1 = [
        count_scores(measure.passes(cut_off)[known], is_true[known]).f1
        for measure, cut_off in zip(measured, cut_offs, strict=True)
    ]
    best = int(np.argmax(f1))
    return measured[best], cut_offs[best]


def judged_by_others(
    measured: Sequence[Measured], is_true: Flags, folds: Numbers, *, seed: int = 0
) -> Flags:
    """Return how the setting that is best on all other folds judges each pair."""

    def call(known: Flags) -> Flags:
        measure, cut_off = pick(measured, is_true, known)
        return measure.passes(cut_off)

    return judge_left_out(call, folds, seed=seed)


def choose(
    measured: Sequence[Measured],
    default: tuple[Decider, Measured],
    is_true: Flags,
    *,
    folds: Numbers,
    units: Numbers,
    left_out: str,
    seed: int = 0,
) -> Choice:
    """Return the default and the best setting, compared."""
    decider, usual = default
    assert decider.cut_off is not None
    called = usual.passes(decider.cut_off)
    top, cut_off = pick(measured, is_true, np.ones_like(is_true))
    judged = judged_by_others(measured, is_true, folds, seed=seed)
    first, second = (accuracy(flags, is_true, units, seed=seed) for flags in (called, judged))
    return Choice(
        Setting(decider, usual, decider.cut_off, called, first),
        Setting(top.deciders[0], top, cut_off, judged, second),
        gain=second.scores.f1 - first.scores.f1,
        interval=_lead(judged, called, is_true, units, seed),
        knows=_lead(judged, np.ones_like(judged), is_true, units, seed)[0] > 0,
        left_out=left_out,
        folds=len(np.unique(folds)),
    )


def sentences(choice: Choice) -> list[Message]:
    """Return the verdict: which setting to use, the default, and the best one."""
    default, best = choice.default, choice.best
    usual = Message(
        "Your labels: the default ({setting}) has F1 {f1} (95 %: {low} to {high}).",
        setting=_described(default),
        **_f1(default),
    )
    stay = Message(
        "Stay with the default: on unseen labels, no other setting is better by more than chance."
    )
    if choice.is_same:
        return [stay, usual]
    advice = stay
    if choice.is_better:
        advice = Message(
            "Use {options}: it fits these labels better than the default.", options=best.options
        )
        outcome = N_(
            "Best: {options} has F1 {f1} ({low} to {high}) on unseen labels; the "
            "difference ({gain}, 95 %: {gain_low} to {gain_high}) is larger than "
            "chance."
        )
    else:
        outcome = N_(
            "Best: {options} has F1 {f1} ({low} to {high}) on unseen labels; the "
            "difference ({gain}, 95 %: {gain_low} to {gain_high}) is not larger "
            "than chance."
        )
    low, high = (f"{end:+.3f}" for end in choice.interval)
    changes = {"gain": f"{choice.gain:+.3f}", "gain_low": low, "gain_high": high}
    return [advice, usual, Message(outcome, options=best.options, **changes, **_f1(best))]


def _described(setting: Setting) -> Message:
    bound = f"{setting.measured.name} {setting.measured.bound(setting.cut_off)}"
    return Message("{recipe}: {bound}", recipe=setting.decider.name, bound=bound)


def _f1(setting: Setting) -> dict[str, str]:
    low, high = setting.accuracy.f1
    f1 = setting.accuracy.scores.f1
    return {"f1": f"{f1:.3f}", "low": f"{low:.3f}", "high": f"{high:.3f}"}


@dataclass(frozen=True, repr=False)
class PairsEvaluation(ReprMixin):
    """Evaluation of measures, recipes and thresholds on labelled pairs.

    Parameters
    ----------
    documents : Documents
        Those of the input that have a text.
    truth : Truth
    pairs : Pairs
        The labelled pairs, by place in `documents`.
    measures : tuple of MeasureResult
        The best first: by F1 on unseen pairs, then fewer false positives, then
        simpler.
    choice : Choice
        The default and the best setting, compared.
    evidence : tuple of Comparison
        What the advised setting finds in each pair; `verdict` says why it decides as it does.
    contradictions : int
        Pairs labelled as no duplicates that other labels join.
    problems : int
        Records of the input without a usable text; they were left out.
    folder : Path or None
        Where tables, figures and the report are.
    """

    documents: Documents
    truth: Truth
    pairs: Pairs
    measures: tuple[MeasureResult, ...]
    choice: Choice
    evidence: tuple[Comparison, ...]
    contradictions: int
    problems: int
    folder: Path | None

    def _summary_rows(self) -> Iterator[tuple[str, Any]]:
        duplicates = int(self.is_true.sum())
        yield "documents", len(self.documents)
        yield "labels", f"{duplicates:,} duplicates, {len(self.is_true) - duplicates:,} others"
        yield "verdict", sentences(self.choice)[0]
        for name, setting in (("default", self.choice.default), ("best", self.choice.best)):
            low, high = setting.accuracy.f1
            rule = f"{setting.measured.name} {setting.measured.bound(setting.cut_off)}"
            yield name, f"F1 {setting.accuracy.scores.f1:.3f} ({low:.3f} to {high:.3f}), {rule}"
        yield "errors", sum(len(self.mistakes(found=found)) for found in (True, False))
        yield "folder", self.folder or "-"

    @property
    def best(self) -> MeasureResult:
        """The measure of the best setting."""
        chosen = self.choice.best.measured
        return next(measure for measure in self.measures if measure.measured is chosen)

    @property
    def is_true(self) -> Flags:
        """Whether each pair is labelled as duplicate."""
        return np.array([pair.duplicate for pair in self.truth.pairs], np.bool_)

    def mistakes(self, *, found: bool) -> list[int]:
        """Return the pairs that the advised setting is wrong about, the worst first.

        Parameters
        ----------
        found : bool
            True for pairs that it wrongly calls duplicates, False for those
            that it misses.

        Returns
        -------
        list of int
            Places in `truth.pairs`.
        """
        advised = self.choice.advised
        wrong = advised.called != self.is_true
        wrong &= self.is_true != found
        likeness = advised.measured.likeness
        order = np.argsort(-likeness if found else likeness, kind="stable")
        return [place for place in order.tolist() if wrong[place]]
