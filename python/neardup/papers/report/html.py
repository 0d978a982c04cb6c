"""The report as one self-contained HTML file.

The page has text from untrusted papers and sources. All of it is escaped
(`neardup.papers.report.escaping`), the script copies nodes and never makes markup from
data, and a content security policy allows only the page's own style and script, by
their digests. The page has the same content without JavaScript; links lead from each
passage to its evidence.
"""

from __future__ import annotations

import datetime
import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import quote

from neardup.base import __version__
from neardup.base.messages import in_language
from neardup.base.validation import bad
from neardup.papers.report.escaping import language_of, plain
from neardup.papers.report.evidence import gather
from neardup.papers.report.json_report import sha256_of
from neardup.papers.report.marking import Marks, Run, mark
from neardup.papers.report.notes import apart, shown_notes, why_unread
from neardup.papers.report.results import EXCLUDED, WORDING
from neardup.papers.report.templating import environment, look, self_contained
from neardup.papers.report.words import load_words

if TYPE_CHECKING:
    from jinja2 import Environment

    from neardup.papers.report.report import Report

__all__ = ["html_report", "summary_page"]

_PACKAGE = "neardup.papers.report"
_STRIP = 1000
#: A thinner mark on the strip would be invisible.
_THINNEST = 1.0
# A browser lays out a longer text, and more passages, lazily while scrolling. A shorter
# page is laid out at once, so that all lengths and positions are exact from the start.
_CODE_POINTS_AT_ONCE = 200_000
_PASSAGES_AT_ONCE = 100
#: Code points shown of each part that is set aside.
_ASIDE_HEAD = 48


def html_report(report: Report, *, language: str = "zh", date: datetime.date | None = None) -> str:
    """Return a report as one self-contained HTML page.

    Parameters
    ----------
    report : Report
    language : {'zh', 'en'}, default='zh'
        Language of the interface; the paper and its sources are not translated.
    date : date, optional
        Day of the check, printed on the page. Without it, equal reports give
        equal bytes.

    Returns
    -------
    str
        The page, to be written as UTF-8.

    Raises
    ------
    ParameterError
        If there is no such language, or `date` is not a date.

    Notes
    -----
    Time and space are linear in the text and the evidence: a thesis of 100,000
    characters with 400 passages makes about 1 MB in less than half a second. Only the
    beginning is shown of a passage that is entirely within passages of larger sources;
    `as_dict` has all of it.
    """
    words = load_words(language)
    _check_date(date)
    marks = mark(
        report.text,
        report.passages,
        sections=report.sections,
        asides=report.asides,
        pages=report.pages,
    )
    return (
        _environment()
        .get_template("report.html")
        .render(
            w=words,
            report=report,
            date=_shown_date(date),
            notes=[in_language(note, language) for note in shown_notes(report.notes)],
            version=__version__,
            sha256=sha256_of(report.text),
            marks=marks,
            gaps=_has_gaps(report, marks),
            footnotes={at for at, one in enumerate(report.sections) if one.level and not one.title},
            evidence=gather(report, marks),
            strip=_strip(report, marks),
            strip_asides=[
                _tick(aside.begin, aside.end, len(report.text)) for aside in report.asides
            ],
            asides=_asides(report),
            wording=WORDING,
            given=any(aside.kind == "given" for aside in report.asides),
            first_of=_first_of(report, marks),
            shown_of=Counter(passage.source for passage in report.passages),
            found=sum(source.passages for source in report.sources),
            # An empty section has no place in the text.
            in_text={block.section for block in marks.blocks},
            lazy=_lazy(report),
            paper_language=language_of(report.text),
            others=lambda run: _others(report, run),
            title=lambda number: words(
                "passage_title",
                number=report.passages[number].source + 1,
                title=plain(_name(report, report.passages[number].source)),
                passage=number + 1,
            ),
            **self_contained("report.css", "report.js"),
        )
    )


def summary_page(
    reports: Sequence[Report],
    links: Sequence[str | None],
    *,
    unread: Sequence[tuple[str, str]] = (),
    notes: Sequence[str] = (),
    language: str = "zh",
    date: datetime.date | None = None,
) -> str:
    """Return a page with a table of the reports of several papers.

    Parameters
    ----------
    reports : sequence of Report
    links : sequence of str or None, of the same length
        Path of each report relative to this page, with ``/``; not a URL. None for no
        link.
    unread : sequence of (str, str), default=()
        Papers that could not be checked, and why: messages, or sentences in any language.
    notes : sequence of str, default=()
        Notes on all papers: messages, or sentences in any language.
    language : {'zh', 'en'}, default='zh'
    date : date or None, default=None
        Day of the check, printed on the page.

    Returns
    -------
    str
        The papers are ordered by total rate, the highest first, then by name, then in
        the order given. Papers that could not be checked follow.

    Raises
    ------
    ParameterError
        If there is no such language, a link is missing, or `date` is not a date.
    """
    words = load_words(language)
    _check_date(date)
    if len(links) != len(reports):
        raise bad("links", "papers.link_each", list(links), length=len(reports))
    rows = sorted(
        zip(reports, links, strict=True), key=lambda row: (-row[0].rates.total, row[0].paper)
    )
    common, own = apart([shown_notes(report.notes) for report, _ in rows])
    return (
        _environment()
        .get_template("summary.html")
        .render(
            w=words,
            date=_shown_date(date),
            # Percent-encoding keeps a colon in a file name from ending a scheme.
            rows=[
                (
                    report,
                    None if link is None else quote(os.fsencode(link)),
                    [in_language(note, language) for note in of_one],
                )
                for (report, link), of_one in zip(rows, own, strict=True)
            ],
            notes=[in_language(note, language) for note in [*notes, *common]],
            unread=[(paper, why_unread(why, words)) for paper, why in unread],
            excluded=max((_excluded(report) for report in reports), default=0),
            **self_contained("report.css"),
        )
    )


