"""Verification: texts go to the batches that have pairs of them, each once, and are compared.

Pure functions of bytes, without Spark.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from neardup.spark.blobs import (
    batch_from_bytes,
    batch_to_bytes,
    numbers_from_bytes,
)
from neardup.spark.numbering import places_of
from neardup.spark.records import texts_of
from neardup.spark.settings import Settings, core_recipe, core_rule
from neardup.spark.steps import UNKNOWN, pairs_from_bytes, pairs_to_bytes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from neardup import _core


def answer(records: bytes, requests: Sequence[bytes], settings: Settings) -> list[bytes]:
    """Return the texts of a batch that each of the requests names."""
    asked = [numbers_from_bytes(request) for request in requests]
    needed = np.unique(np.concatenate(asked))
    texts = texts_of(batch_from_bytes(records), places_of(needed), settings)
    answers = []
    for some in asked:
        rows = texts.take(pa.array(np.searchsorted(needed, some), pa.int64()))
        answers.append(batch_to_bytes(pa.record_batch({"number": pa.array(some), "text": rows})))
    return answers


def verify(
    pairs: bytes,
    answers: Iterable[bytes],
    background: bytes | None,
    settings: Settings,
    documents: int,
) -> bytes:
    """Fill in the similarities of the pairs that are not verified yet; NaN if not similar."""
    from neardup import _core

    later, earlier, similarity = pairs_from_bytes(pairs)
    new = np.flatnonzero(similarity == UNKNOWN)
    if not len(new):
        return pairs
    got = pa.Table.from_batches([batch_from_bytes(blob) for blob in answers])
    order = np.argsort(got.column("number").to_numpy())
    numbers = got.column("number").to_numpy()[order]
    texts = got.column("text").combine_chunks()
    if isinstance(texts, pa.ChunkedArray):
        texts = pa.concat_arrays(texts.chunks)
    compare, recipe = core_rule(settings, documents), core_recipe(settings)
    similarity = similarity.copy()
    a = order[np.searchsorted(numbers, later[new])].astype(np.uint32)
    b = order[np.searchsorted(numbers, earlier[new])].astype(np.uint32)
    similarity[new] = _core.verify_pairs(compare, recipe, _background(background), texts, a, b)
    return pairs_to_bytes(later, earlier, similarity)


@lru_cache(maxsize=2)
def _background(blob: bytes | None) -> _core.Background | None:
    """Return what is common; it is read once in each process."""
    from neardup import _core

    return None if blob is None else _core.Background.from_bytes(blob)


def similar(pairs: bytes) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Return those of the verified pairs that are similar."""
    later, earlier, similarity = pairs_from_bytes(pairs)
    holds = similarity >= 0
    return later[holds], earlier[holds], similarity[holds]


def dropped_of(later: NDArray[np.int64], earlier: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the documents that the one rule drops, from all similar pairs.

    Examples
    --------
    A chain: the second repeats the first, and so the third is kept.

    >>> dropped_of(np.array([2, 3, 4]), np.array([1, 2, 2])).tolist()
    [2]
    """
    order = np.argsort(later, kind="stable")
    dropped: set[int] = set()
    for document, other in zip(later[order].tolist(), earlier[order].tolist(), strict=True):
        if other not in dropped:
            dropped.add(document)
    return np.array(sorted(dropped), np.int64)
