"""Layout of PDF pages: positioned lines to paragraphs.

A PDF has no paragraphs. A line continues in the next line if it reaches the right
edge of its column and the next line begins at the left edge, in the same size and at
the usual distance. Lines that recur at the top or bottom of many pages, apart from
their numbers, are running headers and footers and are left out.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from itertools import pairwise, takewhile
from statistics import median

from neardup.readers.extracted import Paragraphs

#: A running line occurs on at least this many pages, and on this share of them.
_PAGES, _SHARE = 3, 0.4
#: Of fewer pages, if any lines recur at this height on such a share, apart from the text.
_SHARE_OF_ANY, _APART = 0.25, 1.3
#: Lines at each end of a page that may be running lines.
_OUTER = 3
_SAME_HEIGHT = 6
#: A heading is at least this much larger than the body.
_LARGER = 1.15
_LONGEST_HEADING = 80

_NUMBER = re.compile(r"[0-9０-９]+|\b[ivxlcIVXLC]+\b")
_SPACE = re.compile(r"\s+")
_WIDE = "\u2e80-\u303f\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef“”‘’…—"
_CHINESE = re.compile(f"[{_WIDE}]")
#: Hanging paragraphs: the first line begins left of the others.
_MARKED = re.compile(r"\s*(?:[\[［【]\d+[\]］】]|[（(]?\d{1,3}[)）.、．]|[•·●▪◆-]\s)")
_REFERENCE = re.compile(r"\s*[\[［]\d+[\]］]")
_LEADERS = re.compile(r"(?:[.·…]\s?){4}|…{2}")
#: The end of an entry of a table of contents: dots or a tab, and a page number.
_ENTRY = re.compile(
    r"(?:(?:[.．·•‥⋯…_]\s?){3,}|…|\t)\s*[-–(（]?\s*(?:\d{1,4}|[ivxlc]{1,7}|[IVXLC]{1,7})\s*[-–)）]?$"
)
#: A possible entry, if the line before or after it is one too.
_NUMBERED = re.compile(r"[^。；;]*\s\d{1,4}$")
_PAGE_NUMBER = re.compile(r"\d{1,4}|[ivxlc]{1,7}|[IVXLC]{1,7}")
_SENTENCE = "。！？；"
_FINAL = "。！？!?.…”’」』）)：:"
#: Opening marks, a word or one Chinese character, closing marks.
_UNPARTED = re.compile(
    rf"[（“‘《「『【〔(\[]*(?:[^\s{_WIDE}]+|\S)?[，。、；：？！”’》」』】〕）)\].,;:?!]*"
)
#: Letters spaced out to fill a line are not separate words.
_SPACED = re.compile(rf"[{_WIDE}](?: [{_WIDE}]){{3,}}")


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a page; positions and sizes are in points, upwards and to the right."""

    text: str
    left: float
    right: float
    #: The baseline.
    base: float
    #: The font size of the first letter.
    size: float


@dataclass(frozen=True, slots=True)
class _Column:
    left: float
    right: float
    #: Whether its lines are justified to the right edge.
    flush: bool


def without_running_lines(pages: list[list[Line]]) -> tuple[list[list[Line]], list[str]]:
    """Return the pages without page numbers and running lines, and the dropped lines.

    A line that recurs at its height on few pages, such as the title of a chapter or the head of a
    paper of two pages, must also stand apart from the text, at a height where lines recur.
    """
    by_height = [sorted(page, key=lambda line: -line.base) for page in pages]
    pattern_of = {id(line): _pattern(line) for page in by_height for line in _outer(page)}
    patterns = [sorted({pattern_of[id(line)] for line in _outer(page)}) for page in by_height]
    count = Counter(pattern for of_page in patterns for pattern in of_page)
    least = max(_PAGES, _SHARE * len(pages))
    running = {
        pattern
        for pattern, pages_with in count.items()
        if pages_with >= least and pattern[0][-1] not in _SENTENCE
    }
    # Of a chapter with one such page the title is elsewhere, as a heading.
    titles = Counter(_pattern(line)[0] for page in pages for line in page)
    heights: Counter[int] = Counter()
    for of_page in patterns:
        heights.update({height for shape, height in of_page if count[shape, height] > 1})
    few = max(min(_PAGES, len(pages)), _SHARE_OF_ANY * len(pages), 2)
    body, _ = _body(pages)

    def recurs(line: Line, pattern: tuple[str, int]) -> bool:
        shape, height = pattern
        return (
            heights[height] >= few
            and titles[shape] > 1
            and shape[-1] not in _SENTENCE
            and _step(line.size) < _LARGER * body
        )

    dropped: dict[tuple[str, int], str] = {}
    kept = []
    for page, ordered in zip(pages, by_height, strict=True):
        away = set()
        # No text is above a running header or below a running footer.
        for inward in (ordered, ordered[::-1]):
            end = inward[:_OUTER]
            lines = list(takewhile(lambda line: pattern_of[id(line)] in running, end))
            # Two such lines are rather a paragraph.
            for line in end[len(lines) : len(lines) + 1]:
                if recurs(line, pattern_of[id(line)]) and _stands_apart(inward, len(lines) + 1):
                    lines.append(line)
            for line in lines:
                away.add(id(line))
                dropped.setdefault(pattern_of[id(line)], line.text[:40])
        kept.append([line for line in page if id(line) not in away])
    return kept, list(dropped.values())


