"""Messages as data: a code and values, from which a catalogue of each language makes a sentence.

Errors, problems and notes are messages. Code states a finding as a code with values,
``Message("recipes.not_utf8", file="a.txt", byte=7)``; the sentences are in the catalogues
`locale/en/recipes.toml` and `locale/zh/recipes.toml` under ``not_utf8``. `in_language` returns
a message in the reader's language. No code parses a sentence.
"""

from __future__ import annotations

import errno
import os
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, get_args

__all__ = [
    "LANGUAGES",
    "Language",
    "Message",
    "from_plain",
    "in_language",
    "language_of_environment",
    "system_words",
    "to_plain",
]

#: The languages of the catalogues.
Language = Literal["zh", "en"]
LANGUAGES: tuple[str, ...] = get_args(Language)

#: Environment variables that set the language, in the order of POSIX.
_VARIABLES = ("LC_ALL", "LC_MESSAGES", "LANG")

#: Codes of system errors that the catalogues have.
_SYSTEM = {
    errno.ENOENT: "no_such_file",
    errno.EACCES: "permission_denied",
    errno.EPERM: "not_permitted",
    errno.EISDIR: "is_a_directory",
    errno.ENOTDIR: "not_a_directory",
    errno.EEXIST: "file_exists",
    errno.EBADF: "bad_file_descriptor",
    errno.EIO: "input_output_error",
    errno.ENOSPC: "no_space_left",
    errno.EROFS: "read_only",
    errno.ENAMETOOLONG: "name_too_long",
    errno.ELOOP: "too_many_links",
    errno.EMFILE: "too_many_open_files",
    errno.EFBIG: "file_too_large",
    errno.EDQUOT: "quota_exceeded",
}

#: Values that may be sentences, also of other programs.
_REASONS = ("error", "reason", "said")


#: Prints a note while a run waits for its user; the command line sets it.
announce: Callable[[Message], None] | None = None


class Message(str):
    """An English sentence with the code and the values that it was made from.

    It can be printed, compared and stored as a string. Inside a longer string it is plain
    text; as a value of another message it remains data.

    Parameters
    ----------
    code : str
        Name of the catalogue and of the sentence, such as ``"papers.more_sources"``. Codes are
        stable: programs may depend on them.
    **values : object
        Values of the placeholders, such as `file`, `record`, `field`, `parameter`, `value`
        and `expected`. If `count` is 1 and the catalogue has the name with the suffix
        ``_one``, that sentence is used.

    Attributes
    ----------
    code : str
    values : dict of str to object

    Raises
    ------
    KeyError
        If the catalogue does not have the code, or a value is missing.

    Examples
    --------
    >>> note = Message("papers.more_sources", count=1087)
    >>> print(note)
    1,087 more sources are not listed; their passages are counted.
    >>> note.code, note.values
    ('papers.more_sources', {'count': 1087})
    >>> print(in_language(note, "zh"))
    另有 1,087 篇来源没有列出，其中的重复文字照常计入。
    """

    __slots__ = ("code", "values")

    code: str
    values: dict[str, Any]

    def __new__(cls, code: str, /, **values: Any) -> Message:
        message = super().__new__(cls, _sentence(code, values, "en"))
        message.code = code
        message.values = values
        return message

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (self.code, self.values)

    def to_dict(self) -> dict[str, Any]:
        """Return code and values for JSON, messages among the values converted too."""
        return {"code": self.code, "values": to_plain(self.values)}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Message:
        """Return the message of a result of `to_dict`."""
        return cls(stored["code"], **from_plain(stored["values"]))


