"""Notes on files, grouped into a few lines for any number of files."""

from __future__ import annotations

from collections.abc import Iterable

from neardup.base.messages import Message

__all__ = ["GroupedNotes"]

_SHOWN = 8


class GroupedNotes:
    """Notes on files, one line for all files with the same note.

    Examples
    --------
    >>> notes = GroupedNotes()
    >>> for name in ("a.txt", "b.txt", "c.txt"):
    ...     notes.add(name, [Message("readers.hidden", count=3)])
    >>> notes.lines()
    ['a.txt and 2 more files: 3 characters of hidden text are left out.']
    """

    def __init__(self) -> None:
        self._first: dict[str, str] = {}
        self._count: dict[str, int] = {}

    def add(self, name: str, notes: Iterable[str]) -> None:
        """Add the notes on a file."""
        for note in notes:
            self._first.setdefault(note, name)
            self._count[note] = self._count.get(note, 0) + 1

    def join(self, other: GroupedNotes) -> None:
        """Add all notes of another group."""
        for note, name in other._first.items():
            self._first.setdefault(note, name)
            self._count[note] = self._count.get(note, 0) + other._count[note]

    def lines(self) -> list[Message]:
        """Return at most nine lines, in the order in which the files were read."""
        lines = []
        for note, name in list(self._first.items())[:_SHOWN]:
            more = self._count[note] - 1
            if more:
                said = Message("readers.of_files", file=name, count=more, said=note)
            else:
                said = Message("readers.of_file", file=name, said=note)
            lines.append(said)
        rest = list(self._count.values())[_SHOWN:]
        if rest:
            lines.append(Message("readers.more_notes", count=sum(rest)))
        return lines
