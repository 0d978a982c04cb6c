"""Alignment: the passages of one text that occur in another, and where."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Unpack

from neardup.base.arrays import texts_array
from neardup.base.lazy import _core
from neardup.options.groups import AlignParameters
from neardup.options.options import SHORTEST_PASSAGE
from neardup.options.signatures import complete_options, takes_options
from neardup.pages.sides import Sides, mark_sides
from neardup.papers.edits import (
    Span,
    extend_to_words,
    find_equal_words,
    find_replacements,
    find_words,
    make_fold,
    trim_to_words,
)
from neardup.papers.hiding import unmask
from neardup.papers.results import Piece
from neardup.recipe.text_inputs import checked_text

#: In texts at most this long, in code points, even a few shared words are passages of two texts.
_SHORT = 200

#: Begin and end in a text, then in its source.
FourPlaces = tuple[int, int, int, int]


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
    text, source_text : str
        What the spans are in both texts.
    """

    begin: int
    end: int
    source_begin: int
    source_end: int
    similarity: float
    pieces: tuple[Piece, ...]
    text: str
    source_text: str


@dataclass(frozen=True)
class Difference:
    """A place where two texts differ: other words, or the same words in another order.

    Parameters
    ----------
    begin, end : int
        Half-open span of the first text, in code points; empty if only the second one has words.
    source_begin, source_end : int
        Half-open span of the second text, in code points; empty if only the first one has words.
    moved : bool
        Whether both have the words, but the second one at an earlier place than what comes
        before them in the first.
    text, source_text : str
        What the spans are in both texts.
    """

    begin: int
    end: int
    source_begin: int
    source_end: int
    moved: bool
    text: str
    source_text: str


@takes_options
def align(text: str, source: str, **options: Unpack[AlignParameters]) -> list[SharedPassage]:
    """Return the passages of a text that occur in another.

    Parameters
    ----------
    text, source : str
    {options}

    Returns
    -------
    list of SharedPassage
        In the order of `text`. They may overlap, their pieces by less than half.

    Raises
    ------
    InputError
        If a text is not a str, has a lone surrogate, or is longer than 256 MiB.
    ParameterError
        If `min_passage_length` is out of bounds.

    Notes
    -----
    Half of the edited characters between its pieces is subtracted from the length of a passage.
    Each letter of the source counts once, however often `text` repeats it. One of three conditions
    must also hold. One piece has `min_passage_length` characters; the pieces share four times as
    many; or the pieces make up half of both sides.

    Only letters and digits are compared. White space, punctuation, case, and full-width
    and half-width forms make no difference; nor do traditional and simplified characters, Arabic
    and Hebrew points, and letters of other scripts that look alike. A passage and its pieces begin
    and end at words. Seeds are shingles of five Chinese characters or ten letters;
    they are chained over edits and gaps of at most 40 Chinese characters. Pieces that are
    close in `text` and within 300 Chinese characters in `source` form one passage, in any
    order. O(n + m) for texts of n and m characters.

    Examples
    --------
    >>> text = "前言如下。渡口的新渡轮下周一试航，票价与旧船相同，老人与孩子免费乘坐。"
    >>> source = "渡口的新渡轮下周一试航，票价和旧船相同，老人与孩子免费乘坐"
    >>> passage, = align(text, source)
    >>> text[passage.begin : passage.end] == text[5:-1], passage.source_begin
    (True, 0)
    """
    least = complete_options(align, options)["min_passage_length"]
    text, source = checked_text(text, "text"), checked_text(source, "source")
    core = get_aligner()
    paper = core.paper(text)
    sources = texts_array([source])
    (passages,) = core.passages(paper, sources, least=least, workers=1)
    shared = []
    for span, similarity, of_core in passages:
        span, pieces = trim_passage(text, source, span, of_core)
        texts = text[span[0] : span[1]], source[span[2] : span[3]]
        shared.append(SharedPassage(*span, similarity, pieces, *texts))
    return shared


def trim_passage(
    text: str, source: str, span: FourPlaces, pieces: Sequence[FourPlaces]
) -> tuple[FourPlaces, tuple[Piece, ...]]:
    """Return the span and the pieces of a passage, as the core found them, from word to word."""
    whole = [trim_to_words(text, source, piece) for piece in pieces]
    if whole != list(pieces):
        span = (
            min(piece[0] for piece in whole),
            max(piece[1] for piece in whole),
            min(piece[2] for piece in whole),
            max(piece[3] for piece in whole),
        )
    return span, tuple(Piece(*piece) for piece in whole)


def align_pair(a: str, b: str) -> list[SharedPassage]:
    """Return the passages of one text in another, which may both be short."""
    if min(len(a), len(b)) > _SHORT:
        return align(a, b)
    return align(a, b, min_passage_length=SHORTEST_PASSAGE)


def _extend_pieces(a: str, b: str, passages: Sequence[SharedPassage]) -> list[Piece]:
    """Return the pieces of passages, each extended to whole words, in the order of `a`."""
    pieces = [
        Piece(
            *extend_to_words(a, piece.begin, piece.end),
            *extend_to_words(b, piece.source_begin, piece.source_end),
        )
        for passage in passages
        for piece in passage.pieces
    ]
    return sorted(pieces, key=lambda piece: (piece.begin, piece.end))


