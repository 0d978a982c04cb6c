"""Reading of tables and files for an index: batches are read, checked and sketched in advance."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.base.messages import Message
from neardup.base.prefetch import prefetch
from neardup.base.progress import Progress, share_of
from neardup.exceptions import InputError
from neardup.index.background import FIRST
from neardup.index.ingest.incoming import Incoming
from neardup.index.ingest.transaction import add_batch, batch_size
from neardup.index.results import Added, Match
from neardup.index.values import (
    NUL,
    check_time,
    id_fault,
    json_of,
    lacks_zone,
    plain_text,
    stamp,
    time_fault,
)
from neardup.readers import Batch, Problem
from neardup.readers.batch import REMEMBERED, place_of, show, strings
from neardup.readers.fields import DEFAULT_ID, as_id
from neardup.recipe.assets import compiled
from neardup.recipe.batches import readable, with_first_lines
from neardup.writers.rows import removed_table

if TYPE_CHECKING:
    from neardup.index.engine import Engine

__all__ = ["Fields", "add_source"]


class Source(Protocol):
    """A source that can be read batch by batch."""

    def batches(self, *, titles: bool | None = None) -> Iterator[Batch]:
        """Read from the beginning."""
        ...


@dataclass(frozen=True)
class Fields:
    """Field names of a document; None for the default or for no field."""

    text: str | None
    id: str | None
    title: str | None
    at: str | None
    source: str | None
    more: tuple[str, ...]
    max_text: int
    #: The time zone of times without one.
    zone: tzinfo
    #: Whether a document without an id is refused.
    needs_ids: bool = False

    @classmethod
    def of(cls, options: Mapping[str, Any], *, needs_ids: bool = False) -> Fields:
        """Return the fields named in options that were checked."""
        names = {name: options[f"{name}_field"] for name in ("text", "id", "title", "at", "source")}
        return cls(
            **names,
            more=options["extra_fields"],
            max_text=options["max_text"],
            zone=options["at_zone"],
            needs_ids=needs_ids,
        )

    @property
    def id_name(self) -> str:
        """The name of the id field."""
        return self.id or DEFAULT_ID

    def read(self) -> dict[str, Any]:
        """Return the parameters for a reader."""
        named = [name for name in (self.at, self.source) if name is not None]
        ids = [self.id_name] if self.needs_ids else []
        return {
            "text_field": self.text,
            "id_field": self.id,
            "title_field": self.title,
            "max_text": self.max_text,
            "extra_fields": tuple(dict.fromkeys([*ids, *named, *self.more])),
        }


def add_source(
    engine: Engine,
    source: Source,
    fields: Fields,
    options: Mapping[str, Any],
) -> Added:
    """Add all documents of a source; reading and sketching run ahead of the store.

    `options` are those of `Index.add_many`, checked.
    """
    within: timedelta | None = options["within"]
    progress: Progress = options["progress"]
    #: Fields without a value in any record so far.
    empty = {name: None for name in (fields.at, fields.source, *fields.more) if name is not None}
    keep: list[bool] = []
    dropped: list[tuple[str, Match]] = []
    new = already = problem_count = 0
    at_field = fields.at
    has_naive_times = False
    problems: list[Problem] = []

    def report(found: Sequence[Problem]) -> None:
        nonlocal problem_count
        for problem in found:
            progress.problem(problem)
        problem_count += sum(problem.count for problem in found)
        problems.extend(found[: REMEMBERED - len(problems)])

    def prepared() -> Iterator[Incoming]:
        nonlocal has_naive_times
        size = batch_size(within)
        for batch in source.batches(titles=True):
            for name in [name for name in empty if _has_value(batch.extra[name])]:
                del empty[name]
            if at_field is not None and fields.zone is UTC and not has_naive_times:
                has_naive_times = any(map(lacks_zone, batch.extra[at_field]))
            incoming = _incoming(engine, batch, fields, options["title_from_first_line"])
            for begin in range(0, max(len(incoming), 1), size):
                yield incoming.part(begin, begin + size).prepare()

    with engine.reading() as session:
        counters = session.counters()
    progress.stage("add", None, share_of(source))
    # Closing also ends the reading thread if an error leaves the loop.
    with closing(prefetch(prepared())) as batches:
        for batch in batches:
            report(batch.problems)
            refused = []
            for row, decision in enumerate(add_batch(engine, batch, within)):
                if decision is None or decision.problem is not None:
                    keep.append(False)
                    if decision is not None and decision.problem is not None:
                        place = place_of(batch.runs, batch.begin + row)
                        refused.append(Problem(*place, fields.id_name, decision.problem, None))
                    continue
                keep.append(decision.repeats is None)
                new, already = new + decision.new, already + (not decision.new)
                if decision.repeats is not None:
                    dropped.append((decision.id, decision.repeats))
            report(refused)
            progress.advance(len(batch), batch.bytes_read)
    if keep:
        for name in empty:
            progress.note(Message("index.field_without_values", field=name))
    if has_naive_times:
        progress.note(Message("index.times_without_zone", field=at_field))
    uncounted = new - (counters["counted_at"] - counters["arrived"])
    if dropped and uncounted >= FIRST and engine.settings.background == "own":
        progress.note(Message("index.counted_before", index=engine.location, new=new))
    removed = removed_table(
        [id for id, _ in dropped],
        [match.id for _, match in dropped],
        [match.similarity for _, match in dropped],
        [match.distance for _, match in dropped],
        engine.rule.measure,
    )
    return Added(np.array(keep, np.bool_), removed, new, already, problem_count, problems)


def _incoming(engine: Engine, batch: Batch, fields: Fields, first_lines: bool) -> Incoming:
    """Return a reader's batch; a row that cannot be stored has a null text and a problem."""
    recipe = engine.settings.recipe
    texts, units, problems = readable(batch, recipe, compiled(recipe))
    titles = batch.titles
    if first_lines:
        titles = with_first_lines(titles, texts)
    if titles is not None:
        titles = pc.replace_substring(titles, pattern=NUL, replacement=plain_text(NUL))
    check = _Check(batch)
    check.ids(fields)
    at = check.column(
        fields.at,
        lambda value: time_fault(value, fields.zone),
        lambda value: stamp(check_time(value, "at", fields.zone)),
    )
    sources = check.column(fields.source, _text_fault, plain_text)
    extras = check.extras(fields.more)
    now = stamp(datetime.now(UTC))
    return Incoming(
        engine,
        ids=["" if row in check.faults else id for row, id in enumerate(strings(batch.ids))],
        texts=check.without_faulty(texts),
        units=units,
        titles=titles,
        at=[now if moment is None else moment for moment in at],
        sources=sources,
        extras=extras,
        problems=problems + check.problems(),
        runs=batch.runs,
        bytes_read=batch.bytes_read,
    )


