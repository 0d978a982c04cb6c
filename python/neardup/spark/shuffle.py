"""The search on Spark's tables: kernels and shuffles, from batches to the decisions.

Which documents are indexed depends on which are kept, and the other way round. So the search
first indexes all documents and applies the rule, then indexes only those that were kept, and
repeats this until nothing changes. The result is that of one machine, which decides document by
document: the lists of a document depend only on earlier kept documents, so the first document is
right after one round, and more of the following ones after each further round.

What a round changes is small. The keys by which a document is indexed and searched depend on its
sketch and on counts of all documents. So whether an earlier document e is a candidate of d depends
on those two, and on whether e is in the lists of the keys that they share. Leave out the dropped
documents: a list that was not full loses them and nothing else; a list that was full then holds
some of those that it had left out. Only the latter, if they are kept, have other candidate pairs
than before: so the next round indexes these alone. If there are none, one round was enough. Pairs
with a dropped e never count for the rule.

Exact copies of a text wait for the decision on the first copy. If that one is dropped, they are
searched in the next round, for which everything is indexed again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from neardup.spark import kernels, sketching
from neardup.spark.checkpoint import Checkpoint
from neardup.spark.ordering import MAX_BATCH, PLACE_BITS
from neardup.spark.sketching import Settings

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from pyspark.sql import Column, DataFrame, Row

    Numbers = NDArray[np.int64]

#: The most bytes of requests to broadcast to every task, so that texts need not be moved.
BROADCAST = 64 << 20

#: The most dropped documents whose numbers are sent to every task: some 200 MB.
MOST_KNOWN = 4 << 20

#: The most documents dropped in one of two rounds for which only the changes in lists are searched.
MOST_CHANGED = 1 << 18

_NO_NUMBERS = np.empty(0, np.int64)

#: Verification tasks per task of other steps: there are fewer units than batches or buckets, and
#: they differ more in size.
_EVEN = 2


class Search:
    """A search among sketched documents, the rows of `sketching.BATCHES`.

    After `decide`: `rounds` of indexing and search; `candidates`, the pairs that these compared,
    some with dropped documents; and what full lists left out, as of
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
        """Return all documents to remove and what they repeat, as rows of `kernels.DECIDED`."""
        from pyspark import inheritable_thread_target

        copies = self._checkpoint.stage("repeats", self._copies())
        # Only verification needs the common shingles. They are merged by one task, while all other
        # cores search for candidates.
        pool = ThreadPoolExecutor(1)
        spark = self._batches.sparkSession
        background = pool.submit(inheritable_thread_target(spark)(self._common_shingles), copies)
        try:
            return self._decide(copies, background)
        finally:
            pool.shutdown()
            for frame in self._persisted:
                frame.unpersist()
            if background.exception() is None and background.result() is not None:
                background.result().destroy()

    def _copies(self) -> DataFrame:
        """Return the exact copies of earlier texts, as rows of `kernels.COPIES`."""
        names = ("batch", "batch_group", "features", "identities")
        work = partial(_texts, settings=self._settings)
        texts = self._batches.select(*names).mapInArrow(work, _spark(kernels.TEXTS))
        # Spark inspects type hints, and fails for some.
        return texts.groupBy("bucket").applyInArrow(
            lambda rows: kernels.repeats(rows), _spark(kernels.COPIES)
        )

    def _decide(self, copies: DataFrame, background: Future[Any]) -> DataFrame:
        """Index, search and decide until nothing changes."""
        sketches = self._batches.select("batch", "features", "sketches")
        # Partitioned by batch and cached once, because every round reads them.
        sketches = self._persisted_by_batch(sketches)
        keys = self._for_each_cogroup(sketches, copies, kernels.keys, kernels.KEYS)
        counts = self._for_each_bucket(keys, kernels.count, kernels.COUNTS)
        inputs = of_collection = _union(self._persisted_by_batch(counts), copies)
        judged: list[DataFrame] = []
        similar: list[DataFrame] = []
        changed: kernels.Changed | None = None
        full: DataFrame | None = None
        before: tuple[int, int, Numbers | None] = (0, 0, _NO_NUMBERS)
        while True:
            name = f"round-{self.rounds}"
            known = {"changed": changed}
            filed = self._for_each_cogroup(sketches, inputs, kernels.file, kernels.FILED, **known)
            lists = self._for_each_bucket(filed, kernels.lists, kernels.LISTS)
            told = _union(inputs, lists, *judged, *similar)
            candidates = self._checkpoint.stage(
                f"{name}/candidates",
                self._for_each_cogroup(
                    sketches, told, kernels.candidates, kernels.CANDIDATES, **known
                ),
            )
            last = _with(candidates, "full")
            # Later lists are without dropped documents.
            full = full or last
            now = self._judge(candidates, name, background.result())
            judged += [_with(frame, "judged", "batch") for frame in now]
            similar = [_with(frame, "similar", "batch") for frame in (candidates, now[-1])]
            # One task applies the rule to all batches in order.
            rows = _union(*similar, copies).select("batch", "similar", "copies").repartition(1)
            decided = self._checkpoint.stage(
                f"{name}/decided",
                rows.sortWithinPartitions("batch").mapInArrow(
                    partial(_decided, settings=self._settings), _spark(kernels.DECIDED)
                ),
            )
            self.rounds += 1
            status = _status(candidates, decided)
            self.candidates += status.found
            dropped = None
            if status.dropped <= MOST_KNOWN:
                dropped = _collected(decided.select("dropped")) if status.dropped else _NO_NUMBERS
            is_final = (status.digest, status.again) == before[:2]
            changed = None
            if not is_final and status.again == before[1]:
                changed = self._changed(full, before[2], dropped)
                is_final = changed is not None and not len(changed.documents)
            if is_final:
                if dropped is None:
                    # Too many to know: but the last lists have none of them.
                    full, dropped = last, _NO_NUMBERS
                self._count_left_out(full, dropped)
                return decided
            before = (status.digest, status.again, dropped)
            inputs = _union(of_collection, decided.select("batch", "dropped", "again"))

    def _changed(
        self, full: DataFrame, before: Numbers | None, dropped: Numbers | None
    ) -> kernels.Changed | None:
        """Return what changes in lists if other documents are dropped than before; None if too much
        does."""
        if before is None or dropped is None or len(np.setxor1d(before, dropped)) > MOST_CHANGED:
            return None
        changed = partial(kernels.changed_documents, before=before, dropped=dropped)
        documents = np.union1d(_of_full(full, changed), np.setdiff1d(before, dropped))
        nothing = kernels.Changed(documents, _NO_NUMBERS)
        if not len(documents):
            return nothing
        codes = partial(kernels.left_out_codes, dropped=dropped, changed=nothing)
        return replace(nothing, left_out=_of_full(full, codes))

    def _persisted_by_batch(self, frame: DataFrame) -> DataFrame:
        from pyspark import StorageLevel

        frame = frame.repartition(self._partitions, "batch").persist(StorageLevel.DISK_ONLY)
        self._persisted.append(frame)
        return frame

    def _count_left_out(self, full: DataFrame, dropped: Numbers) -> None:
        """Count what full lists leave out, among the kept documents."""
        from pyspark.sql import functions as F

        work = partial(_left_out, dropped=dropped)
        rows = full.mapInArrow(work, _spark(kernels.LEFT_OUT))
        row = rows.agg(F.sum("lists"), F.sum("pairs")).first()
        self.closed_lists, self.unlisted_pairs = (value or 0 for value in row or (0, 0))
        if self.closed_lists:
            self.unlisted = rows.select(F.explode("documents")).distinct().count()
        # Two documents that several lists left out are one pair.
        self.unlisted_pairs = min(self.unlisted_pairs, self.unlisted * (self.unlisted - 1) // 2)

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

        batches = _with(self._batches, "sampled", "samples")
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
        pairs = _with(requests, "pairs", "unit")
        pairs, got = (frame.repartition(partitions, "unit") for frame in (pairs, got))
        return self._for_each_cogroup(pairs, got, kernel, schema, key="unit", **known)

    def _is_small(self, stage: str) -> bool:
        """Whether the requests of a stage can be broadcast."""
        # The stage has at least as many bytes as its requests, in any but contrived cases.
        return self._checkpoint.size(stage) <= BROADCAST

    def _common_shingles(self, copies: DataFrame) -> Any:
        """Broadcast the common shingles of the collection, as verification needs them; None if it
        needs none."""
        from pyspark.sql import functions as F

        settings = self._settings
        if settings.rule.counted_shingle is None:
            return None
        spark = self._batches.sparkSession
        if not self._checkpoint.has("background"):
            groups = _with(self._batches, "counted")
            probes = _with(self._batches, "probe", "doubted").collect()
            level = sketching.shingle_level(bytes(row.probe) for row in probes)
            requests = _with(copies, "overcounted", "batch")
            requests = requests.withColumnRenamed("overcounted", "places")
            if max((row.doubted for row in probes), default=0) > level:
                # The table of all documents needs a lower level than some groups were counted at:
                # they left out shingles that it should hold, so everything is counted again.
                features = self._batches.select("batch", "features")
                both = features.groupBy("batch").cogroup(copies.groupBy("batch"))
                firsts = both.applyInArrow(
                    lambda batches, copies: kernels.firsts(batches, copies), _spark(kernels.FIRSTS)
                )
                tables = self._count_again(firsts).withColumn("less", F.lit(False))
            else:
                work = partial(_merged, level=level)
                tables = groups.mapInArrow(work, _spark(sketching.SHINGLES))
                tables = tables.withColumn("less", F.lit(False))
                if not requests.isEmpty():
                    overcounted = self._count_again(requests).withColumn("less", F.lit(True))
                    tables = tables.unionByName(overcounted)
            common = partial(_common, documents=settings.documents)
            self._checkpoint.stage(
                "background",
                tables.repartition(1)
                .sortWithinPartitions("less")
                .mapInArrow(common, _spark(sketching.SHINGLES)),
            )
        row = self._checkpoint.read("background").first()
        return spark.sparkContext.broadcast(None if row is None else bytes(row[0]))

    def _count_again(self, requests: DataFrame) -> DataFrame:
        """Return tables of the shingles of the requested documents."""
        from pyspark.sql import functions as F

        work = partial(_count_again, settings=self._settings)
        is_small = self._settings.documents * 8 <= BROADCAST
        by_batch = requests.groupBy("batch").agg(
            F.flatten(F.collect_list("places")).alias("places")
        )
        asked = _joined(self._batches.select("batch", "texts"), by_batch, is_small=is_small)
        texts = F.transform("places", lambda place: F.get("texts", place))
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


def number_of(batch: str, place: Column) -> Column:
    """Return the numbers of documents."""
    from pyspark.sql import functions as F

    return F.shiftleft(F.col(batch), PLACE_BITS) + place


def batch_of(number: str) -> Column:
    """Return the batches of documents."""
    from pyspark.sql import functions as F

    return F.shiftright(number, PLACE_BITS)


def place_of(number: Column) -> Column:
    """Return the places of documents in their batches."""
    return number.bitwiseAND(MAX_BATCH - 1).cast("int")


def _with_requests(batches: DataFrame, requests: DataFrame, *, is_small: bool) -> DataFrame:
    """Return the batches that units ask for documents, with the units and the places."""
    from pyspark.sql import functions as F

    rows = _with(requests, "places", "batch", "unit")
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
        number = number_of("batch", place)
        values = [F.get(name, place).alias(name) for name in columns]
        return F.struct(unit.alias("unit"), number.alias("number"), *values)

    def of_unit(needed: Column) -> Column:
        return F.transform(needed.places, lambda place: of_document(needed.unit, place))

    asked = _with_requests(batches.select("batch", *columns), requests, is_small=is_small)
    # A row of the batch is not copied for each document, as it would be beside an exploded column.
    return asked.select(F.inline(F.flatten(F.transform("needed", of_unit))))


def _union(first: DataFrame, *others: DataFrame) -> DataFrame:
    """Return the rows of all frames, with the columns of all."""
    for frame in others:
        first = first.unionByName(frame, allowMissingColumns=True)
    return first


def _status(candidates: DataFrame, decided: DataFrame) -> Row:
    """Return digests of the documents of a round that are dropped, and compared again; how many are
    dropped; and how many pairs were found."""
    from pyspark.sql import functions as F

    def digest(column: str) -> Column:
        return F.when(F.size(column) > 0, F.xxhash64("batch", column))

    of_batches = decided.select(
        digest("dropped").alias("digest"),
        digest("again").alias("again"),
        F.size("dropped").alias("dropped"),
    )
    rows = _union(of_batches, candidates.select("found"))
    of_all = [F.bit_xor(name).alias(name) for name in ("digest", "again")]
    of_all += [F.sum(name).alias(name) for name in ("dropped", "found")]
    row = rows.agg(*of_all).fillna(0).first()
    assert row is not None
    return row


def _with(frame: DataFrame, column: str, *others: str) -> DataFrame:
    """Return a column and others, of the rows with a value in it."""
    # Column expressions: Spark's parser takes a second to start.
    return frame.filter(frame[column].isNotNull()).select(column, *others)


def _of_full(full: DataFrame, work: Callable[[bytes], Numbers]) -> Numbers:
    """Return all numbers that a function returns of full lists; ascending."""
    return _collected(full.mapInArrow(partial(_numbers, work=work), _spark(kernels.NUMBERS)))


def _collected(lists: DataFrame) -> Numbers:
    """Return the numbers in a column of lists, ascending."""
    numbers: Any = lists.toArrow().column(0).combine_chunks()
    return np.unique(numbers.flatten().to_numpy())


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


def _texts(batches: Iterable[pa.RecordBatch], *, settings: Settings) -> Iterator[pa.RecordBatch]:
    for row in _rows(batches):
        yield from kernels.texts(row, settings=settings).to_batches()


def _decided(batches: Iterable[pa.RecordBatch], *, settings: Settings) -> Iterator[pa.RecordBatch]:
    keeping = kernels.Keeping(settings)
    for number, rows in groupby(_rows(batches), lambda row: row["batch"].as_py()):
        values = [(row["similar"].as_py(), row["copies"].as_py()) for row in rows]
        similar, copies = (filter(None, of_all) for of_all in zip(*values, strict=True))
        yield from keeping.decide(number, similar, copies).to_batches()


def _numbers(
    batches: Iterable[pa.RecordBatch], *, work: Callable[[bytes], Numbers]
) -> Iterator[pa.RecordBatch]:
    for row in _rows(batches):
        numbers = work(row["full"].as_py())
        yield pa.record_batch([pa.array([numbers], pa.list_(pa.int64()))], schema=kernels.NUMBERS)


def _left_out(batches: Iterable[pa.RecordBatch], *, dropped: Numbers) -> Iterator[pa.RecordBatch]:
    for row in _rows(batches):
        yield from kernels.left_out(row["full"].as_py(), dropped).to_batches()


def _merged(batches: Iterable[pa.RecordBatch], *, level: int) -> Iterator[pa.RecordBatch]:
    yield from _shingles((row["counted"].as_py() for row in _rows(batches)), level)


def _count_again(
    batches: Iterable[pa.RecordBatch], *, settings: Settings
) -> Iterator[pa.RecordBatch]:
    yield from _shingles(
        sketching.count_again(row["texts"].values, settings) for row in _rows(batches)
    )


def _shingles(tables: Iterable[bytes], level: int = 0) -> Iterator[pa.RecordBatch]:
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
        yield pa.record_batch([pa.array([body], pa.large_binary())], schema=sketching.SHINGLES)
