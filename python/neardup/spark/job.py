"""One job over a table or files: from records to who repeats whom."""

from __future__ import annotations

import tempfile
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neardup._engine.ingest import REMEMBERED, stopped
from neardup._engine.messages import Message
from neardup._engine.options import ON_ERROR
from neardup._engine.summary import Clock, Progress, Summary, crowd_notes
from neardup._engine.validation import check_choice, check_whole
from neardup.exceptions import ParameterError
from neardup.readers.fields import Fields
from neardup.recipe import Recipe
from neardup.spark import results
from neardup.spark.checkpoint import Checkpoint, Folders
from neardup.spark.numbering import MOST, File
from neardup.spark.rule import FEW_PAIRS
from neardup.spark.search import Run, Search
from neardup.spark.session import partitions_of, settings_for, shuffled_bytes, split_bytes
from neardup.spark.settings import Settings, described, settings_of
from neardup.spark.sketching import SCHEMA, sketch
from neardup.spark.sources import Source
from neardup.spark.steps import UNIT_DOCUMENTS

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

    from neardup.readers import Problem

#: Columns of the removed table.
_REMOVED = ("id", "kept_id", "similarity", "measure", "distance")

#: Files of so large a share of what a task reads, on average, are not read together.
_LARGE = 0.25

#: Documents that one task of the search is for.
_TASK_DOCUMENTS = 250_000

#: Bytes of input for each unit that pairs are judged in.
_UNIT_BYTES = 64 << 20

#: The core's bound.
_MOST_BUCKETS = 1 << 16


@dataclass
class SparkSummary(Summary):
    """Counts and costs of a job.

    ``closed_lists``, ``largest_form`` and ``peak_memory`` are nowhere known as a whole, and stay 0.

    Parameters
    ----------
    rounds : int
        Times that documents were filed and looked up, until nothing changed.
    shuffled_bytes : int
        Written by all executors for others to read, compressed.
    """

    rounds: int = 0
    shuffled_bytes: int = 0

    @property
    def shuffled_bytes_per_document(self) -> float:
        """Bytes that went between tasks, for each document."""
        return self.shuffled_bytes / max(self.read, 1)


@dataclass(frozen=True)
class SparkResult:
    """What a job kept, what it dropped, and why.

    Parameters
    ----------
    kept : pyspark.sql.DataFrame
        The kept rows, unchanged. Those of one part of the checkpoint are together and in input
        order; the parts need not follow each other. Sort by a column of your own where that
        matters. What `dedup_files` wrote is in input order, by the names of its files.
    removed : pyspark.sql.DataFrame
        One row a dropped document, in input order: ``id``, ``kept_id``, ``similarity``,
        ``measure``, ``distance``, as `neardup.dedup` gives it.
    summary : SparkSummary
    problems : list of Problem
        Records that could not be read; at most 10,000 are remembered.
    checkpoint : str
        The folder that `kept` and `removed` are read from.
    measure : str
        The similarity that `removed` states.
    threshold : float or None
        The smallest similarity of a duplicate, inclusive.
    max_distance : int or None
        For fingerprints: the largest distance of a duplicate, inclusive.
    """

    kept: DataFrame
    removed: DataFrame
    summary: SparkSummary
    problems: list[Problem]
    checkpoint: str
    measure: str
    threshold: float | None
    max_distance: int | None
    _close: Callable[[], None] = field(repr=False, compare=False)

    def close(self) -> None:
        """Remove the checkpoint; `kept` and `removed` cannot be read any more."""
        self._close()


