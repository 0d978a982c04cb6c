"""What is shown around a passage."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.hostile import texts

from neardup.pages.excerpts import around

PASSAGE = "渡口的新渡轮下周一试航"
LONG = "潮水退去以后，沙洲上留下了许多贝壳，孩子们提着篮子去捡。"


def shown(text, passage=PASSAGE):
    begin = text.index(passage)
    first, last = around(text, begin, begin + len(passage))
    return text[first:begin], text[begin + len(passage) : last]


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ("", ""),
        (LONG * 4 + "\n1.1 研究背景\n", "1.1 研究背景\n"),
        (LONG * 4 + "\n1.1 研究背景\n\n　　", "1.1 研究背景\n\n　　"),
        (LONG * 4, LONG * 2),
        ("贝壳" * 50 + "，篮子" * 9, "篮子" + "，篮子" * 8),
        ("贝壳" * 50, "贝壳" * 30),
        (
            "one more of these 1234.5 words " * 9,
            "more of these 1234.5 words " + "one more of these 1234.5 words ",
        ),
        ("x" * 99, "x" * 60),
    ],
)
def test_before(before, expected):
    assert shown(before + PASSAGE)[0] == expected


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        ("", ""),
        ("。\n下一段。", "。"),
        ("，" + LONG * 4, "，" + LONG * 2),
        ("贝壳" * 50, "贝壳" * 30),
        (" and it was 1234.5 words " * 9, None),
        ("x" * 99, "x" * 60),
    ],
)
def test_behind(after, expected):
    found = shown(PASSAGE + after)[1]
    if expected is None:
        assert after.startswith(found)
        assert len(found) <= 60
        assert after[len(found) - 1 : len(found) + 1].count(" ") == 1
    else:
        assert found == expected


@given(texts(), st.integers(0, 300), st.integers(0, 300))
def test_bounds(text, begin, length):
    begin = min(begin, len(text))
    end = min(begin + length, len(text))
    first, last = around(text, begin, end)
    assert max(begin - 60, 0) <= first <= begin
    assert end <= last <= min(end + 60, len(text))
