"""Messages as data: a code and values, made into a sentence by a catalogue for each language.

Errors, warnings, problems and notes are messages. Code that finds something says what it found,
``Message("readers.not_utf8", file="a.txt", byte=7)``; the sentence stands in the catalogues, in
`locale/en/readers.toml` and `locale/zh/readers.toml` under ``not_utf8``. Whoever shows a message
asks for it in the reader's language, with `in_language`. Nothing parses a sentence.
"""

from __future__ import annotations

import errno
import os
import tomllib
from collections.abc import Mapping
from functools import lru_cache
from importlib import resources
from typing import Any

__all__ = [
    "LANGUAGES",
    "Message",
    "from_plain",
    "in_language",
    "language_of_environment",
    "system_words",
    "to_plain",
]

#: The languages that messages are in.
LANGUAGES = ("zh", "en")

#: What decides the language of a program, in this order, as for all POSIX programs.
_VARIABLES = ("LC_ALL", "LC_MESSAGES", "LANG")

#: What the system says, in words of our own.
_SYSTEM = {
    errno.ENOENT: "no_such_file",
    errno.EACCES: "permission_denied",
    errno.EPERM: "not_permitted",
    errno.EISDIR: "is_a_directory",
    errno.ENOTDIR: "not_a_directory",
    errno.EEXIST: "file_exists",
    errno.EIO: "input_output_error",
    errno.ENOSPC: "no_space_left",
    errno.EROFS: "read_only",
    errno.ENAMETOOLONG: "name_too_long",
    errno.ELOOP: "too_many_links",
    errno.EMFILE: "too_many_open_files",
    errno.EFBIG: "file_too_large",
    errno.EDQUOT: "quota_exceeded",
}


class Message(str):
    """A sentence in English that knows what it is made of.

    It can be printed, compared and stored as the string that it is. Put into a longer string it
    is a plain part of that; put into another message, as a value, it stays data.

    Parameters
    ----------
    code : str
        Name of the catalogue and of the sentence, such as ``"papers.more_sources"``. Codes are
        stable: programs may depend on them.
    **values : object
        What the sentence has places for: among them by custom `file`, `record`, `field`,
        `parameter`, `value` and `expected`. Where `count` is 1 and the catalogue has a sentence
        under the name with ``_one`` behind it, that one is taken.

    Attributes
    ----------
    code : str
    values : dict of str to object

    Raises
    ------
    KeyError
        If no catalogue has the code, or a value is missing.

    Examples
    --------
    >>> note = Message("papers.more_sources", count=1087)
    >>> print(note)
    1,087 more sources are not listed; their passages count.
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
        """Return code and values for JSON; messages among the values likewise."""
        return {"code": self.code, "values": to_plain(self.values)}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Message:
        """Return the message that `to_dict` returned."""
        return cls(stored["code"], **from_plain(stored["values"]))


def to_plain(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return values for JSON: messages as their `to_dict`, all others as they are."""
    return {
        name: value.to_dict() if isinstance(value, Message) else value
        for name, value in values.items()
    }


def from_plain(stored: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values that `to_plain` was given."""
    return {
        name: Message.from_dict(value) if isinstance(value, dict) else value
        for name, value in stored.items()
    }


def in_language(said: object, language: str) -> str:
    """Return a message, or that of an error, in a language.

    Parameters
    ----------
    said : object
        What is no message is returned as a string, as it is: names, and what other programs say.
    language : {'zh', 'en'}
    """
    # That of an error or a problem.
    said = getattr(said, "message", said)
    if isinstance(said, Message) and language != "en":
        return _sentence(said.code, said.values, language)
    return str(said)


def language_of_environment(variables: Mapping[str, str] = os.environ) -> str:
    """Return the language that the environment asks for; English where it names none of ours.

    Examples
    --------
    >>> language_of_environment({"LANG": "zh_CN.UTF-8"})
    'zh'
    """
    asked = next((variables[name] for name in _VARIABLES if variables.get(name)), "")
    language = asked.partition("_")[0].partition(".")[0].lower()
    return language if language in LANGUAGES else "en"


def system_words(error: OSError) -> str:
    """Return what the system says; a message where it is known in all languages.

    Examples
    --------
    >>> system_words(OSError(28, "No space left on device")).code
    'system.no_space_left'
    """
    said = error.strerror or str(error)
    name = _SYSTEM.get(error.errno or 0)
    message = None if name is None else Message(f"system.{name}")
    # Some other system may use other words, or another language.
    return message if message == said else said


def _again(code: str, values: dict[str, Any]) -> Message:
    return Message(code, **values)


def _sentence(code: str, values: dict[str, Any], language: str) -> str:
    area, _, name = code.partition(".")
    try:
        table = _catalogue(language, area)
    except OSError:
        # No file can be opened any more. What was to be said matters more than its sentence.
        return f"{code} {values}"
    template = table[name]
    if not values:
        return template.format()
    if values.get("count") == 1:
        template = table.get(f"{name}_one", template)
    shown = {
        key: _Part(in_language(value, language)) if isinstance(value, str) else value
        for key, value in values.items()
    }
    return template.format_map(shown)


class _Part(str):
    """Words inside a sentence: of ``{said:inside}`` the first letter becomes a small one."""

    __slots__ = ()

    def __format__(self, how: str) -> str:
        if how == "inside":
            return self[:1].lower() + self[1:]
        return super().__format__(how)


@lru_cache
def _catalogue(language: str, area: str) -> dict[str, str]:
    file = resources.files("neardup._engine").joinpath("locale", language, f"{area}.toml")
    return tomllib.loads(file.read_text("utf-8"))
