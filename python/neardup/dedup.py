"""Drop the near-duplicates of a collection: all eight stages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neardup.parameters import check_choice, check_field, check_flag, check_workers
from neardup.plan import Plan, Rule, plan_of, rule
from neardup.recipe import Recipe, load_recipe
from neardup.summary import Clock, Summary, peak_memory

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from neardup.collect import Collected, Progress
    from neardup.readers import Problem

#: Documents decided between two looks at Ctrl-C.
_STEP = 1024

_ON_ERROR = ("keep", "drop", "stop")


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
    and with recipes that make fingerprints. Memory is some 800 bytes a document
    beside its id and up to 150 MB for what is common; texts wait in a temporary
    file. The result depends on neither threads nor batches.

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
    from neardup.collect import priority_field
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
    force: bool = False,
    progress: Progress | None = None,
) -> DedupResult:
    """Drop the near-duplicates of files, and write what is kept.

    Parameters
    ----------
    inputs : sequence of str or Path
        Files, folders of text files, or ``-``; see
        :func:`neardup.readers.open_sources`.
    output : str or Path
        Where the kept records go; format by extension.
    removed, report : str, Path or None, default=None
        Where the dropped records with their reasons, and the report, go.
    format : str or None, default=None
        Format of the inputs, by default told from their names and contents.
    force : bool, default=False
        Replace outputs that exist.
    progress : Progress or None, default=None
        Is told what the run does.
    text, id, title, threshold, max_distance, recipe, priority, on_error, \
title_from_first_line, workers
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
    from neardup.collect import Progress, priority_field
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
        progress=progress or Progress(),
    )
    with OutputSet() as outputs:
        kept_file = outputs.open(output, force=force)
        removed_file = None if removed is None else outputs.open(removed, force=force)
        report_file = None if report is None else outputs.open_text(report, force=force)
        sources = open_sources(
            inputs,
            format=format,
            text_field=check_field(text, "text"),
            id_field=check_field(id, "id"),
            title_field=check_field(title, "title"),
            extra_fields=() if value_field is None else (value_field,),
            output_paths=[path for path in (output, removed, report) if path is not None],
        )
        result = run.decide(sources)
        run.progress.stage("write", int(result.keep.sum()))
        written = write_kept(sources, result.keep, kept_file)
        result.summary.kept -= written.unwritable
        result.summary.left_out = written.unwritable
        result.summary.problems += written.unwritable + len(sources.notes)
        result.problems.extend(written.problems)
        said: list[Problem | str] = [*sources.notes, *written.problems]
        for problem in said:
            run.progress.problem(problem)
        for note in [*sources.remarks, *written.notes]:
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
            }
            text_of_report = summary.report(
                recipe=run.recipe,
                recipe_id=run.recipe_id,
                plan=result.plan,
                problems=[*result.problems, *sources.notes],
                notes=[*sources.remarks, *written.notes],
                **settings,
            )
            report_file.write(text_of_report.encode() + b"\n")
    return result


class Run:
    """One run of the rule over some input, in memory or in files."""

    def __init__(
        self,
        *,
        recipe: Recipe,
        threshold: float | None,
        max_distance: int | None,
        priority: str,
        on_error: str,
        title_from_first_line: bool,
        workers: int,
        progress: Progress | None = None,
    ) -> None:
        from neardup.collect import Progress

        check_choice(on_error, "on_error", _ON_ERROR)
        check_flag(title_from_first_line, "title_from_first_line")
        self.recipe = recipe
        self.rule: Rule = rule(recipe, threshold=threshold, max_distance=max_distance)
        self.priority = priority
        self.on_error = on_error
        self.title_from_first_line = title_from_first_line
        self.workers = check_workers(workers)
        self.progress = progress or Progress()
        self.clock = Clock()
        self.recipe_id = recipe.id

    def decide(self, source: Any) -> DedupResult:
        """Read `source` and decide every document."""
        from neardup.collect import collect, priority_field, priority_order

        collected = collect(
            source.batches(titles=self.recipe.weigh.scheme == "improved"),
            self.recipe,
            keeps_texts=self.rule.keeps_texts,
            counted_shingle=self.rule.counted_shingle,
            workers=self.workers,
            value_field=priority_field(self.priority),
            lengths=self.priority == "longest",
            title_from_first_line=self.title_from_first_line,
            stop_on_error=self.on_error == "stop",
            progress=self.progress,
        )
        self.clock.lap("read and sketch")
        self.recipe_id = collected.recipe_id()
        readable = collected.features() >= 0
        order = priority_order(self.priority, readable, collected.lengths, collected.values)
        result = self._apply(collected, readable, order)
        self.clock.lap("candidates, verify, cluster")
        result.summary.seconds = self.clock.seconds()
        result.summary.peak_memory = peak_memory()
        result.summary.stages = self.clock.stages
        return result

    def _apply(
        self, collected: Collected, readable: NDArray[np.bool_], order: NDArray[np.uint32]
    ) -> DedupResult:
        import numpy as np
        import pyarrow as pa
        import pyarrow.compute as pc

        from neardup import _core
        from neardup.writers.rows import removed_table

        count = len(readable)
        keeper = _core.Keeper(collected.corpus, self.rule.compiled(count))
        kept_for = np.full(count, -1, np.int64)
        similarity = np.zeros(count)
        distance = np.full(count, -1, np.int32)
        identical = np.zeros(count, np.bool_)
        self.progress.stage("candidates, verify, cluster", len(order))
        for begin in range(0, len(order), _STEP):
            step = order[begin : begin + _STEP]
            decided = keeper.decide(collected.corpus, step)
            kept_for[step], similarity[step], distance[step], identical[step] = decided
            self.progress.advance(len(step))
        dropped = np.flatnonzero(kept_for >= 0)
        keep = kept_for < 0
        if self.on_error == "drop":
            keep &= readable
        ids = collected.id_column()
        distinct = pc.count_distinct(ids).as_py() if len(dropped) else len(ids)
        if distinct < len(ids):
            self.progress.note(
                f"{len(ids) - distinct:,} records have an id that another one has too; the removed "
                "file cannot tell these apart. Name a field of unique ids with id= (--id-field)."
            )
        removed = removed_table(
            ids.take(dropped),
            ids.take(kept_for[dropped]),
            similarity[dropped],
            pa.array(distance[dropped], mask=distance[dropped] < 0),
            self.rule.measure,
        )
        exact = int(identical[dropped].sum())
        summary = Summary(
            task="dedup",
            read=count,
            unreadable=int((~readable).sum()),
            exact_duplicates=exact,
            near_duplicates=len(dropped) - exact,
            kept=int(keep.sum()),
            problems=collected.problem_count,
            candidates=keeper.counts()[0],
            bytes_read=collected.bytes_read,
        )
        return DedupResult(
            kept=None,
            removed=removed,
            keep=keep,
            summary=summary,
            plan=plan_of(self.recipe, self.rule, count, look_ups=True),
            problems=collected.problems,
        )
