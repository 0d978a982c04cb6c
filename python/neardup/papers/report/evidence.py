"""Evidence: a passage next to its source, with the text around both."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from neardup.papers.align import moved_pieces
from neardup.papers.edits import Span, folding, replacements
from neardup.papers.report.excerpts import around
from neardup.papers.report.marking import Marks
from neardup.papers.report.results import Passage

if TYPE_CHECKING:
    from neardup.papers.report.report import Report

__all__ = ["Evidence", "Stretch", "gather"]

#: Code points shown of a passage whose colour is not visible anywhere.
_SHORT = 160


@dataclass(frozen=True)
class Stretch:
    """A part of one side of a passage.

    Parameters
    ----------
    text : str
    piece : int
        The piece of the passage, from 1; 0 for text in no piece.
    within : bool
        Whether it is inside the passage, not in the text around it.
    moved : bool
        Whether the piece is in another order in the source.
    parts : tuple of (str, bool)
        The text cut at the bounds of edits, and whether the other side does not have
        the part.
    """

    text: str
    piece: int
    within: bool
    moved: bool
    parts: tuple[tuple[str, bool], ...]


@dataclass(frozen=True)
class Side:
    """The text shown of the paper, or of its source.

    Parameters
    ----------
    stretches : tuple of Stretch
    more_before, more_after : bool
        Whether the text continues there.
    """

    stretches: tuple[Stretch, ...]
    more_before: bool
    more_after: bool


@dataclass(frozen=True)
class Evidence:
    """A passage, prepared for display.

    Parameters
    ----------
    number : int
        Position in ``Report.passages``, from 0.
    passage : Passage
    anchor : int
        The passage that the first run is named after.
    page : int
        Page of the paper on which it begins, from 1; 0 if unknown.
    paper, source : Side
    moved : bool
        Whether some of its pieces are in another order in the source.
    edited : bool
        Whether any characters of its pieces differ between both sides.
    shortened : bool
        Whether only its beginning is shown, because it is entirely within
        passages of other sources.
    """

    number: int
    passage: Passage
    anchor: int
    page: int
    paper: Side
    source: Side
    moved: bool
    edited: bool
    shortened: bool


def gather(report: Report, marks: Marks) -> Iterator[Evidence]:
    """Yield the evidence for each passage.

    Parameters
    ----------
    report : Report
    marks : Marks
        The result of `mark` for the report.

    Yields
    ------
    Evidence
        In the order of the paper.
    """
    fold = folding(variants=report.settings.get("variants", "none") != "none")
    for number, passage in enumerate(report.passages):
        if passage.begin >= passage.end:
            continue
        moved = moved_pieces(passage.pieces)
        shortened = number not in marks.coloured
        begin, end = around(report.text, passage.begin, passage.end)
        most = _SHORT if shortened else None
        # A shortened text cannot be compared with its counterpart.
        edits, source_edits = ([], []) if shortened else _edits(report.text, passage, fold)
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
                edits,
                most,
            ),
            _side(
                passage.source_text,
                passage.source_text_begin,
                report.sources[passage.source].length,
                (passage.source_begin, passage.source_end),
                [(piece.source_begin, piece.source_end) for piece in passage.pieces],
                moved,
                source_edits,
                most,
            ),
            bool(moved),
            bool(edits or source_edits),
            shortened and passage.end - passage.begin > _SHORT,
        )


def _side(
    text: str,
    offset: int,
    length: int,
    passage: tuple[int, int],
    pieces: Sequence[tuple[int, int]],
    moved: frozenset[int],
    edits: Sequence[Span],
    most: int | None,
) -> Side:
    """Return an excerpt, cut at the bounds of a passage and its pieces."""
    begin, end = offset, offset + len(text)
    if most is not None:
        end = min(end, passage[0] + most)
    bounds = sorted(
        {begin, end}
        | {min(max(place, begin), end) for span in (passage, *pieces) for place in span}
    )
    covering = [0] * len(bounds)
    # Pieces may overlap in the source; the first one is shown.
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
                tuple(_parts(text, offset, low, high, edits if covering[at] else ())),
            )
            for at, (low, high) in enumerate(pairwise(bounds))
        ),
        begin > 0,
        end < length,
    )


def _edits(
    text: str, passage: Passage, fold: Callable[[str], str]
) -> tuple[list[Span], list[Span]]:
    """Return the edits between the pieces of a passage and those of its source."""
    here: list[Span] = []
    there: list[Span] = []
    for piece in passage.pieces:
        source = passage.source_text[
            max(piece.source_begin - passage.source_text_begin, 0) : max(
                piece.source_end - passage.source_text_begin, 0
            )
        ]
        for mine, other in replacements(text[piece.begin : piece.end], source, fold):
            here.append((piece.begin + mine[0], piece.begin + mine[1]))
            there.append((piece.source_begin + other[0], piece.source_begin + other[1]))
    return here, sorted(there)


def _parts(
    text: str, offset: int, low: int, high: int, edits: Sequence[Span]
) -> Iterator[tuple[str, bool]]:
    """Yield the parts of a stretch, and whether each is an edit."""
    at = low
    for begin, end in edits[max(bisect_left(edits, (low, low)) - 1, 0) :]:
        if begin >= high:
            break
        begin, end = max(begin, at), min(end, high)
        if begin >= end:
            continue
        if at < begin:
            yield text[at - offset : begin - offset], False
        yield text[begin - offset : end - offset], True
        at = end
    if at < high:
        yield text[at - offset : high - offset], False
