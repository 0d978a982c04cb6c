"""The search on Spark: kernels and the exchange of blobs, from batches to the decisions.

Which documents are filed depends on which are kept, and the other way round. So the first round
files all documents and applies the rule. That is final unless a document was dropped which took the
place of another one in a capped list: without it, the list *admits* a later document. A further
round adds the pairs with admitted documents to the first round's pairs, and applies the rule again.
The rounds end when lists admit the same documents as before.

One machine, which decides document by document, gives the same result. Proof: the keys of a
document depend on its sketch and on counts of all documents. So these, and which lists have room
for an earlier document e, determine whether e is a candidate of d. Leave out the dropped documents:
a list that was not full loses them and nothing else; a full one loses them and admits later ones.
So a kept e stays in all lists that it was in. All candidate pairs with it, found in the first
round, remain candidate pairs. If more lists admit e, a further round finds all pairs with it. The
rule looks at no pairs with a dropped e. Take a round whose decisions make lists admit the same
documents as before. It has seen the pairs that there are if exactly the kept documents are filed.
Only one set of kept documents has that property: the lists of a document depend only on earlier
kept ones. Each round decides correctly about at least one more document, from the first one on.

Exact copies of a text wait for the decision on the first copy. The first round finds their pairs
too. If the first copy is dropped, the next round judges them. The most similar kept document of a
copy may come after the one of the first copy.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import orjson
import pyarrow as pa

from neardup.spark import decisions, kernels, units
from neardup.spark.blobs import (
    SCHEMA,
    Blob,
    Kernel,
    convert_schema,
    exchange,
    from_rows,
    group_sorted_blobs,
    pack,
    serve,
    stream,
    swap,
    to_rows,
    unpack,
)
from neardup.spark.checkpoint import Checkpoint, Stage
from neardup.spark.ordering import Layout
from neardup.spark.sketching import Settings

if TYPE_CHECKING:
    from pyspark import RDD
    from pyspark.sql import DataFrame

#: Verification tasks per task of other steps: there are fewer units than batches or buckets, and
#: they differ more in size.
_EVEN = 2


class Search:
    """A search among sketched documents, the blobs of `sketching.sketch`.

    After `decide`: `rounds`, and the `counts` that a :class:`neardup.run.summary.Summary` has.
    Its `candidates` are the pairs of the first round and the last, some with dropped documents.
    """

    def __init__(
        self,
        documents: Stage,
        checkpoint: Checkpoint,
        settings: Settings,
        layout: Layout,
        partitions: int,
    ) -> None:
        self.rounds = 0
        self.counts: dict[str, Any] = {}
        self._documents = documents
        self._spark = documents.spark
        self._checkpoint = checkpoint
        self._settings = settings
        self._layout = layout
        self._partitions = partitions

    def decide(self) -> Stage:
        """Return the blobs of `decisions.decide` for the whole collection."""
        from pyspark import inheritable_thread_target

        texts = self._run([self._read_blobs("features", "identities")], kernels.deal_identities)
        repeats = self._checkpoint.store_stage("repeats", self._run([texts], kernels.find_repeats))
        # Only verification needs the common shingles. They are merged by one task, while all other
        # cores search for candidates.
        pool = ThreadPoolExecutor(1)
        count = inheritable_thread_target(self._spark)(self._broadcast_shingles)
        background = pool.submit(count, repeats)
        try:
            return self._decide(repeats, background)
        finally:
            pool.shutdown()
            if background.exception() is None and background.result() is not None:
                background.result().destroy()

    def make_removed(self, decided: Stage, names: Mapping[int, tuple[str, int]]) -> DataFrame:
        """Return the removed table; see `decisions.answer_groups` for `names`."""
        ids, settings = self._read_blobs("ids"), self._settings
        frames = [ids, decided.read_blobs("decisions")]
        known = {"layout": self._layout, "names": names}
        answers = exchange(frames, decisions.answer_groups, self._partitions, **known)
        packed = stream(
            [ids, answers],
            lambda inboxes: ((pack(r),) for r in decisions.list_removed(inboxes, settings, names)),
            self._partitions,
        )
        frame = self._spark.createDataFrame(packed, "rows binary", verifySchema=False)
        return frame.mapInArrow(
            lambda rows: (unpack(row["rows"]) for batch in rows for row in batch.to_pylist()),
            convert_schema(decisions.REMOVED),
        )

    def _decide(self, repeats: Stage, background: Future[Any]) -> Stage:
        """Search and decide until nothing changes."""
        group = [self._read_blobs("features", "sketches"), repeats.read_blobs("repeats")]
        made = self._run([self._run(group, kernels.deal_keys)], kernels.count)
        # A resumed job may have another number of buckets.
        counts = self._checkpoint.store_stage(f"counts-{self._settings.buckets}", made).read_blobs(
            "counts"
        )
        inputs = [*group, counts]
        lists = self._make_lists(self._run(inputs, kernels.file), counts)
        first = self._checkpoint.store_stage(
            "round-0/candidates", self._run([*inputs, lists], kernels.find_candidates)
        )
        similar = self._judge(first, "round-0", background).read_rows("similar")
        pairs = first.read_rows("found", "full").union(similar)
        pairs = pairs.union(repeats.read_rows("copies"))
        decided, result = self._apply_rule(pairs)
        wanted = None
        while result["wanted"] != wanted:
            wanted = result["wanted"]
            name = f"round-{self.rounds}"
            again = decided.read_blobs("again")
            blobs = [self._run([first.read_blobs("waiting"), again], kernels.awaken)]
            if result["admitted"]:
                changed = decided.read_blobs("admitted", "left_out")
                lists = self._make_lists(self._run([*inputs, changed], kernels.admit), counts)
                blobs.append(self._run([*inputs, lists, again], kernels.find_more_candidates))
            more = self._checkpoint.store_stage(f"{name}/candidates", again.context.union(blobs))
            similar = self._judge(more, name, background).read_rows("similar")
            decided, result = self._apply_rule(pairs.union(more.read_rows("found")).union(similar))
        self.counts = result["counts"]
        return decided

    def _make_lists(self, entries: RDD[Blob], counts: RDD[Blob]) -> RDD[Blob]:
        return self._run([entries, swap(counts)], kernels.make_lists)

    def _apply_rule(self, pairs: DataFrame) -> tuple[Stage, dict[str, Any]]:
        """Return the blobs of `decisions.decide` as the stage that ends a round, and the result."""
        settings, layout = self._settings, self._layout

        def work(rows: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            inboxes = group_sorted_blobs(from_rows(rows))
            return to_rows(decisions.decide(inboxes, settings, layout))

        # One task takes all; Spark sorts in files what its memory does not hold.
        ordered = pairs.coalesce(1).sortWithinPartitions("receiver", "kind", "sender")
        made = ordered.mapInArrow(work, convert_schema(SCHEMA))
        decided = self._checkpoint.store_stage(f"round-{self.rounds}/decided", made)
        self.rounds += 1
        return decided, orjson.loads(decided.read_blobs("result").collect()[0].body)

    def _judge(self, candidates: Stage, name: str, background: Future[Any]) -> Stage:
        """Judge candidate pairs: first by samples, if there are any, then by texts."""
        requests = candidates
        if self._settings.compares_samples:
            samples = self._send_documents(candidates, "samples")
            blobs = [candidates.read_blobs("pairs"), samples]
            ruled = self._run(blobs, units.rule_out, background=background.result())
            requests = self._checkpoint.store_stage(f"{name}/open", ruled)
        return self._verify(requests, name, background)

    def _verify(self, requests: Stage, name: str, background: Future[Any]) -> Stage:
        """Return the requested pairs that are similar by what the rule compares."""
        kinds = ["features"]
        kinds += ["records"] if self._settings.rule.keeps_texts else []
        kinds += ["sketches"] if self._settings.compares_sketches else []
        blobs = [requests.read_blobs("pairs"), self._send_documents(requests, *kinds)]
        judged = self._run(blobs, units.verify, tasks=_EVEN, background=background.result())
        return self._checkpoint.store_stage(f"{name}/verified", judged)

    def _broadcast_shingles(self, repeats: Stage) -> Any:
        """Broadcast the common shingles of the collection, as verification needs them; None if it
        needs none."""
        if self._settings.rule.counted_shingle is None:
            return None
        stored = self._checkpoint.store_stage("background", self._count_shingles(repeats))
        bodies = [blob.body for blob in stored.read_rows("common").collect()]
        return self._spark.sparkContext.broadcast(bodies[0] if bodies else None)

    def _count_shingles(self, repeats: Stage) -> RDD[Blob]:
        subtracted = self._serve(repeats, "elsewhere", kernels.uncount, "samples")
        counts = [self._read_blobs("hashes"), subtracted]
        common = exchange(counts, kernels.count_hashes, self._partitions)
        return self._run([common], kernels.merge_common)

    def _read_blobs(self, *kinds: str) -> RDD[Blob]:
        """Return blobs of the documents, for their groups."""
        return self._documents.read_blobs(*kinds)

    def _send_documents(self, stage: Stage, *kinds: str) -> RDD[Blob]:
        """Return what the units of a stage need of documents."""
        return self._serve(stage, "needs", units.send, *kinds, settings=self._settings)

    def _serve(
        self, stage: Stage, request: str, kernel: Kernel, *kinds: str, **known: Any
    ) -> RDD[Blob]:
        """Return what a kernel makes of documents for the requests of a stage."""
        if not stage.has(request):
            return self._spark.sparkContext.emptyRDD()
        return serve(self._documents.read_rows(*kinds), stage.read_rows(request), kernel, **known)

    def _run(
        self, blobs: list[RDD[Blob]], kernel: Kernel, tasks: int = 1, **known: Any
    ) -> RDD[Blob]:
        partitions = tasks * self._partitions
        return exchange(blobs, kernel, partitions, settings=self._settings, **known)
