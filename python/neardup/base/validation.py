"""Checks of parameters, with one form of error message.

*The 'name' parameter must be … Got … instead.* Each check returns the value.
"""

from __future__ import annotations

import contextlib
import numbers
import operator
import os
import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from datetime import UTC, timedelta, tzinfo
from typing import Any, TypeGuard

from neardup.base.lazy import _core
from neardup.base.messages import N_, Message
from neardup.exceptions import ParameterError

_SHOWN = 60
_SPAN = re.compile(r"(\d{1,9})\s*([smhdw])")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def bad(name: str, expected: str, value: Any, **bounds: Any) -> ParameterError:
    """Return the error for a value that is out of bounds.

    `expected` is the English sentence of the expected value, with `bounds` in it.
    """
    must = Message(expected, **bounds)
    return ParameterError(
        Message(
            "{parameter:named} must be {expected}. Got {value} instead.",
            parameter=name,
            expected=must,
            value=show_value(value),
        )
    )


def show_value(value: Any) -> str:
    """Return a value as errors show it: a tuple as the list that it is in a recipe's file."""
    try:
        words = repr(list(value) if type(value) is tuple else value)
    except Exception:  # a class of the caller, or an integer with too many digits for repr
        words = f"a value of the type {type(value).__name__}"
    return words if len(words) <= _SHOWN else words[:_SHOWN] + "..."


def list_differences(stored: Mapping[str, Any], wanted: Mapping[str, Any]) -> Message | None:
    """Return the wanted settings that are not as stored, each with both values; None without any.

    A setting that is a list or a table is named without its values.
    """
    listed: Message | None = None
    for name, value in wanted.items():
        held = stored.get(name)
        if value == held:
            continue
        if isinstance(value, (dict, list)) or isinstance(held, (dict, list)):
            one = Message("{name}", name=name)
        else:
            one = Message(
                "{setting} {stored} ({value} requested)",
                setting=name,
                stored=show_value(held),
                value=show_value(value),
            )
        listed = one if listed is None else Message("{first}, {next}", first=listed, next=one)
    return listed


def check_threshold(value: Any, name: str = "threshold") -> float:
    """Return a similarity, above 0 and at most 1."""
    number = None
    if isinstance(value, numbers.Real) and not isinstance(value, bool):
        # Large numbers overflow a float.
        with contextlib.suppress(OverflowError):
            number = float(value)
    if number is not None and 1 < number <= 100:
        raise bad(
            name,
            "a number above 0 and at most 1 (did you mean {meant}?)",
            value,
            meant=f"{number / 100:g}",
        )
    if number is None or not 0 < number <= 1:
        raise bad(name, "a number above 0 and at most 1", value)
    return number


def check_whole(
    value: Any,
    name: str,
    least: int,
    most: int | None = None,
    what: str = N_("a whole number from {least} to {most}"),
) -> int:
    """Return a whole number, also of NumPy, within inclusive bounds."""
    try:
        whole = None if isinstance(value, bool) else operator.index(value)
    except TypeError:
        whole = None
    if whole is None or whole < least or (most is not None and whole > most):
        if most is None:
            raise bad(name, "a whole number of at least {least}", value, least=least)
        raise bad(name, what, value, least=least, most=most)
    return whole


def check_max_distance(value: Any, bits: int, name: str = "max_distance") -> int:
    """Return a distance in bits, 0 to `bits` inclusive."""
    return check_whole(
        value,
        name,
        0,
        bits,
        N_("a whole number from {least} to {most}, the width of a fingerprint"),
    )


def check_workers(value: Any, name: str = "workers") -> int:
    """A number of threads; 0 means one for each processor."""
    return check_whole(value, name, 0, _core.MAX_WORKERS)


def check_flag(value: Any, name: str) -> bool:
    """Return True or False; other values are refused."""
    if not isinstance(value, bool):
        raise bad(name, "True or False", value)
    return value


def check_choice(value: Any, name: str, choices: Sequence[Any]) -> Any:
    """Return one of a few values."""
    if isinstance(value, bool) or not isinstance(value, Hashable) or value not in choices:
        raise bad(name, "one of {choices}", value, choices=", ".join(map(str, choices)))
    return value


def check_field(value: Any, name: str) -> str | None:
    """Return the name of a field, or None for the default."""
    if value is None or is_text(value):
        return value
    raise bad(name, "the name of a field or None", value)


def check_fields(value: Any, name: str) -> tuple[str, ...]:
    """Return the names of several fields."""
    listed = isinstance(value, Sequence) and not isinstance(value, str)
    if not listed or not all(map(is_text, value)):
        raise bad(name, "a list of names of fields", value)
    return tuple(value)


def is_text(value: Any) -> TypeGuard[str]:
    """Return whether a value is text that can be written: without lone surrogates."""
    try:
        return isinstance(value, str) and value.encode() is not None
    except UnicodeEncodeError:
        return False


def check_kind(value: Any, name: str, kind: type | tuple[type, ...], expected: str) -> Any:
    """Return a value of a type."""
    if not isinstance(value, kind):
        raise bad(name, expected, value)
    return value


def check_string(value: Any, name: str) -> str:
    """Return text."""
    if not isinstance(value, str):
        raise bad(name, "text", value)
    return value


def check_path(value: Any, name: str) -> str:
    """Return a path or address, from text or a Path, which would take a slash from an address."""
    if _is_path(value):
        return os.fspath(value)
    if isinstance(value, str):
        raise bad(name, "a path without NULs and lone surrogates", value)
    raise bad(name, "a path", value)


def _is_path(value: Any) -> TypeGuard[str | os.PathLike[str]]:
    """Return whether a value is text or a Path that the file system can have."""
    try:
        path = os.fspath(value)
        return isinstance(path, str) and b"\0" not in os.fsencode(path)
    except (TypeError, UnicodeEncodeError):
        return False


def paths_of(value: Any, name: str, expected: str = N_("a path or a list of paths")) -> list[str]:
    """Return one or more paths as a list."""
    if isinstance(value, (str, os.PathLike)):
        return [check_path(value, name)]
    if isinstance(value, (bytes, dict)) or not isinstance(value, Iterable):
        raise bad(name, expected, value)
    paths = list(value)
    if not paths or not all(map(_is_path, paths)):
        raise bad(name, "{what}, at least one", paths, what=Message(expected))
    return [os.fspath(path) for path in paths]


def check_span(value: Any, name: str) -> timedelta:
    """A span: a timedelta, or a number with s, m, h, d or w."""
    given = value
    if isinstance(value, str):
        match = _SPAN.fullmatch(value.strip())
        if match is None:
            raise bad(name, "a timedelta or a span such as 90m, 36h, 14d or 2w", value)
        try:
            value = timedelta(**{_UNITS[match[2]]: int(match[1])})
        except OverflowError:
            raise bad(name, "a span of at most 999999999 days", value) from None
    if not isinstance(value, timedelta):
        raise bad(name, "a timedelta or a span such as 90m, 36h, 14d or 2w", value)
    if value <= timedelta(0):
        raise bad(name, "a span longer than zero", given)
    return value


def check_zone(value: Any, name: str) -> tzinfo:
    """The time zone of times that name none: a name such as ``Asia/Shanghai``, or a tzinfo."""
    from zoneinfo import ZoneInfo  # slow to import

    if value is None:
        return UTC
    if isinstance(value, tzinfo):
        return value
    try:
        return ZoneInfo(check_string(value, name))
    except (LookupError, ValueError, OSError):
        # A folder of the zones' files is no zone either.
        raise bad(name, "the name of a time zone, such as Asia/Shanghai or UTC", value) from None
