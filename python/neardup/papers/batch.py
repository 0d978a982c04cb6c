"""Many papers against one library, or against each other."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from neardup._engine.messages import Message
from neardup._engine.summary import Progress, check_progress
from neardup._engine.validation import bad, check_flag, check_workers
from neardup.exceptions import InputError
from neardup.papers.align import LEAST, check_least
from neardup.papers.check import Checking, check_limits, opened
from neardup.papers.library import joined, open_library
from neardup.papers.paper_inputs import is_writing, papers_in, passed_over, read_paper, texts_of
from neardup.papers.report.limits import ReportLimits
from neardup.papers.report.report import Report

if TYPE_CHECKING:
    from neardup.index import Index
    from neardup.papers.library import Library

__all__ = ["Checked", "check_files"]


@dataclass(frozen=True)
class Checked:
    """What became of one paper.

    Parameters
    ----------
    paper : str
        Its path, as given or found.
    report : Report or None
        None where it could not be read, or has no letters.
    problem : str or None
        Why there is none: a sentence in English, with a code and values.
    """

    paper: str
    report: Report | None
    problem: str | None


def check_files(
    papers: Sequence[str | Path],
    library: str | Path | Sequence[str | Path] | Index | Library | None = None,
    *,
    among: bool = False,
    exclude: str | Path | Sequence[str | Path] = (),
    least: int = LEAST,
    limits: ReportLimits | None = None,
    workers: int = 0,
    progress: Progress | None = None,
) -> Iterator[Checked]:
    """Hold many papers against a library, or against each other.

    Parameters
    ----------
    papers : list of str or Path
        Files, and folders of files. Of a folder all files are papers that are of a format in
        which papers are written; what else is there is told of as a note.
    library : str, Path, list of str or Path, Index, Library or None, default=None
        See :func:`neardup.papers.open_library`. It is opened once for all.
    among : bool, default=False
        Whether each paper is held against all others, too.
    exclude, least, limits, workers, progress
        As of :func:`neardup.check`.

    Yields
    ------
    Checked
        In the order of the papers; those of a folder by name. One that cannot be read, or
        has no letters, does not stop the others.

    Raises
    ------
    ParameterError
        If there is nothing to hold the papers against.
    InputError
        If a folder or the library is missing.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> for name in ("a.txt", "b.txt"):
    ...     text = "渡口的新渡轮下周一试航，票价与旧船相同，老人与孩子免费乘坐。"
    ...     _ = pathlib.Path(folder.name, name).write_text(text)
    >>> for checked in check_files([folder.name], among=True):
    ...     checked.report.rates.total > 0.9
    True
    True
    >>> folder.cleanup()
    """
    workers = check_workers(workers)
    check_least(least)
    limits = check_limits(limits)
    progress = check_progress(progress)
    paths = papers_in(papers)
    if not check_flag(among, "among") and library is None:
        raise bad("library", "papers.library_given", library)
    excluded = texts_of(exclude)
    for note in passed_over(papers):
        progress.note(note)
    names = _names_of(paths)
    with _held_against(paths, library, among, workers, progress) as against:
        checking = Checking(against, excluded, least, limits, workers)
        progress.stage("papers", len(paths))
        for path in paths:
            try:
                read, _ = read_paper(path, "papers")
                if not any(map(str.isalnum, read.text)):
                    raise InputError(Message("papers.bad_no_letters", file=path))
            except InputError as error:
                problem = error.message
                progress.problem(problem)
                yield Checked(path, None, problem)
            else:
                # Among papers, one that is alone has nothing to be held against.
                skip = against.positions_of(path) if among else against.own_of(path)
                yield Checked(path, checking.report(read, names[path], skip), None)
            progress.advance(1)


@contextmanager
def _held_against(
    paths: list[str],
    library: str | Path | Sequence[str | Path] | Index | Library | None,
    among: bool,
    workers: int,
    progress: Progress,
) -> Iterator[Library]:
    with ExitStack() as stack:
        libraries = []
        if library is not None:
            libraries.append(stack.enter_context(opened(library, workers, progress)))
        if among:
            # What cannot be read is told where the papers themselves are.
            there = [path for path in paths if os.path.exists(path) and not is_writing(path)]
            there = there or paths
            of_papers = open_library(there, workers=workers, progress=_Silent(progress))
            of_papers.name = "papers"
            libraries.append(stack.enter_context(of_papers))
        yield joined(libraries)


class _Silent(Progress):
    """Passes on how far a run is, and no problems."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress

    def stage(self, name: str, documents: int | None) -> None:
        self._progress.stage(name, documents)

    def advance(self, documents: int, size: int = 0) -> None:
        self._progress.advance(documents, size)


def _names_of(paths: Sequence[str]) -> dict[str, str]:
    """Return what each paper is called: its file's name, or its path where two have one name."""
    counts = Counter(os.path.basename(path) for path in paths)
    return {path: name if counts[name := os.path.basename(path)] == 1 else path for path in paths}
