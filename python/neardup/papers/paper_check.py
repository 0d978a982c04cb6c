"""The check of papers with a library, with each other, or both.

The command, the service and `check_files` bring the papers that they read, and take the results.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from neardup.base.messages import Message
from neardup.base.progress import Progress
from neardup.papers.copies import Copies, copies_of
from neardup.papers.cover import Covers
from neardup.papers.library import Library, combine_libraries, library_of
from neardup.papers.reading import Reading
from neardup.papers.report import Report
from neardup.papers.settings import CheckSettings, Paper

if TYPE_CHECKING:
    from neardup.readers.file_text import FileText

#: Makes the report of a paper, or returns the reason why there is none.
Compare = Callable[[CheckSettings, Library, Paper], "Report | str"]


@dataclass(frozen=True)
class CheckResult:
    """The result for one paper.

    Parameters
    ----------
    paper : str
        The path, as given or found.
    report : Report or None
        None if the paper could not be read, or has no letters.
    problem : str or None
        The reason for a missing report: a sentence in English, with a code and values.
    id : str or None
        The id by which reports of the other papers name it as a source; None if the papers
        are not compared with each other.
    properties : dict of str to str
        What the document states of itself: see :class:`neardup.readers.FileText`.
    name : str, default=""
        What tables and reports call the paper: its file name, or the path if two have one name.
    """

    paper: str
    report: Report | None
    problem: str | None
    id: str | None = None
    properties: Mapping[str, str] = field(default_factory=dict)
    name: str = ""


def in_this_process(settings: CheckSettings, library: Library, paper: Paper) -> Report:
    """Return the report of a paper."""
    from neardup.papers.steps import check_paper  # imported late, for a fast `import neardup.lab`

    return check_paper(settings, library, paper)


@dataclass(frozen=True)
class PaperCheck:
    """A check of papers with an open library, with each other (`compare_papers`), or both.

    `covers` are what is stated of the papers; `progress` receives how far the check is.
    """

    settings: CheckSettings
    library: Library | None = None
    compare_papers: bool = False
    covers: Covers = field(default_factory=Covers)
    progress: Progress = field(default_factory=Progress)

    def reports(
        self, readings: Iterable[Reading], count: int, compare: Compare = in_this_process
    ) -> Iterator[CheckResult]:
        """Yield the results for papers, `count` of them, in their order."""
        with ExitStack() as stack:
            libraries = [] if self.library is None else [self.library]
            copies = None
            if self.compare_papers:
                self.progress.stage("library", count)
                readings = list(self._advancing(readings))
                read = [(one, one.file) for one in readings if one.file is not None]
                copies = copies_of((one.name, file.text) for one, file in read)
                papers = _library_of([read[place] for place in copies.searched], self.settings)
                libraries.append(stack.enter_context(papers))
            library, number = combine_libraries(libraries), 0
            self.progress.stage("papers", count)
            for reading in self._advancing(readings):
                if reading.file is None:
                    yield CheckResult(reading.paper, None, reading.problem, name=reading.name)
                    continue
                paper = self._paper(reading, reading.file, library, copies, number)
                yield self._checked(reading, paper, compare(self.settings, library, paper))
                number += 1

    def _paper(
        self,
        reading: Reading,
        file: FileText,
        library: Library,
        copies: Copies | None,
        number: int,
    ) -> Paper:
        """Return a paper, the one of this `number` of those that could be read."""
        skip = set() if reading.path is None else library.positions_of(reading.path)
        if copies is not None:
            skip.add(len(library) - library.papers + copies.skipped[number])
        note = None if copies is None else copies.note(number)
        cover = self.covers.of(reading.paper)
        return Paper(reading.name, file, frozenset(skip), cover, note)

    def _checked(self, reading: Reading, paper: Paper, result: Report | str) -> CheckResult:
        if isinstance(result, str):
            return CheckResult(reading.paper, None, result, name=reading.name)
        tell_nothing_compared(result, self.progress)
        id = reading.id if self.compare_papers else None
        return CheckResult(reading.paper, result, None, id, paper.file.properties, reading.name)

    def _advancing(self, readings: Iterable[Reading]) -> Iterator[Reading]:
        for reading in readings:
            yield reading
            self.progress.advance(1)


def _library_of(papers: Iterable[tuple[Reading, FileText]], settings: CheckSettings) -> Library:
    texts = [(one.id or one.name, one.name, one.path, file.text) for one, file in papers]
    return library_of(texts, settings.workers)


def tell_nothing_compared(report: Report, progress: Progress) -> None:
    """Report a paper that was compared with nothing as a problem."""
    from neardup.readers.batch import find_code  # imported late, for a fast `import neardup.lab`

    if report.no_verdict == "nothing_compared":
        note = next(n for n in report.notes if find_code(n) == report.no_verdict)
        progress.problem(Message("{file}: {said:inside}", file=report.paper, said=note))
