"""Segmenters of the user's own: any ``text -> [(word, tag), ...]``.

Their units reach the core encoded in one string a text: units separated by
U+001E, word and tag by U+001F. Characters of a word that are one of the two
could not be told apart and are refused.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any

from neardup.exceptions import InputError, ParameterError

UNIT = "\x1e"
TAG = "\x1f"

Segmenter = Callable[[str], Iterable[tuple[str, str]]]


@lru_cache(maxsize=8)
def load_segmenter(name: str) -> Segmenter:
    """Return the callable named as ``module:function``.

    Raises
    ------
    ParameterError
        If there is no such module or no such callable in it.
    """
    module_name, _, function_name = name.partition(":")
    try:
        module = importlib.import_module(module_name)
    except Exception as error:  # the user's module may fail in any way of its own
        remedy = ""
        if isinstance(error, ModuleNotFoundError) and _is_of(error.name, module_name):
            file = module_name.replace(".", "/") + ".py"
            remedy = (
                f". Python looks for it in installed packages and in PYTHONPATH: if {file} is in"
                " this folder, run with PYTHONPATH=. (PYTHONPATH=. neardup ...)."
            )
        raise ParameterError(
            f"The 'segment.units' parameter must name a callable as module:function. "
            f"Importing '{module_name}' failed: {type(error).__name__}: {error}{remedy}"
        ) from error
    function: Any = module
    for part in function_name.split("."):
        function = getattr(function, part, None)
    if not callable(function):
        raise ParameterError(
            f"The 'segment.units' parameter must name a callable as module:function. "
            f"'{module_name}' has no callable '{function_name}'."
        )
    segmenter: Segmenter = function
    return segmenter


def _is_of(missing: str | None, name: str) -> bool:
    """Say whether the module that is missing is the named one, or a package it is in."""
    return missing is not None and f"{name}.".startswith(f"{missing}.")


def encoded_units(segmenter: Segmenter, text: str) -> str:
    """Return the units of `text` in the core's encoding.

    Raises
    ------
    InputError
        If the segmenter fails, or yields anything but pairs of str.
    """
    encoded = []
    try:
        for unit in segmenter(text):
            if isinstance(unit, str):
                # A str of two characters would pass for a pair.
                raise TypeError(f"expected pairs of (word, tag), found the text {unit[:20]!r}")
            word, tag = unit
            encoded.append(f"{_clean(word)}{TAG}{_clean(tag)}")
    except Exception as error:  # the user's function may fail in any way of its own
        said = " ".join(f"{type(error).__name__}: {error}".split())
        raise InputError(f"The segmenter failed on the text {text[:40]!r}: {said}") from error
    return UNIT.join(encoded)


def _clean(part: str) -> str:
    if not isinstance(part, str):
        raise TypeError(f"expected pairs of (word, tag) as str, found {part!r}")
    if UNIT in part or TAG in part:
        raise ValueError("a word or tag contains U+001E or U+001F")
    part.encode()  # a lone surrogate has no place in a unit
    return part
