"""Step 7: the report, with its notes."""

from __future__ import annotations

from collections.abc import Iterator

from neardup.base.messages import Message
from neardup.papers.cover import read_cover
from neardup.papers.report import Report
from neardup.papers.results import CountedRuns
from neardup.papers.steps.draft import Draft
from neardup.papers.verdict import measure_unread


def report(draft: Draft) -> Report:
    """Return the report that the draft has become."""
    paper, file, marks = draft.paper, draft.paper.file, draft.marks
    similarities = (source.similarity for source in draft.sources)
    shared = ((aside.begin, aside.end) for aside in draft.asides if aside.kind == "shared")
    return Report(
        paper=paper.name,
        text=file.text,
        characters=marks.total,
        copied=int(marks.copied.sum()),
        rates=draft.rates,
        similarity=max((one for one in similarities if one is not None), default=None),
        sources=draft.sources,
        sections=draft.sections,
        passages=draft.passages,
        asides=tuple(draft.asides),
        pages=tuple(file.pages),
        library=draft.library.name,
        library_documents=draft.documents,
        settings=draft.settings.describe(),
        notes=tuple(_list_notes(draft)),
        cover=paper.cover.over(read_cover(file)),
        thresholds=draft.settings.thresholds,
        without_sources=tuple(draft.left_out),
        findings=draft.findings,
        unread=measure_unread(file),
        no_verdict=draft.no_verdict,
        shared=int(marks.select(shared).sum()),
        runs=_cut_runs(draft),
    )


def _cut_runs(draft: Draft) -> CountedRuns:
    """Return what the page counts again; all sources that are not listed are its last one."""
    numbers = {match.document.position for match in draft.listed}
    unlisted = (match for match in draft.matches if match.document.position not in numbers)
    return draft.marks.cut_runs(
        [
            *(match.list_spans() for match in draft.listed),
            [span for match in unlisted for span in match.list_spans()],
        ],
        (bound for part in draft.sections for bound in (part.begin, part.end)),
    )


def _list_notes(draft: Draft) -> Iterator[str]:
    """Yield what the reader of the report is told, in this order."""
    file, library = draft.paper.file, draft.library
    yield from (problem.message for problem in file.problems)
    yield from (*file.notes, *library.notes, *draft.notes)
    # A paper among others is always skipped once, which is no news.
    if len(draft.paper.skip) > bool(library.papers):
        yield Message("The paper's own file is in the library and was left out.")
    if draft.left_out:
        yield Message.counted(
            "1 source was left out, and no rate counts it: {ids}.",
            "{count:,} sources were left out, and no rate counts them: {ids}.",
            count=len(draft.left_out),
            ids=", ".join(draft.left_out),
        )
    if unlisted := len(draft.matches) - len(draft.listed):
        yield Message.counted(
            "{count:,} more source is not listed; its passages are counted.",
            "{count:,} more sources are not listed; their passages are counted.",
            count=unlisted,
        )
    if hidden := sum(source.passages for source in draft.sources) - len(draft.passages):
        yield Message.counted(
            "1 more passage is neither marked in the text nor shown; the rates include it.",
            "{count:,} more passages are neither marked in the text nor shown; "
            "the rates include them.",
            count=hidden,
        )
    if draft.paper.note is not None:
        yield draft.paper.note
