"""The one rule, by rounds: who is dropped, from pairs that are nowhere all together.

A document is dropped as soon as one before it that it is similar to is known to be kept,
and kept as soon as all of those are known to be dropped. A round settles all documents
with a neighbour that no pair makes the later one. When few pairs are left, one task
settles them in order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING

import pyarrow as pa

from neardup.spark.checkpoint import Checkpoint
from neardup.spark.verifying import dropped_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

#: Pairs that one task settles: some 400 MB, and a few seconds.
FEW_PAIRS = 4_000_000


def dropped(
    pairs: DataFrame, most: int, checkpoint: Checkpoint, name: str, few: int
) -> tuple[DataFrame, int]:
    """Return the numbers of the documents that are dropped, and how many rounds it took.

    Parameters
    ----------
    pairs : DataFrame
        ``later`` and ``earlier``: similar pairs.
    most : int
        So many pairs at most are known to be there.
    checkpoint : Checkpoint
    name : str
        Of the stage.
    few : int
        Pairs that one task settles.
    """
    left = pairs.select("later", "earlier")
    rounds = 0
    parts: list[DataFrame] = []
    while most > few and (most := left.count()) > few:
        # Whoever is the later one of no pair has nothing that could drop it.
        kept = (
            left.select("earlier")
            .distinct()
            .join(left.select(left.later.alias("earlier")).distinct(), "earlier", "left_anti")
        )
        of_kept = left.join(kept, "earlier", "left_semi")
        found = of_kept.select(left.later.alias("number")).distinct()
        now = checkpoint.stage(f"{name}/round-{rounds}/dropped", partial(_same, found))
        rest = left.join(now, left.later == now.number, "left_anti")
        rest = rest.join(now, rest.earlier == now.number, "left_anti")
        left = checkpoint.stage(f"{name}/round-{rounds}/pairs", partial(_same, rest))
        parts.append(now)
        rounds += 1
    last = left.coalesce(1).mapInArrow(_settled, "number long")
    for part in parts:
        last = last.unionByName(part)
    return checkpoint.stage(f"{name}/dropped", lambda: last), rounds + 1


def _same(frame: DataFrame) -> DataFrame:
    return frame


def _settled(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Settle all pairs of one task."""
    every = list(batches)
    if every:
        table = pa.Table.from_batches(every)
        later, earlier = (table.column(name).to_numpy() for name in ("later", "earlier"))
        yield pa.record_batch({"number": dropped_of(later, earlier)})
