"""Values that both databases can hold: ids, titles, further fields, times."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from typing import Any

from neardup.exceptions import ParameterError
from neardup.parameters import bad, check_string

__all__ = [
    "MAX_ID_BYTES",
    "NUL",
    "check_id",
    "check_span",
    "check_time",
    "earlier",
    "id_fault",
    "json_of",
    "plain_text",
]

#: The longest id, in UTF-8: what an index of PostgreSQL can hold, with some room.
MAX_ID_BYTES = 2000

#: What text of PostgreSQL cannot hold, and what stands for it.
NUL, _FOR_NUL = "\0", "\N{REPLACEMENT CHARACTER}"

_SPAN = re.compile(r"(\d{1,9})\s*([smhdw])")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_MICROSECOND = timedelta(microseconds=1)

#: No document arrived before: the year 1 is later.
_EARLIEST = -(2**62)


def id_fault(id: str) -> str | None:
    """Return why an id cannot be stored, as a sentence with "must"; None if it can."""
    if not id or NUL in id:
        return "must be text of at least one character, none of them NUL"
    try:
        size = len(id.encode())
    except UnicodeEncodeError:
        return "must be Unicode text, without lone surrogates"
    if size > MAX_ID_BYTES:
        return f"must have at most {MAX_ID_BYTES:,} bytes in UTF-8"
    return None


def check_id(id: Any) -> str:
    """An id that can be stored."""
    fault = id_fault(check_string(id, "id"))
    if fault is not None:
        raise bad("id", fault.removeprefix("must be ").replace("must have", "text of"), id)
    return str(id)


def plain_text(value: Any) -> str:
    """Return a title or source as both databases can hold it.

    Raises
    ------
    UnicodeEncodeError
        If it has lone surrogates.
    """
    text = value if isinstance(value, str) else str(value)
    text.encode()
    return text.replace(NUL, _FOR_NUL)


def json_of(extra: dict[str, Any] | None) -> str | None:
    """Return further fields as JSON, what it has no form for as text; None for none.

    Raises
    ------
    TypeError
        If they cannot be written so.
    """
    import orjson  # `import neardup` is not to wait for it

    return orjson.dumps(extra, default=str).decode() if extra else None


def check_time(value: Any, name: str) -> datetime:
    """A moment: a datetime, a date or ISO 8601 text; in UTC if no zone is named.

    Examples
    --------
    >>> check_time("2024-03-09T08:00:00+08:00", "at").isoformat()
    '2024-03-09T00:00:00+00:00'
    """
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value.strip())
        except ValueError:
            raise bad(name, "a time such as 2024-03-09T08:00:00+08:00", value) from None
    if isinstance(value, date) and not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day)
    if not isinstance(value, datetime):
        raise bad(name, "a datetime or a time as ISO 8601 text", value)
    moment = value.replace(tzinfo=UTC) if value.tzinfo is None else value
    try:
        return moment.astimezone(UTC)
    except (OverflowError, ValueError):
        # Also for what is called a time and is none, as pandas has it.
        raise bad(name, "a time between the years 1 and 9999 in UTC", value) from None


def check_span(value: Any, name: str) -> timedelta:
    """A span: a timedelta, or a number with s, m, h, d or w.

    Examples
    --------
    >>> check_span("14d", "within").days
    14
    """
    expected = "a timedelta or a span such as 90m, 36h, 14d or 2w"
    if isinstance(value, str):
        found = _SPAN.fullmatch(value.strip())
        if found is None:
            raise bad(name, expected, value)
        try:
            value = timedelta(**{_UNITS[found[2]]: int(found[1])})
        except OverflowError:
            raise bad(name, "a span of at most 999999999 days", value) from None
    if not isinstance(value, timedelta):
        raise bad(name, expected, value)
    if value <= timedelta(0):
        raise bad(name, "a span longer than nothing", value)
    return value


def earlier(stamp: int, span: timedelta) -> int:
    """Return the stamp that is so much earlier; bounded, as the database's numbers are."""
    return max(stamp - span // _MICROSECOND, _EARLIEST)


def time_fault(value: Any) -> str | None:
    """Return why a value of a record is no time, as a sentence with "must"."""
    try:
        check_time(value, "at")
    except ParameterError:
        return "must be a time such as 2024-03-09T08:00:00+08:00"
    return None