def to_plain(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return values for JSON, with messages converted by `to_dict`."""
    return {
        name: value.to_dict() if isinstance(value, Message) else value
        for name, value in values.items()
    }


def from_plain(stored: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of a result of `to_plain`."""
    return {
        name: Message.from_dict(value) if isinstance(value, dict) else value
        for name, value in stored.items()
    }


def in_language(said: object, language: str, flags: Mapping[str, str] | None = None) -> str:
    """Return a message, or the message of an error, in a language.

    Parameters
    ----------
    said : object
        Any other object, such as a name or another program's error, is returned as a string.
    language : {'zh', 'en'}
    flags : mapping of str to str, optional
        What the reader calls a parameter, for a reader who gave a command: ``--threshold``. By
        default parameters have their names in Python.

    Examples
    --------
    >>> said = Message("writers.exists", file="kept.jsonl")
    >>> print(said)
    kept.jsonl: exists already. Choose another name, or replace it with force=True.
    >>> print(in_language(said, "en", {"force": "--force"}))
    kept.jsonl: exists already. Choose another name, or replace it with --force.
    """
    # Errors and problems have a message.
    said = getattr(said, "message", said)
    if isinstance(said, Message) and (language != "en" or flags):
        return _sentence(said.code, said.values, language, flags or {})
    return str(said)


def language_of_environment(variables: Mapping[str, str] = os.environ) -> str:
    """Return the language that the environment sets, or English if it has no catalogue.

    Examples
    --------
    >>> language_of_environment({"LANG": "zh_CN.UTF-8"})
    'zh'
    """
    asked = next((variables[name] for name in _VARIABLES if variables.get(name)), "")
    language = asked.partition("_")[0].partition(".")[0].lower()
    return language if language in LANGUAGES else "en"


def system_words(error: OSError) -> str:
    """Return the words of a system error, as a message if the catalogues have it.

    Examples
    --------
    >>> system_words(OSError(28, "No space left on device")).code
    'system.no_space_left'
    """
    said = error.strerror or str(error)
    name = _SYSTEM.get(error.errno or 0)
    message = None if name is None else Message(f"system.{name}")
    # Another system may use other words, or another language.
    return message if message == said else said


def _again(code: str, values: dict[str, Any]) -> Message:
    return Message(code, **values)


def _sentence(
    code: str, values: dict[str, Any], language: str, flags: Mapping[str, str] | None = None
) -> str:
    area, _, name = code.partition(".")
    try:
        table = _catalogue(language, area)
    except OSError:
        # No more files can be opened: show code and values without the sentence.
        return f"{code} {values}"
    template = table[name]
    if values.get("count") == 1:
        template = table.get(f"{name}_one", template)
    parameters = _Parameters(language, flags or {})
    shown: dict[str, Any] = {
        key: _Part(_inside(in_language(value, language, flags), key, template), parameters)
        if isinstance(value, str)
        else value
        for key, value in values.items()
    }
    named = {"named": _Lookup(parameters.named), "given": _Lookup(parameters.given)}
    return template.format_map(named | shown)


def _inside(words: str, key: str, template: str) -> str:
    """Return a reason without its point if the sentence around it adds one."""
    adds_point = f"{{{key}}}." in template or f"{{{key}}}。" in template
    if key in _REASONS and adds_point and words.endswith((".", "。")) and words[-2:] != "..":
        return words[:-1]
    return words


@dataclass(frozen=True, slots=True)
class _Parameters:
    """What the reader calls parameters: Python's names, or the flags of a command."""

    language: str
    flags: Mapping[str, str]

    def named(self, name: str) -> str:
        """Return a parameter as the subject of a sentence."""
        if name in self.flags:
            return _sentence("options.named_option", {"name": self.flags[name]}, self.language)
        return _sentence("options.named_parameter", {"name": name}, self.language)

    def given(self, said: str) -> str:
        """Return how a parameter is given, as ``force=True`` or just by its name."""
        name, _, value = said.partition("=")
        if name not in self.flags:
            return said if value else f"{name}="
        given = "" if value == "True" else value.replace("'", "")
        return f"{self.flags[name]} {given}".rstrip()


@dataclass(frozen=True, slots=True)
class _Lookup:
    """A function that a sentence calls as ``{given[force=True]}``."""

    function: Callable[[str], str]

    def __getitem__(self, said: str) -> str:
        return self.function(said)


class _Part(str):
    """Words inside a sentence.

    ``{said:inside}`` makes the first letter lower case; ``{parameter:named}`` and
    ``{parameter:given}`` show the name of a parameter.
    """

    __slots__ = ("parameters",)

    parameters: _Parameters

    def __new__(cls, words: str, parameters: _Parameters) -> _Part:
        part = super().__new__(cls, words)
        part.parameters = parameters
        return part

    def __format__(self, how: str) -> str:
        if how == "inside":
            return self[:1].lower() + self[1:]
        if how == "named":
            return self.parameters.named(str(self))
        if how == "given":
            return self.parameters.given(str(self))
        return super().__format__(how)


@lru_cache
def _catalogue(language: str, area: str) -> dict[str, str]:
    # `importlib.resources` takes longer to load than all catalogues to read.
    file = Path(__file__).with_name("locale") / language / f"{area}.toml"
    return tomllib.loads(file.read_text("utf-8"))
