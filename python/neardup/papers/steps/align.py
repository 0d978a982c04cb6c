"""Step 3: the passages that the paper has in common with documents of the library."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from neardup.base.lazy import _core, pa
from neardup.pages.excerpts import extend_span
from neardup.papers.alignment import FourPlaces, get_aligner, trim_passage
from neardup.papers.library import LibraryDocument
from neardup.papers.marks import mark_spans
from neardup.papers.results import Passage
from neardup.papers.steps.draft import Draft, Match
from neardup.papers.wording import CONTEXT

#: Texts of candidates that are aligned together: at most so many, and about so many characters; and
#: those at first.
_TOGETHER, _CHARACTERS, _FIRST = 64, 4_000_000, 4


def align(draft: Draft) -> None:
    """Add the candidates that have passages of the paper, except those that are left out."""
    matches = find_matches(draft, draft.prepared, draft.candidates)
    without = draft.settings.without_sources
    draft.left_out = [one.document.id for one in matches if one.document.id in without]
    draft.matches = [one for one in matches if one.document.id not in without]


def find_matches(draft: Draft, paper: _core.Paper, positions: Sequence[int]) -> list[Match]:
    """Return the documents at these positions that have passages of the paper."""
    settings = draft.settings
    matches = []
    begin, count = 0, _FIRST
    while begin < len(positions):
        documents = list(draft.library.documents(positions[begin : begin + count]))
        begin += count
        characters = sum(len(document.text) for document in documents)
        count = min(_TOGETHER, max(1, _CHARACTERS * len(documents) // max(characters, 1)))
        texts = pa.array([document.text for document in documents], pa.large_string())
        of_all = get_aligner().passages(
            paper, texts, least=settings.min_passage_length, workers=settings.workers
        )
        for document, of_one in zip(documents, of_all, strict=True):
            passages = [_make_passage(draft, document, *shared) for shared in of_one]
            passages = [passage for passage in passages if passage.characters]
            if passages:
                contexts = [_cut_context(document.text, passage) for passage in passages]
                length = len(document.text)
                matches.append(Match(replace(document, text=""), length, passages, contexts))
    return matches


def _make_passage(
    draft: Draft,
    document: LibraryDocument,
    span: FourPlaces,
    similarity: float,
    of_core: list[FourPlaces],
) -> Passage:
    source = document.text
    (begin, end, source_begin, source_end), pieces = trim_passage(draft.text, source, span, of_core)
    shown, shown_end = extend_span(source, source_begin, source_end)
    counted = draft.marks.counts[begin:end] & mark_spans(
        end - begin, ((piece.begin - begin, piece.end - begin) for piece in pieces)
    )
    return Passage(
        begin=begin,
        end=end,
        source=document.position,
        source_begin=source_begin,
        source_end=source_end,
        similarity=similarity,
        characters=int(counted.sum()),
        pieces=pieces,
        source_text=source[shown:shown_end],
        source_text_begin=shown,
    )


def _cut_context(text: str, passage: Passage) -> str | None:
    """Return the text around a passage in its source; None if that is half of the source."""
    begin, end = passage.source_begin, passage.source_end
    if 2 * (end - begin) >= len(text):
        return None
    return f"{text[max(begin - CONTEXT, 0) : begin]}\n{text[end : end + CONTEXT]}"
