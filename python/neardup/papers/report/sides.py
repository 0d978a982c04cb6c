"""Two texts side by side: shared pieces numbered and coloured, differences marked."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from neardup.papers.align import align_pair, edits_of, whole_pieces
from neardup.papers.edits import Span
from neardup.papers.report.escaping import language_of
from neardup.papers.report.marking import Marks, Run, mark
from neardup.papers.report.results import Piece

__all__ = ["Part", "Side", "Sides", "align_sides"]

# A browser lays out texts longer than this bit by bit during scrolling.
_AT_ONCE = 100_000


@dataclass(frozen=True)
class Part:
    """A part of a run that differs from the other side entirely or not at all."""

    text: str
    differs: bool


@dataclass(frozen=True)
class Side:
    """One of the two texts.

    Parameters
    ----------
    text : str
    marks : Marks
        The text cut into runs. Pieces have the same numbers on both sides.
    differing : tuple of list of (int, int)
        For each piece, the spans of the text that the other side lacks.
    language : {'zh', 'ja', ''}
    lazy : bool
        Whether the text is too long to be laid out at once.
    """

    text: str
    marks: Marks
    differing: tuple[list[Span], ...]
    language: str
    lazy: bool

    def parts(self, run: Run) -> Iterator[Part]:
        """Split a run of a piece at the boundaries of the differences."""
        differing = self.differing[run.passages[0]]
        at = run.begin
        first = max(bisect_right(differing, (at, at)) - 1, 0)
        for begin, end in differing[first:]:
            begin, end = max(begin, at), min(end, run.end)
            if begin >= run.end:
                break
            if begin < end:
                if at < begin:
                    yield Part(self.text[at:begin], False)
                # A box around white space would be meaningless.
                yield Part(self.text[begin:end], bool(self.text[begin:end].strip()))
                at = end
        if at < run.end:
            yield Part(self.text[at : run.end], False)


@dataclass(frozen=True)
class Sides:
    """Two texts, to be shown beside each other.

    Parameters
    ----------
    a, b : Side
    pieces : tuple of Piece
        In the order of the first text; the number shown is the position, from 1. They are not
        joined into passages: if the sentences of a passage were moved, each has its own place
        on the other side.
    """

    a: Side
    b: Side
    pieces: tuple[Piece, ...]


def align_sides(a: str, b: str) -> Sides:
    """Align two texts, and mark the shared pieces.

    Parameters
    ----------
    a, b : str

    Returns
    -------
    Sides

    Examples
    --------
    >>> sides = align_sides("渡口的新渡轮下周一试航", "渡口的新渡船下周一试航")
    >>> [[part.text for part in sides.b.parts(run)] for run in sides.b.marks.runs()]
    [['渡口的新渡', '船', '下周一试航']]
    """
    pieces = whole_pieces(a, b, align_pair(a, b))
    edits = edits_of(a, b, pieces)
    in_a, in_b = ([[spans[side] for spans in of_piece] for of_piece in edits] for side in (0, 1))
    turned = [
        Piece(piece.source_begin, piece.source_end, piece.begin, piece.end) for piece in pieces
    ]
    return Sides(_side(a, pieces, in_a), _side(b, turned, in_b), tuple(pieces))


class _Alone:
    """A piece as a passage with its own source, which gives it its own colour."""

    def __init__(self, number: int, piece: Piece) -> None:
        self.begin, self.end = piece.begin, piece.end
        self.source = number
        self.pieces = (piece,)


def _side(text: str, pieces: list[Piece], differing: list[list[Span]]) -> Side:
    marks = mark(text, [_Alone(number, piece) for number, piece in enumerate(pieces)])
    return Side(text, marks, tuple(differing), language_of(text), len(text) > _AT_ONCE)
