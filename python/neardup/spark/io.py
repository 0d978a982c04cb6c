"""Input and output of a job: records with their places, kept records and the removed table."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING

import orjson
import pyarrow as pa

from neardup.base.messages import Message
from neardup.exceptions import InputError, ParameterError
from neardup.readers.batch import Problem
from neardup.readers.columns import choose_columns
from neardup.readers.fields import SAMPLED_RECORDS, Fields, check_text_field
from neardup.readers.formats import by_name
from neardup.readers.jsonl import parse
from neardup.spark import sketching
from neardup.spark.checkpoint import Folders
from neardup.spark.ordering import BEGIN, PATH, PLACE_BITS, File, order_files
from neardup.spark.session import partitions_of
from neardup.spark.shuffle import number_of
from neardup.spark.sketching import Settings
from neardup.writers.rows import KINDS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

FORMATS = ("jsonl", "parquet")

_MARK = b"\xef\xbb\xbf"
#: The number of records with problems, from the JSON of the problems of a batch.
_PROBLEM_COUNT = (
    "coalesce(aggregate(from_json(problems, 'array<struct<count:bigint>>'),"
    " 0L, (sum, problem) -> sum + problem.count), 0L)"
)

#: The most dropped documents whose numbers are sent to every task: some 200 MB.
MOST_KNOWN = 4 << 20


@dataclass(frozen=True)
class Source:
    """The input of a job.

    `frame` has lines or rows; rows of files have the columns `ordering.PATH` and `BEGIN`. `schema`
    is that of the kept rows. `files` are by the hash of the path, and empty for a table. `lines`
    tells whether records are JSON lines.
    """

    frame: DataFrame
    schema: StructType
    files: Mapping[int, File]
    lines: bool

    def sizes(self) -> list[list[str | int]]:
        """Return the name and the bytes of each file."""
        return [[file.name, file.size] for file in self.files.values()]


def open_table(frame: DataFrame, fields: Fields, order_by: Sequence[str]) -> Source:
    """Return a table as a source, sorted by columns."""
    for name in order_by:
        if name not in frame.columns:
            raise ParameterError(
                Message(
                    "{parameter:named} must name columns of the table. Got {value} "
                    "instead. The columns are {choices}.",
                    code="no_such_field",
                    parameter="order_by",
                    value=repr(name),
                    choices=", ".join(frame.columns),
                )
            )
    _check_columns(frame, fields)
    ordered = frame.sort(*order_by) if order_by else frame
    return Source(ordered, frame.schema, {}, lines=False)


def open_files(
    spark: SparkSession, inputs: Sequence[str], format: str | None, fields: Fields, first: int = 0
) -> Source:
    """Return files as a source, in the given order; the files of a folder are ordered by name.

    Their batches are numbered from `first` on.
    """
    from pyspark.sql import functions as F

    folders = Folders(spark)
    paths: list[str] = []
    names = {}
    for name in inputs:
        files_of_name = folders.files(name)
        paths += files_of_name
        if len(files_of_name) == 1:
            names[files_of_name[0]] = name
    twice = [path for path, count in Counter(paths).items() if count > 1]
    if twice:
        raise InputError(
            Message("{file}: must be named once. Got it twice instead.", file=twice[0])
        )
    chosen = format or _format_of(paths)
    if chosen not in FORMATS:
        raise ParameterError(
            Message(
                "{parameter:named} must be one of {choices} on Spark. Got {value} "
                "instead. Convert the input first: neardup dedup runs on one machine "
                "for all formats.",
                code="unknown_format",
                parameter="format",
                value=repr(chosen),
                choices=", ".join(FORMATS),
            )
        )
    # The characters of patterns are escaped.
    escaped = ["".join(f"\\{c}" if c in "[]{}*?\\" else c for c in path) for path in paths]
    listed = (
        spark.read.format("binaryFile")
        .load(escaped)
        .select(F.xxhash64("_metadata.file_path"), "path", "length")
    )
    known = {row[1]: (row[0], row[2]) for row in listed.collect()}
    sizes = [(known[path][0], names.get(path, path), known[path][1]) for path in paths]
    files = order_files(sizes, first)
    where = [
        F.xxhash64("_metadata.file_path").alias(PATH),
        F.col("_metadata.file_block_start").alias(BEGIN),
    ]
    if chosen == "jsonl":
        _check_first_records(spark, escaped[0], fields, names.get(paths[0], paths[0]))
        frame = spark.read.text(escaped, lineSep="\n")
        schema = frame.schema
        frame = frame.select(F.col("value").cast("binary"), *where)
    else:
        frame = spark.read.parquet(*escaped)
        schema = frame.schema
        _check_columns(frame, fields)
        frame = frame.select("*", *where)
    return Source(frame, schema, files, lines=chosen == "jsonl")


def _format_of(paths: Sequence[str]) -> str:
    formats = set()
    for path in paths:
        format, compression = by_name(path)
        # Hadoop unpacks the others.
        if format not in FORMATS or compression == "xz":
            raise ParameterError(
                Message(
                    "{file}: must end in {choices} or .parquet. Got another name instead. "
                    "Name the format with {given[format]}.",
                    code="unknown_format",
                    file=path,
                    choices=".jsonl, .ndjson, .json",
                )
            )
        formats.add(format)
    if len(formats) > 1:
        raise InputError(
            Message(
                "input: files must be of one format on Spark. Got JSON lines and Parquet instead."
            )
        )
    return formats.pop()


def _check_first_records(spark: SparkSession, path: str, fields: Fields, name: str) -> None:
    """Raise InputError if none of the first records of a file has the text field."""
    from pyspark.sql import functions as F

    lines = spark.read.text(path, lineSep="\n").select(F.col("value").cast("binary"))
    first = (bytes(row[0]).removeprefix(_MARK) for row in lines.take(SAMPLED_RECORDS))
    check_text_field(map(parse, first), fields, name)


def _check_columns(frame: DataFrame, fields: Fields) -> None:
    schema = frame.limit(0).toArrow().schema
    for name in (PATH, BEGIN):
        if name in schema.names:
            raise InputError(
                Message(
                    "input: must have no column '{field}' on Spark. Got one instead. Rename it.",
                    field=name,
                )
            )
    choose_columns(schema, fields, "input")


def sketched(source: Source, others: Source | None, settings: Settings, most: int) -> DataFrame:
    """Return the batches of a source as rows of `sketching.BATCHES` with the records; a batch has
    at most `most` documents. Those of another collection come first, without records."""
    from pyspark.sql import functions as F

    made = _sketched(source, settings, most)
    if others is None:
        return made
    before = _sketched(others, replace(settings, lines=others.lines, first=0), most)
    nothing = F.lit(None).cast(made.schema["records"].dataType)
    return before.withColumn("records", nothing).unionByName(made)


def _sketched(source: Source, settings: Settings, most: int) -> DataFrame:
    from pyspark.sql import types as T
    from pyspark.sql.pandas.types import from_arrow_schema

    work = partial(
        sketching.sketch,
        settings=replace(settings, columns=tuple(source.schema.names)),
        files=source.files,
        partitions=partitions_of(source.frame),
        most=most,
        first=settings.first,
    )
    kinds = [field.dataType for field in source.schema]
    if source.lines:
        kinds = [T.BinaryType()]
    record = T.StructType([T.StructField(f"c{number}", kind) for number, kind in enumerate(kinds)])
    schema = from_arrow_schema(sketching.BATCHES).add("records", T.ArrayType(record))
    return source.frame.mapInArrow(work, schema)


@dataclass(frozen=True)
class BatchInfo:
    """What the driver knows of a batch.

    `partition` is that of the checkpoint that contains it; `source` the file, None for a table;
    `before` the number of records of the same source before the batch.
    """

    batch: int
    size: int
    documents: int
    unreadable: int
    without_features: int
    problems: int
    partition: int
    source: str | None = None
    before: int = 0


def list_batches(batches: DataFrame, files: Sequence[File], first: int) -> list[BatchInfo]:
    """Return the batches in input order; those before `first` count apart."""
    from pyspark.sql import functions as F

    begins = [file.begin for file in files]
    rows = batches.select(
        "batch",
        "size",
        F.size("features").alias("documents"),
        F.size(F.filter("features", lambda count: count < 0)).alias("unreadable"),
        F.size(F.filter("features", lambda count: count == 0)).alias("without_features"),
        F.expr(_PROBLEM_COUNT).alias("problems"),
        F.spark_partition_id().alias("partition"),
    ).toArrow()
    infos = []
    before: Counter[tuple[str | None, bool]] = Counter()
    for row in rows.sort_by("batch").to_pylist():
        name = files[bisect_right(begins, row["batch"]) - 1].name if files else None
        is_own = row["batch"] >= first
        infos.append(BatchInfo(**row, source=name, before=before[name, is_own]))
        before[name, is_own] += row["documents"]
    return infos


def partition_order(batches: Sequence[BatchInfo]) -> list[int] | None:
    """Return the checkpoint's partitions in input order; None if they overlap."""
    order = [partition for partition, _ in groupby(info.partition for info in batches)]
    return order if len(set(order)) == len(order) else None


