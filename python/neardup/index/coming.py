"""What callers and readers hand in, made ready to be added."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from typing import TYPE_CHECKING, Any, Protocol

import pyarrow as pa
import pyarrow.compute as pc

from neardup._engine.ingest import readable, with_first_lines
from neardup._engine.messages import Message
from neardup._engine.recipe_assets import compiled
from neardup._engine.text_inputs import checked_text
from neardup._engine.validation import bad, check_field, check_string
from neardup.exceptions import InputError
from neardup.index.adding import Adding, Incoming, Outcome, Prepared, prepared
from neardup.index.results import Match, NewDocument
from neardup.index.values import (
    NUL,
    check_id,
    check_time,
    check_zone,
    id_fault,
    json_of,
    plain_text,
    time_fault,
)
from neardup.readers import Batch, Problem
from neardup.readers.batch import Run, place_of, show
from neardup.readers.fields import DEFAULT_ID, as_id

if TYPE_CHECKING:
    from neardup.index.engine import Engine

__all__ = [
    "Columns",
    "Fields",
    "Reading",
    "Step",
    "alone",
    "checked_title",
    "given_text",
    "one_document",
]


class Source(Protocol):
    """What can be read a batch at a time."""

    def batches(self, *, titles: bool | None = None) -> Iterator[Batch]:
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
    #: Where times are meant that name no zone.
    zone: tzinfo
    #: Whether a document without an id of its own is refused.
    needs_ids: bool = False

    @classmethod
    def checked(
        cls,
        text: Any,
        id: Any,
        title: Any,
        at: Any,
        source: Any,
        extra: Any,
        at_zone: Any,
        *,
        needs_ids: bool = False,
    ) -> Fields:
        """Return the fields, if they are names."""
        if isinstance(extra, str) or not isinstance(extra, Sequence):
            raise bad("extra", "index.list_of_fields", extra)
        return cls(
            check_field(text, "text"),
            check_field(id, "id"),
            check_field(title, "title"),
            check_field(at, "at"),
            check_field(source, "source"),
            tuple(check_string(name, "extra") for name in extra),
            check_zone(at_zone, "at_zone"),
            needs_ids,
        )

    @property
    def id_name(self) -> str:
        """The field of the id."""
        return self.id or DEFAULT_ID

    def read(self) -> dict[str, Any]:
        """Return what a reader is told of the fields."""
        named = [name for name in (self.at, self.source) if name is not None]
        ids = [self.id_name] if self.needs_ids else []
        return {
            "text_field": self.text,
            "id_field": self.id,
            "title_field": self.title,
            "extra_fields": tuple(dict.fromkeys([*ids, *named, *self.more])),
        }


@dataclass(frozen=True)
class Columns:
    """What is stored of a document beside what is made of its text."""

    id: str
    text: str
    title: str | None
    at: datetime
    source: str | None
    extra: str | None

    @classmethod
    def checked(cls, document: NewDocument, zone: tzinfo = UTC) -> Columns:
        """Return the columns of a document of a caller, if all of them can be stored."""
        if document.extra is not None and not isinstance(document.extra, dict):
            raise bad("extra", "index.dict_or_none", document.extra)
        try:
            extra = json_of(document.extra)
        except (TypeError, RecursionError) as error:
            raise InputError(Message("index.extra_is_no_json", reason=str(error))) from None
        source = document.source
        return cls(
            check_id(document.id),
            given_text(document.text, "text"),
            checked_title(document.title),
            datetime.now(UTC) if document.at is None else check_time(document.at, "at", zone),
            None if source is None else plain_text(given_text(source, "source")),
            extra,
        )


def one_document(
    engine: Engine, document: NewDocument, within: timedelta | None, zone: tzinfo
) -> Match | None:
    """Check a document of a caller, add it, and return what it repeats."""
    columns = Columns.checked(document, zone)
    coming = alone(engine, columns.text, columns.title, columns.at, id=columns.id)
    coming.sources, coming.extras = [columns.source], [columns.extra]
    outcome = Outcome()
    Adding(engine, within=within).add(coming, None, outcome)
    if outcome.refused[0] is not None:
        raise InputError(
            Message(
                "index.document_refused_here",
                location=engine.location,
                reason=outcome.refused[0],
            )
        )
    return outcome.matches[0]


def alone(engine: Engine, text: str, title: str | None, at: datetime, *, id: str = "") -> Incoming:
    """Return one text, if it can be sketched."""
    recipe = engine.settings.recipe
    batch = Batch(0, pa.array([text], pa.large_string()), [id])
    texts, units, problems = readable(batch, recipe, compiled(recipe))
    if problems:
        raise InputError(problems[0].message)
    titles = pa.array([title], pa.large_string())
    return Incoming([id], texts, units, titles, [at], [None], [None])


def given_text(value: Any, name: str) -> str:
    """Return a text of a caller, if it is one that can be stored."""
    return checked_text(check_string(value, name), name)


def checked_title(title: Any) -> str | None:
    """Return a title as it is stored, None for none."""
    return None if title is None else plain_text(given_text(title, "title"))


@dataclass
class Step:
    """Rows for one transaction, made ready."""

    coming: Incoming
    ready: Prepared
    problems: list[Problem]
    #: Where the rows of the batch come from, and which of them is the first one here.
    runs: list[Run]
    begin: int
    bytes_read: int

    def place(self, row: int) -> tuple[str, int | None]:
        """Return source and record of a row."""
        return place_of(self.runs, self.begin + row)


class Reading:
    """Batches of readers, cut for transactions and made ready."""

    def __init__(
        self, engine: Engine, fields: Fields, together: int, *, title_from_first_line: bool
    ) -> None:
        self._engine = engine
        self._fields = fields
        self._together = together
        self._title_from_first_line = title_from_first_line
        self._core = compiled(engine.settings.recipe)

    def steps(self, source: Source) -> Iterator[Step]:
        """Give what is to be added, in order."""
        for batch in source.batches(titles=True):
            coming, problems = self._incoming(batch)
            for begin in range(0, max(len(batch.ids), 1), self._together):
                part = coming.part(begin, begin + self._together)
                yield Step(
                    coming=part,
                    ready=prepared(self._engine, part),
                    problems=problems if begin == 0 else [],
                    runs=batch.runs,
                    begin=begin,
                    bytes_read=batch.bytes_read if begin == 0 else 0,
                )

    def _incoming(self, batch: Batch) -> tuple[Incoming, list[Problem]]:
        recipe = self._engine.settings.recipe
        texts, units, problems = readable(batch, recipe, self._core)
        titles = batch.titles
        if self._title_from_first_line:
            titles = with_first_lines(titles, texts)
        if titles is not None:
            titles = pc.replace_substring(titles, pattern=NUL, replacement=plain_text(NUL))
        checking = _Checking(batch)
        self._check_ids(checking)
        zone = self._fields.zone
        moments = checking.column(
            self._fields.at,
            lambda at: time_fault(at, zone),
            lambda at: check_time(at, "at", zone),
        )
        sources = checking.column(self._fields.source, _text_fault, plain_text)
        extras = checking.extras(self._fields.more)
        now = datetime.now(UTC)
        coming = Incoming(
            ids=checking.ids,
            # All other columns have been looked at by now.
            texts=checking.without_faulty(texts),
            units=units,
            titles=titles,
            at=[now if moment is None else moment for moment in moments],
            sources=sources,
            extras=extras,
        )
        return coming, problems + checking.problems()

    def _check_ids(self, checking: _Checking) -> None:
        given = None
        if self._fields.needs_ids:
            given = checking.batch.extra.get(self._fields.id_name)
            if given is None:
                raise InputError(Message("index.texts_without_ids", field=self._fields.id_name))
        for row, id in enumerate(checking.ids):
            if given is not None and as_id(given[row]) != id:
                # The reader found none that it could take, and gave the position.
                reason = Message("index.must_be_id")
                checking.refuse(row, self._fields.id_name, reason, given[row])
                continue
            fault = id_fault(id)
            if fault is not None:
                checking.refuse(row, self._fields.id_name, fault, id)


class _Checking:
    """A batch whose rows are looked at; what cannot be stored is refused."""

    def __init__(self, batch: Batch) -> None:
        self.batch = batch
        self.ids = list(batch.ids)
        self._faults: dict[int, tuple[str, Message, Any]] = {}

    def refuse(self, row: int, field: str, reason: Message, found: Any) -> None:
        """Say why a row cannot be stored; the first reason counts."""
        self._faults.setdefault(row, (field, reason, found))

    def column(
        self,
        field: str | None,
        fault_of: Callable[[Any], Message | None],
        made: Callable[[Any], Any],
    ) -> list[Any]:
        """Return what is made of a field's values; None for no value or a faulty one."""
        values: list[Any] = [None] * len(self.ids)
        if field is None:
            return values
        for row, value in enumerate(self.batch.extra[field]):
            if value is None:
                continue
            fault = fault_of(value)
            if fault is None:
                values[row] = made(value)
            else:
                self.refuse(row, field, fault, value)
        return values

    def extras(self, fields: Sequence[str]) -> list[str | None]:
        """Return further fields as JSON."""
        found: list[str | None] = [None] * len(self.ids)
        for row in range(len(found) if fields else 0):
            values = ((name, self.batch.extra[name][row]) for name in fields)
            present = {name: value for name, value in values if value is not None}
            try:
                found[row] = json_of(present)
            except (TypeError, RecursionError) as error:
                reason = Message("index.must_be_json", reason=str(error))
                self.refuse(row, fields[0], reason, None)
        return found

    def without_faulty(self, texts: pa.LargeStringArray) -> pa.LargeStringArray:
        """Return texts with null for the refused rows, whose ids are emptied."""
        if not self._faults:
            return texts
        for row in self._faults:
            self.ids[row] = ""
        mask = pa.array([row in self._faults for row in range(len(self.ids))])
        found: Any = pc.if_else(mask, pa.scalar(None, pa.large_string()), texts)
        return found  # type: ignore[no-any-return]

    def problems(self) -> list[Problem]:
        """Return the reasons, in the order of the rows."""
        return [
            Problem(
                *place_of(self.batch.runs, row),
                field,
                reason,
                None if found is None else show(found),
            )
            for row, (field, reason, found) in sorted(self._faults.items())
        ]


def _text_fault(value: Any) -> Message | None:
    try:
        plain_text(value)
    except UnicodeEncodeError:
        return Message("index.must_be_unicode_text")
    return None
