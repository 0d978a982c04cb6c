"""Stage segment against its twin."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.hostile import TEXTS, texts
from tests.reference import segment as twin

from neardup.recipe import load_recipe
from neardup.recipe.assets import compiled

PLAIN = {"nfkc": False, "lowercase": False, "whitespace": "keep", "drop_invisible": False}


def native(**settings):
    return compiled(load_recipe("characters").replace(normalize=PLAIN, segment=settings))


BY_SCRIPT = {k: native(units="by-script", k=k) for k in (1, 2, 3, 7)}
SHINGLES = {k: native(units="shingles", k=k) for k in (1, 2, 5, 31)}
SCRIPT_SHINGLES = {k: native(units="script-shingles", k=k) for k in (1, 2, 5, 31)}
TAGGED = native(units="tagged", drop_tags=("wn", "wd"))


def words(units):
    return [word for word, _ in units]


@pytest.mark.parametrize("name", TEXTS)
def test_named_texts(name):
    text = TEXTS[name]
    for k, core in BY_SCRIPT.items():
        assert words(core.units(text)) == twin.by_script(text, k)
    for k, core in SHINGLES.items():
        assert words(core.units(text)) == twin.shingles(text, k)
    for k, core in SCRIPT_SHINGLES.items():
        assert words(core.units(text)) == twin.script_shingles(text, k)


@given(texts(), st.sampled_from(sorted(BY_SCRIPT)))
def test_by_script_is_the_twin(text, k):
    assert words(BY_SCRIPT[k].units(text)) == twin.by_script(text, k)


@given(texts(), st.sampled_from(sorted(SHINGLES)))
def test_shingles_are_the_twin(text, k):
    assert words(SHINGLES[k].units(text)) == twin.shingles(text, k)


@given(
    st.one_of(texts(), st.text(st.sampled_from("雨é ab1。🙂━\u1e01"), max_size=60)),
    st.sampled_from(sorted(SCRIPT_SHINGLES)),
)
def test_script_shingles_are_the_twin(text, k):
    assert words(SCRIPT_SHINGLES[k].units(text)) == twin.script_shingles(text, k)


@given(st.text(st.sampled_from("雨雪a/ \n\t\u3000wnd"), max_size=40))
def test_tagged_is_the_twin(text):
    assert TAGGED.units(text) == twin.tagged(text, ("wn", "wd"))


@given(texts())
def test_words_of_jieba_are_the_text(text):
    """A segmenter may cut as it likes; it may not lose or invent characters."""
    core = compiled(load_recipe("news"))
    assert "".join(words(core.units(text))) == text
