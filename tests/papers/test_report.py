"""A report: all of the paper is on its page, in its JSON and in its Word document."""

import datetime
import io
import json
import re
from dataclasses import asdict, replace
from itertools import pairwise

import docx
import pytest
from docx.oxml.ns import qn
from hypothesis import given
from hypothesis import strategies as st
from tests.kit import strategies
from tests.pages.contract import Outline, check_html, check_seen
from tests.papers import reports

from neardup import ParameterError, __version__
from neardup.base.messages import LANGUAGES, Message
from neardup.pages.templating import replace_unseen, show_text
from neardup.papers.cover import Cover
from neardup.papers.paper_check import CheckResult
from neardup.papers.report import VERSION, hash_text, mark_paper, select_notes
from neardup.papers.report_files import render_summary
from neardup.papers.results import ExcludedSpan, Rates, Section
from neardup.papers.verdict import Thresholds
from neardup.papers.word import to_docx
from neardup.readers import read_bytes

REPORTS = {
    "zh": reports.small_zh(),
    "en": reports.small_en(),
    "hostile": reports.hostile(),
    "empty": reports.empty(),
    "long": reports.long(8_000, 30, 12),
    # With a cover and a verdict.
    "finished": reports.small_zh(
        cover=Cover("渡口 <b>", "林岚", "2021001", "某大学"),
        rates=Rates(0.471, 0.4, 0.3),
        thresholds=Thresholds(reject_above=0.3),
    ),
}
DAY = datetime.date(2026, 2, 3)
#: Pages whose text is in a file.
SEEN = [("zh", "zh"), ("en", "en"), ("empty", "zh"), ("hostile", "en")]
SEEN += [("finished", language) for language in LANGUAGES]


class Page(Outline):
    """The page of a report, with the text of the paper and of each passage."""

    def __init__(self, page):
        self.paper, self.passages = "", {}
        super().__init__(page)

    def see(self, data):
        super().see(data)
        if not any("paper" in attributes.get("class", "").split() for _, attributes in self.open):
            return
        # White space between paragraphs is the template's.
        if not {"p", "h3", "h4", "h5", "h6"} & {tag for tag, _ in self.open}:
            assert data.strip() == ""
            return
        self.paper += data
        for tag, attributes in self.open:
            if tag == "a":
                for number in attributes["data-p"].split():
                    self.passages[int(number)] = self.passages.get(int(number), "") + data


def assert_complete(page, report):
    """The text and all passages are on the page."""
    assert page.paper == report.text
    assert page.passages == {
        number: report.text[passage.begin : passage.end]
        for number, passage in enumerate(report.passages, 1)
    }


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", REPORTS)
def test_page_has_the_paper_and_its_passages_and_nothing_acts(name, language):
    report = REPORTS[name]
    html = report.to_html(language=language, date=DAY)
    assert report.to_html(language=language, date=DAY) == html
    outline = check_html(html, language)
    assert {f"p{number}" for number in range(1, len(report.passages) + 1)} <= set(outline.ids)
    assert not {"form", "link", "b"} & {tag for tag, _ in outline.tags}
    looks = " ".join(attributes.get("class") or "" for _, attributes in outline.tags)
    for look in set(re.findall(r"\b[cu]\d\b", looks)):
        assert f".{look} {{" in outline.inside["style"]
    assert_complete(Page(html), report)
    if (name, language) in SEEN:
        check_seen(f"report-{name}-{language}", html.replace(report.number, "NUMBER"))


UNREAD = (
    CheckResult(
        "papers/a<b>.pdf",
        None,
        Message(
            "{file}: must have letters or digits. Got a text without any instead.",
            code="no_letters",
            file="papers/a<b>.pdf",
        ),
    ),
    CheckResult("papers/b.txt", None, "must be something else."),
)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", ["several", "plain"])
def test_overview_shows_all_papers_and_nothing_acts(name, language):
    """The highest rate comes first, notes of all papers stand once, and unread papers are named."""
    note = Message("The paper's own file is in the library and was left out.")
    noted = [
        reports.small_en(notes=(f"Mine {n}.", note, read_as("gb18030", "likely"))) for n in range(2)
    ]
    if name == "several":
        papers = [*(REPORTS[name] for name in ("empty", "zh", "hostile", "finished")), *noted]
        html = summary(
            papers,
            ["empty.html", "zh.html", "c.html", None, "a.html", "b.html"],
            UNREAD,
            language=language,
            date=DAY,
        )
    else:
        html = summary(noted[:1], [None], language=language, date=DAY)
    assert not check_html(html, language).all("script")
    check_seen(f"overview-{name}-{language}", html)


