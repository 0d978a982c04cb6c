"""The pages of reports: what was not checked, what made them, notes, edits, the legend."""

import datetime

import pytest
from tests.papers import reports
from tests.papers.test_report_html import REPORTS, Page

from neardup import __version__
from neardup.base.messages import Message, in_language
from neardup.papers.report.evidence import gather
from neardup.papers.report.html import html_report, summary_page
from neardup.papers.report.json_report import sha256_of
from neardup.papers.report.words import LANGUAGES, load_words


def test_papers_that_could_not_be_checked_are_named():
    unread = [
        (
            "papers/a<b>.pdf",
            Message("papers.bad_no_letters", file="papers/a<b>.pdf"),
        ),
        ("papers/b.txt", "must be something else."),
    ]
    page = Page(summary_page([REPORTS["en"]], [None], unread=unread, language="zh"))
    words = load_words("zh")
    assert words("summary_unread_papers", papers=2) in page.all_text
    assert "papers/a<b>.pdf" in page.all_text
    assert "文件中没有文字或数字。" in page.all_text
    assert "papers/a<b>.pdf：" not in page.all_text
    assert "Must be something else." in page.all_text
    assert "papers/b.txt" in summary_page([], [], unread=unread)


def test_notes_of_all_papers_stand_once_on_the_page_of_a_batch():
    said = Message("readers.certainty_likely")
    notes = (
        Message("papers.own_file"),
        Message("readers.read_as", encoding="gb18030", certainty=said),
    )
    one, two = (reports.small_en(notes=(f"Mine {at}.", *notes)) for at in range(2))
    text = Page(summary_page([one, two], [None, None], language="zh")).all_text
    assert text.count(in_language(notes[0], "zh")) == 1
    assert "gb18030" not in text
    assert all(f"Mine {at}." in text for at in range(2))


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_made_it_and_of_which_text(language):
    page = html_report(REPORTS["zh"], language=language, date=datetime.date(2026, 2, 3))
    assert sha256_of(REPORTS["zh"].text) in page
    assert f"<td>{__version__}</td>" in page
    assert "2026-02-03" in page
    assert "2026-02-03" in summary_page([], [], date=datetime.date(2026, 2, 3))
    assert REPORTS["zh"].to_html(language=language, date=datetime.date(2026, 2, 3)) == page


def test_edits_are_marked_on_both_sides():
    first = next(gather(REPORTS["en"], reports.marked(REPORTS["en"])))
    assert first.edited
    edits = [
        [text for stretch in side.stretches for text, is_edit in stretch.parts if is_edit]
        for side in (first.paper, first.source)
    ]
    assert edits == [["repaired"], ["mended"]]
    for evidence in gather(REPORTS["hostile"], reports.marked(REPORTS["hostile"])):
        for side in (evidence.paper, evidence.source):
            for stretch in side.stretches:
                assert "".join(text for text, _ in stretch.parts) == stretch.text


def test_the_legend_explains_what_is_there():
    gap = load_words("zh")("legend_gap")
    assert gap in html_report(REPORTS["zh"])
    assert gap not in html_report(REPORTS["en"], language="zh")
