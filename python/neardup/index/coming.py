"""What callers and readers hand in, made ready to be added."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.ahead import ahead
from neardup.collect import REMEMBERED, Progress, readable, with_first_lines
from neardup.exceptions import InputError, ParameterError
from neardup.given import checked_text
from neardup.index.adding import Adding, Incoming, Outcome, Prepared, prepared
from neardup.index.results import Added, Match
from neardup.index.times import check_time
from neardup.parameters import bad, check_field, check_flag, check_string
from neardup.readers import Batch, Problem
from neardup.readers.batch import show
from neardup.resources import compiled
from neardup.writers.rows import removed_table

if TYPE_CHECKING:
    from neardup.index.handle import Handle

__all__ = ["Fields", "add_batches", "checked_title", "one_document"]

#: Text that PostgreSQL cannot hold, and what stands for it.
_NUL, _FOR_NUL = "\0", "\N{REPLACEMENT CHARACTER}"


class Source(Protocol):
    """What can be read a batch at a time."""

    def batches(self, *, titles: bool | None = None, batch_records: int = ...) -> Iterator[Batch]:
        """Read from the beginning."""
        ...


@dataclass(frozen=True)
class Fields:
    """Names of the fields of a document; None for a default or for none."""

    text: str | None
    id: str | None
    title: str | None
    at: str | None
    source: str | None
    more: tuple[str, ...]

    @classmethod
    def checked(cls, text: Any, id: Any, title: Any, at: Any, source: Any, extra: Any) -> Fields:
        """Return the fields, if they are names."""
        if isinstance(extra, str) or not isinstance(extra, Sequence):
            raise bad("extra", "a list of names of fields", extra)
        return cls(
            check_field(text, "text"),
            check_field(id, "id"),
            check_field(title, "title"),
            check_field(at, "at"),
            check_field(source, "source"),
            tuple(check_string(name, "extra") for name in extra),
        )

    @property
    def extras(self) -> tuple[str, ...]:
        """All fields beside text, id and title, each once."""
        named = [name for name in (self.at, self.source) if name is not None]
        return tuple(dict.fromkeys([*named, *self.more]))


def one_document(
    handle: Handle,
    id: Any,
    text: Any,
    title: Any,
    at: Any,
    source: Any,
    extra: Any,
    within: timedelta | None,
) -> Match | None:
    """Check a document of a caller, add it, and return what it repeats."""
    if extra is not None and not isinstance(extra, dict):
        raise bad("extra", "a dict or None", extra)
    moment = datetime.now(UTC) if at is None else check_time(at, "at")
    batch = Batch(0, pa.array([checked_text(text, "text")], pa.large_string()), [checked_id(id)])
    recipe = handle.settings.recipe
    texts, units, problems = readable(batch, recipe, compiled(recipe))
    if problems:
        raise InputError(f"The document '{id}' cannot be added. {problems[0]}")
    coming = Incoming(
        ids=batch.ids,
        texts=texts,
        units=units,
        titles=pa.array([checked_title(title)], pa.large_string()),
        at=[moment],
        sources=[_stored(source, "source")],
        extras=[_json(extra)],
    )
    outcome = Outcome()
    Adding(handle, within=within).add(coming, None, outcome)
    if outcome.refused[0] is not None:
        raise InputError(
            f"{handle.location}: a document {outcome.refused[0]}. Remove that one first, or"
            " choose another id."
        )
    return outcome.matches[0]


def add_batches(
    handle: Handle,
    source: Source,
    fields: Fields,
    *,
    within: timedelta | None,
    title_from_first_line: bool,
    needs_ids: bool,
    progress: Progress | None,
) -> Added:
    """Add all documents of a source, reading and sketching ahead of the store."""
    check_flag(title_from_first_line, "title_from_first_line")
    progress = progress or Progress()
    adding = Adding(handle, within=within)
    reading = _Reading(handle, fields, adding.together, title_from_first_line, needs_ids)
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
                    Problem(step.names[at], step.first + at + 1, "id", reason, None)
                    for at, reason in refused
                    if reason is not None
                ]
            )
            progress.advance(len(step.coming), step.bytes_read)
    return _added(handle, ids, outcome, problem_count, problems)


def _added(
    handle: Handle, ids: list[str], outcome: Outcome, problem_count: int, problems: list[Problem]
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
        handle.rule.measure,
    )
    new = sum(outcome.is_there) - outcome.already
    return Added(keep, removed, new, outcome.already, problem_count, problems)


@dataclass
class _Step:
    """Rows for one transaction, made ready."""

    coming: Incoming
    ready: Prepared
    problems: list[Problem]
    #: How the source names each row, and the position of the first.
    names: list[str]
    first: int
    bytes_read: int


class _Reading:
    """Batches of readers, cut for transactions and sketched."""

    def __init__(
        self,
        handle: Handle,
        fields: Fields,
        together: int,
        title_from_first_line: bool,
        needs_ids: bool,
    ) -> None:
        self._handle = handle
        self._fields = fields
        self._together = together
        self._title_from_first_line = title_from_first_line
        self._needs_ids = needs_ids
        self._core = compiled(handle.settings.recipe)

    def steps(self, source: Source) -> Iterator[_Step]:
        """Give what is to be added, in order."""
        for batch in source.batches(titles=True):
            coming, problems = self._incoming(batch)
            for begin in range(0, max(len(batch), 1), self._together):
                part = coming.part(begin, begin + self._together)
                yield _Step(
                    coming=part,
                    ready=prepared(self._handle, part),
                    problems=problems if begin == 0 else [],
                    names=batch.ids[begin : begin + self._together],
                    first=batch.first + begin,
                    bytes_read=batch.bytes_read if begin == 0 else 0,
                )

    def _incoming(self, batch: Batch) -> tuple[Incoming, list[Problem]]:
        recipe = self._handle.settings.recipe
        texts, units, problems = readable(batch, recipe, self._core)
        titles = batch.titles
        if self._title_from_first_line:
            titles = with_first_lines(titles, texts)
        count = len(batch)
        fields, extra = self._fields, batch.extra
        at, wrong = self._times(batch, count)
        bad_rows = {row: ("at", reason, found) for row, reason, found in wrong}
        for row, id in enumerate(batch.ids):
            if _NUL in id:
                bad_rows[row] = ("id", "must be text without NUL characters", id)
        if bad_rows:
            mask = pa.array([row in bad_rows for row in range(count)])
            texts = pc.if_else(mask, pa.scalar(None, pa.large_string()), texts)
            problems += [
                Problem(
                    batch.ids[row].replace(_NUL, _FOR_NUL),
                    batch.first + row + 1,
                    name,
                    reason,
                    show(found),
                )
                for row, (name, reason, found) in sorted(bad_rows.items())
            ]
        sources = [None] * count if fields.source is None else extra[fields.source]
        return (
            Incoming(
                ids=batch.ids,
                texts=texts,
                units=units,
                titles=None if titles is None else _without_nul(titles),
                at=at,
                sources=[None if value is None else _plain(value) for value in sources],
                extras=[self._extra(extra, row) for row in range(count)],
            ),
            problems,
        )

    def _extra(self, extra: dict[str, list[Any]], row: int) -> str | None:
        values = ((name, extra[name][row]) for name in self._fields.more)
        return _json({name: value for name, value in values if value is not None})

    def _times(self, batch: Batch, count: int) -> tuple[list[datetime], list[tuple[int, str, Any]]]:
        """Return when the documents arrived, and the rows that do not say it rightly."""
        now = datetime.now(UTC)
        times, wrong = [now] * count, []
        if self._fields.at is not None:
            for row, value in enumerate(batch.extra[self._fields.at]):
                if value is None:
                    continue
                try:
                    times[row] = check_time(value, "at")
                except ParameterError:
                    wrong.append((row, "must be a time such as 2024-03-09T08:00:00+08:00", value))
        return times, wrong


def checked_id(id: Any) -> str:
    """Return an id that both databases can hold."""
    checked_text(id, "id")
    if not id or _NUL in id:
        raise bad("id", "text of at least one character, none of them NUL", id)
    return str(id)


def checked_title(title: Any) -> str | None:
    """Return a title, None for none."""
    return _stored(title, "title")


def _stored(value: Any, name: str) -> str | None:
    return None if value is None else checked_text(value, name).replace(_NUL, _FOR_NUL)


def _plain(value: Any) -> str:
    text = value if isinstance(value, str) else str(value)
    return text.replace(_NUL, _FOR_NUL)


def _without_nul(titles: pa.LargeStringArray) -> pa.LargeStringArray:
    return pc.replace_substring(titles, pattern=_NUL, replacement=_FOR_NUL)


def _json(extra: dict[str, Any] | None) -> str | None:
    if not extra:
        return None
    try:
        return json.dumps(extra, ensure_ascii=False, allow_nan=False, default=str)
    except (TypeError, ValueError) as error:
        raise InputError(f"extra: expected fields that JSON holds, found {error}.") from None
