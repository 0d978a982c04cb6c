"""The report in a real browser: it opens, answers mouse and keys, prints, and asks for nothing."""

from functools import cache
from importlib import resources

import pypdfium2 as pdfium
import pytest
from tests.browser import Tabs, running, unreadable
from tests.papers import reports

from neardup.papers import check_files
from neardup.papers.batch import Checked
from neardup.papers.report_files import ReportFolder, summary_page

# One worker, so that one browser is started.
pytestmark = pytest.mark.slow

REPORTS = {
    "zh": reports.small_zh,
    "en": reports.small_en,
    "hostile": reports.hostile,
    "long": reports.long,
}
#: The text of the paper as the browser has it, with the characters shown by number.
PAPER_TEXT = """() => {
  const text = (node) => node.nodeType === Node.TEXT_NODE ? node.data
    : node.dataset && node.dataset.code
      ? String.fromCodePoint(parseInt(node.dataset.code.slice(2), 16))
      : [...node.childNodes].map(text).join("");
  return [...document.querySelectorAll(".paper section > *")].map(text).join("");
}"""


@pytest.fixture(scope="module")
def browser():
    with running() as browser:
        yield browser


@pytest.fixture(scope="module")
def tabs(browser):
    with Tabs(browser) as tabs:
        yield tabs


@pytest.fixture
def visit(tabs, tmp_path):
    """Open a page written to a file; at the end it must have been silent and alone."""
    paths = []

    def open_page(text, width=1280, scripts=True):
        path = tmp_path / f"report-{len(paths)}.html"
        paths.append(path)
        path.write_bytes(text.encode())
        page = tabs.open(
            width,
            lambda url: url.startswith(tmp_path.as_uri()),
            java_script_enabled=scripts,
        )
        page.goto(path.as_uri())
        return page

    yield open_page
    assert tabs.leave() == []


@cache
def page_of(name, language):
    """Return the page of one of the reports."""
    return REPORTS[name]().to_html(language=language)


def focused(page):
    return page.evaluate("document.activeElement.id")


@pytest.mark.parametrize("name", REPORTS)
def test_the_browser_has_the_text_of_the_paper_and_shows_it_at_each_width(visit, name):
    report = REPORTS[name]()
    for language in ("zh", "en"):
        page = visit(page_of(name, language))
        assert page.evaluate(PAPER_TEXT) == report.text
        assert page.evaluate("window.broken") is None
    for width in (1280, 800, 360):
        page.set_viewport_size({"width": width, "height": 800})
        page.locator("a.copy[id]").first.click()
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert unreadable(page) == []
        if width < 1100:
            page.wait_for_function(
                "() => { const box = document.querySelector('a.now').getBoundingClientRect();"
                " return box.top >= 0 && box.top < innerHeight * 0.45 }"
            )
        page.keyboard.press("Escape")
        assert page.locator("#panel").is_hidden()


def test_a_click_shows_the_source_beside_the_passage(visit):
    report = reports.small_zh()
    page = visit(report.to_html())
    panel = page.locator("#panel")
    assert panel.is_hidden()
    page.locator("#t2").click()
    assert panel.is_visible()
    assert "河口潮汐与盐度界面的观测" in panel.inner_text()
    assert page.locator("#panel mark").all_inner_texts() == [
        report.text[report.passages[1].begin : report.passages[1].end],
        "大潮期间，海水沿河道底部上溯，表层淡水则向外海扩展，两者之间形成清晰的界面。",
    ]
    assert "潮汐对河口盐度的影响并不均匀。" in panel.inner_text()
    assert page.locator("#panel article").count() == 1
    assert page.locator("a.now").count() == 1
    # Beside it, not over it, and the passage is still to be seen.
    passage, side = page.locator("#t2").bounding_box(), panel.bounding_box()
    assert passage["x"] + passage["width"] <= side["x"]
    assert 0 <= passage["y"] < 800
    page.locator("#panel button[data-do=close]").click()
    assert panel.is_hidden()
    assert page.locator("a.now").count() == 0


def test_the_panel_lists_all_sources_of_a_place_and_the_moved_pieces(visit):
    page = visit(reports.small_zh().to_html())
    page.locator("#t3").click()
    panel = page.locator("#panel")
    assert panel.locator("article").count() == 2
    assert "此处与 2 篇来源的文字相同" in panel.inner_text()
    first = panel.locator("article").first
    assert first.locator("mark[data-piece]").count() == 6
    assert first.locator("mark.moved").count() == 2
    assert "语序有调整" in first.inner_text()


def test_the_keyboard_does_all(visit):
    page = visit(reports.small_zh().to_html(language="en"))
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    for _ in range(30):
        page.keyboard.press("Tab")
        if focused(page) == "t1":
            break
    assert focused(page) == "t1"
    page.keyboard.press("Enter")
    panel = page.locator("#panel")
    assert panel.is_visible()
    assert "papers/essays/river.txt" in panel.inner_text()
    assert page.evaluate("document.getElementById('panel').contains(document.activeElement)")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert "Passage 2" in panel.inner_text()
    page.keyboard.press("Escape")
    assert panel.is_hidden()
    assert focused(page) == "t2"
    page.keyboard.press("Enter")
    page.locator("#t2").focus()
    page.keyboard.press("Tab")
    # With the panel open, it follows the passage that has the focus.
    assert focused(page) == "t3"
    assert "Passage 3" in panel.inner_text()


