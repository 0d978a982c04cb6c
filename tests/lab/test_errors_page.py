"""The page of errors: texts beside each other, escaped, in both languages, at each width."""

import json

import pytest
from tests.browser import Tabs, running
from tests.conftest import ROOT

from neardup.base.messages import in_language
from neardup.lab import evaluate_pairs
from neardup.lab.experiments.labelled_pairs.errors_page import errors_page

EXAMPLES = ROOT / "examples" / "evaluate"
HOSTILE = "<script>window.broken = 1</script><b>\u202e‮ & 渡船"


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    """An evaluation with both kinds of errors, and with hostile texts, ids and labels."""
    folder = tmp_path_factory.mktemp("errors")
    docs = (EXAMPLES / "documents.jsonl").read_text("utf-8")
    text = "公告：" + HOSTILE + "明天起夜渡改点，末班船推迟到十点二十，票价仍是四元，请旅客留意。"
    records = [
        {"id": HOSTILE, "title": HOSTILE, "text": text},
        {"id": "other", "title": None, "text": text.replace("四", "五")},
    ]
    added = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    (folder / "docs.jsonl").write_text(docs + added, "utf-8")
    pairs = (EXAMPLES / "pairs.tsv").read_text("utf-8")
    hostile = HOSTILE.replace("\t", " ")
    pairs += f"{hostile}\tother\t{hostile}\t{hostile}\n" + "ferry\tlevel-monday\tyes\tlow\n"
    (folder / "pairs.tsv").write_text(pairs, "utf-8")
    return evaluate_pairs(folder / "docs.jsonl", folder / "pairs.tsv", recipes=["general"])


@pytest.mark.parametrize("language", ["zh", "en"])
def test_the_page_has_all_errors_with_their_reasons(result, language):
    page = errors_page(result, language=language)
    errors = result.mistakes(found=True) + result.mistakes(found=False)
    assert len(errors) >= 2
    assert page.count("<article") == len(errors)
    assert "<script" not in page
    assert "\u202e" not in page
    assert f"{result.choice.default.accuracy.scores.f1:.3f}" in page
    for place in errors:
        assert f"<p>{in_language(result.evidence[place].verdict, language)}</p>" in page
    # Both texts are whole, with what differs marked.
    assert page.count('class="pane"') == 2 * len(errors)
    assert '<em class="differs">' in page
    assert page == errors_page(result, language=language)


@pytest.mark.slow
def test_a_browser_shows_the_page_at_each_width(result, tmp_path):
    path = tmp_path / "errors.html"
    with running() as browser, Tabs(browser) as tabs:
        for language in ("zh", "en"):
            path.write_text(errors_page(result, language=language), "utf-8")
            for width in (1280, 800, 360):
                page = tabs.open(width, lambda url: url == path.as_uri())
                page.goto(path.as_uri())
                assert page.evaluate("document.documentElement.scrollWidth") <= width
                assert page.evaluate("window.broken") is None
                left, right = (
                    page.locator("article .pane").nth(index).bounding_box() for index in (0, 1)
                )
                if width < 900:
                    assert left["y"] + left["height"] <= right["y"]
                else:
                    assert left["x"] + left["width"] <= right["x"]
        assert tabs.leave() == []
