"""Settings for labelled pairs: the best one, and whether it beats the default.

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

from neardup.base.display import ReprMixin
from neardup.base.messages import N_, Message
from neardup.lab.experiments.labelled_pairs.cases import Cases
from neardup.lab.experiments.labelled_pairs.measures import (
    Decider,
    MeasureResult,
    MeasureScores,
    choose_cut_off,
    judge_left_out,
)
from neardup.lab.scores import (
    Flags,
    Numbers,
    Scores,
    compute_f1,
    count_outcomes,
    count_scores,
    estimate_f1,
    estimate_interval,
)
from neardup.recipe import NAMES, Recipe, load_recipe
from neardup.tasks.comparison import Comparison


@dataclass(frozen=True)
class Setting:
    """A recipe with a bound, and how it does on the labels.

    `judged` is whether each pair is called duplicates by a setting that was chosen without it;
    `scores` and the 95 % `interval` of F1 are computed from `judged`.
    """

    decider: Decider
    measured: MeasureScores
    cut_off: float
    judged: Flags
    scores: Scores
    interval: tuple[float, float]

    @property
    def called(self) -> Flags:
        """Whether each pair is called duplicates by the setting itself."""
        return self.measured.passes(self.cut_off)

    @property
    def rule(self) -> str:
        """The measure and the bound, for people."""
        return f"{self.measured.name} {self.measured.format_bound(self.cut_off)}"

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

    def make_recipe(self) -> Recipe:
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
    `left_out` says which pairs were left out together: a ``group`` of the labels, pairs that have
    ``shared`` documents, or a single ``pair``.
    """

    default: Setting
    best: Setting
    interval: tuple[float, float]
    knows: bool
    left_out: str

    @property
    def gain(self) -> float:
        """The F1 of the best setting minus the F1 of the default."""
        return self.best.scores.f1 - self.default.scores.f1

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


def pick_cut_off(
    measured: Sequence[MeasureScores], is_true: Flags, known: Flags
) -> tuple[MeasureScores, float]:
    """Return the measure and cut-off with the highest F1 on some of the pairs."""
    cut_offs = [choose_cut_off(measure, is_true, known) for measure in measured]
    f1 = [
        count_scores(measure.passes(cut_off)[known], is_true[known]).f1
        for measure, cut_off in zip(measured, cut_offs, strict=True)
    ]
    best = int(np.argmax(f1))
    return measured[best], cut_offs[best]


def cross_validate(
    measured: Sequence[MeasureScores], is_true: Flags, folds: Numbers, *, seed: int = 0
) -> Flags:
    """Return how the setting that is best on all other folds judges each pair."""

    def judge_all(known: Flags) -> Flags:
        measure, cut_off = pick_cut_off(measured, is_true, known)
        return measure.passes(cut_off)

    return judge_left_out(judge_all, folds, seed=seed)


def choose(
    measured: Sequence[MeasureScores],
    default: tuple[Decider, MeasureScores],
    is_true: Flags,
    *,
    folds: Numbers,
    units: Numbers,
    left_out: str,
    seed: int = 0,
) -> Choice:
    """Return the default and the best setting, compared.

    Pairs of one number in `folds` are left out together; pairs of one number in `units` are
    resampled together.
    """

    def make_setting(
        decider: Decider, measure: MeasureScores, cut_off: float, judged: Flags
    ) -> Setting:
        interval = estimate_f1(judged, is_true, units, seed=seed)
        return Setting(decider, measure, cut_off, judged, count_scores(judged, is_true), interval)

    def compare_f1(judged: Flags, other: Flags) -> tuple[float, float]:
        rows = np.hstack([count_outcomes(called, is_true, units) for called in (judged, other)])
        return estimate_interval(rows, lambda s: compute_f1(s[:3]) - compute_f1(s[3:]), seed=seed)

    decider, usual = default
    assert decider.cut_off is not None
    called = usual.passes(decider.cut_off)
    top, cut_off = pick_cut_off(measured, is_true, np.ones_like(is_true))
    judged = cross_validate(measured, is_true, folds, seed=seed)
    return Choice(
        make_setting(decider, usual, decider.cut_off, called),
        make_setting(top.deciders[0], top, cut_off, judged),
        interval=compare_f1(judged, called),
        knows=compare_f1(judged, np.ones_like(judged))[0] > 0,
        left_out=left_out,
    )


def list_sentences(choice: Choice) -> list[Message]:
    """Return the verdict: which setting to use, the default, and the best one."""
    default, best = choice.default, choice.best
    usual = Message(
        "Your labels: the default ({setting}) has F1 {f1} (95 %: {low} to {high}).",
        setting=Message("{recipe}: {bound}", recipe=default.decider.name, bound=default.rule),
        **_format_f1(default),
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
    return [advice, usual, Message(outcome, options=best.options, **changes, **_format_f1(best))]


def _format_f1(setting: Setting) -> dict[str, str]:
    low, high = setting.interval
    return {"f1": f"{setting.scores.f1:.3f}", "low": f"{low:.3f}", "high": f"{high:.3f}"}


@dataclass(frozen=True, repr=False)
class PairsEvaluation(ReprMixin):
    """Evaluation of measures, recipes and thresholds on labelled pairs.

    Parameters
    ----------
    cases : Cases
        The labels (`truth`), the `documents` of the input that have a text, and the places `a` and
        `b` of each pair in them.
    measures : tuple of MeasureResult
        The best first: by F1 on unseen pairs, then fewer false positives, then
        simpler.
    choice : Choice
        The default and the best setting, compared.
    evidence : tuple of Comparison
        What the advised setting finds in each pair; `verdict` says why it decides as it does.
    problems : int
        Records of the input without a usable text; they were left out.
    folder : Path or None
        Where tables, the figure and the report are.
    """

    cases: Cases
    measures: tuple[MeasureResult, ...]
    choice: Choice
    evidence: tuple[Comparison, ...]
    problems: int
    folder: Path | None

    def _summary_rows(self) -> Iterator[tuple[str, Any]]:
        is_true = self.cases.is_true
        yield "documents", len(self.cases.documents)
        yield "labels", f"{is_true.sum():,} duplicates, {(~is_true).sum():,} others"
        yield "verdict", list_sentences(self.choice)[0]
        for name, setting in (("default", self.choice.default), ("best", self.choice.best)):
            low, high = setting.interval
            yield name, f"F1 {setting.scores.f1:.3f} ({low:.3f} to {high:.3f}), {setting.rule}"
        yield "errors", sum(len(self.mistakes(found=found)) for found in (True, False))
        yield "folder", self.folder or "-"

    @property
    def best(self) -> MeasureResult:
        """The measure of the best setting."""
        chosen = self.choice.best.measured
        return next(measure for measure in self.measures if measure.measured is chosen)

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
            Places in `cases.truth.pairs`.
        """
        advised, is_true = self.choice.advised, self.cases.is_true
        wrong = (advised.called != is_true) & (is_true != found)
        likeness = advised.measured.likeness
        order = np.argsort(-likeness if found else likeness, kind="stable")
        return [place for place in order.tolist() if wrong[place]]
