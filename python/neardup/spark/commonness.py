"""What the collection has in common: shingles, counted once for each distinct text.

Each group of batches counted its own; texts that came before in another group are counted
too often. Their shingles are counted again and taken off. That is exact: such a text has
the same shingles as its first copy, so the table's shingles, and by them the share of
shingles that is counted, are right already, and only counts are too high.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from neardup.spark.records import batch_of, piece
from neardup.spark.settings import Settings, core_recipe

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

#: The bytes of a table: the format, the share of shingles that is counted, texts,
#: shingles; then each shingle with its count.
_HEAD = np.dtype([("format", "<u4"), ("level", "<u4"), ("texts", "<u8"), ("shingles", "<u8")])
_SHINGLE = np.dtype([("hash", "<u8"), ("count", "<u4")])


#: Shingles that a table holds at most; the core's.
ENTRIES = 6_000_000

#: One in so many shingles is in the sample by which all are estimated. The last bits of a
#: hash decide, since the first ones decide by which shingles a long text is counted.
ONE_IN = 1024

#: How far the estimate must be above what a table holds: for a sample of the size that
#: decides it, ten times its standard deviation.
_MARGIN = 1.15


def sampled(table: bytes) -> bytes:
    """Return the hashes of a table that are in the sample, as bytes."""
    _, shingles = _read(table)
    hashes: bytes = shingles["hash"][shingles["hash"] % ONE_IN == 0].tobytes()
    return hashes


def level_of(samples: Sequence[bytes]) -> int:
    """Return the level that a table of all shingles will surely have, from all samples.

    A level says that so many leading bits of a hash are zero; a table's goes up when it
    would hold too many, so what is below the last one need not be merged.
    """
    distinct = np.unique(np.concatenate([np.frombuffer(s, np.uint64) for s in samples]))
    level = 0
    while _of_level(distinct, level).sum() * ONE_IN > ENTRIES * _MARGIN:
        level += 1
    return level


def thinned(table: bytes, level: int) -> bytes:
    """Return a table at a level, or at its own if that is higher."""
    head, shingles = _read(table)
    if head["level"][0] >= level:
        return table
    shingles = shingles[_of_level(shingles["hash"], level)]
    head["level"], head["shingles"] = level, len(shingles)
    return head.tobytes() + shingles.tobytes()


def _of_level(hashes: NDArray[np.uint64], level: int) -> NDArray[np.bool_]:
    if not level:
        return np.ones(len(hashes), np.bool_)
    is_of: NDArray[np.bool_] = hashes >> np.uint64(64 - level) == 0
    return is_of


def merged(tables: Sequence[bytes]) -> bytes:
    """Return one table for several."""
    from neardup import _core

    return tables[0] if len(tables) == 1 else _core.merge_shingles(list(tables))


def counted(records: pa.RecordBatch, places: NDArray[np.int64], settings: Settings) -> bytes:
    """Count the shingles of the texts at some places, equal ones as often as they come."""
    from neardup import _core
    from neardup.collect import readable

    read = batch_of(piece(records.take(places), settings))
    recipe = core_recipe(settings)
    texts, units, _ = readable(read, settings.recipe, recipe)
    shingle = settings.rule.counted_shingle
    corpus = _core.Corpus(recipe, keeps_texts=False, shingle=shingle, workers=1)
    corpus.push(texts, titles=None, units=units)
    table = corpus.counted_shingles()
    assert table is not None
    return table


def without(table: bytes, taken_off: bytes) -> bytes:
    """Return a table less another, whose texts are all in the first.

    Examples
    --------
    >>> without(_table(0, 3, [(7, 3), (9, 1)]), _table(0, 1, [(7, 1)])) == _table(
    ...     0, 2, [(7, 2), (9, 1)])
    True
    """
    head, shingles = _read(table)
    less, others = _read(taken_off)
    order = np.argsort(shingles["hash"])
    sorted_hashes = shingles["hash"][order]
    at = np.searchsorted(sorted_hashes, others["hash"])
    at = np.minimum(at, len(sorted_hashes) - 1)
    # Shingles that only a larger share would hold are not there.
    there = sorted_hashes[at] == others["hash"] if len(sorted_hashes) else np.zeros(0, np.bool_)
    shingles["count"][order[at[there]]] -= others["count"][there]
    head["texts"] -= less["texts"]
    return head.tobytes() + shingles.tobytes()


def background(table: bytes, documents: int) -> bytes:
    """Return what of a table is needed to compare texts: the shingles that are common."""
    from neardup import _core

    return _core.Background.of_shingles(documents, table).to_bytes()


def _read(table: bytes) -> tuple[np.ndarray, np.ndarray]:
    head = np.frombuffer(table, _HEAD, 1).copy()
    return head, np.frombuffer(table, _SHINGLE, offset=_HEAD.itemsize).copy()


def _table(level: int, texts: int, shingles: list[tuple[int, int]]) -> bytes:
    head = np.array([(1, level, texts, len(shingles))], _HEAD)
    return head.tobytes() + np.array(shingles, _SHINGLE).tobytes()