def read_problems(batches: DataFrame, seen: Sequence[BatchInfo], most: int) -> list[Problem]:
    """Return the first problems in the input, at most `most`."""
    from pyspark.sql import functions as F

    wanted = {}
    count = 0
    for info in seen:
        if info.problems and count < most:
            wanted[info.batch] = info
            count += info.problems
    if not wanted:
        return []
    rows = batches.filter(F.col("batch").isin(*wanted)).select("batch", "problems").collect()
    problems = [
        problem
        for row in sorted(rows)
        for problem in problems_from_json(row.problems, wanted[row.batch])
    ]
    return problems[:most]


def problems_from_json(stored: str, info: BatchInfo) -> list[Problem]:
    """Return the problems of a batch with their positions in the source."""
    return [
        replace(
            problem,
            source=info.source or "input",
            record=None if problem.record is None else problem.record + info.before,
        )
        for problem in map(Problem.from_dict, orjson.loads(stored))
    ]


def removed_table(
    batches: DataFrame, decisions: DataFrame, seen: Sequence[BatchInfo], measure: str, first: int
) -> DataFrame:
    """Return the removed table, with the numbers of the documents.

    `first` is the number of the first batch of the input.
    """
    from pyspark.sql import functions as F

    # Names for records without an id: the file and the record's number there from 1, or the
    # position in the table.
    named = pa.table(
        {
            "batch": pa.array([info.batch for info in seen], pa.int64()),
            "prefix": pa.array(["" if i.source is None else f"{i.source}:" for i in seen]),
            "first": pa.array([i.before + (i.source is not None) for i in seen], pa.int64()),
        }
    )
    names = batches.sparkSession.createDataFrame(named)
    place = F.concat("prefix", (F.col("first") + F.col("place")).cast("string"))
    ids = (
        batches.select("batch", F.posexplode("ids").alias("place", "id"))
        .join(F.broadcast(names), "batch")
        .select(number_of("batch", "place"), F.coalesce("id", place).alias("id"))
    )
    # The kept document counts too.
    sizes = decisions.groupBy("kept").agg((F.count("number") + 1).alias("cluster_size"))
    kept_ids = ids.select(F.col("number").alias("kept"), F.col("id").alias("kept_id"))
    return (
        decisions.join(ids, "number")
        .join(kept_ids.join(sizes, "kept"), "kept")
        .select(
            "number",
            "kept",
            "id",
            "kept_id",
            "identical",
            "similarity",
            F.lit(measure).alias("measure"),
            F.when(F.col("distance") >= 0, F.col("distance")).alias("distance"),
            F.when(F.col("identical"), KINDS[0])
            .when(F.col("similarity") >= 1, KINDS[1])
            .otherwise(KINDS[2])
            .alias("kind"),
            "cluster_size",
            F.when(F.col("kept") < first << PLACE_BITS, "against")
            .otherwise("input")
            .alias("kept_from"),
        )
    )


