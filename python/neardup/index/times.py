"""Times and spans as callers write them."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

from neardup.parameters import bad

__all__ = ["check_span", "check_time"]

_SPAN = re.compile(r"(\d{1,9})\s*([smhdw])")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def check_time(value: Any, name: str) -> datetime:
    """A moment: a datetime or ISO 8601 text; in UTC if no zone is named.

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
    if not isinstance(value, datetime):
        raise bad(name, "a datetime or a time as ISO 8601 text", value)
    moment = value.replace(tzinfo=UTC) if value.tzinfo is None else value
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        raise bad(name, "a time between the years 1 and 9999 in UTC", value) from None


def check_span(value: Any, name: str) -> timedelta:
    """A span: a timedelta, or a number with s, m, h, d or w.

    Examples
    --------
    >>> check_span("14d", "within").days
    14
    """
    if isinstance(value, str):
        found = _SPAN.fullmatch(value.strip())
        if found is None:
            raise bad(name, "a span such as 90m, 36h, 14d or 2w", value)
        value = timedelta(**{_UNITS[found[2]]: int(found[1])})
    if not isinstance(value, timedelta):
        raise bad(name, "a timedelta or a span such as 14d", value)
    if value <= timedelta(0):
        raise bad(name, "a span longer than nothing", value)
    return value
