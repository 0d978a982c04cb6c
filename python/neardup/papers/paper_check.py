"""The check of papers with a library, with each other, or both.

`check` is for one paper, `check_files` for many. The service brings the papers that it reads to a
`PaperCheck`, and takes the results.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from neardup.base.messages import Message
from neardup.base.progress import Progress
from neardup.base.validation import bad, check_flag
from neardup.options.groups import CheckParameters
from neardup.options.signatures import complete_options, takes_options
from neardup.papers.copies import Copies, find_copies
from neardup.papers.cover import Covers, RecordTable
from neardup.papers.library import Library, combine_libraries, make_library, open_library
from neardup.papers.limits import ReportLimits, check_size
from neardup.papers.reading import (
    Reading,
    find_papers,
    read_excluded,
    read_files,
    read_paper,
)
from neardup.papers.report import Report
from neardup.papers.settings import CheckSettings, Paper
from neardup.papers.steps import check_paper
from neardup.papers.verdict import Thresholds
from neardup.readers.batch import find_code
from neardup.readers.document_text import FileText

if TYPE_CHECKING:
    from neardup.index import Index

#: Makes the report of a paper, or returns the reason why there is none.
Compare = Callable[[CheckSettings, Library, Paper], Report | str]


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

    def check_all(
        self, readings: Iterable[Reading], count: int, compare: Compare = check_paper
    ) -> Iterator[CheckResult]:
        """Yield the results for papers, `count` of them, in their order."""
        with ExitStack() as stack:
            libraries = [] if self.library is None else [self.library]
            copies = None
            if self.compare_papers:
                self.progress.stage("library", count)
                readings = list(self._advance(readings))
                read = [(one, one.file) for one in readings if one.file is not None]
                copies = find_copies((one.name, file.text) for one, file in read)
                papers = _make_library([read[place] for place in copies.searched], self.settings)
                libraries.append(stack.enter_context(papers))
            library, number = combine_libraries(libraries), 0
            self.progress.stage("papers", count)
            for reading in self._advance(readings):
                if reading.file is None:
                    yield CheckResult(reading.paper, None, reading.problem, name=reading.name)
                    continue
                paper = self._make_paper(reading, reading.file, library, copies, number)
                yield self._make_result(reading, paper, compare(self.settings, library, paper))
                number += 1

    def _make_paper(
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
        cover = self.covers.find_cover(reading.paper)
        return Paper(reading.name, file, frozenset(skip), cover, note)

    def _make_result(self, reading: Reading, paper: Paper, result: Report | str) -> CheckResult:
        if isinstance(result, str):
            return CheckResult(reading.paper, None, result, name=reading.name)
        tell_nothing_compared(result, self.progress)
        id = reading.id if self.compare_papers else None
        return CheckResult(reading.paper, result, None, id, paper.file.properties, reading.name)

    def _advance(self, readings: Iterable[Reading]) -> Iterator[Reading]:
        for reading in readings:
            yield reading
            self.progress.advance(1)


def _make_library(papers: Iterable[tuple[Reading, FileText]], settings: CheckSettings) -> Library:
    texts = [(one.id or one.name, one.name, one.path, file.text) for one, file in papers]
    return make_library(texts, settings.workers)


def tell_nothing_compared(report: Report, progress: Progress) -> None:
    """Report a paper that was compared with nothing as a problem."""
    if report.no_verdict == "nothing_compared":
        note = next(n for n in report.notes if find_code(n) == report.no_verdict)
        progress.problem(Message("{file}: {said:inside}", file=report.paper, said=note))


@takes_options
def check(
    paper: str | Path | FileText,
    library: str | Path | Sequence[str | Path] | Index | Library,
    *,
    name: str | None = None,
    exclude: str | Path | FileText | Sequence[str | Path | FileText] = (),
    without_sources: Sequence[str] = (),
    limits: ReportLimits | None = None,
    **options: Unpack[CheckParameters],
) -> Report:
    """Find the parts of a paper that occur in other documents.

    Parameters
    ----------
    paper : str, Path or FileText
        A file (.txt in any common encoding, .md, .pdf, .docx, .html), or a result of
        :func:`neardup.readers.read_file` or :func:`neardup.readers.read_bytes`. For text in
        memory, use ``read_bytes(text.encode(), "essay.txt")``.
    library : str, Path, list of str or Path, Index or Library
        The documents to compare with: see :func:`neardup.papers.open_library`. The paper's
        own file in a folder is left out.
    name : str or None, default=None
        Name of the paper in the report; by default the file's name.
    exclude : str, Path, FileText or list of them, default=()
        Excluded text: what occurs in these files, such as a template or the author's own
        earlier work, is neither copied nor counted.
    without_sources : list of str, default=()
        Sources that are left out, by the ids of their documents in the library: text that only
        they have counts, but is not copied.
    limits : ReportLimits or None, default=None
        Limits on the passages that the report shows; None for the default limits. Rates and
        counts include every passage, and a note tells how many are not shown.
    {options}

    Returns
    -------
    Report

    Raises
    ------
    InputError
        If a file is missing or cannot be read.
    ParameterError
        If a parameter is out of bounds.
    MissingDependencyError
        If a package that reads a format is not installed.

    See Also
    --------
    neardup.papers.check_files : many papers against one library, or each other.
    compare : how similar two texts are.

    Notes
    -----
    Candidates are documents of the library that share winnowed shingles with the paper
    [1]_, at most 1,000. The paper is aligned with each (:func:`neardup.papers.align`). A
    character is copied if it is in a passage of any source. All rates are shares of the
    counted characters, and overlapping passages count once. Look-alike letters of other
    scripts, invisible characters and hidden text are undone first, and are findings of the
    report. Linear in the paper and its candidates.

    References
    ----------
    .. [1] Schleimer, Wilkerson, Aiken. Winnowing: local algorithms for document
       fingerprinting. SIGMOD 2003.

    Examples
    --------
    >>> import neardup, pathlib, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> source, paper = (pathlib.Path(folder.name, name) for name in ("a.txt", "b.txt"))
    >>> copied = "渡口的新渡轮下周一试航，票价与旧船相同，老人与孩子免费乘坐。"
    >>> _ = source.write_text("据港务局消息，" + copied)
    >>> _ = paper.write_text("本文研究渡轮。" + copied)
    >>> report = neardup.check(paper, library=source)
    >>> round(report.rates.total, 2), report.sources[0].id == str(source)
    (0.82, True)
    >>> passage = report.passages[0]
    >>> report.text[passage.begin : passage.end] == copied[:-1]
    True
    >>> folder.cleanup()
    """
    values = complete_options(check, options)
    if name is not None and not isinstance(name, str):
        raise bad("name", "text or None", name)
    progress = values["progress"]
    file, own_name = read_paper(paper, "paper", values["encoding"])
    check_size(file, name or own_name, values["memory"])
    for problem in file.problems:
        progress.problem(problem)
    settings = make_settings(values, exclude, without_sources, limits)
    with opened(library, values) as documents:
        skip = documents.positions_of(paper) if isinstance(paper, (str, os.PathLike)) else set()
        whole = Paper(name or own_name, file, frozenset(skip))
        report = check_paper(settings, documents, whole)
    tell_nothing_compared(report, progress)
    return report


@takes_options
def check_files(
    papers: Sequence[str | Path],
    library: str | Path | Sequence[str | Path] | Index | Library | None = None,
    *,
    compare_papers: bool = False,
    exclude: str | Path | Sequence[str | Path] = (),
    without_sources: Sequence[str] = (),
    limits: ReportLimits | None = None,
    **options: Unpack[CheckParameters],
) -> Iterator[CheckResult]:
    """Compare many papers with a library, or with each other.

    Parameters
    ----------
    papers : list of str or Path
        Files, and folders and archives of files. In these, all files in formats of documents
        are papers; a note counts the other files.
    library : str, Path, list of str or Path, Index, Library or None, default=None
        See :func:`neardup.papers.open_library`. It is opened once for all papers.
    compare_papers : bool, default=False
        Whether each paper is also compared with all others.
    exclude, without_sources, limits
        As for :func:`neardup.check`.
    {options}

    Yields
    ------
    CheckResult
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
    >>> for checked in check_files([folder.name], compare_papers=True):
    ...     checked.report.rates.total > 0.9
    True
    True
    >>> folder.cleanup()
    """
    values = complete_options(check_files, options)
    paths, notes = find_papers(papers, values["format"])
    if not check_flag(compare_papers, "compare_papers") and library is None:
        raise bad(
            "library",
            "given, unless the papers are compared with each other (compare_papers)",
            library,
        )
    settings = make_settings(values, exclude, without_sources, limits)
    for note in notes:
        values["progress"].note(note)
    yield from check_paths(paths, library, settings, values, compare_papers=compare_papers)


def make_settings(
    values: Mapping[str, Any],
    exclude: str | Path | FileText | Sequence[str | Path | FileText],
    without_sources: Sequence[str],
    limits: ReportLimits | None,
    thresholds: Thresholds | None = None,
    descriptions: RecordTable | None = None,
) -> CheckSettings:
    """Return the settings of a check: the options `values`, and excluded files as texts."""
    is_list = isinstance(without_sources, Sequence)
    is_list &= not isinstance(without_sources, (str, bytes))
    if not is_list or not all(isinstance(source, str) for source in without_sources):
        raise bad("without_sources", "a list of ids", without_sources)
    if limits is not None and not isinstance(limits, ReportLimits):
        raise bad("limits", "ReportLimits or None", limits)
    return CheckSettings(
        values["min_passage_length"],
        read_excluded(exclude, values["encoding"], values["progress"]),
        frozenset(without_sources),
        values["count_shared"],
        limits or ReportLimits(),
        thresholds,
        descriptions,
        values["workers"],
    )


@contextmanager
def opened(
    library: str | Path | Sequence[str | Path] | Index | Library, values: Mapping[str, Any]
) -> Iterator[Library]:
    """Yield an open library; close it if it was opened here."""
    reading = {name: values[name] for name in ("format", "encoding", "workers", "progress")}
    opened_library = open_library(library, **reading)
    try:
        yield opened_library
    finally:
        if opened_library is not library:
            opened_library.close()


def check_paths(
    paths: Sequence[str],
    library: str | Path | Sequence[str | Path] | Index | Library | None,
    settings: CheckSettings,
    values: Mapping[str, Any],
    *,
    compare_papers: bool,
    covers: Covers | None = None,
) -> Iterator[CheckResult]:
    """Yield the results for files, whose library is open meanwhile."""
    with ExitStack() as stack:
        documents = None
        if library is not None:
            documents = stack.enter_context(opened(library, values))
        check = PaperCheck(
            settings, documents, compare_papers, covers or Covers(), values["progress"]
        )
        readings = read_files(paths, values, beside_library=library is not None)
        yield from check.check_all(readings, len(paths))
