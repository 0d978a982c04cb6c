"""Step 1: the text that is compared, and which characters of it count."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from neardup.base.lazy import _core, pa
from neardup.papers.alignment import FourPlaces, get_aligner
from neardup.papers.hiding import reveal
from neardup.papers.library import Library
from neardup.papers.marks import Marks
from neardup.papers.results import ExcludedSpan
from neardup.papers.settings import CheckSettings, Paper
from neardup.papers.steps.draft import Draft
from neardup.papers.structure import find_asides, find_footnotes

#: Between two stretches of an excluded text, a stretch with this edit similarity to what that text
#: has there is from it too, if neither is longer. One pair of other texts in a hundred reaches 0.3.
_EDITED, _LONGEST_EDIT = 0.4, 2000


def read(settings: CheckSettings, library: Library, paper: Paper) -> Draft:
    """Begin the draft: undo what hides text, and set aside what is by its form no copy."""
    file = paper.file
    text, findings = reveal(file)
    prepared = get_aligner().paper(text)
    footnotes = find_footnotes(file.headings)
    by_form = find_asides(text, quoted=file.quoted, footnotes=footnotes)
    apart = [*by_form, *_find_excluded(settings, prepared, text)]
    marks = Marks(text, apart, prepared.spans())
    return Draft(settings, library, paper, text, prepared, findings, apart, marks)


def _find_excluded(settings: CheckSettings, prepared: _core.Paper, text: str) -> list[ExcludedSpan]:
    """Return the parts of the paper that occur in the excluded texts."""
    excluded = settings.excluded
    texts = pa.array(excluded, pa.large_string())
    by_text = get_aligner().passages(
        prepared, texts, least=settings.min_passage_length, workers=settings.workers
    )
    return [
        ExcludedSpan(begin, end, "given")
        for template, of_one in zip(excluded, by_text, strict=True)
        for begin, end in _find_template(
            text, template, sorted(piece for _, _, pieces in of_one for piece in pieces)
        )
    ]


def _find_template(
    text: str, template: str, pieces: Sequence[FourPlaces]
) -> Iterator[tuple[int, int]]:
    """Yield the stretches of a paper that are from an excluded text, also edited ones between them.

    `pieces` are in the order of the paper.
    """
    yield from ((begin, end) for begin, end, _, _ in pieces)
    for (_, begin, _, source_begin), (end, _, source_end, _) in pairwise(pieces):
        longest = max(end - begin, source_end - source_begin)
        if end <= begin or source_end <= source_begin or longest > _LONGEST_EDIT:
            continue
        edited = _core.edit_similarity(text[begin:end], template[source_begin:source_end])
        if edited >= _EDITED:
            yield begin, end
