"""Running headers and footers of PDF pages, and page numbers.

A running line recurs at the top or bottom of pages, and stands apart from the text. Its numbers are
constant or go with the pages. A row of the text stays, however much the pages are alike.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from itertools import pairwise, takewhile
from statistics import quantiles

from neardup.readers.pdf_layout import LARGER, Line, measure_body, round_size

#: A running line occurs on at least this many pages, and on this share of them.
_PAGES, _SHARE = 3, 0.4
#: Of fewer pages, if any lines recur at this height on such a share.
_SHARE_OF_ANY = 0.25
#: Lines at each end of a page that may be running lines.
_OUTER = 3
_SAME_HEIGHT = 6
#: The gap before the text, in line distances: of a line of another size, and of the same size.
_APART, _FAR_APART = 1.3, 1.8
#: A page shows where its text begins if that has this many times the letters of its outer lines.
_MORE = 4
#: Numbers go with the pages if they do on this share of them.
_MOST = 0.8

_NUMBER = re.compile(r"[0-9０-９]+|\b[ivxlcIVXLC]+\b")
_LONGEST_NUMBER = 4000
_ROMAN = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}
_SPACE = re.compile(r"\s+")
_PAGE_NUMBER = re.compile(
    r"\W*(?:第|page|p|pg|seite|página)?\W*#\W*(?:页|頁|ページ)?\W*"
    r"(?:(?:of|von|de|sur|共)?\W*#\W*(?:页|頁)?)?\W*",
    re.IGNORECASE,
)
_SENTENCE = "。！？；"

#: A line without its numbers and white space, and its height.
_Pattern = tuple[str, int]


def drop_running_lines(pages: list[list[Line]]) -> tuple[list[list[Line]], list[str]]:
    """Return the pages without page numbers and running lines, and the dropped lines."""
    by_height = [sorted(page, key=lambda line: -line.base) for page in pages]
    recurring = _RecurringLines.of(by_height)
    edges = [[recurring.find_edge(inward) for inward in (page, page[::-1])] for page in by_height]
    outer = {id(line) for of_page in edges for lines in of_page for line in lines}
    texts = [[line for line in page if id(line) not in outer] for page in by_height]
    usual, wide = _measure_distances(texts)
    apart: defaultdict[_Pattern, list[bool]] = defaultdict(list)
    for text, of_page in zip(texts, edges, strict=True):
        # A page with little text does not show where text begins.
        if _count_letters(text) < _MORE * sum(map(_count_letters, of_page)):
            continue
        for lines, inner in zip(of_page, (text[:1], text[-1:]), strict=True):
            for count, line in enumerate(lines, 1):
                depths = pairwise([*lines[count - 1 :], *inner])
                apart[_make_pattern(line)].append(
                    any(_is_apart(*two, usual, wide) for two in depths)
                )
    running = {pattern for pattern, flags in apart.items() if 2 * sum(flags) > len(flags)}
    running |= recurring.page_numbers
    dropped: dict[_Pattern, str] = {}
    kept = []
    for page, of_page in zip(pages, edges, strict=True):
        away = set()
        for lines in of_page:
            # No text is above a running header or below a running footer.
            for line in takewhile(lambda line: _make_pattern(line) in running, lines):
                away.add(id(line))
                dropped.setdefault(_make_pattern(line), line.text[:40])
        kept.append([line for line in page if id(line) not in away])
    return kept, list(dropped.values())


@dataclass(frozen=True, slots=True)
class _RecurringLines:
    """The patterns of lines that recur on many pages or on few, and of page numbers."""

    often: frozenset[_Pattern]
    seldom: frozenset[_Pattern]
    page_numbers: frozenset[_Pattern]
    #: The font size of headings, which are not running lines.
    heading: float

    @classmethod
    def of(cls, pages: list[list[Line]]) -> _RecurringLines:
        places: defaultdict[_Pattern, dict[int, list[int]]] = defaultdict(dict)
        for number, page in enumerate(pages):
            for line in page if len(page) <= 2 * _OUTER else [*page[:_OUTER], *page[-_OUTER:]]:
                places[_make_pattern(line)][number] = _read_numbers(line)
        # A chapter with one such page has its title elsewhere, as a heading.
        titles = Counter(_make_pattern(line)[0] for page in pages for line in page)
        at_height: defaultdict[int, set[int]] = defaultdict(set)
        for (_, height), of_pages in places.items():
            at_height[height].update(of_pages if len(of_pages) > 1 else ())
        least = max(_PAGES, _SHARE * len(pages))
        few = max(min(_PAGES, len(pages)), _SHARE_OF_ANY * len(pages), 2)
        often, seldom, numbers = set(), set(), set()
        for pattern, of_pages in places.items():
            shape, height = pattern
            steady, moving = _check_numbers(of_pages)
            if shape[-1] in _SENTENCE or not steady:
                continue
            if len(of_pages) >= least:
                often.add(pattern)
                if moving and _PAGE_NUMBER.fullmatch(shape):
                    numbers.add(pattern)
            elif len(at_height[height]) >= few and titles[shape] > 1:
                seldom.add(pattern)
        heading = LARGER * measure_body(pages)[0]
        return cls(frozenset(often), frozenset(seldom), frozenset(numbers), heading)

    def find_edge(self, inward: list[Line]) -> list[Line]:
        """Return the first lines of a page, from its edge inwards, that may be running lines."""
        end = [*takewhile(lambda line: round_size(line.size) < self.heading, inward[:_OUTER])]
        lines = [*takewhile(lambda line: _make_pattern(line) in self.often, end)]
        # Two lines that recur on few pages are rather a paragraph.
        after = end[len(lines) : len(lines) + 1]
        return lines + [line for line in after if _make_pattern(line) in self.seldom]


def _count_letters(lines: list[Line]) -> int:
    return sum(len(line.text) for line in lines)


def _make_pattern(line: Line) -> _Pattern:
    """Return what a line has in common with the same running line on other pages."""
    return _NUMBER.sub("#", _SPACE.sub("", line.text)), round(line.base / _SAME_HEIGHT)


def _read_numbers(line: Line) -> list[int]:
    return [_parse_number(number) for number in _NUMBER.findall(_SPACE.sub("", line.text))]


def _parse_number(number: str) -> int:
    if number[0].isdigit():
        return int(number[:_LONGEST_NUMBER])
    values = [_ROMAN[letter] for letter in number.lower()]
    return sum(-one if one < after else one for one, after in pairwise([*values, 0]))


def _check_numbers(of_pages: dict[int, list[int]]) -> tuple[bool, bool]:
    """Return whether all numbers of a line are constant or go with its pages, and if any goes."""
    steady, moving = True, False
    pages = [after - before for before, after in pairwise(of_pages)]
    for values in zip(*of_pages.values(), strict=True):
        steps = [after - before for before, after in pairwise(values)]
        going = sum(one == two for one, two in zip(steps, pages, strict=True))
        steady &= going + steps.count(0) >= _MOST * len(steps)
        moving |= going >= _MOST * len(steps)
    return steady, moving


def _measure_distances(texts: list[list[Line]]) -> tuple[float, float]:
    """Return the usual distance of lines, and one that few exceed; 0 without any."""
    between = [above.base - below.base for text in texts for above, below in pairwise(text)]
    distances = [distance for distance in between if distance > 0]
    if len(distances) < 2:
        return (distances or [0.0])[0], 0.0
    tenths = quantiles(distances, n=10)
    return tenths[4], tenths[-1]


def _is_apart(outer: Line, inner: Line, usual: float, wide: float) -> bool:
    """Return whether a line near the edge of a page stands apart from the next one inwards."""
    gap = abs(outer.base - inner.base)
    usual = usual or inner.size
    if round_size(outer.size) != round_size(inner.size):
        return gap > _APART * usual
    return gap > max(_FAR_APART * usual, _APART * wide)
