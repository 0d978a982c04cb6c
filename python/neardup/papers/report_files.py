"""Report files: for one paper, and for many with a page that links to all."""

from __future__ import annotations

import datetime
import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from neardup.base.messages import Message, in_language, system_words
from neardup.exceptions import OutputError
from neardup.pages.printing import to_pdf
from neardup.pages.templating import render
from neardup.pages.words import Words, load_words
from neardup.papers.report import Report, check_date, shown_notes, shown_verdict
from neardup.papers.results import HIDING
from neardup.writers import OutputSet

if TYPE_CHECKING:
    from neardup.papers.batch import Checked

__all__ = ["ReportFolder", "refuse_existing", "split_notes", "summary_page", "write_report"]

#: The page that links to all reports of a folder.
SUMMARY = "index.html"


def refuse_existing(paths: Iterable[str | Path]) -> None:
    """Raise OutputError if a file exists, before the work begins."""
    for path in paths:
        if os.path.exists(path):
            raise OutputError(
                Message(
                    "{file}: exists already. Nothing was written. Name another file, or "
                    "replace it with {given[force=True]}.",
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
    """Write a report as a page, PDF or Word document, as JSON or both, together or not at all."""
    with OutputSet() as outputs:
        if page is not None:
            output = outputs.open_text(page, force=force)
            output.write(_page(report, str(page), language, date))
        if json is not None:
            output = outputs.open_text(json, force=force)
            output.write(report.to_json().encode())


def _page(report: Report, name: str, language: str, date: datetime.date | None) -> bytes:
    """Return a report in the format of a file's extension."""
    format = Path(name).suffix.lower()
    if format == ".docx":
        from neardup.papers.word import to_docx

        return to_docx(report, language, date)
    page = report.to_html(language=language, date=date)
    return to_pdf(page) if format == ".pdf" else page.encode()


class ReportFolder:
    """Folders with one report per paper, and a page that links to all of them.

    `papers` are all papers, so that all reports get different names. The folders `page` and
    `json` may be the same, and are created if missing; None for no files. If one cannot be
    created, or a file exists and `force` is not set, OutputError is raised and nothing is
    written.
    """

    def __init__(
        self,
        papers: Sequence[str],
        *,
        page: str | None,
        json: str | None,
        language: str,
        date: datetime.date | None = None,
        force: bool,
    ) -> None:
        self._language, self._date, self._force = language, date, force
        self._names = _names(papers)
        self._pages = None if page is None else Path(page)
        self._json = None if json is None else Path(json)
        self._done: list[tuple[Report, str]] = []
        self._unread: list[tuple[str, str]] = []
        expected = [] if self._pages is None else [self._pages / SUMMARY]
        for folder, kind in ((self._pages, "html"), (self._json, "json")):
            if folder is None:
                continue
            try:
                folder.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                why = {"folder": str(folder), "reason": system_words(error)}
                raise OutputError(
                    Message("{folder}: cannot be created: {reason}.", **why)
                ) from error
            expected += [folder / f"{name}.{kind}" for name in self._names.values()]
        if not force:
            refuse_existing(expected)

    def write(self, checked: Checked) -> None:
        """Write the report of one paper; a paper without report is named on the last page."""
        report = checked.report
        if report is None:
            self._unread.append((checked.paper, checked.problem or ""))
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
        # Keep only the data for the last page, since papers may be large.
        short = replace(report, text="", passages=(), asides=(), sections=(), pages=(), runs=None)
        self._done.append((short, f"{name}.html"))

    def finish(self, notes: Sequence[str] = ()) -> Path | None:
        """Write the page that links to all reports, with notes, and return its path."""
        if self._pages is None:
            return None
        reports = [report for report, _ in self._done]
        page = summary_page(
            reports,
            [link for _, link in self._done],
            unread=self._unread,
            notes=notes,
            language=self._language,
            date=self._date,
        )
        path = self._pages / SUMMARY
        with OutputSet() as outputs:
            outputs.open_text(path, force=self._force).write(page.encode())
        return path


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

    The papers are ordered by total rate, the highest first, then by name; `links` are the paths
    of their reports relative to the page. `unread` are papers that could not be checked, and why.
    Notes and reasons are messages, or sentences in any language.
    """
    words = load_words(language, "report")
    shown_date = check_date(date)
    rows = sorted(
        zip(reports, links, strict=True), key=lambda row: (-row[0].rates.total, row[0].paper)
    )
    common, others = split_notes([shown_notes(report.notes) for report, _ in rows])
    excluded = (report.settings.get("excluded_files", 0) for report in reports)
    return render(
        "summary.html",
        words,
        files=("report.css",),
        date=shown_date,
        # Percent-encoding keeps a colon in a file name from ending a scheme.
        rows=[
            (
                report,
                None if link is None else quote(os.fsencode(link)),
                [in_language(note, language) for note in of_report],
                shown_verdict(report, language),
                any(finding.kind in HIDING for finding in report.findings),
            )
            for (report, link), of_report in zip(rows, others, strict=True)
        ],
        notes=[in_language(note, language) for note in [*notes, *common]],
        has_verdicts=any(report.verdict for report in reports),
        unread=[(paper, _why_unread(why, words)) for paper, why in unread],
        excluded=max(map(int, excluded), default=0),
    )


def split_notes(notes: Sequence[Sequence[str]]) -> tuple[list[str], list[list[str]]]:
    """Return the notes that all reports have in common, and the other notes of each."""
    if len(notes) < 2:
        return [], [list(of_report) for of_report in notes]
    common = [note for note in notes[0] if all(note in of_report for of_report in notes)]
    return common, [[note for note in of_report if note not in common] for of_report in notes]


def _why_unread(reason: str, words: Words) -> str:
    """Return why a paper could not be read, as a sentence without its name."""
    sentence = in_language(reason, words.language)
    if isinstance(reason, Message) and "file" in reason.values:
        sentence = sentence.removeprefix(reason.values["file"] + words("colon"))
    return sentence[:1].upper() + sentence[1:]


def _names(papers: Sequence[str]) -> dict[str, str]:
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
