"""Checks of parameters: one sentence form for all that is out of bounds.

*The 'name' parameter must be … Got … instead.* Each check returns the value.
"""

from __future__ import annotations

import numbers
import operator
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from neardup.exceptions import ParameterError

_SHOWN = 60

#: More threads than this are a mistake, and could exhaust the system's.
MAX_WORKERS = 1024


def bad(name: str, expected: str, value: Any) -> ParameterError:
    """Return the error that a value is out of bounds."""
    got = repr(value)
    got = got if len(got) <= _SHOWN else got[:_SHOWN] + "..."
    return ParameterError(f"The '{name}' parameter must be {expected}. Got {got} instead.")


def check_threshold(value: Any, name: str = "threshold") -> float:
    """A similarity, above 0 and at most 1."""
    number = None
    if isinstance(value, numbers.Real) and not isinstance(value, bool):
        number = float(value)
    if number is None or not 0 < number <= 1:
        raise bad(name, "a number above 0 and at most 1", value)
    return number


def check_whole(value: Any, name: str, least: int, most: int | None = None, what: str = "") -> int:
    """A whole number, bounds inclusive; NumPy's integers are numbers too."""
    try:
        whole = None if isinstance(value, bool) else operator.index(value)
    except TypeError:
        whole = None
    if whole is None or whole < least or (most is not None and whole > most):
        bounds = f"of at least {least}" if most is None else f"from {least} to {most}{what}"
        raise bad(name, f"a whole number {bounds}", value)
    return whole


def check_max_distance(value: Any, bits: int, name: str = "max_distance") -> int:
    """A distance in bits, 0 to `bits` inclusive."""
    return check_whole(value, name, 0, bits, ", the width of a fingerprint")


def check_workers(value: Any) -> int:
    """A number of threads; 0 means one for each processor."""
    return check_whole(value, "workers", 0, MAX_WORKERS)


def check_flag(value: Any, name: str) -> bool:
    """True or false, and nothing that merely looks like it."""
    if not isinstance(value, bool):
        raise bad(name, "True or False", value)
    return value


def check_choice(value: Any, name: str, choices: Sequence[Any]) -> Any:
    """One of a few values."""
    if isinstance(value, bool) or value not in choices:
        raise bad(name, f"one of {', '.join(map(str, choices))}", value)
    return value


def check_field(value: Any, name: str) -> str | None:
    """The name of a field, or None for the default."""
    if value is not None and not isinstance(value, str):
        raise bad(name, "the name of a field or None", value)
    return value


def check_string(value: Any, name: str) -> str:
    """Text."""
    if not isinstance(value, str):
        raise bad(name, "text", value)
    return value


def check_path(value: Any, name: str) -> Path:
    """A path, as text or as a Path."""
    if not isinstance(value, (str, os.PathLike)):
        raise bad(name, "a path", value)
    return Path(value)


def paths_of(value: Any, name: str, expected: str = "a path or a list of paths") -> list[str]:
    """One or more paths, as a list."""
    if isinstance(value, (str, os.PathLike)):
        return [os.fspath(value)]
    if isinstance(value, (bytes, dict)) or not isinstance(value, Iterable):
        raise bad(name, expected, value)
    paths = list(value)
    if not paths or not all(isinstance(path, (str, os.PathLike)) for path in paths):
        raise bad(name, f"{expected}, at least one", paths)
    return [os.fspath(path) for path in paths]
