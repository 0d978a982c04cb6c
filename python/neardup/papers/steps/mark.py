"""Step 5: which characters are copied, and from how many sources."""

from __future__ import annotations

from collections.abc import Iterator

from neardup.papers.marks import find_spans, mark_spans
from neardup.papers.results import WORDING, ExcludedSpan
from neardup.papers.steps.draft import Draft


def mark(draft: Draft) -> None:
    """Mark the characters of all matches, and set aside the wording that none of them has."""
    for match in draft.matches:
        match.characters = draft.marks.add(match.list_spans())
    draft.matches.sort(key=lambda match: (-match.characters, match.document.position))
    draft.asides = sorted(
        [*draft.asides, *_find_uncopied(draft)], key=lambda aside: (aside.begin, aside.end)
    )


def _find_uncopied(draft: Draft) -> Iterator[ExcludedSpan]:
    """Yield the stretches of wording that no passage covers, each kind without overlaps."""
    marks = draft.marks
    for kind in WORDING:
        spans = ((aside.begin, aside.end) for aside in draft.wording if aside.kind == kind)
        apart_of_kind = mark_spans(len(marks.counts), spans) & ~marks.copied & ~marks.given
        for begin, end in find_spans(apart_of_kind):
            if not marks.counts[begin:end].any():
                continue
            having = (
                stretch.documents or 0
                for stretch in draft.shared
                if stretch.begin < end and begin < stretch.end
            )
            documents = max(having, default=None) if kind == "shared" else None
            yield ExcludedSpan(begin, end, kind, documents)
