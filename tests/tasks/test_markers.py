"""Marker words: what the improved recipe makes of them."""

import pytest
from tests.golden.regenerate import markers
from tests.reference import weigh

from neardup import load_recipe
from neardup.resources import compiled

IMPROVED = load_recipe("improved").replace(weigh={"idf": "bundled"})
WITHOUT = IMPROVED.replace(weigh={"markers": "none"})
TEXT = "事实上渡轮的票价归根结底不高。"


def test_a_word_that_contains_a_marker_counts_more():
    marked, plain = (dict(compiled(r).features(TEXT, None)) for r in (IMPROVED, WITHOUT))
    raised = {word for word in plain if marked[word] > plain[word]}
    assert raised == {"事实上", "归根结底"}
    assert raised == {
        word for word in plain if any(weigh.is_marked(word, marker) for marker in markers())
    }


@pytest.mark.parametrize("marker", ["综上所述", "总之", "但是"])
def test_the_markers_that_the_method_names_count(marker):
    features = dict(compiled(IMPROVED).features(f"{marker}，渡轮的票价不高。", None))
    assert marker in features


def test_a_list_of_ones_own(tmp_path):
    path = tmp_path / "markers.txt"
    path.write_text("\ufeff票价\n\n 以…为例 \n", "utf-8")
    recipe = IMPROVED.replace(weigh={"markers": str(path)})
    marked, plain = (dict(compiled(r).features(TEXT, None)) for r in (recipe, WITHOUT))
    assert {word for word in plain if marked[word] != plain[word]} == {"票价"}
