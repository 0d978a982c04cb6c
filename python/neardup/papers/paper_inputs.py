"""Inputs of a check: papers, folders of papers, and excluded texts."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from neardup.base.messages import Message
from neardup.base.validation import bad, paths_of
from neardup.exceptions import InputError

if TYPE_CHECKING:
    from neardup.readers.files import FileText

__all__ = ["is_writing", "papers_in", "passed_over", "read_paper", "texts_of"]

#: Document formats that no reader reads. In a folder of papers such a file is a paper,
#: refused with the way out; other files, such as pictures, are skipped.
_WRITING = (".doc", ".docm", ".dot", ".odt", ".pages", ".rtf", ".wps", ".wpt")

#: Pages that a check wrote have this tag near the beginning.
_PAGES = (".html", ".htm")
_GENERATOR = b'<meta name="generator" content="neardup check">'
_HEAD = 512

#: Largest number of kinds of files that a note names.
_NAMED = 6

#: A longer text is no path, and neither is one with sentence marks and no extension.
_LONGEST_PATH = 255
_SENTENCES = tuple("。，！？；")
_EXTENSION = re.compile(r"\.[A-Za-z0-9]{1,8}\Z")


def read_paper(paper: str | Path | FileText, parameter: str) -> tuple[FileText, str]:
    """Return the text of a file, and its name."""
    from neardup.readers.files import FileText, read_file

    if isinstance(paper, FileText):
        return paper, "paper"
    if not isinstance(paper, (str, os.PathLike)):
        raise bad(parameter, "papers.path_or_read", paper)
    if isinstance(paper, str) and _is_text(paper):
        raise InputError(
            Message("papers.text_for_path", parameter=parameter, value=repr(paper[:20]))
        )
    return read_file(paper), os.path.basename(paper)


def _is_text(paper: str) -> bool:
    if len(os.path.basename(paper).encode("utf-8", "replace")) > _LONGEST_PATH or "\n" in paper:
        return not os.path.exists(paper)
    if _EXTENSION.search(paper):
        return False
    return any(mark in paper for mark in _SENTENCES) and not os.path.exists(paper)


def texts_of(exclude: str | Path | FileText | Sequence[str | Path | FileText]) -> list[str]:
    """Return the texts of excluded files."""
    from neardup.readers.files import FileText

    if isinstance(exclude, (str, os.PathLike, FileText)):
        exclude = [exclude]
    if isinstance(exclude, (bytes, dict)) or not isinstance(exclude, Sequence):
        raise bad("exclude", "papers.paths_or_read", exclude)
    return [read_paper(one, "exclude")[0].text for one in exclude]


def papers_in(papers: Sequence[str | Path], *, apart_from: Sequence[str] = ()) -> list[str]:
    """Return the papers among paths and in folders, each once.

    Parameters
    ----------
    papers : list of str or Path
    apart_from : list of str, default=()
        Subfolders that are not searched for papers, such as the folder of the reports.

    Raises
    ------
    InputError
        If a folder has no papers.
    """
    found: dict[str, None] = {}
    for paper in paths_of(papers, "papers"):
        if os.path.isdir(paper):
            inside = [path for path, is_paper in _below(paper, apart_from) if is_paper]
            if not inside:
                raise InputError(Message("papers.folder_without_papers", folder=paper))
            found.update(dict.fromkeys(inside))
        else:
            found[paper] = None
    return list(found)


def passed_over(papers: Sequence[str | Path], *, apart_from: Sequence[str] = ()) -> list[Message]:
    """Return a note on the other files of each folder."""
    said = []
    for paper in paths_of(papers, "papers"):
        if not os.path.isdir(paper):
            continue
        others = [path for path, is_paper in _below(paper, apart_from) if not is_paper]
        kinds = Counter(os.path.splitext(path)[1].lower() or "?" for path in others)
        shown = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items())[:_NAMED])
        if others:
            shown += ", ..." if len(kinds) > _NAMED else ""
            note = Message("papers.passed_over", folder=paper, count=len(others), kinds=shown)
            said.append(note)
    return said


def is_writing(path: str) -> bool:
    """Return whether a file is by its name a document in a format that no reader reads."""
    return path.lower().endswith(_WRITING)


def _below(folder: str, apart_from: Sequence[str]) -> Iterator[tuple[str, bool]]:
    """Yield the files in a folder, sorted by name, and whether each is a paper."""
    from neardup.readers.input_files import files_below

    texts, others = files_below(folder)
    top = os.path.join(os.path.realpath(folder), "")
    apart = [os.path.join(os.path.realpath(path), "") for path in apart_from]
    apart = [path for path in apart if path != top and path.startswith(top)]
    of_text = set(texts)
    for name in sorted([*texts, *others], key=lambda name: name.replace(os.sep, "/")):
        path = os.path.join(folder, name)
        if any(os.path.realpath(path).startswith(one) for one in apart) or _is_report(path):
            continue
        yield path, name in of_text or is_writing(name)


def _is_report(path: str) -> bool:
    """Return whether a file is a page that a check wrote, which is never a paper."""
    if not path.lower().endswith(_PAGES):
        return False
    try:
        with open(path, "rb") as file:
            return _GENERATOR in file.read(_HEAD)
    except OSError:
        return False
