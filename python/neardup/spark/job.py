"""One job over a table or files: from the input records to the decisions."""

from __future__ import annotations

import tempfile
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neardup.base.display import DOUBTFUL, ReprMixin, doubtful_rows, rule_of
from neardup.base.lazy import _core
from neardup.base.messages import N_, Message
from neardup.base.progress import Clock, check_progress
from neardup.base.validation import check_whole
from neardup.exceptions import ParameterError
from neardup.readers import Problem
from neardup.readers.batch import REMEMBERED, make_stop_error
from neardup.readers.fields import Fields
from neardup.recipe import CORPUS
from neardup.recipe.rule import chosen_recipe, rule
from neardup.run.plan import plan_of
from neardup.run.summary import Summary, in_both, run_report, template_notes
from neardup.spark import io
from neardup.spark.checkpoint import Checkpoint, Folders, Stage
from neardup.spark.errors import errors_of_processes
from neardup.spark.io import BatchInfo, Source
from neardup.spark.kernels import compile_shuffle
from neardup.spark.ordering import INPUT_BEGIN, MAX_BATCH, File, Layout
from neardup.spark.session import count_shuffled_bytes, find_split, measure_memory, settings_for
from neardup.spark.shuffle import Search
from neardup.spark.sketching import Settings
from neardup.spark.units import UNIT_DOCUMENTS, UNIT_SAMPLES
from neardup.writers.rows import removed_schema

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from neardup.tasks.review import Review

#: Files that on average have at least this share of a task's input are not combined.
_LARGE = 0.25

#: Blobs that are sent to Python at once: a few of records or samples are large.
_BLOBS = 8

#: Bytes of input per verification unit.
_UNIT_BYTES = 64 << 20

#: Bytes of input per partition of kept records.
_PART_BYTES = 128 << 20


@dataclass
class SparkSummary(Summary):
    """Counts and costs of a job.

    ``largest_form`` is not known as a whole on a cluster and stays 0.
    ``peak_memory`` is the sum over all executors.

    Parameters
    ----------
    rounds : int
        Number of times that the rule was applied, until the decisions no longer changed.
    shuffled_bytes : int
        Compressed bytes that the executors wrote for shuffles.
    """

    rounds: int = 0
    shuffled_bytes: int = 0

    @property
    def shuffled_bytes_per_document(self) -> float:
        """Shuffled bytes divided by all documents, also of another collection."""
        return self.shuffled_bytes / max(self.read + self.against, 1)


