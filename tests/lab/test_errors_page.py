"""The page of errors: rows of differences, escaped, in both languages, at each width."""

import json

import pytest
from tests.browser import Tabs, running
from tests.conftest import ROOT

from neardup.lab import evaluate_pairs
from neardup.lab.experiments.labelled_pairs.differences import differing_rows
from neardup.lab.experiments.labelled_pairs.errors_page import errors_page

EXAMPLES = ROOT / "examples" / "evaluate"
HOSTILE = "<script>window.broken = 1</script><b>\u202e‮ & 渡船"


def shown(side):
    return "".join(text for stretch in side.stretches for text, _ in stretch.parts)


def marked(side):
    return [text for stretch in side.stretches for text, differs in stretch.parts if differs]


def test_rows_show_differences_with_the_words_around_them():
    same = "水位平稳，来往船只照常通行。" * 12
    a = f"渡船九点开出。{same}票价四元。{same}"
    b = f"渡船十点开出。{same}票价四元五角。{same}"
    first, second = differing_rows(a, b)
    assert (marked(first.a), marked(first.b)) == (["九"], ["十"])
    assert (marked(second.a), marked(second.b)) == ([], ["五角"])
    assert not first.a.more_before
    assert first.a.more_after
    assert second.a.more_before
    assert "票价四元" in shown(second.a)
    assert len(shown(second.a)) < 200


def test_texts_without_a_difference_have_one_row():
    (row,) = differing_rows("渡船 九点开出。", "渡船九点，开出！")
    assert marked(row.a) == marked(row.b) == []
    assert shown(row.a) == "渡船 九点开出。"
    (row,) = differing_rows("", "")
    assert shown(row.a) == ""


def test_a_long_difference_is_shortened_and_counted():
    (row,) = differing_rows("甲" * 900, "乙" * 100)
    assert len(shown(row.a)) < 350
    assert " … 580 … " in shown(row.a)
    assert marked(row.b) == ["乙" * 100]


def test_many_differences_make_several_rows(write):
    a = write("many", 80)
    b = a.replace("了", "过了")
    rows = differing_rows(a, b)
    assert len(rows) > 3
    assert max(len(shown(row.b)) for row in rows) < 700
    # Nothing is left out, and nothing is shown twice.
    assert "".join(shown(row.a) for row in rows) == a
    assert "".join(shown(row.b) for row in rows) == b


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
    message = {"zh": "较短一篇有", "en": "of the shorter text is aligned"}
    assert page.count(message[language]) == len(errors)
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
                    page.locator("article .side").nth(index).bounding_box() for index in (0, 1)
                )
                if width == 360:
                    assert left["y"] + left["height"] <= right["y"]
                else:
                    assert left["x"] + left["width"] <= right["x"]
        assert tabs.leave() == []
