"""Documents of several callers, decided in one transaction, each with an answer of its own.

A commit costs far more than a decision. A service that stores what comes in at the
same time together answers many times as many requests.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa

from neardup._engine.ingest import readable
from neardup._engine.messages import Message
from neardup._engine.recipe_assets import compiled
from neardup.exceptions import InputError, ParameterError
from neardup.index.adding import Adding, Incoming, Outcome
from neardup.index.coming import Columns
from neardup.index.results import Decision, NewDocument
from neardup.readers import Batch
from neardup.readers.batch import show

if TYPE_CHECKING:
    from neardup.index.engine import Engine

__all__ = ["add_together"]


def add_together(engine: Engine, documents: Sequence[NewDocument]) -> list[Decision]:
    """Decide and store documents in their order, and say of each what became of it."""
    problems: dict[int, str] = {}
    rows: list[int] = []
    columns: list[Columns] = []
    for row, document in enumerate(documents):
        try:
            columns.append(Columns.checked(document))
            rows.append(row)
        except (InputError, ParameterError) as error:
            problems[row] = error.args[0]
    outcome = Outcome()
    if rows:
        coming, unreadable = _incoming(engine, columns)
        problems |= {rows[at]: reason for at, reason in unreadable.items()}
        adding = Adding(engine)
        for begin in range(0, len(rows), adding.together):
            adding.add(coming.part(begin, begin + adding.together), None, outcome)
    answers = dict(zip(rows, range(len(rows)), strict=True))
    return [
        _decision(document.id, problems.get(row), outcome, answers.get(row))
        for row, document in enumerate(documents)
    ]


def _incoming(engine: Engine, columns: Sequence[Columns]) -> tuple[Incoming, dict[int, str]]:
    """Return documents on their way in, and why some of them cannot be read, by row."""
    recipe = engine.settings.recipe
    ids = [one.id for one in columns]
    # The place of a problem is the row that it is about.
    runs = [(row, str(row), 1) for row in range(len(columns))]
    given = pa.array([one.text for one in columns], pa.large_string())
    batch = Batch(0, given, ids, runs=runs)
    texts, units, problems = readable(batch, recipe, compiled(recipe))
    coming = Incoming(
        ids,
        texts,
        units,
        pa.array([one.title for one in columns], pa.large_string()),
        [one.at for one in columns],
        [one.source for one in columns],
        [one.extra for one in columns],
    )
    reasons = {int(problem.source): problem for problem in problems}
    return coming, {
        row: replace(
            problem, source=Message("index.given_document", id=show(ids[row])), record=None
        ).message
        for row, problem in reasons.items()
    }


def _decision(id: str, problem: str | None, outcome: Outcome, at: int | None) -> Decision:
    if problem is None and at is not None and outcome.refused[at] is not None:
        problem = Message("index.document_refused", reason=outcome.refused[at])
    if problem is not None or at is None:
        return Decision(id, False, None, problem)
    return Decision(id, outcome.is_new[at], outcome.matches[at], None)
