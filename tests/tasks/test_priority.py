"""Which of several duplicates stays: priorities by position, length and fields."""

import numpy as np
import pytest

from neardup import ParameterError, dedup
from neardup.base.priority import priority_order

BODY = "城市公园\n今天的天气非常好，我们去公园散步，然后去图书馆读书。"


def kept_of(rows, **options):
    return [row["id"] for row in dedup(rows, **options).kept]


def scored(*values):
    return [{"id": str(index), "text": BODY, "score": value} for index, value in enumerate(values)]


@pytest.mark.parametrize(
    ("values", "first"),
    [
        (["0.5", "0.25", ""], "1"),
        (["", "  ", "7"], "2"),
        (["3", "-4", "2"], "1"),
        (["1712345678901234568", "1712345678901234567"], "1"),
        (["2024-12-1", "2024-3-9", ""], "1"),
        (["a10", "a9"], "1"),
        (["9" * 5000 + "b", "8" * 5000 + "b"], "1"),
        ([None, 3.5, float("nan"), 2], "3"),
    ],
)
def test_the_smallest_value_stays(values, first):
    assert kept_of(scored(*values), priority="field:score") == [first]


def test_ties_stay_in_input_order_in_both_directions():
    readable = np.ones(4, bool)
    values = {"x": [1, 2, 1, 2], "y": [None, 1, 2, 3]}
    for priority, wanted in (
        ("field:x", [0, 2, 1, 3]),
        ("field:x:desc", [1, 3, 0, 2]),
        ("field:x,last", [2, 0, 3, 1]),
        ("field:x,field:y:desc", [2, 0, 3, 1]),
        ("field:x:desc,field:y", [1, 3, 2, 0]),
        ("field:y:desc,first", [3, 2, 1, 0]),
        ("last,field:x", [3, 2, 1, 0]),
    ):
        assert priority_order(priority, readable, [], values).tolist() == wanted


def test_the_longest_of_those_with_the_best_value_stays():
    records = [
        {"id": 0, "text": "渡船早上八点从东码头开出", "rank": 1},
        {"id": 1, "text": "渡船早上八点从东码头开出。", "rank": 2},
        {"id": 2, "text": "渡船早上八点从东码头开出！！", "rank": 2},
    ]
    assert kept_of(records, priority="field:rank:desc,longest") == [2]
    assert kept_of(records, priority="field:rank,longest") == [0]
    for wrong in ("field:rank,", "longest,newest", ","):
        with pytest.raises(ParameterError, match="several of these with commas"):
            dedup(records, priority=wrong)
