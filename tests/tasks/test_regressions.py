"""Cases that went wrong once: each has the input that showed it."""

import numpy as np
import pytest

from neardup import (
    InputError,
    ParameterError,
    dedup,
    fingerprint_many,
    load_recipe,
    near_pairs,
    pairs,
)
from neardup.base.priority import priority_order
from neardup.readers import open_table
from neardup.run.collected import Collected
from neardup.run.pipeline import Pipeline
from neardup.run.run_options import RunOptions

BODY = "城市公园\n今天的天气非常好，我们去公园散步，然后去图书馆读书。"
IMPROVED = load_recipe("improved").replace(weigh={"idf": "bundled"})


def kept_of(rows, **options):
    return [row["id"] for row in dedup(rows, **options).kept]


@pytest.mark.parametrize("batch_records", [1, 2, 100])
def test_first_lines_are_taken_record_by_record(batch_records):
    rows = [{"text": BODY}, {"text": BODY, "title": "别的"}, {"text": BODY}]
    batches = open_table(rows).batches(titles=True, batch_records=batch_records)
    options = RunOptions(recipe=IMPROVED, max_text=1 << 20, title_from_first_line=True)
    pipeline = Pipeline(options)
    collected = Collected(IMPROVED, pipeline.corpus(IMPROVED))
    assert sum(map(len, pipeline.push(batches, collected))) == len(rows)
    collected.corpus.finish()
    words = collected.corpus.fingerprints().ravel().tolist()
    assert words[0] == words[2] != words[1]


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


def test_a_segmenter_that_finds_nothing_leaves_no_sketch():
    for idf in ("corpus", "bundled"):
        recipe = load_recipe("keywords").replace(
            segment={"units": "tests.golden.segmenters:nothing"}, weigh={"idf": idf}
        )
        assert not fingerprint_many([BODY, "another text"], recipe=recipe).any()


def test_repeats_of_one_unit_are_one_feature():
    """Such a fingerprint says nothing of the text, so only equal texts are equal."""
    assert len(dedup(["啊" * 6, "啊" * 30]).kept) == 2
    assert len(dedup(["啊" * 30, "啊" * 30]).kept) == 1


@pytest.mark.parametrize("recipe", ["characters", "shingle"])
def test_one_text_many_times_is_verified_once(recipe):
    edited = BODY.replace("公园散步", "公园划船")
    result = pairs([BODY] * 300 + [edited], threshold=0.5, recipe=recipe)
    assert len(result.table) == 301 * 300 // 2
    assert result.summary.candidates == 1


def test_more_pairs_than_can_be_listed_are_an_error():
    with pytest.raises(InputError, match="268435456"):
        near_pairs(np.full(30_000, 7, np.uint64))
    with pytest.raises(InputError, match="as many as the memory limit holds"):
        pairs([BODY] * 30_000, memory="1GB")


@pytest.mark.parametrize(
    ("stage", "settings"),
    [
        ("decide", {"shingle": 2**70}),
        ("decide", {"min_features": 2**33}),
        ("segment", {"k": 65}),
        ("weigh", {"top": 2**70}),
        ("sketch", {"bits": 64.0}),
        ("sketch", {"tie": 1.0}),
    ],
)
def test_numbers_beyond_all_bounds(stage, settings):
    name = f"{stage}.{next(iter(settings))}"
    with pytest.raises(ParameterError, match=f"'{name}' parameter must be"):
        load_recipe("characters").replace(**{stage: settings})
