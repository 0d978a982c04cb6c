"""A passage beside its source: the stretches of both, and what stands around them."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from neardup.papers.marking import Marks
from neardup.papers.results import Passage, Report

__all__ = ["Evidence", "Stretch", "gather", "moved_pieces"]

#: Code points of the paper shown before and after a passage.
_AROUND = 60
#: Code points shown of a passage whose colour is seen nowhere.
_SHORT = 160
# Half a word at either end of an excerpt; scripts without spaces have none.
_WORD_BEFORE = re.compile("[0-9A-Za-z\u00c0-\u1fff]{1,30}\\s?")
_WORD_AFTER = re.compile("[0-9A-Za-z\u00c0-\u1fff]{1,30}\\Z")


@dataclass(frozen=True)
class Stretch:
    """A part of a text beside another.

    Parameters
    ----------
    text : str
    piece : int
        The piece of the passage that it is, from 1; 0 for what is in none.
    within : bool
        Whether it is inside of the passage; what stands around it is not.
    moved : bool
        Whether the piece stands in another order in the source.
    """

    text: str
    piece: int
    within: bool
    moved: bool


@dataclass(frozen=True)
class Side:
    """What is shown of the paper, or of its source.

    Parameters
    ----------
    stretches : tuple of Stretch
    more_before, more_after : bool
        Whether the text goes on there.
    """

    stretches: tuple[Stretch, ...]
    more_before: bool
    more_after: bool


@dataclass(frozen=True)
class Evidence:
    """A passage, ready to be shown.

    Parameters
    ----------
    number : int
        Position in ``Report.passages``, from 0.
    passage : Passage
    anchor : int
        The passage after which its first run is named.
    page : int
        Page of the paper on which it begins, from 1; 0 if that is not known.
    paper, source : Side
    moved : bool
        Whether some of its pieces stand in another order in the source.
    shortened : bool
        Whether only its beginning is shown, because it stands wholly within
        passages of other sources.
    """

    number: int
    passage: Passage
    anchor: int
    page: int
    paper: Side
    source: Side
    moved: bool
    shortened: bool


def gather(report: Report, marks: Marks) -> Iterator[Evidence]:
    """Yield the evidence for each passage.

    Parameters
    ----------
    report : Report
    marks : Marks
        What `mark` made of the report.

    Yields
    ------
    Evidence
        In the order of the paper.
    """
    for number, passage in enumerate(report.passages):
        if passage.begin >= passage.end:
            continue
        moved = moved_pieces(passage)
        shortened = number not in marks.coloured
        begin, end = _around(report.text, passage.begin, passage.end)
        most = _SHORT if shortened else None
        yield Evidence(
            number,
            passage,
            marks.anchors[number],
            bisect_right(report.pages, passage.begin),
            _side(
                report.text[begin:end],
                begin,
                len(report.text),
                (passage.begin, passage.end),
                [(piece.begin, piece.end) for piece in passage.pieces],
                moved,
                most,
            ),
            _side(
                passage.source_text,
                passage.source_text_begin,
                report.sources[passage.source].length,
                (passage.source_begin, passage.source_end),
                [(piece.source_begin, piece.source_end) for piece in passage.pieces],
                moved,
                most,
            ),
            bool(moved),
            shortened and passage.end - passage.begin > _SHORT,
        )


def moved_pieces(passage: Passage) -> frozenset[int]:
    """Return the pieces, from 1, that follow one which stands later in the source.

    Parameters
    ----------
    passage : Passage

    Returns
    -------
    frozenset of int
    """
    pieces = passage.pieces
    return frozenset(
        at + 1
        for at in range(1, len(pieces))
        if pieces[at].source_begin < pieces[at - 1].source_begin
    )


def _around(text: str, begin: int, end: int) -> tuple[int, int]:
    """A span with some of its neighbours, of its own line where there are any."""
    before = max(begin - _AROUND, 0)
    line = text.rfind("\n", before, begin - 1) + 1 if begin else 0
    after = min(end + _AROUND, len(text))
    next_line = text.find("\n", end + 1, after)
    return max(before, line), after if next_line < 0 else next_line


def _side(
    text: str,
    offset: int,
    length: int,
    passage: tuple[int, int],
    pieces: Sequence[tuple[int, int]],
    moved: frozenset[int],
    most: int | None,
) -> Side:
    """Cut an excerpt of a text of some length at the bounds of a passage and its pieces."""
    begin, end = offset, offset + len(text)
    first = _WORD_BEFORE.match(text) if begin else None
    if first and begin + first.end() <= passage[0]:
        begin += first.end()
    last = _WORD_AFTER.search(text) if end < length else None
    if last and offset + last.start() >= passage[1]:
        end = offset + last.start()
    if most is not None:
        end = min(end, passage[0] + most)
    bounds = sorted(
        {begin, end}
        | {min(max(place, begin), end) for span in (passage, *pieces) for place in span}
    )
    covering = [0] * len(bounds)
    # Pieces may overlap in the source; the first one wins.
    for number in range(len(pieces), 0, -1):
        at = bisect_left(bounds, pieces[number - 1][0])
        while at < len(bounds) and bounds[at] < pieces[number - 1][1]:
            covering[at] = number
            at += 1
    return Side(
        tuple(
            Stretch(
                text[low - offset : high - offset],
                covering[at],
                passage[0] <= low < passage[1],
                covering[at] in moved,
            )
            for at, (low, high) in enumerate(pairwise(bounds))
        ),
        begin > 0,
        end < length,
    )
