"""Values that both databases can hold: states, ids, titles, further fields, times."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import Any

from neardup.base.lazy import orjson
from neardup.base.messages import N_, Message
from neardup.base.validation import bad, check_string
from neardup.exceptions import ParameterError

#: States: kept, or dropped for a kept document.
STATES = ("kept", "dropped")
KEPT, DROPPED = range(2)

#: The largest number of a row.
MAX_NUMBER = (1 << 63) - 1

#: Why a document was dropped: its normalized text is identical, or similar enough.
IDENTICAL, SIMILAR = range(2)

#: The longest id, in bytes of UTF-8. It leaves some room below the limit of PostgreSQL's indexes.
MAX_ID_BYTES = 2000

#: The character that text in PostgreSQL cannot hold, and its replacement.
NUL, _FOR_NUL = "\0", "\N{REPLACEMENT CHARACTER}"

# Times as people and older programs write them: the year first, one-digit numbers allowed.
# Orders that differ between countries are not guessed.
_LOOSE_TIME = re.compile(
    r"(\d{4})([-/])(\d{1,2})\2(\d{1,2})"
    r"(?:[T ]\s*(\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:\.(\d{1,6})\d*)?)?)?"
    r"(?:\s*(Z|[+-]\d{2}:?\d{2}))?",
    re.ASCII,
)
#: Seconds or milliseconds since 1970, or ambiguous digits.
_ALL_DIGITS = re.compile(r"\d{9,}", re.ASCII)

_START = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)

#: Earlier than every stamp.
EVER = -(2**62)


def _find_id_fault(id: str) -> tuple[str, str] | None:
    """Return what an id must be, and the reason to refuse it; None if it can be stored."""
    if not id or NUL in id:
        return N_("text of at least one character, none of them NUL"), N_(
            "must be text of at least one character, none of them NUL"
        )
    try:
        size = len(id.encode())
    except UnicodeEncodeError:
        return N_("Unicode text, without lone surrogates"), N_(
            "must be Unicode text, without lone surrogates"
        )
    if size <= MAX_ID_BYTES:
        return None
    return N_("text of at most {most:,} bytes in UTF-8"), N_(
        "must have at most {most:,} bytes in UTF-8"
    )


def find_id_fault(id: str) -> Message | None:
    """Return why an id cannot be stored; None if it can."""
    fault = _find_id_fault(id)
    return None if fault is None else Message(fault[1], most=MAX_ID_BYTES)


def check_id(id: Any, name: str = "id") -> str:
    """Return an id that can be stored, or raise."""
    fault = _find_id_fault(check_string(id, name))
    if fault is not None:
        raise bad(name, fault[0], id, most=MAX_ID_BYTES)
    return str(id)


def replace_nul(value: Any) -> str:
    """Return a title or source in a form that both databases can hold."""
    text = value if isinstance(value, str) else str(value)
    text.encode()
    return text.replace(NUL, _FOR_NUL)


def dump_json(extra: dict[str, Any] | None) -> str | None:
    """Return further fields as JSON; values without a JSON form become text. None for none."""
    return orjson.dumps(extra, default=str).decode() if extra else None


def stamp(time: datetime) -> int:
    """Return a time as microseconds since 1970."""
    return (time - _START) // _MICROSECOND


def convert_stamp(time: int) -> datetime:
    """Return the time of a stamp (microseconds since 1970), in UTC."""
    return _START + timedelta(microseconds=time)


def check_time(value: Any, name: str, zone: tzinfo = UTC) -> datetime:
    """Return a datetime, a date or text as a UTC time; without a zone it is in `zone`.

    Text is ISO 8601 or like ``2024-3-9 8:00:00``. A local time that occurs twice is the first.
    """
    original = value
    if isinstance(value, str):
        value = _parse_time(value.strip())
        if value is None:
            raise bad(name, "a time such as 2024-03-09T08:00:00+08:00 or 2024-3-9 8:00", original)
    if isinstance(value, date) and not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day)
    if not isinstance(value, datetime):
        raise bad(
            name,
            "a datetime, or as text a time such as 2024-03-09T08:00:00+08:00 or 2024-3-9 8:00",
            value,
        )
    try:
        moment = value.replace(tzinfo=zone) if value.tzinfo is None else value
        return moment.astimezone(UTC)
    except (OverflowError, ValueError):
        # Also for values that are datetimes only by type, such as NaT of pandas.
        raise bad(name, "a time between the years 1 and 9999 in UTC", value) from None


def lacks_zone(value: Any) -> bool:
    """Return whether a value is a time that names no zone."""
    time = _parse_time(value.strip()) if isinstance(value, str) else value
    return isinstance(time, date) and getattr(time, "tzinfo", None) is None


def _parse_time(text: str) -> datetime | None:
    if _ALL_DIGITS.fullmatch(text):
        return None
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        parts = _LOOSE_TIME.fullmatch(text)
    if parts is None:
        return None
    year, _, month, day, hour, minute, second, fraction, zone = parts.groups()
    day_text = f"{year}-{month:0>2}-{day:0>2}"
    time_text = f"{hour or '':0>2}:{minute or '':0>2}:{second or '':0>2}.{fraction or '':0<6}"
    try:
        # `fromisoformat` checks the bounds.
        return datetime.fromisoformat(f"{day_text}T{time_text}{zone or ''}")
    except ValueError:
        return None


def subtract_span(stamp: int, span: timedelta) -> int:
    """Return the stamp one span earlier, limited to what the database can hold."""
    return max(stamp - span // _MICROSECOND, EVER)


def parse_stamp(value: Any, zone: tzinfo = UTC) -> int | Message:
    """Return the stamp of a time in `zone`, or why the value is not a time."""
    try:
        return stamp(check_time(value, "at", zone))
    except ParameterError:
        if isinstance(value, int | float) and not isinstance(value, bool):
            return Message(
                "must be a time such as 2024-03-09T08:00:00+08:00 or 2024-3-9 8:00; a "
                "plain number does not say its unit"
            )
        return Message("must be a time such as 2024-03-09T08:00:00+08:00 or 2024-3-9 8:00")
