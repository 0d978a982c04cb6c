"""Layout of PDF pages: positioned lines to paragraphs.

A PDF has no paragraphs. A line continues in the next line if it reaches the right
edge of its column. The next line must begin at the left edge, in the same size and at
the usual distance. `running_lines` has left out headers and footers.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median

from neardup.readers.document_text import Paragraphs

#: A heading is at least this much larger than the body.
LARGER = 1.15
_LONGEST_HEADING = 80

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


def lay_out(pages: list[list[Line]]) -> Paragraphs:
    """Join lines to paragraphs, and recognize headings by their size."""
    pages = [_join_parts(page, _separate_letters) for page in pages]
    pages = [_join_parts(page, _separate_page_number) for page in pages]
    body, leading = measure_body(pages)
    levels = _rank_sizes(pages, body)
    out = Paragraphs()
    parts: list[str] = []
    size = 0.0
    last: tuple[Line, _Column] | None = None
    last_is_entry = False
    begins: list[int] = []

    def end_paragraph() -> None:
        text = "".join(parts)
        for begin in begins:
            out.begin_page(begin)
        # An entry of a table of contents may be as large, but is no heading.
        listed = last_is_entry or _LEADERS.search(text)
        is_heading = len(text) <= _LONGEST_HEADING and not listed
        out.add(text, levels.get(round_size(size), 0) if is_heading else 0)
        parts.clear()
        begins.clear()

    for page in pages:
        fresh = True
        for line, column, is_entry in zip(
            page, _find_columns(page), _find_entries(page), strict=True
        ):
            if (
                last
                and not last_is_entry
                and _goes_on(*last, line, column.left, leading, parts[0], fresh)
            ):
                _glue(parts, line.text)
            else:
                end_paragraph()
                size = line.size
            if fresh:
                begins.append(sum(map(len, parts)))
            fresh = False
            parts.append(_SPACED.sub(lambda match: match[0].replace(" ", ""), line.text))
            last, last_is_entry = (line, column), is_entry
        if fresh:
            begins.append(sum(map(len, parts)))
    end_paragraph()
    return out


def _join_parts(page: list[Line], between: Callable[[float, Line], str | None]) -> list[Line]:
    """Join lines that are next to each other, in the same size.

    `between` returns what separates the second one, by the gap; None for two lines.
    """
    whole: list[Line] = []
    for line in page:
        before = whole[-1] if whole else None
        if (
            before is not None
            and 0 < line.size == before.size
            and abs(before.base - line.base) < 0.1 * line.size
            and (gap := line.left - before.right) > -0.2 * line.size
            and (sign := between(gap, line)) is not None
        ):
            whole[-1] = replace(before, text=before.text + sign + line.text, right=line.right)
        else:
            whole.append(line)
    return whole


def _separate_letters(gap: float, line: Line) -> str | None:
    """Join the parts of a line: some files position every letter."""
    if gap >= 0.6 * line.size:
        return None
    return "" if gap < 0.2 * line.size else " "


def _separate_page_number(gap: float, line: Line) -> str | None:
    """Join a page number to the title on the same line."""
    return "\t" if gap > 1.5 * line.size and _PAGE_NUMBER.fullmatch(line.text) else None


def _find_entries(page: list[Line]) -> list[bool]:
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


def measure_body(pages: list[list[Line]]) -> tuple[float, float]:
    """Return the font size and the line distance of the body."""
    heights: Counter[float] = Counter()
    distances = []
    for page in pages:
        for line in page:
            heights[round_size(line.size)] += len(line.text)
        for above, below in pairwise(page):
            if 0 < above.base - below.base < 4 * above.size:
                distances.append(above.base - below.base)
    highest = max(heights.values(), default=0)
    body = min((height for height, count in heights.items() if count == highest), default=0.0)
    return body, median(distances) if distances else 0.0


def round_size(height: float) -> float:
    return round(2 * height) / 2


def _rank_sizes(pages: list[list[Line]], body: float) -> dict[float, int]:
    larger = {round_size(line.size) for page in pages for line in page}
    larger = {height for height in larger if body and height >= LARGER * body}
    return {height: level for level, height in enumerate(sorted(larger, reverse=True)[:6], 1)}


def _find_columns(page: list[Line]) -> list[_Column]:
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
            columns += [_measure_column(page[begin:number])] * (number - begin)
            begin = number
    return columns + [_measure_column(page[begin:])] * (len(page) - begin)


def _measure_column(lines: list[Line]) -> _Column:
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
    if room > _measure_width(line.text) * size:
        return False
    if of.flush and room > 0.5 * size and last.text[-1] in _SENTENCE:
        return False
    if _REFERENCE.match(line.text) and _REFERENCE.match(begin):
        return False
    indented = line.left - left > 1.2 * size
    if indented and not _MARKED.match(begin) and line.left - last.left > -0.5 * size:
        return abs(line.left - last.left) < 0.5 * size and last.text[-1] not in _FINAL
    return not (fresh and last.text[-1] in "。！？!?" and line.left - left > 0.8 * size)


def _measure_width(text: str) -> float:
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
