"""The search on Spark's tables: kernels and shuffles, from batches to the decisions.

Which documents are indexed depends on which are kept, and the other way round. So the search
first indexes all documents and applies the rule, then indexes only those that were kept, and
repeats this until nothing changes. The result is that of one machine, which decides document by
document: the lists of a document depend only on earlier kept documents, so the first document is
right after one round, and more of the following ones after each further round.

One round is enough if no dropped document is in a list that was closed. Proof: the keys by which
a document is indexed and searched depend on its sketch and on counts of all documents. So whether
an earlier document e is a candidate of d depends on those two, and on whether e is in the lists
of the keys that they share. Leave out the dropped documents: a list that was not closed loses
them and nothing else; a list that was closed has none of them, so it stays the same. Hence e, if
it is kept, is a candidate of the same documents as before. The rule looks at no other pairs, so
by induction in input order it keeps the same documents. Pairs with a dropped e, which a second
round would leave out, are left out at the end.

Exact copies of a text wait for the decision on the first copy. If that one is dropped, they are
searched in the next round, which can use the same lists if none was closed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from neardup.spark import kernels, sketching
from neardup.spark.checkpoint import Checkpoint
from neardup.spark.ordering import MAX_BATCH, PLACE_BITS
from neardup.spark.sketching import Settings

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

#: The most bytes of requests to broadcast to every task, so that texts need not be moved.
BROADCAST = 64 << 20

#: Verification tasks per task of other steps: there are fewer units than batches or buckets, and
#: they differ more in size.
_EVEN = 2

#: Digest of the empty set of documents.
_NONE = (0, None, None)


class Search:
    """A search among sketched documents, the rows of `sketching.BATCHES`.

    After `decide`: `rounds` of indexing and search; `candidates`, the pairs of the last round, some
    with dropped documents if it was the first; and what full lists left out, as of
    :class:`neardup.run.summary.Summary`.
    """

    def __init__(
        self,
        batches: DataFrame,
        checkpoint: Checkpoint,
        settings: Settings,
        partitions: int,
    ) -> None:
        self.rounds = self.candidates = 0
        self.closed_lists = self.unlisted = self.unlisted_pairs = 0
        self._batches = batches
        self._checkpoint = checkpoint
        self._settings = settings
        self._partitions = partitions
        self._persisted: list[DataFrame] = []

    def decide(self) -> DataFrame:
        """Return all dropped documents with the documents that they repeat."""
        from pyspark import inheritable_thread_target
        from pyspark.sql import functions as F

        if self._checkpoint.has("decisions"):
            return self._checkpoint.read("decisions")
        every = self._checkpoint.stage("repeats", self._repeats())
        # Only verification needs the common shingles. They are merged by one task, while all other
        # cores search for candidates.
        pool = ThreadPoolExecutor(1)
        spark = self._batches.sparkSession
        background = pool.submit(inheritable_thread_target(spark)(self._common_shingles), every)
        begin = self._settings.first << PLACE_BITS
        repeats = every.filter(F.col("first") < begin) if self._settings.against_only else every
        try:
            pairs, dropped = self._decide_pairs(every, repeats, background)
            best = _most_similar(pairs.join(dropped, pairs.earlier == dropped.number, "left_anti"))
            # The documents of another collection stay, also if they repeat each other.
            same = repeats.filter(F.col("number") >= begin)
            same = same.join(dropped, same["first"] == dropped.number, "left_anti").select(
                "number",
                F.col("first").alias("kept"),
                F.lit(1.0).alias("similarity"),
                "distance",
                F.lit(True).alias("identical"),
            )
            return self._checkpoint.stage("decisions", best.unionByName(same))
        finally:
            pool.shutdown()
            for frame in self._persisted:
                frame.unpersist()
            if background.exception() is None and background.result() is not None:
                background.result().destroy()

    def _repeats(self) -> DataFrame:
        """Return the exact copies of earlier texts, with the first copy.

        A copy is `overcounted` if its shingles were counted although another group had counted the
        same text. `distance` is that of the fingerprints; -1 if there are none.
        """
        from pyspark.sql import Window
        from pyspark.sql import functions as F

        settings = self._settings
        document = F.posexplode(F.arrays_zip("identities", "features")).alias("place", "document")
        rows = self._batches.select("batch", "batch_group", document).select(
            number_of("batch", "place"),
            "batch_group",
            F.col("document.identities").alias("identity"),
            F.col("document.features").alias("features"),
        )
        number = F.min("number")
        copies = (
            rows.filter("features >= 0")
            .withColumn(
                "first_of_group", number.over(Window.partitionBy("identity", "batch_group"))
            )
            .withColumn("first", number.over(Window.partitionBy("identity")))
            .filter("first != number")
        )
        has_fingerprint = F.col("features") >= max(settings.rule.min_features, 1)
        has_fingerprint &= F.lit(settings.recipe.sketch.kind == "simhash")
        overcounted = (F.col("first_of_group") == F.col("number")) & (F.col("features") > 0)
        return copies.select(
            "number",
            "first",
            F.when(has_fingerprint, 0).otherwise(-1).alias("distance"),
            overcounted.alias("overcounted"),
        )

    def _decide_pairs(
        self, every: DataFrame, repeats: DataFrame, background: Future[Any]
    ) -> tuple[DataFrame, DataFrame]:
        """Index, search and decide until nothing changes; return the similar pairs, and the
        dropped documents that are not exact copies.

        `every` has all copies of a text: only the first counts where keys are counted.
        Copies of a dropped document are searched too: the most similar kept document of a copy may
        come after that of the first.
        """
        from pyspark.sql import functions as F

        sketches = self._batches.select("batch", "features", "sketches")
        # Partitioned by batch and cached once, because every round reads them.
        sketches = self._persisted_by_batch(sketches)
        keys = self._for_each_cogroup(sketches, _skip(every), kernels.keys, kernels.KEYS)
        counts = self._for_each_bucket(keys, kernels.count, kernels.COUNTS)
        counts = self._persisted_by_batch(counts)
        skipped, before = repeats, _NONE
        known: list[DataFrame] = []
        lists = self._lists(sketches, counts, _skip(repeats))
        while True:
            name = f"round-{self.rounds}"
            inputs = _union(counts, lists, _skip(skipped), *known)
            candidates = self._checkpoint.stage(
                f"{name}/candidates",
                self._for_each_cogroup(sketches, inputs, kernels.candidates, kernels.CANDIDATES),
            )
            judged = self._judge(candidates, name, background.result())
            known += [
                frame.filter("judged is not null").select("batch", "judged") for frame in judged
            ]
            found = candidates.agg(F.sum("found")).first()
            self.candidates = (found and found[0]) or 0
            both = (frame.select(*kernels.PAIRS.names) for frame in (candidates, judged[-1]))
            pairs = _union(*both).filter("similarity is not null")
            # Copies are not indexed, so no document is dropped for one.
            of_filed = pairs.join(repeats, pairs.later == repeats.number, "left_anti")
            dropped = self._checkpoint.stage(f"{name}/dropped", _dropped(of_filed))
            self.rounds += 1
            these = _digest(dropped)
            if these == before:
                self._count_left_out(candidates, dropped)
                return pairs, dropped
            of_dropped = repeats["first"] == dropped.number
            closed = candidates.select(F.explode("closed").alias("closed"))
            if self.rounds == 1 and not _has(closed, "closed", dropped):
                if repeats.join(dropped, of_dropped, "left_semi").isEmpty():
                    self._count_left_out(candidates, dropped)
                    return pairs, dropped
            else:
                lists = self._lists(sketches, counts, _union(_skip(repeats), _skip(dropped)))
            skipped = repeats.join(dropped, of_dropped, "left_anti")
            before = these

    def _persisted_by_batch(self, frame: DataFrame) -> DataFrame:
        from pyspark import StorageLevel

        frame = frame.repartition(self._partitions, "batch").persist(StorageLevel.DISK_ONLY)
        self._persisted.append(frame)
        return frame

    def _count_left_out(self, candidates: DataFrame, dropped: DataFrame) -> None:
        """Count what full lists left out, among the kept documents."""
        from pyspark.sql import functions as F

        both = F.inline(F.arrays_zip("full_key", "left_out"))
        rows = candidates.filter("left_out is not null").select(both)
        rows = rows.join(dropped, rows.left_out == dropped.number, "left_anti")
        lists = rows.groupBy("full_key").agg(F.count("left_out").alias("count"))
        pairs = F.sum(F.expr("count * (count - 1) div 2"))
        row = lists.agg(F.count("full_key"), pairs).first()
        self.closed_lists, self.unlisted_pairs = (value or 0 for value in row or (0, 0))
        self.unlisted = rows.select("left_out").distinct().count()
        # Two documents that several lists left out are one pair.
        self.unlisted_pairs = min(self.unlisted_pairs, self.unlisted * (self.unlisted - 1) // 2)

    def _lists(self, sketches: DataFrame, counts: DataFrame, skipped: DataFrame) -> DataFrame:
        """Return the lists of all buckets, made of the documents that are not skipped."""
        inputs = _union(counts, skipped)
        filed = self._for_each_cogroup(sketches, inputs, kernels.file, kernels.FILED)
        return self._for_each_bucket(filed, kernels.lists, kernels.LISTS)

    def _judge(self, candidates: DataFrame, name: str, background: Any) -> list[DataFrame]:
        """Judge the new candidate pairs: first by samples, if there are any, then by texts."""
        if not self._settings.compares_samples:
            return [self._verify(candidates, f"{name}/candidates", name, background)]
        stage = f"{name}/open"
        ruled = self._checkpoint.stage(
            stage,
            self._for_each_unit(
                candidates,
                self._samples(candidates, f"{name}/candidates"),
                self._partitions,
                kernels.rule_out,
                kernels.RULED,
                background=background,
            ),
        )
        return [ruled, self._verify(ruled, stage, name, background)]

    def _samples(self, requests: DataFrame, stage: str) -> DataFrame:
        """Return the samples of the documents that each unit requests."""
        from pyspark.sql import functions as F

        batches = self._batches.filter("sampled is not null")
        batches = batches.select(F.inline(F.arrays_zip("sampled", "samples")))
        batches = batches.withColumnRenamed("sampled", "batch")
        asked = _with_requests(batches, requests, is_small=self._is_small(stage))
        return asked.mapInArrow(_select, _spark(kernels.SAMPLES))

    def _verify(self, requests: DataFrame, stage: str, name: str, background: Any) -> DataFrame:
        """Return the requested pairs as judged by what the rule compares."""
        texts = texts_of(self._batches, requests, self._settings, is_small=self._is_small(stage))
        partitions = _EVEN * self._partitions
        work, known = kernels.verify, {"background": background}
        judged = self._for_each_unit(requests, texts, partitions, work, kernels.JUDGED, **known)
        return self._checkpoint.stage(f"{name}/verified", judged)

    def _for_each_unit(
        self,
        requests: DataFrame,
        got: DataFrame,
        partitions: int,
        kernel: Callable[..., pa.Table],
        schema: pa.Schema,
        **known: Any,
    ) -> DataFrame:
        pairs = requests.filter("pairs is not null").select("unit", "pairs")
        pairs, got = (frame.repartition(partitions, "unit") for frame in (pairs, got))
        return self._for_each_cogroup(pairs, got, kernel, schema, key="unit", **known)

    def _is_small(self, stage: str) -> bool:
        """Whether the requests of a stage can be broadcast."""
        # The stage has at least as many bytes as its requests, in any but contrived cases.
        return self._checkpoint.size(stage) <= BROADCAST

    def _common_shingles(self, repeats: DataFrame) -> Any:
        """Broadcast the common shingles of the collection, as verification needs them; None if it
        needs none."""
        from pyspark.sql import functions as F

        settings = self._settings
        if settings.rule.counted_shingle is None:
            return None
        spark = self._batches.sparkSession
        if not self._checkpoint.has("background"):
            groups = self._batches.filter("counted is not null")
            probes = groups.select("probe", "doubted").collect()
            level = sketching.shingle_level(bytes(row.probe) for row in probes)
            doubted = max((row.doubted for row in probes), default=0)
            place = F.col("number").bitwiseAND(MAX_BATCH - 1).alias("needed")
            if doubted > level:
                # The table of all documents needs a lower level than some groups were counted at:
                # they left out shingles that it should hold, so everything is counted again.
                document = F.posexplode("features").alias("place", "features")
                firsts = self._batches.select("batch", document).filter("features >= 0")
                firsts = firsts.select(number_of("batch", "place"), "features")
                level = 0
                tables = self._count_again(
                    firsts.join(repeats, "number", "left_anti").select(batch_of("number"), place),
                    level,
                )
                overcounted = tables.filter("false")
            else:
                work = partial(_thin, level=level)
                tables = groups.select("counted").mapInArrow(work, _spark(sketching.SHINGLES))
                requests = repeats.filter("overcounted").select(batch_of("number"), place)
                overcounted = self._count_again(requests, level)
            tables = tables.withColumn("less", F.lit(False))
            tables = tables.unionByName(overcounted.withColumn("less", F.lit(True)))
            common = partial(_common, documents=settings.documents)
            self._checkpoint.stage(
                "background",
                tables.repartition(1)
                .sortWithinPartitions("less")
                .mapInArrow(common, "common binary"),
            )
        row = self._checkpoint.read("background").first()
        return spark.sparkContext.broadcast(None if row is None else bytes(row[0]))

    def _count_again(self, requests: DataFrame, level: int) -> DataFrame:
        """Return tables of the shingles of the requested documents."""
        from pyspark.sql import functions as F

        work = partial(_count_again, settings=self._settings, level=level)
        is_small = self._settings.documents * 8 <= BROADCAST
        by_batch = requests.groupBy("batch").agg(F.collect_set("needed").alias("needed"))
        asked = _joined(self._batches.select("batch", "texts"), by_batch, is_small=is_small)
        texts = F.transform("needed", lambda place: F.get("texts", place.cast("int")))
        return asked.select(texts.alias("texts")).mapInArrow(work, _spark(sketching.SHINGLES))

    def _for_each_bucket(
        self, frame: DataFrame, kernel: Callable[..., pa.Table], schema: pa.Schema
    ) -> DataFrame:
        settings = self._settings
        # Spark inspects type hints, and fails for a partial of a function that has some.
        return frame.groupBy("bucket").applyInArrow(
            lambda table: kernel(table, settings=settings), _spark(schema)
        )

    def _for_each_cogroup(
        self,
        left: DataFrame,
        right: DataFrame,
        kernel: Callable[..., pa.Table],
        schema: pa.Schema,
        key: str = "batch",
        **known: Any,
    ) -> DataFrame:
        known["settings"] = self._settings
        return (
            left.groupBy(key)
            .cogroup(right.groupBy(key))
            .applyInArrow(lambda group, inputs: kernel(group, inputs, **known), _spark(schema))
        )


def number_of(batch: str, place: str) -> Column:
    """Return a column with the numbers of documents."""
    from pyspark.sql import functions as F

    return (F.shiftleft(F.col(batch), PLACE_BITS) + F.col(place)).alias("number")


def batch_of(number: str) -> Column:
    """Return a column with the batches of documents."""
    from pyspark.sql import functions as F

    return F.shiftright(number, PLACE_BITS).alias("batch")


def _with_requests(batches: DataFrame, requests: DataFrame, *, is_small: bool) -> DataFrame:
    """Return the batches that units ask for documents, with the units and the places."""
    from pyspark.sql import functions as F

    rows = requests.filter("places is not null").select("batch", "unit", "places")
    # Several batches may ask for the same document.
    places = F.array_distinct(F.flatten(F.collect_list("places"))).alias("places")
    of_unit = rows.repartition("batch").groupBy("batch", "unit").agg(places)
    needed = F.collect_list(F.struct("unit", "places")).alias("needed")
    return _joined(batches, of_unit.groupBy("batch").agg(needed), is_small=is_small)


def _joined(batches: DataFrame, by_batch: DataFrame, *, is_small: bool) -> DataFrame:
    # Texts are the largest data. They are not moved if the requests can be broadcast, and never
    # sorted.
    return batches.join(by_batch.hint("broadcast" if is_small else "shuffle_hash"), "batch")


def texts_of(
    batches: DataFrame, requests: DataFrame, settings: Settings, *, is_small: bool
) -> DataFrame:
    """Return the data that the rule compares of each document, for each unit that requests them.

    The data are numbers of features, and texts, sketches or both; columns that are not compared
    are not read. Texts go from the checkpoint to the units without a Python process between.
    """
    from pyspark.sql import functions as F

    columns = ["features"]
    columns += ["texts"] if settings.rule.keeps_texts else []
    columns += ["sketches"] if settings.compares_sketches else []

    def of_document(unit: Column, place: Column) -> Column:
        number = F.shiftleft("batch", PLACE_BITS) + place
        values = [F.get(name, place).alias(name) for name in columns]
        return F.struct(unit.alias("unit"), number.alias("number"), *values)

    def of_unit(needed: Column) -> Column:
        return F.transform(needed.places, lambda place: of_document(needed.unit, place))

    asked = _with_requests(batches.select("batch", *columns), requests, is_small=is_small)
    # A row of the batch is not copied for each document, as it would be beside an exploded column.
    return asked.select(F.inline(F.flatten(F.transform("needed", of_unit))))


def _skip(documents: DataFrame) -> DataFrame:
    """Return rows that tell batches which of their documents are not searched."""
    return documents.select(batch_of("number"), documents.number.alias("skipped"))


def _union(first: DataFrame, *others: DataFrame) -> DataFrame:
    """Return the rows of all frames, with the columns of all."""
    for frame in others:
        first = first.unionByName(frame, allowMissingColumns=True)
    return first


def _most_similar(pairs: DataFrame) -> DataFrame:
    """Return the most similar pair of each document; of ties, the earliest document."""
    from pyspark.sql import functions as F

    order = F.struct("similarity", (-F.col("earlier")).alias("earlier"), "distance")
    return (
        pairs.groupBy("later")
        .agg(F.max(order).alias("best"))
        .select(
            F.col("later").alias("number"),
            (-F.col("best.earlier")).alias("kept"),
            F.col("best.similarity").alias("similarity"),
            F.col("best.distance").alias("distance"),
            F.lit(False).alias("identical"),
        )
    )


def _dropped(pairs: DataFrame) -> DataFrame:
    """Return the documents that the one rule drops: one task settles all similar pairs in order."""
    ordered = pairs.select("later", "earlier").repartition(1).sortWithinPartitions("later")
    return ordered.mapInArrow(kernels.apply_rule, "number long")


def _has(frame: DataFrame, column: str, numbers: DataFrame) -> bool:
    """Return whether a column contains any of the numbers."""
    # Counts all instead of stopping at the first: stopped Python workers log errors.
    return frame.join(numbers, frame[column] == numbers.number, "left_semi").count() > 0


def _digest(numbers: DataFrame) -> tuple[Any, ...]:
    """Return a digest of a set of documents, to compare sets."""
    from pyspark.sql import functions as F

    mixed = F.xxhash64("number")
    row = numbers.agg(
        F.count("number"), F.bit_xor(mixed), F.bit_xor(F.xxhash64(mixed, "number"))
    ).first()
    return _NONE if row is None else tuple(row)


def _spark(schema: pa.Schema) -> Any:
    """Return Spark's schema for an Arrow schema."""
    from pyspark.sql.pandas.types import from_arrow_schema

    return from_arrow_schema(schema)


