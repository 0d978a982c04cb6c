"""The sections of a paper: the real headings among similar lines, and their depths."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from neardup.base.validation import check_string
from neardup.papers.structure.headings import (
    Form,
    Line,
    ends_sentence,
    find_wrapped_width,
    measure_width,
    parse_heading,
    split_lines,
)
from neardup.papers.structure.lists import find_contents, find_lists, is_contents_heading
from neardup.readers.document_text import Heading

#: Largest number of parts.
MOST_PARTS = 60

#: Position of a line, and its form.
PlacedForm = tuple[int, Form]

#: Numbers that may be missing between two headings, since some are not recognized.
_MISSING = 1
#: A line of this share of the usual width is full: the next line continues it.
_FULL = 0.8
#: This many headings without text between them are a table of contents.
_LISTING = 4

#: A file's marked headings are used if there are at least this many.
_FEWEST_MARKED = 2


@dataclass(frozen=True)
class Part:
    """A part of a paper under one heading, a half-open span that begins with the heading.

    The title is empty and the level 0 for the text before the first heading; footnotes have an
    empty title and level 1.
    """

    title: str
    level: int
    begin: int
    end: int


def find_sections(text: str, headings: Sequence[Heading] = ()) -> list[Part]:
    """Return the parts of a paper, cut at its headings: consecutive, and covering the whole text.

    `headings` are those that the file marks; an empty one begins the footnotes. With fewer than two
    others, headings are lines that begin with ``#``; or with 第一章, Chapter 1, 1 or 1.1, and words
    such as 摘要 or References alone on a line. A line with a number is not a heading in a table of
    contents or a list of references. It is not one out of sequence, or in the middle of a wrapped
    paragraph. It is not one next to the line with the number before or after it.

    There are at most 60 parts: of more, the deepest levels are merged into the parts above them;
    if the first level alone has more, the paper is one part. Linear, but for sorting the
    headings.

    Examples
    --------
    >>> text = "1 引言\\n渡口在镇东。\\n2 方法\\n2.1 资料\\n县志三种。"
    >>> for part in find_sections(text):
    ...     print(part.level, part.title, part.begin, part.end)
    1 1 引言 0 12
    1 2 方法 12 17
    2 2.1 资料 17 29
    """
    check_string(text, "text")
    if not text:
        return []
    parts = _find_marked(text, headings)
    by_form = len(parts) < _FEWEST_MARKED
    parts = (_find_by_form(text) or parts) if by_form else _add_contents(text, parts)
    notes = find_footnotes(headings)
    if notes is None or not notes < len(text):
        return _limit_parts(text, parts)
    parts = [part for part in parts if part.begin < notes]
    return _limit_parts(text, [*parts, Part("", 1, notes, notes)])


def find_footnotes(headings: Sequence[Heading]) -> int | None:
    """Return where the footnotes begin; None without an empty heading."""
    return min(
        (heading.begin for heading in headings if heading.begin == heading.end), default=None
    )


def _add_contents(text: str, parts: list[Part]) -> list[Part]:
    """Add the headings of tables of contents, which Word, for one, does not mark."""
    all_lines = list(split_lines(text))
    known = {part.begin for part in parts}
    tables = []
    for first, _ in find_contents(all_lines):
        line = all_lines[first]
        if is_contents_heading(line.text) and not known & set(range(line.begin, line.end)):
            tables.append(Part(" ".join(line.text.split()), 1, line.begin, line.end))
    return sorted([*parts, *tables], key=lambda part: part.begin)


def _find_marked(text: str, headings: Sequence[Heading]) -> list[Part]:
    """Return the marked headings as parts that end with their headings."""
    parts: list[Part] = []
    last = 0
    for heading in sorted(headings, key=lambda heading: (heading.begin, heading.level)):
        title = " ".join(text[heading.begin : heading.end].split()).strip("# ")
        if not title or heading.begin < last:
            continue
        # The span may lack a prefix such as number signs.
        line = text.rfind("\n", last, heading.begin) + 1 or last
        parts.append(Part(title, max(heading.level, 1), line, heading.end))
        last = heading.end
    return parts


def _find_by_form(text: str) -> list[Part]:
    all_lines = list(split_lines(text))
    tables, works = find_lists(all_lines)
    # The headings of both are headings of the paper.
    inside = sorted((begin + 1, end) for begin, end in [*tables, *works])
    begins = [begin for begin, _ in inside]

    def is_open(begin: int) -> bool:
        before = bisect_right(begins, begin) - 1
        return before < 0 or inside[before][1] <= begin

    forms = [
        parse_heading(line.text) if not begins or is_open(line.begin) else None
        for line in all_lines
    ]
    return [
        Part(
            _format_title(all_lines[number].text, kind),
            kind.level,
            all_lines[number].begin,
            all_lines[number].end,
        )
        for number, kind in _outline(all_lines, forms)
    ]


def _format_title(line: str, kind: Form) -> str:
    return kind.title if kind.style in ("word", "markdown") else " ".join(line.strip("*_ ").split())


def _limit_parts(text: str, headings: list[Part]) -> list[Part]:
    """Return the parts, without the deepest levels if there are too many parts."""
    parts = _cut_parts(text, headings)
    for level in sorted({part.level for part in headings}, reverse=True):
        if len(parts) <= MOST_PARTS:
            break
        parts = _cut_parts(text, [part for part in headings if part.level < level])
    return parts


def _cut_parts(text: str, headings: list[Part]) -> list[Part]:
    if not headings:
        return [Part("", 0, 0, len(text))]
    begins = [part.begin for part in headings]
    parts = []
    if text[: begins[0]].strip():
        parts.append(Part("", 0, 0, begins[0]))
    else:
        begins[0] = 0
    for part, begin, end in zip(headings, begins, [*begins[1:], len(text)], strict=True):
        parts.append(Part(part.title, part.level, begin, end))
    return parts


def _outline(all_lines: list[Line], forms: Sequence[Form | None]) -> list[PlacedForm]:
    """Return the headings among the lines that look like headings, by the positions of lines."""
    width = find_wrapped_width(all_lines)
    candidates = [
        (number, kind)
        for number, kind in enumerate(forms)
        if kind is not None and not _continues(all_lines, forms, number, kind, width)
    ]
    marked = [placed for placed in candidates if placed[1].style == "markdown"]
    if len(marked) > 1:
        return _renumber_levels(marked)
    return _renumber_levels(_keep_sequence(_drop_lists(candidates)))


def _continues(
    all_lines: list[Line], forms: Sequence[Form | None], number: int, kind: Form, width: int
) -> bool:
    """Return whether a line continues the paragraph of the line before."""
    if not width or not number or kind.style in ("word", "markdown"):
        return False
    before = all_lines[number - 1].text
    return (
        not all_lines[number].after_blank
        and forms[number - 1] is None
        and not ends_sentence(before)
        and "\t" not in before
        and measure_width(before) >= _FULL * width
    )


def _drop_lists(candidates: list[PlacedForm]) -> list[PlacedForm]:
    """Return the headings without lists, and without the entries of a table of contents.

    Neither has text between its lines. The lines of a list have consecutive numbers; entries are
    several, and each is a heading further below.
    """
    last = {kind: number for number, kind in candidates}
    kept = []
    # Consecutive lines are those whose numbers grow as their places do.
    for _, group in groupby(enumerate(candidates), lambda pair: pair[1][0] - pair[0]):
        run = [placed for _, placed in group]
        kinds = [None, *(kind for _, kind in run), None]
        for (number, kind), above, below in zip(run, kinds, kinds[2:], strict=False):
            is_listed = _follows(above, kind) or _follows(kind, below)
            is_entry = len(run) >= _LISTING and last[kind] > number
            if not is_listed and not is_entry:
                kept.append((number, kind))
    return kept


def _follows(before: Form | None, kind: Form | None) -> bool:
    """Return whether the number of a heading follows another number."""
    if before is None or kind is None or not before.numbers:
        return False
    return kind.numbers == (*before.numbers[:-1], before.numbers[-1] + 1)


def _keep_sequence(candidates: list[PlacedForm]) -> list[PlacedForm]:
    """Return the headings whose numbers follow those before; chapters and words have none.

    Text that continues a refused list is refused. Where there are chapters, 1, 2, 3 are lists. The
    heading of the chapter is above each of its pages, perhaps.
    """
    has_chapters = any(kind.style == "chapter" for _, kind in candidates)
    last: tuple[int, ...] | None = ()
    refused: Form | None = None
    chapters: set[Form] = set()
    kept = []
    for number, kind in candidates:
        if kind.numbers:
            is_list = _follows(refused, kind) or (has_chapters and len(kind.numbers) == 1)
            if is_list or not _succeeds(last, kind.numbers):
                refused = kind
                continue
            last, refused = kind.numbers, None
        elif kind.style == "chapter":
            if kind in chapters:
                continue
            if kind.level == 1:
                chapters.clear()
            chapters.add(kind)
            last = None
        kept.append((number, kind))
    return kept


def _succeeds(last: tuple[int, ...] | None, numbers: tuple[int, ...]) -> bool:
    """Return whether a number such as 2.2, 2.3, 2.1.1, 2.1.2 or 3 follows one such as 2.1.

    None stands for a chapter, which any first section may follow.
    """
    shared = 0
    last = numbers[:1] if last is None else last
    while shared < min(len(last), len(numbers)) and last[shared] == numbers[shared]:
        shared += 1
    rest = numbers[shared:]
    if not rest:
        return False
    before = last[shared] if shared < len(last) else 0
    deeper_ones_begin = all(number <= 1 + _MISSING for number in rest[1:])
    return before < rest[0] <= before + 1 + _MISSING and deeper_ones_begin


def _renumber_levels(headings: list[PlacedForm]) -> list[PlacedForm]:
    """Return the headings with levels renumbered from 1 without gaps."""
    depth = {level: n for n, level in enumerate(sorted({kind.level for _, kind in headings}), 1)}
    return [(number, kind._replace(level=depth[kind.level])) for number, kind in headings]
