"""Sources: files or a table, as rows that say where in the input they stand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from neardup._engine.messages import Message
from neardup.exceptions import InputError, ParameterError
from neardup.readers.fields import SAMPLED_RECORDS, Fields, check_text_field
from neardup.readers.jsonl import parse
from neardup.spark.checkpoint import Folders
from neardup.spark.numbering import BEGIN, PATH, File, ranked
from neardup.spark.records import columns_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

FORMATS = ("jsonl", "parquet")

#: What a name of a file of JSON lines ends in; Hadoop tells compression by the rest.
_LINES = (".jsonl", ".ndjson", ".json")
_PACKED = (".gz", ".bz2", ".zst")
_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Source:
    """The input of a job.

    Parameters
    ----------
    frame : DataFrame
        Lines or rows; from files with the columns that `numbering.runs` looks at.
    schema : StructType
        Of the kept rows.
    files : mapping of int to File
        By the hash of the path; empty for a table.
    lines : bool
        Whether records are JSON lines.
    """

    frame: DataFrame
    schema: StructType
    files: Mapping[int, File]
    lines: bool


def open_table(frame: DataFrame, fields: Fields, order_by: Sequence[str]) -> Source:
    """Return a table as a source.

    Raises
    ------
    ParameterError
        If `order_by` names a column that is not there.
    InputError
        If there is no column of texts.
    """
    for name in order_by:
        if name not in frame.columns:
            raise ParameterError(
                Message(
                    "spark.no_such_column",
                    parameter="order_by",
                    value=repr(name),
                    choices=", ".join(frame.columns),
                )
            )
    _check_columns(frame.schema, fields)
    ordered = frame.sort(*order_by) if order_by else frame
    return Source(ordered, frame.schema, {}, lines=False)


def open_files(
    spark: SparkSession, inputs: Sequence[str], format: str | None, fields: Fields
) -> Source:
    """Return files as a source, in the order given, those of a folder by name.

    Raises
    ------
    InputError
        If there is no such file, one is named twice, there is no column of texts, or none of
        the first records of the first file of JSON lines has a text field.
    ParameterError
        If the format is none that can be read here.
    """
    from pyspark.sql import functions as F

    folders = Folders(spark)
    paths: list[str] = []
    names = {}
    for name in inputs:
        found_there = folders.files(name)
        paths += found_there
        if len(found_there) == 1:
            names[found_there[0]] = name
    twice = [path for path, count in Counter(paths).items() if count > 1]
    if twice:
        raise InputError(Message("spark.named_twice", file=twice[0]))
    found = format or _format_of(paths)
    if found not in FORMATS:
        raise ParameterError(
            Message(
                "spark.no_such_format",
                parameter="format",
                value=repr(found),
                choices=", ".join(FORMATS),
            )
        )
    escaped = [_escaped(path) for path in paths]
    listed = (
        spark.read.format("binaryFile")
        .load(escaped)
        .select(F.xxhash64("_metadata.file_path"), "path", "length")
    )
    known = {row[1]: (row[0], row[2]) for row in listed.collect()}
    files = ranked([(known[path][0], names.get(path, path), known[path][1]) for path in paths])
    where = [
        F.xxhash64("_metadata.file_path").alias(PATH),
        F.col("_metadata.file_block_start").alias(BEGIN),
    ]
    if found == "jsonl":
        _check_first_records(spark, escaped[0], fields, names.get(paths[0], paths[0]))
        frame = spark.read.text(escaped, lineSep="\n")
        schema = frame.schema
        frame = frame.select(F.col("value").cast("binary"), *where)
    else:
        frame = spark.read.parquet(*escaped)
        schema = frame.schema
        _check_columns(schema, fields)
        frame = frame.select("*", *where)
    return Source(frame, schema, files, lines=found == "jsonl")


def _format_of(paths: Sequence[str]) -> str:
    formats = set()
    for path in paths:
        name = path.lower()
        for end in _PACKED:
            name = name.removesuffix(end)
        is_known = name.endswith((*_LINES, ".parquet"))
        if not is_known:
            raise ParameterError(
                Message("spark.unknown_ending", file=path, choices=", ".join(_LINES))
            )
        formats.add("parquet" if name.endswith(".parquet") else "jsonl")
    if len(formats) > 1:
        raise InputError(Message("spark.two_formats"))
    return formats.pop()


def _check_first_records(spark: SparkSession, path: str, fields: Fields, name: str) -> None:
    """Raise InputError if none of the first records of a file has the text field."""
    from pyspark.sql import functions as F

    lines = spark.read.text(path, lineSep="\n").select(F.col("value").cast("binary"))
    first = (bytes(row[0]).removeprefix(_MARK) for row in lines.take(SAMPLED_RECORDS))
    check_text_field(map(parse, first), fields, name)


def _check_columns(schema: StructType, fields: Fields) -> None:
    from pyspark.sql.pandas.types import to_arrow_schema

    arrow: Any = to_arrow_schema(schema)
    for name in (PATH, BEGIN):
        if name in arrow.names:
            raise InputError(Message("spark.reserved_column", field=name))
    columns_of(arrow, fields)


def _escaped(path: str) -> str:
    """Return a path that is no pattern."""
    return "".join(f"\\{c}" if c in "[]{}*?\\" else c for c in path)
