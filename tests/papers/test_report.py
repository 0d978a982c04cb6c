"""A report: all of the paper is on its page and in its JSON, and nothing of it acts."""

import base64
import datetime
import hashlib
import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.kit import strategies
from tests.papers import reports

from neardup import ParameterError, __version__
from neardup.base.messages import LANGUAGES, Message, in_language
from neardup.pages.templating import COLOURS, STROKES, plain, shown, template
from neardup.pages.words import Words
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
}
PAGES = [
    pytest.param(name, language, id=f"{name}-{language}")
    for name in REPORTS
    for language in LANGUAGES
]


class Page(HTMLParser):
    """What a reader sees of the paper: its text, and the text of each passage."""

    VOID = ("meta", "br", "rect", "link", "input")

    def __init__(self, page):
        super().__init__(convert_charrefs=True)
        self.open = []
        self.text = ""
        self.all_text = ""
        self.passages = {}
        self.tags = []
        self.inside = {"script": "", "style": ""}
        self.ids = []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.tags.append((tag, attributes))
        if "id" in attributes:
            self.ids.append(attributes["id"])
        if tag not in self.VOID:
            self.open.append((tag, attributes))
        if "data-code" in attributes:
            self.see(chr(int(attributes["data-code"][2:], 16)))

    def handle_endtag(self, tag):
        if tag not in self.VOID:
            assert self.open.pop()[0] == tag

    def handle_data(self, data):
        if self.open and self.open[-1][0] in self.inside:
            self.inside[self.open[-1][0]] += data
        else:
            self.see(data)

    def see(self, data):
        self.all_text += data
        tags = [tag for tag, _ in self.open]
        if any("paper" in attributes.get("class", "").split() for _, attributes in self.open):
            # White space between paragraphs is the template's.
            if not {"p", "h3", "h4", "h5", "h6"} & set(tags):
                assert data.strip() == ""
                return
            self.text += data
            for tag, attributes in self.open:
                if tag == "a":
                    for number in attributes["data-p"].split():
                        self.passages[int(number)] = self.passages.get(int(number), "") + data


def policy_of(page):
    return next(
        attributes["content"]
        for tag, attributes in page.tags
        if attributes.get("http-equiv") == "Content-Security-Policy"
    )


def assert_complete(page, report):
    """The text and all passages are on the page, and links lead somewhere."""
    assert len(page.ids) == len(set(page.ids))
    links = {attributes["href"][1:] for _, attributes in page.tags if "href" in attributes}
    assert links <= set(page.ids)
    assert page.text == report.text
    assert page.passages == {
        number: report.text[passage.begin : passage.end]
        for number, passage in enumerate(report.passages, 1)
    }


@pytest.mark.parametrize(("name", "language"), PAGES)
def test_the_page_has_the_paper_and_its_passages(name, language):
    report = REPORTS[name]
    page = Page(report.to_html(language=language))
    assert_complete(page, report)
    assert {f"p{number}" for number in range(1, len(report.passages) + 1)} <= set(page.ids)


@pytest.mark.parametrize(("name", "language"), PAGES)
def test_nothing_of_the_paper_acts(name, language):
    page = Page(REPORTS[name].to_html(language=language))
    tags = [tag for tag, _ in page.tags]
    assert tags.count("script") == tags.count("style") == tags.count("title") == 1
    assert not {"img", "iframe", "object", "embed", "form", "base", "link", "b"} & set(tags)
    for tag, attributes in page.tags:
        assert not [key for key in attributes if key.startswith("on") or key in ("style", "src")]
        if "href" in attributes:
            assert attributes["href"].startswith("#"), tag
    assert "broken" not in page.inside["script"] + page.inside["style"]


@pytest.mark.parametrize("name", REPORTS)
def test_the_policy_allows_the_own_script_and_style_only(name):
    page = Page(REPORTS[name].to_html())
    digests = {
        kind: base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        for kind, text in page.inside.items()
    }
    assert policy_of(page) == (
        f"default-src 'none'; style-src 'sha256-{digests['style']}'; "
        f"script-src 'sha256-{digests['script']}'; base-uri 'none'; form-action 'none'"
    )


