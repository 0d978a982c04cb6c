"""Texts of few letters: the same letters are the same text, whatever stands between them."""

import pytest

from neardup import Index, compare, dedup, pairs

SAME = [
    ("谢谢", "谢谢。"),
    ("OK", "ok!"),
    ("前方高能", "前方高能！！"),
    ("好的，谢谢", "好的谢谢"),
    ("谢谢，你的，帮助，祝好", "谢谢你的帮助祝好"),
    ("Thank you", "thank you!"),
]
OTHER = [
    ("谢谢", "谢谢你"),
    ("1.5", "15"),
    ("？", "！"),
    ("好的，谢谢", "好的，再见"),
    ("a1", "a2"),
]


@pytest.mark.parametrize(("a", "b"), [*SAME, *((b, a) for a, b in SAME)])
def test_the_same_letters_are_the_same_text(a, b):
    comparison = compare(a, b, recipe="general")
    assert (comparison.duplicate, comparison.similarity) == (True, 1)
    result = dedup([a, "别的一句话", b])
    assert result.keep.tolist() == [True, True, False]
    assert result.removed.to_pylist()[0]["similarity"] == 1
    assert pairs([a, "别的一句话", b]).table.num_rows == 1


@pytest.mark.parametrize(("a", "b"), OTHER)
def test_other_letters_or_numbers_are_another_text(a, b):
    assert not compare(a, b, recipe="general").duplicate
    assert len(dedup([a, b]).kept) == 2


def test_a_short_text_repeats_no_longer_one_though_it_lies_in_it():
    """Eight letters, of which nine have all: alike, but for a text of so few that is not enough."""
    assert len(dedup(["近似文本检测引擎", "近似文本检测引擎好"]).kept) == 2


def test_the_most_similar_one_that_counts_is_found():
    """The first is more similar than the second, but has too few features to count."""
    first, second = "近似文本检测引擎", "近似文本检测引擎好吗你"
    text = "近似文本检测引擎好"
    assert compare(first, text).similarity > compare(second, text).similarity
    (removed,) = dedup([first, second, text]).removed.to_pylist()
    assert removed["kept_id"] == "1"


def test_an_index_decides_alike(tmp_path):
    texts = [f"{a}{mark}" for a in "好谢行对嗯" for mark in ("", "。", "！", "…", "~")]
    with Index(tmp_path / "index") as index:
        added = [index.add(str(at), text) is not None for at, text in enumerate(texts)]
    assert added == [not keep for keep in dedup(texts).keep]
    assert sum(added) == 20
