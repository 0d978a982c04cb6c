"""Evidence: a passage next to its source, with the text around both."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from neardup.pages.excerpts import extend_span
from neardup.pages.marking import Marks, Span
from neardup.pages.sides import Excerpt, cut_excerpt
from neardup.papers.alignment import find_moved_pieces
from neardup.papers.edits import find_replacements, make_fold
from neardup.papers.results import Passage

#: Code points shown of a passage whose colour is not visible anywhere.
_SHORT = 160


@dataclass(frozen=True)
class Evidence:
    """A passage, prepared for display.

    `anchor` is the passage that the first run is named after; `page` counts from 1, 0 if unknown.
    A passage that is entirely within passages of other sources is shortened to its beginning.
    """

    number: int
    passage: Passage
    anchor: int
    page: int
    paper: Excerpt
    source: Excerpt
    moved: bool
    shortened: bool


def collect_evidence(
    text: str,
    passages: Sequence[Passage],
    lengths: Sequence[int],
    pages: Sequence[int],
    marks: Marks,
) -> Iterator[Evidence]:
    """Yield the evidence for each passage of a paper, in the order of the paper.

    `lengths` has the length of each source's text.
    """
    fold = make_fold()
    for number, passage in enumerate(passages):
        if passage.begin >= passage.end:
            continue
        moved = find_moved_pieces(passage.pieces)
        shortened = number not in marks.coloured
        begin, end = extend_span(text, passage.begin, passage.end)
        limit = _SHORT if shortened else None
        # A shortened text cannot be compared with its counterpart.
        edits, source_edits = ([], []) if shortened else _find_edits(text, passage, fold)
        yield Evidence(
            number,
            passage,
            marks.anchors[number],
            bisect_right(pages, passage.begin),
            cut_excerpt(
                text[begin:end],
                begin,
                len(text),
                (passage.begin, passage.end),
                [(piece.begin, piece.end) for piece in passage.pieces],
                moved,
                edits,
                limit,
            ),
            cut_excerpt(
                passage.source_text,
                passage.source_text_begin,
                lengths[passage.source],
                (passage.source_begin, passage.source_end),
                [(piece.source_begin, piece.source_end) for piece in passage.pieces],
                moved,
                source_edits,
                limit,
            ),
            bool(moved),
            shortened and passage.end - passage.begin > _SHORT,
        )


def _find_edits(
    text: str, passage: Passage, fold: Callable[[str], str]
) -> tuple[list[Span], list[Span]]:
    """Return the edits between the pieces of a passage and its source."""
    edits: list[Span] = []
    source_edits: list[Span] = []
    begin = passage.source_text_begin
    for piece in passage.pieces:
        first, last = (max(offset - begin, 0) for offset in (piece.source_begin, piece.source_end))
        source = passage.source_text[first:last]
        for edit, source_edit in find_replacements(text[piece.begin : piece.end], source, fold):
            edits.append((piece.begin + edit[0], piece.begin + edit[1]))
            source_edits.append(
                (piece.source_begin + source_edit[0], piece.source_begin + source_edit[1])
            )
    return edits, sorted(source_edits)
