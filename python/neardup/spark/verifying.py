"""Verification: documents go to the units that have pairs of them, each once, and are judged.

Pure functions of bytes, without Spark.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from neardup.spark.blobs import (
    batch_from_bytes,
    batch_to_bytes,
    binary,
    unpack,
)
from neardup.spark.numbering import numbers_of
from neardup.spark.records import texts_of
from neardup.spark.settings import Settings, core_recipe, core_rule
from neardup.spark.steps import Pairs, needed_by_unit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from neardup import _core


def answer(
    batch: int,
    records: bytes | None,
    features: bytes | None,
    sketches: bytes | None,
    requests: Iterable[bytes],
    settings: Settings,
) -> Iterator[tuple[int, bytes]]:
    """Yield units, and what the rule looks at of the documents that each of them needs.

    Texts, sketches or both; what it does not look at may be missing.
    """
    asked = needed_by_unit(requests)
    places = np.unique(np.concatenate(list(asked.values())))
    columns: dict[str, pa.Array[Any]] = {"number": pa.array(numbers_of(batch, places))}
    if settings.rule.keeps_texts:
        assert records is not None
        columns["text"] = texts_of(batch_from_bytes(records), places, settings)
    if settings.compares_sketches:
        assert sketches is not None
        assert features is not None
        every = unpack(sketches)
        columns["sketch"] = binary([every[place] for place in places.tolist()])
        columns["features"] = pa.array(np.frombuffer(features, np.int32)[places])
    known = pa.record_batch(columns)
    for unit, some in asked.items():
        rows = pa.array(np.searchsorted(places, some), pa.int64())
        yield unit, batch_to_bytes(known.take(rows))


def verify(
    pairs: Pairs,
    answers: Iterable[bytes],
    background: bytes | None,
    settings: Settings,
    documents: int,
) -> Pairs:
    """Return pairs with their similarities, NaN if not similar, and distances."""
    from neardup import _core

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
    a = order[np.searchsorted(numbers, pairs.later)].astype(np.uint32)
    b = order[np.searchsorted(numbers, pairs.earlier)].astype(np.uint32)
    similarity, distance = _core.judge_pairs(
        judge, recipe, _background(background), texts, sketches, features, a, b
    )
    return Pairs(pairs.later, pairs.earlier, similarity, distance)


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
