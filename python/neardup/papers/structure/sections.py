"""The sections of a paper: the positions and depths of its headings."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from neardup.base.validation import check_string
from neardup.papers.structure.asides import lists
from neardup.papers.structure.contents import contents, is_heading
from neardup.papers.structure.headings import form
from neardup.papers.structure.lines import lines
from neardup.papers.structure.outline import outline

__all__ = ["MOST_PARTS", "Marked", "Part", "footnotes_begin", "sections"]

#: Largest number of parts.
MOST_PARTS = 60

#: A file's marked headings are used if there are at least this many.
_FEWEST_MARKED = 2


class Marked(Protocol):
    """A heading that the file marks: half-open span in code points, and depth."""

    @property
    def begin(self) -> int: ...
    @property
    def end(self) -> int: ...
    @property
    def level(self) -> int: ...


@dataclass(frozen=True)
class Part:
    """A part of a paper under one heading.

    Parameters
    ----------
    title : str
        The heading with its number, runs of white space as one space; empty for the
        text before the first heading, and for footnotes.
    level : int
        Depth of the heading, from 1; 0 for the text before the first one.
    begin, end : int
        Half-open span of the text, in code points. It begins with the heading.
    """

    title: str
    level: int
    begin: int
    end: int


def sections(text: str, headings: Sequence[Marked] = ()) -> list[Part]:
    """Return the parts of a paper, cut at its headings.

    Parameters
    ----------
    text : str
        The paper's text.
    headings : sequence, default=()
        Headings that the file marks, such as `neardup.readers.files.FileText.headings`:
        objects with `begin`, `end` (half-open, in code points of `text`) and `level`
        (from 1). An empty heading begins the footnotes. With fewer than two others,
        headings are recognized by their form: 第一章, 第一节, 一、, （一）, 1, 1.1,
        Chapter 1, I., ``#``, and words such as 摘要 or References alone on a line.

    Returns
    -------
    list of Part
        Consecutive parts that cover the whole text; empty for an empty text. Text
        before the first heading is a part of level 0 without a title; if it is only
        white space, it belongs to the first heading's part.

    Raises
    ------
    ParameterError
        If `text` is not text.

    Notes
    -----
    There are at most 60 parts: of more, the deepest levels are merged into the parts above
    them; if the first level alone has more, the paper is one part. A line that looks like
    a heading is none if it is in a table of contents or a list of references, out of
    sequence, in the middle of a wrapped paragraph, or directly before another line of its
    kind. Linear in the length of the text, except for sorting the headings.

    Examples
    --------
    >>> text = "1 引言\\n渡口在镇东。\\n2 方法\\n2.1 资料\\n县志三种。"
    >>> for part in sections(text):
    ...     print(part.level, part.title, part.begin, part.end)
    1 1 引言 0 12
    1 2 方法 12 17
    2 2.1 资料 17 29
    """
    check_string(text, "text")
    if not text:
        return []
    found = _marked(text, headings)
    by_form = len(found) < _FEWEST_MARKED
    found = (_by_form(text) or found) if by_form else _with_contents(text, found)
    notes = footnotes_begin(headings)
    if notes is None or not notes < len(text):
        return _at_most(text, found)
    found = [part for part in found if part.begin < notes]
    return _at_most(text, [*found, Part("", 1, notes, notes)])


def footnotes_begin(headings: Sequence[Marked]) -> int | None:
    """Return where the footnotes begin; None without an empty heading."""
    return min((one.begin for one in headings if one.begin == one.end), default=None)


def _with_contents(text: str, found: list[Part]) -> list[Part]:
    """Add the headings of tables of contents, which Word, for one, does not mark."""
    all_lines = list(lines(text))
    known = {part.begin for part in found}
    tables = []
    for first, _ in contents(all_lines):
        line = all_lines[first]
        if is_heading(line.text) and not known & set(range(line.begin, line.end)):
            tables.append(Part(" ".join(line.text.split()), 1, line.begin, line.end))
    return sorted([*found, *tables], key=lambda part: part.begin)


def _marked(text: str, headings: Sequence[Marked]) -> list[Part]:
    """Return the marked headings as parts that end with their headings."""
    found: list[Part] = []
    last = 0
    for heading in sorted(headings, key=lambda heading: (heading.begin, heading.level)):
        title = " ".join(text[heading.begin : heading.end].split()).strip("# ")
        if not title or heading.begin < last:
            continue
        # The span may lack a prefix such as number signs.
        line = text.rfind("\n", last, heading.begin) + 1 or last
        found.append(Part(title, max(heading.level, 1), line, heading.end))
        last = heading.end
    return found


def _by_form(text: str) -> list[Part]:
    found = list(lines(text))
    tables, works = lists(found)
    # The headings of both are headings of the paper.
    inside = sorted((begin + 1, end) for begin, end in [*tables, *works])
    begins = [begin for begin, _ in inside]

    def is_open(at: int) -> bool:
        before = bisect_right(begins, at) - 1
        return before < 0 or inside[before][1] <= at

    forms = [form(line.text) if is_open(line.begin) else None for line in found]
    return [
        Part(_title(found[at].text, kind.title, kind.style), level, found[at].begin, found[at].end)
        for at, kind, level in outline(found, forms)
    ]


def _title(line: str, words: str, style: str) -> str:
    return words if style in ("word", "markdown") else " ".join(line.strip("*_ ").split())


def _at_most(text: str, found: list[Part]) -> list[Part]:
    """Return the parts, without the deepest levels if there are too many parts."""
    parts = _parts(text, found)
    for level in sorted({part.level for part in found}, reverse=True):
        if len(parts) <= MOST_PARTS:
            break
        parts = _parts(text, [part for part in found if part.level < level])
    return parts


def _parts(text: str, found: list[Part]) -> list[Part]:
    if not found:
        return [Part("", 0, 0, len(text))]
    begins = [part.begin for part in found]
    parts = []
    if text[: begins[0]].strip():
        parts.append(Part("", 0, 0, begins[0]))
    else:
        begins[0] = 0
    for part, begin, end in zip(found, begins, [*begins[1:], len(text)], strict=True):
        parts.append(Part(part.title, part.level, begin, end))
    return parts
