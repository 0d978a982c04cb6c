"""Intervals for shares measured on a sample, by the bootstrap."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from neardup._engine.validation import bad, check_whole

__all__ = ["bootstrap_interval"]

#: The interval leaves out so much at each end, in percent.
_TAIL = 2.5


def bootstrap_interval(
    contributions: npt.ArrayLike,
    statistic: Callable[[npt.NDArray[np.float64]], npt.NDArray[np.float64]],
    *,
    seed: int = 0,
    resamples: int = 1000,
) -> tuple[float, float]:
    """Return the 95 % interval of a statistic of sums.

    Parameters
    ----------
    contributions : array-like of shape (n_items, n_sums)
        What each item, a pair or a document, adds to each of some sums; for
        F1 over pairs one row such as ``(1, 0, 0)`` for each pair that is tp,
        fp or fn.
    statistic : callable
        Sums, of shape (n_sums, resamples), to values of shape (resamples,).
    seed : int, default=0
        At least 0.
    resamples : int, default=1000
        How often the items are drawn again, with replacement; at least 1.

    Returns
    -------
    (float, float)
        The percentiles 2.5 and 97.5 of the values. (nan, nan) without items.

    Raises
    ------
    ParameterError
        If a parameter is out of bounds.

    Notes
    -----
    The percentile bootstrap [1]_. Items of equal rows are drawn together from
    a multinomial, which is the same and takes time by the number of
    different rows instead of items.

    References
    ----------
    .. [1] Efron, Tibshirani. An introduction to the bootstrap. 1993.

    Examples
    --------
    >>> low, high = bootstrap_interval([[1], [0]] * 50, lambda sums: sums[0] / 100)
    >>> 0.3 < low < 0.5 < high < 0.7
    True
    """
    rows = np.asarray(contributions, np.float64)
    if rows.ndim != 2:
        raise bad("contributions", "lab.row_an_item", contributions)
    check_whole(seed, "seed", 0)
    check_whole(resamples, "resamples", 1)
    if not len(rows):
        return float("nan"), float("nan")
    kinds, counts = np.unique(rows, axis=0, return_counts=True)
    generator = np.random.Generator(np.random.PCG64(seed))
    drawn = generator.multinomial(len(rows), counts / len(rows), size=resamples)
    values = statistic((drawn @ kinds).T)
    low, high = np.percentile(values, [_TAIL, 100 - _TAIL])
    return float(low), float(high)