class Job:
    """One job over a table or files."""

    def __init__(
        self,
        spark: SparkSession,
        *,
        recipe: Recipe,
        threshold: float | None,
        max_distance: int | None,
        fields: Fields,
        lines: bool,
        on_error: str,
        checkpoint: str | None,
        partitions: int | None,
        batch_documents: int,
        progress: Progress | None = None,
    ) -> None:
        check_choice(on_error, "on_error", ON_ERROR)
        check_whole(batch_documents, "batch_documents", 1, MOST)
        if partitions is not None:
            check_whole(partitions, "partitions", 1)
        self.spark = spark
        self.settings = settings_of(
            recipe, threshold=threshold, max_distance=max_distance, fields=fields, lines=lines
        )
        self.on_error = on_error
        self.partitions = partitions
        self.batch_documents = batch_documents
        self.progress = progress or Progress()
        self.clock = Clock()
        self.shuffled_before = shuffled_bytes(spark)
        self._checkpoint = checkpoint or _new_checkpoint(spark)
        self.checkpoint: Checkpoint
        self.seen: results.Overview | None = None
        self._split: int | None = None
        self._is_moved = False

    def run(self, open_source: Callable[[], Source], told: dict[str, Any]) -> SparkResult:
        """Run the job on a source, which the checkpoint is told by what is in `told`."""
        with self.configured(None):
            source = open_source()
        sizes = [file.size for file in source.files.values()]
        split = split_bytes(self.spark, sum(sizes), len(sizes)) if sizes else None
        # Many small files are better read together, and are not in order then.
        is_large = split is not None and sum(sizes) >= _LARGE * split * len(sizes)
        with self.configured(split if is_large else None):
            documents = self._documents(source, told)
        size, count = self.checkpoint.size("documents"), len(documents.inputFiles())
        self._split = split_bytes(self.spark, size, count)
        # As the kept records are written later, so that parts are the same.
        with self.configured(self._split):
            seen = results.overview(documents, source.files)
        with self.configured(None):
            return self._run(source, documents, seen)

    def configured(self, split: int | None) -> AbstractContextManager[None]:
        """Set what the job needs in the session for a while."""
        parts = self.partitions or 3 * self.spark.sparkContext.defaultParallelism
        return settings_for(self.spark, parts, self.batch_documents, split)

    def write(self, kept: DataFrame, place: str, *, lines: bool) -> None:
        """Write the kept records to a folder whose parts follow each other in input order."""
        assert self.seen is not None
        order = None if self._is_moved else self.seen.partitions()
        made = place if order is None else f"{place}-by-part"
        with self.configured(self._split):
            writer = kept.write.mode("overwrite")
            if lines:
                writer.text(made, lineSep="\n")
            else:
                writer.parquet(made)
        if order is not None:
            folders = Folders(self.spark)
            if folders.exists(place):
                folders.remove(place)
            folders.move_parts(made, place, order)

    def _documents(self, source: Source, told: dict[str, Any]) -> DataFrame:
        settings = self.settings
        wanted = described(settings, batch_documents=self.batch_documents, **told)
        self.checkpoint = Checkpoint(self.spark, self._checkpoint, wanted)
        self.progress.stage("read and sketch", None)
        return self.checkpoint.stage(
            "documents", lambda: _sketched(source, settings, self.batch_documents)
        )

    def _run(self, source: Source, documents: DataFrame, seen: results.Overview) -> SparkResult:
        settings, checkpoint = self.settings, self.checkpoint
        problems = results.problems(documents, seen, REMEMBERED)
        if problems and self.on_error == "stop":
            raise stopped(problems[0])
        for problem in problems:
            self.progress.problem(problem)
        self.clock.lap("read and sketch")
        self.progress.stage("candidates, verify, cluster", seen.documents)
        search = Search(
            settings,
            seen.documents,
            batches=len(seen.batches),
            buckets=self._buckets(seen),
            units=max(seen.documents // UNIT_DOCUMENTS, seen.size // _UNIT_BYTES, 1),
        )
        run = Run(self.spark, search, documents, checkpoint, self._parts(seen), few_pairs=FEW_PAIRS)
        try:
            decisions = run.decide()
        finally:
            run.close()
        names = self.spark.sparkContext.broadcast(seen.names())
        ids = checkpoint.stage("ids", lambda: results.ids(documents, decisions, names))
        removed = checkpoint.stage("removed", lambda: results.removed(decisions, ids, settings))
        self.clock.lap("candidates, verify, cluster")
        summary = self._summary(seen, decisions, run)
        for note in crowd_notes(summary):
            self.progress.note(note)
        dropped = summary.exact_duplicates + summary.near_duplicates
        # A table has no files whose names could tell the order.
        overlap = bool(source.files) and seen.partitions() is None
        self._is_moved = overlap or dropped > results.MOST_KNOWN
        self.seen = seen
        kept = results.kept(
            documents,
            decisions,
            seen,
            source.schema,
            lines=settings.lines,
            drop_unreadable=self.on_error == "drop",
            is_moved=self._is_moved,
        )
        return SparkResult(
            kept=kept,
            removed=removed.orderBy("number").select(*_REMOVED),
            summary=summary,
            problems=problems,
            checkpoint=checkpoint.path,
            measure=settings.rule.measure,
            threshold=settings.rule.threshold,
            max_distance=settings.rule.max_distance,
            _close=checkpoint.remove,
        )

    def _parts(self, seen: results.Overview) -> int:
        """Return how many tasks a stage is cut into."""
        if self.partitions is not None:
            return self.partitions
        cores = self.spark.sparkContext.defaultParallelism
        return max(cores, -(-seen.documents // _TASK_DOCUMENTS))

    def _buckets(self, seen: results.Overview) -> int:
        """Return how many parts keys are dealt to: more than tasks, to even them out."""
        return min(2 * self._parts(seen), _MOST_BUCKETS)

    def _summary(self, seen: results.Overview, decisions: DataFrame, run: Run) -> SparkSummary:
        from pyspark.sql import functions as F

        identical = F.sum(F.col("identical").cast("int"))
        row = decisions.agg(F.count("number"), identical).first()
        dropped, exact = (0, 0) if row is None else (row[0], row[1] or 0)
        stood_for = decisions.groupBy("kept").count().agg(F.max("count")).first()
        most = 0 if stood_for is None else stood_for[0] or 0
        unreadable = sum(info.documents - info.readable for info in seen.batches)
        return SparkSummary(
            task="dedup",
            read=seen.documents,
            unreadable=unreadable,
            exact_duplicates=exact,
            near_duplicates=dropped - exact,
            kept=seen.documents - dropped - (unreadable if self.on_error == "drop" else 0),
            problems=sum(info.problems for info in seen.batches),
            candidates=run.counts.candidates,
            without_features=sum(info.without_features for info in seen.batches),
            largest_cluster=min(1 + most, seen.documents),
            bytes_read=seen.size,
            seconds=self.clock.seconds(),
            stages=self.clock.stages,
            rounds=run.counts.rounds,
            shuffled_bytes=shuffled_bytes(self.spark) - self.shuffled_before,
        )


def _sketched(source: Source, settings: Settings, most: int) -> DataFrame:
    work = partial(
        _sketch,
        settings=settings,
        files=source.files,
        partitions=partitions_of(source.frame),
        most=most,
    )
    return source.frame.mapInArrow(work, SCHEMA)


def _sketch(
    rows: Iterable[pa.RecordBatch],
    *,
    settings: Settings,
    files: Mapping[int, File],
    partitions: int,
    most: int,
) -> Iterator[pa.RecordBatch]:
    from pyspark import TaskContext

    context = TaskContext.get()
    assert context is not None
    return sketch(
        rows,
        settings=settings,
        files=files,
        partition=context.partitionId(),
        partitions=partitions,
        most=most,
    )


def _new_checkpoint(spark: SparkSession) -> str:
    """Return a new folder for a job that none was named for."""
    name = f"neardup-{uuid.uuid4().hex[:12]}"
    context = spark.sparkContext
    folder = context.getCheckpointDir()
    if folder is not None:
        return f"{folder}/{name}"
    if (context.master or "").startswith("local"):
        return Path(tempfile.mkdtemp(prefix="neardup-spark-")).as_uri()
    raise ParameterError(Message("spark.no_checkpoint", parameter="checkpoint"))
