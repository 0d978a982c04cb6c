"""Every verified pair of a collection: stages normalize to verify."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neardup._engine.summary import Clock, Summary, peak_memory
from neardup._engine.validation import check_choice, check_field, check_flag
from neardup.plan import Plan, Rule, plan_of, rule
from neardup.recipe import Recipe, load_recipe

if TYPE_CHECKING:
    import pyarrow as pa

    from neardup import _core
    from neardup._engine.ingest import Progress
    from neardup.readers import Problem


@dataclass(frozen=True)
class PairsResult:
    """The verified pairs of a collection.

    Parameters
    ----------
    table : pyarrow.Table
        One row a pair: ``id_a``, ``id_b`` (string; a stands before b in the
        input), ``similarity`` (float64, in [0, 1]), ``measure`` (string),
        ``distance`` (int32, bits; null where a text has no fingerprint).
        Sorted by the places of a and b in the input.
    summary : Summary
    plan : Plan
    problems : list of Problem
        Records that could not be read; at most 10,000 are remembered.
    """

    table: pa.Table
    summary: Summary
    plan: Plan
    problems: list[Problem]


def pairs(
    data: Any,
    *,
    text: str | None = None,
    id: str | None = None,
    title: str | None = None,
    threshold: float | None = None,
    max_distance: int | None = None,
    recipe: str | Path | Recipe = "general",
    title_from_first_line: bool = False,
    workers: int = 0,
) -> PairsResult:
    """Return every pair of documents that are verified similar.

    Parameters
    ----------
    data, text, id, title, threshold, max_distance, recipe, \
title_from_first_line, workers
        As in :func:`neardup.dedup`.

    Returns
    -------
    PairsResult

    Raises
    ------
    ParameterError
        If a parameter is out of bounds.
    InputError
        If there is no text column.

    See Also
    --------
    dedup : one kept document each.

    Notes
    -----
    What share of pairs just at the threshold is found, :func:`neardup.plan`
    states. The output is quadratic in how often one text is repeated.

    Examples
    --------
    >>> import neardup
    >>> found = neardup.pairs([
    ...     "The council will open the new bridge on Sunday morning.",
    ...     "Rain is expected along the coast until Thursday.",
    ...     "The council will open the new bridge on Sunday morning!",
    ... ], threshold=0.8)
    >>> found.table.select(["id_a", "id_b"]).to_pylist()
    [{'id_a': '0', 'id_b': '2'}]
    """
    from neardup.readers import open_table

    check_flag(title_from_first_line, "title_from_first_line")
    source = open_table(
        data,
        text_field=check_field(text, "text"),
        id_field=check_field(id, "id"),
        title_field=check_field(title, "title"),
    )
    return _find(
        source,
        load_recipe(recipe),
        threshold=threshold,
        max_distance=max_distance,
        title_from_first_line=title_from_first_line,
        workers=workers,
    )


def pairs_files(
    inputs: Sequence[str | Path],
    output: str | Path,
    *,
    report: str | Path | None = None,
    format: str | None = None,
    text: str | None = None,
    id: str | None = None,
    title: str | None = None,
    threshold: float | None = None,
    max_distance: int | None = None,
    recipe: str | Path | Recipe = "general",
    on_error: str = "keep",
    title_from_first_line: bool = False,
    workers: int = 0,
    force: bool = False,
    progress: Progress | None = None,
) -> PairsResult:
    """Write every verified pair of files.

    Parameters
    ----------
    output : str or Path
        Where the pairs go; format by extension, ``-`` for standard output.
    on_error : {"keep", "stop"}, default="keep"
        Whether to go on after a record that cannot be read; it is in no pair.
    inputs, report, format, text, id, title, threshold, max_distance, recipe, \
