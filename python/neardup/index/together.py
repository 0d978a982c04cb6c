"""Documents of several callers, decided in one transaction, each with an answer of its own.

A commit costs far more than a decision. A service that stores what comes in at the
same time together answers many times as many requests.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pyarrow as pa

from neardup.collect import readable
from neardup.exceptions import InputError, ParameterError
from neardup.index.adding import Adding, Incoming, Outcome
from neardup.index.coming import checked_title, given_text
from neardup.index.results import Decision, NewDocument
from neardup.index.values import check_id, check_time, json_of, plain_text
from neardup.parameters import bad
from neardup.readers import Batch
from neardup.resources import compiled

if TYPE_CHECKING:
    from neardup.index.handle import Handle

__all__ = ["add_together"]


def add_together(handle: Handle, documents: Sequence[NewDocument]) -> list[Decision]:
    """Decide and store documents in their order, and say of each what became of it."""
    problems: dict[int, str] = {}
    rows: list[int] = []
    columns: list[tuple[str, str, str | None, datetime, str | None, str | None]] = []
    for row, document in enumerate(documents):
        try:
            columns.append(_checked(document))
            rows.append(row)
        except (InputError, ParameterError) as error:
            problems[row] = str(error)
    outcome = Outcome()
    if rows:
        coming, unreadable = _incoming(handle, columns)
        problems |= {rows[at]: reason for at, reason in unreadable.items()}
        adding = Adding(handle)
        for begin in range(0, len(rows), adding.together):
            adding.add(coming.part(begin, begin + adding.together), None, outcome)
    answers = dict(zip(rows, range(len(rows)), strict=True))
    return [
        _decision(document.id, problems.get(row), outcome, answers.get(row))
        for row, document in enumerate(documents)
    ]


def _checked(
    document: NewDocument,
) -> tuple[str, str, str | None, datetime, str | None, str | None]:
    """Return the columns of a document, if all of them can be stored."""
    if document.extra is not None and not isinstance(document.extra, dict):
        raise bad("extra", "a dict or None", document.extra)
    try:
        extra = json_of(document.extra)
    except (TypeError, RecursionError) as error:
        raise InputError(f"extra: expected fields that JSON holds, found {error}.") from None
    source = document.source
    return (
        check_id(document.id),
        given_text(document.text, "text"),
        checked_title(document.title),
        datetime.now(UTC) if document.at is None else check_time(document.at, "at"),
        None if source is None else plain_text(given_text(source, "source")),
        extra,
    )


def _incoming(
    handle: Handle,
    columns: Sequence[tuple[str, str, str | None, datetime, str | None, str | None]],
) -> tuple[Incoming, dict[int, str]]:
    ids, given, titles, at, sources, extras = (
        list(column) for column in zip(*columns, strict=True)
    )
    recipe = handle.settings.recipe
    runs = [(row, f"document {row}", 1) for row in range(len(ids))]
    batch = Batch(0, pa.array(given, pa.large_string()), ids, runs=runs)
    texts, units, problems = readable(batch, recipe, compiled(recipe))
    missing = texts.is_null().to_pylist()
    reasons = iter(problems)
    unreadable = {row: str(next(reasons, "")) for row, gone in enumerate(missing) if gone}
    coming = Incoming(ids, texts, units, pa.array(titles, pa.large_string()), at, sources, extras)
    return coming, unreadable


def _decision(id: str, problem: str | None, outcome: Outcome, at: int | None) -> Decision:
    if problem is None and at is not None and outcome.refused[at] is not None:
        problem = f"A document {outcome.refused[at]}."
    if problem is not None or at is None:
        return Decision(id, False, None, problem)
    return Decision(id, outcome.is_new[at], outcome.matches[at], None)
