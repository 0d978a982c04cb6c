"""The sections of a paper: the real headings among similar lines, and their depths."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from neardup.base.validation import check_string
from neardup.papers.structure.headings import (
    Form,
    Line,
    ends_sentence,
    form,
    lines,
    wide,
    wrapped_width,
)
from neardup.papers.structure.lists import contents, is_contents_heading, lists

if TYPE_CHECKING:
    from neardup.readers.extracted import Heading

__all__ = ["MOST_PARTS", "Part", "footnotes_begin", "sections"]

#: Largest number of parts.
MOST_PARTS = 60

#: Position of a line, its form, and its level.
Placed = tuple[int, Form, int]

#: Numbers that may be missing between two headings, since some are not recognized.
_MISSING = 1
#: A line of this share of the usual width is full: the next line continues it.
_FULL = 0.8
#: This many headings without text between them are a table of contents.
_LISTING = 4
#: Styles that are only below parts.
_TOP = ("chapter", "roman", "word")
_NUMBERED_HAN = ("part", "chapter", "section", "han", "brackets", "roman")

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


def sections(text: str, headings: Sequence[Heading] = ()) -> list[Part]:
    """Return the parts of a paper, cut at its headings: consecutive, and covering the whole text.

    `headings` are those that the file marks; an empty one begins the footnotes. With
    fewer than two others, headings are recognized by their form: 第一章, 第一节, 一、, （一）, 1,
    1.1, Chapter 1, I., ``#``, and words such as 摘要 or References alone on a line. A line
    that looks like a heading is none if it is in a table of contents or a list of
    references, out of sequence, in the middle of a wrapped paragraph, or directly before
    another line of its kind.

    There are at most 60 parts: of more, the deepest levels are merged into the parts above them;
    if the first level alone has more, the paper is one part. Linear, but for sorting the
    headings.

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
    parts = _marked(text, headings)
    by_form = len(parts) < _FEWEST_MARKED
    parts = (_by_form(text) or parts) if by_form else _with_contents(text, parts)
    notes = footnotes_begin(headings)
    if notes is None or not notes < len(text):
        return _at_most(text, parts)
    parts = [part for part in parts if part.begin < notes]
    return _at_most(text, [*parts, Part("", 1, notes, notes)])


def footnotes_begin(headings: Sequence[Heading]) -> int | None:
    """Return where the footnotes begin; None without an empty heading."""
    return min(
        (heading.begin for heading in headings if heading.begin == heading.end), default=None
    )


def _with_contents(text: str, parts: list[Part]) -> list[Part]:
    """Add the headings of tables of contents, which Word, for one, does not mark."""
    all_lines = list(lines(text))
    known = {part.begin for part in parts}
    tables = []
    for first, _ in contents(all_lines):
        line = all_lines[first]
        if is_contents_heading(line.text) and not known & set(range(line.begin, line.end)):
            tables.append(Part(" ".join(line.text.split()), 1, line.begin, line.end))
    return sorted([*parts, *tables], key=lambda part: part.begin)


def _marked(text: str, headings: Sequence[Heading]) -> list[Part]:
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


def _by_form(text: str) -> list[Part]:
    all_lines = list(lines(text))
    tables, works = lists(all_lines)
    # The headings of both are headings of the paper.
    inside = sorted((begin + 1, end) for begin, end in [*tables, *works])
    begins = [begin for begin, _ in inside]

    def is_open(begin: int) -> bool:
        before = bisect_right(begins, begin) - 1
        return before < 0 or inside[before][1] <= begin

    forms = [form(line.text) if is_open(line.begin) else None for line in all_lines]
    return [
        Part(
            _title(all_lines[number].text, kind.title, kind.style),
            level,
            all_lines[number].begin,
            all_lines[number].end,
        )
        for number, kind, level in _outline(all_lines, forms)
    ]


def _title(line: str, words: str, style: str) -> str:
    return words if style in ("word", "markdown") else " ".join(line.strip("*_ ").split())


def _at_most(text: str, headings: list[Part]) -> list[Part]:
    """Return the parts, without the deepest levels if there are too many parts."""
    parts = _parts(text, headings)
    for level in sorted({part.level for part in headings}, reverse=True):
        if len(parts) <= MOST_PARTS:
            break
        parts = _parts(text, [part for part in headings if part.level < level])
    return parts


def _parts(text: str, headings: list[Part]) -> list[Part]:
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


def _outline(all_lines: list[Line], forms: Sequence[Form | None]) -> list[Placed]:
    """Return position, form and level of the headings among the lines that look like headings."""
    width = wrapped_width(all_lines)
    candidates = [
        (number, kind)
        for number, kind in enumerate(forms)
        if kind is not None and not _continues(all_lines, forms, number, kind, width)
    ]
    if sum(kind.style == "markdown" for _, kind in candidates) > 1:
        return _compressed(
            [
                (number, kind, kind.numbers[0])
                for number, kind in candidates
                if kind.style == "markdown"
            ]
        )
    return _compressed(_numbered(_with_text(candidates)))


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
        and wide(before) >= _FULL * width
    )


