"""The page in which a browser runs the engine: what the command gives, and nothing sent."""

import json
import os
import subprocess
import sys

import pytest
from tests import forks, needs
from tests.browser import accessibility_faults, unreadable

import neardup

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("engine in a browser")]

PAGES = ("try.html", "try.zh.html")
WIDTHS = (1200, 390)


#: Settings for an engine that is compiled in half the time, and larger and slower.
QUICK = {
    "CARGO_PROFILE_WEB_OPT_LEVEL": "0",
    "CARGO_PROFILE_WEB_LTO": "off",
    "CARGO_PROFILE_WEB_CODEGEN_UNITS": "16",
    "CARGO_PROFILE_WEB_DEBUG": "false",
}


@pytest.fixture(scope="module")
def pages(root, tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    command = [sys.executable, root / "docs" / "browser" / "make_pages.py", folder]
    # `make site` has compiled the engine of the page as it is published.
    environment = os.environ | ({} if (root / ".site").exists() else QUICK)
    made = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    if not (folder / PAGES[0]).exists():
        assert "left out" in made.stderr
        pytest.skip(needs.WASM)
    return folder


@pytest.fixture
def visit(pages, tabs):
    def open_page(name="try.html", width=1200):
        page = tabs.open(width, lambda url: url.startswith(("file:", "blob:null", "data:")))
        page.goto((pages / name).as_uri())
        return page

    yield open_page
    assert tabs.leave() == []


def compare(page, a, b):
    page.fill("#a", a)
    page.fill("#b", b)
    page.click("#compare button")
    page.wait_for_selector("#compared .panes, #compared .problem")


def clean(page, content):
    file = {"name": "in.jsonl", "mimeType": "application/x-ndjson", "buffer": content}
    page.set_input_files("#file", file)
    page.click("#dedup button")
    page.wait_for_selector("#cleaned .verdict, #cleaned .problem")


def save(page, number):
    with page.expect_download() as download:
        page.locator("#cleaned a").nth(number).click()
    return download.value.path().read_bytes()


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("width", WIDTHS)
def test_a_page_as_it_is_opened(visit, name, width):
    page = visit(name, width)
    page.click("#compare button")
    page.wait_for_selector("#compared .panes")
    assert page.locator("#compared .figure.yes").count() == 1
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert unreadable(page) == []
    assert accessibility_faults(page) == []
    other = page.locator(".switch a").get_attribute("href")
    assert {name, other} == set(PAGES)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("渡口的新渡轮下周一试航", "渡口的新渡轮下周一试航！"),
        ("渡口的新渡轮下周一试航", "渡口的新渡船下周二试航，票价另行公布"),
        ("Ferry: 310 passengers on 8 crossings.", "Ferry: 745 passengers on 9 crossings."),
        ("<b>a</b> 🛥 新渡轮 & ferry", "</script>🛥 新渡轮 & ferry"),
        ("……", "……"),
    ],
)
def test_verdict_equals_the_one_of_the_command(visit, a, b):
    page = visit()
    compare(page, a, b)
    expected = neardup.compare(a, b)
    assert page.inner_text("#compared .figure") == f"{expected.similarity:.4f}"
    assert page.locator("#compared .figure.yes").count() == expected.duplicate
    values = page.locator("#compared dd").all_inner_texts()
    evidence = expected.evidence
    shares = (expected.resemblance, expected.containment_a, expected.containment_b)
    numbers = (evidence.numbers_agree, evidence.numbers_replaced)
    assert values == [f"{share:.4f}" for share in shares] + list(map(str, numbers))
    assert page.locator("#compared .paper p").all_text_contents() == [a, b]


def test_differences_are_marked(visit):
    page = visit()
    compare(page, "渡口的新渡轮下周一试航。", "渡口的新渡轮，下周二试航？")
    assert page.locator("#compared em").all_inner_texts() == ["一", "二"]


def test_a_collection_is_cleaned_as_by_the_command(visit, root, tmp_path):
    source = root / "examples" / "articles.jsonl"
    page = visit("try.zh.html", 390)
    clean(page, source.read_bytes())
    kept, removals = tmp_path / "kept.jsonl", tmp_path / "removed.jsonl"
    options = ("-o", str(kept), "--removed", str(removals), "--quiet")
    assert forks.run(forks.run_command, "dedup", str(source), *options).returncode == 0
    assert save(page, 0) == kept.read_bytes()
    removed, expected = (
        [json.loads(line)["similarity"] for line in content.splitlines()]
        for content in (save(page, 1), removals.read_bytes())
    )
    assert removed == expected
    assert page.locator("#cleaned tbody tr").count() == len(removed) > 0
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b'{"text": "one"}\n{"text": \n', "Line 2 is not JSON"),
        (b'{"title": "one"}\n', "Line 1 has no text"),
        (b"null\n", "Line 1"),
        (b'{"text": "a"}\n{"text": "\\ud800"}\n', "line 2"),
        (b"\xff\xfe", "not UTF-8"),
    ],
)
def test_unreadable_file_is_refused(visit, content, expected):
    page = visit()
    clean(page, content)
    assert expected in page.inner_text("#cleaned .problem")


def test_missing_input_is_asked_for(visit):
    page = visit()
    compare(page, "one", "  ")
    assert "empty" in page.inner_text("#compared .problem")
    page.click("#dedup button")
    page.wait_for_selector("#cleaned .problem")
    assert "No file" in page.inner_text("#cleaned .problem")
