"""Stage normalize: the origins that it remembers, foldings and markup; the twins are in stages."""

import itertools
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.kit.strategies import texts
from tests.properties.test_stages import ALL_OFF, FOLDINGS, LETTERS, POSTS, SETTINGS, normalizer

from neardup.recipe import load_recipe, recipe_from_table
from neardup.recipe.assets import compiled

ALL_ON = {"nfkc": True, "lowercase": True, "whitespace": "by-script", "drop_invisible": True}


@given(texts() | LETTERS, st.sampled_from(SETTINGS), st.booleans())
def test_spans_of_characters_do_not_go_backwards(text, changes, strip_markup):
    core = normalizer(**changes, strip_markup=strip_markup)
    normalized, spans = core.normalize_mapped(text)
    assert normalized == core.normalize(text)
    assert len(spans) == len(normalized)
    assert all(0 <= begin < end <= len(text) for begin, end in spans)
    assert all(a[0] <= b[0] and a[1] <= b[1] for a, b in itertools.pairwise(spans))


@given(texts(), st.booleans())
def test_span_normalizes_to_a_text_with_its_character(text, lowercase):
    # Whether a letter looks like another one depends on the text beside it.
    core = normalizer(**ALL_ON | {"lowercase": lowercase, "whitespace": "keep"}, fold=FOLDINGS[:2])
    for character, (begin, end) in zip(*core.normalize_mapped(text), strict=True):
        again = core.normalize(text[begin:end])
        assert character in again or unicodedata.normalize("NFD", character) in (
            unicodedata.normalize("NFD", again)
        )


@pytest.mark.parametrize(
    ("strategy", "changes"), [(texts(), {"drop_invisible": True}), (POSTS, {"ends": "drop"})]
)
@given(data=st.data())
def test_unchanged_characters_come_from_themselves(strategy, changes, data):
    text = data.draw(strategy)
    normalized, spans = normalizer(**ALL_OFF | changes).normalize_mapped(text)
    assert [text[begin:end] for begin, end in spans] == list(normalized)
    assert normalized in text or "ends" not in changes


@pytest.mark.parametrize(
    ("text", "normalized", "spans"),
    [
        ("Ａ\u200b ①b", "a 1b", [(0, 1), (2, 3), (3, 4), (4, 5)]),
        ("ｶﾞ㌔", "ガキロ", [(0, 2), (2, 3), (2, 3)]),
        ("圖 كَت а", "图كت а", [(0, 1), (2, 4), (4, 5), (5, 6), (6, 7)]),
        ("<b>F\u0435</b>\u0435s", "fees", [(3, 4), (4, 5), (9, 10), (10, 11)]),
    ],
)
def test_spans_by_hand(text, normalized, spans):
    core = normalizer(**ALL_ON, fold=FOLDINGS, strip_markup="<" in text)
    assert core.normalize_mapped(text) == (normalized, spans)


# A point between a letter and its look-alike makes two words of them.
@pytest.mark.parametrize("other", ["points", "look-alikes"])
@given(text=LETTERS | texts())
def test_folding_twice_is_folding_once(text, other):
    core = normalizer(**ALL_OFF, fold=("traditional", other))
    once = core.normalize(text)
    assert core.normalize(once) == once


@pytest.mark.parametrize(
    ("fold", "text", "folded"),
    [
        ("traditional", "市圖書館今天開放", "市图书馆今天开放"),
        ("traditional", "㑮𫝈", "𫝈𫝈"),
        ("points", "كَتَبَ الرِّسَالَةَ", "كتب الرساله"),
        ("points", "أحمد إلى آخر ٱلعـــام", "احمد الي اخر العام"),
        ("points", "بِرَأْسِهِ مُؤْمِن شَيْئًا", "براسه مومن شييا"),
        ("points", "شیک ی ک", "شيك ي ك"),
        ("points", "שָׁלוֹם בְּרֵאשִׁית־בָּרָא", "שלום בראשית־ברא"),
        ("look-alikes", "the fеrry is рaid in Мoscow", "the ferry is paid in moscow"),
        ("look-alikes", "Утром паром yходит в cело", "утром паром уходит в село"),
        ("look-alikes", "the sοund of the ΜΟΝΕΥ", "the sound of the money"),
        ("look-alikes", "清末渡ロ有木船，⻋", "清末渡口有木船,车"),
        ("look-alikes", "2O24年共1l5OO元, 5S H2O 3l 45o", "2024年共11500元, 5s h2o 3l 45o"),
    ],
)
def test_each_folding_works_alone_and_is_switched_off(fold, text, folded):
    for names in ((fold,), FOLDINGS):
        assert normalizer(**ALL_ON, fold=names).normalize(text) == folded
    others = tuple(name for name in FOLDINGS if name != fold)
    off = normalizer(**ALL_ON, fold=others).normalize(text)
    assert off == normalizer(**ALL_ON, fold=()).normalize(text) != folded


def test_foldings_are_a_setting_without_order():
    recipe = load_recipe()
    turned = recipe.replace(normalize={"fold": FOLDINGS[::-1]})
    assert recipe.normalize.fold == FOLDINGS
    assert (turned.id, turned.to_toml()) == (recipe.id, recipe.to_toml())
    # A recipe that was saved before they existed folds nothing.
    old = {"normalize": {"nfkc": True}, "sketch": {"kind": "simhash"}}
    assert recipe_from_table(old).normalize.fold == ()
    for name in ("news", "bkdr", "classic", "improved", "keywords", "minhash"):
        assert load_recipe(name).normalize.fold == ()


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("<p>one</p><p>two</p>", "one two"),
        ("a<b>c</b>d", "acd"),
        ("x<script>var a='<p>';</script>y", "xy"),
        ("<!-- gone -->here", "here"),
        ("&lt;p&gt; stays", "<p> stays"),
        ("1 < 2 and 3 > 2", "1 < 2 and 3 > 2"),
        ("雨&#x96EA;&amp;风", "雨雪&风"),
    ],
)
def test_markup(markup, expected):
    assert normalizer(**ALL_ON, strip_markup=True).normalize(markup) == expected


@given(texts())
def test_words_of_jieba_are_the_text(text):
    """A segmenter may cut as it likes; it may not lose or invent characters."""
    core = compiled(load_recipe("news"))
    assert "".join(word for word, _ in core.units(text)) == text
