"""Drop the near-duplicates of a collection on a cluster: what users call."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from neardup._engine.ingest import Progress
from neardup._engine.messages import Message
from neardup._engine.validation import check_field
from neardup.exceptions import OutputError, ParameterError
from neardup.readers.fields import Fields
from neardup.recipe import Recipe, load_recipe
from neardup.spark.checkpoint import Folders
from neardup.spark.io import open_files, open_table
from neardup.spark.job import Job, SparkResult, settings_of
from neardup.spark.session import require_spark

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

#: Documents of a batch; few enough for a task's memory, many enough for large rows.
BATCH_DOCUMENTS = 8192


def dedup(
    df: DataFrame,
    *,
    text: str | None = None,
    id: str | None = None,
    threshold: float | None = None,
    max_distance: int | None = None,
    recipe: str | Path | Recipe = "general",
    order_by: str | Sequence[str] = (),
    on_error: str = "keep",
    checkpoint: str | None = None,
    partitions: int | None = None,
    batch_documents: int = BATCH_DOCUMENTS,
) -> SparkResult:
    """Drop the near-duplicates of a table of Spark.

    Parameters
    ----------
    df : pyspark.sql.DataFrame
        Of a classic session.
    text, id : str or None, default=None
        Columns of the text (``text``, else ``content``, else ``body``) and of the id
        (``id``, else the position).
    threshold : float or None, default=None
        Smallest similarity of a duplicate, inclusive, in (0, 1], by the recipe's measure.
    max_distance : int or None, default=None
        For a recipe that makes fingerprints: their largest distance, inclusive, in bits.
        Without `threshold` it alone decides. It must be small enough for a search by keys.
    recipe : str, Path or Recipe, default="general"
        One that searches by keys, as ``general``, ``minhash``, ``shingle``, ``news`` and
        ``classic`` do. Files that it names must be on all machines.
    order_by : str or sequence of str, default=()
        Columns that say which of two duplicates stays: the one that sorts first. They
        should tell all rows apart. Without them it is the order in which Spark reads.
    on_error : {"keep", "drop", "stop"}, default="keep"
        What becomes of a row without a readable text. It is never called a duplicate.
    checkpoint : str or None, default=None
        A folder that all machines reach, such as ``s3a://bucket/job``. A job that was
        broken off goes on from there; the input must be the same. By default a new one
        in the session's checkpoint directory, or on a local master a temporary one.
    partitions : int or None, default=None
        Tasks that a stage is cut into, at least 1. By default three for each core, and
        more where the input is large. Changes no result.
    batch_documents : int, default=8192
        Documents that a task works on together, from 1 to 65,536. Changes no result.

    Returns
    -------
    SparkResult

    Raises
    ------
    ParameterError
        If a parameter is out of bounds; if the recipe's search cannot be spread.
    InputError
        If there is no text column; if a row cannot be read and `on_error` is ``stop``; if
        the checkpoint is that of another job.
    MissingDependencyError
        If PySpark is not installed.

    See Also
    --------
    neardup.dedup : the same on one machine.

    Notes
    -----
    The kept set is that of `neardup.dedup` on the same rows in the same order. No row is
    sent to the driver; it gets some numbers for each batch, what the texts have in common, and
    up to 64 MB of which texts are requested and which documents are dropped.

    Examples
    --------
    >>> import neardup.spark
    >>> result = neardup.spark.dedup(df, text="content", id="url")  # doctest: +SKIP
    >>> result.kept.write.parquet("s3a://bucket/clean")  # doctest: +SKIP
    """
    require_spark()
    from pyspark.sql import DataFrame

    if not isinstance(df, DataFrame):
        raise ParameterError(
            Message("spark.no_data_frame", parameter="df", value=type(df).__name__)
        )
    names = [order_by] if isinstance(order_by, str) else list(order_by)
    fields = Fields(text=check_field(text, "text"), id=check_field(id, "id"))
    job = Job(
        df.sparkSession,
        settings_of(load_recipe(recipe), threshold, max_distance, fields, lines=False),
        on_error=on_error,
        checkpoint=checkpoint,
        partitions=partitions,
        batch_documents=batch_documents,
    )
    return job.run(open_table(df, fields, names), {"order_by": names})


def dedup_files(
    inputs: Sequence[str | Path],
    output: str | Path,
    *,
    spark: SparkSession,
    removed: str | Path | None = None,
    format: str | None = None,
    text: str | None = None,
    id: str | None = None,
    threshold: float | None = None,
    max_distance: int | None = None,
    recipe: str | Path | Recipe = "general",
    on_error: str = "keep",
    checkpoint: str | None = None,
    partitions: int | None = None,
    batch_documents: int = BATCH_DOCUMENTS,
    force: bool = False,
    progress: Progress | None = None,
) -> SparkResult:
    """Drop the near-duplicates of files, and write what is kept.

    Parameters
    ----------
    inputs : sequence of str or Path
        Files, folders and patterns, as Spark's file systems know them; all JSON lines, or
        all Parquet. In priority order, the files of a folder by name.
    output : str or Path
        Folder of the kept records, in the format of the input: part files that follow each
        other in input order.
    spark : pyspark.sql.SparkSession
        A classic one.
    removed : str, Path or None, default=None
        Folder of the dropped records with their reasons: Parquet if its name ends in
        ``.parquet``, else JSON lines.
    format : {"jsonl", "parquet"} or None, default=None
        By default told from the names.
    checkpoint : str or None, default=None
        As in :func:`dedup`; by default a folder beside `output`, which is removed at the
        end.
    force : bool, default=False
        Replace outputs that exist.
    progress : Progress or None, default=None
        Is told what the job does.
    text, id, threshold, max_distance, recipe, on_error, partitions, batch_documents
        As in :func:`dedup`.

    Returns
    -------
    SparkResult
        ``kept`` reads what was written; ``removed`` needs the checkpoint, if that was named.

    Raises
    ------
    ParameterError, InputError, MissingDependencyError
        As in :func:`dedup`.
    OutputError
        If an output exists. Then nothing is run.
    """
    require_spark()
    folders = Folders(spark)
    out = os.fspath(output)
    out_removed = None if removed is None else os.fspath(removed)
    for path in filter(None, (out, out_removed)):
        if folders.exists(path) and not force:
            raise OutputError(Message("spark.exists", file=path))
    fields = Fields(text=check_field(text, "text"), id=check_field(id, "id"))
    names = [os.fspath(path) for path in inputs]
    source = open_files(spark, names, format, fields)
    beside = f"{out.rstrip('/')}.checkpoint"
    job = Job(
        spark,
        settings_of(load_recipe(recipe), threshold, max_distance, fields, lines=source.lines),
        on_error=on_error,
        checkpoint=beside if checkpoint is None else checkpoint,
        partitions=partitions,
        batch_documents=batch_documents,
        progress=progress,
    )
    files = [[file.name, file.size] for file in source.files.values()]
    result = job.run(source, {"files": files})
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
    job.clock.lap("write")
    job.finish(result.summary)
    if checkpoint is None:
        result.close()
    read = spark.read.schema(source.schema)
    return replace(result, kept=read.text(out) if source.lines else read.parquet(out))
