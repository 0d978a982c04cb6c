"""One paper check against a shared library; it can be cancelled."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from neardup.base.messages import Message
from neardup.papers.check import Checking
from neardup.papers.library import Library, LibraryDocument
from neardup.papers.limits import ReportLimits
from neardup.papers.report import Report

if TYPE_CHECKING:
    from neardup import _core
    from neardup.readers.files import FileText
    from neardup.server.jobs.libraries import OpenLibrary

__all__ = ["check_paper"]


def check_paper(
    paper: FileText,
    label: str,
    library: OpenLibrary,
    *,
    least: int,
    workers: int,
    done: Callable[[float], None],
) -> Report:
    """Check a paper against an open library.

    Parameters
    ----------
    paper : FileText
    label : str
        Name of the paper in the report.
    library : OpenLibrary
    least : int
        See :func:`neardup.check`.
    workers : int
        Threads; 0 means one for each processor.
    done : callable
        Called repeatedly with the finished share of the candidates, in [0, 1]; an exception
        that it raises ends the check.

    Returns
    -------
    Report
        It shows the library's name and relative file names, not their location on this machine.
    """
    return Checking(_Shared(library, done), (), least, ReportLimits(), workers).report(paper, label)


class _Shared(Library):
    """One check's view of a shared library."""

    def __init__(self, shared: OpenLibrary, done: Callable[[float], None]) -> None:
        library = shared.library
        super().__init__(shared.name, library.workers)
        self._shared = shared
        self._library = library
        self._done = done
        self._candidates = 0
        self._fetched_so_far = 0
        self.problems = library.problems
        self.notes = [self._note(note) for note in library.notes]

    def __len__(self) -> int:
        return len(self._library)

    def candidates(self, paper: _core.Paper, *, least: int, limit: int) -> list[tuple[int, int]]:
        self._done(0.0)
        found = self._library.candidates(paper, least=least, limit=limit)
        self._candidates = len(found)
        return found

    def documents(self, positions: Sequence[int]) -> Iterator[LibraryDocument]:
        self._done(min(1.0, self._fetched_so_far / max(1, self._candidates)))
        with self._shared.lock:
            found = self._fetched(positions)
        self._fetched_so_far += len(positions)
        yield from found

    def _fetched(self, positions: Sequence[int]) -> list[LibraryDocument]:
        return [
            replace(one, id=self._without_place(one.id))
            for one in self._library.documents(positions)
        ]

    def _without_place(self, text: str) -> str:
        # Clients must not see the folders of this machine.
        place = self._shared.location
        folder = place if os.path.isdir(place) else os.path.dirname(place)
        folder = os.path.join(folder, "")
        return text.replace(folder, "") if len(folder) > 1 else text

    def _note(self, note: str) -> str:
        if not isinstance(note, Message):
            return self._without_place(note)
        values = {
            name: self._note(value) if isinstance(value, str) else value
            for name, value in note.values.items()
        }
        return Message(note.code, **values)

    def close(self) -> None:
        """Do nothing: other checks use the library too."""
