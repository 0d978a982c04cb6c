"""Fingerprints as values, and what may not meet."""

import itertools

import pytest

from neardup import SketchMismatchError, compare, dedup, fingerprint, fingerprint_many, load_recipe
from neardup.recipe import NAMES

#: The recipes that make fingerprints.
PRINTING = tuple(name for name in NAMES if load_recipe(name).sketch.kind == "simhash")

TEXT = "渡口的新渡轮下周试航，旧渡轮送进博物馆。"


@pytest.mark.parametrize(("a", "b"), list(itertools.combinations(PRINTING[:5], 2)))
def test_fingerprints_of_two_recipes_never_meet(a, b):
    first, other = fingerprint(TEXT, recipe=a), fingerprint(TEXT, recipe=b)
    for meet in (first.distance, first.similarity):
        with pytest.raises(SketchMismatchError) as caught:
            meet(other)
        assert first.recipe_id in str(caught.value)
        assert other.recipe_id in str(caught.value)


def test_one_setting_is_enough():
    """Equal widths do not make fingerprints comparable."""
    other = load_recipe("characters").replace(segment={"k": 3})
    with pytest.raises(SketchMismatchError):
        fingerprint(TEXT).distance(fingerprint(TEXT, recipe=other))


def test_decision_settings_do_not_separate_fingerprints():
    other = load_recipe("characters").replace(decide={"threshold": 0.9})
    assert fingerprint(TEXT).distance(fingerprint(TEXT, recipe=other)) == 0


@pytest.mark.parametrize("bits", [32, 64, 128, 256])
def test_as_text(bits):
    result = fingerprint(TEXT, recipe=load_recipe("characters").replace(sketch={"bits": bits}))
    assert len(str(result)) == bits // 4
    assert int(str(result), 16) == result.value < 2**bits
    assert result.similarity(result) == 1.0


def test_the_recipes_that_make_fingerprints():
    by_words = {"classic", "keywords", "improved", "news", "news-words", "bkdr"}
    assert set(PRINTING) == by_words | {"characters"}


@pytest.mark.parametrize("name", PRINTING)
@pytest.mark.parametrize("text", ["", " ", "\n\t", "\u200b", "。，！", "...", "🙂"])
def test_texts_without_features(name, text):
    result = fingerprint(text, recipe=name)
    # The news program counts all tokens, spaces and punctuation too.
    if text if name == "news" else text.strip() and name == "news-words":
        assert result is not None
    else:
        assert result is None
        assert not fingerprint_many([text], recipe=name).any()


# The news program counts all tokens, and bkdr refuses texts without tags.
@pytest.mark.parametrize("name", sorted({*NAMES} - {"news", "news-words", "bkdr"}))
@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        ("", "", True),
        ("。", "。", True),
        ("。", "，", False),
        ("", "。", False),
        ("。", TEXT, False),
    ],
)
def test_comparing_texts_without_features(name, a, b, same):
    comparison = compare(a, b, recipe=name)
    assert (comparison.similarity, comparison.duplicate) == (float(same), same)
    assert (comparison.measure, comparison.distance) == ("identical", None)


def test_a_recipe_that_decides_by_distance_compares_by_bits():
    comparison = compare(TEXT, TEXT + "很快", recipe="news")
    assert comparison.measure == "equal_bits"
    assert comparison.similarity == 1 - comparison.distance / 64
    assert compare(TEXT, TEXT + "很快", recipe="characters").measure == "resemblance(5)"


def test_repeats_of_one_unit_are_one_feature():
    """Such a fingerprint says nothing of the text, so only equal texts are equal."""
    assert len(dedup(["啊" * 6, "啊" * 30]).kept) == 2
    assert len(dedup(["啊" * 30, "啊" * 30]).kept) == 1
