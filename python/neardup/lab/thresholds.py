"""The best cut-off of a measure, and its uncertainty.

A cut-off chosen on some pairs also fits their noise, so its F1 on them is too optimistic.
*Leave one out* avoids this: each pair is judged by the cut-off chosen on all other pairs. Pairs
that share a document know of each other, so they are left out together.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from neardup.lab.metrics import (
    Flags,
    Floats,
    Scores,
    average_precision,
    bootstrap_interval,
    contributions,
    count_scores,
    f1_of_sums,
    precision_recall_curve,
)

__all__ = ["Sweep", "best_cut_off", "leave_out", "sweep"]

Numbers = npt.NDArray[np.int64]

_RESAMPLES = 1000
#: Resamples and left-out groups computed in one batch.
_TOGETHER = 100
#: Beyond this number of folds, groups of them are left out together.
_GROUPS = 1000
_MOST_DIGITS = 15
#: A row after the last.
_NOTHING = 1 << 62


@dataclass(frozen=True)
class Sweep:
    """Scores of a measure at all its cut-offs."""

    precision: Floats
    recall: Floats
    at: Floats
    average_precision: float
    cut_off: float
    interval: tuple[float, float]
    best: Scores
    best_interval: tuple[float, float]
    left_out: Scores
    left_out_interval: tuple[float, float]
    judged: Flags


def best_cut_off(values: Floats, is_true: Flags, *, by_distance: bool = False) -> float:
    """Return the cut-off with the highest F1, as `sweep` does; infinite if there is none."""
    table = _Table(_likeness(values, by_distance), is_true, by_distance)
    return abs(table.cut(table.tp, table.fp))


def _likeness(values: Floats, by_distance: bool) -> Floats:
    """Return values of which more is more similar; minus infinity for no value."""
    return np.where(np.isnan(values), -math.inf, -values if by_distance else values)


def leave_out(folds: Numbers, most: int, *, seed: int = 0) -> Iterator[Flags]:
    """Yield which pairs are left out: one fold at a time, or seeded groups of them."""
    count = int(folds.max()) + 1
    groups = folds
    if count > most:
        generator = np.random.Generator(np.random.PCG64(seed))
        groups = (generator.permutation(count) % most)[folds]
    for group in range(int(groups.max()) + 1):
        yield groups == group


def sweep(
    values: Floats,
    is_true: Flags,
    *,
    by_distance: bool = False,
    folds: Numbers | None = None,
    units: Numbers | None = None,
    seed: int = 0,
) -> Sweep:
    """Return the scores of a measure at all cut-offs, and the best cut-off."""
    likeness = _likeness(values, by_distance)
    precision, recall, at = precision_recall_curve(likeness, is_true)
    table = _Table(likeness, is_true, by_distance)
    generator = np.random.Generator(np.random.PCG64(seed))
    folds = np.arange(len(values)) if folds is None else folds
    judged = table.judged_by_others(folds, seed)
    cut = table.cut(table.tp, table.fp)
    taken = likeness >= cut
    return Sweep(
        precision=precision[np.isfinite(at)],
        recall=recall[np.isfinite(at)],
        at=np.abs(at[np.isfinite(at)]),
        average_precision=average_precision(likeness, is_true),
        cut_off=abs(cut),
        interval=table.interval(generator),
        best=count_scores(taken, is_true),
        best_interval=_f1_interval(taken, is_true, units, seed),
        left_out=count_scores(judged, is_true),
        left_out_interval=_f1_interval(judged, is_true, units, seed),
        judged=judged,
    )


class _Table:
    """Counts of pairs by distinct likeness, the largest first."""

    def __init__(self, likeness: Floats, is_true: Flags, by_distance: bool) -> None:
        self._by_distance = by_distance
        self._is_true = is_true
        ascending, inverse = np.unique(likeness, return_inverse=True)
        self._row = len(ascending) - 1 - inverse
        self._likeness = likeness
        values = ascending[::-1]
        self._finite = int(np.isfinite(values).sum())
        self._values = values
        self.tp: Floats = np.bincount(self._row, is_true, len(values)).astype(np.float64)
        self.fp: Floats = np.bincount(self._row, ~is_true, len(values)).astype(np.float64)
        self._cuts = np.array([self._between(at) for at in range(self._finite)] or [math.inf])

    def cut(self, tp: Floats, fp: Floats) -> float:
        """The best cut for counts of true and other pairs by value."""
        return float(self._best(tp[None], fp[None], self._cuts[None])[0])

    def judged_by_others(self, folds: Numbers, seed: int) -> Flags:
        """Whether each pair is called a duplicate by the cut chosen on the other folds."""
        judged = np.zeros(len(self._row), np.bool_)
        for left_out in leave_out(folds, _GROUPS, seed=seed):
            out = np.flatnonzero(left_out)
            tp, fp = self.tp.copy(), self.fp.copy()
            np.subtract.at(tp, self._row[out], self._is_true[out])
            np.subtract.at(fp, self._row[out], ~self._is_true[out])
            # A value that only left-out pairs have must not influence the cut-off.
            left = np.flatnonzero((tp + fp)[: self._finite])
            cuts = np.array([self._between(at, nxt) for at, nxt in _steps(left)] or [math.inf])
            best = self._best(tp[None, left], fp[None, left], cuts[None], tp.sum())
            judged[out] = self._likeness[out] >= best[0]
        return judged

    def interval(self, generator: np.random.Generator) -> tuple[float, float]:
        """95 % of the best cuts of resampled pairs."""
        counts = np.concatenate([self.tp, self.fp])
        cuts = []
        for begin in range(0, _RESAMPLES, _TOGETHER):
            size = min(_TOGETHER, _RESAMPLES - begin)
            drawn = generator.multinomial(int(counts.sum()), counts / counts.sum(), size=size)
            tp, fp = np.split(drawn.astype(np.float64), 2, axis=1)
            # Without a true pair there is nothing to choose by.
            some = tp.sum(axis=1) > 0
            cuts.append(self._best(tp[some], fp[some], self._cuts[None]))
        found = np.abs(np.concatenate(cuts))
        low, high = np.percentile(found, [2.5, 97.5], method="nearest")
        return float(low), float(high)

    def _best(self, tp: Floats, fp: Floats, cuts: Floats, wanted: float | None = None) -> Floats:
        total = tp.sum(axis=1, keepdims=True) if wanted is None else np.array([[wanted]])
        if not self._finite or not tp.shape[1]:
            return np.full(len(tp), math.inf)
        width = cuts.shape[1]
        hits, wrong = np.cumsum(tp, axis=1)[:, :width], np.cumsum(fp, axis=1)[:, :width]
        f1 = f1_of_sums(np.stack([hits, wrong, total - hits]))
        best: Floats = np.take_along_axis(
            np.broadcast_to(cuts, f1.shape), f1.argmax(axis=1)[:, None], axis=1
        )[:, 0]
        return best

    def _between(self, at: int, following: int | None = None) -> float:
        """Return a short number that includes the value of a row and excludes the next one."""
        high = float(self._values[at])
        following = at + 1 if following is None else following
        low = float(self._values[following]) if following < self._finite else math.nan
        if math.isnan(low):
            return high if self._by_distance else _short(high, high)
        middle = (low + high) / 2
        return math.ceil(middle) if self._by_distance else _short(middle, high, low)


def _steps(left: npt.NDArray[np.intp]) -> list[tuple[int, int]]:
    """Return each row with the next one, and the last row with the end."""
    rows = left.tolist()
    return list(zip(rows, [*rows[1:], _NOTHING][: len(rows)], strict=True))


def _short(middle: float, high: float, low: float = -math.inf) -> float:
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


def _f1_interval(
    taken: Flags, is_true: Flags, units: Numbers | None, seed: int
) -> tuple[float, float]:
    rows = contributions(taken, is_true, units)
    return bootstrap_interval(rows, f1_of_sums, seed=seed)
