"""Step 4: wording that the paper shares with sources although nobody copied."""

from __future__ import annotations

from neardup.base.lazy import NDArray, np
from neardup.papers.alignment import get_aligner
from neardup.papers.results import ExcludedSpan
from neardup.papers.shared import fill_spans, find_shared_text
from neardup.papers.steps.align import find_matches
from neardup.papers.steps.draft import Draft
from neardup.papers.wording import LONGEST, Wording, weigh_characters


def set_aside(draft: Draft) -> None:
    """Take passages of wording out of the matches, and text that many documents share."""
    weights = weigh_characters(draft.text, draft.marks.counts)
    draft.shared = _find_shared(draft, weights)
    spans = [(stretch.begin, stretch.end) for stretch in draft.shared]
    # A phrase within a copy is copied; more is cut out of it.
    long = [span for span in spans if weights[slice(*span)].sum() > LONGEST]
    draft.wording = [ExcludedSpan(*span, "shared") for span in long]
    if long:
        positions = [match.document.position for match in draft.matches]
        rest = get_aligner().paper(fill_spans(draft.text, long))
        draft.matches = find_matches(draft, rest, positions)
    if draft.matches:
        _take_wording(draft, weights, spans)


def _find_shared(draft: Draft, weights: NDArray[np.int8]) -> list[ExcludedSpan]:
    """Return what many documents of the library share; papers are not the library."""
    if draft.settings.count_shared:
        return []
    library = draft.library
    end = len(library) - library.papers
    skipped = sum(position < end for position in draft.paper.skip)
    return find_shared_text(
        [(one.list_spans(), one.is_copy) for one in draft.matches if one.document.position < end],
        weights,
        library.readable - library.papers - skipped - len(draft.left_out),
        lambda: library.shingle_counts(draft.prepared),
    )


def _take_wording(draft: Draft, weights: NDArray[np.int8], shared: list[tuple[int, int]]) -> None:
    wording = Wording(
        draft.text,
        weights,
        draft.settings.min_passage_length,
        [passage for match in draft.matches for passage in match.passages],
        [context for match in draft.matches for context in match.contexts],
        shared,
    )
    kinds = iter(wording.classify(get_aligner(), draft.documents - len(draft.left_out)))
    for match in draft.matches:
        copied = []
        for passage in match.passages:
            if (kind := next(kinds)) is None:
                copied.append(passage)
            else:
                draft.wording += [
                    ExcludedSpan(piece.begin, piece.end, kind) for piece in passage.pieces
                ]
        match.passages = copied
    draft.matches = [match for match in draft.matches if match.passages]
