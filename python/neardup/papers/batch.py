"""Checks of many papers, with one library or with each other."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from neardup.base.messages import Message
from neardup.base.progress import Progress, check_progress
from neardup.base.validation import bad, check_flag, check_workers
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
    """The result for one paper.

    Parameters
    ----------
    paper : str
        The path, as given or found.
    report : Report or None
        None if the paper could not be read, or has no letters.
    problem : str or None
        The reason for a missing report: a sentence in English, with a code and values.
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
    ignore_brackets: bool = False,
    limits: ReportLimits | None = None,
    workers: int = 0,
    progress: Progress | None = None,
) -> Iterator[Checked]:
    """Compare many papers with a library, or with each other.

    Parameters
    ----------
    papers : list of str or Path
        Files, and folders of files. In a folder, all files in formats of documents are
        papers; a note counts the other files.
    library : str, Path, list of str or Path, Index, Library or None, default=None
        See :func:`neardup.papers.open_library`. It is opened once for all papers.
    among : bool, default=False
        Whether each paper is also compared with all others.
    exclude, least, ignore_brackets, limits, workers, progress
        As for :func:`neardup.check`.

    Yields
    ------
    Checked
        In the order of the papers, in a folder by name. A paper that cannot be read, or
        has no letters, does not stop the others.

    Raises
    ------
    ParameterError
        If there is nothing to compare the papers with.
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
    check_flag(ignore_brackets, "ignore_brackets")
    limits = check_limits(limits)
    progress = check_progress(progress)
    paths = papers_in(papers)
    if not check_flag(among, "among") and library is None:
        raise bad("library", "papers.library_given", library)
    excluded = texts_of(exclude)
    for note in passed_over(papers):
        progress.note(note)
    names = _names_of(paths)
    with _open_libraries(paths, library, among, workers, progress) as joint:
        checking = Checking(joint, excluded, least, limits, workers, ignore_brackets)
        progress.stage("papers", len(paths))
        for path in paths:
            problem = None
            try:
                read, _ = read_paper(path, "papers")
            except InputError as error:
                problem = error.message
                progress.problem(problem)
            else:
                if not any(map(str.isalnum, read.text)):
                    problem = Message("papers.bad_no_letters", file=path)
                    # One empty paper among many is no fault of the run.
                    (progress.problem if len(paths) == 1 else progress.note)(problem)
            if problem is None:
                # With `among`, a single paper is never compared with itself.
                skip = joint.positions_of(path) if among else joint.own_of(path)
                yield Checked(path, checking.report(read, names[path], skip), None)
            else:
                yield Checked(path, None, problem)
            progress.advance(1)


@contextmanager
def _open_libraries(
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
            # Unreadable papers are reported when they are checked.
            there = [path for path in paths if os.path.exists(path) and not is_writing(path)]
            there = there or paths
            of_papers = open_library(there, workers=workers, progress=_Silent(progress))
            of_papers.name = "papers"
            libraries.append(stack.enter_context(of_papers))
        yield joined(libraries)


class _Silent(Progress):
    """Passes on the progress of a run, but not its problems."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress

    def stage(
        self, name: str, documents: int | None, share: Callable[[], float] | None = None
    ) -> None:
        self._progress.stage(name, documents, share)

    def advance(self, documents: int, size: int = 0) -> None:
        self._progress.advance(documents, size)


def _names_of(paths: Sequence[str]) -> dict[str, str]:
    """Return a name for each paper: the file name, or the path if two have the same name."""
    counts = Counter(os.path.basename(path) for path in paths)
    return {path: name if counts[name := os.path.basename(path)] == 1 else path for path in paths}
