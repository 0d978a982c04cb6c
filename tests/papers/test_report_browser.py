"""The report in a real browser: it opens, answers mouse and keys, prints, and asks for nothing."""

import hashlib
import json
import random
import re
from dataclasses import replace
from functools import cache
from html import escape

import pypdfium2 as pdfium
import pytest
from tests.browser import accessibility_faults, unreadable
from tests.papers import reports
from tests.papers.texts import letters

from neardup import check
from neardup.pages.words import format_percent
from neardup.papers import ExcludedSpan, ReportLimits, Thresholds, check_files
from neardup.papers.marks import Marks
from neardup.papers.paper_check import CheckResult
from neardup.papers.report_files import ReportFolder, render_summary

# One worker, so that one browser is started.
pytestmark = pytest.mark.slow

REPORTS = {
    "zh": reports.small_zh,
    "en": reports.small_en,
    "hostile": reports.hostile,
    "long": lambda: reports.long(50_000, 200, 40),
}
#: The text of the paper as the browser has it, with the characters shown by number.
PAPER_TEXT = """() => {
  const text = (node) => node.nodeType === Node.TEXT_NODE ? node.data
    : node.dataset && node.dataset.code
      ? String.fromCodePoint(parseInt(node.dataset.code.slice(2), 16))
      : [...node.childNodes].map(text).join("");
  return [...document.querySelectorAll(".paper section > *")].map(text).join("");
}"""


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


def test_a_click_shows_the_sources_beside_the_passage(visit):
    report = reports.small_zh()
    page = visit(report.to_html())
    panel = page.locator("#panel")
    assert panel.is_hidden()
    page.locator("#t2").click()
    for text in ("河口潮汐与盐度界面的观测", "潮汐对河口盐度的影响并不均匀。"):
        assert text in panel.inner_text()
    assert panel.locator("mark").all_inner_texts() == [
        report.text[report.passages[1].begin : report.passages[1].end],
        "大潮期间，海水沿河道底部上溯，表层淡水则向外海扩展，两者之间形成清晰的界面。",
    ]
    assert (panel.locator("article").count(), page.locator("a.now").count()) == (1, 1)
    # Beside it, not over it, and the passage is still to be seen.
    passage, side = page.locator("#t2").bounding_box(), panel.bounding_box()
    assert passage["x"] + passage["width"] <= side["x"]
    assert 0 <= passage["y"] < 800
    # The panel lists all sources of a place, and moved pieces.
    page.locator("#t3").click()
    assert "此处与 2 篇来源的文字相同" in panel.inner_text()
    assert panel.locator("article").count() == 2
    first = panel.locator("article").first
    assert [first.locator(f"mark{kind}").count() for kind in ("[data-piece]", ".moved")] == [6, 2]
    assert "语序有调整" in first.inner_text()
    panel.locator("button[data-do=close]").click()
    assert panel.is_hidden()
    assert page.locator("a.now").count() == 0


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
    page.locator(".strip a[data-p='120']").first.click()
    assert page.locator("#panel article").count() >= 1
    box = page.locator("a.copy.now").first.bounding_box()
    assert 0 <= box["y"] <= 800


def test_hostile_values_run_nothing(visit, tmp_path):
    report = reports.hostile()
    page = visit(page_of("hostile", "zh"))
    for run in page.locator("a.copy[id]").all():
        run.click()
        assert page.locator("#panel article").count() >= 1
        page.keyboard.press("Escape")
    page.locator("tr[data-source='1']").click()
    assert "U+202E" in page.title()
    assert page.evaluate("window.broken") is None
    # Nor in a report that was changed and saved.
    set_aside(page, "s1", "s2", "c1")
    page = visit(save(page, tmp_path, "#changed").read_bytes().decode())
    assert page.evaluate(PAPER_TEXT) == report.text
    assert page.evaluate("window.broken") is None
    assert page.locator("img, .paper b, .paper script").count() == 0


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
    papers = [CheckResult(name, report(), None) for name, report in REPORTS.items()]
    page = visit(render_summary(papers, ["a.html", None, "c.html", "d.html"]), 360)
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
    written = ReportFolder(
        names, inputs=names, page=str(tmp_path), json=None, language=language, force=False
    )
    for checked in check_files([folder], compare_papers=True, workers=1):
        written.write(checked)
    written.finish()
    page = visit("", 1280)
    page.goto((tmp_path / "index.html").as_uri())
    for width in (1280, 360):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert unreadable(page) == []
        assert accessibility_faults(page) == []
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
    page.emulate_media(media="print")
    assert page.locator("button").filter(visible=True).count() == 0
    assert "上一处" not in text
    assert "Previous" not in text
    assert ("[1]林某某" in text) == (name == "zh")


# What the reader sets aside, and the form of the report

