"""Two texts next to each other: shared pieces numbered and coloured, differences marked."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from neardup.pages.marking import MarkedPassage, Marks, Run, Span, mark
from neardup.pages.templating import detect_language

# A browser lays out texts longer than this bit by bit during scrolling.
_AT_ONCE = 100_000

#: A text, and whether the other side lacks all of it or nothing.
Part = tuple[str, bool]


def split_parts(
    text: str, begin: int, end: int, differing: Sequence[Span], *, offset: int = 0
) -> Iterator[Part]:
    """Yield a span of a text, split at the bounds of the differences, which are in order.

    The spans count from a place `offset` before the text.
    """
    for low, high in differing[max(bisect_left(differing, (begin, begin)) - 1, 0) :]:
        low, high = max(low, begin), min(high, end)
        if low >= end:
            break
        if low >= high:
            continue
        if begin < low:
            yield text[begin - offset : low - offset], False
        part = text[low - offset : high - offset]
        # A box around white space would be meaningless.
        yield part, bool(part.strip())
        begin = high
    if begin < end:
        yield text[begin - offset : end - offset], False


@dataclass(frozen=True)
class Side:
    """One of two whole texts; for each piece, the spans that the other side lacks."""

    text: str
    marks: Marks
    differing: list[list[Span]]

    @property
    def language(self) -> str:
        """The language of the text; see `detect_language`."""
        return detect_language(self.text)

    @property
    def lazy(self) -> bool:
        """Whether the text is too long to be laid out at once."""
        return len(self.text) > _AT_ONCE

    def split_run(self, run: Run) -> Iterator[Part]:
        """Split a run of a piece at the bounds of the differences."""
        return split_parts(self.text, run.begin, run.end, self.differing[run.passages[0]])


@dataclass(frozen=True)
class Sides:
    """Two whole texts; `pieces` are the spans of both, in the order of the first text."""

    a: Side
    b: Side
    pieces: list[tuple[Span, Span]]


def mark_sides(
    a: str,
    b: str,
    pieces: Iterable[tuple[Span, Span]],
    edits: Sequence[Sequence[tuple[Span, Span]]],
) -> Sides:
    """Return two texts with their shared pieces, and the edits within each piece.

    The pieces are not joined into passages: if the sentences of a passage were moved, each has its
    own place on the other side. A piece is a passage with its own source, so it has its own colour.
    """
    pieces = list(pieces)

    def make_side(number: int, text: str) -> Side:
        passages = [
            MarkedPassage(*piece[number], position, [piece[number]])
            for position, piece in enumerate(pieces)
        ]
        differing = [[edit[number] for edit in of_piece] for of_piece in edits]
        return Side(text, mark(text, passages), differing)

    return Sides(make_side(0, a), make_side(1, b), pieces)


@dataclass(frozen=True)
class Stretch:
    """A part of an excerpt, in a piece (from 1) of a passage, or 0 if in none.

    `within` is whether it is inside the passage, not in the text around it; `moved` whether the
    piece is in another order on the other side.
    """

    text: str
    piece: int
    within: bool
    moved: bool
    parts: tuple[Part, ...]


@dataclass(frozen=True)
class Excerpt:
    """A part of a text, and whether the text continues before and after it."""

    stretches: tuple[Stretch, ...]
    more_before: bool
    more_after: bool


def cut_excerpt(
    text: str,
    offset: int,
    length: int,
    passage: Span,
    pieces: Sequence[Span],
    moved: frozenset[int],
    differing: Sequence[Span],
    limit: int | None,
) -> Excerpt:
    """Return an excerpt, cut at the bounds of a passage and its pieces.

    All spans count from the begin of the whole text, of `length` code points, in which `text`
    begins at `offset`. At most `limit` code points of the passage are shown.
    """
    begin, end = offset, offset + len(text)
    if limit is not None:
        end = min(end, passage[0] + limit)
    bounds = sorted(
        {begin, end}
        | {min(max(place, begin), end) for span in (passage, *pieces) for place in span}
    )
    covering = [0] * len(bounds)
    # Pieces may overlap in the source; the first one is shown.
    for number in range(len(pieces), 0, -1):
        low, high = (bisect_left(bounds, place) for place in pieces[number - 1])
        covering[low:high] = [number] * (high - low)
    stretches = (
        Stretch(
            text[low - offset : high - offset],
            piece,
            passage[0] <= low < passage[1],
            piece in moved,
            tuple(split_parts(text, low, high, differing if piece else (), offset=offset)),
        )
        for piece, (low, high) in zip(covering, pairwise(bounds), strict=False)
    )
    return Excerpt(tuple(stretches), begin > 0, end < length)
