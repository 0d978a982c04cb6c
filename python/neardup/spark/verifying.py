"""Verification: documents go to the batches that have pairs of them, each once, and are judged.

Pure functions of bytes, without Spark.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from neardup.spark.blobs import (
    batch_from_bytes,
    batch_to_bytes,
    binary,
    numbers_from_bytes,
    unpack,
)
from neardup.spark.numbering import places_of
from neardup.spark.records import texts_of
from neardup.spark.settings import Settings, core_recipe, core_rule
from neardup.spark.steps import UNKNOWN, pairs_from_bytes, pairs_to_bytes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from neardup import _core


def answer(
    records: bytes | None,
    features: bytes,
    sketches: bytes,
    requests: Sequence[bytes],
    settings: Settings,
) -> list[bytes]:
    """Return what the rule looks at of the documents that each of the requests names.

    Texts, sketches or both; `records` may be missing if it looks at no texts.
    """
    asked = [numbers_from_bytes(request) for request in requests]
    needed = np.unique(np.concatenate(asked))
    places = places_of(needed)
    columns: dict[str, pa.Array[Any]] = {"number": pa.array(needed)}
    if settings.rule.keeps_texts:
        assert records is not None
        columns["text"] = texts_of(batch_from_bytes(records), places, settings)
    if settings.compares_sketches:
        every = unpack(sketches)
        columns["sketch"] = binary([every[place] for place in places.tolist()])
        columns["features"] = pa.array(np.frombuffer(features, np.int32)[places])
    known = pa.record_batch(columns)
    places_of_each = (np.searchsorted(needed, some) for some in asked)
    return [batch_to_bytes(known.take(pa.array(rows, pa.int64()))) for rows in places_of_each]


def verify(
    pairs: bytes,
    answers: Iterable[bytes],
    background: bytes | None,
    settings: Settings,
    documents: int,
) -> bytes:
    """Fill in similarities, NaN if not similar, and distances of pairs not judged yet."""
    from neardup import _core

    later, earlier, similarity, distance = pairs_from_bytes(pairs)
    new = np.flatnonzero(similarity == UNKNOWN)
    if not len(new):
        return pairs
    got = pa.Table.from_batches([batch_from_bytes(blob) for blob in answers])
    order = np.argsort(got.column("number").to_numpy())
    numbers = got.column("number").to_numpy()[order]
    texts: Any = pa.nulls(len(numbers), pa.large_string())
    if settings.rule.keeps_texts:
        texts = pa.concat_arrays(got.column("text").chunks)
    sketches: list[Any]
    if settings.compares_sketches:
        sketches = got.column("sketch").to_pylist()
        features = got.column("features").to_numpy().astype(np.uint32)
    else:
        sketches = [_no_sketch(settings)] * len(numbers)
        features = np.zeros(len(numbers), np.uint32)
    judge, recipe = core_rule(settings, documents), core_recipe(settings)
    similarity, distance = similarity.copy(), distance.copy()
    a = order[np.searchsorted(numbers, later[new])].astype(np.uint32)
    b = order[np.searchsorted(numbers, earlier[new])].astype(np.uint32)
    similarity[new], distance[new] = _core.judge_pairs(
        judge, recipe, _background(background), texts, sketches, features, a, b
    )
    return pairs_to_bytes(later, earlier, similarity, distance)


@lru_cache(maxsize=8)
def _no_sketch(settings: Settings) -> bytes:
    """Return the sketch of nothing, which stands for one that the rule does not look at."""
    from neardup import _core

    corpus = _core.Corpus(core_recipe(settings), keeps_texts=False, shingle=None, workers=1)
    corpus.push(pa.array([""], pa.large_string()), titles=None, units=None)
    return bytes(corpus.sketches()[0])


@lru_cache(maxsize=2)
def _background(blob: bytes | None) -> _core.Background | None:
    """Return what is common; it is read once in each process."""
    from neardup import _core

    return None if blob is None else _core.Background.from_bytes(blob)


def similar(
    pairs: bytes,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64], NDArray[np.int32]]:
    """Return those of the judged pairs that are similar."""
    later, earlier, similarity, distance = pairs_from_bytes(pairs)
    holds = similarity >= 0
    return later[holds], earlier[holds], similarity[holds], distance[holds]


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
