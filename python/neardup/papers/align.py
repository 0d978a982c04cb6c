"""Alignment: the passages of one text that occur in another, and where."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from neardup._engine.text_inputs import checked_text
from neardup._engine.validation import check_flag, check_whole
from neardup.papers.report.results import Piece
from neardup.papers.structure.brackets import without_brackets

if TYPE_CHECKING:
    from neardup import _core

__all__ = ["LEAST", "SharedPassage", "align", "aligner", "check_least"]

#: Smallest number of Chinese characters that a passage has in common with its source.
LEAST = 20

#: The bounds of that number; the lower one is the length of a shingle.
SHORTEST, LONGEST = 5, 10_000


@dataclass(frozen=True)
class SharedPassage:
    """A passage of one text that occurs in another.

    Parameters
    ----------
    begin, end : int
        Half-open span of the first text, in code points.
    source_begin, source_end : int
        Half-open span of the second text, in code points.
    similarity : float
        Share of the longer of the two passages that no edit touches, in [0, 1];
        letters and digits only.
    pieces : tuple of Piece
        The pieces of the passage, in the order of the first text; more than one if
        sentences were moved or text was inserted.
    """

    begin: int
    end: int
    source_begin: int
    source_end: int
    similarity: float
    pieces: tuple[Piece, ...]


def align(
    text: str, source: str, *, least: int = LEAST, ignore_brackets: bool = False
) -> list[SharedPassage]:
    """Return the passages of a text that occur in another.

    Parameters
    ----------
    text, source : str
    least : int, default=20
        Minimum number of Chinese characters that a passage shares with the source, less
        half of the edited characters between them, 5 to 10,000; or twice as many letters
        of an alphabet. Each letter of the source counts once, however often `text`
        repeats it. One of three conditions must also hold: one piece has `least`
        characters, the pieces share four times `least`, or the pieces make up half of
        both sides.
    ignore_brackets : bool, default=False
        Whether text in brackets is left out on both sides.

    Returns
    -------
    list of SharedPassage
        In the order of `text`. They may overlap, their pieces by less than half.

    Raises
    ------
    InputError
        If a text is not a str, has a lone surrogate, or is longer than 256 MiB.
    ParameterError
        If `least` is out of bounds, or `ignore_brackets` is no bool.

    Notes
    -----
    Only letters and digits are compared. White space, punctuation, case, and full-width
    and half-width forms make no difference; nor do traditional and simplified characters
    if `opencc` is installed. Seeds are shingles of five Chinese characters or ten letters;
    they are chained over edits and gaps of at most 40 Chinese characters. Pieces that are
    close in `text` and within 300 Chinese characters in `source` form one passage, in any
    order. O(n + m) for texts of n and m characters.

    Examples
    --------
    >>> text = "前言如下。渡口的新渡轮下周一试航，票价与旧船相同，老人与孩子免费乘坐。"
    >>> source = "渡口的新渡轮下周一试航，票价和旧船相同，老人与孩子免费乘坐"
    >>> found, = align(text, source)
    >>> text[found.begin : found.end] == text[5:-1], found.source_begin
    (True, 0)
    """
    import pyarrow as pa

    check_least(least)
    text, source = checked_text(text, "text"), checked_text(source, "source")
    if check_flag(ignore_brackets, "ignore_brackets"):
        text, source = without_brackets(text), without_brackets(source)
    core, _ = aligner()
    paper = core.paper(text)
    sources = pa.array([source], pa.large_string())
    (found,) = core.passages(paper, sources, least=least, workers=1)
    return [
        SharedPassage(*span, similarity, tuple(Piece(*piece) for piece in pieces))
        for span, similarity, pieces in found
    ]


def check_least(value: Any) -> int:
    """Return `least`; raise ParameterError if it is out of bounds."""
    return check_whole(value, "least", SHORTEST, LONGEST)


@lru_cache(maxsize=1)
def aligner() -> tuple[_core.Aligner, str | None]:
    """Return the core's aligner, and the name of its table of variants."""
    from neardup import _core
    from neardup.papers.variants import variants

    traditional, simplified, table = variants()
    return _core.Aligner(variants=traditional, standards=simplified), table
