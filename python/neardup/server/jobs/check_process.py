"""The program that checks one paper and renders its report, in a process that can be ended.

A thread cannot be ended, and a long paper would delay requests. The library stays with the service,
which answers what this process asks of it.
"""

from __future__ import annotations

import datetime
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from neardup.base.messages import LANGUAGES
from neardup.papers.hiding import reveal
from neardup.papers.library.interface import Library, LibraryDocument, split_positions
from neardup.papers.report import Report, shorten_report
from neardup.papers.steps import check_paper
from neardup.readers.sandbox import open_other_side

if TYPE_CHECKING:
    from neardup.base.lazy import _core


class _RemoteLibrary(Library):
    """The library of the service; `ask` sends it a question and returns its answer."""

    def __init__(self, facts: dict[str, Any], text: str, ask: Callable[..., Any]) -> None:
        super().__init__(**facts)
        self._text = text
        self._ask = ask

    def candidates(self, paper: _core.Paper, *, least: int, limit: int) -> list[tuple[int, int]]:
        del paper
        candidates: list[tuple[int, int]] = self._ask("candidates", self._text, least, limit)
        return candidates

    def shingle_counts(self, paper: _core.Paper) -> list[tuple[int, int]]:
        del paper
        counts: list[tuple[int, int]] = self._ask("shingle_counts")
        return counts

    def documents(self, positions: Sequence[int]) -> Iterator[LibraryDocument]:
        for some in split_positions(positions):
            yield from self._ask("documents", some)


def main() -> None:
    """Send the report of a paper without its text, then its pages."""
    receive, send = open_other_side()
    settings, facts, paper, seconds = receive()
    if hasattr(os, "nice"):
        # Requests have priority over this process.
        os.nice(5)
    # If the service itself is killed, nothing else ends this process.
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, seconds)

    def ask(*question: Any) -> Any:
        send(question)
        return receive()

    library = _RemoteLibrary(facts, reveal(paper.file)[0], ask)
    report = check_paper(settings, library, paper)
    send(("report", shorten_report(report)))
    send(_render_pages(report))


def _render_pages(report: Report) -> dict[str, str]:
    today = datetime.datetime.now().astimezone().date()
    # All languages are rendered now, because the report itself is not kept.
    made = {
        f"{language}.html": report.to_html(language=language, date=today) for language in LANGUAGES
    }
    return {**made, "report.json": report.to_json()}


if __name__ == "__main__":
    main()
