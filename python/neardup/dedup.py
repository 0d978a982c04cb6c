"""Drop the near-duplicates of a collection: all eight stages."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neardup._engine.summary import Summary, peak_memory
from neardup._engine.validation import check_field, check_path
from neardup.plan import Plan
from neardup.recipe import Recipe, load_recipe

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from neardup._engine.ingest import Progress
    from neardup.readers import Problem


@dataclass(frozen=True)
class DedupResult:
    """What de-duplication kept, what it dropped, and why.

    Parameters
    ----------
    kept : same kind as the input, or None
        The kept rows, unchanged and in input order; None where they were
        written to a file.
    removed : pyarrow.Table
        One row a dropped document, in input order: ``id`` (large_string),
        ``kept_id`` (large_string), ``similarity`` (float64, in [0, 1]), ``measure`` (string),
        ``distance`` (int32, bits; null where a text has no fingerprint).
    keep : ndarray of shape (n_documents,), dtype bool
        For each document, in input order, whether it is kept.
    summary : Summary
    plan : Plan
    problems : list of Problem
        Records that could not be read; at most 10,000 are remembered.
    """

    kept: Any
    removed: pa.Table
    keep: NDArray[np.bool_]
    summary: Summary
    plan: Plan
    problems: list[Problem]


def dedup(
    data: Any,
    *,
    text: str | None = None,
    id: str | None = None,
    title: str | None = None,
    threshold: float | None = None,
    max_distance: int | None = None,
    recipe: str | Path | Recipe = "general",
    priority: str = "first",
    on_error: str = "keep",
    title_from_first_line: bool = False,
    workers: int = 0,
    memory: int | str | None = None,
) -> DedupResult:
    """Drop the near-duplicates of a collection.

    Parameters
    ----------
    data : Arrow table, pandas or polars DataFrame, list of str, list of dict
        Anything with the Arrow stream interface.
    text, id, title : str or None, default=None
        Fields of the text (``text``, else ``content``, else ``body``), of the
        id (``id``, else the position) and of the title (``title``).
    threshold : float or None, default=None
        Smallest similarity of a duplicate, inclusive, in (0, 1], by the
        recipe's measure; verified on the texts.
    max_distance : int or None, default=None
        For a recipe that makes fingerprints: their largest distance, inclusive,
        in bits. Without `threshold` it alone decides; with it, it bounds the
        candidates. Without either, the recipe says what a duplicate is.
    recipe : str, Path or Recipe, default="general"
        See :func:`neardup.load_recipe`.
    priority : str, default="first"
        Which of two duplicates stays: ``first``, ``last``, ``longest`` or
        ``field:NAME`` (smallest first), ``field:NAME:desc`` (largest first).
    on_error : {"keep", "drop", "stop"}, default="keep"
        What becomes of a record without a readable text. It is never called a
        duplicate.
    title_from_first_line : bool, default=False
        Take the first line of the text where there is no title field.
    workers : int, default=0
        Threads; 0 means one for each processor. Changes no result.
    memory : int, str or None, default=None
        Bytes that the run should do with beside the data, at least 512 MiB, or text such
        as ``4GB`` or ``1.5 GiB``; by default half of what the machine has. Texts, sketches and keys
        beyond it wait in temporary files. Changes no result.

    Returns
    -------
    DedupResult
        ``kept`` is of the kind that came in.

    Raises
    ------
    ParameterError
        If a parameter is out of bounds.
    InputError
        If there is no text column; if a record cannot be read and `on_error`
        is ``stop``.

    See Also
    --------
    pairs : every verified pair, and not one kept document each.
    plan : what the search will do.

    Notes
    -----
    One rule: documents stand in priority order, and one is dropped if and only
    if it is verified similar to a document before it that is kept. It points
    at the most similar such document, the earliest if they tie. Near-linear with
    the default recipe; quadratic among documents of one form with ``shingle``
    and with recipes that make fingerprints. Memory is some 160 bytes a document,
    what `memory` allows for texts, sketches, keys, ids and what is compared, and a table
    of common shingles of 150 MB or so. The result depends on neither threads nor batches
    nor memory.

    Examples
    --------
    >>> import neardup
    >>> result = neardup.dedup([
    ...     "The council will open the new bridge on Sunday morning.",
    ...     "Rain is expected along the coast until Thursday.",
    ...     "The council will open the new bridge on Sunday morning!",
    ... ], threshold=0.8)
    >>> len(result.kept)
    2
    >>> result.removed.to_pylist()[0]["kept_id"]
    '0'
    """
    from neardup._engine.ingest import priority_field
    from neardup._engine.pipeline import Run
    from neardup.readers import open_table

    value_field = priority_field(priority)
    source = open_table(
        data,
        text_field=check_field(text, "text"),
        id_field=check_field(id, "id"),
        title_field=check_field(title, "title"),
        extra_fields=() if value_field is None else (value_field,),
    )
    run = Run(
        recipe=load_recipe(recipe),
        threshold=threshold,
        max_distance=max_distance,
        priority=priority,
        on_error=on_error,
        title_from_first_line=title_from_first_line,
        workers=workers,
        memory=memory,
    )
    result = run.decide(source)
    return DedupResult(
        kept=source.kept(result.keep),
        removed=result.removed,
        keep=result.keep,
        summary=result.summary,
        plan=result.plan,
        problems=result.problems,
    )


def dedup_files(
    inputs: Sequence[str | Path],
    output: str | Path,
    *,
    removed: str | Path | None = None,
    report: str | Path | None = None,
    format: str | None = None,
    text: str | None = None,
    id: str | None = None,
    title: str | None = None,
    threshold: float | None = None,
    max_distance: int | None = None,
    recipe: str | Path | Recipe = "general",
    priority: str = "first",
    on_error: str = "keep",
    title_from_first_line: bool = False,
    workers: int = 0,
    memory: int | str | None = None,
    work: str | Path | None = None,
    force: bool = False,
    progress: Progress | None = None,
) -> DedupResult:
    """Drop the near-duplicates of files, and write what is kept.

    Parameters
    ----------
    inputs : sequence of str or Path
        Files, folders, patterns, or ``-``; see
        :func:`neardup.readers.open_sources`.
    output : str or Path
        Where the kept records go; format by extension.
    removed, report : str, Path or None, default=None
        Where the dropped records with their reasons, and the report, go.
    format : str or None, default=None
        Format of the inputs, by default told from their names and contents.
    work : str, Path or None, default=None
        Folder in which each stage leaves what it has done, and what does not fit into
        memory waits. If the run ends early, the same call with the same folder goes on
        after the last complete stage. It is emptied when all outputs are there.
    force : bool, default=False
        Replace outputs that exist.
    progress : Progress or None, default=None
        Is told what the run does.
    text, id, title, threshold, max_distance, recipe, priority, on_error, \