def test_hostile_values_are_shown_as_text():
    page = Page(REPORTS["hostile"].to_html(language="en"))
    # Paper and source, title and id, library, notes and settings.
    assert page.all_text.count("<script>window.broken=1</script>") > 10
    assert page.all_text.count("{{ 7*7 }}") > 10
    raw = REPORTS["hostile"].to_html()
    assert not re.search("[\x00-\x08\x0b\x0e-\x1f\u200b\u202a-\u202e\u2066-\u2069\ufeff]", raw)


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


def test_on_several_sources_the_colour_is_that_of_the_largest():
    text = "甲乙丙丁戊己庚辛"
    matches = [(0, [(0, 8, 0, 8)]), (1, [(0, 2, 0, 2)]), (1, [(4, 6, 4, 6)])]
    report = reports.report(text, [("a", None, text), ("b", None, text)], matches)
    runs = list(marks_of(report).runs())
    assert [(run.begin, run.end, run.passages) for run in runs] == [
        (0, 2, (0, 1)), (2, 4, (0,)), (4, 6, (0, 2)), (6, 8, (0,)),
    ]  # fmt: skip
    assert marks_of(report).coloured == {0}


def test_a_source_that_repeats_just_there_goes_before_a_larger_one():
    text = "甲乙丙丁戊己庚辛"
    matches = [(0, [(0, 3, 0, 3), (5, 8, 5, 8)]), (1, [(3, 5, 3, 5)])]
    report = reports.report(text, [("a", None, text), ("b", None, text)], matches)
    middle = next(run for run in marks_of(report).runs() if run.begin == 3)
    assert middle.passages == (1, 0)
    assert middle.repeated
    assert middle.opens


def test_evidence_says_which_pieces_moved():
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


def test_a_passage_whose_colour_is_nowhere_is_shortened():
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


def test_the_legend_explains_what_the_text_has():
    gap = Words("zh")("inserted: within a passage, but not in its source")
    assert gap in REPORTS["zh"].to_html()
    assert gap not in REPORTS["en"].to_html(language="zh")


@pytest.mark.parametrize(("language", "tag"), [("zh", "zh-CN"), ("en", "en")])
def test_the_page_is_in_the_language_asked_for(language, tag):
    page = REPORTS["zh"].to_html(language=language)
    assert f'<html lang="{tag}">' in page
    assert 'class="paper" lang="zh"' in page
    words = Words(language)
    assert words("Of these, copied") in page
    assert words("Date of the check") not in page


@pytest.mark.parametrize(
    ("name", "value"), [("language", "fr"), ("language", None), ("date", "2026-03-09")]
)
def test_bad_parameters_are_refused(name, value):
    with pytest.raises(ParameterError, match=f"'{name}'"):
        REPORTS["empty"].to_html(**{name: value})


def test_the_style_has_all_looks():
    style = template("report.css")
    assert len(re.findall(r"\.c\d \{", style)) == COLOURS
    assert len(re.findall(r"\.u\d \{", style)) == STROKES


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


def test_the_page_of_a_batch_is_sorted_by_rate():
    papers = [REPORTS[name] for name in ("empty", "zh", "hostile", "en")]
    links = ["empty.html", "zh.html", "c.html", None]
    page = Page(summary(papers, links, language="en"))
    hrefs = [attributes["href"] for tag, attributes in page.tags if tag == "a"]
    assert hrefs == [
        "c.html",
        "zh.html",
        "empty.html",
    ]
    order = [page.all_text.index(report.paper[:7]) for report in (papers[2], papers[3], papers[1])]
    assert order == sorted(order)
    assert "河口潮汐与盐度界面的观测" in page.all_text
    assert [tag for tag, _ in page.tags].count("script") == 0
    assert "script-src" not in policy_of(page)


