"""Recipes that decide by containment and by edit similarity, from end to end."""

import random

import pytest
from tests.run.plans import plan

from neardup import Index, compare, dedup, load_recipe, pairs
from neardup.exceptions import IndexMismatchError, ParameterError

NOTICE = (
    "The harbour bridge closes on Saturday night for repairs to its cables. Buses take the road "
    "along the river, and the ferry runs until midnight."
)
REPLY = (
    f"You wrote: {NOTICE} My question is about the refund of the night tickets that my family "
    "bought in March. The toll office says that it knows of no refund, and sends us to you. "
    "Who decides about it, and until when must we ask?"
)


def by(direction):
    return load_recipe("containment").replace(decide={"direction": direction})


def written(rng, length):
    return "".join(chr(rng.randrange(0x4E00, 0x9000)) for _ in range(length))


@pytest.mark.parametrize(
    ("direction", "part_first", "whole_first"),
    [
        ("contained", [NOTICE, REPLY], [REPLY]),
        ("either", [NOTICE], [REPLY]),
        ("both", [NOTICE, REPLY], [REPLY, NOTICE]),
    ],
)
def test_direction_chooses_the_dropped_text(direction, part_first, whole_first, tmp_path):
    recipe = by(direction)
    assert dedup([NOTICE, REPLY], recipe=recipe).kept == part_first
    result = dedup([REPLY, NOTICE], recipe=recipe)
    assert result.kept == whole_first
    assert {row["measure"] for row in result.removed.to_pylist()} <= {"containment(5)"}
    for order, kept in (([NOTICE, REPLY], part_first), ([REPLY, NOTICE], whole_first)):
        with Index(str(tmp_path / f"{order[0] == REPLY}.db"), recipe=recipe) as index:
            new = [text for text in order if index.add(text[:9], text) is None]
        assert new == kept


@pytest.mark.parametrize("many", [[NOTICE, REPLY], [REPLY, NOTICE]])
def test_pair_has_no_kept_text_and_the_longest_one_may_stay(many):
    for direction, number in (("contained", 1), ("either", 1), ("both", 0)):
        assert pairs(many, recipe=by(direction)).table.num_rows == number
    assert dedup(many, recipe="containment", priority="longest").kept == [REPLY]


def test_compare_names_the_contained_text():
    for texts, lies in (
        ((NOTICE, REPLY), "B contains A"),
        ((REPLY, NOTICE), "A contains B"),
        ((REPLY, REPLY + "!"), "each contains the other"),
    ):
        comparison = compare(*texts, recipe="containment")
        assert comparison.duplicate
        assert lies in comparison.verdict
    comparison = compare(NOTICE, REPLY[120:], recipe="containment")
    assert not comparison.duplicate
    assert "lies in" not in comparison.verdict


def test_a_form_lies_in_no_other_text():
    rng = random.Random(5)
    form = written(rng, 200)
    many = [
        form + written(rng, 60) + ("" if index % 2 else written(rng, 900)) for index in range(40)
    ]
    assert dedup(many, recipe="containment").kept == many
    plain = load_recipe("containment").replace(decide={"common": "none", "threshold": 0.7})
    assert len(dedup(many, recipe=plain).kept) < len(many)


@pytest.mark.parametrize(("times", "least"), [(2, 80), (20, 72)])
@pytest.mark.parametrize("whole_first", [False, True])
def test_parts_are_found_in_texts_many_times_as_long(times, least, whole_first):
    """Each of 80 parts is 400 characters long, one in ten of which were changed."""
    rng = random.Random(times)
    parts, wholes = [], []
    for _ in range(80):
        part = written(rng, 400)
        position = rng.randrange(400 * (times - 1))
        rest = written(rng, 400 * (times - 1))
        wholes.append(rest[:position] + part + rest[position:])
        start = rng.randrange(360)
        parts.append(part[:start] + written(rng, 40) + part[start + 40 :])
    many = wholes + parts if whole_first else parts + wholes
    assert pairs(many, recipe="containment").table.num_rows >= least
    if whole_first:
        dropped = dedup(many, recipe="containment").removed.to_pylist()
        assert len(dropped) >= least
        assert all(int(row["id"]) - int(row["kept_id"]) == 80 for row in dropped)