def _with_text(candidates: list[tuple[int, Form]]) -> list[tuple[int, Form]]:
    """Return the headings without lists and tables of contents that lost their page numbers.

    A heading has text before the next heading of its kind.
    """
    kept: list[tuple[int, Form]] = []
    begin = 0
    while begin < len(candidates):
        end = begin + 1
        while end < len(candidates) and candidates[end][0] == candidates[end - 1][0] + 1:
            end += 1
        run = candidates[begin:end]
        if _is_table(run):
            run = _behind_table(run)
        kept += [
            here
            for place, here in enumerate(run)
            if not (place and _follows(run[place - 1], here))
            and not (place + 1 < len(run) and _follows(here, run[place + 1]))
        ]
        begin = end
    return kept


def _is_table(run: list[tuple[int, Form]]) -> bool:
    """Return whether lines are a table of contents: several kinds, with a repeated one."""
    kinds = [_kind(heading) for _, heading in run if heading.style != "word"]
    words = len(run) - len(kinds)
    different = len(set(kinds))
    return len(run) >= _LISTING and different < len(kinds) and (different > 1 or words > 1)


def _behind_table(run: list[tuple[int, Form]]) -> list[tuple[int, Form]]:
    """Return the headings directly after a table of contents.

    They begin like the table, or are of kinds that it does not have.
    """
    seen: set[Form] = set()
    for place, (_, heading) in enumerate(run):
        if heading in seen:
            return run[place:]
        seen.add(heading)
    kinds = Counter(_kind(heading) for _, heading in run)
    kept = len(run)
    while kept and run[kept - 1][1].style != "word" and kinds[_kind(run[kept - 1][1])] == 1:
        kept -= 1
    return run[kept:]


def _kind(form: Form) -> tuple[str, int]:
    return form.style, len(form.numbers)


def _follows(before: tuple[int, Form], heading: tuple[int, Form]) -> bool:
    """Return whether the number of a line follows that of the line before."""
    return (
        _kind(before[1]) == _kind(heading[1])
        and before[1].style != "word"
        and heading[1].numbers == (*before[1].numbers[:-1], before[1].numbers[-1] + 1)
    )


class _Sequence:
    """The headings so far: the depth of each style, and its next number."""

    def __init__(self, has_parts: bool) -> None:
        self.top = 1 + has_parts
        self.levels: dict[str, int] = {}
        self.numbers: dict[str, tuple[int, ...]] = {}
        self.refused: dict[str, tuple[int, ...]] = {}
        self.above = 0

    def level(self, kind: Form) -> int:
        """Return the depth of a heading of this kind.

        A new style is one level below the heading before it.
        """
        if kind.style == "word":
            return 1
        if kind.style in _TOP:
            return self.top
        if kind.style == "part":
            return 1
        depth = len(kind.numbers)
        if kind.style not in self.levels:
            self.levels[kind.style] = max(1, self.above + 1 - (depth - 1))
        return self.levels[kind.style] + depth - 1

    def comes_next(self, kind: Form) -> bool:
        """Return whether a number follows those before, with some missing ones allowed.

        A line that continues a refused list is refused.
        """
        if kind.style == "chapter" and kind.numbers == (1,):
            # Chapter numbers restart in each volume.
            return True
        last = self.numbers.get(kind.style)
        refused = self.refused.get(kind.style)
        if refused is not None and kind.numbers == (*refused[:-1], refused[-1] + 1):
            return False
        if last is None:
            return kind.style in _NUMBERED_HAN or kind.numbers[-1] <= 1 + _MISSING
        return _successor(last, kind.numbers)

    def accept(self, kind: Form, level: int) -> None:
        self.refused.clear()
        if kind.style == "word":
            # The introduction before chapters 1, 2, 3 has no number.
            self.above = 0
            return
        self.numbers[kind.style] = kind.numbers
        self.above = level
        for style in list(self.numbers):
            # Deeper levels restart at 1.
            if style != kind.style and self.levels.get(style, 0) > level - (style == "decimal"):
                del self.numbers[style]


def _successor(last: tuple[int, ...], numbers: tuple[int, ...]) -> bool:
    """Return whether a number such as 2.2, 2.3, 2.1.1, 2.1.2 or 3 follows one such as 2.1."""
    shared = 0
    while shared < min(len(last), len(numbers)) and last[shared] == numbers[shared]:
        shared += 1
    rest = numbers[shared:]
    if not rest:
        return False
    before = last[shared] if shared < len(last) else 0
    deeper_ones_begin = all(number <= 1 + _MISSING for number in rest[1:])
    return before < rest[0] <= before + 1 + _MISSING and deeper_ones_begin


def _numbered(candidates: list[tuple[int, Form]]) -> list[Placed]:
    """Return the headings that are numbered in sequence."""
    so_far = _Sequence(any(kind.style == "part" for _, kind in candidates))
    kept = []
    for number, kind in candidates:
        if kind.style == "markdown":
            kept.append((number, kind, 1))
            continue
        if kind.style != "word" and not so_far.comes_next(kind):
            so_far.refused[kind.style] = kind.numbers
            continue
        level = so_far.level(kind)
        so_far.accept(kind, level)
        kept.append((number, kind, level))
    return kept


def _compressed(headings: list[Placed]) -> list[Placed]:
    """Return the headings with levels renumbered from 1 without gaps."""
    depth = {level: n for n, level in enumerate(sorted({level for *_, level in headings}), 1)}
    return [(number, kind, depth[level]) for number, kind, level in headings]
