"""Comparing two texts: what is said, and that the verdict is that of the rule."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.kit.strategies import LONG_BASES, corpora, texts

from neardup import compare, dedup, load_recipe, pairs
from neardup.base.messages import in_language
from neardup.recipe import NAMES

BULLETIN = (
    "水文站通报，今晨8时闸口水位13.5米，比昨日上涨十三厘米。请沿岸单位检查泵房、涵洞和仓库，"
    "夜间安排3人值守。渡船停开，复航时间另行通知。"
)


OTHER_NUMBERS = BULLETIN.replace("8时", "9时").replace("13.5米", "12.1米").replace("十三厘", "2厘")


def test_replaced_numbers_lower_the_similarity():
    """8时, 13.5米 and 十三厘 are others in the other bulletin; 3人 is the same."""
    comparison = compare(BULLETIN, OTHER_NUMBERS)
    evidence = comparison.evidence
    assert (evidence.numbers_agree, evidence.numbers_differ, evidence.numbers_replaced) == (1, 3, 3)
    assert evidence.aligned == 54 / 57
    threshold = load_recipe("general").decide.threshold
    assert evidence.weighted_resemblance == comparison.resemblance > threshold
    assert evidence.number_penalty == comparison.resemblance - comparison.similarity > 0
    assert (comparison.measure, comparison.duplicate) == ("content(5)", False)
    assert not evidence.short
    assert "3 numbers are replaced by others" in comparison.verdict
    assert "3 处数字换成了别的" in in_language(comparison.verdict, "zh")


def test_recipe_of_shingles_ignores_numbers():
    by_content, by_shingles = (
        compare(BULLETIN, OTHER_NUMBERS, recipe=recipe, threshold=0.5)
        for recipe in ("general", "shingle")
    )
    assert by_shingles.duplicate
    assert by_shingles.evidence.number_penalty == by_content.evidence.number_penalty
    assert "number" not in by_shingles.verdict


@given(a=texts(), b=texts())
def test_content_is_at_most_the_weighted_resemblance_and_goes_by_the_alignment(a, b):
    comparison = compare(a, b)
    evidence = comparison.evidence
    if comparison.measure == "content(5)" and not evidence.short:
        without_numbers = comparison.similarity + evidence.number_penalty
        assert without_numbers <= evidence.weighted_resemblance + 1e-9
        if evidence.share == 1:
            assert without_numbers == pytest.approx(evidence.weighted_resemblance)
    else:
        assert evidence.number_penalty == 0
    assert 0 <= evidence.aligned <= 1
    assert min(evidence.core_a, evidence.core_b) >= 0
    assert max(evidence.share, evidence.core_a, evidence.core_b) <= 1
    assert 0 <= evidence.recurring <= evidence.replacements <= evidence.gaps
    assert 0 <= evidence.numbers_replaced <= evidence.numbers_differ


@pytest.mark.parametrize(
    ("b", "verdict"),
    [
        (
            "北岸的渡口停航三天！",
            "Duplicates: similarity 1.0000 by content(5), at least 0.4 needed; "
            "a text is short, so letters and digits decide.",
        ),
        ("北岸的渡口停航四天", "Not duplicates: a text is short, and a number differs."),
        (
            "北岸的渡船停航三天",
            "Not duplicates: 89% of the shorter text agrees, but so short a text must occur whole.",
        ),
    ],
)
def test_the_verdict_on_short_texts_says_so(b, verdict):
    comparison = compare("北岸的渡口停航三天", b)
    assert comparison.evidence.short
    assert comparison.verdict == verdict
    assert "短" in in_language(comparison.verdict, "zh")


@pytest.mark.parametrize(
    ("b", "similarity"),
    [
        ("渡口停航三天！", 1.0),
        ("渡口 停航三天", 1.0),
        ("渡口停航三天，改", 6 / 7),
        ("渡口停航三天，改乘", 6 / 8),
        ("渡口停航三天，改乘车", 0.0),
        ("渡口停航四天", 0.0),
    ],
)
def test_short_texts_are_compared_by_their_letters(b, similarity):
    """At least three quarters of one text, in one piece."""
    comparison = compare("渡口停航三天", b)
    assert (comparison.similarity, comparison.measure) == (similarity, "content(5)")


def test_verdict_follows_the_recipe():
    edited = BULLETIN.replace("渡船停开", "渡轮暂停")
    # The recipe bkdr reads words with tags only.
    names = [name for name in NAMES if name != "bkdr"]
    verdicts = {name: compare(BULLETIN, edited, recipe=name).duplicate for name in names}
    similar = {"general", "characters", "shingle", "shingle-sample", "minhash"}
    assert {name for name in similar if verdicts[name]} == similar
    strict = load_recipe("general").replace(decide={"threshold": 1.0})
    assert not compare(BULLETIN, edited, recipe=strict).duplicate


@pytest.mark.parametrize("name", ["general", "shingle", "shingle-sample", "minhash"])
def test_no_bits_without_fingerprints(name):
    comparison = compare(BULLETIN, BULLETIN + "完", recipe=name)
    assert (comparison.distance, comparison.bits) == (None, None)
    assert compare(BULLETIN, BULLETIN, recipe="characters").bits == 128


@pytest.mark.parametrize("name", ["general", "characters", "shingle", "minhash", "classic"])
def test_texts_of_few_features_are_equal_once_normalized(name):
    """As the rule has it: white space and width make no difference."""
    a, b = "灯塔", "灯塔 "
    assert len(dedup([a, b], recipe=name).kept) == 1
    assert compare(a, b, recipe=name).duplicate
    assert not compare(a, "灯塔 山", recipe=name).duplicate


collections = st.one_of(corpora(max_documents=3), corpora(max_documents=3, known=LONG_BASES))
collections = collections.filter(lambda many: len(many) >= 2)


@pytest.mark.parametrize("name", ["shingle", "general", "minhash", "characters", "classic"])
@given(many=st.one_of(collections, st.lists(texts(), min_size=2, max_size=2)))
def test_compare_agrees_with_dedup(name, many):
    """Two texts alone have nothing in common that many have."""
    a, b = many[:2]
    comparison = compare(a, b, recipe=name)
    row = pairs([a, b], recipe=name).table.to_pylist()
    if row:
        assert comparison.duplicate
        assert comparison.similarity == row[0]["similarity"]
    elif name in ("shingle", "classic"):
        # Their searches miss nothing.
        assert not comparison.duplicate


#: Fingerprints alone are compared by distance, never by a threshold.
KINDS_AND_MEASURES = [
    (name, measure)
    for name in ("characters", "shingle", "general", "minhash")
    for measure in ("resemblance", "content", "sketch")
    if (name, measure) != ("characters", "sketch")
]


@pytest.mark.parametrize(("name", "measure"), KINDS_AND_MEASURES)
@pytest.mark.parametrize(("shared", "union"), [(30, 60), (48, 60), (60, 60)])
def test_the_threshold_is_inside(name, measure, shared, union):
    """At, just under and just over, for each measure and kind of sketch."""
    recipe = load_recipe(name).replace(
        normalize={"fold": ()},
        segment={"units": "shingles", "k": 1},
        decide={"measure": measure, "shingle": 1},
    )
    alphabet = [chr(0x4E10 + index) for index in range(union)]
    only_a = (union - shared) // 2
    a = "".join(alphabet[: shared + only_a])
    b = "".join(alphabet[:shared] + alphabet[shared + only_a :])
    exactly = compare(a, b, recipe=recipe).similarity
    if measure == "resemblance" or (measure, recipe.sketch.kind) == ("sketch", "sample"):
        assert exactly == shared / union
    # All pairs are candidates; signatures as these are share a band.
    widest = {"max_distance": 128} if name == "characters" else {}

    def is_dropped(threshold):
        options = {"threshold": threshold, "recipe": recipe, **widest}
        dropped = dedup([a, b], **options).removed.num_rows
        assert pairs([a, b], **options).table.num_rows == dropped
        comparison = compare(a, b, recipe=recipe, threshold=threshold)
        assert comparison.duplicate == bool(dropped)
        assert comparison.threshold == threshold
        # Rounded, the similarity is still on its side of the bound.
        shown = float(comparison.verdict.split("similarity ")[1].split()[0])
        assert (shown >= threshold) == bool(dropped)
        return bool(dropped)

    assert is_dropped(exactly)
    assert is_dropped(np.nextafter(exactly, 0))
    if exactly < 1:
        assert not is_dropped(np.nextafter(exactly, 1))


@pytest.mark.parametrize("distance", [11, 12, 13])
def test_the_distance_is_inside(distance):
    edited = BULLETIN.replace("渡船停开", "渡轮暂停")
    bits = compare(BULLETIN, edited, recipe="characters").distance
    assert bits is not None
    most = distance - 12 + bits
    comparison = compare(BULLETIN, edited, recipe="characters", max_distance=most)
    word = "Duplicates" if bits <= most else "Not duplicates"
    assert comparison.duplicate == (bits <= most)
    assert comparison.verdict == f"{word}: {bits} of 128 bits differ, at most {most} allowed."
    assert (comparison.measure, comparison.threshold, comparison.max_distance) == (
        "equal_bits",
        None,
        most,
    )


def test_both_bounds_must_hold():
    edited = BULLETIN.replace("渡船停开", "渡轮暂停")
    alone = compare(BULLETIN, edited, recipe="characters")
    near, similar = alone.distance, alone.similarity
    for most, least, duplicate in [
        (near, similar, True),
        (near - 1, similar, False),
        (near, float(np.nextafter(similar, 1)), False),
    ]:
        bounds = {"max_distance": most, "threshold": least}
        assert compare(BULLETIN, edited, recipe="characters", **bounds).duplicate is duplicate


def test_verdict_is_in_both_languages():
    a, b = "今天下雨，比赛改期。", "今天下雨，比赛改期！"
    comparison = compare(a, b, recipe="characters", max_distance=9)
    assert comparison.verdict == "Duplicates: 0 of 128 bits differ, at most 9 allowed."
    assert in_language(comparison.verdict, "zh") == "重复：128 位中有 0 位不同，最多允许 9 位。"


def test_verdict_without_a_bound_gives_its_reason():
    for recipe in ("general", "shingle"):
        few = compare("灯塔", "灯塔山", recipe=recipe)
        assert "fewer than 5 features" in few.verdict
    assert "identical" in compare("灯塔", "灯塔 ").verdict
    unbounded = load_recipe("general").replace(decide={"threshold": None})
    assert "neither a threshold" in compare(BULLETIN, BULLETIN, recipe=unbounded).verdict