def test_papers_that_could_not_be_checked_are_named():
    unread = [
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
    ]
    page = Page(summary([REPORTS["en"]], [None], unread, language="zh"))
    words = Words("zh")
    assert words("Papers that could not be checked: {papers}.", papers=2) in page.all_text
    assert "papers/a<b>.pdf" in page.all_text
    assert "文件中没有文字或数字。" in page.all_text
    assert "papers/a<b>.pdf：" not in page.all_text
    assert "Must be something else." in page.all_text
    assert "papers/b.txt" in summary([], [], unread)


def test_notes_of_all_papers_stand_once_on_the_page_of_a_batch():
    note = Message("The paper's own file is in the library and was left out.")
    papers = [
        reports.small_en(notes=(f"Mine {n}.", note, read_as("gb18030", "likely"))) for n in range(2)
    ]
    text = Page(summary(papers, [None, None], language="zh")).all_text
    assert text.count(in_language(note, "zh")) == 1
    assert "gb18030" not in text
    assert all(f"Mine {n}." in text for n in range(2))
    assert "Mine 0." in Page(summary(papers[:1], [None])).all_text


@pytest.mark.parametrize("language", LANGUAGES)
def test_report_names_its_version_and_text(language):
    page = REPORTS["zh"].to_html(language=language, date=datetime.date(2026, 2, 3))
    assert sha256_of(REPORTS["zh"].text) in page
    assert f"<dd>{__version__}</dd>" in page
    assert f"<code>{REPORTS['zh'].number}</code>" in page
    assert "2026-02-03" in page
    assert "2026-02-03" in summary_page([], [], date=datetime.date(2026, 2, 3))
    assert REPORTS["zh"].to_html(language=language, date=datetime.date(2026, 2, 3)) == page


def test_the_number_of_a_report_is_that_of_its_content():
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


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_cover(language):
    words = Words(language)
    cover = Cover("渡口 <b>", "林岚", "2021001", "某大学")
    page = Page(replace(REPORTS["zh"], cover=cover).to_html(language=language)).all_text
    assert all(value in page for value in ("渡口 <b>", "林岚", "2021001", "某大学"))
    assert all(words(label) in page for label in ("Author", "Number", "Institution"))
    assert REPORTS["zh"].paper in page
    plain_page = REPORTS["zh"].to_html(language=language)
    assert f"<h1><bdi>{REPORTS['zh'].paper}</bdi></h1>" in plain_page
    assert f"<dt>{words('Institution')}</dt>" not in plain_page
    row = Page(summary([replace(REPORTS["zh"], cover=cover)], [None])).all_text
    assert all(value in row for value in ("渡口 <b>", "林岚", "2021001"))


@pytest.mark.parametrize(
    ("language", "sentence", "word"),
    [
        ("en", "47.1% copied: above 30%, rejected", "rejected"),
        ("zh", "复制比 47.1%，高于 30%，不通过", "不通过"),
    ],
)
def test_the_verdict(language, sentence, word):
    report = replace(
        REPORTS["zh"], rates=Rates(0.471, 0.4, 0.3), thresholds=Thresholds(reject_above=0.3)
    )
    heading = Words(language)("Verdict")
    assert sentence in Page(report.to_html(language=language)).all_text
    assert report.to_dict()["verdict"] == {
        "result": "reject",
        "sentence": "47.1% copied: above 30%, rejected",
    }
    unread = [CheckResult("b.txt", None, "No text.")]
    overview = summary([report, REPORTS["en"]], [None] * 2, unread, language=language)
    assert f'<td class="outcome" data-label="{heading}">{word}</td>' in overview
    assert 'colspan="6"' in overview
    for page in (
        REPORTS["zh"].to_html(language=language),
        summary([REPORTS["zh"]], [None], unread, language=language),
    ):
        assert heading not in Page(page).all_text


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