def test_lone_surrogates_can_be_written():
    page = reports.report("a\ud800b", [], [], paper="\udcff.txt", notes=("\udfff",)).to_html()
    assert "U+D800" in page
    page.encode("utf-8")
    summary([reports.report("a", [], [], paper="\udcff.txt")], ["%FF.html"]).encode()


def test_attributes_and_titles_are_escaped():
    assert replace_unseen('a\u202e"\x00') == 'a[U+202E]"[U+0000]'
    assert str(show_text("a\r\n<\x00")) == ('a&#13;\n&lt;<i class="unseen" data-code="U+0000"></i>')
    title, text = '"><script>window.broken=4</script>', "雪落在屋顶上，一夜没有停。"
    report = reports.report(text, [("x", title, text)], [(0, [(0, 5, 0, 5)])], paper=title)
    outline = check_html(report.to_html())
    assert any(title in attributes.get("title", "") for _, attributes in outline.tags)


@st.composite
def random_reports(draw):
    text = draw(strategies.texts(80))
    places = st.integers(0, len(text))
    matches = [
        (draw(st.integers(0, 2)), [(a, b, a, b) for a, b in pairwise(cuts) if a < b])
        for cuts in draw(st.lists(st.lists(places, min_size=3, max_size=3).map(sorted), max_size=5))
        if cuts[0] < cuts[-1]
    ]
    cuts = sorted({0, *draw(st.lists(places, max_size=3))})
    kinds = st.sampled_from(("quotation", "references", "contents", "given"))
    return reports.report(
        text,
        [(name, None, text) for name in "abc"],
        matches,
        asides=[
            ExcludedSpan(*sorted((a, b)), kind)
            for a, b, kind in draw(st.lists(st.tuples(places, places, kinds), max_size=3))
        ],
        sections=tuple(
            Section("题" * (n % 2), n, begin, end, 1, 0, 0.0)
            for n, (begin, end) in enumerate(pairwise([*cuts, len(text)]))
        ),
        pages=tuple(sorted(draw(st.lists(places, max_size=3)))),
    )


@given(random_reports())
def test_any_report_has_the_paper_and_its_passages(report):
    assert_complete(Page(report.to_html(language="en")), report)


def test_place_of_several_passages_has_the_colour_of_the_largest():
    text = "甲乙丙丁戊己庚辛"
    sources = [("a", None, text), ("b", None, text)]
    matches = [(0, [(0, 8, 0, 8)]), (1, [(0, 2, 0, 2)]), (1, [(4, 6, 4, 6)])]
    marked = mark_paper(reports.report(text, sources, matches))
    runs = [(run.begin, run.end, run.passages) for run in marked.iterate_runs()]
    assert runs == [(0, 2, (0, 1)), (2, 4, (0,)), (4, 6, (0, 2)), (6, 8, (0,))]
    assert marked.coloured == {0}
    # A passage of exactly the place goes before a larger one around it.
    matches = [(0, [(0, 3, 0, 3), (5, 8, 5, 8)]), (1, [(3, 5, 3, 5)])]
    marked = mark_paper(reports.report(text, sources, matches))
    (middle,) = (run for run in marked.iterate_runs() if run.begin == 3)
    assert (middle.passages, middle.repeated, middle.opens) == ((1, 0), True, True)


