"""Step 2: the documents of the library that may have passages of the paper."""

from __future__ import annotations

from neardup.papers.settings import CANDIDATES
from neardup.papers.steps.draft import Draft


def find_sources(draft: Draft) -> None:
    """Add the documents that share most shingles with the paper."""
    settings, skip = draft.settings, draft.paper.skip
    count = CANDIDATES + len(settings.without_sources)
    candidates = draft.library.candidates(
        draft.prepared, least=settings.min_passage_length, limit=count + len(skip)
    )
    draft.candidates = [position for position, _ in candidates if position not in skip][:count]
