"""Every verified pair of a collection: stages normalize to verify."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Unpack

from neardup.base.arrays import numbers_array, repeated_text, rows_of
from neardup.base.display import ReprMixin, rule_of
from neardup.base.lazy import pa
from neardup.options.groups import PairsFilesParameters, PairsParameters
from neardup.options.signatures import complete_options, takes_options
from neardup.readers import Problem
from neardup.readers.collection import Collection
from neardup.run.document_set import DocumentSet
from neardup.run.file_run import FileRun
from neardup.run.pipeline import Pipeline
from neardup.run.plan import Plan, plan_of
from neardup.run.run_options import RunOptions
from neardup.run.sketch_file import Others
from neardup.run.summary import Summary
from neardup.writers import pairs_schema, write_rows

#: Pairs that the representation of a result names.
_SHOWN = 5


@dataclass(frozen=True, repr=False, eq=False)
class PairsResult(ReprMixin):
    """The verified pairs of a collection.

    Parameters
    ----------
    table : pyarrow.Table
        One row per pair: ``id_a``, ``id_b`` (string; a is before b in the
        input, or b is of the other collection), ``similarity`` (float64, in [0, 1]),
        ``measure`` (string), ``distance`` (int32, bits; null if a text has no
        fingerprint). Sorted by the positions of a and b.
    summary : Summary
    plan : Plan
    problems : list of Problem
        Records that could not be read; at most 10,000 are remembered.
    """

    table: pa.Table
    summary: Summary
    plan: Plan
    problems: list[Problem]

    def _summary_rows(self) -> Iterator[tuple[str, Any]]:
        plan = self.plan
        yield "read", self.summary.read
        yield "pairs", self.table.num_rows
        yield "rule", rule_of(plan.measure, plan.threshold, plan.max_distance)
        for number, row in enumerate(self.table.slice(0, _SHOWN).to_pylist()):
            line = f"{row['similarity']:.3f} {row['id_a']} and {row['id_b']}"
            yield "" if number else "first pairs", line


@takes_options
def pairs(data: Any, *, against: Any = None, **options: Unpack[PairsParameters]) -> PairsResult:
    """Return all pairs of documents that are verified similar.

    Parameters
    ----------
    data : Arrow table, pandas or polars DataFrame, list of str, list of dict
        As for :func:`neardup.dedup`.
    against : same kinds or Index, optional
        Another collection: only pairs of a document of `data` and one of its documents are
        searched.
    {options}

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
    dedup : one kept document per cluster.

    Notes
    -----
    ``plan.predicted_recall`` is the share of pairs at the threshold that is found. The output is
    quadratic in the number of copies of one text.

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
    >>> found = neardup.pairs(["Rain is expected."], against=["Snow?", "Rain is expected."])
    >>> found.table.select(["id_a", "id_b"]).to_pylist()
    [{'id_a': '0', 'id_b': '1'}]
    """
    from neardup.readers import open_table
    from neardup.readers.tables import open_others

    chosen = RunOptions(complete_options(pairs, options))
    others = None
    if against is not None:
        others = open_others(against, **chosen.reader_of_others)
    result, _ = _find_pairs(Pipeline(chosen), open_table(data, **chosen.reader), others)
    return result


@takes_options
def pairs_files(
    inputs: Sequence[str | Path],
    output: str | Path,
    *,
    against: Sequence[str | Path] | None = None,
    **options: Unpack[PairsFilesParameters],
) -> PairsResult:
    """Write all verified pairs of files.

    Parameters
    ----------
    inputs : sequence of str or Path
        As for :func:`neardup.dedup_files`.
    output : str or Path
        File for the pairs; format by extension, ``-`` for standard output.
    against : sequence of str or Path, optional
        Files, folders or patterns of another collection, or the location of an index: only
        pairs of a document of `inputs` and one of its documents are searched.
    {options}

    Returns
    -------
    PairsResult

    Raises
    ------
    ParameterError, InputError, OutputError
        As for :func:`neardup.dedup_files`.
    """
    chosen = RunOptions(complete_options(pairs_files, options))
    # Pairs are of no single input.
    with FileRun("pairs", chosen, inputs, against, rows={"output": output}) as run:
        result, collected = _find_pairs(run.pipeline, run.sources, run.against)
        run.report_sources()
        write_rows(run.outputs.files["output"], result.table, pairs_schema())
        run.pipeline.clock.lap("write")
        run.report(result.summary, collected, result.plan)
    return result


def _find_pairs(
    pipeline: Pipeline, source: Collection, others: Others = None
) -> tuple[PairsResult, DocumentSet]:
    """Read all documents and verify all candidate pairs."""
    options = pipeline.options
    collected = pipeline.read(source, others)
    (a, b, similarity, distance), counts = pipeline.pairs(collected, across=others is not None)
    ids = collected.ids.column()
    table = pa.table(
        {
            "id_a": rows_of(ids, a),
            "id_b": rows_of(ids, b),
            "similarity": numbers_array(similarity),
            "measure": repeated_text(pipeline.rule.measure, len(a)),
            "distance": numbers_array(distance, distance < 0),
        }
    )
    pipeline.clock.lap("candidates, verify")
    kept = len(ids) - collected.against
    summary = pipeline.summary("pairs", collected, pairs=len(a), kept=kept, **counts)
    plan = plan_of(options.recipe, pipeline.rule, len(ids), look_ups=False)
    return PairsResult(table, summary, plan, pipeline.problems), collected
