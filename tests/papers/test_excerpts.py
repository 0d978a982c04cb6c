"""What is shown around a passage, and which words of it are edited."""

import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.hostile import texts

from neardup.papers.edits import folding, replacements
from neardup.papers.report.excerpts import around

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


PLAIN = folding(variants=False)


def edited(one, other, fold):
    """Return the words of both texts that the other one does not have."""
    places = list(replacements(one, other, fold))
    return [[place[side] for place in places if place[side][0] < place[side][1]] for side in (0, 1)]


def parts(one, other, fold=PLAIN):
    here, there = edited(one, other, fold)
    return [one[a:b] for a, b in here], [other[a:b] for a, b in there]


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("社区图书馆承担着任务。", "社区图书馆，肩负着任务", (["承担"], ["肩负"])),
        ("离居民最近", "距离居民很近的", (["最"], ["距", "很", "的"])),
        ("It was mended twice.", "it was REPAIRED twice", (["mended"], ["REPAIRED"])),
        ("ＡＢ１２，好", "ab12好", ([], [])),
        ("", "好", ([], ["好"])),
        ("好", "", (["好"], [])),
        ("山水", "鸟鱼", (["山水"], ["鸟鱼"])),
        ("甲。乙丙丁", "戊。己丙丁", (["甲。乙"], ["戊。己"])),
    ],
)
def test_edits(one, other, expected):
    assert parts(one, other) == expected


def test_traditional_characters_are_no_edits():
    assert parts("漢字之內", "汉字之内", folding(variants=True)) == ([], [])
    assert parts("漢字之內", "汉字之内")[0] == ["漢", "內"]


@given(texts(), texts())
@example("\u3099", "\uff9e")
def test_what_is_no_edit_is_equal(one, other):
    here, there = edited(one, other, PLAIN)
    left = []
    for text, spans in ((one, here), (other, there)):
        assert all(0 <= begin < end <= len(text) for begin, end in spans)
        assert spans == sorted(spans)
        at, rest = 0, ""
        for begin, end in spans:
            assert begin >= at
            rest += text[at:begin]
            at = end
        rest += text[at:]
        # The sound mark of kana is a letter only in its narrow form.
        folded = [PLAIN(character) for character in rest if character.isalnum()]
        left.append("".join(filter(str.isalnum, folded)))
    assert left[0] == left[1]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("一二三" * 20_000, "一三二" * 20_000),
        (LONG * 2000, LONG[::-1] * 2000),
        ("一" * 60_000, "二"),
    ],
)
def test_long_ones_take_no_long_time(one, other):
    begin = time.process_time()
    edited(one, other, PLAIN)
    assert time.process_time() - begin < 10
