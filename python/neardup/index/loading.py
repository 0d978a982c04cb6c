"""A whole collection into the index, batch by batch."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from datetime import timedelta
from typing import TYPE_CHECKING

import numpy as np

from neardup._engine.ingest import REMEMBERED, Progress
from neardup._engine.prefetch import ahead
from neardup._engine.validation import check_flag
from neardup.index.adding import Adding, Outcome
from neardup.index.coming import Fields, Reading, Source
from neardup.index.results import Added
from neardup.readers import Problem
from neardup.writers.rows import removed_table

if TYPE_CHECKING:
    from neardup.index.engine import Engine

__all__ = ["add_batches"]


def add_batches(
    engine: Engine,
    source: Source,
    fields: Fields,
    within: timedelta | None,
    title_from_first_line: bool,
    progress: Progress | None,
) -> Added:
    """Add all documents of a source, reading and sketching ahead of the store."""
    check_flag(title_from_first_line, "title_from_first_line")
    progress = progress or Progress()
    adding = Adding(engine, within=within)
    reading = Reading(engine, fields, adding.together, title_from_first_line=title_from_first_line)
    outcome = Outcome()
    ids: list[str] = []
    problems: list[Problem] = []
    problem_count = 0

    def tell(found: Sequence[Problem]) -> None:
        nonlocal problem_count
        for problem in found:
            progress.problem(problem)
            problem_count += 1
            if len(problems) < REMEMBERED:
                problems.append(problem)

    progress.stage("add", None)
    # Closing ends the reading thread also where the loop is left by an error.
    with closing(ahead(reading.steps(source))) as steps:
        for step in steps:
            tell(step.problems)
            begin = len(outcome.matches)
            adding.add(step.coming, step.ready, outcome)
            ids += step.coming.ids
            refused = enumerate(outcome.refused[begin:])
            tell(
                [
                    Problem(*step.place(at), fields.id_name, reason, None)
                    for at, reason in refused
                    if reason is not None
                ]
            )
            progress.advance(len(step.coming), step.bytes_read)
    return _added(engine, ids, outcome, problem_count, problems)


def _added(
    engine: Engine, ids: list[str], outcome: Outcome, problem_count: int, problems: list[Problem]
) -> Added:
    pairs = zip(outcome.matches, outcome.is_there, strict=True)
    keep = np.array([match is None and there for match, there in pairs], np.bool_)
    dropped = [
        (id, match) for id, match in zip(ids, outcome.matches, strict=True) if match is not None
    ]
    removed = removed_table(
        [id for id, _ in dropped],
        [match.id for _, match in dropped],
        [match.similarity for _, match in dropped],
        [match.distance for _, match in dropped],
        engine.rule.measure,
    )
    new = sum(outcome.is_there) - outcome.already
    return Added(keep, removed, new, outcome.already, problem_count, problems)
