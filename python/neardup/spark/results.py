"""Results: kept records as they came, and why the others were dropped."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from neardup.spark.blobs import batch_from_bytes
from neardup.spark.numbering import File, places_of
from neardup.spark.records import LINE, Named
from neardup.spark.settings import Settings
from neardup.spark.tables import rows_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from neardup.readers import Problem

#: Bytes of input that one part of the kept records stands for.
PART_BYTES = 128 << 20

#: Dropped documents that every task may know: 64 MB.
MOST_KNOWN = 8 << 20


@dataclass(frozen=True)
class BatchInfo:
    """What the driver knows of a batch.

    Parameters
    ----------
    batch, documents, readable, without_features, problems, size : int
    partition : int
        The part of the checkpoint that it is read in.
    named : Named
    """

    batch: int
    partition: int
    documents: int
    readable: int
    without_features: int
    problems: int
    size: int
    named: Named


@dataclass
class Overview:
    """What the driver knows of the input: some numbers for each batch.

    Parameters
    ----------
    batches : list of BatchInfo
        In the order of the input.
    """

    batches: list[BatchInfo] = field(default_factory=list)

    @property
    def documents(self) -> int:
        """Records of the input."""
        return sum(info.documents for info in self.batches)

    @property
    def size(self) -> int:
        """Bytes of the input."""
        return sum(info.size for info in self.batches)

    def names(self) -> dict[int, Named]:
        """What the records of each batch are called."""
        return {info.batch: info.named for info in self.batches}

    def partitions(self) -> list[int] | None:
        """Return the parts of the checkpoint in the order of the input; None if they overlap."""
        runs = [partition for partition, _ in groupby(info.partition for info in self.batches)]
        return runs if len(set(runs)) == len(runs) else None

    def bounds(self, parts: int) -> list[int]:
        """Return the batches at which parts of about equal size begin, but for the first."""
        total = self.size
        bounds: list[int] = []
        size = 0
        for info in self.batches:
            if size * parts >= total * (len(bounds) + 1) and size:
                bounds.append(info.batch)
            size += info.size
        return bounds


def overview(documents: DataFrame, files: Mapping[int, File]) -> Overview:
    """Look at the batches: counts alone come to the driver."""
    from pyspark.sql import functions as F

    names = {file.rank: file.name for file in files.values()}
    columns = ("batch", "documents", "readable", "without_features", "problem_count", "size")
    counts = documents.filter("documents > 0").select(
        *columns, "source", F.spark_partition_id().alias("partition")
    )
    rows = counts.toArrow().to_pylist()
    rows.sort(key=lambda row: row["batch"])
    result = Overview()
    before: dict[int, int] = {}
    for row in rows:
        source = row["source"]
        named = Named(names.get(source), before.get(source, 0))
        before[source] = before.get(source, 0) + row["documents"]
        result.batches.append(
            BatchInfo(
                row["batch"],
                row["partition"],
                row["documents"],
                row["readable"],
                row["without_features"],
                row["problem_count"],
                row["size"],
                named,
            )
        )
    return result


def problems(documents: DataFrame, seen: Overview, most: int) -> list[Problem]:
    """Return the first problems of the input."""
    from pyspark.sql import functions as F

    found: list[Problem] = []
    wanted = [info for info in seen.batches if info.problems]
    for begin in range(0, len(wanted), 64):
        if len(found) >= most:
            break
        some = {info.batch: info.named for info in wanted[begin : begin + 64]}
        rows = documents.filter(F.col("batch").isin(*some) & (F.col("documents") > 0))
        blobs = dict(tuple(row) for row in rows.select("batch", "problems").collect())
        for batch in sorted(some):
            found += some[batch].problems(bytes(blobs[batch]))
    return found[:most]


def removed(decisions: DataFrame, ids: DataFrame, settings: Settings) -> DataFrame:
    """Return the dropped documents: number, ids, similarity."""
    from pyspark.sql import functions as F

    own = ids.select(F.col("number"), F.col("id"))
    other = ids.select(F.col("number").alias("kept"), F.col("id").alias("kept_id"))
    table = decisions.join(own, "number").join(other, "kept")
    return table.select(
        "number",
        "id",
        "kept_id",
        "similarity",
        F.lit(settings.rule.measure).alias("measure"),
        F.when(F.col("distance") >= 0, F.col("distance")).alias("distance"),
        "identical",
    )


def ids(documents: DataFrame, decisions: DataFrame, names: Any) -> DataFrame:
    """Return the ids of all documents that decisions are about."""
    from pyspark.sql import functions as F

    both = decisions.select("number").unionByName(decisions.select(F.col("kept").alias("number")))
    wanted = _by_batch(both.distinct(), "wanted")
    every = documents.filter("documents > 0").select("batch", "ids")
    return every.join(wanted, "batch").mapInArrow(
        partial(_read_ids, names=names), "number long, id string"
    )


def _by_batch(numbers: DataFrame, name: str) -> DataFrame:
    from pyspark.sql import functions as F

    batch = F.shiftright("number", 16).alias("batch")
    return numbers.groupBy(batch).agg(F.sort_array(F.collect_list("number")).alias(name))


def _read_ids(batches: Iterable[pa.RecordBatch], *, names: Any) -> Iterator[pa.RecordBatch]:
    for batch, blob, wanted in rows_of(batches):
        numbers = np.array(wanted, np.int64)
        ids = names.value[batch].ids(blob, places_of(numbers).tolist())
        yield pa.record_batch({"number": numbers, "id": pa.array(ids, pa.large_string())})


def kept(
    documents: DataFrame,
    decisions: DataFrame,
    seen: Overview,
    schema: Any,
    *,
    lines: bool,
    drop_unreadable: bool,
    is_moved: bool,
) -> DataFrame:
    """Return the kept records.

    Records are the largest thing there is, and stay where they are: a part of the result
    has those of one part of the checkpoint, in input order. If they are moved, parts follow
    each other in input order, and no task needs to know all that is dropped.
    """
    some = decisions.select("number")
    work = partial(_kept, lines=lines, drop_unreadable=drop_unreadable)
    records = documents.filter("documents > 0").select("batch", "features", "records")
    if not is_moved:
        from pyspark.sql import functions as F

        together = records.join(F.broadcast(_by_batch(some, "dropped")), "batch", "left")
        return together.select("features", "records", "dropped").mapInArrow(work, schema)
    bounds = seen.bounds(-(-seen.size // PART_BYTES))
    part = _part("batch", bounds)
    together = records.join(_by_batch(some, "dropped"), "batch", "left")
    in_order = together.repartitionById(len(bounds) + 1, part).sortWithinPartitions("batch")
    return in_order.select("features", "records", "dropped").mapInArrow(work, schema)


def _part(column: str, bounds: Sequence[int]) -> Any:
    """Return the number of the part that a batch is in."""
    from pyspark.sql import functions as F

    if not bounds:
        return F.lit(0)
    begins = F.array(*(F.lit(bound) for bound in bounds))
    return F.size(F.filter(begins, lambda bound: bound <= F.col(column)))


def _kept(
    batches: Iterable[pa.RecordBatch], *, lines: bool, drop_unreadable: bool
) -> Iterator[pa.RecordBatch]:
    for features, blob, dropped in rows_of(batches):
        known = np.frombuffer(features, np.int32)
        keep = np.ones(len(known), np.bool_)
        if dropped is not None:
            keep[places_of(np.array(dropped, np.int64))] = False
        if drop_unreadable:
            keep &= known >= 0
        records = batch_from_bytes(blob).filter(pa.array(keep))
        if lines:
            # Bytes that are no UTF-8 stay what they are.
            column: Any = records.column(LINE)
            records = pa.record_batch({"value": column.view(pa.large_string())})
        yield records
