"""What a review of a job shows: a few rows of the checkpoint, brought to the driver."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from neardup.review.evidence import (
    CLASSES,
    GROUPS,
    IDS,
    REMOVALS,
    Evidence,
    Picks,
    classes_of,
)
from neardup.spark.ordering import MAX_BATCH, PLACE_BITS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def evidence_of(
    batches: DataFrame, decisions: DataFrame, removed: DataFrame, first: int
) -> Evidence:
    """Return what a review of a finished job shows.

    Parameters
    ----------
    batches : DataFrame
        The documents, with their texts.
    decisions : DataFrame
        What was dropped, by numbers.
    removed : DataFrame
        The same with ids.
    first : int
        The number of the first batch of the input.
    """
    picks = _picks(decisions, removed.select("number", "id", "kept_id"), first << PLACE_BITS)

    def texts(numbers: list[int]) -> dict[int, str]:
        return _texts(batches, numbers)

    def own(numbers: list[int]) -> dict[int, str]:
        found = texts([picks.first + number for number in numbers])
        return {number - picks.first: text for number, text in found.items()}

    return picks.with_texts(own, texts)


def _picks(decisions: DataFrame, named: DataFrame, first: int) -> Picks:
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    near = decisions.filter(~F.col("identical"))
    # The same arithmetic as in `neardup.review.evidence.pick`.
    at = F.least(F.floor(F.col("similarity") * CLASSES + 1e-9), F.lit(CLASSES - 1)).cast("int")
    counts = np.zeros(CLASSES, np.int64)
    for place, count in near.groupBy(at).count().collect():
        counts[place] = count
    ids: dict[int, str] = {}

    def note(row: Any) -> None:
        ids[row["number"]], ids[row["kept"]] = row["id"], row["kept_id"]

    removals = []
    least = near.orderBy("similarity", "number").limit(REMOVALS)
    for row in sorted(least.join(named, "number").collect(), key=_by_similarity):
        note(row)
        removals.append((row["number"], row["kept"], row["similarity"], row["distance"]))
    of_each = decisions.groupBy("kept").agg(
        F.count("number").alias("count"),
        F.sum(F.col("identical").cast("long")).alias("same"),
        F.min("similarity").alias("least"),
    )
    order = [F.desc("count"), F.asc("kept")]
    largest = of_each.filter("count > 1").orderBy(*order).limit(GROUPS).collect()
    within = Window.partitionBy("kept").orderBy("number")
    wanted = [row["kept"] for row in largest]
    some = (
        decisions.filter(F.col("kept").isin(wanted))
        .withColumn("place", F.row_number().over(within))
        .filter(F.col("place") <= IDS)
    )
    members: dict[int, list[int]] = {kept: [] for kept in wanted}
    for row in sorted(some.join(named, "number").collect(), key=lambda row: row["number"]):
        note(row)
        members[row["kept"]].append(row["number"])
    groups = [
        (row["kept"], row["count"], row["same"], row["least"], members[row["kept"]])
        for row in largest
    ]
    return Picks(removals, groups, classes_of(counts), ids, first)


def _by_similarity(row: Any) -> tuple[float, int]:
    return row["similarity"], row["number"]


def _texts(batches: DataFrame, numbers: list[int]) -> dict[int, str]:
    """Return the texts of a few documents by their numbers."""
    from pyspark.sql import functions as F

    if not numbers:
        return {}
    spark = batches.sparkSession
    asked = [(number, number >> PLACE_BITS, number & (MAX_BATCH - 1)) for number in numbers]
    wanted = spark.createDataFrame(asked, "number long, batch long, place int")
    rows = (
        batches.select("batch", "texts")
        .join(F.broadcast(wanted), "batch")
        .select("number", F.get("texts", F.col("place")).alias("text"))
    )
    return {row["number"]: row["text"] or "" for row in rows.collect()}
