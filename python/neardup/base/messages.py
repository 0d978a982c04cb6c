"""Messages as data: an English sentence with places for values, and its translation by gettext.

Errors, problems and notes are messages, ``Message("{file}: no such file.", file="a.txt")``: the
English sentence is where the message is made, the Chinese one in
`locale/zh/LC_MESSAGES/neardup.po`. `in_language` returns a message in the reader's language. No
code parses a sentence.
"""

from __future__ import annotations

import gettext
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from string import Formatter
from typing import Any, Literal, get_args

#: The languages of the catalogues.
Language = Literal["zh", "en"]
LANGUAGES: tuple[str, ...] = get_args(Language)

#: Environment variables that set the language, in the order of POSIX.
_VARIABLES = ("LC_ALL", "LC_MESSAGES", "LANG")

#: A place in a sentence: a value, or what a reader calls a parameter, as ``given[force=True]``.
_PLACE = re.compile(r"\w*(\[[^\]]*\])?")

#: Chinese characters and punctuation.
_HAN = re.compile("[\u3000-\u303f\u4e00-\u9fff\uff00-\uffef“”]")

#: Values that may be sentences, also of other programs.
_REASONS = ("error", "reason", "said")


#: Prints a note while a run waits for its user; the command line sets it.
announce: Callable[[Message], None] | None = None


class Message(str):
    """An English sentence with the template and the values that it was made from.

    It can be printed, compared and stored as a string. Inside a longer string it is plain
    text; as a value of another message it remains data, and is translated with it.

    Parameters
    ----------
    template : str
        The English sentence, with a place for each value: ``"{file}: exists already."``. It is
        the key of its translation.
    code : str, optional
        What kind of message it is, for programs: see ``docs/errors.md``.
    **values : object
        Values of the places, such as `file`, `record`, `field`, `parameter`, `value`
        and `expected`.

    Attributes
    ----------
    template, code, values

    Raises
    ------
    KeyError
        If a value is missing.

    Examples
    --------
    >>> note = Message("{file}: exists already.", file="kept.jsonl")
    >>> print(note)
    kept.jsonl: exists already.
    >>> note.values
    {'file': 'kept.jsonl'}
    """

    __slots__ = ("code", "plural", "template", "values")

    template: str
    plural: str | None
    code: str | None
    values: dict[str, Any]

    def __new__(cls, template: str, /, **values: Any) -> Message:
        code, plural = values.pop("code", None), values.pop("plural", None)
        message = super().__new__(cls, _build_sentence(template, plural, values, "en"))
        message.template = template
        message.plural = plural
        message.code = code
        message.values = values
        return message

    @classmethod
    def counted(cls, singular: str, plural: str, /, **values: Any) -> Message:
        """Return a message with one sentence for a `count` of 1 and another for all else.

        Examples
        --------
        >>> print(Message.counted("{count} file.", "{count:,} files.", count=1087))
        1,087 files.
        """
        return cls(singular, plural=plural, **values)

    def __reduce__(self) -> tuple[Any, ...]:
        return Message.from_dict, (self.to_dict(),)

    def with_values(self, **values: Any) -> Message:
        """Return the message with some values replaced."""
        return Message(self.template, code=self.code, plural=self.plural, **self.values | values)

    def to_dict(self) -> dict[str, Any]:
        """Return all parts for JSON, messages among the values converted too."""
        parts = {"template": self.template, "plural": self.plural, "code": self.code}
        return parts | {"values": to_plain(self.values)}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Message:
        """Return the message of a result of `to_dict`; ValueError for one with other places.

        It may come from a process that reads hostile files: a place such as ``{x.__class__}`` would
        show what only this process knows.
        """
        for text in filter(None, (stored["template"], stored["plural"])):
            for _, name, how, _ in Formatter().parse(text):
                if not _PLACE.fullmatch(name or "") or "{" in (how or ""):
                    raise ValueError(f"not a place of a message: {name}")
        parts = {name: stored[name] for name in ("code", "plural")}
        return cls(stored["template"], **parts, **from_plain(stored["values"]))


def N_(template: str) -> str:
    """Mark a sentence for translation that is made a message elsewhere; returns it unchanged."""
    return template


#: Words of system errors that are translated.
_SYSTEM_WORDS = (
    N_("No such file or directory"),
    N_("Permission denied"),
    N_("Operation not permitted"),
    N_("Is a directory"),
    N_("Not a directory"),
    N_("File exists"),
    N_("Input/output error"),
    N_("No space left on device"),
    N_("Read-only file system"),
    N_("File name too long"),
    N_("Too many levels of symbolic links"),
    N_("Too many open files"),
    N_("File too large"),
    N_("Disk quota exceeded"),
    N_("Bad file descriptor"),
    # Of a member of an archive.
    N_("Damaged data"),
)


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


def in_language(item: object, language: str, flags: Mapping[str, str] | None = None) -> str:
    """Return a message, or the message of an error, in a language.

    Parameters
    ----------
    item : object
        Any other object, such as a name or another program's error, is returned as a string.
    language : {'zh', 'en'}
    flags : mapping of str to str, optional
        What the reader calls a parameter, for a reader who gave a command: ``--threshold``. By
        default parameters have their names in Python.

    Examples
    --------
    >>> note = Message("Replace {file} with {given[force=True]}.", file="kept.jsonl")
    >>> print(note)
    Replace kept.jsonl with force=True.
    >>> print(in_language(note, "en", {"force": "--force"}))
    Replace kept.jsonl with --force.
    """
    # Errors and problems have a message.
    item = getattr(item, "message", item)
    if isinstance(item, Message) and (language != "en" or flags):
        return _build_sentence(item.template, item.plural, item.values, language, flags)
    return str(item)


