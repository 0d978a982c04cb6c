"""Notes of a report: sentences in English that can be said in another language.

A note is its English sentence, so that it can be printed, stored and compared as
such. The sentences stand with the other words of the interface, under keys that
begin with ``note_``; a sentence that came as bare text, from a reader of files or
through JSON, is recognised by its pattern.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

from neardup.papers.words import Words, load_words

__all__ = ["Note", "apart", "in_words", "note_of", "shown_notes", "unreadable_documents"]

#: A longer sentence is none of ours, and names of files cannot make matching slow.
_LONGEST = 600

#: Files that could not be read and are named, at most.
_NAMED = 3

#: What is said of a file of the library stands behind its name.
_FILES = re.compile(r"(.+?)(?: and ([\d,]+) more files?)?", re.S)

#: Encodings that nobody guessed are no news, and least of all in a report on a student.
_READ_AS = ("note_read_as", "note_read_as_declared")


class Note(str):
    """A sentence in English, with what it is made of.

    Parameters
    ----------
    key : str
        Of the sentence, without ``note_``.
    **values : int or str
        What is put into it.

    Attributes
    ----------
    key : str
    values : dict of str to int or str

    Examples
    --------
    >>> note = Note("hidden", count=87)
    >>> print(note)
    87 characters of hidden text are left out.
    >>> note.key, note.values
    ('hidden', {'count': 87})
    """

    __slots__ = ("key", "values")

    key: str
    values: dict[str, Any]

    def __new__(cls, key: str, **values: int | str) -> Note:
        note = super().__new__(cls, load_words("en")(f"note_{key}", **values))
        note.key = key
        note.values = values
        return note

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (self.key, self.values)


def _again(key: str, values: dict[str, Any]) -> Note:
    return Note(key, **values)


def unreadable_documents(count: int, files: Sequence[str]) -> Note:
    """Return the note that documents of the library could not be read, with the first files."""
    names = ", ".join(files[:_NAMED]) + (", ..." if len(files) > _NAMED else "")
    return Note("unreadable_one" if count == 1 else "unreadable", count=count, names=names)


def note_of(sentence: str) -> Note | None:
    """Return the note that a sentence in English is; None if it is none that is known.

    Examples
    --------
    >>> note_of("87 characters of hidden text are left out.").values
    {'count': '87'}
    >>> note_of("It rains.") is None
    True
    """
    if isinstance(sentence, Note):
        return sentence
    if len(sentence) > _LONGEST:
        return None
    for key, pattern in _patterns():
        found = pattern.fullmatch(sentence)
        if found is not None:
            return Note(key, **found.groupdict())
    return None


def in_words(sentence: str, words: Words) -> str:
    """Say a note in the language of some words; what is not known stays as it is."""
    note = note_of(sentence)
    if note is not None:
        return _said(note, words)
    file, said, more = _of_file(sentence)
    if said is None:
        return sentence
    key = "note_of_files" if more else "note_of_file"
    return words(key, file=file, more=more, said=_said(said, words))


def _said(note: Note, words: Words) -> str:
    values = dict(note.values)
    if "certainty" in values:
        values["certainty"] = words(f"certainty_{values['certainty']}")
    return words(f"note_{note.key}", **values)


def _is_shown(sentence: str) -> bool:
    """Tell whether a note is for the reader of a report.

    Not so how an encoding was told, unless it was guessed: what is certain or likely
    raises doubts where there are none.
    """
    note = note_of(sentence) or _of_file(sentence)[1]
    if note is None or f"note_{note.key}" not in _READ_AS:
        return True
    return str(note.values["certainty"]) == "guessed"


def shown_notes(sentences: Iterable[str]) -> list[str]:
    """Return the notes that are for the reader of a report."""
    return [one for one in sentences if _is_shown(one)]


def apart(notes: Sequence[Sequence[str]]) -> tuple[list[str], list[list[str]]]:
    """Return the notes that all of several reports have, and those of each by itself."""
    if len(notes) < 2:
        return [], [list(of_one) for of_one in notes]
    common = [note for note in notes[0] if all(note in of_one for of_one in notes)]
    return common, [[note for note in of_one if note not in common] for of_one in notes]


def _of_file(sentence: str) -> tuple[str, Note | None, str]:
    """Return the file that a sentence is about, what it says, and how many more files."""
    if len(sentence) > _LONGEST:
        return "", None, ""
    # A name may have a colon in it.
    begin = 0
    while (colon := sentence.find(": ", begin)) > 0:
        said = sentence[colon + 2 :]
        note = note_of(said[:1].upper() + said[1:])
        files = _FILES.fullmatch(sentence[:colon])
        if note is not None and files is not None:
            return files[1], note, files[2] or ""
        begin = colon + 2
    return "", None, ""


@lru_cache(maxsize=1)
def _patterns() -> list[tuple[str, re.Pattern[str]]]:
    """The patterns of all sentences; those with more words of their own come first."""
    patterns = []
    for key, template in load_words("en").table.items():
        if not key.startswith("note_") or key in ("note_of_file", "note_of_files"):
            continue
        parts = []
        for literal, name, _, _ in string.Formatter().parse(template):
            parts.append(re.escape(literal))
            if name is not None:
                parts.append(f"(?P<{name}>.+?)")
        patterns.append((key.removeprefix("note_"), re.compile("".join(parts), re.S)))
    return sorted(patterns, key=lambda one: (-len(one[1].pattern), one[0]))