title_from_first_line, workers, force, progress
        As in :func:`neardup.dedup_files`.

    Returns
    -------
    PairsResult

    Raises
    ------
    ParameterError, InputError, OutputError
        As :func:`neardup.dedup_files` does.
    """
    from neardup._engine.ingest import Progress
    from neardup.readers import open_sources
    from neardup.writers import PAIRS, OutputSet, write_rows

    check_choice(on_error, "on_error", ("keep", "stop"))
    check_flag(title_from_first_line, "title_from_first_line")
    chosen = load_recipe(recipe)
    watched = progress or Progress()
    with OutputSet() as outputs:
        pairs_file = outputs.open(output, force=force)
        report_file = None if report is None else outputs.open_text(report, force=force)
        sources = open_sources(
            inputs,
            format=format,
            text_field=check_field(text, "text"),
            id_field=check_field(id, "id"),
            title_field=check_field(title, "title"),
            output_paths=[path for path in (output, report) if path is not None],
        )
        result = _find(
            sources,
            chosen,
            threshold=threshold,
            max_distance=max_distance,
            title_from_first_line=title_from_first_line,
            stop_on_error=on_error == "stop",
            workers=workers,
            progress=watched,
        )
        result.summary.problems += sources.report_to(watched)
        write_rows(pairs_file, result.table, PAIRS)
        if report_file is not None:
            settings = {"inputs": [str(path) for path in inputs], "output": str(output)}
            text_of_report = result.summary.report(
                recipe=chosen,
                recipe_id=chosen.id,
                plan=result.plan,
                problems=[*result.problems, *sources.notes],
                notes=[*sources.remarks],
                **settings,
            )
            report_file.write(text_of_report.encode(errors="backslashreplace") + b"\n")
    return result


def _find(
    source: Any,
    recipe: Recipe,
    *,
    threshold: float | None = None,
    max_distance: int | None = None,
    title_from_first_line: bool = False,
    stop_on_error: bool = False,
    workers: int = 0,
    progress: Progress | None = None,
) -> PairsResult:
    import pyarrow as pa

    from neardup._engine.ingest import collect

    clock = Clock()
    wanted = rule(recipe, threshold=threshold, max_distance=max_distance)
    collected = collect(
        source.batches(titles=recipe.weigh.scheme == "improved"),
        recipe,
        keeps_texts=wanted.keeps_texts,
        counted_shingle=wanted.counted_shingle,
        workers=workers,
        title_from_first_line=title_from_first_line,
        stop_on_error=stop_on_error,
        progress=progress,
    )
    clock.lap("read and sketch")
    if progress is not None:
        progress.stage("candidates, verify", None)
    a, b, similarity, distance, candidates = _verified(collected.corpus, wanted)
    ids = collected.id_column()
    table = pa.table(
        {
            "id_a": ids.take(a),
            "id_b": ids.take(b),
            "similarity": pa.array(similarity),
            "measure": pa.repeat(pa.scalar(wanted.measure), len(a)),
            "distance": pa.array(distance, mask=distance < 0),
        }
    )
    clock.lap("candidates, verify")
    readable = collected.features() >= 0
    summary = Summary(
        task="pairs",
        read=len(readable),
        unreadable=int((~readable).sum()),
        pairs=len(a),
        kept=len(readable),
        problems=collected.problem_count,
        candidates=candidates,
        bytes_read=collected.bytes_read,
        seconds=clock.seconds(),
        peak_memory=peak_memory(),
        stages=clock.stages,
    )
    search = plan_of(recipe, wanted, len(readable), look_ups=False)
    return PairsResult(table, summary, search, collected.problems)


def _verified(corpus: _core.Corpus, wanted: Rule) -> tuple[Any, Any, Any, Any, int]:
    """Return all verified pairs as columns, and the number of candidates."""
    import numpy as np

    from neardup import _core

    search = _core.PairSearch(corpus, wanted.compiled(len(corpus)))
    # In pieces, so that Ctrl-C is heard between them.
    pieces = list(iter(lambda: search.next_piece(corpus), None))
    kinds = (np.uint32, np.uint32, np.float64, np.int32)
    columns = [
        np.concatenate([piece[at] for piece in pieces]) if pieces else np.zeros(0, kind)
        for at, kind in enumerate(kinds)
    ]
    order = np.lexsort((columns[1], columns[0]))
    a, b, similarity, distance = (column[order] for column in columns)
    return a, b, similarity, distance, search.candidates()