def _outer(page: list[Line]) -> list[Line]:
    """Return the lines at both ends of a page, each once."""
    return page if len(page) <= 2 * _OUTER else [*page[:_OUTER], *page[-_OUTER:]]


def _pattern(line: Line) -> tuple[str, int]:
    """Return what a line has in common with the same running line on other pages."""
    return _NUMBER.sub("#", _SPACE.sub("", line.text)), round(line.base / _SAME_HEIGHT)


def _stands_apart(inward: list[Line], count: int) -> bool:
    """Return whether the first lines of a page, from its edge inwards, are far from the others."""
    others = inward[count:]
    if not others:
        return False
    distances = [abs(line.base - after.base) for line, after in pairwise(others)]
    leading = median([distance for distance in distances if distance] or [others[0].size])
    return abs(inward[count - 1].base - others[0].base) > _APART * leading


def lay_out(pages: list[list[Line]]) -> Paragraphs:
    """Join lines to paragraphs, and recognize headings by their size."""
    pages = [_with_page_numbers(_unbroken(page)) for page in pages]
    body, leading = _body(pages)
    levels = _levels(pages, body)
    out = Paragraphs()
    parts: list[str] = []
    size = 0.0
    last: tuple[Line, _Column] | None = None
    last_is_entry = False
    begins: list[int] = []

    def end() -> None:
        text = "".join(parts)
        for begin in begins:
            out.page(begin)
        # An entry of a table of contents may be as large, but is no heading.
        listed = last_is_entry or _LEADERS.search(text)
        is_heading = len(text) <= _LONGEST_HEADING and not listed
        out.add(text, levels.get(_step(size), 0) if is_heading else 0)
        parts.clear()
        begins.clear()

    for page in pages:
        fresh = True
        for line, column, is_entry in zip(page, _columns(page), _entries(page), strict=True):
            if (
                last
                and not last_is_entry
                and _goes_on(*last, line, column.left, leading, parts[0], fresh)
            ):
                _glue(parts, line.text)
            else:
                end()
                size = line.size
            if fresh:
                begins.append(sum(map(len, parts)))
            fresh = False
            parts.append(_SPACED.sub(lambda match: match[0].replace(" ", ""), line.text))
            last, last_is_entry = (line, column), is_entry
        if fresh:
            begins.append(sum(map(len, parts)))
    end()
    return out


def _unbroken(page: list[Line]) -> list[Line]:
    """Join the parts of a line: some files position every letter."""
    whole: list[Line] = []
    for line in page:
        before = whole[-1] if whole else None
        if before is None or not _beside(before, line):
            whole.append(line)
            continue
        gap = line.left - before.right
        if gap < 0.6 * line.size:
            between = "" if gap < 0.2 * line.size else " "
            whole[-1] = replace(before, text=before.text + between + line.text, right=line.right)
        else:
            whole.append(line)
    return whole


def _with_page_numbers(page: list[Line]) -> list[Line]:
    """Join a page number to the title on the same line."""
    whole: list[Line] = []
    for line in page:
        before = whole[-1] if whole else None
        if (
            before is not None
            and _PAGE_NUMBER.fullmatch(line.text)
            and _beside(before, line)
            and line.left - before.right > 1.5 * line.size
        ):
            whole[-1] = replace(before, text=f"{before.text}\t{line.text}", right=line.right)
        else:
            whole.append(line)
    return whole


