"""Questions that the machine does not ask: copies kept by hand, near misses, settings."""

from datetime import UTC, datetime

import pytest
from tests.index.databases import BOTH
from tests.index.written import NUMBERS, PEARS

from neardup import load_recipe

EXACT = load_recipe("shingle").replace(decide={"threshold": 0.3})
OPTIONS = {"recipe": EXACT}


@BOTH
@pytest.mark.parametrize("text", [NUMBERS, "。。", ""])
def test_copies_kept_by_hand_are_all_identical(index, text):
    for id in ("a", "b", "c"):
        index.add(id, text)
    index.keep("c")
    matches = [(match.id, match.identical) for match in index.query(text)]
    assert matches == [("a", True), ("c", True)]


@BOTH
def test_near_misses_are_the_most_similar_other_documents(index):
    index.add("numbers", NUMBERS)
    index.add("pears", PEARS)
    text = NUMBERS[:30] + " and then something else entirely, told at length."
    assert index.query(text) == []
    (miss,) = index.near_misses(text)
    assert miss.id == "numbers"
    assert 0 < miss.similarity < index.stats().threshold
    assert index.near_misses(NUMBERS) == index.near_misses("。。。") == []


@BOTH
def test_stats_have_the_settings(index):
    index.add("a", NUMBERS)
    stats = index.stats()
    assert "neardup:" not in stats.location
    assert stats.bytes > 1000
    assert (stats.recipe_id, stats.scheme, stats.background_texts) == (EXACT.id, "prefix", None)
    assert (stats.measure, stats.threshold, stats.max_distance) == ("resemblance(5)", 0.3, None)
    assert abs(datetime.now(UTC) - stats.created).total_seconds() < 600
