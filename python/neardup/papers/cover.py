"""The cover of a report: whose paper it is, and the table that says so for a class."""

from __future__ import annotations

import csv
import io
import os
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from neardup.base.files import read_whole
from neardup.base.messages import Message
from neardup.base.validation import bad, check_path
from neardup.exceptions import InputError, ParameterError
from neardup.readers.batch import show
from neardup.readers.document_text import FileText
from neardup.readers.encodings import decode

#: Columns of the table of a class: the paper, then its cover.
COVER_COLUMNS = ("file", "title", "author", "number", "institution")

#: Names of the columns of a table in Chinese.
_CHINESE = {
    "文件": "file",
    "文件名": "file",
    "题目": "title",
    "题名": "title",
    "标题": "title",
    "作者": "author",
    "姓名": "author",
    "编号": "number",
    "学号": "number",
    "单位": "institution",
    "学校": "institution",
    "年份": "year",
    "年": "year",
    "出版年": "year",
    "期刊": "journal",
    "刊名": "journal",
}

#: What programs write as the title or the author of a document that has none.
_PLACEHOLDERS = frozenset(
    {
        "administrator", "admin", "anonymous", "author", "python-docx", "user", "windows user",
        "microsoft office user", "word document", "untitled", "untitled document", "document1",
        "微软用户", "用户", "作者", "文档1", "新建 microsoft word 文档",
        "normal", "normal.dot", "normal.dotm", "normal.wpt",
    }
)  # fmt: skip
_PRINTED = re.compile(r"^Microsoft (?:Office )?Word\s*[-–]\s*", re.IGNORECASE)
_LONGEST = 300


@dataclass(frozen=True)
class Cover:
    """Whose paper a report is about. Nothing of it changes a rate.

    Parameters
    ----------
    title, author : str or None, default=None
        By default a check takes them from the properties of the document, if it has any.
    number : str or None, default=None
        The number of the student or of the paper.
    institution : str or None, default=None

    Raises
    ------
    ParameterError
        If a value is neither text nor None.

    Examples
    --------
    >>> Cover(author="林岚").over(Cover(title="渡口", author="WPS"))
    Cover(title='渡口', author='林岚', number=None, institution=None)
    """

    title: str | None = None
    author: str | None = None
    number: str | None = None
    institution: str | None = None

    def __post_init__(self) -> None:
        for one in fields(self):
            value = getattr(self, one.name)
            if value is not None and not isinstance(value, str):
                raise bad(one.name, "text or None", value)
            if value is not None:
                # JSON cannot represent half of a pair of code units.
                sound = value.encode("utf-8", "replace").decode()
                object.__setattr__(self, one.name, sound)

    def over(self, other: Cover) -> Cover:
        """Return this cover, with the values of another one in place of None."""
        return Cover(
            *(
                getattr(other if getattr(self, one.name) is None else self, one.name)
                for one in fields(self)
            )
        )


def make_cover(values: Mapping[str, str | None], *, several: bool) -> Cover:
    """Return the cover with these values.

    Raises
    ------
    ParameterError
        If there are `several` papers, and a value that no two have in common.
    """
    for name, value in values.items():
        if several and value is not None and name != "institution":
            raise ParameterError(
                Message(
                    "{parameter:named} is for one paper. For several papers, give a table: "
                    "{given[title_pages=FILE]}.",
                    parameter=name,
                )
            )
    return Cover(**values)


def read_cover(paper: FileText) -> Cover:
    """Return the title and the author that a document itself states."""
    stated = paper.properties
    return Cover(
        title=clean_property(stated.get("title")), author=clean_property(stated.get("author"))
    )


def clean_property(value: str | None) -> str | None:
    """Return a property of a document in one line; None for what a program filled in."""
    value = _PRINTED.sub("", " ".join((value or "").split()))[:_LONGEST]
    return None if not value or value.casefold() in _PLACEHOLDERS else value


