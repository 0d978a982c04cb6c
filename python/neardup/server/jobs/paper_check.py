"""One paper: a process reads its file, another one checks its text and renders the report."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO, TYPE_CHECKING

from neardup.base.messages import Message
from neardup.exceptions import MissingDependencyError
from neardup.papers.alignment import get_aligner
from neardup.papers.hiding import reorder_paper
from neardup.papers.library import Library, LibraryDocument
from neardup.papers.report import Report
from neardup.readers.file_text import FileText, UnreadableFileError
from neardup.readers.sandboxed_reader import read_sandboxed
from neardup.server.problems import ProblemError

if TYPE_CHECKING:
    from neardup.base.lazy import _core
    from neardup.papers.settings import CheckSettings, Paper
    from neardup.readers.sandbox import Exchange
    from neardup.server.jobs.libraries import OpenLibrary

#: The program of `check_paper`.
CHECK_PROCESS = Path(__file__).with_name("check_process.py")

_log = logging.getLogger(__name__)


def read_paper(
    file: IO[bytes],
    label: str,
    *,
    max_bytes: int,
    max_characters: int,
    seconds: float,
    look: Callable[[], None] = lambda: None,
) -> FileText:
    """Read a paper by `read_sandboxed`; raise `ProblemError` if it yields no text."""
    try:
        read = read_sandboxed(
            file,
            label,
            max_bytes=max_bytes,
            max_characters=max_characters,
            seconds=seconds,
            look=look,
        )
        return reorder_paper(read)
    except UnreadableFileError as error:
        status, detail = 422, _adapt_refusal(error.args[0])
    except MissingDependencyError as error:
        _log.error("%s", error)
        status, detail = (
            500,
            Message("This service cannot read files of this format: a package is missing."),
        )
    raise ProblemError(status, "The paper cannot be read", detail, "file")


def _adapt_refusal(message: Message) -> Message:
    """Return a refusal with advice for the sender, who cannot raise the limits of the service."""
    way_out = message.values.get("way_out")
    if not way_out or "limit" not in way_out.values["remedy"].values:
        return message
    remedy = Message(" {remedy}", remedy=Message("Save it without pictures, or split it."))
    return message.with_values(way_out=remedy)


def check_paper(
    process: Exchange,
    settings: CheckSettings,
    library: Library,
    paper: Paper,
    *,
    seconds: float,
    done: Callable[[float], None],
) -> Report:
    """Return the report of a paper, without its text.

    `done` gets the finished share of the candidates; what it raises ends the check. The `process`
    runs `CHECK_PROCESS`; the next message that it sends are the pages of the report.
    """
    process.send((settings, library.facts(), paper, seconds))
    prepared, count, fetched = None, 0, 0
    while True:
        match process.receive():
            case "candidates", text, least, limit:
                done(0.0)
                prepared = get_aligner().paper(text)
                candidates = library.candidates(prepared, least=least, limit=limit)
                count = len(candidates)
                process.send(candidates)
            case ("shingle_counts",):
                assert prepared is not None
                process.send(library.shingle_counts(prepared))
            case "documents", positions:
                done(min(1.0, fetched / max(1, count)))
                fetched += len(positions)
                process.send(list(library.documents(positions)))
            case "report", report:
                assert isinstance(report, Report)
                return report


class SharedLibrary(Library):
    """One check's view of a shared library, without the location of any file."""

    def __init__(self, shared: OpenLibrary) -> None:
        library = shared.library
        super().__init__(**library.facts() | {"name": shared.name})
        self._shared = shared
        self._library = library
        self.notes = [self._adapt_note(note) for note in library.notes]

    def candidates(self, paper: _core.Paper, *, least: int, limit: int) -> list[tuple[int, int]]:
        return self._library.candidates(paper, least=least, limit=limit)

    def shingle_counts(self, paper: _core.Paper) -> list[tuple[int, int]]:
        return self._library.shingle_counts(paper)

    def documents(self, positions: Sequence[int]) -> Iterator[LibraryDocument]:
        with self._shared.lock:
            documents = list(self._library.documents(positions))
        for document in documents:
            yield replace(document, id=self._remove_place(document.id))

    def _remove_place(self, text: str) -> str:
        # Clients must not see the folders of this machine.
        place = self._shared.location
        folder = place if os.path.isdir(place) else os.path.dirname(place)
        folder = os.path.join(folder, "")
        return text.replace(folder, "") if len(folder) > 1 else text

    def _adapt_note(self, note: str) -> str:
        if not isinstance(note, Message):
            return self._remove_place(note)
        values = {
            name: self._adapt_note(value) if isinstance(value, str) else value
            for name, value in note.values.items()
        }
        return note.with_values(**values)
