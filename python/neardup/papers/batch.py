"""Checks of many papers, with one library or with each other."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from neardup.base.files import printable
from neardup.base.messages import Message
from neardup.base.progress import Progress
from neardup.base.validation import bad, check_flag, paths_of
from neardup.exceptions import InputError
from neardup.options.groups import CheckParameters
from neardup.options.signatures import complete_options, takes_options
from neardup.papers.check import (
    PaperChecker,
    check_limits,
    check_without,
    read_paper,
    tell_nothing_compared,
    texts_of,
    use_library,
)
from neardup.papers.copies import copies_of
from neardup.papers.library import combine_libraries, library_of
from neardup.papers.limits import ReportLimits, check_size
from neardup.papers.report import Report

if TYPE_CHECKING:
    from neardup.index import Index
    from neardup.papers.library import Library
    from neardup.readers.file_text import FileText

#: Document formats that no reader reads. In a folder of papers such a file is a paper,
#: refused with the way out; other files, such as pictures, are skipped.
_WRITING = (".doc", ".dot", ".odt", ".pages", ".rtf", ".wps", ".wpt")

#: Pages that a check wrote have this tag near the beginning.
_PAGES = (".html", ".htm")
_GENERATOR = b'<meta name="generator" content="neardup check">'
_HEAD = 512


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
    given = complete_options(check_files, options)
    workers, progress, encoding = (given[name] for name in ("workers", "progress", "encoding"))
    format = given["format"]
    limits = check_limits(limits)
    paths = papers_in(papers, format)
    if not check_flag(compare_papers, "compare_papers") and library is None:
        raise bad(
            "library",
            "given, unless the papers are compared with each other (compare_papers)",
            library,
        )
    excluded = texts_of(exclude, encoding, progress)
    without = check_without(without_sources)
    for note in notes_on_other_files(papers, format):
        progress.note(note)
    names = _names_of(paths)
    # No file in a folder of the library has such an id.
    here = "" if library is None else os.path.join(os.curdir, "")
    ids = {path: printable(path if os.path.isabs(path) else here + path) for path in paths}
    with ExitStack() as stack:
        libraries = []
        if library is not None:
            documents = use_library(library, workers, progress, encoding=encoding, format=format)
            libraries.append(stack.enter_context(documents))
        readings: Iterable[_Reading] = _read(paths, encoding, given["memory"], progress)
        if compare_papers:
            progress.stage("library", len(paths))
            readings = list(_advancing(readings, progress))
            checked = [(path, read) for path, read, _ in readings if read]
            copies = copies_of((names[path], read.text) for path, read in checked)
            texts = [
                (ids[path], names[path], path, read.text)
                for path, read in (checked[place] for place in copies.searched)
            ]
            libraries.append(stack.enter_context(library_of(texts, workers)))
        joint = combine_libraries(libraries)
        begin, number = len(joint) - (len(libraries[-1]) if compare_papers else 0), 0
        checking = PaperChecker(
            joint,
            excluded,
            given["min_passage_length"],
            limits,
            workers,
            without,
            compare_papers,
            count_shared=given["count_shared"],
        )
        progress.stage("papers", len(paths))
        for path, read, problem in _advancing(readings, progress):
            if read is None:
                yield CheckResult(path, None, problem, name=names[path])
                continue
            skip = joint.positions_of(path)
            if compare_papers:
                skip |= {begin + copies.skipped[number]}
            report = checking.report(read, names[path], skip)
            if compare_papers:
                same = copies.note(number)
                report = replace(report, notes=(*report.notes, *filter(None, [same])))
                number += 1
            tell_nothing_compared(report, progress)
            id = ids[path] if compare_papers else None
            yield CheckResult(path, report, None, id, read.properties, names[path])


_Reading = tuple[str, "FileText | None", str | None]


def _read(
    paths: Sequence[str], encoding: str | None, memory: int, progress: Progress
) -> Iterator[_Reading]:
    """Yield each path with the text of its file, or with the problem with it."""
    for path in paths:
        try:
            read, _ = read_paper(path, "papers", encoding)
            check_size(read, path, memory)
        except InputError as error:
            progress.problem(error.message)
            yield path, None, error.message
            continue
        for lost in read.problems:
            progress.problem(lost)
        if any(map(str.isalnum, read.text)):
            yield path, read, None
            continue
        problem = Message(
            "{file}: must have letters or digits. Got a text without any instead.",
            code="no_letters",
            file=path,
        )
        # One empty paper among many is no fault of the run.
        (progress.problem if len(paths) == 1 else progress.note)(problem)
        yield path, None, problem


def _advancing(readings: Iterable[_Reading], progress: Progress) -> Iterator[_Reading]:
    for reading in readings:
        yield reading
        progress.advance(1)


def _names_of(paths: Sequence[str]) -> dict[str, str]:
    """Return a name for each paper: the file name, or the path if two have the same name."""
    counts = Counter(os.path.basename(path) for path in paths)
    return {path: name if counts[name := os.path.basename(path)] == 1 else path for path in paths}


def papers_in(papers: Sequence[str | Path], format: str | None = None) -> list[str]:
    """Return the papers among paths, in folders and in archives, each once.

    With the format text, files of unknown extensions are papers too. Raises InputError if a folder
    has no papers.
    """
    from neardup.readers.formats import check_text_format

    check_text_format(format)
    found = (path for paper in paths_of(papers, "papers") for path in _below(paper, format)[0])
    return list(dict.fromkeys(found))


def notes_on_other_files(papers: Sequence[str | Path], format: str | None = None) -> list[Message]:
    """Return notes on what else is in each folder and archive."""
    return [note for paper in paths_of(papers, "papers") for note in _below(paper, format)[1]]


def _below(paper: str, format: str | None) -> tuple[list[str], list[Message]]:
    """Return the papers that a path names, sorted, and notes on what else is there."""
    from neardup.readers.formats import TEXT_EXTENSIONS, is_archive
    from neardup.readers.input_files import select_files

    if not os.path.isdir(paper) and not (is_archive(paper) and os.path.isfile(paper)):
        return [paper], []
    selection = select_files(paper, format, extensions=(*TEXT_EXTENSIONS, *_WRITING))
    papers = [file.path for file in selection.files if not _is_report(file.path)]
    if not papers:
        raise InputError(
            Message(
                "{folder}: must contain papers. Got a folder without any instead.", folder=paper
            )
        )
    notes = [
        Message("{file}: {said:inside}", file=selection.name, said=note) for note in selection.notes
    ]
    return papers, [*notes, *(problem.message for problem in selection.problems)]


def _is_report(path: str) -> bool:
    """Return whether a file is a page that a check wrote, which is never a paper."""
    if not path.lower().endswith(_PAGES):
        return False
    try:
        with open(path, "rb") as file:
            return _GENERATOR in file.read(_HEAD)
    except OSError:
        return False