class _Check:
    """A check of a batch; it collects a fault for each row that cannot be stored."""

    def __init__(self, batch: Batch) -> None:
        self._batch = batch
        #: For each refused row: the field, the reason, and the value.
        self.faults: dict[int, tuple[str, Message, Any]] = {}

    def _refuse(self, row: int, field: str, reason: Message, found: Any) -> None:
        """Record why a row cannot be stored; only the first reason is kept."""
        self.faults.setdefault(row, (field, reason, found))

    def ids(self, fields: Fields) -> None:
        """Refuse ids that cannot be stored, and missing ones where they are needed."""
        given = None
        if fields.needs_ids:
            given = self._batch.extra.get(fields.id_name)
            if given is None:
                raise InputError(Message("index.texts_without_ids", field=fields.id_name))
        for row, id in enumerate(strings(self._batch.ids)):
            if given is not None and as_id(given[row]) != id:
                # The reader found no usable id and used the position instead.
                self._refuse(row, fields.id_name, Message("index.must_be_id"), given[row])
                continue
            fault = id_fault(id)
            if fault is not None:
                self._refuse(row, fields.id_name, fault, id)

    def column(
        self,
        field: str | None,
        fault_of: Callable[[Any], Message | None],
        convert: Callable[[Any], Any],
    ) -> list[Any]:
        """Return a field's values in stored form; None for a missing or faulty value."""
        values: list[Any] = [None] * len(self._batch)
        if field is None:
            return values
        for row, value in enumerate(self._batch.extra[field]):
            if value is None:
                continue
            fault = fault_of(value)
            if fault is None:
                values[row] = convert(value)
            else:
                self._refuse(row, field, fault, value)
        return values

    def extras(self, fields: Sequence[str]) -> list[str | None]:
        """Return further fields as JSON, one string per row."""
        found: list[str | None] = [None] * len(self._batch)
        for row in range(len(found) if fields else 0):
            values = ((name, self._batch.extra[name][row]) for name in fields)
            try:
                found[row] = json_of({name: value for name, value in values if value is not None})
            except (TypeError, RecursionError) as error:
                reason = Message("index.must_be_json", reason=str(error))
                self._refuse(row, fields[0], reason, None)
        return found

    def without_faulty(self, texts: pa.LargeStringArray) -> pa.LargeStringArray:
        """Return the texts, with null for refused rows."""
        if not self.faults:
            return texts
        mask = pa.array([row in self.faults for row in range(len(texts))])
        found: Any = pc.if_else(mask, pa.scalar(None, pa.large_string()), texts)
        return found  # type: ignore[no-any-return]

    def problems(self) -> list[Problem]:
        """Return a problem for each refused row, in the order of the rows."""
        return [
            Problem(
                *place_of(self._batch.runs, row),
                field,
                reason,
                None if found is None else show(found),
            )
            for row, (field, reason, found) in sorted(self.faults.items())
        ]


def _has_value(values: Iterable[Any]) -> bool:
    return any(value is not None for value in values)


def _text_fault(value: Any) -> Message | None:
    try:
        plain_text(value)
    except UnicodeEncodeError:
        return Message("index.must_be_unicode_text")
    return None
