"""The public functions that deduplicate a collection on a cluster."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from neardup.base.messages import Message
from neardup.base.validation import paths_of
from neardup.exceptions import OutputError, ParameterError
from neardup.options.groups import SparkFilesParameters, SparkParameters
from neardup.options.signatures import complete_options, takes_options
from neardup.readers.fields import Fields
from neardup.recipe import load_recipe
from neardup.run.run_options import check_against_only
from neardup.spark.checkpoint import Folders
from neardup.spark.io import open_files, open_table
from neardup.spark.job import Job, SparkResult, make_settings
from neardup.spark.ordering import INPUT_BEGIN
from neardup.spark.session import require_spark
from neardup.writers.output_conflicts import refuse_input_as_output

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@takes_options
def dedup(
    df: DataFrame,
    *,
    against: DataFrame | None = None,
    order_by: str | Sequence[str] = (),
    **options: Unpack[SparkParameters],
) -> SparkResult:
    """Drop the near-duplicates of a Spark DataFrame.

    Parameters
    ----------
    df : pyspark.sql.DataFrame
        Of a classic session (not Spark Connect).
    against : pyspark.sql.DataFrame, optional
        Another collection, with text and id in the same columns. All of its rows count as kept;
        it is not returned.
    order_by : str or sequence of str, default=()
        Columns to sort by: of two duplicates, the one that sorts first is kept. They should be
        unique per row. By default, the order in which Spark reads the rows.
    {options}

    Returns
    -------
    SparkResult

    Raises
    ------
    ParameterError
        If a parameter is out of bounds, or the recipe's search cannot be distributed.
    InputError
        If there is no text column, if a row cannot be read and `on_error` is ``stop``, or if
        the checkpoint belongs to another job.
    MissingDependencyError
        If PySpark is not installed.

    See Also
    --------
    neardup.dedup : the same rule on one machine.

    Notes
    -----
    The recipe must search by keys, as ``general``, ``minhash``, ``shingle``, ``news`` and
    ``classic`` do; a maximum distance must be small enough for keys. Files that the recipe
    names must exist on all machines.

    `neardup.dedup` keeps the same rows if they come in the same order. No row is sent to the
    driver. It receives a few numbers per batch, and the shingles that are common in the
    collection. It also receives the ids of the five least similar dropped documents.

    Examples
    --------
    >>> import neardup.spark
    >>> result = neardup.spark.dedup(df, text_field="content", id_field="url")  # doctest: +SKIP
    >>> result.kept.write.parquet("s3a://bucket/clean")  # doctest: +SKIP
    """
    require_spark()
    from pyspark.sql import DataFrame

    for name, frame in (("df", df), ("against", against)):
        if not isinstance(frame, DataFrame) and (name == "df" or frame is not None):
            kind = type(frame).__name__
            raise ParameterError(
                Message(
                    "{parameter:named} must be a DataFrame of Spark. Got {value}: for other tables "
                    "use neardup.dedup.",
                    parameter=name,
                    value=kind,
                )
            )
    names = [order_by] if isinstance(order_by, str) else list(order_by)
    values = complete_options(dedup, options)
    check_against_only(values, against)
    fields = _make_fields(values)
    job = Job(df.sparkSession, make_settings(values, fields, lines=False), values)
    others = None if against is None else open_table(against, fields, ())
    return job.run(open_table(df, fields, names), others, {"order_by": names})


@takes_options
def dedup_files(
    inputs: Sequence[str | Path],
    output: str | Path,
    *,
    spark: SparkSession,
    removed: str | Path | None = None,
    against: Sequence[str | Path] | None = None,
    review: str | Path | None = None,
    **options: Unpack[SparkFilesParameters],
) -> SparkResult:
    """Drop the near-duplicates of files, and write the kept records.

    Parameters
    ----------
    inputs : sequence of str or Path
        Files, folders and patterns on Spark's file systems; either all JSON lines or all
        Parquet. In priority order; the files of a folder are ordered by name.
    output : str or Path
        Folder for the kept records, in the format of the input. The part files, in the order of
        their names, are in input order.
    spark : pyspark.sql.SparkSession
        A classic session (not Spark Connect).
    removed : str, Path or None, default=None
        Folder for the dropped records and their reasons: Parquet if its name ends in
        ``.parquet``, otherwise JSON lines.
    against : sequence of str or Path, optional
        Files of another collection, likewise. All of its documents count as kept, and none is
        written.
    review : str, Path or None, default=None
        File for a page that shows what was dropped, as HTML; see :meth:`SparkResult.review`.
    {options}

    Returns
    -------
    SparkResult
        ``kept`` reads the written records; ``removed`` can be read only if `checkpoint` was
        given. By default the checkpoint is a folder beside `output`, removed at the end.

    Raises
    ------
    ParameterError, InputError, MissingDependencyError
        As in :func:`dedup`.
    OutputError
        If an output exists. Nothing runs then.
    """
    require_spark()
    values = complete_options(dedup_files, options)
    check_against_only(values, against)
    folders = Folders(spark)
    out = os.fspath(output)
    out_removed = None if removed is None else os.fspath(removed)
    files = [None if path is None else os.fspath(path) for path in (review, values["report"])]
    names = [os.fspath(path) for path in inputs]
    other_names = [] if against is None else paths_of(against, "against")
    checkpoint = values["checkpoint"]
    if checkpoint is None:
        values["checkpoint"] = f"{out.rstrip('/')}.checkpoint"
    _refuse_input_as_output(
        folders,
        [*names, *other_names],
        recipe_files=load_recipe(values["recipe"]).files,
        files=files,
        whole=[out, out_removed, values["checkpoint"]],
    )
    out_review, out_report = files
    _check_outputs(folders, [out, out_removed], files, force=values["force"])
    fields = _make_fields(values)
    first = 0 if against is None else INPUT_BEGIN
    source = open_files(spark, names, values["format"], fields, first)
    others = None
    if against is not None:
        others = open_files(spark, other_names, values["format"], fields)
    settings = make_settings(values, fields, lines=source.lines)
    job = Job(spark, settings, values)
    identity = {
        "files": source.list_sizes(),
        "against": None if others is None else others.list_sizes(),
    }
    result = job.run(source, others, identity)
    try:
        _write_records(folders, job, result, out, out_removed)
        if out_review is not None:
            page = result.review()
            folders.write(out_review, page.to_html(language=values["language"]))
            result = replace(result, _reviewed=lambda: page)
        job.clock.lap("write")
        job.finish(result.summary)
        if out_report is not None:
            paths = {"inputs": names, "against": other_names or None, "output": out}
            paths |= {"removed": out_removed, "review": out_review}
            folders.write(
                out_report, job.report(result, {**paths, **values, "checkpoint": checkpoint})
            )
    finally:
        if checkpoint is None:
            result.close()
    if checkpoint is None and out_review is None:
        result = replace(result, _reviewed=None)
    read = spark.read.schema(source.schema)
    return replace(result, kept=read.text(out) if source.lines else read.parquet(out))


def _write_records(
    folders: Folders, job: Job, result: SparkResult, out: str, out_removed: str | None
) -> None:
    """Write the records in the checkpoint, and move them to their places when all are complete."""
    place = f"{result.checkpoint}/output"
    job.write(result.kept, f"{place}/kept")
    moves = [(f"{place}/kept", out)]
    if out_removed is not None:
        writer = result.removed.write.mode("overwrite")
        if out_removed.rstrip("/").endswith(".parquet"):
            writer.parquet(f"{place}/removed")
        else:
            writer.json(f"{place}/removed", ignoreNullFields=False)
        moves.append((f"{place}/removed", out_removed))
    for made, wanted in moves:
        if folders.exists(wanted):
            folders.remove(wanted)
        folders.move(made, wanted)


def _refuse_input_as_output(
    folders: Folders,
    inputs: Sequence[str],
    *,
    recipe_files: Sequence[str],
    files: Sequence[str | None],
    whole: Sequence[str | None],
) -> None:
    """Refuse outputs that are not apart from the inputs, by their names on Spark's file systems."""
    roots = [root for name in inputs for root in folders.find_roots(name)]
    outputs = [folders.qualify_name(path) for path in whole if path is not None]
    named = [folders.qualify_name(path) for path in files if path is not None]
    refuse_input_as_output([*roots, *recipe_files], named, outputs)


def _check_outputs(
    folders: Folders, whole: Sequence[str | None], files: Sequence[str | None], *, force: bool
) -> None:
    """Refuse outputs that exist, and with `force` folders that Spark did not write."""
    for path in filter(None, (*whole, *files)):
        if folders.exists(path) and not force:
            raise OutputError(
                Message(
                    "{file}: exists already. Name another folder, or replace it with "
                    "{given[force=True]}.",
                    code="exists",
                    file=path,
                )
            )
    for path in filter(None, whole):
        other = folders.find_other_file(path)
        if other is not None:
            raise OutputError(
                Message(
                    "{file}: must be a folder that Spark wrote, but contains {found}. Name another "
                    "folder.",
                    file=path,
                    found=other,
                )
            )


def _make_fields(values: Mapping[str, Any]) -> Fields:
    return Fields(text=values["text_field"], id=values["id_field"], max_text=values["max_text"])