THRESHOLDS = Thresholds(0.2, 0.35)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A paper of four sections and sources that share parts, one part of it in quotation marks."""
    rng = random.Random(5)
    folder = tmp_path_factory.mktemp("papers")
    parts = [letters(rng, rng.randint(30, 80)) for _ in range(7)]
    (folder / "library").mkdir()
    for number in range(4):
        chosen = [*rng.sample(parts, 3), parts[number]]
        text = "。".join(f"{part}。{letters(rng, 90)}" for part in chosen)
        (folder / "library" / f"{number}.txt").write_text(text, "utf-8")
    lines = []
    for number in range(1, 5):
        lines += [
            f"# {number} {letters(rng, 6)}",
            letters(rng, 120),
            "。".join(parts[number : number + 3]),
        ]
    (folder / "paper.md").write_text("\n\n".join([*lines, f"“{parts[0]}”"]), "utf-8")
    return folder


def checked(folder, **options):
    report = check(folder / "paper.md", folder / "library", **options)
    return replace(report, thresholds=THRESHOLDS)


def save(page, folder, button):
    """Save the page as it is now, by one of its buttons."""
    with page.expect_download() as download:
        page.locator(f"{button} button[data-do=save]").click()
    assert download.value.suggested_filename.endswith("-changed.html")
    path = folder / "changed.html"
    download.value.save_as(path)
    return path


def set_aside(page, *keys):
    for key in keys:
        page.locator(f"main button[data-aside={key}]").last.click()


def figures(page):
    """Return all that the page counts."""
    return page.evaluate(
        """() => {
          const texts = (selector, root = document) => [...root.querySelectorAll(selector)]
            .map((part) => part.textContent.trim());
          return {
            rates: texts("li[data-rate] .now"),
            numbers: texts("[data-number]"),
            verdict: texts(".verdict .now"),
            result: document.querySelector(".verdict").className,
            sections: texts("tr[data-section] .number"),
            sources: Object.fromEntries(
              [...document.querySelectorAll("tr[data-source]")].map((row) => {
                const cells = texts(".number", row);
                return [texts(".name bdi", row)[0], [cells[0], cells[1], cells[3]]];
              })
            ),
          };
        }"""
    )


def test_without_a_source_the_page_counts_as_the_command_does(visit, folder):
    wanted = {}
    for numbers in ("", "0", "1", "2", "3", "02", "123", "0123"):
        ids = [f"{number}.txt" for number in numbers]
        report = checked(folder, without_sources=ids)
        wanted[numbers] = figures(visit(report.to_html(language="en")))
        wanted[numbers]["sources"] |= {id: ["0%", "0", "0"] for id in ids}
    assert len({one["result"] for one in wanted.values()}) == 3
    report = checked(folder)
    page = visit(report.to_html(language="en"))
    for numbers, figures_without in wanted.items():
        keys = [f"s{n}" for n, source in enumerate(report.sources, 1) if source.id[0] in numbers]
        assert len(keys) == len(numbers)
        set_aside(page, *keys)
        assert figures(page) == figures_without
        # Each is undone where it was set aside.
        set_aside(page, *keys)
        assert figures(page) == wanted[""]


def recounted(report, without=None, given=()):
    """Return the three rates of a report without a passage, or without a section."""
    marks = Marks(report.text, [*report.asides, *(ExcludedSpan(*span, "given") for span in given)])
    spans = [[] for _ in report.sources]
    for number, passage in enumerate(report.passages):
        if number != without:
            spans[passage.source] += [(piece.begin, piece.end) for piece in passage.pieces]
    characters = [marks.add(of_source) for of_source in spans]
    copied = marks.copied
    counts = copied.sum(), (copied & ~marks.set_aside).sum(), max(characters)
    return [format_percent(marks.compute_rate(int(count))) for count in counts]


def test_passages_and_sections_are_counted_as_the_rates_are(visit, folder):
    report = checked(folder)
    page = visit(report.to_html(language="en"))
    for number in range(len(report.passages)):
        set_aside(page, f"p{number + 1}")
        assert figures(page)["rates"] == recounted(report, number)
        set_aside(page, f"p{number + 1}")
    for number, section in enumerate(report.sections, 1):
        set_aside(page, f"c{number}")
        span = section.begin, section.end
        assert figures(page)["rates"] == recounted(report, given=[span])
        row = page.locator(f"tr[data-section='{number}'] .number").last
        assert row.inner_text() == "0 / 0"
        set_aside(page, f"c{number}")
    assert page.locator("#bar").is_hidden()
    assert page.locator("#changed").is_hidden()


def test_hidden_passages_and_unlisted_sources_count_too(visit, folder):
    report = checked(folder, limits=ReportLimits(max_passages=2))
    assert len(report.passages) == 2
    without = checked(folder, without_sources=[report.sources[0].id])
    wanted = figures(visit(without.to_html(language="en")))["rates"]
    page = visit(report.to_html(language="en"))
    set_aside(page, "s1")
    assert figures(page)["rates"] == wanted


def test_the_page_writes_rates_as_the_report_does(visit, folder):
    """The rates of invented papers of a million characters, among them halves of a last digit."""
    page = visit(checked(folder).to_html(language="en"))
    html = page.content()
    for rate in (0, 1, 0.1225, 0.1275, 0.0005, 0.99951, 0.333333, 0.19999, 0.2, 0.35, 0.350001):
        copied = round(rate * 1_000_000)
        counts = json.loads(page.locator("#changed").get_attribute("data-counts"))
        counts["runs"] = [copied, 1_000_000 - copied]
        counts["sources"] = [[[0, 1]], *[[]] * (len(counts["sources"]) - 1)]
        counts["sections"] = [[0, 2] for _ in counts["sections"]]
        counts["passages"] = [[0, []] for _ in counts["passages"]]
        invented = escape(json.dumps(counts), quote=True)
        changed = re.sub('data-counts="[^"]*"', lambda _: f'data-counts="{invented}"', html)  # noqa: B023
        page = visit(changed)
        set_aside(page, "s2")
        shown = figures(page)
        assert shown["rates"][0] == format_percent(rate)
        assert shown["verdict"] == [str(THRESHOLDS.verdict(rate).sentence)]


def test_a_changed_report_is_saved_and_its_original_is_provable(visit, tmp_path):
    report = reports.small_zh(thresholds=Thresholds(0.1, 0.3))
    original = report.to_html(date=None)
    page = visit(original)
    set_aside(page, "s2", "c3", "p1")
    page.locator("#changed [name=by]").fill('林老师 "<b>')
    reason = "</script><img src=x onerror=window.broken=1> ' \" &quot;"
    page.locator("#changed input[data-key=s2]").fill(reason)
    wanted = figures(page)
    page.locator("#t3").click()
    page.locator("tr[data-source='1'] .number").first.click()
    text = save(page, tmp_path, "#bar").read_text("utf-8")
    assert text[:400].count('content="neardup check"') == 1
    digest = hashlib.sha256(report.text.encode()).hexdigest()
    for saved in (original, text):
        assert digest in saved
        assert report.number in saved
    # What is saved was shown: also without scripts.
    for scripts in (False, True):
        again = visit(text, scripts=scripts)
        assert figures(again) == wanted
        assert again.evaluate(PAPER_TEXT) == report.text
        assert again.locator("#changed tbody tr").count() == 3
        assert again.locator("#changed input[data-key=s2]").input_value() == reason
        assert again.locator("#changed tbody").inner_text().count('林老师 "<b>') == 3
        assert again.locator("#panel, #only").filter(visible=True).count() == 0
        assert again.locator("img").count() == 0
        assert again.evaluate("window.broken") is None
    for key in ("s2", "c3", "p1"):
        again.locator(f"#changed button[data-aside={key}]").click()
    assert figures(again) == figures(visit(original))


def test_excluded_text_has_the_colour_of_the_remaining_source(visit):
    report = reports.small_zh()
    page = visit(report.to_html())
    shared = page.locator("#t3")
    before = shared.get_attribute("class")
    set_aside(page, "s1")
    assert "c1 u1" in shared.get_attribute("class")
    assert shared.get_attribute("data-n") == "2"
    set_aside(page, "s2")
    assert "out" in shared.get_attribute("class").split()
    set_aside(page, "s1", "s2")
    assert shared.get_attribute("class") == before
    assert shared.get_attribute("data-n") == "1 +1"


def test_the_keyboard_sets_aside_and_the_page_is_accessible(visit):
    page = visit(reports.small_zh(thresholds=THRESHOLDS).to_html(language="en"))
    page.locator("tr[data-source='2'] button").focus()
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.textContent") == "Count again"
    assert "1." in page.locator("#bar").inner_text()
    page.locator("#bar a").focus()
    page.keyboard.press("Enter")
    assert page.url.endswith("#changed")
    for _ in range(3):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.dataset.key") == "s2":
            break
    page.keyboard.type("mine")
    # The panel has the same button, and both say the same.
    page.locator("#t3").click()
    page.locator("#panel button[data-aside=p3]").focus()
    page.keyboard.press("Enter")
    assert page.locator("button[data-aside=p3]").all_inner_texts() == ["Count again"] * 3
    assert page.locator("#changed input[data-key=s2]").input_value() == "mine"
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 800})
        page.keyboard.press("Escape")
        assert accessibility_faults(page) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert unreadable(page) == []
    page.locator("#changed button[data-aside=s2]").focus()
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.dataset.aside") == "s2"
