"""Parts of the page of a report: strip, asides, findings, and the counts of its script."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Callable, Sequence
from functools import cache
from typing import NamedTuple

from neardup.base.messages import Message, in_language
from neardup.pages.excerpts import cut_beginning
from neardup.pages.marking import Marks, Run
from neardup.pages.templating import choose_look
from neardup.papers.results import (
    EXCLUDED,
    HIDING,
    CountedRuns,
    ExcludedSpan,
    Finding,
    Passage,
    Section,
)
from neardup.papers.verdict import Thresholds

_STRIP = 1000
#: A thinner mark on the strip would be invisible.
_THINNEST = 1.0
# A browser lays out a longer text, and more passages, lazily while scrolling. A shorter
# page is laid out at once, so that all lengths and positions are exact from the start.
_CODE_POINTS_AT_ONCE = 200_000
_PASSAGES_AT_ONCE = 100
#: Code points shown of each part that is set aside.
_ASIDE_HEAD = 48
#: Places that the page shows of each finding, and code points on either side of each.
_PLACES = 50
_BESIDE = 16


class Tick(NamedTuple):
    """A mark on the strip."""

    x: str
    width: str
    anchor: int = 0
    passages: str = ""
    look: str = ""


def make_tick(begin: int, end: int, length: int) -> Tick:
    """Return the mark of a span of a text of `length`."""
    scale = _STRIP / max(length, 1)
    width = max((end - begin) * scale, _THINNEST)
    x = min(begin * scale, _STRIP - width)
    return Tick(f"{x:.2f}", f"{width:.2f}")


def make_strip(marks: Marks, passages: Sequence[Passage], length: int) -> list[Tick]:
    """Return one mark for each stretch of the paper with the same passages."""
    stretches: list[tuple[int, int, tuple[int, ...]]] = []
    for run in marks.iterate_runs():
        if not run.passages:
            continue
        if stretches and stretches[-1][1:] == (run.begin, run.passages):
            stretches[-1] = (stretches[-1][0], run.end, run.passages)
        else:
            stretches.append((run.begin, run.end, run.passages))
    return [
        make_tick(begin, end, length)._replace(
            anchor=marks.anchors[having[0]] + 1,
            passages=format_numbers(having),
            look=choose_look(passages[having[0]].source),
        )
        for begin, end, having in stretches
    ]


class AsideKind(NamedTuple):
    """The parts of one kind that are set aside: page, beginning and documents of each."""

    name: str
    places: list[tuple[int, str, int | None]]
    characters: int


def group_asides(
    text: str, asides: Sequence[ExcludedSpan], pages: Sequence[int]
) -> list[AsideKind]:
    """Return the parts that are set aside, by kind."""
    kinds = []
    for name in EXCLUDED:
        of_kind = [aside for aside in asides if aside.kind == name]
        if not of_kind:
            continue
        texts = [text[aside.begin : aside.end] for aside in of_kind]
        places = [
            (
                bisect_right(pages, aside.begin),
                cut_beginning(stretch[: 4 * _ASIDE_HEAD], _ASIDE_HEAD),
                aside.documents,
            )
            for aside, stretch in zip(of_kind, texts, strict=True)
        ]
        characters = sum(sum(map(str.isalnum, stretch)) for stretch in texts)
        kinds.append(AsideKind(name, places, characters))
    return kinds


class HidingPlaces(NamedTuple):
    """A finding as the page shows it: page, text before, text and text after of each place."""

    kind: str
    total: int
    places: list[tuple[int | None, str, str, str]]
    more: int


def list_hiding(text: str, findings: Sequence[Finding]) -> list[HidingPlaces]:
    """Return the findings that may hide copied text."""
    entries = []
    for finding in findings:
        if finding.kind not in HIDING:
            continue
        places = [
            (
                place.page,
                text[max(place.begin - _BESIDE, 0) : place.begin].rpartition("\n")[2],
                cut_beginning(place.text or text[place.begin : place.end], _ASIDE_HEAD),
                text[place.end : place.end + _BESIDE].partition("\n")[0],
            )
            for place in finding.places[:_PLACES]
        ]
        more = len(finding.places) - len(places)
        entries.append(HidingPlaces(finding.kind, finding.count, places, more))
    return entries


def dump_counts(
    runs: CountedRuns,
    thresholds: Thresholds,
    passages: Sequence[Passage],
    sections: Sequence[Section],
    language: str,
) -> str:
    """Return what the page counts again: runs, sources, passages, sections and the verdict."""
    low, high = thresholds.pass_below, thresholds.reject_above
    verdicts = [thresholds.verdict(rate) for rate in (0.0, low, high, 1.0) if rate is not None]
    spans_of = [
        runs.locate((piece.begin, piece.end) for piece in passage.pieces) for passage in passages
    ]
    return json.dumps(
        {
            "runs": runs.characters,
            "sources": runs.sources,
            "passages": [
                [passage.source, spans] for passage, spans in zip(passages, spans_of, strict=True)
            ],
            "sections": runs.locate((part.begin, part.end) for part in sections),
            "bounds": [low, high],
            # The page fills in the rate.
            "verdicts": {
                verdict.result: in_language(
                    Message(
                        verdict.sentence.template, **verdict.sentence.values | {"rate": "{rate}"}
                    ),
                    language,
                )
                for verdict in verdicts
                if verdict is not None
            },
        },
        ensure_ascii=False,
        separators=(",", ":"),
    )


def find_first_passages(passages: Sequence[Passage], marks: Marks) -> dict[int, int]:
    """Return the anchor of the first passage of each source."""
    first: dict[int, int] = {}
    for number, passage in enumerate(passages):
        if number in marks.anchors:
            first.setdefault(passage.source, marks.anchors[number] + 1)
    return first


def has_gaps(text: str, marks: Marks) -> bool:
    """Return whether letters were inserted between the pieces of a passage."""
    return any(
        run.passages and not run.repeated and any(map(str.isalnum, text[run.begin : run.end]))
        for run in marks.iterate_runs()
    )


def choose_lazy_parts(characters: int, passages: int) -> str:
    """Return the classes of the parts that are laid out lazily."""
    names = (
        ("lazy-text", characters > _CODE_POINTS_AT_ONCE),
        ("lazy-evidence", passages > _PASSAGES_AT_ONCE),
    )
    return " ".join(name for name, is_lazy in names if is_lazy)


def format_numbers(passages: Sequence[int]) -> str:
    """Return the numbers of passages, from 1, as an attribute of a page."""
    return " ".join(str(number + 1) for number in passages)


def make_tagger(sources: Sequence[int]) -> Callable[[Run], tuple[str, str]]:
    """Return a function of a run that returns its tags; `sources` has one for each passage.

    It is for runs that nothing begins or ends with: most lines of a long copy. The template writes
    the other runs, which have anchors, numbers and titles.
    """

    @cache
    def write_tags(passages: tuple[int, ...], repeated: bool, aside: str) -> tuple[str, str]:
        if not passages:
            return (f'<span class="aside {aside}">', "</span>") if aside else ("", "")
        names = ["copy", choose_look(sources[passages[0]])]
        names += ["gap"] * (not repeated) + ["aside", aside] * bool(aside)
        opening = f'<a class="{" ".join(names)}" href="#p{passages[0] + 1}"'
        return f'{opening} data-p="{format_numbers(passages)}" tabindex="-1">', "</a>"

    return lambda run: write_tags(run.passages, run.repeated, run.aside)
