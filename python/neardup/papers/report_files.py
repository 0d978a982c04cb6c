"""Report files: for one paper, and for many with a page and a table of all."""

from __future__ import annotations

import datetime
import os
from collections.abc import Iterable, Sequence
from dataclasses import astuple, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from neardup.base.files import make_folder
from neardup.base.messages import Message, in_language
from neardup.exceptions import OutputError
from neardup.pages.printing import to_pdf
from neardup.pages.templating import render
from neardup.pages.words import Words
from neardup.papers import among
from neardup.papers.report import (
    Report,
    check_date,
    name_outcome,
    select_notes,
    shorten_report,
    translate_verdict,
)
from neardup.papers.results import HIDING
from neardup.papers.verdict import NO_VERDICT, VERDICTS
from neardup.writers import OutputSet
from neardup.writers.cells import write_spreadsheet
from neardup.writers.output_conflicts import refuse_input_as_output

if TYPE_CHECKING:
    from neardup.papers.paper_check import CheckResult

#: The page that links to all reports of a folder, and the same as a table.
SUMMARY, TABLE = "index.html", "index.csv"

#: Most papers in a matrix, and most pairs in a list.
_MATRIX, _PAIRS = 60, 200
#: Rates at which the shades of the matrix begin.
_SHADES = (0.05, 0.15, 0.3, 0.5, 0.8)


def refuse_existing(paths: Iterable[str | Path]) -> None:
    """Raise OutputError if a file exists, before the work begins."""
    for path in paths:
        if os.path.exists(path):
            raise OutputError(
                Message(
                    "{file}: exists already, so nothing was written. Name another file, or replace "
                    "it with {given[force=True]}.",
                    code="exists",
                    file=str(path),
                )
            )


def write_report(
    report: Report,
    page: str | Path | None,
    json: str | Path | None,
    *,
    language: str,
    date: datetime.date | None = None,
    force: bool,
) -> None:
    """Write a report as a page, PDF or Word document, as JSON or both, together or not at all.

    The caller has checked that neither is an input.
    """
    with OutputSet((), texts={"page": page, "json": json}, force=force) as outputs:
        if page is not None:
            outputs.files["page"].write(_format_report(report, str(page), language, date))
        if json is not None:
            outputs.files["json"].write(report.to_json().encode())


def _format_report(report: Report, name: str, language: str, date: datetime.date | None) -> bytes:
    """Return a report in the format of a file's extension."""
    format = Path(name).suffix.lower()
    if format == ".docx":
        from neardup.papers.word import to_docx

        return to_docx(report, language, date)
    page = report.to_html(language=language, date=date)
    return to_pdf(page) if format == ".pdf" else page.encode()


class ReportFile:
    """The files of one paper, as `ReportFolder` has the files of many; None for no file."""

    def __init__(
        self,
        *,
        inputs: Iterable[str | Path],
        page: str | None,
        json: str | None,
        force: bool,
        **form: Any,
    ) -> None:
        self._paths = page, json
        self._form = {"force": force, **form}
        paths = [path for path in (page, json) if path is not None]
        refuse_input_as_output(inputs, paths)
        if not force:
            refuse_existing(paths)

    def write(self, checked: CheckResult) -> None:
        """Write the report, if there is one."""
        if checked.report is not None:
            write_report(checked.report, *self._paths, **self._form)

    def finish(self, notes: Sequence[str] = ()) -> None:
        """Do nothing: there is no page of all papers."""


class ReportFolder:
    """Folders with one report per paper, and a page that links to all of them.

    `papers` are all papers, so that all reports get different names. `inputs` are the files and
    folders that the check reads. The folders `page` and `json` may be the same, and are created if
    missing; None for no files. OutputError is raised if one cannot be created, or if a file exists
    and `force` is not set. Then nothing is written.
    """

    def __init__(
        self,
        papers: Sequence[str],
        *,
        inputs: Iterable[str | Path],
        page: str | None,
        json: str | None,
        language: str,
        date: datetime.date | None = None,
        force: bool,
    ) -> None:
        self._language, self._date, self._force = language, date, force
        self._names = name_reports(papers)
        self._pages = None if page is None else Path(page)
        self._json = None if json is None else Path(json)
        self._done: list[CheckResult] = []
        expected = [self._pages / name for name in (SUMMARY, TABLE)] if self._pages else []
        folders = [(self._pages, "html"), (self._json, "json")]
        for folder, kind in folders:
            if folder is not None:
                expected += [folder / f"{name}.{kind}" for name in self._names.values()]
        refuse_input_as_output(inputs, expected)
        for folder, _ in folders:
            if folder is not None:
                make_folder(folder)
        if not force:
            refuse_existing(expected)

    def write(self, checked: CheckResult) -> None:
        """Write the report of one paper; a paper without report is named on the last page."""
        report = checked.report
        if report is None:
            self._done.append(checked)
            return
        name = self._names[checked.paper]
        write_report(
            report,
            None if self._pages is None else self._pages / f"{name}.html",
            None if self._json is None else self._json / f"{name}.json",
            language=self._language,
            date=self._date,
            force=self._force,
        )
        self._done.append(replace(checked, report=shorten_report(report)))

    def finish(self, notes: Sequence[str] = ()) -> Path | None:
        """Write the page that links to all reports, with notes, and return its path."""
        if self._pages is None:
            return None
        # Percent-encoding keeps a colon in a file name from ending a scheme.
        links = [quote(os.fsencode(f"{self._names[checked.paper]}.html")) for checked in self._done]
        page = render_summary(
            self._done, links, notes=notes, language=self._language, date=self._date
        )
        path = self._pages / SUMMARY
        texts = {"page": path, "table": self._pages / TABLE}
        with OutputSet((), texts=texts, force=self._force) as outputs:
            outputs.files["page"].write(page.encode())
            outputs.files["table"].write(tabulate_papers(self._done, self._language))
        return path