def _rows(batches: Iterable[pa.RecordBatch]) -> Iterator[Mapping[str, Any]]:
    for batch in batches:
        for row in range(batch.num_rows):
            yield {name: batch.column(name)[row] for name in batch.schema.names}


def _select(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for row in _rows(batches):
        yield from kernels.select(row).to_batches()


def _thin(batches: Iterable[pa.RecordBatch], *, level: int) -> Iterator[pa.RecordBatch]:
    for row in _rows(batches):
        yield from _shingles([row["counted"].as_py()], level)


def _count_again(
    batches: Iterable[pa.RecordBatch], *, settings: Settings, level: int
) -> Iterator[pa.RecordBatch]:
    tables = (sketching.count_again(row["texts"].values, settings) for row in _rows(batches))
    yield from _shingles(tables, level)


def _shingles(tables: Iterable[bytes], level: int) -> Iterator[pa.RecordBatch]:
    merged = sketching.merge_shingles(tables, level)
    if merged is not None:
        yield pa.record_batch([pa.array([merged], pa.large_binary())], schema=sketching.SHINGLES)


def _common(batches: Iterable[pa.RecordBatch], *, documents: int) -> Iterator[pa.RecordBatch]:
    merged = {
        less: sketching.merge_shingles(row["counted"].as_py() for row in rows)
        for less, rows in groupby(_rows(batches), lambda row: row["less"].as_py())
    }
    table = merged.get(False)
    if table is not None:
        body = sketching.common_shingles(table, merged.get(True), documents)
        yield pa.record_batch({"common": pa.array([body], pa.large_binary())})
