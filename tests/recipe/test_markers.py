"""Marker words: what the improved recipe makes of them."""

import re

import pytest
from tests.golden.regenerate import markers
from tests.reference import weigh
from tests.weights import weights_of

from neardup import InputError, ParameterError, fingerprint, load_recipe
from neardup.recipe.assets import compiled

IMPROVED = load_recipe("improved").replace(weigh={"idf": "bundled"})
EXTENDED = IMPROVED.replace(weigh={"markers": "extended"})
WITHOUT = IMPROVED.replace(weigh={"markers": "none"})
TEXT = "事实上渡轮的票价归根结底不高。"
#: Words that contain short markers of the longer list, and one that is such a marker.
PARTS = "发生事故后，船的设备更新了，第一次停航。船却照开。"


def weights(recipe, text):
    return weights_of(compiled(recipe), text, None)


def raised(recipe, text):
    """Return the words that count more than they would without marker words."""
    marked, plain = weights(recipe, text), weights(WITHOUT, text)
    return {word for word in marked if marked[word] > plain.get(word, 0)}


def test_a_word_that_contains_a_long_marker_counts_more():
    result = raised(IMPROVED, TEXT)
    assert result == {"事实上", "归根结底"}
    words = weights(WITHOUT, TEXT)
    assert result == {word for word in words if any(weigh.is_marked(word, m) for m in markers())}


def test_a_short_marker_counts_only_as_a_word():
    """事故, 更新 and 第一次 are no markers because they contain 故, 更 and 第一."""
    assert {"故", "更", "第一"} <= set(markers(None))
    assert {"事故", "更新", "第一次"} <= set(weights(EXTENDED, PARTS))
    assert raised(EXTENDED, PARTS) == {"却"}


def test_the_example_of_the_pages():
    """冷却 contains 却, which the bundled list has; 事故 contains 故, which only the longer has."""
    text = "发生事故后，船的发动机要冷却。却没有水。"
    published = {"marker_match": "contains"}
    assert raised(IMPROVED, text) == {"却"}
    assert raised(IMPROVED.replace(weigh=published), text) == {"却", "冷却"}
    assert {"事故", "冷却"} < raised(EXTENDED.replace(weigh=published), text)


def test_a_contained_short_marker_counts_where_the_recipe_says_so():
    """The published definition: 事故 contains 故, 更新 contains 更."""
    published = EXTENDED.replace(weigh={"marker_match": "contains"})
    result = raised(published, PARTS)
    assert {"事故", "更新", "第一次", "却"} <= result
    words = weights(WITHOUT, PARTS)
    expected = {w for w in words if any(weigh.is_marked(w, m, True) for m in markers(None))}
    assert result & set(words) == expected
    assert published.id != EXTENDED.id


def test_the_default_is_the_two_groups_of_the_method():
    """Words of summary and contrast; the others are in the longer list."""
    text = "总之票价不高。但是渡轮少。因此要等。"
    assert raised(IMPROVED, text) == {"总之", "但是"}
    assert raised(EXTENDED, text) == {"总之", "但是", "因此"}
    assert IMPROVED.weigh.markers == "bundled"
    assert len({recipe.id for recipe in (IMPROVED, EXTENDED, WITHOUT)}) == 3


def test_a_list_of_ones_own(tmp_path):
    path = tmp_path / "markers.txt"
    path.write_text("\ufeff票价\n轮\n\n 以…为例 \n", "utf-8")
    recipe = IMPROVED.replace(weigh={"markers": str(path)})
    marked, plain = weights(recipe, TEXT), weights(WITHOUT, TEXT)
    assert {word for word in plain if marked[word] != plain[word]} == {"票价"}


def test_a_list_that_does_not_exist():
    """A misspelt name is taken for a file, so the message lists the names."""
    recipe = IMPROVED.replace(weigh={"markers": "extnded"})
    expected = (
        "extnded: cannot be read: No such file or directory. "
        "'weigh.markers' takes none, bundled, extended or a file."
    )
    with pytest.raises(InputError, match=f"^{re.escape(expected)}$"):
        fingerprint(TEXT, recipe=recipe)
    with pytest.raises(ParameterError, match=r"'weigh.markers' parameter must be text. Got 7"):
        IMPROVED.replace(weigh={"markers": 7})
