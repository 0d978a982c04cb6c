"""Marking: a text cut into runs with the same passages, by a sweep over all bounds in O(n log n).

The runs of all blocks form the text, without gaps or overlaps.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right, insort
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

#: Half-open, in code points.
Span = tuple[int, int]

_LINE_END = re.compile("\r\n|[\n\r\f\x85\u2028\u2029]")
# A line of more code points is shown as several paragraphs: browsers lay out a
# paragraph of a million code points slowly.
_LONGEST = 4000
_SENTENCE_ENDS = ("。", "！", "？", ". ", "! ", "? ", "；", "; ", " ")
#: A section's first line is shown as a heading up to this length.
_LONGEST_HEADING = 200


class MarkedPassage(NamedTuple):
    """A passage to mark, its pieces in the order of the text.

    Among passages at the same place, the one with the lowest number of its source is first.
    """

    begin: int
    end: int
    source: int
    pieces: Sequence[Span]


class MarkedAside(NamedTuple):
    """A part of the text that is set aside; of overlapping parts, the highest rank is shown."""

    begin: int
    end: int
    kind: str
    rank: int


class Heading(NamedTuple):
    """Where a section begins, and the level of its heading, 0 for none."""

    begin: int
    level: int


class Run(NamedTuple):
    """A stretch of the text with the same passages, aside and page.

    `passages` are positions: first the one whose colour is shown, then the others in the order of
    their sources. `repeated` is False between the pieces of the first passage. `opens` is whether
    the run before has another colour; `first` and `last` are the passages that begin and end with
    this run; `page` is the page that begins here, from 1, else 0.
    """

    begin: int
    end: int
    passages: tuple[int, ...]
    repeated: bool
    aside: str
    opens: bool
    first: tuple[int, ...]
    last: tuple[int, ...]
    page: int


class Paragraph(NamedTuple):
    """A line of the text, or part of a very long one; `level` is 0 if it is not a heading."""

    runs: tuple[Run, ...]
    level: int
    blank: bool

    @property
    def is_plain(self) -> bool:
        """Whether it is not a heading, and nothing begins or ends in it."""
        return not self.level and not any(
            run.page or run.opens or run.first or run.last for run in self.runs
        )

    @property
    def is_unmarked(self) -> bool:
        """Whether it is plain, and nothing is marked in it."""
        return self.is_plain and not any(run.passages or run.aside for run in self.runs)


@dataclass(frozen=True)
class Block:
    """The text of a section; `section` is its position, or -1 for no section."""

    section: int
    paragraphs: tuple[Paragraph, ...]


@dataclass(frozen=True)
class Marks:
    """A marked text.

    `anchors` has for each passage the first passage of the run that it begins with: the run is
    named after it. `coloured` are the passages whose colour is visible somewhere.
    """

    blocks: tuple[Block, ...]
    anchors: dict[int, int]
    coloured: frozenset[int]

    def iterate_runs(self) -> Iterator[Run]:
        """Yield all runs, in the order of the text."""
        for block in self.blocks:
            for paragraph in block.paragraphs:
                yield from paragraph.runs


def mark(
    text: str,
    passages: Sequence[MarkedPassage],
    *,
    sections: Sequence[Heading] = (),
    asides: Iterable[MarkedAside] = (),
    pages: Iterable[int] = (),
) -> Marks:
    """Return a text cut into runs; `pages` are the places where pages begin.

    If several passages are at one place, one that repeats its source at this place gives the
    colour. Among several of these, the passage of the first source does.

    Examples
    --------
    >>> marks = mark("a copy", [MarkedPassage(2, 6, 0, [(2, 6)])])
    >>> [(run.begin, run.end, run.passages) for run in marks.iterate_runs()]
    [(0, 2, ()), (2, 6, (0,))]
    """
    lines = [
        line
        for span in _cut_spans(text, sections)
        for whole in _split_lines(text, *span)
        for line in (_split_long(text, *whole) if whole[1] - whole[0] > _LONGEST else (whole,))
    ]
    runs = _sweep(text, passages, asides, pages, {begin for begin, _ in lines})
    starts = {section.begin: number for number, section in enumerate(sections)}
    blocks: list[tuple[int, list[Paragraph]]] = []
    position = 0
    titled = False
    for begin, end in lines:
        first = position
        while position < len(runs) and runs[position].begin < end:
            position += 1
        blank = not text[begin:end].strip()
        if begin in starts or not blocks:
            blocks.append((starts.get(begin, -1), []))
            titled = False
        number, paragraphs = blocks[-1]
        is_heading = number >= 0 and not titled and not blank and end - begin <= _LONGEST_HEADING
        level = sections[number].level if is_heading else 0
        titled |= not blank
        paragraphs.append(Paragraph(tuple(runs[first:position]), level, blank))
    return Marks(
        tuple(Block(section, tuple(paragraphs)) for section, paragraphs in blocks),
        {number: run.first[0] for run in runs for number in run.first},
        frozenset(run.passages[0] for run in runs if run.passages),
    )


def _cut_spans(text: str, sections: Iterable[Heading]) -> Iterator[Span]:
    bounds = sorted(
        {0, len(text)} | {section.begin for section in sections if section.begin < len(text)}
    )
    return pairwise(bounds)


def _split_lines(text: str, begin: int, end: int) -> Iterator[Span]:
    """Yield the lines with their line ends."""
    for line_end in _LINE_END.finditer(text, begin, end):
        yield begin, line_end.end()
        begin = line_end.end()
    if begin < end:
        yield begin, end


def _split_long(text: str, begin: int, end: int) -> Iterator[Span]:
    while end - begin > _LONGEST:
        least, longest = begin + _LONGEST // 2, begin + _LONGEST
        cut = max(text.rfind(mark, least, longest) + len(mark) for mark in _SENTENCE_ENDS)
        if cut <= least:
            cut = longest
            # Combining marks stay with their letter, up to a limit.
            while cut > least and unicodedata.combining(text[cut]):
                cut -= 1
        yield begin, cut
        begin = cut
    if begin < end:
        yield begin, end


def _sweep(
    text: str,
    passages: Sequence[MarkedPassage],
    asides: Iterable[MarkedAside],
    pages: Iterable[int],
    line_begins: set[int],
) -> list[Run]:
    begins: defaultdict[int, list[int]] = defaultdict(list)
    ends: defaultdict[int, list[int]] = defaultdict(list)
    for number, passage in enumerate(passages):
        if passage.begin < passage.end:
            begins[passage.begin].append(number)
            ends[passage.end].append(number)
    set_aside = _collect_changes(asides)
    page_at = {begin: page for page, begin in enumerate(pages, 1)}
    places = (
        _collect_bounds(passages) | set_aside.keys() | page_at.keys() | line_begins | {len(text)}
    )
    bounds = sorted(place for place in places if 0 <= place <= len(text))
    piece_begins = [[begin for begin, _ in passage.pieces] for passage in passages]

    def repeats(number: int, place: int) -> bool:
        piece = bisect_right(piece_begins[number], place) - 1
        return piece >= 0 and place < passages[number].pieces[piece][1]

    runs: list[Run] = []
    here: list[tuple[int, int]] = []
    kinds: Counter[tuple[int, str]] = Counter()
    kind = ""
    before = None
    for begin, end in pairwise(bounds):
        if begin in set_aside:
            kinds.update(set_aside[begin])
            kind = max((one for one, count in kinds.items() if count > 0), default=(0, ""))[1]
        if not here and begin not in begins:
            # Most lines of most texts.
            runs.append(Run(begin, end, (), False, kind, False, (), (), page_at.get(begin, 0)))
            before = None
            continue
        for number in ends.get(begin, ()):
            here.remove((passages[number].source, number))
        for number in begins.get(begin, ()):
            insort(here, (passages[number].source, number))
        order = [number for _, number in here]
        repeating = next((number for number in order if repeats(number, begin)), None)
        if repeating is not None:
            order.remove(repeating)
            order.insert(0, repeating)
        colour = order[0] if order else None
        runs.append(
            Run(
                begin,
                end,
                tuple(order),
                repeating is not None,
                kind,
                colour is not None and colour != before,
                tuple(begins.get(begin, ())),
                tuple(ends.get(end, ())),
                page_at.get(begin, 0),
            )
        )
        before = colour
    return runs


def _collect_changes(
    asides: Iterable[MarkedAside],
) -> defaultdict[int, Counter[tuple[int, str]]]:
    """Return by place how many more parts of each rank and kind cover the text from there on."""
    changes: defaultdict[int, Counter[tuple[int, str]]] = defaultdict(Counter)
    for aside in asides:
        if aside.begin < aside.end:
            changes[aside.begin][aside.rank, aside.kind] += 1
            changes[aside.end][aside.rank, aside.kind] -= 1
    return changes


def _collect_bounds(passages: Iterable[MarkedPassage]) -> set[int]:
    bounds = set()
    for passage in passages:
        bounds |= {passage.begin, passage.end}
        bounds.update(bound for piece in passage.pieces for bound in piece)
    return bounds