title_from_first_line, workers, memory
        As in :func:`dedup`.

    Returns
    -------
    DedupResult
        ``kept`` is None.

    Raises
    ------
    ParameterError, InputError
        As in :func:`dedup`; before anything is written.
    OutputError
        If an output exists, or cannot be written. Then none of the outputs is
        left behind.
    """
    from neardup._engine.checkpoint import Work, refuse_outputs, states_of
    from neardup._engine.ingest import Progress, priority_field
    from neardup._engine.pipeline import Run
    from neardup.readers import open_sources
    from neardup.writers import REMOVED, OutputSet, write_kept, write_rows

    value_field = priority_field(priority)
    run = Run(
        recipe=load_recipe(recipe),
        threshold=threshold,
        max_distance=max_distance,
        priority=priority,
        on_error=on_error,
        title_from_first_line=title_from_first_line,
        workers=workers,
        memory=memory,
        progress=progress or Progress(),
    )
    fields: dict[str, Any] = {
        "text_field": check_field(text, "text"),
        "id_field": check_field(id, "id"),
        "title_field": check_field(title, "title"),
    }
    held: AbstractContextManager[Work | None] = nullcontext()
    if work is not None:
        work = check_path(work, "work")
        refuse_outputs(work, (output, removed, report))
        read = {
            "inputs": states_of([str(path) for path in inputs], format),
            "format": format,
            **fields,
        }
        held = Work(work, {**run.settings(), **read})
    with held as folder, OutputSet() as outputs:
        own = set() if folder is None else folder.take_back()

        def may_replace(path: str | Path) -> bool:
            """Whether asked for, or a killed run of this kind wrote what is there."""
            return force or os.path.realpath(path) in own

        kept_file = outputs.open(output, force=may_replace(output))
        removed_file = report_file = None
        if removed is not None:
            removed_file = outputs.open(removed, force=may_replace(removed))
        if report is not None:
            report_file = outputs.open_text(report, force=may_replace(report))
        if folder is not None:
            folder.began(outputs.parts())
        sources = open_sources(
            inputs,
            format=format,
            extra_fields=() if value_field is None else (value_field,),
            **fields,
            output_paths=[path for path in (output, removed, report) if path is not None],
        )
        result = run.decide(sources, folder)
        run.progress.stage("write", int(result.keep.sum()))
        written = write_kept(sources, result.keep, kept_file)
        result.summary.kept -= written.unwritable
        result.summary.left_out = written.unwritable
        result.summary.problems += written.unwritable + sources.report_to(run.progress)
        result.problems.extend(written.problems)
        for problem in written.problems:
            run.progress.problem(problem)
        for note in written.notes:
            run.progress.note(note)
        if removed_file is not None:
            write_rows(removed_file, result.removed, REMOVED)
        summary = result.summary
        run.clock.lap("write")
        summary.seconds, summary.peak_memory = run.clock.seconds(), peak_memory()
        if report_file is not None:
            settings = {
                "inputs": [str(path) for path in inputs],
                "output": str(output),
                "removed": None if removed is None else str(removed),
                "priority": priority,
                "on_error": on_error,
                "workers": workers,
                "memory": run.memory,
                "work": None if work is None else str(work),
            }
            text_of_report = summary.report(
                recipe=run.recipe,
                recipe_id=run.recipe_id,
                plan=result.plan,
                problems=[*result.problems, *sources.notes],
                notes=[*sources.remarks, *written.notes],
                **settings,
            )
            report_file.write(text_of_report.encode(errors="backslashreplace") + b"\n")
        if folder is not None:
            # Cleared when all outputs have their names.
            folder.is_over = True
    return result
