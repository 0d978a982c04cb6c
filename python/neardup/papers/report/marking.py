"""Marking: the paper's text, cut into runs with the same passages.

A sweep over the n bounds of passages, pieces, asides, pages, sections and lines takes
O(n log n), plus the number of passages on each run. The runs of all blocks form the
paper's text, without gaps or overlaps.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right, insort
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

from neardup.papers.report.results import EXCLUDED, Aside, Piece, Section

__all__ = ["Block", "Marks", "Paragraph", "PassageLike", "Run", "mark", "piece_at"]

_LINE_END = re.compile("\r\n|[\n\r\f\x85\u2028\u2029]")
# A line of more code points is shown as several paragraphs: browsers lay out a
# paragraph of a million code points slowly.
_LONGEST = 4000
_SENTENCE_ENDS = ("。", "！", "？", ". ", "! ", "? ", "；", "; ", " ")
#: Order of precedence of overlapping kinds of asides.
_ASIDES = tuple(reversed(EXCLUDED))
#: A section's first line is shown as a heading up to this length.
_LONGEST_HEADING = 200


class PassageLike(Protocol):
    """A passage to mark: one of a report, or an object with the same attributes.

    Parameters
    ----------
    begin, end : int
        Half-open span of the text, in code points.
    source : int
        The source that it repeats; among passages at the same place, the lowest number
        is first.
    pieces : tuple of Piece
        In the order of the text.
    """

    @property
    def begin(self) -> int: ...
    @property
    def end(self) -> int: ...
    @property
    def source(self) -> int: ...
    @property
    def pieces(self) -> tuple[Piece, ...]: ...


@dataclass(frozen=True)
class Run:
    """A stretch of the paper with the same passages, aside and page.

    Parameters
    ----------
    begin, end : int
        Half-open span of the paper's text, in code points.
    passages : tuple of int
        Positions of its passages, from 0: first the one whose colour is shown,
        then the others in the order of their sources.
    repeated : bool
        Whether the first passage repeats its source here; False between the
        pieces of a passage.
    aside : str
        Kind of its aside, or empty.
    opens : bool
        Whether the colour differs from that of the run before.
    first, last : tuple of int
        Passages that begin with this run, and passages that end with it.
    page : int
        The page that begins here, from 1; 0 if no page begins.
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


@dataclass(frozen=True)
class Paragraph:
    """A line of the paper, or part of a very long one.

    Parameters
    ----------
    runs : tuple of Run
    level : int
        Depth of the heading, from 1; 0 if it is not a heading.
    blank : bool
        Whether it is white space only.
    """

    runs: tuple[Run, ...]
    level: int
    blank: bool


@dataclass(frozen=True)
class Block:
    """The text of a section.

    Parameters
    ----------
    section : int
        Position of the section, or -1 for no section.
    paragraphs : tuple of Paragraph
    """

    section: int
    paragraphs: tuple[Paragraph, ...]


@dataclass(frozen=True)
class Marks:
    """The marked text of the paper.

    Parameters
    ----------
    blocks : tuple of Block
    anchors : dict of int to int
        For each passage, the first passage of the run that it begins with, after
        which the run is named.
    coloured : frozenset of int
        The passages whose colour is visible somewhere.
    """

    blocks: tuple[Block, ...]
    anchors: dict[int, int]
    coloured: frozenset[int]

    def runs(self) -> Iterator[Run]:
        """Yield all runs, in the order of the paper."""
        for block in self.blocks:
            for paragraph in block.paragraphs:
                yield from paragraph.runs


def mark(
    text: str,
    passages: Sequence[PassageLike],
    *,
    sections: Sequence[Section] = (),
    asides: Iterable[Aside] = (),
    pages: Iterable[int] = (),
) -> Marks:
    """Return a text cut into runs.

    Parameters
    ----------
    text : str
    passages : sequence of PassageLike
    sections : sequence of Section, default=()
    asides : iterable of Aside, default=()
    pages : iterable of int, default=()
        Where pages begin in the text, in code points.

    Returns
    -------
    Marks
        If several passages are at one place, the colour is that of a passage that
        repeats its source at this place, and among these that of the largest source.

    Examples
    --------
    >>> from neardup.papers.report.results import Passage
    >>> copied = Passage(2, 6, 0, 0, 4, 1.0, 4, (Piece(2, 6, 0, 4),), "copy", 0)
    >>> [(run.begin, run.end, run.passages) for run in mark("a copy", [copied]).runs()]
    [(0, 2, ()), (2, 6, (0,))]
    """
    lines = [
        line
        for span in _spans(text, sections)
        for whole in _lines(text, *span)
        for line in _shorter(text, *whole)
    ]
    runs = _sweep(text, passages, asides, pages, {begin for begin, _ in lines})
    starts = {section.begin: at for at, section in enumerate(sections)}
    blocks: list[tuple[int, list[Paragraph]]] = []
    at = 0
    titled = False
    for begin, end in lines:
        first = at
        while at < len(runs) and runs[at].begin < end:
            at += 1
        blank = not text[begin:end].strip()
        if begin in starts or not blocks:
            blocks.append((starts.get(begin, -1), []))
            titled = False
        section = sections[blocks[-1][0]] if blocks[-1][0] >= 0 else None
        level = 0 if titled or blank else _level(section, end - begin)
        titled |= not blank
        blocks[-1][1].append(Paragraph(tuple(runs[first:at]), level, blank))
    return Marks(
        tuple(Block(section, tuple(paragraphs)) for section, paragraphs in blocks),
        {number: run.first[0] for run in runs for number in run.first},
        frozenset(run.passages[0] for run in runs if run.passages),
    )


