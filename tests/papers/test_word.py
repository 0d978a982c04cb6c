"""A report as a Word document: what a teacher finds in it, and that it is always the same."""

import datetime
import io
from dataclasses import replace

import docx
import pytest
from docx.oxml.ns import qn
from tests.papers import reports

from neardup.papers.report import select_notes
from neardup.papers.word import to_docx
from neardup.readers import read_bytes

DAY = datetime.date(2026, 3, 1)


def opened(report, language="zh", date=None):
    return docx.Document(io.BytesIO(to_docx(report, language, date)))


def rows(table):
    return {row.cells[0].text: row.cells[1].text for row in table.rows}


def commented(document):
    """Return the text between the two ends of each comment, by its id."""
    inside, texts = set(), {}
    for element in document.element.body.iter():
        number = element.get(qn("w:id"))
        if element.tag == qn("w:commentRangeStart"):
            inside.add(number)
        elif element.tag == qn("w:commentRangeEnd"):
            inside.remove(number)
        elif element.tag == qn("w:t"):
            for number in inside:
                texts[number] = texts.get(number, "") + element.text
    assert not inside
    return texts


def test_cover_and_rates_come_first():
    report = reports.small_zh()
    document = opened(report, date=DAY)
    facts = rows(document.tables[0])
    assert facts["总文字复制比"] == f"{report.rates.total:.1%}"
    assert (facts["报告编号"], facts["检测日期"]) == (report.number, "2026-03-01")
    assert facts.get("作者") == report.cover.author
    assert len(document.tables[1].rows) == len(report.sources)
    titles = [part.text for part in document.paragraphs if part.style.name == "Title"]
    assert titles == [document.core_properties.title] == [report.cover.title or report.paper]


@pytest.mark.parametrize("name", ["small_zh", "small_en"])
def test_the_paper_with_a_comment_on_each_passage(name):
    report = getattr(reports, name)()
    document = opened(report, "en")
    parts = [part.text for part in document.paragraphs]
    lines = [line.strip() for line in report.text.splitlines() if line.strip()]
    assert [line.strip() for line in parts[-len(lines) :]] == lines
    headings = [part.text for part in document.paragraphs if part.style.name.startswith("Heading")]
    for section in report.sections:
        assert section.title in ["", *headings]
    texts = commented(document)
    comments = {str(comment.comment_id): comment.text for comment in document.comments}
    assert len(comments) == len(report.passages) > 0
    for (key, text), passage in zip(comments.items(), report.passages, strict=True):
        source = report.sources[passage.source]
        assert (source.title or source.id) in text
        assert f"{passage.similarity:.1%}" in text
        assert f"{passage.characters:,}" in text
        copied = report.text[passage.begin : passage.end]
        assert "".join(copied.split()) == "".join(texts[key].split())


def test_author_year_and_journal_of_a_source():
    report = reports.small_zh()
    named = replace(report.sources[0], title="渡口志", author="林岚", journal="县志")
    document = opened(replace(report, sources=(named, *report.sources[1:])))
    assert document.tables[1].rows[0].cells[0].text == "1 渡口志 · 林岚 · 县志"
    assert any("渡口志 · 林岚 · 县志" in comment.text for comment in document.comments)


def test_copied_text_is_highlighted_and_no_other():
    report = reports.small_zh()
    document = opened(report)
    shown = "".join(
        run.text
        for part in document.paragraphs
        for run in part.runs
        if run.font.highlight_color is not None
    )
    places = {at for part in report.passages for at in range(part.begin, part.end)}
    copied = "".join(report.text[at] for at in sorted(places))
    assert "".join(shown.split()) == "".join(copied.split())


def test_equal_reports_are_equal_files():
    report = reports.small_en()
    assert to_docx(report, "en", DAY) == to_docx(report, "en", DAY)
    assert to_docx(report, "en", DAY) != to_docx(report, "en", None)


def test_a_hostile_report_and_an_empty_one():
    hostile = opened(reports.hostile())
    assert "<script>" in "".join(part.text for part in hostile.paragraphs)
    assert len(list(hostile.comments)) > 0
    empty = opened(reports.empty())
    assert (list(empty.comments), len(empty.tables)) == ([], 1)


def test_notes_and_a_verdict_are_in_the_table():
    report = reports.small_en()
    facts = rows(opened(report, "en").tables[0])
    for note in select_notes(report.notes):
        assert note in facts["Notes"]
    if report.verdict is not None:
        assert facts["Verdict"] == report.verdict.sentence


def test_the_document_can_be_read_as_a_paper():
    report = reports.small_zh()
    text = read_bytes(to_docx(report, "zh", None), "a.docx").text
    for line in report.text.splitlines():
        assert line.strip() in text