def render_summary(
    papers: Sequence[CheckResult],
    links: Sequence[str | None],
    *,
    notes: Sequence[str] = (),
    language: str = "zh",
    date: datetime.date | None = None,
    whole: bool = True,
) -> str:
    """Return a page with the rates of several papers, and their common properties.

    The papers are ordered by total rate, the highest first, then by name, those that could not be
    checked last; `links` are the addresses of their reports. Notes and reasons are messages, or
    sentences in any language. If not `whole`, only the content for another page is returned.
    """
    words = Words(language)
    shown_date = check_date(date)
    ordered = _order_papers(papers)
    reports = [paper.report for paper in ordered if paper.report is not None]
    link_of = {paper.paper: link for paper, link in zip(papers, links, strict=True)}
    common, others = split_notes([select_notes(report.notes) for report in reports])
    excluded = (report.settings.get("excluded_files", 0) for report in reports)
    cells = among.make_cells(ordered)
    pairs = among.rank_pairs(cells)
    bounds = [report.thresholds.pass_below for report in reports if report.thresholds]
    least = next((bound for bound in bounds if bound is not None), among.GROUPED)
    return render(
        "summary.html" if whole else "overview.html",
        words,
        files=("report.css",) if whole else (),
        date=shown_date,
        rows=[
            (
                report,
                link_of[paper.paper],
                [in_language(note, language) for note in of_report],
                translate_verdict(report, language),
                any(finding.kind in HIDING for finding in report.findings),
            )
            for paper, report, of_report in zip(ordered, reports, others, strict=False)
        ],
        notes=[in_language(note, language) for note in [*notes, *common]],
        no_verdict=NO_VERDICT,
        verdicts=VERDICTS,
        has_verdicts=any(report.verdict or report.no_verdict for report in reports),
        unread=[
            (paper.name or paper.paper, _explain_unread(paper.problem or "", words))
            for paper in ordered[len(reports) :]
        ],
        excluded=max(map(int, excluded), default=0),
        is_among=any(paper.id for paper in ordered),
        cells=cells,
        has_matrix=len(reports) <= _MATRIX,
        shade=lambda rate: sum(rate >= begin for begin in _SHADES),
        pairs=pairs[:_PAIRS],
        more_pairs=max(len(pairs) - _PAIRS, 0),
        groups=among.group_papers(pairs, least),
        least=least,
        properties=among.find_shared_properties(ordered),
    )


def _order_papers(papers: Sequence[CheckResult]) -> list[CheckResult]:
    """Return papers by total rate and name, those without report last."""
    checked = [(paper, paper.report) for paper in papers if paper.report is not None]
    checked.sort(key=lambda row: row[1].rank)
    return [*(paper for paper, _ in checked), *(paper for paper in papers if not paper.report)]


def name_largest_source(report: Report) -> str | None:
    """Return what tables call the source with the most copied text."""
    return next((source.title or source.id for source in report.sources), None)


def tabulate_papers(papers: Sequence[CheckResult], language: str) -> bytes:
    """Return a line for each paper, for a spreadsheet."""
    words = Words(language)
    rows: list[list[str | None]] = [
        [
            *(words("File"), words("Title"), words("Author"), words("Number")),
            *(words("Total"), words("Without quotations"), words("Largest single source")),
            *(words("Source with most copied text"), words("Verdict"), words("Not checked")),
        ]
    ]
    for paper in _order_papers(papers):
        report = paper.report
        if report is None:
            rows.append(
                [
                    paper.name or paper.paper,
                    *[None] * 8,
                    _explain_unread(paper.problem or "", words),
                ]
            )
            continue
        cover, rates = report.cover, report.rates
        row = [report.paper, cover.title, cover.author, cover.number]
        shares = [None] * 3 if rates is None else astuple(rates)
        row += [None if share is None else f"{share:.2%}" for share in shares]
        rows.append([*row, name_largest_source(report), name_outcome(report, words), None])
    return write_spreadsheet(rows)


def split_notes(notes: Sequence[Sequence[str]]) -> tuple[list[str], list[list[str]]]:
    """Return the notes that all reports have in common, and the other notes of each."""
    if len(notes) < 2:
        return [], [list(of_report) for of_report in notes]
    common = [note for note in notes[0] if all(note in of_report for of_report in notes)]
    return common, [[note for note in of_report if note not in common] for of_report in notes]


def _explain_unread(reason: str, words: Words) -> str:
    """Return why a paper could not be read, as a sentence without its name."""
    sentence = in_language(reason, words.language)
    if isinstance(reason, Message) and "file" in reason.values:
        sentence = sentence.removeprefix(reason.values["file"] + words(": "))
    return sentence[:1].upper() + sentence[1:]


def name_reports(papers: Sequence[str]) -> dict[str, str]:
    """Return a name for the report of each paper, numbered if two have the same name."""
    names: dict[str, str] = {}
    # File names are not case-sensitive on some systems.
    taken = {Path(SUMMARY).stem}
    for paper in papers:
        stem = Path(paper).stem or "paper"
        name, number = stem, 1
        while name.casefold() in taken:
            number += 1
            name = f"{stem}-{number}"
        taken.add(name.casefold())
        names[paper] = name
    return names
