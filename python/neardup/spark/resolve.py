"""The one rule, applied to similar pairs that are too many for one task.

A document is dropped once one earlier similar document is known to be kept, and kept once all of
those are known to be dropped. Each round settles pairs whose earlier document is the later one of
no pair: it is kept, so the later one is dropped. When few pairs are left, one task settles them
in order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from neardup.spark.checkpoint import Checkpoint

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from pyspark.sql import DataFrame

#: The most pairs that one task settles: some 400 MB and a few seconds.
FEW_PAIRS = 4_000_000


def resolve(
    pairs: DataFrame, count: int, checkpoint: Checkpoint, name: str, few: int
) -> tuple[DataFrame, int]:
    """Return the numbers of the dropped documents, and the number of rounds.

    Parameters
    ----------
    pairs : DataFrame
        Similar pairs, in the columns ``later`` and ``earlier``.
    count : int
        The most pairs there can be.
    checkpoint : Checkpoint
    name : str
        Name of the stage.
    few : int
        The most pairs that one task settles.
    """
    left = pairs.select("later", "earlier")
    parts: list[DataFrame] = []
    while count > few:
        later = left.select(left.later.alias("earlier")).distinct()
        of_kept = left.join(later, "earlier", "left_anti")
        found = of_kept.select(left.later.alias("number")).distinct()
        now = checkpoint.stage(f"{name}/round-{len(parts)}/dropped", found)
        rest = left.join(now, left.later == now.number, "left_anti")
        rest = rest.join(now, rest.earlier == now.number, "left_anti")
        left = checkpoint.stage(f"{name}/round-{len(parts)}/pairs", rest)
        count = left.count()
        parts.append(now)
    last = left.coalesce(1).mapInArrow(_resolve_partition, "number long")
    for part in parts:
        last = last.unionByName(part)
    return checkpoint.stage(f"{name}/dropped", last), len(parts) + 1


def _resolve_partition(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    every = list(batches)
    if every:
        table = pa.Table.from_batches(every)
        later, earlier = (table.column(name).to_numpy() for name in ("later", "earlier"))
        yield pa.record_batch({"number": find_dropped(later, earlier)})


def find_dropped(later: NDArray[np.int64], earlier: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the documents that the one rule drops, given all similar pairs.

    Examples
    --------
    A chain: the second repeats the first, so the third is kept.

    >>> find_dropped(np.array([2, 3, 4]), np.array([1, 2, 2])).tolist()
    [2]
    """
    order = np.argsort(later, kind="stable")
    dropped: set[int] = set()
    for document, other in zip(later[order].tolist(), earlier[order].tolist(), strict=True):
        if other not in dropped:
            dropped.add(document)
    return np.array(sorted(dropped), np.int64)