def test_a_source_shows_only_its_passages(visit):
    report = reports.small_zh()
    page = visit(report.to_html())
    row = page.locator("tr[data-source='2']")
    row.click()
    assert row.get_attribute("aria-current") == "true"
    bar = page.locator("#only")
    assert bar.is_visible()
    assert "来源 2" in bar.inner_text()
    lit = page.locator(".paper a.on")
    assert set(lit.evaluate_all("links => links.map((link) => link.id)")) == {"t3", "t5"}
    bar.locator("button[data-do=next]").click()
    assert "片段 4" in page.locator("#panel").inner_text()
    bar.locator("button[data-do=next]").click()
    assert "片段 5" in page.locator("#panel").inner_text()
    bar.locator("button[data-do=all]").click()
    assert bar.is_hidden()
    assert page.locator("a.on").count() == 0
    row.locator("a").focus()
    page.keyboard.press("Enter")
    assert bar.is_visible()
    page.keyboard.press("Escape")
    assert bar.is_hidden()


def test_the_strip_leads_to_the_passage(visit):
    page = visit(page_of("long", "zh"))
    page.locator(".strip a").nth(300).click()
    assert page.locator("#panel article").count() >= 1
    box = page.locator("a.copy.now").first.bounding_box()
    assert 0 <= box["y"] <= 800


def test_what_is_hostile_runs_nothing(visit):
    page = visit(page_of("hostile", "zh"))
    for run in page.locator("a.copy[id]").all():
        run.click()
        assert page.locator("#panel article").count() >= 1
        page.keyboard.press("Escape")
    page.locator("tr[data-source='1']").click()
    assert page.evaluate("window.broken") is None
    assert page.locator("img, .paper b, .paper script").count() == 0
    assert "U+202E" in page.title()


def test_without_scripts_links_lead_to_the_evidence(visit):
    page = visit(reports.small_zh().to_html(), scripts=False)
    assert page.locator("#panel").is_hidden()
    page.locator("#t2").click()
    assert page.url.endswith("#p2")
    assert page.locator("#p2").is_visible()
    assert 0 <= page.locator("#p2").bounding_box()["y"] < 800
    page.locator("#p2 a").click()
    assert page.url.endswith("#t2")


def test_the_page_of_a_batch_opens(visit):
    papers = [Checked(name, report(), None) for name, report in REPORTS.items()]
    page = visit(summary_page(papers, ["a.html", None, "c.html", "d.html"]), 360)
    assert page.locator("tbody tr").count() == 4
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert page.evaluate("window.broken") is None


@pytest.mark.parametrize("language", ["zh", "en"])
def test_the_matrix_of_papers_leads_to_the_passages(visit, tmp_path, language):
    folder = tmp_path / "papers"
    folder.mkdir()
    for number in range(9):
        name = f"论文 {number}#?%<b>.txt"
        (folder / name).write_text(reports.ZH_SOURCE_1[number:] + reports.ZH[: number * 9], "utf-8")
    names = sorted(map(str, folder.iterdir()))
    written = ReportFolder(names, page=str(tmp_path), json=None, language=language, force=False)
    for checked in check_files([folder], among=True, workers=1):
        written.write(checked)
    written.finish()
    page = visit("", 1280)
    page.goto((tmp_path / "index.html").as_uri())
    axe = resources.files("axe_playwright_python").joinpath("axe.min.js").read_text("utf-8")
    page.evaluate(axe)
    for width in (1280, 360):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert unreadable(page) == []
        assert page.evaluate("axe.run(document).then((result) => result.violations)") == []
    cell = page.locator(".matrix tbody tr").nth(3).locator("a").nth(5)
    paper = page.locator(".matrix tbody tr").nth(3).locator("th bdi").inner_text()
    cell.focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("tr[data-source][aria-current]")
    assert paper in page.locator("h1").inner_text()
    current = page.locator("tr[data-source][aria-current]")
    assert f"#{current.get_attribute('id')}" in page.url
    assert page.locator("a.copy.on").count() > 0


def squeezed(text):
    return "".join(text.split())


@pytest.mark.parametrize("name", ["zh", "en"])
def test_the_printed_report_has_the_passages_and_their_sources(visit, name, tmp_path):
    report = REPORTS[name]()
    page = visit(page_of(name, name))
    page.locator("a.copy[id]").first.click()
    path = tmp_path / "report.pdf"
    page.pdf(path=path, prefer_css_page_size=True)
    with pdfium.PdfDocument(path) as document:
        text = ""
        for number in range(len(document)):
            width, height = document[number].get_size()
            assert (round(width), round(height)) == (595, 842)
            text += document[number].get_textpage().get_text_range()
    text = squeezed(text.replace("\ufffe", "").replace("\u2060", ""))
    for passage in report.passages:
        for piece in passage.pieces:
            # In the evidence: the text itself has notes in it.
            begin = piece.source_begin - passage.source_text_begin
            source = passage.source_text[begin : begin + piece.source_end - piece.source_begin]
            assert squeezed(source) in text
            assert squeezed(report.text[piece.begin : piece.end]) in text
    # Neither the panel nor what only a screen can do; lists are unfolded.
    assert "上一处" not in text
    assert "Previous" not in text
    assert ("[1]林某某" in text) == (name == "zh")