def _find_edits(a: str, b: str, pieces: Sequence[Piece]) -> list[list[tuple[Span, Span]]]:
    """Return the places where each piece and its source differ, as spans of both texts."""
    fold = make_fold()
    return [
        [
            (
                (piece.begin + begin, piece.begin + end),
                (piece.source_begin + source_begin, piece.source_begin + source_end),
            )
            for (begin, end), (source_begin, source_end) in find_replacements(
                a[piece.begin : piece.end], b[piece.source_begin : piece.source_end], fold
            )
        ]
        for piece in pieces
    ]


def align_sides(a: str, b: str) -> Sides:
    """Return two texts next to each other, with the shared pieces marked.

    Examples
    --------
    >>> sides = align_sides("渡口的新渡轮下周一试航", "渡口的新渡船下周一试航")
    >>> [[text for text, _ in sides.b.split_run(run)] for run in sides.b.marks.iterate_runs()]
    [['渡口的新渡', '船', '下周一试航']]
    """
    pieces = _extend_pieces(a, b, align_pair(a, b))
    spans = [((piece.begin, piece.end), (piece.source_begin, piece.source_end)) for piece in pieces]
    return mark_sides(a, b, spans, _find_edits(a, b, pieces))


def find_moved_pieces(pieces: Sequence[Piece]) -> frozenset[int]:
    """Return the pieces, from 1, that follow a piece from later in the source."""
    return frozenset(
        number
        for number, (before, piece) in enumerate(pairwise(pieces), 2)
        if piece.source_begin < before.source_begin
    )


def find_differences(a: str, b: str, passages: Sequence[SharedPassage]) -> list[Difference]:
    """Return where two texts differ, in the order of the first; `passages` are of `align_pair`.

    Examples
    --------
    >>> a, b = "The ferry will leave at nine.", "The ferry is to leave at nine."
    >>> [(one.text, one.source_text) for one in find_differences(a, b, align_pair(a, b))]
    [('will', 'is to')]
    """
    pieces = _extend_pieces(a, b, passages)
    moved = find_moved_pieces(pieces)
    alike, source_alike = unmask(a), unmask(b)
    all_edits = _find_edits(alike, source_alike, pieces)
    spans: list[tuple[Span, Span, bool]] = []
    shown = 0
    for number, (piece, edits) in enumerate(zip(pieces, all_edits, strict=True), 1):
        if number in moved:
            source = (piece.source_begin, piece.source_end)
            spans.append(((piece.begin, piece.end), source, True))
        # Pieces may overlap; the words of both are shown once.
        spans += [(*edit, False) for edit in edits if edit[0][0] >= shown]
        shown = max(shown, piece.end)
    ends = [(piece.begin, piece.end) for piece in pieces]
    source_ends = [(piece.source_begin, piece.source_end) for piece in pieces]
    gaps, source_gaps = _find_gaps(a, ends), _find_gaps(b, source_ends)
    for before in gaps.keys() | source_gaps.keys():
        end, source_end = (0, 0) if before < 0 else (ends[before][1], source_ends[before][1])
        gap = gaps.get(before, (end, end)), source_gaps.get(before, (source_end, source_end))
        # Words at both ends of a gap may be too few for a passage, but are the same.
        if edits := _find_edits(alike, source_alike, [Piece(*gap[0], *gap[1])])[0]:
            here, there = zip(edits[0], edits[-1], strict=True)
            spans.append(((here[0][0], here[1][1]), (there[0][0], there[1][1]), False))
    return [
        Difference(*span, *source_span, is_moved, a[slice(*span)], b[slice(*source_span)])
        for span, source_span, is_moved in sorted(spans)
    ]


def count_equated_words(passages: Sequence[SharedPassage]) -> dict[tuple[str, str], int]:
    """Return the words that passages have in other letters than their source, with their numbers.

    They count as equal: traditional and simplified characters; upper and lower case; full and half
    width; letters with and without points; letters that look alike.

    Examples
    --------
    >>> count_equated_words(align_pair("The ＦＥＲＲＹ left the pier.", "the ferry left the pier."))
    {('The', 'the'): 1, ('ＦＥＲＲＹ', 'ferry'): 1}
    """
    fold = make_fold()
    words: Counter[tuple[str, str]] = Counter()
    for passage in passages:
        alike, source_alike = unmask(passage.text), unmask(passage.source_text)
        for piece in passage.pieces:
            here = slice(piece.begin - passage.begin, piece.end - passage.begin)
            first = passage.source_begin
            there = slice(piece.source_begin - first, piece.source_end - first)
            text, source_text = passage.text[here], passage.source_text[there]
            words.update(
                (text[slice(*word)], source_text[slice(*other)])
                for word, other in find_equal_words(alike[here], source_alike[there], fold)
                if text[slice(*word)] != source_text[slice(*other)]
            )
    return dict(words.most_common())


def _find_gaps(text: str, pieces: Sequence[Span]) -> dict[int, Span]:
    """Return the words between pieces, by the number of the piece before them; -1 for none."""
    gaps = {}
    reached, before = 0, -1
    order = sorted(range(len(pieces)), key=pieces.__getitem__)
    for number, (begin, end) in [*((n, pieces[n]) for n in order), (-1, (len(text),) * 2)]:
        if words := find_words(text[reached:begin]):
            gaps[before] = reached + words[0][0], reached + words[-1][1]
        if end > reached:
            reached, before = end, number
    return gaps


@lru_cache(maxsize=1)
def get_aligner() -> _core.Aligner:
    """Return the core's aligner."""
    return _core.Aligner()
