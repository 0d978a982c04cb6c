"""What a review of a job shows: rows of the checkpoint, brought to the driver.

A checkpoint has neither titles nor dates nor sources of records.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from neardup.review import (
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


def evidence_of(batches: DataFrame, removed: DataFrame, first: int) -> Evidence:
    """Return what a review of a finished job shows; `first` is the first batch of the input."""
    picks = _picks(removed, first << PLACE_BITS)

    def texts(numbers: Sequence[int], length: int) -> dict[int, dict[str, Any]]:
        return _texts(batches, numbers, length)

    def texts_of_input(numbers: Sequence[int], length: int) -> dict[int, dict[str, Any]]:
        found = texts([picks.first + number for number in numbers], length)
        return {number - picks.first: fields for number, fields in found.items()}

    return picks.with_texts(texts_of_input, texts)


def _picks(removed: DataFrame, first: int) -> Picks:
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    near = removed.filter("not identical")
    # The same arithmetic as in `neardup.review.pick`.
    scaled = F.floor(F.col("similarity") * CLASSES + 1e-9)
    by_class = near.groupBy(F.least(scaled, F.lit(CLASSES - 1)).cast("int")).count()
    counts = np.zeros(CLASSES, np.int64)
    for place, count in by_class.collect():
        counts[place] = count
    least = removed.orderBy("identical", "similarity", "number").limit(REMOVALS).collect()
    removals = [
        (
            row.number,
            row.kept,
            row.similarity,
            -1 if row.distance is None else row.distance,
            row.kind,
        )
        for row in least
    ]
    of_each = removed.groupBy("kept").agg(
        F.count("number"), F.sum(F.col("identical").cast("long")), F.min("similarity")
    )
    order = [F.desc("count(number)"), F.asc("kept")]
    largest = of_each.filter("`count(number)` > 1").orderBy(*order).limit(GROUPS).collect()
    members: dict[int, list[int]] = {row.kept: [] for row in largest}
    within = Window.partitionBy("kept").orderBy("number")
    rows = removed.filter(F.col("kept").isin(list(members)))
    rows = rows.withColumn("place", F.row_number().over(within)).filter(F.col("place") <= IDS)
    named = [*least, *rows.orderBy("number").drop("place").collect()]
    ids = {row.number: row.id for row in named} | {row.kept: row.kept_id for row in named}
    for row in named[len(least) :]:
        members[row.kept].append(row.number)
    groups = [(*row, members[row.kept]) for row in largest]
    return Picks(removals, groups, classes_of(counts), ids, first)


def _texts(batches: DataFrame, numbers: Sequence[int], length: int) -> dict[int, dict[str, Any]]:
    """Return texts of documents up to a length, and their whole lengths, by their numbers."""
    from pyspark.sql import functions as F

    if not numbers:
        return {}
    asked = [(number, number >> PLACE_BITS, number & (MAX_BATCH - 1)) for number in numbers]
    wanted = batches.sparkSession.createDataFrame(asked, "number long, batch long, place int")
    text = F.coalesce(F.get("texts", F.col("place")), F.lit(""))
    rows = (
        batches.select("batch", "texts")
        .join(F.broadcast(wanted), "batch")
        .select("number", F.substring(text, 1, length).alias("text"), F.length(text).alias("all"))
    )
    return {row["number"]: {"text": row["text"], "length": row["all"]} for row in rows.collect()}
