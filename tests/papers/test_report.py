"""A report: all of the paper is on its page and in its JSON, and nothing of it acts."""

import datetime
import json
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.kit import strategies
from tests.pages.contract import Outline, check_html, check_seen
from tests.papers import reports

from neardup import ParameterError, __version__
from neardup.base.messages import LANGUAGES, Message
from neardup.pages.templating import plain, shown
from neardup.papers.cover import Cover
from neardup.papers.paper_check import CheckResult
from neardup.papers.report import (
    VERSION,
    Report,
    marks_of,
    sha256_of,
    shown_notes,
)
from neardup.papers.report_files import summary_page
from neardup.papers.results import (
    ExcludedSpan,
    Finding,
    Passage,
    Piece,
    Place,
    Rates,
    Section,
    Source,
)
from neardup.papers.verdict import Thresholds

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
    assert plain('a\u202e"\x00') == 'a[U+202E]"[U+0000]'
    assert str(shown("a\r\n<\x00")) == ('a&#13;\n&lt;<i class="unseen" data-code="U+0000"></i>')
    title = '"><script>window.broken=4</script>'
    text = "雪落在屋顶上，一夜没有停。"
    report = reports.report(text, [("x", title, text)], [(0, [(0, 5, 0, 5)])], paper=title)
    page = Page(report.to_html())
    assert [tag for tag, _ in page.tags].count("script") == 1
    assert any(title in attributes.get("title", "") for _, attributes in page.tags)


@st.composite
def random_reports(draw):
    text = draw(strategies.texts(80))
    size = len(text)

    def span():
        begin = draw(st.integers(0, size))
        return begin, draw(st.integers(begin, size))

    passages = []
    for _ in range(draw(st.integers(0, 5)) if size else 0):
        begin = draw(st.integers(0, size - 1))
        end = draw(st.integers(begin + 1, size))
        middle = draw(st.integers(begin, end))
        pieces = tuple(
            Piece(low, high, low, high)
            for low, high in ((begin, middle), (middle, end))
            if low < high
        )
        source = draw(st.integers(0, 2))
        passages.append(
            Passage(begin, end, source, begin, end, 0.9, 1, pieces, text[begin:end], begin)
        )
    passages.sort(key=lambda passage: passage.begin)
    cuts = sorted({0, *draw(st.lists(st.integers(0, size), max_size=3))})
    sections = tuple(
        Section("题" * (n % 2), n, begin, end, 1, 0, 0.0)
        for n, (begin, end) in enumerate(zip(cuts, [*cuts[1:], size], strict=True))
    )
    return Report(
        "paper", text, 1, 0, Rates(0.5, 0.5, 0.5), None,
        tuple(Source(name, None, 1, 0.1, 0.5, 0, None, size, 0) for name in "abc"),
        sections, tuple(passages),
        tuple(ExcludedSpan(*span(), kind) for kind in draw(st.lists(st.sampled_from(
            ("quotation", "references", "contents", "given")), max_size=3))),
        tuple(sorted(draw(st.lists(st.integers(0, size), max_size=3)))), "library", 3, {}, (),
    )  # fmt: skip


@given(random_reports())
def test_any_report_has_the_paper_and_its_passages(report):
    assert_complete(Page(report.to_html(language="en")), report)


@pytest.mark.parametrize("name", REPORTS)
def test_runs_follow_each_other(name):
    report = REPORTS[name]
    runs = list(marks_of(report).runs())
    bounds = [0, *(run.end for run in runs)]
    assert [run.begin for run in runs] == bounds[:-1]
    assert bounds[-1] == len(report.text)


def test_passage_of_several_sources_has_the_colour_of_the_largest():
    text = "甲乙丙丁戊己庚辛"
    matches = [(0, [(0, 8, 0, 8)]), (1, [(0, 2, 0, 2)]), (1, [(4, 6, 4, 6)])]
    report = reports.report(text, [("a", None, text), ("b", None, text)], matches)
    runs = list(marks_of(report).runs())
    assert [(run.begin, run.end, run.passages) for run in runs] == [
        (0, 2, (0, 1)), (2, 4, (0,)), (4, 6, (0, 2)), (6, 8, (0,)),
    ]  # fmt: skip
    assert marks_of(report).coloured == {0}


def test_source_of_the_exact_passage_precedes_a_larger_one():
    text = "甲乙丙丁戊己庚辛"
    matches = [(0, [(0, 3, 0, 3), (5, 8, 5, 8)]), (1, [(3, 5, 3, 5)])]
    report = reports.report(text, [("a", None, text), ("b", None, text)], matches)
    middle = next(run for run in marks_of(report).runs() if run.begin == 3)
    assert middle.passages == (1, 0)
    assert middle.repeated
    assert middle.opens


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
        for block in marks_of(report).blocks
        for paragraph in block.paragraphs
    ]
    assert lengths == [4000, 4000, 2001, 4000, 4000, 1000]


@pytest.mark.parametrize(
    ("name", "value"), [("language", "fr"), ("language", None), ("date", "2026-03-09")]
)
def test_bad_parameters_are_refused(name, value):
    with pytest.raises(ParameterError, match=f"'{name}'"):
        REPORTS["empty"].to_html(**{name: value})


def rebuilt(values):
    values = dict(values)
    assert values.pop("version") == VERSION
    assert values.pop("neardup") == __version__
    assert values.pop("sha256") == sha256_of(values["text"])
    assert re.fullmatch("([0-9A-F]{4}-){3}[0-9A-F]{4}", values.pop("number"))
    thresholds = values.pop("thresholds")
    thresholds = None if thresholds is None else Thresholds(**thresholds)
    assert (values.pop("verdict") is None) == (thresholds is None)
    passages = tuple(
        Passage(**{**passage, "pieces": tuple(Piece(**piece) for piece in passage["pieces"])})
        for passage in values["passages"]
    )
    return Report(
        **{
            **values,
            "rates": Rates(**values["rates"]),
            "cover": Cover(**values["cover"]),
            "thresholds": thresholds,
            "without_sources": tuple(values["without_sources"]),
            "sources": tuple(Source(**source) for source in values["sources"]),
            "sections": tuple(Section(**part) for part in values["sections"]),
            "passages": passages,
            "asides": tuple(ExcludedSpan(**aside) for aside in values["asides"]),
            "pages": tuple(values["pages"]),
            "notes": tuple(values["notes"]),
            "findings": tuple(
                Finding(
                    **{**finding, "places": tuple(Place(**place) for place in finding["places"])}
                )
                for finding in values["findings"]
            ),
        }
    )


@pytest.mark.parametrize("name", REPORTS)
def test_json_has_the_whole_report(name):
    values = REPORTS[name].to_dict()
    assert next(iter(values)) == "version"
    assert rebuilt(json.loads(json.dumps(values))) == REPORTS[name]


def summary(of_reports, links, unread=(), **options):
    papers = [CheckResult(f"{n}", report, None) for n, report in enumerate(of_reports)]
    return summary_page([*papers, *unread], [*links, *[None] * len(unread)], **options)


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
    assert shown_notes(notes) == [guessed, "It rains."]
