"""Rows of numbers in the bodies of blobs, and their division among receivers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from neardup.base.lazy import NDArray

#: The number of a document.
NUMBER = np.dtype("<i8")
#: The text of a document: 128 bits of identity, and the number of features.
TEXT_ROW = np.dtype(
    [("identity", [("low", "<u8"), ("high", "<u8")]), ("number", "<i8"), ("features", "<i4")]
)
#: An exact copy, and the first document of all with the same text; `distance` is that of the
#: fingerprints, -1 if there are none.
REPEAT = np.dtype([("number", "<i8"), ("first", "<i8"), ("distance", "<i4")])
PAIR = np.dtype([("later", "<i8"), ("earlier", "<i8")])
#: A pair and its similarity, NaN if it is not similar; distance is -1 without fingerprints.
JUDGED = np.dtype([*PAIR.descr, ("similarity", "<f8"), ("distance", "<i4")])
#: A document that is filed under a key.
FILED = np.dtype([("key", "<u4"), ("number", "<i8")])
#: A document of a batch that a unit needs.
NEED = np.dtype([("unit", "<i4"), ("place", "<i4")])


def find_distinct(numbers: NDArray[Any]) -> NDArray[Any]:
    """Return the distinct numbers, ascending. `np.unique` hashes them, which takes far longer."""
    ordered: NDArray[Any] = np.sort(numbers)
    distinct: NDArray[Any] = ordered[are_new(ordered)]
    return distinct


def are_new(*keys: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which rows have other keys than the row before."""
    is_new = np.ones(len(keys[0]), np.bool_)
    is_new[1:] = False
    for key in keys:
        is_new[1:] |= key[1:] != key[:-1]
    return is_new


def divide_rows(
    keys: NDArray[np.int64], values: NDArray[Any]
) -> Iterator[tuple[int, NDArray[Any]]]:
    """Yield the keys, ascending, and the values of each."""
    keys, places = np.unique(keys, return_inverse=True)
    # Small numbers are sorted in one pass.
    order = np.argsort(places.astype(np.min_scalar_type(len(keys))), kind="stable")
    ends = np.cumsum(np.bincount(places, minlength=len(keys)))
    yield from zip(keys.tolist(), np.split(values[order], ends)[: len(keys)], strict=True)
