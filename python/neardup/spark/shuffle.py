"""The search on Spark: kernels and the exchange of blobs, from batches to the decisions.

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
searched in the next round: the most similar kept document of a copy may come after that of the
first.
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import orjson

from neardup.spark import decisions, kernels
from neardup.spark.blobs import (
    Blob,
    Kernel,
    exchange,
    pack,
    select,
    spark_schema,
    stream,
    swapped,
    unpack,
)
from neardup.spark.checkpoint import Checkpoint
from neardup.spark.ordering import Layout
from neardup.spark.sketching import Settings

if TYPE_CHECKING:
    from pyspark import RDD
    from pyspark.sql import DataFrame

#: Verification tasks per task of other steps: there are fewer units than batches or buckets, and
#: they differ more in size.
_EVEN = 2

#: The most batches that are named to Spark, so that it leaves the data of others where it is.
_NAMED = 1000


class Search:
    """A search among sketched documents, the blobs of `sketching.sketch`.

    After `decide`: `rounds` of indexing and search; `candidates`, the pairs of the last round, some
    with dropped documents if it was the first; and what full lists left out, as of
    :class:`neardup.run.summary.Summary`.
    """

    def __init__(
        self,
        documents: DataFrame,
        checkpoint: Checkpoint,
        settings: Settings,
        layout: Layout,
        partitions: int,
    ) -> None:
        self.rounds = self.candidates = 0
        self.closed_lists = self.unlisted = self.unlisted_pairs = 0
        self._documents = documents
        self._checkpoint = checkpoint
        self._settings = settings
        self._layout = layout
        self._partitions = partitions

    def decide(self) -> DataFrame:
        """Return the blobs of `decisions.decide` for the whole collection."""
        from pyspark import inheritable_thread_target

        found = self._run([self._of("features", "identities")], kernels.identities)
        repeats = self._checkpoint.stage("repeats", self._run([found], kernels.repeats))
        # Only verification needs the common shingles. They are merged by one task, while all other
        # cores search for candidates.
        pool = ThreadPoolExecutor(1)
        spark = self._documents.sparkSession
        background = pool.submit(inheritable_thread_target(spark)(self._common_shingles), repeats)
        try:
            return self._decide(repeats, background)
        finally:
            pool.shutdown()
            if background.exception() is None and background.result() is not None:
                background.result().destroy()

    def removed(self, decided: DataFrame, names: Mapping[int, tuple[str, int]]) -> DataFrame:
        """Return the removed table; see `decisions.answers` for `names`."""
        ids, settings = self._of("ids"), self._settings
        frames = [ids, select(decided, "decisions")]
        known = {"layout": self._layout, "names": names}
        answers = exchange(frames, decisions.answers, self._partitions, **known)
        packed = stream(
            [ids, answers],
            lambda inboxes: ((pack(r),) for r in decisions.removed(inboxes, settings, names)),
            self._partitions,
        )
        frame = self._documents.sparkSession.createDataFrame(
            packed, "rows binary", verifySchema=False
        )
        return frame.mapInArrow(
            lambda rows: (unpack(row["rows"]) for batch in rows for row in batch.to_pylist()),
            spark_schema(decisions.REMOVED),
        )

    def _decide(self, repeats: DataFrame, background: Future[Any]) -> DataFrame:
        """Index, search and decide until nothing changes."""
        stage = self._checkpoint.stage
        group = [self._of("features", "sketches"), select(repeats, "repeats")]
        made = self._run([self._run(group, kernels.keys)], kernels.count)
        counts = select(stage("counts", made), "counts")
        before = None
        changed: list[RDD[Blob]] = []
        judged: list[RDD[Blob]] = []
        while True:
            name = f"round-{self.rounds}"
            inputs = [*group, counts, *changed]
            entries = self._run(inputs, kernels.file)
            lists = self._run([entries, swapped(counts)], kernels.lists)
            found = self._run([*inputs, lists, *judged], kernels.candidates)
            candidates = stage(f"{name}/candidates", found)
            verdicts = self._judge(candidates, name, background.result())
            judged += [select(blobs, "judged") for blobs in verdicts]
            every = [
                select(candidates, "similar", "found", "closed", "left_out"),
                select(verdicts[-1], "similar"),
                select(repeats, "copies"),
            ]
            decided = stage(f"{name}/decided", self._apply_rule(every))
            self.rounds += 1
            result = orjson.loads(select(decided, "result").collect()[0].body)
            is_final = not result["again"] and not result["has_closed"] and self.rounds == 1
            if is_final or result["dropped"] == before:
                for field in ("candidates", "closed_lists", "unlisted", "unlisted_pairs"):
                    setattr(self, field, result[field])
                return decided
            before = result["dropped"]
            changed = [select(decided, "dropped", "again")]

    def _apply_rule(self, blobs: list[RDD[Blob]]) -> RDD[Blob]:
        settings, layout = self._settings, self._layout
        return stream(blobs, lambda inboxes: decisions.decide(inboxes, settings, layout), 1)

    def _judge(self, candidates: DataFrame, name: str, background: Any) -> list[DataFrame]:
        """Judge the new candidate pairs: first by samples, if there are any, then by texts."""
        if not self._settings.compares_samples:
            return [self._verify(candidates, name, background)]
        asked = [select(candidates, "needs"), self._asked(candidates, "needs", "samples")]
        samples = exchange(asked, kernels.send_samples, self._partitions)
        blobs = [select(candidates, "pairs"), samples]
        known = {"layout": self._layout, "background": background}
        ruled = self._checkpoint.stage(f"{name}/open", self._run(blobs, kernels.rule_out, **known))
        return [ruled, self._verify(ruled, name, background)]

    def _verify(self, requests: DataFrame, name: str, background: Any) -> DataFrame:
        """Return the requested pairs as judged by what the rule compares."""
        kinds = ["features"]
        kinds += ["texts"] if self._settings.rule.keeps_texts else []
        kinds += ["sketches"] if self._settings.compares_sketches else []
        asked = [select(requests, "needs"), self._asked(requests, "needs", *kinds)]
        documents = self._run(asked, kernels.send_documents)
        blobs = [select(requests, "pairs"), documents]
        known = {"layout": self._layout, "background": background}
        judged = self._run(blobs, kernels.verify, tasks=_EVEN, **known)
        return self._checkpoint.stage(f"{name}/verified", judged)

    def _common_shingles(self, repeats: DataFrame) -> Any:
        """Broadcast the common shingles of the collection, as verification needs them; None if it
        needs none."""
        if self._settings.rule.counted_shingle is None:
            return None
        stored = self._checkpoint.stage("background", self._count_shingles(repeats))
        bodies = [blob.body for blob in stored.collect()]
        return self._documents.sparkSession.sparkContext.broadcast(bodies[0] if bodies else None)

    def _count_shingles(self, repeats: DataFrame) -> RDD[Blob]:
        samples = [self._of("samples"), select(repeats, "repeats")]
        # Hashes are dealt out by some leading bits.
        parts = 1 << (self._partitions - 1).bit_length()
        dealt = exchange(samples, kernels.hashes, self._partitions, parts=parts)
        counts = exchange([dealt], kernels.count_hashes, self._partitions)
        return self._run([counts], kernels.common)

    def _of(self, *kinds: str) -> RDD[Blob]:
        """Return blobs of the documents, for their groups."""
        return select(self._documents, *kinds)

    def _asked(self, stage: DataFrame, request: str, *kinds: str) -> RDD[Blob]:
        """Return blobs of the documents for their batches; if a stage has requests for few batches,
        of these only."""
        from pyspark.sql import functions as F

        found = self._documents
        asked = stage.filter(F.col("kind") == request).select("receiver").distinct()
        batches = [row.receiver for row in asked.limit(_NAMED + 1).collect()]
        if len(batches) <= _NAMED:
            found = found.filter(F.col("sender").isin(batches))
        return swapped(select(found, *kinds))

    def _run(
        self, blobs: list[RDD[Blob]], kernel: Kernel, tasks: int = 1, **known: Any
    ) -> RDD[Blob]:
        partitions = tasks * self._partitions
        return exchange(blobs, kernel, partitions, settings=self._settings, **known)
