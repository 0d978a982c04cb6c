"""The background: what the whole collection has in common, from tables of its groups."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING

import pyarrow as pa

from neardup.spark import commonness, work
from neardup.spark.tables import (
    DROPPED,
    MESSAGE,
    PART,
    Message,
    beside,
    for_each_row,
    for_each_target,
    rows_of,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from neardup.spark.checkpoint import Checkpoint
    from neardup.spark.search import Search

#: Tables of shingles that one task merges, up to 72 MB each.
_FAN = 8


def table(
    documents: DataFrame, prepared: DataFrame, checkpoint: Checkpoint, search: Search
) -> DataFrame:
    """Return what is common as the one row of a table; none if nothing was counted.

    Parameters
    ----------
    documents : DataFrame
        Rows of batches and groups, see `sketching.SCHEMA`.
    prepared : DataFrame
        Batches with their states.
    checkpoint : Checkpoint
    search : Search
    """
    from pyspark.sql import functions as F

    def counted_again(
        name: str, which: Callable[..., Iterator[Message]], *, apart: bool
    ) -> DataFrame:
        """Count the shingles of those documents of each batch that `which` names."""
        asked = checkpoint.stage(
            name, lambda: for_each_row(prepared.select("batch", "state"), which)
        )
        return beside(documents.filter("documents > 0"), asked, ("records",)).mapInArrow(
            partial(work.count_again, search=search, apart=apart), MESSAGE
        )

    groups = documents.filter("documents = 0")
    found = groups.select("probe", "doubted").coalesce(1)
    told = found.mapInArrow(work.level, "level int, doubted int").first()
    level, doubted = (0, 0) if told is None else told
    if doubted > level:
        # All have fewer shingles than their number promised, and some counted too few for that.
        tables = counted_again("firsts", work.firsts, apart=False)
    else:
        thin = partial(work.thin, level=level)
        tables = groups.select("batch", "counted").mapInArrow(thin, MESSAGE)
        off = counted_again("overcounted", work.overcounted, apart=True)
        tables = tables.unionByName(off.withColumn("kind", F.lit(DROPPED)))
    return _merged(tables, groups.count()).mapInArrow(
        partial(_common, documents=search.documents), "body binary"
    )


def _merged(tables: DataFrame, spread: int) -> DataFrame:
    """Merge about so many tables, until they stand in one task."""
    from pyspark.sql import functions as F

    # Ids of two tasks are a multiple of 2^33 apart: as they are, most would get one target.
    tables = tables.withColumn("target", F.xxhash64(F.monotonically_increasing_id()))
    while spread > 1:
        spread = -(-spread // _FAN)
        tables = tables.withColumn("target", F.pmod("target", F.lit(spread)))
        tables = for_each_target(tables, work.merge, spread)
    return tables.coalesce(1)


def _common(batches: Iterable[pa.RecordBatch], *, documents: int) -> Iterator[pa.RecordBatch]:
    """Merge the last tables, and keep what is common."""
    some = [Message(*row) for row in rows_of(batches)]
    kinds = {kind: [m.body for m in some if m.kind == kind] for kind in (PART, DROPPED)}
    if kinds[PART]:
        counted = commonness.merged(kinds[PART])
        if kinds[DROPPED]:
            counted = commonness.without(counted, commonness.merged(kinds[DROPPED]))
        body = commonness.background(counted, documents)
        yield pa.record_batch({"body": pa.array([body], pa.large_binary())})
