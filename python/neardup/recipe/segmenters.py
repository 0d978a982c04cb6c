"""User-defined segmenters: any ``text -> [(word, tag), ...]``.

The units of a text reach the core encoded as one string: units are separated by
U+001E, word and tag by U+001F. Words or tags that contain one of these are refused.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any

from neardup.base.messages import Message
from neardup.exceptions import InputError, ParameterError

UNIT = "\x1e"
TAG = "\x1f"

Segmenter = Callable[[str], Iterable[tuple[str, str]]]


@lru_cache(maxsize=8)
def load_segmenter(name: str) -> Segmenter:
    """Return the callable with the name ``module:function``."""
    module_name, _, function_name = name.partition(":")
    try:
        module = importlib.import_module(module_name)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # the user's module may raise anything, and call sys.exit
        failed = {
            "parameter": "segment.units",
            "module": module_name,
            "kind": type(error).__name__,
            "reason": str(error),
        }
        message = Message(
            "{parameter:named} must name a callable as module:function. Importing "
            "'{module}' failed: {kind}: {reason}",
            **failed,
        )
        if isinstance(error, ModuleNotFoundError) and _is_part_of(error.name, module_name):
            file = module_name.replace(".", "/") + ".py"
            message = Message(
                "{parameter:named} must name a callable as module:function, but importing "
                "'{module}' failed: {kind}: {reason}. If {file} is in this folder, run with "
                "PYTHONPATH=. (PYTHONPATH=. neardup ...).",
                **failed,
                file=file,
            )
        raise ParameterError(message) from error
    function: Any = module
    for part in function_name.split("."):
        function = getattr(function, part, None)
    if not callable(function):
        raise ParameterError(
            Message(
                "{parameter:named} must name a callable as module:function. "
                "'{module}' has no callable '{function}'.",
                parameter="segment.units",
                module=module_name,
                function=function_name,
            )
        )
    segmenter: Segmenter = function
    return segmenter


def _is_part_of(missing: str | None, name: str) -> bool:
    """Return whether the missing module is the named one, or one of its packages."""
    return missing is not None and f"{name}.".startswith(f"{missing}.")


def encoded_units(segmenter: Segmenter, text: str) -> str:
    """Return the units of `text` in the core's encoding."""
    encoded = []
    try:
        for unit in segmenter(text):
            if isinstance(unit, str):
                # A str of two characters would unpack like a pair.
                raise TypeError(
                    Message(
                        "expected pairs of (word, tag), found the text {found}",
                        found=_line(repr(unit[:20])),
                    )
                )
            word, tag = unit
            encoded.append(f"{_clean(word)}{TAG}{_clean(tag)}")
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # the user's function may raise anything, and call sys.exit
        raise InputError(
            Message(
                "The segmenter failed on the text {text}: {reason}.",
                code="segmenter_failed",
                text=repr(text[:40]),
                reason=_describe_error(error),
            )
        ) from error
    return UNIT.join(encoded)


def _describe_error(error: BaseException) -> str:
    """Return the kind and the message of an error, on one line."""
    kind = type(error).__name__
    if error.args and isinstance(error.args[0], Message):
        return Message("{kind}: {reason}", code="segmenter_failed", kind=kind, reason=error.args[0])
    return _line(f"{kind}: {error}")


def _line(text: str) -> str:
    """Return the beginning of a text that may be of any length, on one line."""
    return " ".join(text[:300].split())


def _clean(part: str) -> str:
    if not isinstance(part, str):
        raise TypeError(
            Message(
                "expected pairs of (word, tag) as str, found {found}", found=_line(repr(part)[:40])
            )
        )
    if UNIT in part or TAG in part:
        raise ValueError(Message("a word or tag contains U+001E or U+001F"))
    part.encode()  # raises an error for a lone surrogate
    return part
