"""A report as a Word document: cover, rates and sources, then the paper with comments."""

from __future__ import annotations

import datetime
import io
import zipfile
from collections.abc import Iterable, Sequence
from dataclasses import astuple
from typing import TYPE_CHECKING, Any

from neardup.base.messages import in_language
from neardup.pages.templating import replace_unseen
from neardup.pages.words import Words, format_percent
from neardup.papers.report import check_date, explain_outcome, mark_paper, select_notes
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

    words = Words(language)
    document = docx.Document()
    fonts = document.styles["Normal"].element.get_or_add_rPr().get_or_add_rFonts()
    fonts.set(qn("w:eastAsia"), "SimSun")
    title = _clean_text(report.cover.title or report.paper)
    document.core_properties.title, document.core_properties.author = title[:255], "neardup"
    document.add_paragraph(words("Report on copied text"))
    document.add_heading(title, 0)
    facts = _list_facts(report, words, date)
    _add_table(document, [(label, value) for label, value in facts if value])
    document.add_paragraph(
        words(
            "These rates tell how much text is the same or nearly the same. They are not a finding "
            "of plagiarism: examine the evidence for each passage before you judge."
        )
    )
    names = []
    for number, source in enumerate(report.sources, 1):
        described = (source.title or source.id, source.author, source.year, source.journal)
        names.append(f"{number} " + " · ".join(filter(None, described)))
    if names:
        document.add_heading(words("Sources"), 1)
        shares = [format_percent(source.rate) for source in report.sources]
        _add_table(document, zip(names, shares, strict=True))
    document.add_heading(words("The paper"), 1).paragraph_format.page_break_before = True
    for number, ends in sorted(_write_paper(document, report).items()):
        passage = report.passages[number]
        lines = (
            names[passage.source],
            words("similarity {similarity}", similarity=format_percent(passage.similarity)),
            words("characters: {characters}", characters=passage.characters),
        )
        comment = document.add_comment(ends, _clean_text("\n".join(lines)), "neardup", "nd")
        # The present time would differ from run to run.
        comment._element.attrib.pop(qn("w:date"), None)
    made, out = io.BytesIO(), io.BytesIO()
    document.save(made)
    with zipfile.ZipFile(made) as parts, zipfile.ZipFile(out, "w") as archive:
        for name in parts.namelist():
            archive.writestr(zipfile.ZipInfo(name), parts.read(name), zipfile.ZIP_DEFLATED)
    return out.getvalue()


def _list_facts(
    report: Report, words: Words, date: datetime.date | None
) -> list[tuple[str, str | None]]:
    """Return the labels and the values of the cover; None for a value that is missing."""
    rates = report.rates
    shares = [None] * 3 if rates is None else list(map(format_percent, astuple(rates)))
    total, without, largest = shares
    return [
        (words("Verdict"), explain_outcome(report, words)),
        (words("Total rate of copied text"), total),
        (words("Rate without quotations and references"), without),
        (words("Rate of the largest single source"), largest),
        (
            words("Shared text"),
            format_percent(report.shared / report.characters) if report.shared else None,
        ),
        (words("Characters counted"), f"{report.characters:,}"),
        (words("Characters copied"), f"{report.copied:,}"),
        (
            words("Possible attempts to hide copying"),
            "\n".join(
                words(HIDING[finding.kind], count=finding.count)
                for finding in report.findings
                if finding.kind in HIDING
            ),
        ),
        (words("Author"), report.cover.author),
        (words("Number"), report.cover.number),
        (words("Institution"), report.cover.institution),
        (words("File"), report.paper),
        (
            words("Library"),
            report.library + words(" (documents: {documents})", documents=report.library_documents),
        ),
        (words("Number of the report"), report.number),
        (words("Date of the check"), check_date(date)),
        (
            words("Notes"),
            "\n".join(in_language(note, words.language) for note in select_notes(report.notes)),
        ),
    ]


def _write_paper(document: Any, report: Report) -> dict[int, tuple[Any, Any]]:
    """Add the paper; return the first and the last run of each passage that is marked."""
    first: dict[int, Any] = {}
    last: dict[int, Any] = {}
    for paragraph in (part for block in mark_paper(report).blocks for part in block.paragraphs):
        if paragraph.blank:
            continue
        level = min(paragraph.level, 9)
        written = document.add_heading("", level) if level else document.add_paragraph()
        for run in paragraph.runs:
            piece = written.add_run(_clean_text(report.text[run.begin : run.end].strip("\r\n")))
            if run.passages:
                number = report.passages[run.passages[0]].source
                colour = _COLOURS[number % len(_COLOURS)] if run.repeated else _GREY
                piece.font.highlight_color = colour
            first |= dict.fromkeys(run.first, piece)
            last |= dict.fromkeys(run.last, piece)
    return {number: (first[number], last[number]) for number in first.keys() & last}


def _add_table(document: Any, rows: Iterable[Sequence[str]]) -> None:
    """Add a table of two columns."""
    table = document.add_table(0, 2, "Table Grid")
    for texts in rows:
        for cell, text in zip(table.add_row().cells, texts, strict=True):
            cell.text = _clean_text(text)


def _clean_text(text: str) -> str:
    """Return a text without what XML cannot hold."""
    return replace_unseen(text).translate(_NOT_XML)
