"""A report as a Word document: cover, rates and sources, then the paper with comments."""

from __future__ import annotations

import datetime
import io
import zipfile
from collections.abc import Iterable, Sequence
from dataclasses import astuple
from typing import TYPE_CHECKING, Any

from neardup.base.messages import in_language
from neardup.pages.templating import plain
from neardup.pages.words import Words, load_words
from neardup.papers.report import check_date, marks_of, shown_notes, shown_verdict
from neardup.papers.results import HIDING

if TYPE_CHECKING:
    from neardup.papers.report import Report

#: Colours of copied text by source, of Word's highlights: yellow, green, turquoise, pink.
_COLOURS, _GREY = (7, 4, 3, 5), 16
_NOT_XML = {0x0C: " ", 0xFFFE: None, 0xFFFF: None}


def to_docx(report: Report, language: str, date: datetime.date | None) -> bytes:
    """Return a report as a Word document; equal reports give equal bytes."""
    import docx
    from docx.oxml.ns import qn

    words = load_words(language, "report")
    document = docx.Document()
    fonts = document.styles["Normal"].element.get_or_add_rPr().get_or_add_rFonts()
    fonts.set(qn("w:eastAsia"), "SimSun")
    title = _text(report.cover.title or report.paper)
    document.core_properties.title, document.core_properties.author = title[:255], "neardup"
    document.add_paragraph(words("report"))
    document.add_heading(title, 0)
    _table(
        document,
        [(words(key), value) for key, value in _facts(report, words, date).items() if value],
    )
    document.add_paragraph(words("caution"))
    names = []
    for number, source in enumerate(report.sources, 1):
        described = (source.title or source.id, source.author, source.year, source.journal)
        names.append(f"{number} " + " · ".join(filter(None, described)))
    if names:
        document.add_heading(words("sources"), 1)
        shares = [words.percent(source.rate) for source in report.sources]
        _table(document, zip(names, shares, strict=True))
    document.add_heading(words("text"), 1).paragraph_format.page_break_before = True
    for number, ends in sorted(_write(document, report).items()):
        passage = report.passages[number]
        lines = (
            names[passage.source],
            words("passage_similarity", similarity=words.percent(passage.similarity)),
            words("passage_characters", characters=passage.characters),
        )
        comment = document.add_comment(ends, _text("\n".join(lines)), "neardup", "nd")
        # The present time would differ from run to run.
        comment._element.attrib.pop(qn("w:date"), None)
    made, out = io.BytesIO(), io.BytesIO()
    document.save(made)
    with zipfile.ZipFile(made) as parts, zipfile.ZipFile(out, "w") as archive:
        for name in parts.namelist():
            archive.writestr(zipfile.ZipInfo(name), parts.read(name), zipfile.ZIP_DEFLATED)
    return out.getvalue()


def _facts(report: Report, words: Words, date: datetime.date | None) -> dict[str, str | None]:
    """Return what stands on the cover, by the name of its label."""
    verdict = shown_verdict(report, words.language)
    rates, reason = report.rates, report.no_verdict
    shares = [None] * 3 if rates is None else list(map(words.percent, astuple(rates)))
    return {
        "verdict": words(f"no_verdict_{reason}") if reason else verdict and verdict[1],
        **dict(zip(("rate_total", "rate_without", "rate_largest"), shares, strict=True)),
        "rate_shared": words.percent(report.shared / report.characters) if report.shared else None,
        "characters": f"{report.characters:,}",
        "copied": f"{report.copied:,}",
        "hiding": "\n".join(
            words(f"hiding_{finding.kind}", count=finding.count)
            for finding in report.findings
            if finding.kind in HIDING
        ),
        "cover_author": report.cover.author,
        "cover_number": report.cover.number,
        "cover_institution": report.cover.institution,
        "cover_file": report.paper,
        "library": report.library + words("library_documents", documents=report.library_documents),
        "report_number": report.number,
        "checked_on": check_date(date),
        "notes": "\n".join(in_language(note, words.language) for note in shown_notes(report.notes)),
    }


def _write(document: Any, report: Report) -> dict[int, tuple[Any, Any]]:
    """Add the paper; return the first and the last run of each passage that is marked."""
    first: dict[int, Any] = {}
    last: dict[int, Any] = {}
    for paragraph in (part for block in marks_of(report).blocks for part in block.paragraphs):
        if paragraph.blank:
            continue
        level = min(paragraph.level, 9)
        written = document.add_heading("", level) if level else document.add_paragraph()
        for run in paragraph.runs:
            piece = written.add_run(_text(report.text[run.begin : run.end].strip("\r\n")))
            if run.passages:
                number = report.passages[run.passages[0]].source
                colour = _COLOURS[number % len(_COLOURS)] if run.repeated else _GREY
                piece.font.highlight_color = colour
            first |= dict.fromkeys(run.first, piece)
            last |= dict.fromkeys(run.last, piece)
    return {number: (first[number], last[number]) for number in first.keys() & last}


def _table(document: Any, rows: Iterable[Sequence[str]]) -> None:
    """Add a table of two columns."""
    table = document.add_table(0, 2, "Table Grid")
    for texts in rows:
        for cell, text in zip(table.add_row().cells, texts, strict=True):
            cell.text = _text(text)


def _text(text: str) -> str:
    """Return a text without what XML cannot hold."""
    return plain(text).translate(_NOT_XML)
