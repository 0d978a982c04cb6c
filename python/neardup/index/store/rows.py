"""Checks of rows: a disk failure, or in SQLite another program, may leave any value in any row."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import RowMapping

from neardup.base.messages import N_, Message
from neardup.exceptions import IndexFormatError, InputError
from neardup.index.values import DROPPED, STATES, stamp
from neardup.readers.batch import show

#: Counters that every index has. `similar` and `bursts` are no longer read, but earlier
#: versions of neardup refuse an index without them.
COUNTERS = (
    "next",
    "kept",
    "dropped",
    "freed",
    "arrived",
    "counted_at",
    "background",
    "similar",
    "bursts",
)

#: Number of documents that at least one full posting list left out when they were added. Indexes
#: created before this counter existed do not have it.
UNLISTED = "unlisted"

_FIRST, _LAST = stamp(datetime.min.replace(tzinfo=UTC)), stamp(datetime.max.replace(tzinfo=UTC))
_LARGEST = 1 << 62


def _whole(least: int, most: int) -> Callable[[Any], bool]:
    return lambda value: value.__class__ is int and least <= value <= most


def _optional(check: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: value is None or check(value)


def _is_text(value: Any) -> bool:
    return value.__class__ is str


is_stamp = _whole(_FIRST, _LAST)

#: For each column, the code of the condition on its values, and the check of it.
_COLUMNS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "number": (N_("a whole number of at least 1"), _whole(1, _LARGEST)),
    "id": (N_("text"), lambda value: value.__class__ is str and value != ""),
    "state": (N_("0, 1 or 2"), _whole(0, len(STATES) - 1)),
    "at": (N_("a time in microseconds since 1970"), is_stamp),
    "source": (N_("text or nothing"), _optional(_is_text)),
    "title": (N_("text or nothing"), _optional(_is_text)),
    "extra": (N_("text or nothing"), _optional(_is_text)),
    "identity": (N_("16 bytes"), lambda value: value.__class__ is bytes and len(value) == 16),
    "features": (N_("a whole number from 0 to 2^32 - 1"), _whole(0, (1 << 32) - 1)),
    "sketch": (N_("bytes"), lambda value: value.__class__ is bytes),
    "kept_number": (N_("a whole number or nothing"), _optional(_whole(0, _LARGEST))),
    "similarity": (
        N_("from 0 to 1, or nothing"),
        _optional(lambda value: value.__class__ in (float, int) and 0 <= value <= 1),
    ),
    "distance": (N_("a whole number or nothing"), _optional(_whole(0, 1 << 31))),
    "reason": (N_("0, 1 or nothing"), _optional(_whole(0, 1))),
}
#: The same for events.
_EVENT: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "at": (N_("a time in microseconds since 1970"), is_stamp),
    "action": (N_("text"), _is_text),
    "id": (N_("text or nothing"), _optional(_is_text)),
    "document": (N_("a number or nothing"), _optional(_whole(-_LARGEST, _LARGEST))),
}
_DECISION = ("kept_number", "similarity", "reason")


def document_fault(row: Mapping[str, Any] | RowMapping) -> tuple[str, Message] | None:
    """Return the invalid column of a document and the condition it violates; None if valid."""
    for name, value in row.items():
        known = _COLUMNS.get(name)
        if known is not None and not known[1](value):
            return name, Message(known[0])
    if row.get("state") == DROPPED:
        for name in _DECISION:
            if name in row and row[name] is None:
                return name, Message("set for a dropped document")
    return None


def remedy(location: str) -> Message:
    """Return a message that says how to deal with damage."""
    return Message(
        "See what else is damaged with: neardup index check {location} --full. Restore a backup, "
        "or copy what can be read into a new index with: neardup index rebuild {location} NEW",
        location=location,
    )


def damage(template: str, location: str, **values: Any) -> IndexFormatError:
    """Return the error that a part of an index is damaged, with the remedy."""
    return IndexFormatError(
        Message(
            template, code="index_damaged", location=location, remedy=remedy(location), **values
        )
    )


def unknown_document(location: str, id: str) -> InputError:
    """Return the error that an index has no document with this id."""
    return InputError(
        Message(
            "{location}: there is no document '{id}'.",
            code="no_such_document",
            location=location,
            id=show(id),
        )
    )


def damaged(
    location: str, row: Message, column: str, must: Message, value: Any
) -> IndexFormatError:
    """Return the error that a row is damaged, such as ``document 12``."""
    shown = f"{value!r:.40}"
    if isinstance(value, bytes):
        shown = Message.counted("{count:,} other byte", "{count:,} other bytes", count=len(value))
    values = {"row": row, "field": column, "expected": must, "value": shown}
    return damage(
        N_(
            "{location}: {row} is damaged: its '{field}' must be {expected}. Got "
            "{value} instead. {remedy}"
        ),
        location,
        **values,
    )


def sound(rows: Iterable[RowMapping], location: str) -> list[RowMapping]:
    """Return rows with columns of documents, or raise if one is invalid."""
    checked = []
    for row in rows:
        fault = document_fault(row)
        if fault is not None:
            name, must = fault
            number = row.get("number", row.get("id"))
            document = Message("document {number}", number=f"{number!r:.40}")
            raise damaged(location, document, name, must, row[name])
        checked.append(row)
    return checked


def fields_of(stored: Any, location: str, row: str, number: Any, column: str) -> dict[str, Any]:
    """Return fields stored as JSON; `row` is the message code for the row with this number."""
    if stored is None:
        return {}
    try:
        fields = json.loads(stored)
    except (ValueError, TypeError, RecursionError):
        fields = None
    if not isinstance(fields, dict):
        must = Message("a JSON object")
        raise damaged(location, Message(row, number=number), column, must, stored)
    return fields


def extra_of(row: Mapping[str, Any] | RowMapping, location: str) -> dict[str, Any]:
    """Return the further fields of a document."""
    return fields_of(row["extra"], location, N_("document {number}"), row["number"], "extra")


def sound_event(row: RowMapping, location: str) -> tuple[RowMapping, dict[str, Any]]:
    """Return an event and its details, or raise if it is invalid."""
    for name, (must, is_sound) in _EVENT.items():
        if not is_sound(row[name]):
            event = Message("event {number}", number=row["event"])
            raise damaged(location, event, name, Message(must), row[name])
    return row, fields_of(row["details"], location, N_("event {number}"), row["event"], "details")


def counter_fault(name: str, value: Any) -> Message | None:
    """Return the condition that a counter violates; None if it is valid."""
    least = 1 if name == "next" else 0
    return (
        None
        if _whole(least, _LARGEST)(value)
        else Message("a whole number of at least {least}", least=least)
    )