def test_evidence_names_moved_pieces():
    report = REPORTS["zh"]
    evidence = reports.evidence(report)
    assert [item.moved for item in evidence] == [False, False, True, False, False]
    moved = evidence[2]
    for side, spans in (
        (moved.paper, [(piece.begin, piece.end) for piece in moved.passage.pieces]),
        (moved.source, [(piece.source_begin, piece.source_end) for piece in moved.passage.pieces]),
    ):
        whole = report.text if side is moved.paper else reports.ZH_SOURCE_1
        pieces = {stretch.piece: stretch for stretch in side.stretches if stretch.piece}
        assert [pieces[number].text for number in (1, 2, 3)] == [whole[a:b] for a, b in spans]
        assert [pieces[number].moved for number in (1, 2, 3)] == [False, False, True]


def test_passage_without_colour_is_shortened():
    text = "".join(f"第{n}句话写在这里。" for n in range(100))
    size = len(text)
    sources = [("a", None, text), ("b", None, text)]
    report = reports.report(
        text, sources, [(0, [(0, size, 0, size)]), (1, [(0, size - 9, 0, size - 9)])]
    )
    first, second = reports.evidence(report)
    assert not first.shortened
    assert "".join(stretch.text for stretch in first.source.stretches) == text
    assert second.shortened
    assert sum(len(stretch.text) for stretch in second.source.stretches) == 160
    assert "这一处完全落在其他来源的片段之内，此处只列开头。" in report.to_html()


def test_a_long_line_is_cut_after_a_sentence():
    text = "一二三四五六七八九。" * 1000 + "\n" + "x" * 9000
    report = reports.report(text, [], [])
    lengths = [
        sum(run.end - run.begin for run in paragraph.runs)
        for block in mark_paper(report).blocks
        for paragraph in block.paragraphs
    ]
    assert lengths == [4000, 4000, 2001, 4000, 4000, 1000]


@pytest.mark.parametrize(
    ("name", "value"), [("language", "fr"), ("language", None), ("date", "2026-03-09")]
)
def test_bad_parameters_are_refused(name, value):
    with pytest.raises(ParameterError, match=f"'{name}'"):
        REPORTS["empty"].to_html(**{name: value})


@pytest.mark.parametrize("report", REPORTS.values(), ids=REPORTS)
def test_json_has_the_whole_report(report):
    values = report.to_dict()
    assert next(iter(values)) == "version"
    made = [values.pop(name) for name in ("version", "number", "neardup", "sha256")]
    assert made == [VERSION, report.number, __version__, hash_text(report.text)]
    assert re.fullmatch("([0-9A-F]{4}-){3}[0-9A-F]{4}", report.number)
    assert (values.pop("verdict") is None) == (report.thresholds is None)
    whole = asdict(report)
    del whole["runs"]
    assert json.loads(json.dumps(values)) == json.loads(json.dumps(whole))


def summary(of_reports, links, unread=(), **options):
    papers = [CheckResult(f"{n}", report, None) for n, report in enumerate(of_reports)]
    return render_summary([*papers, *unread], [*links, *[None] * len(unread)], **options)


def test_number_of_a_report_depends_on_its_content():
    report = REPORTS["zh"]
    assert report.to_dict()["number"] == report.number == reports.small_zh().number
    others = [
        replace(report, text=report.text + "。"),
        replace(report, cover=Cover(number="7")),
        replace(report, thresholds=Thresholds(0.5)),
        replace(report, library="others/"),
    ]
    assert len({report.number, *(other.number for other in others)}) == 5
    assert len(reports.report("a\ud800b", [], [], paper="\udcff.txt").number) == 19


def test_edits_are_marked_on_both_sides():
    first = reports.evidence(REPORTS["en"])[0]
    edits = [
        [text for stretch in side.stretches for text, is_edit in stretch.parts if is_edit]
        for side in (first.paper, first.source)
    ]
    assert edits == [["repaired"], ["mended"]]
    for evidence in reports.evidence(REPORTS["hostile"]):
        for side in (evidence.paper, evidence.source):
            for stretch in side.stretches:
                assert "".join(text for text, _ in stretch.parts) == stretch.text


def read_as(encoding, certainty):
    return Message(
        "Read as {encoding} ({certainty}).", encoding=encoding, certainty=Message(certainty)
    )


