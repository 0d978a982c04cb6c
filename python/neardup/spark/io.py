"""Input and output of a job: records with their places, kept records and the removed table."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING

import numpy as np
import orjson
import pyarrow as pa

from neardup.base.messages import Message
from neardup.exceptions import InputError, ParameterError
from neardup.readers.batch import Problem
from neardup.readers.columns import choose_columns
from neardup.readers.fields import SAMPLED_RECORDS, Fields, check_text_field
from neardup.readers.formats import detect_by_name
from neardup.readers.json_faults import parse
from neardup.spark import sketching
from neardup.spark.blobs import SCHEMA, convert_schema, from_rows, group_sorted_blobs, unpack
from neardup.spark.checkpoint import Folders, Stage
from neardup.spark.ordering import BEGIN, MAX_BATCH, PATH, File, order_files
from neardup.spark.sketching import Settings

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.types import StructType

FORMATS = ("jsonl", "parquet")

_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Source:
    """The input of a job.

    `frame` has lines or rows; rows of files have the columns `ordering.PATH` and `BEGIN`. The kept
    rows have this `schema`. `files` are by the hash of the path, and empty for a table. `lines`
    tells whether records are JSON lines.
    """

    frame: DataFrame
    schema: StructType
    files: Mapping[int, File]
    lines: bool

    def list_sizes(self) -> list[list[str | int]]:
        """Return the name and the bytes of each file."""
        return [[file.name, file.size] for file in self.files.values()]


def open_table(frame: DataFrame, fields: Fields, order_by: Sequence[str]) -> Source:
    """Return a table as a source, sorted by columns."""
    _check_columns(frame, fields)
    ordered = frame.sort(*(_find_column(frame, name) for name in order_by)) if order_by else frame
    return Source(ordered, frame.schema, {}, lines=False)


def _find_column(frame: DataFrame, name: str) -> Column:
    """Return the column of a name, or of a path such as meta.id."""
    from pyspark.errors import AnalysisException
    from pyspark.sql import functions as F

    column = F.col(f"`{name}`" if name in frame.columns else name)
    try:
        frame.select(column)
    except AnalysisException as error:
        raise ParameterError(
            Message(
                "{parameter:named} must name columns of the table: {choices}. Got {value} instead.",
                code="no_such_field",
                parameter="order_by",
                value=repr(name),
                choices=", ".join(frame.columns),
            )
        ) from error
    return column


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
        files_of_name = folders.list_files(name)
        paths += files_of_name
        if len(files_of_name) == 1:
            names[files_of_name[0]] = name
    twice = [path for path, count in Counter(paths).items() if count > 1]
    if twice:
        raise InputError(
            Message("{file}: must be named once. Got it twice instead.", file=twice[0])
        )
    chosen = format or _detect_format(paths)
    if chosen not in FORMATS:
        raise ParameterError(
            Message(
                "{parameter:named} must be one of {choices} on Spark, not {value}. Convert the "
                "input, or run on one machine, which reads all formats.",
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


def _detect_format(paths: Sequence[str]) -> str:
    formats = set()
    for path in paths:
        format, compression = detect_by_name(path)
        # Hadoop unpacks the others.
        if format not in FORMATS or compression == "xz":
            way_out = Message("Name the format with {given[format]}.")
            if format is not None:
                way_out = Message(
                    "Convert the input first: neardup dedup runs on one machine for all formats."
                )
            raise ParameterError(
                Message(
                    "{file}: must end in {choices} or .parquet on Spark. {way_out}",
                    code="unknown_format",
                    file=path,
                    choices=".jsonl, .ndjson, .json",
                    way_out=way_out,
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
                    "input: must not have a column '{field}' on Spark. Rename it.",
                    field=name,
                )
            )
    choose_columns(schema, fields, "input")


def sketch_source(source: Source, settings: Settings, limit: int, first: int) -> DataFrame:
    """Return the blobs of `sketching.sketch` of a source; a batch has at most `limit` documents."""
    work = partial(
        sketching.sketch_rows,
        settings=replace(settings, columns=tuple(source.schema.names)),
        files=source.files,
        limit=limit,
        first=first,
    )
    return source.frame.mapInArrow(work, convert_schema(SCHEMA))


@dataclass(frozen=True)
class BatchInfo:
    """The facts about a batch that the driver knows.

    `source` is the file, None for a table; `before` the number of records of the same source before
    the batch.
    """

    batch: int
    group: int
    size: int
    documents: int
    unreadable: int
    without_features: int
    problems: int
    source: str | None = None
    before: int = 0


def list_batches(documents: Stage, files: Sequence[File], first: int) -> list[BatchInfo]:
    """Return the batches in input order; those before `first` count apart."""
    begins = [file.begin for file in files]
    rows = [orjson.loads(row.body) for row in documents.read_rows("info").collect()]
    infos = []
    before: Counter[tuple[str | None, bool]] = Counter()
    for row in sorted(rows, key=itemgetter("batch")):
        name = files[bisect_right(begins, row["batch"]) - 1].name if files else None
        is_own = row["batch"] >= first
        infos.append(BatchInfo(**row, source=name, before=before[name, is_own]))
        before[name, is_own] += row["documents"]
    return infos


def name_batches(batches: Sequence[BatchInfo]) -> dict[int, tuple[str, int]]:
    """Return, for each batch, how its records without an id are named: the beginning of the name
    and the number of the first record.

    That is the file and the number there from 1, or the position in the table.
    """
    return {
        info.batch: ("", info.before)
        if info.source is None
        else (f"{info.source}:", info.before + 1)
        for info in batches
    }


def read_problems(documents: Stage, seen: Sequence[BatchInfo], limit: int) -> list[Problem]:
    """Return the first problems in the input, at most `limit`."""
    from pyspark.sql import functions as F

    wanted = {}
    count = 0
    for info in seen:
        if info.problems and count < limit:
            wanted[info.batch] = info
            count += info.problems
    if not wanted:
        return []
    rows = documents.read_rows("problems").filter(F.col("sender").isin(*wanted)).collect()
    problems = [
        problem
        for row in sorted(rows, key=lambda row: row.sender)
        for problem in problems_from_json(row.body, wanted[row.sender])
    ]
    return problems[:limit]


def problems_from_json(stored: bytes, info: BatchInfo) -> list[Problem]:
    """Return the problems of a batch with their positions in the source."""
    return [
        replace(
            problem,
            source=info.source or "input",
            record=None if problem.record is None else problem.record + info.before,
        )
        for problem in map(Problem.from_dict, orjson.loads(stored))
    ]


def select_kept(
    documents: Stage,
    decided: Stage,
    source: Source,
    *,
    first: int,
    drop_unreadable: bool,
    partitions: int,
) -> DataFrame:
    """Return the kept records in input order, in about this many partitions.

    Batches before `first` are of another collection.
    """
    from pyspark.sql import functions as F
    from pyspark.sql import types as T

    kinds = ("records", "features") if drop_unreadable else ("records",)
    blobs = documents.read_rows(*kinds).filter(F.col("sender") >= first)
    blobs = blobs.withColumn("receiver", F.col("sender"))
    blobs = blobs.union(decided.read_rows("removed"))
    ordered = blobs.repartitionByRange(partitions, "receiver")
    ordered = ordered.sortWithinPartitions("receiver", "kind")
    types = [field.dataType for field in source.schema]
    if source.lines:
        types = [T.BinaryType()]
    schema = T.StructType([T.StructField(f"c{number}", kind) for number, kind in enumerate(types)])
    rows = ordered.mapInArrow(_filter_kept, schema)
    if source.lines:
        # Bytes that are not valid UTF-8 are kept as they are.
        return rows.select(F.col("c0").cast("string").alias("value"))
    columns = [
        F.col(f"c{number}").alias(field.name, metadata=field.metadata)
        for number, field in enumerate(source.schema)
    ]
    return rows.select(*columns)


def _filter_kept(rows: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the records of batches that are not removed and have features."""
    for inbox in group_sorted_blobs(from_rows(rows)):
        for body in inbox.get_bodies("records"):
            records = unpack(body)
            is_kept = np.ones(len(records), np.bool_)
            is_kept[inbox.read_rows("removed", np.int64) & (MAX_BATCH - 1)] = False
            if inbox.get_blobs("features"):
                is_kept &= inbox.read_rows("features", np.int32) >= 0
            kept = records.filter(pa.array(is_kept))
            # Names may repeat, or differ only in case.
            names = [f"c{number}" for number in range(kept.num_columns)]
            yield pa.record_batch(kept.columns, names)