def _beside(line: Line, other_line: Line) -> bool:
    """Return whether a line is to the right of another, in the same size."""
    return (
        0 < other_line.size == line.size
        and abs(line.base - other_line.base) < 0.1 * line.size
        and other_line.left - line.right > -0.2 * line.size
    )


def _entries(page: list[Line]) -> list[bool]:
    """Return which lines are entries of a table of contents, which are never joined.

    Lines with only a number as evidence count if two of them are adjacent.
    """
    sure = [_ENTRY.search(line.text) is not None for line in page]
    likely = [
        is_sure or _NUMBERED.fullmatch(line.text) is not None
        for line, is_sure in zip(page, sure, strict=True)
    ]
    around = [False, *likely, False]
    return [
        here and (is_sure or before or after)
        for here, is_sure, before, after in zip(likely, sure, around, around[2:], strict=False)
    ]


def _body(pages: list[list[Line]]) -> tuple[float, float]:
    """Return the font size and the line distance of the body."""
    heights: Counter[float] = Counter()
    distances = []
    for page in pages:
        for line in page:
            heights[_step(line.size)] += len(line.text)
        for above, below in pairwise(page):
            if 0 < above.base - below.base < 4 * above.size:
                distances.append(above.base - below.base)
    most = max(heights.values(), default=0)
    body = min((height for height, count in heights.items() if count == most), default=0.0)
    return body, median(distances) if distances else 0.0


def _step(height: float) -> float:
    return round(2 * height) / 2


def _levels(pages: list[list[Line]], body: float) -> dict[float, int]:
    larger = {_step(line.size) for page in pages for line in page}
    larger = {height for height in larger if body and height >= _LARGER * body}
    return {height: level for level, height in enumerate(sorted(larger, reverse=True)[:6], 1)}


def _columns(page: list[Line]) -> list[_Column]:
    """Return the column of each line: consecutive lines that go down and overlap."""
    columns: list[_Column] = []
    begin = 0
    for number, line in enumerate(page):
        above = page[number - 1] if number else None
        if above is not None and (
            line.base > above.base + above.size
            or line.left > above.right
            or line.right < above.left
        ):
            columns += [_column(page[begin:number])] * (number - begin)
            begin = number
    return columns + [_column(page[begin:])] * (len(page) - begin)


def _column(lines: list[Line]) -> _Column:
    if not lines:
        return _Column(0.0, 0.0, False)
    # A single protruding line among many does not move an edge.
    out = len(lines) // 20
    left = sorted(line.left for line in lines)[out]
    right = sorted(line.right for line in lines)[-1 - out]
    flush = sum(right - line.right < 0.3 * line.size for line in lines)
    return _Column(left, right, 2 * flush > len(lines) > 3)


def _goes_on(
    last: Line, of: _Column, line: Line, left: float, leading: float, begin: str, fresh: bool
) -> bool:
    """Return whether a paragraph whose last line is `last` continues in `line`."""
    size = last.size
    if size <= 0 or line.size <= 0 or not 0.82 <= line.size / size <= 1.22:
        return False
    distance = last.base - line.base
    if not fresh and distance > 1.45 * max(leading, size):
        return False
    # Text moves to the next line only if it does not fit into the room left.
    room = of.right - last.right
    if room > _width(line.text) * size:
        return False
    if of.flush and room > 0.5 * size and last.text[-1] in _SENTENCE:
        return False
    if _REFERENCE.match(line.text) and _REFERENCE.match(begin):
        return False
    indented = line.left - left > 1.2 * size
    if indented and not _MARKED.match(begin) and line.left - last.left > -0.5 * size:
        return abs(line.left - last.left) < 0.5 * size and last.text[-1] not in _FINAL
    return not (fresh and last.text[-1] in "。！？!?" and line.left - left > 0.8 * size)


def _width(text: str) -> float:
    """Return the width of the first unbreakable part of a text, in font sizes.

    This is a Chinese character with the marks around it, or a word. Latin letters are
    assumed wider than most are.
    """
    word = _UNPARTED.match(text)
    assert word is not None
    wide = len(_CHINESE.findall(word[0]))
    return 1.2 + wide + 0.6 * (len(word[0]) - wide)


def _glue(parts: list[str], after: str) -> None:
    """Prepare the end of a line for the text that follows it."""
    before = parts[-1]
    if len(before) > 1 and before[-1] in "-\u2010" and before[-2].isalpha() and after[0].islower():
        parts[-1] = before[:-1]
    elif not (_CHINESE.match(before[-1]) or _CHINESE.match(after[0])):
        parts.append(" ")