def test_edit_similarity_counts_words_in_order():
    a = "The ferry to the northern island leaves the old harbour every morning at eight sharp"
    b = a.replace("northern", "southern").replace("old", "new")
    comparison = compare(a, b, recipe="aligned")
    assert comparison.measure == "aligned"
    assert comparison.similarity == comparison.evidence.aligned_similarity == 13 / 15
    assert comparison.duplicate
    assert dedup([a, b], recipe="aligned").removed.to_pylist()[0]["similarity"] == 13 / 15
    assert dedup([a, b], recipe="aligned", threshold=0.9).kept == [a, b]


def test_texts_without_words_are_compared_as_they_are():
    many = ["。，！？；：。，", "。，！？；：。，", "。，！？；：。！"]
    assert dedup(many, recipe="aligned").kept == many[::2]
    assert compare(many[0], many[2], recipe="aligned").similarity == 0.0


@pytest.mark.parametrize(("edited", "duplicates"), [(0.1, 50), (0.2, 50), (0.25, 16)])
def test_texts_edited_throughout_are_found(edited, duplicates):
    rng = random.Random(9)
    many = [written(rng, 600) for _ in range(50)]
    for text in many[:50]:
        changed = "".join(written(rng, 1) if rng.random() < edited else c for c in text)
        many.append(changed)
    both = zip(many[:50], many[50:], strict=True)
    similar = [compare(*pair, recipe="aligned").duplicate for pair in both]
    result = pairs(many, recipe="aligned").table.num_rows
    assert result >= 0.94 * sum(similar)
    assert sum(similar) == duplicates


def test_plan_has_no_recall_of_containment():
    assert plan(recipe="containment").predicted_recall is None
    assert plan(recipe="containment").keys > plan(recipe="aligned").keys
    recall = [plan(recipe="aligned", threshold=t).predicted_recall for t in (0.6, 0.7, 0.9)]
    assert recall == sorted(recall)
    assert recall[1] > 0.9


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"sketch": {"kind": "minhash", "size": 32}}, "'sketch.kind'.*similar length"),
        ({"decide": {"direction": "kept"}}, "decide.direction"),
        ({"decide": {"measure": "content", "direction": "both"}}, "'decide.direction'.*left out"),
    ],
)
def test_conflicting_settings_are_refused(changes, message):
    with pytest.raises(ParameterError, match=message):
        load_recipe("containment").replace(**changes)


# The measure as an option of its own.

TAGGED = "渡轮/n 停靠/v 码头/n 渡轮/n", "渡轮/n 停靠/v 码头/n 船/n"


def test_a_threshold_of_a_recipe_of_fingerprints_is_a_share_of_equal_bits():
    found = compare(*TAGGED, recipe="bkdr", threshold=0.5)
    assert (found.measure, found.distance, found.duplicate) == ("equal_bits", 9, True)
    assert found.max_distance == 15, "bkdr: half of the 32 bits is not enough"
    classic = load_recipe("classic")
    assert compare(*TAGGED, recipe=classic, threshold=0.5).max_distance == 32
    assert plan(1000, recipe=classic, threshold=0.95).max_distance == 3
    both = plan(1000, recipe=classic, threshold=0.5, max_distance=3)
    assert (both.max_distance, both.threshold) == (3, None)
    with pytest.raises(ParameterError, match="'threshold'"):
        compare(*TAGGED, recipe="bkdr", threshold=1.0)


def test_another_measure_brings_its_threshold():
    found = compare(*TAGGED, recipe="news", measure="content")
    assert (found.measure, found.threshold, found.max_distance) == ("content(5)", 0.4, 3)
    found = compare(*TAGGED, measure="resemblance")
    assert (found.measure, found.threshold) == ("resemblance(5)", 0.55)
    assert compare(*TAGGED, measure="resemblance", threshold=0.9).threshold == 0.9
    with pytest.raises(ParameterError, match="'measure'"):
        compare(*TAGGED, measure="cosine")
    with pytest.raises(ParameterError, match="threshold or a max_distance"):
        dedup(TAGGED, recipe="characters", measure="sketch")


def test_dedup_and_an_index_take_the_measure(tmp_path):
    texts = [text * 3 for text in TAGGED]
    assert dedup(texts, recipe="bkdr").keep.tolist() == [True, False]
    assert dedup(texts, recipe="bkdr", measure="resemblance", threshold=0.9).keep.all()
    path = tmp_path / "index.db"
    with Index(path, recipe="bkdr", measure="resemblance", threshold=0.9) as index:
        assert [index.add(str(number), text) for number, text in enumerate(texts)] == [None, None]
    with pytest.raises(IndexMismatchError, match=r"'resemblance' \('content' requested\)"):
        Index(path, measure="content")
    with Index(path, measure="resemblance") as index:
        assert index.query(texts[0], 1)
