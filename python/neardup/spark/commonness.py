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


#: So many tables of the largest size are room for all parts together.
_ROOM = 8

#: Shingles of a table, at least.
_LEAST = 4096


def entries_of(parts: int) -> int:
    """Return how many shingles a table in one of so many parts of the input holds at most.

    The table of all holds so few of each that small tables know all that it will hold, unless
    most have the same texts, or few parts hold most of them.

    Examples
    --------
    >>> [entries_of(parts) for parts in (1, 8, 80, 80_000)]
    [6000000, 6000000, 600000, 4096]
    """
    from neardup import _core

    most = _core.MAX_SHINGLES
    return max(min(_ROOM * most // parts, most), _LEAST)


def probed(table: bytes) -> tuple[int, bytes]:
    """Return the level of a table, and the hashes of it by which that of all is told."""
    from neardup import _core

    level, probe = _core.probe_shingles(table)
    return level, probe.tobytes()


def level_of(probes: Sequence[bytes]) -> int:
    """Return the level that a table of all shingles will surely have at least, from all probes.

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


class Counting:
    """Counts the shingles of distinct texts.

    Parameters
    ----------
    settings : Settings
    """

    def __init__(self, settings: Settings) -> None:
        from neardup import _core

        self.documents = 0
        self._settings = settings
        self._recipe = core_recipe(settings)
        self._corpus = _core.Corpus(
            self._recipe, keeps_texts=False, shingle=settings.rule.counted_shingle, workers=1
        )

    def add(self, records: pa.RecordBatch, places: NDArray[np.int64]) -> None:
        """Count the texts of the records at some places."""
        from neardup._engine.ingest import readable

        read = batch_of(piece(records.take(places), self._settings))
        texts, units, _ = readable(read, self._settings.recipe, self._recipe)
        self._corpus.push(texts, titles=None, units=units)
        self.documents += len(places)

    def table(self) -> bytes:
        """Return what was counted."""
        table = self._corpus.counted_shingles()
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
