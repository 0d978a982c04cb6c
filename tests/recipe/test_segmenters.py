"""Segmenters of the user's own."""

import pytest
from tests.reference import segment, sketch

from neardup import (
    InputError,
    ParameterError,
    compare,
    count_idf,
    dedup,
    fingerprint,
    fingerprint_many,
    load_recipe,
)
from neardup.recipe.assets import compiled

MODULE = "tests.golden.segmenters"


def recipe_with(name, **stages):
    units = {"units": f"{MODULE}:{name}"}
    return load_recipe("classic").replace(segment=units, **stages)


def test_every_task_uses_it():
    recipe = recipe_with("weighted", decide={"min_features": 1})
    text = "渡轮*3 书店*1"
    expected = sketch.simhash({"渡轮": 3, "书店": 1}, 64, sketch.xxh3, 0)
    assert fingerprint(text, recipe=recipe).value == expected
    assert fingerprint_many([text], recipe=recipe).tolist() == [[expected]]
    assert compare(text, "书店*1 渡轮*3", recipe=recipe).distance == 0
    assert dedup([text, "书店*1 渡轮*3"], recipe=recipe).kept == [text]
    counted = count_idf([text], recipe=recipe.replace(weigh={"scheme": "tf-idf", "idf": "corpus"}))
    assert dict(counted.counts) == {"渡轮": 1, "书店": 1}
    assert counted.units == f"{MODULE}:weighted"


@pytest.mark.parametrize(
    ("units", "message"),
    [
        ("no.such.module:f", "Importing 'no.such.module' failed: ModuleNotFoundError"),
        ("nosuch:f", "if nosuch.py is in this folder, run with PYTHONPATH=[.]"),
        ("no.such.module:f", "if no/such/module.py is in this folder"),
        (f"{MODULE}:nosuch", "has no callable 'nosuch'"),
        ("math:pi", "has no callable 'pi'"),
        (":f", "module:function"),
        ("math:", "module:function"),
    ],
)
def test_what_cannot_be_loaded(units, message):
    recipe = load_recipe("classic").replace(segment={"units": units})
    for run in (lambda: fingerprint("text", recipe=recipe), lambda: dedup(["text"], recipe=recipe)):
        with pytest.raises(ParameterError, match=message):
            run()


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("failing", "some text", "'some text': ZeroDivisionError: no words in 9 characters"),
        ("three_parts", "some text", "'some text': ValueError"),
        ("tokens", "record \x1e separator", "U[+]001E or U[+]001F"),
    ],
)
def test_what_fails(name, text, message):
    """One text is an error; one of many is a problem, and never a duplicate."""
    recipe = recipe_with(name, normalize={"drop_invisible": False})
    with pytest.raises(InputError, match=message):
        fingerprint(text, recipe=recipe)
    result = dedup([text, text], recipe=recipe)
    assert result.kept == [text, text]
    assert result.summary.unreadable == 2
    assert [problem.record for problem in result.problems] == [1, 2]
    assert "must be a text that the segmenter accepts" in str(result.problems[0])


def test_words_without_tags_are_no_pairs():
    """A word of two characters must not pass for a word and its tag."""
    with pytest.raises(InputError, match=r"expected pairs of \(word, tag\), found the text '今天'"):
        fingerprint("今天 天气", recipe=recipe_with("only_words"))


def test_the_encoding_is_the_twin():
    recipe = recipe_with("tokens")
    encoded = "雨\x1fn\x1e\x1e下\x1e\x1fx\x1e"
    assert compiled(recipe).units(encoded) == segment.external(encoded)


def test_a_user_dictionary(tmp_path):
    words = tmp_path / "words.txt"
    words.write_text("新渡轮 1000000 nz\n", "utf-8")
    recipe = load_recipe("classic")
    with_words = recipe.replace(segment={"user_dictionary": str(words)})
    text = "新渡轮的票价"
    assert "新渡轮" not in dict(compiled(recipe).units(text))
    assert compiled(with_words).units(text)[0] == ("新渡轮", "nz")
    words.write_text("two words that are none\n", "utf-8")
    with pytest.raises((InputError, ParameterError), match=r"line|dictionary"):
        compiled(recipe.replace(description="x", segment={"user_dictionary": str(words)}))


def test_a_segmenter_that_finds_nothing_leaves_no_sketch():
    for idf in ("corpus", "bundled"):
        recipe = load_recipe("keywords").replace(
            segment={"units": "tests.golden.segmenters:nothing"}, weigh={"idf": idf}
        )
        assert not fingerprint_many(["渡口的书店", "another text"], recipe=recipe).any()
