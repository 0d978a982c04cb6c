"""Edits: the words of a text that another one does not have."""

import time

import pytest
from hypothesis import example, given
from tests.kit.strategies import texts

from neardup.papers.edits import find_replacements, make_fold

LONG = "潮水退去以后，沙洲上留下了许多贝壳，孩子们提着篮子去捡。"

PLAIN = make_fold()


def edited(a, b, fold):
    """Return the spans of words of both texts that the other one does not have."""
    places = list(find_replacements(a, b, fold))
    return [[place[side] for place in places if place[side][0] < place[side][1]] for side in (0, 1)]


def parts(a, b, fold=PLAIN):
    spans, other_spans = edited(a, b, fold)
    return [a[begin:end] for begin, end in spans], [b[begin:end] for begin, end in other_spans]


@pytest.mark.parametrize(
    ("a", "b", "expected"),
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
def test_edits(a, b, expected):
    assert parts(a, b) == expected


def test_traditional_characters_are_no_edits():
    assert parts("漢字之內", "汉字之内") == ([], [])


def test_points_are_no_edits():
    assert parts("كَتَبَ الرسالةَ أمس", "كتب الرساله امس") == ([], [])
    assert parts("שָׁלוֹם לכם", "שלום להם") == (["לכם"], ["להם"])


@given(texts(), texts())
@example("\u3099", "\uff9e")
def test_text_between_edits_is_equal(a, b):
    left = []
    for text, spans in zip((a, b), edited(a, b, PLAIN), strict=True):
        assert all(0 <= begin < end <= len(text) for begin, end in spans)
        bounds = [0, *(bound for span in spans for bound in span), len(text)]
        assert bounds == sorted(bounds)
        rest = "".join(
            text[begin:end] for begin, end in zip(bounds[::2], bounds[1::2], strict=True)
        )
        # The sound mark of kana is a letter only in its narrow form.
        folded = [PLAIN(character) for character in rest if character.isalnum()]
        left.append("".join(filter(str.isalnum, folded)))
    assert left[0] == left[1]


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("一二三" * 8_000, "一三二" * 8_000),
        (LONG * 800, LONG[::-1] * 800),
        ("一" * 24_000, "二"),
    ],
    ids=["repeated", "reversed", "uneven"],
)
def test_long_ones_take_no_long_time(a, b):
    begin = time.process_time()
    edited(a, b, PLAIN)
    assert time.process_time() - begin < 4
