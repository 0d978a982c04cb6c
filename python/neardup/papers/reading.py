"""Papers as they are read: files, folders and archives of files, and the texts in them."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from neardup.base.files import printable
from neardup.base.messages import Message
from neardup.base.progress import Progress
from neardup.base.validation import bad, paths_of
from neardup.exceptions import InputError
from neardup.papers.hiding import reorder_paper
from neardup.papers.limits import check_size
from neardup.readers.file_text import FileText, read_file
from neardup.readers.formats import TEXT_EXTENSIONS, check_text_format, is_archive
from neardup.readers.input_files import select_files

#: A longer text is no path, and neither is one with sentence marks and no extension.
_LONGEST_PATH = 255
_SENTENCES = tuple("。，！？；")
_EXTENSION = re.compile(r"\.[A-Za-z0-9]{1,8}\Z")

#: Document formats that no reader reads. In a folder of papers such a file is a paper,
#: refused with the way out; other files, such as pictures, are skipped.
_WRITING = (".doc", ".dot", ".odt", ".pages", ".rtf", ".wps", ".wpt")

#: Pages that a check wrote have this tag near the beginning.
_PAGES = (".html", ".htm")
_GENERATOR = b'<meta name="generator" content="neardup check">'
_HEAD = 512


@dataclass(frozen=True)
class Reading:
    """A paper as it was read: its text, or the problem with it.

    Reports call it by its `name`, and reports of other papers by its `id` if it is a source. The
    `path` is None unless it is a file of this machine.
    """

    name: str
    file: FileText | None
    problem: str | None = None
    path: str | None = None
    id: str | None = None

    @property
    def paper(self) -> str:
        """The path, or the name of what has none."""
        return self.path or self.name


def read_paper(
    paper: str | Path | FileText, parameter: str, encoding: str | None
) -> tuple[FileText, str]:
    """Return the text of a file, and its name."""
    if isinstance(paper, FileText):
        return reorder_paper(paper), "paper"
    if not isinstance(paper, (str, os.PathLike)):
        raise bad(parameter, "a path, or what neardup.readers.read_file returned", paper)
    if isinstance(paper, str) and _is_text(paper):
        raise InputError(
            Message(
                "{parameter:named} must be the path of a file, not a text: {value}... For a text "
                'in memory: neardup.readers.read_bytes(text.encode(), "essay.txt").',
                parameter=parameter,
                value=repr(paper[:20]),
            )
        )
    return reorder_paper(read_file(paper, encoding=encoding)), os.path.basename(paper)


def _is_text(paper: str) -> bool:
    if len(os.path.basename(paper).encode("utf-8", "replace")) > _LONGEST_PATH or "\n" in paper:
        return not os.path.exists(paper)
    if _EXTENSION.search(paper):
        return False
    return any(mark in paper for mark in _SENTENCES) and not os.path.exists(paper)


def read_excluded(
    exclude: str | Path | FileText | Sequence[str | Path | FileText],
    encoding: str | None,
    progress: Progress,
) -> list[str]:
    """Return the texts of excluded files; what of them could not be read is a problem."""
    if isinstance(exclude, (str, os.PathLike, FileText)):
        exclude = [exclude]
    if isinstance(exclude, (bytes, dict)) or not isinstance(exclude, Sequence):
        raise bad(
            "exclude",
            "a path, a list of paths, or of what neardup.readers.read_file returned",
            exclude,
        )
    read = [read_paper(file, "exclude", encoding)[0] for file in exclude]
    for problem in (problem for file in read for problem in file.problems):
        progress.problem(problem)
    return [file.text for file in read]


def read_files(
    paths: Sequence[str], values: Mapping[str, Any], *, beside_library: bool
) -> Iterator[Reading]:
    """Yield the readings of files, with the options `values`.

    If they are read `beside_library`, their ids differ from those in a folder of the library.
    """
    progress: Progress = values["progress"]
    counts = Counter(os.path.basename(path) for path in paths)
    here = os.path.join(os.curdir, "") if beside_library else ""
    for path in paths:
        # Papers of the same name in different folders are named by their paths.
        name = path if counts[os.path.basename(path)] > 1 else os.path.basename(path)
        id = printable(path if os.path.isabs(path) else here + path)
        try:
            read, _ = read_paper(path, "papers", values["encoding"])
            check_size(read, path, values["memory"])
        except InputError as error:
            progress.problem(error.message)
            yield Reading(name, None, error.message, path)
            continue
        for lost in read.problems:
            progress.problem(lost)
        if any(map(str.isalnum, read.text)):
            yield Reading(name, read, None, path, id)
            continue
        problem = Message(
            "{file}: must have letters or digits. Got a text without any instead.",
            code="no_letters",
            file=path,
        )
        # One empty paper among many is no fault of the run.
        (progress.problem if len(paths) == 1 else progress.note)(problem)
        yield Reading(name, None, problem, path)


def find_papers(
    papers: Sequence[str | Path], format: str | None = None
) -> tuple[list[str], list[Message]]:
    """Return the papers among paths, in folders and in archives, each once; and notes on the rest.

    With the format text, files of unknown extensions are papers too. Raises InputError if a folder
    has no papers.
    """
    check_text_format(format)
    selections = [_select_papers(paper, format) for paper in paths_of(papers, "papers")]
    paths = dict.fromkeys(path for selected, _ in selections for path in selected)
    return list(paths), [note for _, notes in selections for note in notes]


def _select_papers(paper: str, format: str | None) -> tuple[list[str], list[Message]]:
    """Return the papers that a path names, sorted, and notes on what else is there."""
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
