"""The rows that a review of a job shows, brought from the checkpoint to the driver.

A checkpoint has neither titles nor dates nor sources of records.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.base.lazy import NDArray
from neardup.run.summary import Summary
from neardup.spark.blobs import from_rows, group_blobs, unpack
from neardup.spark.ordering import MAX_BATCH, PLACE_BITS
from neardup.spark.sketching import Settings, read_texts
from neardup.tasks.review import CLASSES, GROUPS, IDS, REMOVALS, Review, make_review

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from neardup.spark.checkpoint import Stage


def review_job(
    documents: Stage,
    removed: DataFrame,
    settings: Settings,
    summary: Summary,
    rule: tuple[str, float | None, int | None],
) -> Review:
    """Return the review of a finished job."""
    begin = settings.first << PLACE_BITS

    def read_texts(numbers: Sequence[int], length: int) -> dict[int, dict[str, Any]]:
        return _read_texts(documents, settings, numbers, length)

    def read_input_texts(numbers: Sequence[int], length: int) -> dict[int, dict[str, Any]]:
        by_number = read_texts([begin + number for number in numbers], length)
        return {number - begin: fields for number, fields in by_number.items()}

    return make_review(_pick_rows(removed), begin, read_input_texts, read_texts, summary, rule)


def _pick_rows(
    removed: DataFrame,
) -> tuple[list[dict[str, Any]], list[dict[str, Any]], NDArray[np.int64]]:
    """Return what `neardup.tasks.review.pick` does of a table."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    near = removed.filter("not identical")
    # The same arithmetic as in `neardup.tasks.review.pick`.
    scaled = F.floor(F.col("similarity") * CLASSES + 1e-9)
    by_class = near.groupBy(F.least(scaled, F.lit(CLASSES - 1)).cast("int")).count()
    counts = np.zeros(CLASSES, np.int64)
    for place, count in by_class.collect():
        counts[place] = count
    least = removed.orderBy("identical", "similarity", "number").limit(REMOVALS).collect()
    of_each = removed.groupBy("kept").agg(
        F.count("number"), F.sum(F.col("identical").cast("long")), F.min("similarity")
    )
    order = [F.desc("count(number)"), F.asc("kept")]
    largest = of_each.filter("`count(number)` > 1").orderBy(*order).limit(GROUPS).collect()
    members: dict[int, list[str]] = {row.kept: [] for row in largest}
    within = Window.partitionBy("kept").orderBy("number")
    rows = removed.filter(F.col("kept").isin(list(members)))
    rows = rows.withColumn("place", F.row_number().over(within)).filter(F.col("place") <= IDS)
    kept_ids = {}
    for row in rows.orderBy("number").collect():
        members[row.kept].append(row.id)
        kept_ids[row.kept] = row.kept_id
    groups = [
        {
            "kept": kept,
            "kept_id": kept_ids[kept],
            "count": count,
            "identical": identical,
            "least": similarity,
            "ids": tuple(members[kept]),
        }
        for kept, count, identical, similarity in largest
    ]
    return [row.asDict() for row in least], groups, counts


def _read_texts(
    documents: Stage, settings: Settings, numbers: Sequence[int], length: int
) -> dict[int, dict[str, Any]]:
    """Return texts of documents up to a length, and their whole lengths, by their numbers."""
    from pyspark.sql import functions as F

    places: dict[int, list[int]] = {}
    for number in numbers:
        places.setdefault(number >> PLACE_BITS, []).append(number & (MAX_BATCH - 1))

    def work(rows: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for inbox in group_blobs(from_rows(rows)):
            wanted = np.array(places.get(inbox.receiver, []), np.int64)
            for records in map(unpack, inbox.get_bodies("records")):
                texts = read_texts(records, wanted, settings).fill_null("")
                yield pa.record_batch(
                    {
                        "number": pa.array(wanted + (inbox.receiver << PLACE_BITS)),
                        "text": pc.utf8_slice_codeunits(texts, 0, length),
                        "all": pc.utf8_length(texts).cast(pa.int64()),
                    }
                )

    stored = documents.read_rows("records").filter(F.col("sender").isin(list(places)))
    stored = stored.withColumn("receiver", F.col("sender"))
    rows = stored.mapInArrow(work, "number long, text string, all long").collect()
    return {row["number"]: {"text": row["text"], "length": row["all"]} for row in rows}
