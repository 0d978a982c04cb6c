"""The default and the best setting for labelled pairs, and whether they really differ.

The best setting is the recipe and bound that do best on the labels. Measured on the labels that
chose it, it would look better than it is. So each pair is judged by the setting that is best on
the other pairs: measure and cut-off are both chosen without it.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from neardup.base.messages import Message
from neardup.lab.experiments.labelled_pairs.measures import Decider, Measured
from neardup.lab.experiments.labelled_pairs.ranking import lead
from neardup.lab.metrics import Accuracy, Flags, accuracy, count_scores
from neardup.lab.thresholds import best_cut_off, leave_out
from neardup.recipe import NAMES, Recipe, load_recipe

__all__ = ["Choice", "Setting", "choose", "judged_by_others", "pick", "sentences"]

Numbers = npt.NDArray[np.int64]

#: With more folds than this, groups of them are left out together.
_FOLDS = 100


@dataclass(frozen=True)
class Setting:
    """A recipe with a bound, and how it does on the labels.

    Parameters
    ----------
    decider : Decider
        The recipe.
    measured : Measured
        The measure that it decides by.
    cut_off : float
        The bound, inclusive: a threshold or a largest distance.
    judged : ndarray of shape (n_pairs,), bool
        Whether each pair is called duplicates by a setting chosen without it. The default was
        not chosen on these pairs, so it judges all of them itself.
    accuracy : Accuracy
        Of `judged`.
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

    Parameters
    ----------
    default, best : Setting
    gain : float
        F1 of `best` minus that of `default`, both on pairs that did not choose the setting.
    interval : (float, float)
        95 % interval of it, from paired resamples.
    knows : bool
        Whether `best` is better by more than chance than to call all pairs duplicates.
    left_out : {"group", "shared", "pair"}
        What was left out at a time: a group that the labels name, pairs that share documents,
        or a single pair, where most pairs hang together.
    folds : int
        How many parts of the labels were left out one by one.
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
        one, other = self.default, self.best
        return one.measured is other.measured and one.cut_off == other.cut_off

    @property
    def is_better(self) -> bool:
        """Whether the best setting is better by more than chance explains."""
        return not self.is_same and self.interval[0] > 0 and self.knows

    @property
    def is_promising(self) -> bool:
        """Whether the best setting is better on these labels, be it by chance."""
        return not self.is_same and self.gain > 0 and self.knows

    @property
    def advised(self) -> Setting:
        """The best setting if it is better than the default, else the default."""
        return self.best if self.is_better else self.default


def pick(measured: Sequence[Measured], is_true: Flags, known: Flags) -> tuple[Measured, float]:
    """Return the measure and cut-off with the highest F1 on some of the pairs.

    Parameters
    ----------
    measured : sequence of Measured
        Of equally good ones the first is taken.
    is_true, known : ndarray of shape (n_pairs,), bool
        Only pairs that are `known` are looked at.
    """
    cut_offs = [
        best_cut_off(one.values[known], is_true[known], by_distance=one.by_distance)
        for one in measured
    ]
    f1 = [
        count_scores(one.passes(cut_off)[known], is_true[known]).f1
        for one, cut_off in zip(measured, cut_offs, strict=True)
    ]
    at = int(np.argmax(f1))
    return measured[at], cut_offs[at]


def judged_by_others(
    measured: Sequence[Measured], is_true: Flags, folds: Numbers, *, seed: int = 0
) -> Flags:
    """Return how the setting that is best on all other folds judges each pair.

    Parameters
    ----------
    measured, is_true
        As in `pick`.
    folds : ndarray of shape (n_pairs,), dtype int64
        Numbers from 0. Up to 100 are left out one by one, more of them in 100 seeded groups.
    seed : int, default=0
    """
    judged = np.zeros(len(is_true), np.bool_)
    for out in leave_out(folds, _FOLDS, seed=seed):
        one, cut_off = pick(measured, is_true, ~out)
        judged[out] = one.passes(cut_off)[out]
    return judged


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
    """Return the default and the best setting, compared.

    Parameters
    ----------
    measured : sequence of Measured
        Those that a recipe can decide by; of equally good ones the first is taken.
    default : (Decider, Measured)
    is_true : ndarray of shape (n_pairs,), bool
    folds, units : ndarray of shape (n_pairs,), dtype int64
        Pairs that are left out together, and those that are resampled together.
    left_out : {"group", "shared", "pair"}
        What a fold is.
    seed : int, default=0
    """
    decider, usual = default
    assert decider.cut_off is not None
    called = usual.passes(decider.cut_off)
    top, cut_off = pick(measured, is_true, np.ones_like(is_true))
    judged = judged_by_others(measured, is_true, folds, seed=seed)
    first, second = (accuracy(one, is_true, units, seed=seed) for one in (called, judged))
    return Choice(
        Setting(decider, usual, decider.cut_off, called, first),
        Setting(top.deciders[0], top, cut_off, judged, second),
        gain=second.scores.f1 - first.scores.f1,
        interval=lead(judged, called, is_true, units, seed),
        knows=lead(judged, np.ones_like(judged), is_true, units, seed)[0] > 0,
        left_out=left_out,
        folds=len(np.unique(folds)),
    )


def sentences(choice: Choice) -> list[Message]:
    """Return the verdict: which setting to use, the default, and the best one."""
    default, best = choice.default, choice.best
    usual = Message("lab.verdict_default", setting=_described(default), **_f1(default))
    stay = Message("lab.verdict_stay")
    if choice.is_same:
        return [stay, usual]
    values = {
        "options": best.options,
        "gain": f"{choice.gain:+.3f}",
        "gain_low": f"{choice.interval[0]:+.3f}",
        "gain_high": f"{choice.interval[1]:+.3f}",
        **_f1(best),
    }
    if choice.is_better:
        use = Message("lab.verdict_use", options=best.options)
        return [use, usual, Message("lab.verdict_better", **values)]
    code = "lab.verdict_chance" if choice.gain > 0 else "lab.verdict_no_better"
    return [stay, usual, Message(code, **values)]


def _described(setting: Setting) -> Message:
    bound = f"{setting.measured.name} {setting.measured.bound(setting.cut_off)}"
    return Message("lab.setting", recipe=setting.decider.name, bound=bound)


def _f1(setting: Setting) -> dict[str, str]:
    low, high = setting.accuracy.f1
    return {
        "f1": f"{setting.accuracy.scores.f1:.3f}",
        "low": f"{low:.3f}",
        "high": f"{high:.3f}",
    }
