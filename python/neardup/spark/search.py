"""The search: all steps as tables of Spark, from batches to who repeats whom.

Who is filed depends on who is kept, and who is kept on who was filed. So the search
begins with all documents filed, applies the rule, files only what was kept, and does so
again until nothing changes. What then stands is what one machine finds that decides
document by document: with the first, by each document's lists depending only on kept ones
before it, and so on through the order.

The first time is enough if no list was closed that has a dropped document. Proof: by which
keys a document is filed and looked up depends on its sketch and on counts of all documents.
So whether an earlier document e is a candidate of d depends on those two, and on whether
e stands in the lists of the keys that they share. Without the dropped ones, a list that
was not closed loses them and nobody else; one that was closed has lost nobody, and so
takes nobody in. Hence e, if it is kept, is a candidate of the same documents as before. The
rule looks at no other pairs: by induction through the order it keeps the same documents.
Pairs with a dropped e, which the second time would leave out, are left out at the end.

Exact copies of a text wait for what becomes of the first. If that is dropped they are looked up
the next time, for which the same lists do if none was closed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from neardup.spark import background, rule, work
from neardup.spark.blobs import pack
from neardup.spark.checkpoint import Checkpoint
from neardup.spark.settings import Settings
from neardup.spark.tables import (
    CLOSED,
    DROPPED,
    KNOWN,
    MESSAGE,
    PAIRS,
    REQUEST,
    beside,
    for_each_batch,
    for_each_row,
    for_each_target,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

#: Tasks of verification for each task of another step.
_EVEN = 2

#: Bytes of a pair in its blob.
_PAIR_BYTES = 28

#: The digest of no documents.
_NONE = (0, None, None)


@dataclass(frozen=True)
class Search:
    """What the steps need to know, as it goes to the tasks.

    Parameters
    ----------
    settings : Settings
    documents : int
        Documents of the input.
    batches : int
    buckets : int
        Parts that keys are dealt to.
    units : int
        Parts that pairs are dealt to.
    """

    settings: Settings
    documents: int
    batches: int
    buckets: int
    units: int


@dataclass
class Counts:
    """What a search tells of itself.

    Parameters
    ----------
    rounds : int
        Times that documents were filed.
    rule_rounds : int
        Rounds of the rule, over all of these.
    candidates : int
        Candidate pairs of the last time; if all had been filed for it, some with documents
        that were dropped.
    """

    rounds: int = 0
    rule_rounds: int = 0
    candidates: int = 0


@dataclass
class Run:
    """One run of the search over sketched documents.

    Parameters
    ----------
    spark : SparkSession
    search : Search
    documents : DataFrame
        Rows of batches and groups, see `sketching.SCHEMA`.
    checkpoint : Checkpoint
    partitions : int
        Parts that messages are shuffled to.
    few_pairs : int
        Similar pairs that one task settles.
    """

    spark: SparkSession
    search: Search
    documents: DataFrame
    checkpoint: Checkpoint
    partitions: int
    few_pairs: int = rule.FEW_PAIRS
    counts: Counts = field(default_factory=Counts)

    def __post_init__(self) -> None:
        self.batches = self.documents.filter("documents > 0")
        self._prepared: DataFrame | None = None
        self._background: Any = None

    @property
    def prepared(self) -> DataFrame:
        """Batches with what the buckets told of their keys and texts."""
        if self._prepared is None:
            columns = ("batch", "identities", "features", "sketches")
            asked = for_each_row(
                self.batches.select("batch", "batch_group", *columns[1:]),
                work.ask,
                search=self.search,
            )
            told = for_each_target(asked, work.count, self.partitions, search=self.search)
            made = for_each_batch(
                self.batches.select(*columns), told, work.prepare, work.PREPARED, search=self.search
            )
            # Where the rounds begin: cut once for all that comes to batches later.
            self._prepared = _persisted(made.repartition(self.partitions, "batch"))
        return self._prepared

    def close(self) -> None:
        """Let go of what executors hold."""
        if self._prepared is not None:
            self._prepared.unpersist()
        if self._background is not None:
            self._background.destroy()

    def decide(self) -> DataFrame:
        """Return all dropped documents, with those that they repeat."""
        return self.checkpoint.stage("decisions", self._decided)

    def _decided(self) -> DataFrame:
        from pyspark.sql import functions as F

        repeats = self._repeats()
        pairs, dropped = self._fixed(repeats)
        same = repeats.join(dropped, repeats["first"] == dropped.number, "left_anti")
        return _best(_of_kept(pairs, dropped)).unionByName(
            same.select(
                "number",
                F.col("first").alias("kept"),
                F.lit(1.0).alias("similarity"),
                "distance",
                F.lit(True).alias("identical"),
            )
        )

    def _repeats(self) -> DataFrame:
        """Return the documents whose text came before, with the first."""
        kind = self.search.settings.recipe.sketch.kind
        return self.checkpoint.stage(
            "repeats",
            lambda: self.prepared.select("state").mapInArrow(
                partial(work.repeats, kind=kind), "number long, first long, distance int"
            ),
        )

    def _fixed(self, repeats: DataFrame) -> tuple[DataFrame, DataFrame]:
        """File, look up and decide until nothing changes; return similar pairs and the dropped
        documents that do not repeat a text.

        Who repeats one that is dropped is looked up beside the others: its own most similar
        kept document may be later than that of the first.
        """
        again: DataFrame | None = None
        before = _NONE
        verified: list[DataFrame] = []
        lists = self._lists(None)
        while True:
            number = self.counts.rounds
            self.counts.rounds += 1
            told = lists
            for frame in verified:
                told = told.unionByName(frame)
            if again is not None:
                told = told.unionByName(_dealt(again))
            found = self._verified(told, f"round-{number}")
            pairs = _similar(found)
            # They are filed nowhere, and so drop nobody.
            searched = pairs if again is None else _without(pairs, again)
            most = self.checkpoint.size(f"round-{number}/verified") // _PAIR_BYTES
            dropped, rounds = rule.dropped(
                searched, most, self.checkpoint, f"round-{number}/rule", self.few_pairs
            )
            self.counts.rule_rounds += rounds
            these = _digest(dropped)
            is_fixed = these == before
            if not is_fixed:
                of_dropped = repeats["first"] == dropped.number
                again = repeats.join(dropped, of_dropped, "left_semi").select("number")
                if number == 0 and self._none_was_closed_by(dropped):
                    is_fixed = again.isEmpty()
                else:
                    lists = self._lists(dropped)
            if is_fixed:
                self.counts.candidates = _count(found)
                return pairs, dropped
            before = these
            verified.append(found)

    def _none_was_closed_by(self, dropped: DataFrame) -> bool:
        """Say whether no list that the first time closed has one of the dropped documents."""
        from pyspark.sql import functions as F

        place = f"{self.checkpoint.path}/round-0/candidates"
        found = self.spark.read.schema(MESSAGE).parquet(place)
        some = found.filter(F.col("kind") == CLOSED).select("body")
        closing = some.mapInArrow(work.numbers, "number long")
        # All are counted: Python workers complain if they are stopped early.
        return closing.join(dropped, "number", "left_semi").count() == 0

    def _lists(self, dropped: DataFrame | None) -> DataFrame:
        """Return the lists of all buckets, of the documents that are not dropped."""
        if dropped is None:
            filed = for_each_row(self.prepared, work.file, search=self.search)
        else:
            filed = for_each_batch(
                self.prepared, _dealt(dropped), work.file_less, MESSAGE, search=self.search
            )
        return for_each_target(
            filed,
            work.lists,
            self.partitions,
            search=self.search,
            tells_closed=dropped is None,
        )

    def _verified(self, told: DataFrame, name: str) -> DataFrame:
        """Return the candidates, with their similarities."""
        pairs = self.checkpoint.stage(
            f"{name}/candidates",
            lambda: for_each_batch(
                self.prepared, told, work.candidates, MESSAGE, search=self.search
            ),
        )
        return self.checkpoint.stage(f"{name}/verified", lambda: self._compared(pairs))

    def _compared(self, found: DataFrame) -> DataFrame:
        from pyspark.sql import functions as F

        # What is not looked at is not even read.
        settings = self.search.settings
        looked_at = {"records": settings.rule.keeps_texts}
        looked_at |= dict.fromkeys(("features", "sketches"), settings.compares_sketches)
        columns = [
            F.col(column) if is_read else F.lit(None).cast("binary").alias(column)
            for column, is_read in looked_at.items()
        ]
        requests = found.filter(F.col("kind") == REQUEST)
        asked = beside(self.batches, requests, columns)
        texts = for_each_row(asked, work.answer, search=self.search)
        pairs = found.filter(F.col("kind") == PAIRS)
        judged = for_each_target(
            pairs.unionByName(texts),
            work.verify,
            # Units are fewer than what else is dealt out, and less even.
            _EVEN * self.partitions,
            search=self.search,
            background=self.background(),
        )
        return judged.unionByName(found.filter(F.col("kind") == KNOWN))

    def background(self) -> Any:
        """Return what is common, as every task gets it; None where nothing is counted."""
        if self.search.settings.rule.counted_shingle is None:
            return None
        if self._background is None:
            common = self.checkpoint.stage(
                "background",
                lambda: background.table(
                    self.documents, self.prepared, self.checkpoint, self.search
                ),
            ).first()
            blob = None if common is None else bytes(common[0])
            self._background = self.spark.sparkContext.broadcast(blob)
        return self._background


def _similar(verified: DataFrame) -> DataFrame:
    """Return the similar pairs, a row each."""
    return verified.select("body").mapInArrow(
        work.similar, "later long, earlier long, similarity double, distance int"
    )


def _best(pairs: DataFrame) -> DataFrame:
    """Return for each document the most similar one, the earliest if they tie."""
    from pyspark.sql import functions as F

    order = F.struct("similarity", (-F.col("earlier")).alias("earlier"), "distance")
    best = F.max(order).alias("best")
    return (
        pairs.groupBy("later")
        .agg(best)
        .select(
            F.col("later").alias("number"),
            (-F.col("best.earlier")).alias("kept"),
            F.col("best.similarity").alias("similarity"),
            F.col("best.distance").alias("distance"),
            F.lit(False).alias("identical"),
        )
    )


def _without(pairs: DataFrame, later: DataFrame) -> DataFrame:
    """Return the pairs whose later document is none of these."""
    return pairs.join(later, pairs.later == later.number, "left_anti")


def _of_kept(pairs: DataFrame, dropped: DataFrame) -> DataFrame:
    """Return the pairs whose earlier document is kept."""
    return pairs.join(dropped, pairs.earlier == dropped.number, "left_anti")


def _count(verified: DataFrame) -> int:
    """Return how many pairs there are."""
    from pyspark.sql import functions as F

    sizes = F.sum(F.length("body") - F.lit(len(pack([b""] * 4))))
    row = verified.agg(sizes).first()
    return 0 if row is None or row[0] is None else int(row[0]) // _PAIR_BYTES


def _digest(numbers: DataFrame) -> tuple[Any, ...]:
    """Return what tells a set of documents from another."""
    from pyspark.sql import functions as F

    mixed = F.xxhash64("number")
    row = numbers.agg(
        F.count("number"), F.bit_xor(mixed), F.bit_xor(F.xxhash64(mixed, "number"))
    ).first()
    return _NONE if row is None else tuple(row)


def _dealt(numbers: DataFrame) -> DataFrame:
    """Send numbers of documents to their batches."""
    return numbers.select("number").mapInArrow(partial(work.deal_numbers, kind=DROPPED), MESSAGE)


def _persisted(frame: DataFrame) -> DataFrame:
    from pyspark import StorageLevel

    return frame.persist(StorageLevel.DISK_ONLY)