class RecordTable:
    """The rows of a CSV about papers or sources, by the file or the id of each."""

    def __init__(self, records: dict[str, dict[str, str]], name: str) -> None:
        self._records = records
        self._name = name

    def find_record(self, path: str) -> dict[str, Any]:
        """Return what the table says of a file or id; empty if it does not list it."""
        return self._records.get(self._find_file(path) or "", {})

    def list_gaps(self, paths: Sequence[str], *, unused: bool = True) -> list[Message]:
        """Return notes on papers that are not in the table, and on `unused` lines of it."""
        files = [self._find_file(path) for path in paths]
        notes = []
        if missing := [path for path, file in zip(paths, files, strict=True) if file is None]:
            notes.append(
                Message.counted(
                    "{table} does not list {count} paper: {names}",
                    "{table} does not list {count} papers: {names}",
                    table=self._name,
                    count=len(missing),
                    names=_list_names(missing),
                )
            )
        others = [file for file in self._records if file not in set(files)]
        if unused and others:
            notes.append(
                Message.counted(
                    "{table} lists {count} file that is not among the papers: {names}",
                    "{table} lists {count} files that are not among the papers: {names}",
                    table=self._name,
                    count=len(others),
                    names=_list_names(others),
                )
            )
        return notes

    def _find_file(self, path: str) -> str | None:
        """Return the longest listed end of a path: the path, else its end, else its name."""
        parts = _normalize_path(path).split("/")
        ends = ("/".join(parts[begin:]) for begin in range(len(parts)))
        return next((end for end in ends if end in self._records), None)


@dataclass(frozen=True)
class Covers:
    """Statements on papers: a cover for all, and a table with lines for some."""

    common: Cover = field(default_factory=Cover)
    table: RecordTable | None = None

    def find_cover(self, paper: str) -> Cover:
        """Return what is stated of a paper."""
        if self.table is None:
            return self.common
        return self.common.over(Cover(**self.table.find_record(paper)))

    def list_gaps(self, papers: Sequence[str], *, unused: bool = True) -> list[Message]:
        """Return notes on papers that the table does not list, and on `unused` lines of it."""
        return [] if self.table is None else self.table.list_gaps(papers, unused=unused)


def _normalize_path(file: str) -> str:
    """Return a path in one form: systems write names of files in several."""
    path = unicodedata.normalize("NFC", os.path.normpath(file.strip()))
    return path.replace("\\", "/")


def _list_names(files: Iterable[str]) -> str:
    shown = [show(file) for file in files]
    return ", ".join(shown[:3]) + (", ..." if len(shown) > 3 else "")


def read_table(path: str | Path, columns: Sequence[str]) -> RecordTable:
    """Read a CSV with these columns; the first one names a file or a document.

    Only the first column is required; columns of other names are ignored. The names may also be
    Chinese, and the encoding any that spreadsheets write.

    Raises
    ------
    InputError
        If the file is missing, has no first column, or lists a file twice.
    """
    name = str(check_path(path, "path"))
    return parse_table(read_whole(name), name, columns)


def parse_table(data: bytes, name: str, columns: Sequence[str]) -> RecordTable:
    """Return the table in the bytes of a CSV: see `read_table`."""
    text = decode(data).text
    rows = csv.reader(io.StringIO(text.replace("\0", ""), newline=""))
    try:
        lines = [[value.strip() for value in row] for row in rows]
    except csv.Error as error:
        raise InputError(
            Message("{file}: must be valid CSV ({error}).", file=name, error=str(error))
        ) from error
    header = [_CHINESE.get(column, column.lower()) for column in (lines or [[]])[0]]
    first = columns[0]
    if first not in header:
        # A document of a library may be named by its file.
        header = [first if column == "file" else column for column in header]
    if first not in header:
        raise InputError(
            Message(
                "{file}: the first line must name the columns {columns}; {first} is required. "
                "Got {value} instead.",
                file=name,
                columns=", ".join(columns),
                first=first,
                value=_list_names(header) or "-",
            )
        )
    records: dict[str, dict[str, str]] = {}
    for line in lines[1:]:
        values = {column: value for column, value in zip(header, line, strict=False) if value}
        file = values.get(first)
        if file is None:
            continue
        if _normalize_path(file) in records:
            raise InputError(
                Message(
                    "{file}: must list {paper} only once.", file=name, paper=_list_names([file])
                )
            )
        records[_normalize_path(file)] = {key: values[key] for key in columns[1:] if key in values}
    return RecordTable(records, name)