def piece_at(pieces: tuple[Piece, ...], begins: list[int], place: int) -> int | None:
    """Return the piece at a position of the paper; `begins` are the begins of the pieces."""
    at = bisect_right(begins, place) - 1
    return at if at >= 0 and place < pieces[at].end else None


def _level(section: Section | None, length: int) -> int:
    if section is None or not section.title or length > _LONGEST_HEADING:
        return 0
    return max(section.level, 1)


def _spans(text: str, sections: Iterable[Section]) -> Iterator[tuple[int, int]]:
    bounds = sorted(
        {0, len(text)} | {section.begin for section in sections if section.begin < len(text)}
    )
    return pairwise(bounds)


def _lines(text: str, begin: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the lines with their line ends."""
    for found in _LINE_END.finditer(text, begin, end):
        yield begin, found.end()
        begin = found.end()
    if begin < end:
        yield begin, end


def _shorter(text: str, begin: int, end: int) -> Iterator[tuple[int, int]]:
    while end - begin > _LONGEST:
        least, most = begin + _LONGEST // 2, begin + _LONGEST
        cut = max(text.rfind(mark, least, most) + len(mark) for mark in _SENTENCE_ENDS)
        if cut <= least:
            cut = most
            # Combining marks stay with their letter, up to a limit.
            while cut > least and unicodedata.combining(text[cut]):
                cut -= 1
        yield begin, cut
        begin = cut
    if begin < end:
        yield begin, end


def _sweep(
    text: str,
    passages: Sequence[PassageLike],
    asides: Iterable[Aside],
    pages: Iterable[int],
    line_begins: set[int],
) -> list[Run]:
    begins: defaultdict[int, list[int]] = defaultdict(list)
    ends: defaultdict[int, list[int]] = defaultdict(list)
    for number, passage in enumerate(passages):
        if passage.begin < passage.end:
            begins[passage.begin].append(number)
            ends[passage.end].append(number)
    set_aside: defaultdict[int, Counter[str]] = defaultdict(Counter)
    for aside in asides:
        if aside.begin < aside.end:
            set_aside[aside.begin][aside.kind] += 1
            set_aside[aside.end][aside.kind] -= 1
    page_at = {begin: page for page, begin in enumerate(pages, 1)}
    places = _bounds(passages) | set_aside.keys() | page_at.keys() | line_begins | {len(text)}
    bounds = sorted(place for place in places if 0 <= place <= len(text))
    piece_begins = [[piece.begin for piece in passage.pieces] for passage in passages]

    runs: list[Run] = []
    here: list[tuple[int, int]] = []
    kinds: Counter[str] = Counter()
    before = None
    for begin, end in pairwise(bounds):
        for number in ends[begin]:
            here.remove((passages[number].source, number))
        for number in begins[begin]:
            insort(here, (passages[number].source, number))
        if begin in set_aside:
            kinds.update(set_aside[begin])
        order = [number for _, number in here]
        repeating = next(
            (
                number
                for number in order
                if piece_at(passages[number].pieces, piece_begins[number], begin) is not None
            ),
            None,
        )
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
                next((kind for kind in _ASIDES if kinds[kind] > 0), ""),
                colour is not None and colour != before,
                tuple(begins[begin]),
                tuple(ends[end]),
                page_at.get(begin, 0),
            )
        )
        before = colour
    return runs


def _bounds(passages: Iterable[PassageLike]) -> set[int]:
    bounds = set()
    for passage in passages:
        bounds |= {passage.begin, passage.end}
        for piece in passage.pieces:
            bounds |= {piece.begin, piece.end}
    return bounds