def kept_records(
    batches: DataFrame,
    dropped: DataFrame,
    source: Source,
    *,
    first: int,
    drop_unreadable: bool,
    moved_to: int | None,
) -> DataFrame:
    """Return the kept records, of batches from `first` on.

    Records are the largest data, so they are not moved by default: each partition of the result
    has the kept records of one checkpoint partition, in input order. With `moved_to`, they are
    moved to that many partitions, which follow each other in input order; then no task has to
    hold all dropped numbers.
    """
    from pyspark.sql import functions as F

    batches = batches.filter(F.col("batch") >= first)
    if drop_unreadable:
        both = F.posexplode(F.arrays_zip("features", "records")).alias("place", "both")
        rows = batches.select("batch", both).filter("both.features >= 0")
        rows = rows.select("batch", "place", "both.records")
    else:
        rows = batches.select("batch", F.posexplode("records").alias("place", "records"))
    rows = rows.select(number_of("batch", "place"), "records")
    numbers = dropped.select("number")
    if moved_to is None:
        rows = rows.join(F.broadcast(numbers), "number", "left_anti")
    else:
        rows = rows.join(numbers, "number", "left_anti").repartitionByRange(moved_to, "number")
        rows = rows.sortWithinPartitions("number")
    if source.lines:
        # Bytes that are not valid UTF-8 are kept as they are.
        return rows.select(F.col("records.c0").cast("string").alias("value"))
    columns = [
        F.col(f"records.c{number}").alias(field.name, metadata=field.metadata)
        for number, field in enumerate(source.schema)
    ]
    return rows.select(*columns)
