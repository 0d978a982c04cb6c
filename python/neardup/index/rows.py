"""Rows as they must be: what every statement returns goes through here.

A disk, another program or a hand can leave any value in a row; SQLite even of any type. What
is wrong is an `IndexFormatError` with the number of the row, at the place where it is read.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from neardup.exceptions import IndexFormatError
from neardup.index.schema import DROPPED, STATES

if TYPE_CHECKING:
    from sqlalchemy import RowMapping

__all__ = [
    "COUNTERS",
    "counter_fault",
    "damaged",
    "document_fault",
    "extra_of",
    "fields_of",
    "is_stamp",
    "moment",
    "remedy",
    "sound",
    "sound_event",
    "stamp",
]

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

_START = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def stamp(at: datetime) -> int:
    """Return microseconds since 1970."""
    return (at - _START) // _MICROSECOND


def moment(at: int) -> datetime:
    """Return the time of a stamp, in UTC."""
    return _START + timedelta(microseconds=at)


_FIRST, _LAST = stamp(datetime.min.replace(tzinfo=UTC)), stamp(datetime.max.replace(tzinfo=UTC))
_LARGEST = 1 << 62
#: A burst doubles what the next one needs.
_BURSTS = 64


def _whole(least: int, most: int) -> Callable[[Any], bool]:
    return lambda value: value.__class__ is int and least <= value <= most


def _optional(check: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: value is None or check(value)


def _is_text(value: Any) -> bool:
    return value.__class__ is str


is_stamp = _whole(_FIRST, _LAST)

#: For each column what it must be, and what tells.
_COLUMNS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "number": ("a whole number of at least 1", _whole(1, _LARGEST)),
    "id": ("text", lambda value: value.__class__ is str and value != ""),
    "state": ("0, 1 or 2", _whole(0, len(STATES) - 1)),
    "at": ("a time in microseconds since 1970", is_stamp),
    "source": ("text or nothing", _optional(_is_text)),
    "title": ("text or nothing", _optional(_is_text)),
    "extra": ("text or nothing", _optional(_is_text)),
    "identity": ("16 bytes", lambda value: value.__class__ is bytes and len(value) == 16),
    "features": ("a whole number from 0 to 2^32 - 1", _whole(0, (1 << 32) - 1)),
    "sketch": ("bytes", lambda value: value.__class__ is bytes),
    "kept_number": ("a whole number or nothing", _optional(_whole(0, _LARGEST))),
    "similarity": (
        "from 0 to 1, or nothing",
        _optional(lambda value: value.__class__ in (float, int) and 0 <= value <= 1),
    ),
    "distance": ("a whole number or nothing", _optional(_whole(0, 1 << 31))),
    "reason": ("0, 1 or nothing", _optional(_whole(0, 1))),
}
_DECISION = ("kept_number", "similarity", "reason")


def document_fault(row: Mapping[str, Any] | RowMapping) -> tuple[str, str] | None:
    """Return which column of a document is wrong and what it must be; None for none."""
    for name, value in row.items():
        known = _COLUMNS.get(name)
        if known is not None and not known[1](value):
            return name, known[0]
    if row.get("state") == DROPPED:
        for name in _DECISION:
            if name in row and row[name] is None:
                return name, "there for a dropped document"
    return None


def remedy(location: str) -> str:
    """Return what to do about damage."""
    return (
        f"See what else is damaged with: neardup index check {location} --full. Restore a"
        " backup, or repair what can be repaired with --repair."
    )


def damaged(location: str, row: str, column: str, must: str, value: Any) -> IndexFormatError:
    """Return the error that a row is damaged, such as ``document 12``."""
    found = f"{value!r:.40}" if not isinstance(value, bytes) else f"{len(value):,} other bytes"
    return IndexFormatError(
        f"{location}: {row} is damaged: its '{column}' must be {must}. Got {found} instead."
        f" {remedy(location)}"
    )


def sound(rows: Iterable[RowMapping], location: str) -> list[RowMapping]:
    """Return rows with columns of documents, if nothing is wrong with them."""
    found = []
    for row in rows:
        fault = document_fault(row)
        if fault is not None:
            name, must = fault
            number = row.get("number", row.get("id"))
            raise damaged(location, f"document {number!r:.40}", name, must, row[name])
        found.append(row)
    return found


def fields_of(stored: Any, location: str, row: str, column: str) -> dict[str, Any]:
    """Return fields that are stored as JSON."""
    if stored is None:
        return {}
    try:
        found = json.loads(stored)
    except (ValueError, TypeError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise damaged(location, row, column, "a JSON object", stored)
    return found


def extra_of(row: Mapping[str, Any] | RowMapping, location: str) -> dict[str, Any]:
    """Return the further fields of a document."""
    return fields_of(row["extra"], location, f"document {row['number']}", "extra")


def sound_event(row: RowMapping, location: str) -> tuple[RowMapping, dict[str, Any]]:
    """Return an event and its details, if nothing is wrong with it."""
    name = f"event {row['event']}"
    if not is_stamp(row["at"]):
        raise damaged(location, name, "at", _COLUMNS["at"][0], row["at"])
    if not _is_text(row["action"]):
        raise damaged(location, name, "action", "text", row["action"])
    if not _optional(_is_text)(row["id"]):
        raise damaged(location, name, "id", "text or nothing", row["id"])
    if not _optional(_whole(-_LARGEST, _LARGEST))(row["document"]):
        raise damaged(location, name, "document", "a number or nothing", row["document"])
    return row, fields_of(row["details"], location, name, "details")


def counter_fault(name: str, value: Any) -> str | None:
    """Return what a counter must be that it is not."""
    least, most = (1 if name == "next" else 0), (_BURSTS if name == "bursts" else _LARGEST)
    if _whole(least, most)(value):
        return None
    return f"a whole number of at least {least}" + (f" and at most {most}" * (name == "bursts"))