def test_encodings_are_told_of_where_they_were_guessed():
    guessed = Message("{file}: {said:inside}", file="a.txt", said=read_as("gb18030", "guessed"))
    likely = Message(
        "{file}: {said:inside} {count:,} in all ({places}).",
        file="a.txt",
        count=2,
        places="a.txt, b.txt",
        said=read_as("big5", "likely"),
    )
    notes = [read_as("gb18030", "likely"), guessed, likely, "It rains."]
    notes.append(read_as("utf-16-le", "certain"))
    assert select_notes(notes) == [guessed, "It rains."]


# The report as a Word document


def opened(report, language="zh", date=None):
    return docx.Document(io.BytesIO(to_docx(report, language, date)))


def read_facts(document):
    """Return the rows of the table on the first page."""
    return {row.cells[0].text: row.cells[1].text for row in document.tables[0].rows}


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


def squeeze(text):
    return "".join(text.split())


def test_word_document_begins_with_the_cover_the_rates_and_the_notes():
    report = replace(REPORTS["finished"], notes=("It rains.",))
    document = opened(report, "zh", DAY)
    facts = read_facts(document)
    assert facts["总文字复制比"] == f"{report.rates.total:.1%}"
    assert (facts["报告编号"], facts["检测日期"]) == (report.number, f"{DAY}")
    assert (facts["作者"], facts["说明"]) == (report.cover.author, "It rains.")
    assert "47.1%" in facts["检测结论"]
    titles = [part.text for part in document.paragraphs if part.style.name == "Title"]
    assert titles == [document.core_properties.title] == [report.cover.title]


@pytest.mark.parametrize("name", ["zh", "en"])
def test_word_document_has_the_paper_with_a_comment_on_each_passage(name):
    report = REPORTS[name]
    document = opened(report, "en")
    parts = [part.text for part in document.paragraphs]
    lines = [line.strip() for line in report.text.splitlines() if line.strip()]
    assert [line.strip() for line in parts[-len(lines) :]] == lines
    headings = [part.text for part in document.paragraphs if part.style.name.startswith("Heading")]
    assert {section.title for section in report.sections} <= {"", *headings}
    assert len(document.tables[1].rows) == len(report.sources)
    texts = commented(document)
    comments = {str(comment.comment_id): comment.text for comment in document.comments}
    for (key, text), passage in zip(comments.items(), report.passages, strict=True):
        source = report.sources[passage.source]
        for told in (source.title or source.id, f"{passage.similarity:.1%}", passage.characters):
            assert f"{told}" in text
        assert squeeze(texts[key]) == squeeze(report.text[passage.begin : passage.end])
    runs = (run for part in document.paragraphs for run in part.runs)
    shown = "".join(run.text for run in runs if run.font.highlight_color is not None)
    places = {at for part in report.passages for at in range(part.begin, part.end)}
    assert squeeze(shown) == squeeze("".join(report.text[at] for at in sorted(places)))
    # The document can be read as a paper.
    read = read_bytes(to_docx(report, "en", None), "a.docx").text
    assert all(line in read for line in lines)


def test_word_document_names_author_year_and_journal_of_a_source():
    report = REPORTS["zh"]
    named = replace(report.sources[0], title="渡口志", author="林岚", journal="县志")
    document = opened(replace(report, sources=(named, *report.sources[1:])))
    assert document.tables[1].rows[0].cells[0].text == "1 渡口志 · 林岚 · 县志"
    assert any("渡口志 · 林岚 · 县志" in comment.text for comment in document.comments)


def test_word_documents_of_equal_reports_are_equal():
    report = REPORTS["en"]
    assert to_docx(report, "en", DAY) == to_docx(report, "en", DAY)
    assert to_docx(report, "en", DAY) != to_docx(report, "en", None)


def test_word_document_of_a_hostile_report_and_an_empty_one():
    hostile = opened(REPORTS["hostile"])
    assert "<script>" in "".join(part.text for part in hostile.paragraphs)
    assert len(list(hostile.comments)) > 0
    empty = opened(REPORTS["empty"])
    assert (list(empty.comments), len(empty.tables)) == ([], 1)
