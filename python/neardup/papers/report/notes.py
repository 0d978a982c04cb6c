"""Notes of a report: those for its reader, and the reasons for unchecked papers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from neardup.base.messages import Message, in_language
from neardup.papers.report.words import Words

__all__ = ["apart", "shown_notes", "unreadable_documents", "why_unread"]

#: Largest number of unreadable files that are named.
_NAMED = 3

#: The note on a file of the library follows the file's name.
_OF_FILES = ("readers.of_file", "readers.of_files")

#: Notes on encodings; one that was not guessed is of no interest to a report's reader.
_READ_AS = ("readers.read_as", "readers.read_as_declared")
_GUESSED = "readers.certainty_guessed"


def unreadable_documents(count: int, files: Sequence[str]) -> Message:
    """Return the note on unreadable documents of the library, with the first files."""
    names = ", ".join(files[:_NAMED]) + (", ..." if len(files) > _NAMED else "")
    return Message("papers.unreadable", count=count, names=names)


def _is_shown(note: str) -> bool:
    """Return whether a note is for the reader of a report.

    Notes on encodings are shown only if the encoding was guessed: others would raise
    unfounded doubts.
    """
    if isinstance(note, Message) and note.code in _OF_FILES:
        note = note.values["said"]
    if not isinstance(note, Message) or note.code not in _READ_AS:
        return True
    return bool(note.values["certainty"].code == _GUESSED)


def shown_notes(notes: Iterable[str]) -> list[str]:
    """Return the notes that are for the reader of a report."""
    return [one for one in notes if _is_shown(one)]


def apart(notes: Sequence[Sequence[str]]) -> tuple[list[str], list[list[str]]]:
    """Return the notes that all reports have in common, and the other notes of each."""
    if len(notes) < 2:
        return [], [list(of_one) for of_one in notes]
    common = [note for note in notes[0] if all(note in of_one for of_one in notes)]
    return common, [[note for note in of_one if note not in common] for of_one in notes]


def why_unread(said: str, words: Words) -> str:
    """Return why a paper could not be read, as a sentence without its name."""
    sentence = in_language(said, words.language)
    if isinstance(said, Message) and "file" in said.values:
        sentence = sentence.removeprefix(said.values["file"] + words("colon"))
    return sentence[:1].upper() + sentence[1:]