def language_of_environment(variables: Mapping[str, str] = os.environ) -> Language:
    """Return the language that the environment sets, or English if it has no catalogue.

    Examples
    --------
    >>> language_of_environment({"LANG": "zh_CN.UTF-8"})
    'zh'
    """
    asked = next((variables[name] for name in _VARIABLES if variables.get(name)), "")
    language = asked.partition("_")[0].partition(".")[0].lower()
    return "zh" if language == "zh" else "en"


#: Sentences about errors of the Rust core, by their class; the values are its own English words.
_OF_CORE = {
    "ParameterError": N_("{parameter:named} must be {expected}. Got {value} instead."),
    "InputError": N_("{what}: expected {expected}, found {found}."),
    "OutputError": N_("While {doing}: {error}."),
}


def core_message(kind: str, **facts: Any) -> Message:
    """Return the message of an error of the Rust core, which calls this."""
    return Message(_OF_CORE[kind], **facts)


def system_words(error: OSError) -> str:
    """Return the words of a system error, as a message if the catalogues have it.

    Examples
    --------
    >>> in_language(system_words(OSError(28, "No space left on device")), "zh")
    '磁盘空间不足'
    """
    words = error.strerror or str(error)
    # Another system may use other words, or another language.
    return Message(words) if words in _SYSTEM_WORDS else words


def _build_sentence(
    template: str,
    plural: str | None,
    values: dict[str, Any],
    language: str,
    flags: Mapping[str, str] | None = None,
) -> str:
    if language != "en":
        translated = translations(language)
        if plural is None:
            template = translated.gettext(template)
        else:
            template = translated.ngettext(template, plural, values.get("count", 2))
    elif plural is not None and values.get("count") != 1:
        template = plural
    parameters = _Parameters(language, flags or {})
    shown: dict[str, Any] = {
        key: _Part(
            _drop_point(in_language(value, language, flags), key, template),
            parameters,
            isinstance(value, Message),
        )
        if isinstance(value, str)
        else value
        for key, value in values.items()
    }
    shown |= {"named": _Lookup(parameters.named), "given": _Lookup(parameters.given)}
    return template.format_map(shown) if language == "en" else _build_chinese(template, shown)


def _build_chinese(template: str, shown: dict[str, Any]) -> str:
    """Return a Chinese sentence with its values.

    A translation has a blank around values, which are Latin names and numbers as a rule. It is left
    out next to Chinese words of neardup's own.
    """
    sentence, is_tight = "", False
    for text, place, how, _ in Formatter().parse(template):
        if is_tight and text[:1] == " " != text[1:2]:
            text = text[1:]
        sentence, is_tight = sentence + text, False
        if place is not None:
            words = f"{{{place}:{how}}}".format_map(shown)
            value = shown[place.partition("[")[0]]
            if isinstance(value, _Lookup) or how == "named" or getattr(value, "is_message", False):
                if _HAN.match(words) and re.search(r"\S $", sentence):
                    sentence = sentence[:-1]
                is_tight = bool(_HAN.match(words[-1:]))
            sentence += words
    return sentence


def translations(language: str) -> gettext.NullTranslations:
    """Return the sentences of a language; for English, each sentence is its own translation."""
    if language == "en":
        return gettext.NullTranslations()
    try:
        return _load_translations(language)
    except OSError:
        # No more files can be opened, or the translations were not built: English.
        return gettext.NullTranslations()


@lru_cache
def _load_translations(language: str) -> gettext.GNUTranslations:
    return gettext.translation("neardup", Path(__file__).with_name("locale"), [language])


def _drop_point(words: str, key: str, template: str) -> str:
    """Return a reason without its point if the sentence around it adds one."""
    adds_point = f"{{{key}}}." in template or f"{{{key}}}。" in template
    if key in _REASONS and adds_point and words.endswith((".", "。")) and words[-2:] != "..":
        return words[:-1]
    return words


@dataclass(frozen=True, slots=True)
class _Parameters:
    """The names of parameters for a reader: Python's names, or the flags of a command."""

    language: str
    flags: Mapping[str, str]

    def named(self, name: str) -> str:
        """Return a parameter as the subject of a sentence."""
        if name in self.flags:
            return self.flags[name]
        return _build_sentence(N_("The '{name}' parameter"), None, {"name": name}, self.language)

    def given(self, request: str) -> str:
        """Return how a parameter is given, as ``force=True`` or just by its name."""
        name, _, value = request.partition("=")
        if name not in self.flags:
            return request if value else f"{name}="
        given = "" if value == "True" else value.replace("'", "")
        return f"{self.flags[name]} {given}".rstrip()


@dataclass(frozen=True, slots=True)
class _Lookup:
    """A function that a sentence calls as ``{given[force=True]}``."""

    function: Callable[[str], str]

    def __getitem__(self, name: str) -> str:
        return self.function(name)


class _Part(str):
    """Words inside a sentence.

    ``{reason:inside}`` makes the first letter lower case; ``{parameter:named}`` and
    ``{parameter:given}`` show the name of a parameter.
    """

    __slots__ = ("is_message", "parameters")

    parameters: _Parameters
    is_message: bool

    def __new__(cls, words: str, parameters: _Parameters, is_message: bool) -> _Part:
        part = super().__new__(cls, words)
        part.parameters = parameters
        part.is_message = is_message
        return part

    def __format__(self, how: str) -> str:
        if how == "inside":
            return self[:1].lower() + self[1:]
        if how == "named":
            return self.parameters.named(str(self))
        if how == "given":
            return self.parameters.given(str(self))
        return super().__format__(how)