@dataclass(frozen=True, repr=False)
class SparkResult(ReprMixin):
    """The result of a job: what was kept, what was dropped, and why.

    Parameters
    ----------
    kept : pyspark.sql.DataFrame
        The kept rows, unchanged and in input order. Those of `dedup_files` are read from its
        output, which is in input order by file name.
    removed : pyspark.sql.DataFrame
        One row per dropped document, in input order: ``id``, ``kept_id``, ``similarity``,
        ``measure``, ``distance``, ``kind``, ``cluster_size`` and, with `against`, ``kept_from``,
        as in the result of `neardup.dedup`.
    summary : SparkSummary
    problems : list of Problem
        Records that could not be read; at most 10,000.
    checkpoint : str
        The folder that `kept` and `removed` are read from.
    measure : str
        The similarity measure in `removed`.
    threshold : float or None
        The lowest similarity of a duplicate, inclusive.
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
    _doubtful: list[dict[str, Any]] = field(compare=False)
    _close: Callable[[], None] = field(compare=False)
    _reviewed: Callable[[], Review] | None = field(compare=False)

    def doubtful(self) -> list[dict[str, Any]]:
        """Return the five least similar near-duplicates that were dropped.

        Returns
        -------
        list of dict
            Rows of `removed` with a similarity below 1, the least similar first. They are at the
            driver, and stay when the checkpoint is removed.
        """
        return self._doubtful

    def review(self) -> Review:
        """Return what was dropped as a page to look at; it reads the checkpoint.

        Returns
        -------
        neardup.tasks.review.Review
            All removals, the least similar first and up to 50,000, the first 100 beside what was
            kept; and the largest groups. Records have no title, date and source in it.

        Raises
        ------
        ParameterError
            If `dedup_files` was called without `review` and `checkpoint`.
        """
        if self._reviewed is None:
            raise ParameterError(
                Message(
                    "{named[review]} of dedup_files must name a file for a review of "
                    "files. Got none."
                )
            )
        return self._reviewed()

    def _summary_rows(self) -> Iterator[tuple[str, Any]]:
        for name in ("read", "exact_duplicates", "near_duplicates", "kept"):
            yield name, getattr(self.summary, name)
        yield "rule", rule_of(self.measure, self.threshold, self.max_distance)
        yield "checkpoint", self.checkpoint
        yield from doubtful_rows(self._doubtful)

    def close(self) -> None:
        """Remove the checkpoint; then `kept` and `removed` can no longer be read."""
        self._close()


def make_settings(options: Mapping[str, Any], fields: Fields, *, lines: bool) -> Settings:
    """Return the settings of a job, or refuse a recipe whose search cannot be distributed."""
    recipe = chosen_recipe(options)
    bounds = {name: options[name] for name in ("threshold", "max_distance", "exhaustive")}
    wanted = rule(recipe, **bounds)

    def make_refusal(template: str, **values: Any) -> ParameterError:
        return ParameterError(Message(template, parameter="recipe", value=recipe.name, **values))

    settings = Settings(recipe, wanted, fields, lines, against_only=options["against_only"])
    if recipe.weigh.idf == CORPUS:
        raise make_refusal(
            N_(
                "{parameter:named} must, on Spark, weigh each text by itself, but '{value}' has "
                "idf = 'corpus'. Give it a file of 'neardup idf' as its idf, or leave the engine "
                "out."
            )
        )
    if recipe.weigh.scheme == "improved":
        raise make_refusal(
            N_(
                "{parameter:named} must, on Spark, weigh words without titles, but '{value}' "
                "depends on them. Choose another scheme of weights, such as 'tf-idf', or leave "
                "the engine out."
            )
        )
    if settings.rule.scheme == "near":
        distance = settings.rule.max_distance
        try:
            # A large distance has no keys; it would require a comparison with all documents.
            compile_shuffle(settings)
        except ParameterError:
            bounds = {"bits": recipe.sketch.bits, "distance": distance}
            raise make_refusal(
                N_(
                    "{parameter:named} must, on Spark, have keys, but '{value}' has none for "
                    "{bits} bits within {distance}. Give a smaller {given[max_distance]}, a "
                    "recipe such as 'general', or leave the engine out."
                ),
                **bounds,
            ) from None
    return settings


class Job:
    """One job over a table or files."""

    def __init__(self, spark: SparkSession, settings: Settings, values: Mapping[str, Any]) -> None:
        self.spark = spark
        self.settings = settings
        self.on_error = values["on_error"]
        self.batch_documents = check_whole(
            values["batch_documents"], "batch_documents", 1, MAX_BATCH
        )
        self.partitions = values["partitions"]
        self.progress = check_progress(values.get("progress"))
        self.clock = Clock()
        self.shuffled_before = count_shuffled_bytes(spark)
        self._checkpoint: str | None = values["checkpoint"]
        #: Number of partitions of the kept records.
        self._parts = 1

    def run(self, source: Source, others: Source | None, identity: dict[str, Any]) -> SparkResult:
        """Run the job on a source, against another one if there is one; `identity` distinguishes
        its checkpoint from others."""
        files = list(source.files.values())
        if others is not None:
            self.settings = replace(self.settings, first=INPUT_BEGIN)
            for file in source.files.keys() & others.files.keys():
                self.progress.note(in_both(source.files[file].name))
            files = [*others.files.values(), *source.files.values()]
        wanted = {**self._describe(), **identity}
        checkpoint = Checkpoint(
            self.spark, self._checkpoint or _choose_checkpoint(self.spark), wanted
        )
        try:
            return self._run(source, others, files, checkpoint)
        except BaseException:
            if self._checkpoint is None:
                # Nobody knows its name, so that no later job could go on from it.
                with suppress(Exception):
                    checkpoint.remove()
            raise

    def _run(
        self, source: Source, others: Source | None, files: list[File], checkpoint: Checkpoint
    ) -> SparkResult:
        cores = self.spark.sparkContext.defaultParallelism
        sizes = [file.size for file in source.files.values()]
        split = find_split(self.spark, sum(sizes), len(sizes)) if sizes else None
        # Many small files are read faster together, but then not in order.
        is_large = split is not None and sum(sizes) >= _LARGE * split * len(sizes)
        self.progress.stage("read and sketch", None)
        with self._configure(3 * cores, split if is_large else None), errors_of_processes():
            limit, first = self.batch_documents, self.settings.first
            made = io.sketch_source(source, self.settings, limit, first)
            if others is not None:
                before = replace(self.settings, lines=others.lines, is_other=True)
                made = io.sketch_source(others, before, limit, 0).union(made)
            documents = checkpoint.store_stage("documents", made)
            seen = io.list_batches(documents, files, self.settings.first)
        layout = Layout((info.batch, info.group, info.documents) for info in seen)
        self._parts = max(3 * cores, -(-sum(info.size for info in seen) // _PART_BYTES))
        tasks = self.partitions or max(cores, layout.groups)
        with self._configure(tasks, rows=_BLOBS):
            return self._search(source, documents, seen, checkpoint, layout, tasks)

    def write(self, kept: DataFrame, place: str) -> None:
        """Write the kept records to a folder whose parts are in input order."""
        writer = kept.write.mode("overwrite")
        with self._configure(self._parts):
            if self.settings.lines:
                writer.text(place, lineSep="\n")
                Folders(self.spark).name_parts(place)
            else:
                writer.parquet(place)

    def finish(self, summary: SparkSummary) -> None:
        """Fill in the costs of the job so far."""
        summary.seconds = self.clock.seconds()
        summary.stages = self.clock.stages
        summary.shuffled_bytes = count_shuffled_bytes(self.spark) - self.shuffled_before
        summary.peak_memory = measure_memory(self.spark)

    def report(self, result: SparkResult, settings: Mapping[str, Any]) -> str:
        """Return the report of a finished job as JSON."""
        recipe, summary = self.settings.recipe, result.summary
        documents = summary.read + summary.against
        return run_report(
            summary,
            settings,
            recipe={"id": recipe.id, **asdict(recipe)},
            plan=asdict(plan_of(recipe, self.settings.rule, documents, look_ups=True)),
            problems=result.problems,
            notes=template_notes(summary, self.settings.rule),
        ).decode()

    def _configure(
        self, partitions: int, split: int | None = None, rows: int | None = None
    ) -> AbstractContextManager[None]:
        """Configure the session for the job, until the end of the block; at most `rows` are sent to
        Python at once, or a batch of documents."""
        parts = self.partitions or partitions
        return settings_for(self.spark, parts, rows or self.batch_documents, split)

    def _describe(self) -> dict[str, Any]:
        """Return everything that determines the result."""
        settings, fields = self.settings, self.settings.fields
        return {
            "recipe": settings.recipe.id,
            **asdict(settings.rule),
            "fields": [fields.text, fields.id],
            "max_text": fields.max_text,
            "lines": settings.lines,
            "against_only": settings.against_only,
            "batch_documents": self.batch_documents,
        }

    def _search(
        self,
        source: Source,
        documents: Stage,
        seen: Sequence[BatchInfo],
        checkpoint: Checkpoint,
        layout: Layout,
        partitions: int,
    ) -> SparkResult:
        problems = io.read_problems(documents, seen, REMEMBERED)
        if problems and self.on_error == "stop":
            raise make_stop_error(problems[0])
        for problem in problems:
            self.progress.problem(problem)
        self.clock.lap("read and sketch")
        self.progress.stage("candidates, verify, cluster", layout.documents)
        of_texts = sum(info.size for info in seen) // _UNIT_BYTES
        units = max(layout.documents // UNIT_DOCUMENTS, of_texts, 1)
        # Where texts have much in common, every unit needs the samples of nearly all documents. So
        # there are few, and as many for each core.
        cores = self.spark.sparkContext.defaultParallelism
        by_samples = cores * max(-(-layout.documents // (UNIT_SAMPLES * cores)), 1)
        settings = replace(
            self.settings,
            documents=layout.documents,
            groups=layout.groups,
            # More buckets than tasks, to even out the load.
            buckets=min(2 * partitions, _core.MAX_BUCKETS),
            units=by_samples if self.settings.compares_samples else units,
            text_units=units,
        )
        search = Search(documents, checkpoint, settings, layout, partitions)
        decided = search.decide()
        table = search.make_removed(decided, io.name_batches(seen))
        removed = checkpoint.store_table("removed", table)
        optional = ["kind", "cluster_size", *(["kept_from"] if settings.first else [])]
        columns = removed_schema(optional).names
        near = removed.filter("similarity < 1").orderBy("similarity", "number")
        doubtful = [row.asDict() for row in near.select(*columns).limit(DOUBTFUL).collect()]
        self.clock.lap("candidates, verify, cluster")
        summary = self._summarize(seen, removed, search)
        for note in template_notes(summary, settings.rule):
            self.progress.note(note)
        kept = io.select_kept(
            documents,
            decided,
            source,
            first=settings.first,
            drop_unreadable=self.on_error == "drop",
            partitions=self._parts,
        )
        return SparkResult(
            kept=kept,
            removed=removed.orderBy("number").select(*columns),
            summary=summary,
            problems=problems,
            checkpoint=checkpoint.path,
            measure=settings.rule.measure,
            threshold=settings.rule.threshold,
            max_distance=settings.rule.max_distance,
            _doubtful=doubtful,
            _close=checkpoint.remove,
            _reviewed=partial(self._review, documents, removed, summary),
        )

    def _review(self, documents: Stage, removed: DataFrame, summary: SparkSummary) -> Review:
        from neardup.spark.review import review_job

        rule = self.settings.rule
        bounds = (rule.measure, rule.threshold, rule.max_distance)
        with self._configure(self._parts):
            return review_job(documents, removed, self.settings, summary, bounds)

    def _summarize(
        self, seen: Sequence[BatchInfo], removed: DataFrame, search: Search
    ) -> SparkSummary:
        from pyspark.sql import functions as F

        totals = removed.agg(F.count("number"), F.max("cluster_size"))
        dropped, largest = (value or 0 for value in totals.collect()[0])
        others = [info for info in seen if info.batch < self.settings.first]
        of_input = seen[len(others) :]
        read = sum(info.documents for info in of_input)
        unreadable = sum(info.unreadable for info in of_input)
        summary = SparkSummary(
            task="dedup",
            read=read,
            against=sum(info.documents for info in others),
            unreadable=unreadable,
            near_duplicates=dropped - search.counts["exact_duplicates"],
            kept=read - dropped - (unreadable if self.on_error == "drop" else 0),
            problems=sum(info.problems for info in seen),
            without_features=sum(info.without_features for info in of_input),
            largest_cluster=min(max(largest, 1), read),
            bytes_read=sum(info.size for info in seen),
            bytes_against=sum(info.size for info in others),
            rounds=search.rounds,
            **search.counts,
        )
        self.finish(summary)
        return summary


def _choose_checkpoint(spark: SparkSession) -> str:
    """Return a new checkpoint folder for a job without a named one."""
    name = f"neardup-{uuid.uuid4().hex[:12]}"
    context = spark.sparkContext
    folder = context.getCheckpointDir()
    if folder is not None:
        return f"{folder}/{name}"
    if (context.master or "").startswith("local"):
        return Path(tempfile.mkdtemp(prefix="neardup-spark-")).as_uri()
    raise ParameterError(
        Message(
            "{parameter:named} must be given, since the session has no checkpoint directory. "
            "Name a folder that all machines reach, such as s3a://bucket/job.",
            parameter="checkpoint",
        )
    )
