"""The best cut-off of a measure, and how well it does on pairs that did not choose it.

A cut-off also fits the noise of the pairs that chose it, so each pair is judged by the cut-off of
the pairs that share no document with it.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from neardup.lab.metrics import Flags, Floats, Numbers, f1_of_sums

__all__ = ["best_cut_off", "judge_left_out", "likeness_of"]

#: Beyond this number of folds, groups of them are left out together.
_FOLDS = 100
_MOST_DIGITS = 15
#: Less than every similarity and every negative distance.
_NO_VALUE = -1e9


def likeness_of(values: Floats, *, by_distance: bool) -> Floats:
    """Return values of which more is more similar; for no value less than any other."""
    likeness = -values if by_distance else values
    # scikit-learn takes finite numbers only.
    return np.where(np.isnan(values), _NO_VALUE, likeness)


def judge_left_out(call: Callable[[Flags], Flags], folds: Numbers, *, seed: int = 0) -> Flags:
    """Return how each pair is judged by what the pairs outside its fold decide.

    `call` takes which pairs are known, and returns whether each pair is called a duplicate. Of
    more than a hundred folds, seeded groups are left out together.
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


def best_cut_off(values: Floats, is_true: Flags, *, by_distance: bool = False) -> float:
    """Return the cut-off with the highest F1, the strictest of several; NaN without a value.

    It is a short number between the last value that it includes and the next one.
    """
    likeness = likeness_of(values, by_distance=by_distance)
    ascending, inverse = np.unique(likeness, return_inverse=True)
    distinct = ascending[::-1]
    rows = len(distinct) - 1 - inverse
    hits, wrong = (
        np.cumsum(np.bincount(rows, flags, len(distinct))) for flags in (is_true, ~is_true)
    )
    count = int((distinct > _NO_VALUE).sum())
    if not count:
        return math.nan
    f1 = f1_of_sums(np.stack([hits, wrong, hits[-1] - hits])[:, :count])
    row = int(f1.argmax())
    high = float(distinct[row])
    low = float(distinct[row + 1]) if row + 1 < count else -math.inf
    middle = high if math.isinf(low) else (low + high) / 2
    # Negative distances: the smallest whole number above the middle.
    return float(-math.ceil(middle)) if by_distance else _short(middle, high, low)


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
