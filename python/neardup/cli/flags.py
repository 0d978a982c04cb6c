"""Arguments and options of a command, declared without Typer, and command lines read without it.

Loading Typer and declaring a command with it takes longer than to import NumPy. It is needed
for help, for completion and for what is wrong; a command line without any of these is read here.
"""

from __future__ import annotations

import inspect
import re
from abc import ABC, abstractmethod
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, get_args, get_origin

__all__ = ["Argument", "Flags", "Option", "plain_values"]

#: Numbers that every reader of numbers understands in the same way.
_NUMBERS = {
    int: re.compile(r"[0-9]{1,18}", re.ASCII),
    float: re.compile(r"[0-9]{1,15}(\.[0-9]{1,15})?|\.[0-9]{1,15}", re.ASCII),
}


class Flags(ABC):
    """The flags of a parameter, and the keywords that ``typer.Option`` takes for it."""

    def __init__(self, *flags: str, **settings: Any) -> None:
        self.flags = flags
        self.settings = settings

    @property
    def rich_help_panel(self) -> str | None:
        """The group in the command's help."""
        panel: str | None = self.settings.get("rich_help_panel")
        return panel

    def annotated(self, kind: Any, command_type: Any = None) -> Any:
        """Return the annotation of a parameter, as commands read it.

        Values of a literal type are read as text, so that a wrong one gets the message of the
        function; shells complete them.
        """
        values = _literals(kind)
        if not values:
            return Annotated[command_type or kind, self]

        def starting(incomplete: str) -> list[str]:
            return [value for value in values if value.startswith(incomplete)]

        text: Any = str if NoneType not in get_args(kind) else str | None
        completed = type(self)(*self.flags, **self.settings, autocompletion=starting)
        return Annotated[command_type or text, completed]

    @abstractmethod
    def for_typer(self) -> Any:
        """Return what Typer takes as an annotation."""


class Option(Flags):
    """An option. Its first flag is its name in messages."""

    def __init__(self, flag: str, *others: str, **settings: Any) -> None:
        super().__init__(flag, *others, **settings)

    def for_typer(self) -> Any:
        """Return what Typer takes as an annotation."""
        import typer

        return typer.Option(*self.flags, **self.settings)


class Argument(Flags):
    """An argument, which has a place instead of a flag."""

    def for_typer(self) -> Any:
        """Return what Typer takes as an annotation."""
        import typer

        return typer.Argument(**self.settings)


def plain_values(signature: inspect.Signature, words: list[str]) -> dict[str, Any] | None:
    """Return the value of each parameter of a command, or None if only Typer can read the words.

    Read are flags in full, each at most once and followed by its value, and arguments, none of
    them missing. Typer would return the same values; help and errors are Typer's.

    Parameters
    ----------
    signature : Signature
        With `Option` and `Argument` annotations.
    words : list of str
        What follows the name of the command.

    Examples
    --------
    >>> from typing import Annotated
    >>> def run(size: Annotated[int, Option("--size", "-s")] = 3) -> None: ...
    >>> signature = inspect.signature(run, eval_str=True)
    >>> plain_values(signature, ["-s", "5"])
    {'size': 5}
    >>> plain_values(signature, ["--size", "five"]) is None
    True
    """
    kinds: dict[str, Any] = {}
    names: dict[str, str] = {}
    places: list[str] = []
    for name, parameter in signature.parameters.items():
        kinds[name], known = get_args(parameter.annotation)
        names.update(dict.fromkeys(known.flags, name))
        if isinstance(known, Argument):
            places.append(name)
    given = _given(words, names, kinds)
    if given is None or not _fill(places, kinds, given):
        return None
    values: dict[str, Any] = {}
    for name, parameter in signature.parameters.items():
        if name not in given:
            # A missing value is an error, and Typer has its own default for a list.
            if parameter.default is parameter.empty:
                return None
            values[name] = parameter.default if _item(kinds[name]) is None else ()
            continue
        try:
            values[name] = _read(given[name], kinds[name])
        except ValueError:
            return None
    return values


def _given(
    words: list[str], names: dict[str, str], kinds: dict[str, Any]
) -> dict[str, list[str]] | None:
    """Return the words of each option by its parameter, and those of all arguments as ''."""
    given: dict[str, list[str]] = {}
    rest = iter(words)
    for word in rest:
        if not word.startswith("-") or word == "-":
            given.setdefault("", []).append(word)
            continue
        flag, equals, value = word.partition("=")
        name = names.get(flag)
        if name is None or (equals and not flag.startswith("--")):
            return None
        if name in given and _item(kinds[name]) is None:
            return None
        if kinds[name] is bool:
            if equals:
                return None
            given[name] = []
            continue
        if not equals:
            value = next(rest, "")
        if not value or (value.startswith("-") and value != "-"):
            return None
        given.setdefault(name, []).append(value)
    return given


def _fill(places: list[str], kinds: dict[str, Any], given: dict[str, list[str]]) -> bool:
    """Give the arguments their words; return False if there are too many words, or empty ones."""
    words = given.pop("", [])
    if "" in words:
        return False
    for name in places:
        many = _item(kinds[name]) is not None
        taken, words = (words, []) if many else (words[:1], words[1:])
        if taken:
            given[name] = taken
    return not words


def _literals(kind: Any) -> list[str]:
    """Return the values of the literal types in a type."""
    if get_origin(kind) is Literal:
        return list(get_args(kind))
    return [value for part in get_args(kind) for value in _literals(part)]


def _item(kind: Any) -> Any:
    """Return the type of a list's items, None for a type that is not a list."""
    kind = _not_none(kind)
    return get_args(kind)[0] if get_origin(kind) is list else None


def _not_none(kind: Any) -> Any:
    """Return the type of a value that is not None."""
    if get_origin(kind) is UnionType:
        (kind,) = (one for one in get_args(kind) if one is not NoneType)
    return kind


def _read(words: list[str], kind: Any) -> Any:
    """Convert the words of a parameter; raise ValueError for words that only Typer can read."""
    if kind is bool:
        return True
    kind = _not_none(kind)
    item = _item(kind)
    if item is not None:
        return [_read([word], item) for word in words]
    (word,) = words
    if kind in _NUMBERS:
        if not _NUMBERS[kind].fullmatch(word):
            raise ValueError(word)
        return kind(word)
    if kind is Path or kind is str:
        return kind(word)
    raise ValueError(word)
