"""Parts of pages: words in both languages, excerpts, and two texts side by side."""

import re
import string
from pathlib import Path

import pytest
import translate
from hypothesis import given
from hypothesis import strategies as st
from tests.kit.strategies import texts

import neardup
from neardup.pages.excerpts import extend_span
from neardup.pages.words import Words
from neardup.papers.alignment import align_sides

ROOT = Path(neardup.__file__).parent
TEMPLATES = ROOT / "pages" / "templates"


def placeholders(text):
    return sorted(name for _, name, _, _ in string.Formatter().parse(text) if name)


def test_words_of_pages_have_the_same_places_in_both_languages():
    entries = [entry for entry in translate.chinese() if entry.context]
    assert len(entries) > 400
    for entry in entries:
        assert re.search("[\u4e00-\u9fff]", entry.id) is None
        assert placeholders(entry.id) == placeholders(entry.string)
        names = placeholders(entry.id)
        for language, sentence in (("en", entry.id), ("zh", entry.string)):
            expected = sentence.format(**dict.fromkeys(names, "1,234"))
            values = dict.fromkeys(names, 1234)
            assert Words(language)(entry.id, entry.context, **values) == expected


PASSAGE = "渡口的新渡轮下周一试航"
LONG = "潮水退去以后，沙洲上留下了许多贝壳，孩子们提着篮子去捡。"


def shown(before, after=""):
    """Return the text that is shown on both sides of a passage."""
    text, begin, end = before + PASSAGE + after, len(before), len(before + PASSAGE)
    first, last = extend_span(text, begin, end)
    return text[first:begin], text[end:last]


WORDS = "one more of these 1234.5 words "


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ("", ""),
        (LONG * 4 + "\n1.1 研究背景\n", "1.1 研究背景\n"),
        (LONG * 4 + "\n1.1 研究背景\n\n　　", "1.1 研究背景\n\n　　"),
        (LONG * 4, LONG * 2),
        ("贝壳" * 50 + "，篮子" * 9, "篮子" + "，篮子" * 8),
        ("贝壳" * 50, "贝壳" * 30),
        (WORDS * 9, WORDS.removeprefix("one ") + WORDS),
        ("x" * 99, "x" * 60),
    ],
)
def test_before(before, expected):
    assert shown(before)[0] == expected


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        ("", ""),
        ("。\n下一段。", "。"),
        ("，" + LONG * 4, "，" + LONG * 2),
        ("贝壳" * 50, "贝壳" * 30),
        (f" {WORDS[:-1]}" * 9, f" {WORDS}one more of these 1234.5 "),
        ("x" * 99, "x" * 60),
    ],
)
def test_behind(after, expected):
    assert shown("", after)[1] == expected


@given(texts(), texts(), texts())
def test_bounds(before, passage, after):
    begin, end = len(before), len(before + passage)
    first, last = extend_span(before + passage + after, begin, end)
    assert max(begin - 60, 0) <= first <= begin
    assert end <= last <= min(end + 60, end + len(after))


NOTICE = (
    "市图书馆将于本周六上午九点重新开放，新馆增加了三百个座位和一间儿童阅览室。\n"
    "读者凭身份证或者借书证入馆，周一闭馆，晚上开放到九点半。"
)
FERRY = "渡口的新渡轮下周一试航，票价与旧船相同，老人与孩子免费乘坐。"


def parts(side):
    """Yield the text as the template writes it, runs and parts within pieces, and if it differs."""
    for run in side.marks.iterate_runs():
        if run.passages:
            yield from side.split_run(run)
        else:
            yield side.text[run.begin : run.end], False


def text_of(side):
    return "".join(text for text, _ in parts(side))


def marked(side):
    return [text for text, differs in parts(side) if differs]


@given(st.text(max_size=60), st.text(max_size=60), st.text(max_size=300))
def test_every_character_is_shown_once(head, tail, middle):
    a = f"{head}{NOTICE}{middle}{FERRY}"
    b = f"{FERRY}{tail}{NOTICE.replace('三百', '四百')}{head}"
    sides = align_sides(a, b)
    assert text_of(sides.a) == a
    assert text_of(sides.b) == b


def test_only_the_edits_are_marked():
    sides = align_sides(NOTICE, NOTICE.replace("三百个", "三百五十个").replace("周一", "周二"))
    assert marked(sides.a) == ["一"]
    assert marked(sides.b) == ["五十", "二"]


def test_moved_sentences_lead_to_their_own_places():
    a, b = NOTICE + FERRY, FERRY + NOTICE
    sides = align_sides(a, b)
    assert len(sides.pieces) == 2
    for span, source in sides.pieces:
        piece, copy = a[slice(*span)], b[slice(*source)]
        assert piece in copy or copy in piece
    # A link from each side leads to a run that has that name.
    for side, target in ((sides.a, sides.b), (sides.b, sides.a)):
        names = {run.first[0] for run in target.marks.iterate_runs() if run.first}
        numbers = {run.passages[0] for run in side.marks.iterate_runs() if run.passages}
        assert {target.marks.anchors[number] for number in numbers} <= names


def test_short_texts_show_shared_text():
    sides = align_sides("新渡轮下周一试航", "新渡船下周一试航了")
    assert (len(sides.pieces), marked(sides.b)) == (1, ["船"])


def test_texts_without_shared_text_have_no_pieces():
    sides = align_sides("甲乙丙丁", "ABCD")
    assert sides.pieces == []
    assert text_of(sides.a) == "甲乙丙丁"
