"""Measures of labelled pairs, the best first: their cut-offs, and how far apart they are."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from neardup.lab.experiments.labelled_pairs.measures import Measured
from neardup.lab.metrics import (
    Flags,
    Scores,
    bootstrap_interval,
    contributions,
    count_scores,
    f1_of_sums,
)
from neardup.lab.thresholds import Sweep, sweep

__all__ = ["MeasureResult", "lead", "ranked"]

Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class MeasureResult:
    """How well one measure separates duplicates from other pairs.

    Parameters
    ----------
    measured : Measured
        Name, values, and the recipes that decide by it.
    sweep : Sweep
        At all cut-offs.
    default : Scores or None
        At the own cut-off of the first recipe that decides by it; None without.
    lead : (float, float)
        95 % interval of the F1 of the best measure that can decide minus that of this
        one, each fold left out in turn; from paired resamples.
    """

    measured: Measured
    sweep: Sweep
    default: Scores | None
    lead: tuple[float, float]

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
        cut_off = self.sweep.cut_off
        is_bound = math.isfinite(cut_off) if self.measured.by_distance else 0 < cut_off <= 1
        return self.can_decide and is_bound


def lead(
    one: Flags, other: Flags, is_true: Flags, units: Numbers, seed: int
) -> tuple[float, float]:
    """Return the 95 % interval of the F1 of one judgement minus that of another.

    Both are looked at on the same resamples.
    """
    rows = np.hstack([contributions(judged, is_true, units) for judged in (one, other)])
    return bootstrap_interval(rows, lambda s: f1_of_sums(s[:3]) - f1_of_sums(s[3:]), seed=seed)


def ranked(
    measured: list[Measured],
    is_true: Flags,
    folds: Numbers,
    units: Numbers,
    seed: int,
) -> tuple[MeasureResult, ...]:
    """Return all measures, the best first; of equals the first one is simpler.

    Parameters
    ----------
    measured : list of Measured
    is_true : ndarray of shape (n_pairs,), bool
    folds, units : ndarray of shape (n_pairs,), dtype int64
        Pairs that are left out together, and those that are resampled together.
    seed : int
    """

    def its_sweep(one: Measured) -> Sweep:
        how = one.by_distance
        return sweep(one.values, is_true, by_distance=how, folds=folds, units=units, seed=seed)

    swept = [(one, its_sweep(one)) for one in measured]
    swept.sort(key=lambda entry: (-entry[1].left_out.f1, entry[1].left_out.fp))
    top = next((s for m, s in swept if m.deciders), swept[0][1])
    results = []
    for one, its in swept:
        own = one.own_cut_off
        default = None if own is None else count_scores(one.passes(own), is_true)
        ahead = lead(top.judged, its.judged, is_true, units, seed)
        results.append(MeasureResult(one, its, default, ahead))
    return tuple(results)
