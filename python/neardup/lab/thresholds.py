"""The best cut-off of a measure, and its uncertainty.

A cut-off also fits the noise of the pairs that chose it, so each pair is judged by the cut-off of
the pairs that share no document with it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from neardup.lab.metrics import (
    Flags,
    Floats,
    Numbers,
    Scores,
    bootstrap_interval,
    contributions,
    count_scores,
    f1_of_sums,
)

__all__ = ["Sweep", "best_cut_off", "judge_left_out", "sweep"]

_RESAMPLES = 1000
#: Resamples computed in one batch.
_BATCH = 100
#: Beyond this number of folds, groups of them are left out together.
_GROUPS = 1000
_MOST_DIGITS = 15


@dataclass(frozen=True)
class Sweep:
    """Scores of a measure at all its cut-offs."""

    precision: Floats
    recall: Floats
    cut_offs: Floats
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
    return abs(_best_cut(_likeness(values, by_distance), is_true, by_distance))


def judge_left_out(
    call: Callable[[Flags], Flags], folds: Numbers, most: int, *, seed: int = 0
) -> Flags:
    """Return how each pair is judged by what the pairs outside its fold decide.

    `call` takes which pairs are known, and returns whether each pair is called a duplicate. With
    more than `most` folds, seeded groups of them are left out together.
    """
    count = int(folds.max()) + 1
    groups = folds
    if count > most:
        generator = np.random.Generator(np.random.PCG64(seed))
        groups = (generator.permutation(count) % most)[folds]
    judged = np.zeros(len(folds), np.bool_)
    for group in range(int(groups.max()) + 1):
        left_out = groups == group
        judged[left_out] = call(~left_out)[left_out]
    return judged


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
    distinct, tp, fp = _counts(likeness, is_true)
    hits = np.cumsum(tp)
    precision, recall = hits / (hits + np.cumsum(fp)), hits / max(hits[-1], 1)
    has_value = np.isfinite(distinct)
    folds = np.arange(len(values)) if folds is None else folds

    def call(known: Flags) -> Flags:
        return likeness >= _best_cut(likeness[known], is_true[known], by_distance)

    judged = judge_left_out(call, folds, _GROUPS, seed=seed)
    cut = _best_cut(likeness, is_true, by_distance)
    taken = likeness >= cut
    return Sweep(
        precision=precision[has_value],
        recall=recall[has_value],
        cut_offs=np.abs(distinct[has_value]),
        average_precision=float(np.sum(precision * np.diff(recall, prepend=0.0))),
        cut_off=abs(cut),
        interval=_cut_off_interval(likeness, is_true, by_distance, seed),
        best=count_scores(taken, is_true),
        best_interval=_f1_interval(taken, is_true, units, seed),
        left_out=count_scores(judged, is_true),
        left_out_interval=_f1_interval(judged, is_true, units, seed),
        judged=judged,
    )


def _likeness(values: Floats, by_distance: bool) -> Floats:
    """Return values of which more is more similar; minus infinity for no value."""
    return np.where(np.isnan(values), -math.inf, -values if by_distance else values)


def _best_cut(likeness: Floats, is_true: Flags, by_distance: bool) -> float:
    """Return the likeness of the highest F1; infinite if no pair has a value."""
    distinct, tp, fp = _counts(likeness, is_true)
    (row,) = _best_rows(distinct, tp[None], fp[None])
    return _cut(distinct, row, by_distance)


def _counts(likeness: Floats, is_true: Flags) -> tuple[Floats, Floats, Floats]:
    """Return the distinct values, the largest first, and how many true and other pairs have each.

    Minus infinity, if a pair has it, is the last one.
    """
    ascending, inverse = np.unique(likeness, return_inverse=True)
    rows = len(ascending) - 1 - inverse
    tp: Floats = np.bincount(rows, is_true, len(ascending)).astype(np.float64)
    fp: Floats = np.bincount(rows, ~is_true, len(ascending)).astype(np.float64)
    return ascending[::-1], tp, fp


def _best_rows(distinct: Floats, tp: Floats, fp: Floats) -> list[int]:
    """Return for each row of counts which value is the best one to cut at; -1 if none is."""
    count = int(np.isfinite(distinct).sum())
    if not count:
        return [-1] * len(tp)
    hits, wrong = (np.cumsum(counts, axis=1) for counts in (tp, fp))
    f1 = f1_of_sums(np.stack([hits, wrong, hits[:, -1:] - hits])[:, :, :count])
    rows: list[int] = f1.argmax(axis=1).tolist()
    return rows


def _cut(distinct: Floats, row: int, by_distance: bool) -> float:
    """Return a short number that includes the value of a row and excludes the next one."""
    if row < 0:
        return math.inf
    high, *rest = distinct[row : row + 2].tolist()
    low = rest[0] if rest else -math.inf
    if math.isinf(low):
        return high if by_distance else _short(high, high)
    middle = (low + high) / 2
    return math.ceil(middle) if by_distance else _short(middle, high, low)


def _cut_off_interval(
    likeness: Floats, is_true: Flags, by_distance: bool, seed: int
) -> tuple[float, float]:
    """Return 95 % of the best cut-offs of resampled pairs."""
    distinct, tp, fp = _counts(likeness, is_true)
    generator = np.random.Generator(np.random.PCG64(seed))
    counts = np.concatenate([tp, fp])
    rows = []
    for _ in range(0, _RESAMPLES, _BATCH):
        drawn = generator.multinomial(int(counts.sum()), counts / counts.sum(), size=_BATCH)
        tp, fp = np.split(drawn.astype(np.float64), 2, axis=1)
        # Without a true pair there is nothing to choose by.
        has_true = tp.any(axis=1)
        rows += _best_rows(distinct, tp[has_true], fp[has_true])
    cuts = {row: abs(_cut(distinct, row, by_distance)) for row in set(rows)}
    low, high = np.percentile([cuts[row] for row in rows], [2.5, 97.5], method="nearest")
    return float(low), float(high)


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
