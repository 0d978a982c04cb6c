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


def probed(table: bytes) -> bytes:
    """Return the hashes of a table by which the level of all tables is told, as bytes."""
    from neardup import _core

    probe: bytes = _core.probe_shingles(table).tobytes()
    return probe


def level_of(probes: Sequence[bytes]) -> int:
    """Return the level that a table of all shingles will surely have, from all probes.

    A level says that so many leading bits of a hash are zero; a table's goes up when it
    would hold too many, so what is below the last one need not be merged.
    """
    from neardup import _core

    return _core.level_of_probes(np.frombuffer(b"".join(probes), np.uint64))


def thinned(table: bytes, level: int) -> bytes:
    """Return a table at a level, or at its own if that is higher."""
    from neardup import _core

    return _core.thin_shingles(table, level)


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
    """Return a table less another, whose texts are all in the first."""
    from neardup import _core

    return _core.subtract_shingles(table, taken_off)


def background(table: bytes, documents: int) -> bytes:
    """Return what of a table is needed to compare texts: the shingles that are common."""
    from neardup import _core

    return _core.Background.of_shingles(documents, table).to_bytes()