def _check_date(date: datetime.date | None) -> None:
    if date is not None and not isinstance(date, datetime.date):
        raise bad("date", "papers.date_or_none", date)


def _shown_date(date: datetime.date | None) -> str | None:
    return None if date is None else f"{date:%Y-%m-%d}"


def _excluded(report: Report) -> int:
    """Return the number of excluded files."""
    files = report.settings.get("excluded_files", 0)
    return files if isinstance(files, int) else 0


@dataclass(frozen=True)
class _Tick:
    x: str
    width: str
    anchor: int = 0
    passages: str = ""
    look: str = ""


@dataclass(frozen=True)
class _Place:
    page: int
    text: str


@dataclass(frozen=True)
class _Kind:
    name: str
    places: list[_Place]
    characters: int


def _tick(begin: int, end: int, length: int, **values: object) -> _Tick:
    scale = _STRIP / max(length, 1)
    width = max((end - begin) * scale, _THINNEST)
    x = min(begin * scale, _STRIP - width)
    return _Tick(f"{x:.2f}", f"{width:.2f}", **values)  # type: ignore[arg-type]


def _strip(report: Report, marks: Marks) -> list[_Tick]:
    """Return one mark for each stretch of the paper with the same passages."""
    stretches: list[tuple[int, int, tuple[int, ...]]] = []
    for run in marks.runs():
        if not run.passages:
            continue
        if stretches and stretches[-1][1:] == (run.begin, run.passages):
            stretches[-1] = (stretches[-1][0], run.end, run.passages)
        else:
            stretches.append((run.begin, run.end, run.passages))
    return [
        _tick(
            begin,
            end,
            len(report.text),
            anchor=marks.anchors[passages[0]] + 1,
            passages=_numbers(passages),
            look=look(report.passages[passages[0]].source),
        )
        for begin, end, passages in stretches
    ]


def _asides(report: Report) -> list[_Kind]:
    kinds = []
    for name in EXCLUDED:
        of_kind = [aside for aside in report.asides if aside.kind == name]
        if not of_kind:
            continue
        places = [
            _Place(
                sum(begin <= aside.begin for begin in report.pages),
                _head(report.text[aside.begin : min(aside.end, aside.begin + 4 * _ASIDE_HEAD)]),
            )
            for aside in of_kind
        ]
        spans = (report.text[aside.begin : aside.end] for aside in of_kind)
        characters = sum(sum(map(str.isalnum, span)) for span in spans)
        kinds.append(_Kind(name, places, characters))
    return kinds


def _head(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _ASIDE_HEAD else line[:_ASIDE_HEAD] + "…"


def _first_of(report: Report, marks: Marks) -> dict[int, int]:
    first: dict[int, int] = {}
    for number, passage in enumerate(report.passages):
        if number in marks.anchors:
            first.setdefault(passage.source, marks.anchors[number] + 1)
    return first


def _has_gaps(report: Report, marks: Marks) -> bool:
    """Return whether letters were inserted between the pieces of a passage."""
    return any(
        run.passages
        and not run.repeated
        and any(map(str.isalnum, report.text[run.begin : run.end]))
        for run in marks.runs()
    )


def _lazy(report: Report) -> str:
    """Return the classes of the parts that are laid out lazily."""
    names = (
        ("lazy-text", len(report.text) > _CODE_POINTS_AT_ONCE),
        ("lazy-evidence", len(report.passages) > _PASSAGES_AT_ONCE),
    )
    return " ".join(name for name, is_lazy in names if is_lazy)


def _name(report: Report, source: int) -> str:
    return report.sources[source].title or report.sources[source].id


def _others(report: Report, run: Run) -> int:
    """Return the number of other sources that have the text of a run."""
    return len({report.passages[number].source for number in run.passages}) - 1


def _numbers(passages: Sequence[int]) -> str:
    return " ".join(str(number + 1) for number in passages)


@lru_cache
def _environment() -> Environment:
    made = environment(_PACKAGE)
    made.globals["numbers"] = _numbers
    return made
