"""Step 6: the rates of the paper, of its sources and of its sections."""

from __future__ import annotations

from dataclasses import replace

from neardup.base.lazy import _core
from neardup.papers.hiding import unmask
from neardup.papers.limits import choose_passages
from neardup.papers.marks import Marks
from neardup.papers.results import Rates, Section, Source
from neardup.papers.steps.draft import Draft, Match
from neardup.papers.structure import find_sections
from neardup.papers.verdict import withhold_verdict

#: Sources that a report always lists; further ones only if they add copied text.
LISTED = 50

#: Largest number of sources that a report lists.
MOST_LISTED = 200

#: Sources whose whole text is compared with the whole paper.
COMPARED = 5


def rate(draft: Draft) -> None:
    """Add the rates of the paper, and of what the report lists."""
    marks = draft.marks
    draft.listed = _choose_listed(draft)
    _add_sources(draft)
    draft.sections = _count_sections(draft)
    has_library = draft.documents > 0 and not draft.library.blank
    withheld = withhold_verdict(draft.paper.file, marks.total, has_library=has_library)
    if withheld is not None:
        draft.no_verdict, note = withheld
        draft.notes += [note] if note is not None else []
    if draft.no_verdict != "nothing_compared":
        outside = marks.copied & ~marks.set_aside
        draft.rates = Rates(
            total=marks.compute_rate(int(marks.copied.sum())),
            without_quotations=marks.compute_rate(int(outside.sum())),
            largest_source=max((source.rate for source in draft.sources), default=0.0),
        )


def _choose_listed(draft: Draft) -> list[Match]:
    """Return the sources that a report lists: the largest, and those that add copied text."""
    marks, listed = draft.marks, draft.matches[:LISTED]
    covered = marks.select(span for match in listed for span in match.list_spans())
    for match in draft.matches[LISTED:]:
        if len(listed) == MOST_LISTED:
            break
        characters = marks.select(match.list_spans())
        if (characters & ~covered).any():
            listed.append(match)
            covered |= characters
    return listed


def _add_sources(draft: Draft) -> None:
    """Add the sources and passages of the report."""
    marks, settings = draft.marks, draft.settings
    covers, similarities = _compare_whole_texts(draft)
    shown = choose_passages(
        [match.passages for match in draft.listed], marks.counts, settings.limits
    )
    sources, passages = [], []
    for number, (match, chosen) in enumerate(zip(draft.listed, shown, strict=True)):
        document = match.document
        described = {"title": document.title, **document.fields}
        if settings.descriptions is not None:
            described |= settings.descriptions.find_record(document.id)
        source = Source(
            id=document.id,
            characters=match.characters,
            rate=marks.compute_rate(match.characters),
            cover=covers.get(document.position),
            unique_characters=int((marks.select(match.list_spans()) & (marks.sources == 1)).sum()),
            similarity=similarities.get(document.position),
            length=match.length,
            passages=len(match.passages),
            **described,
        )
        sources.append(source)
        passages += [replace(passage, source=number) for passage in chosen]
    passages.sort(key=lambda passage: (passage.begin, -passage.end, passage.source))
    draft.sources, draft.passages = tuple(sources), tuple(passages)


def _compare_whole_texts(draft: Draft) -> tuple[dict[int, float], dict[int, float]]:
    """Return the share of each source that the paper has, and the similarity of the largest."""
    match_of = {match.document.position: match for match in draft.listed}
    covers: dict[int, float] = {}
    similarities: dict[int, float] = {}
    # An index has lost a document that was removed meanwhile.
    for document in draft.library.documents(list(match_of)):
        whole = Marks(document.text, ())
        copied = whole.select(match_of[document.position].list_source_spans())
        covers[document.position] = whole.compute_rate(int(copied.sum()))
        if len(similarities) < COMPARED:
            similarity = _core.edit_similarity(draft.text, unmask(document.text))
            similarities[document.position] = similarity
    return covers, similarities


def _count_sections(draft: Draft) -> tuple[Section, ...]:
    """Return the sections with their counts, subsections included."""
    file, marks = draft.paper.file, draft.marks
    parts = find_sections(file.text, file.headings)
    counted_sections = []
    for number, part in enumerate(parts):
        # The part before the first heading has no subsections.
        ends = (
            later.begin
            for later in parts[number + 1 :]
            if later.level <= part.level or not part.level
        )
        begin, end = part.begin, next(ends, len(file.text))
        characters = int(marks.counts[begin:end].sum())
        copied = int(marks.copied[begin:end].sum())
        rate = copied / characters if characters else 0.0
        counted_sections.append(
            Section(part.title, part.level, begin, end, characters, copied, rate)
        )
    return tuple(counted_sections)
