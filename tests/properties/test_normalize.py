"""Stage normalize against its twin, and the origins that it remembers."""

import itertools
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.hostile import TEXTS, texts
from tests.reference import normalize as twin

from neardup.recipe import load_recipe
from neardup.recipe.assets import compiled

SETTINGS = [
    {"nfkc": nfkc, "lowercase": lower, "whitespace": white, "drop_invisible": drop}
    for nfkc, lower, drop in itertools.product((True, False), repeat=3)
    for white in ("keep", "collapse", "by-script")
]
ALL_ON = {"nfkc": True, "lowercase": True, "whitespace": "by-script", "drop_invisible": True}


def native(**settings):
    return compiled(load_recipe("characters").replace(normalize=settings))


CORES = [(settings, native(**settings)) for settings in SETTINGS]


@pytest.mark.parametrize("name", TEXTS)
def test_named_texts_under_every_setting(name):
    for settings, core in CORES:
        assert core.normalize(TEXTS[name]) == twin.normalize(TEXTS[name], **settings), settings


@given(texts(), st.sampled_from(range(len(SETTINGS))))
def test_native_is_the_twin(text, number):
    settings, core = CORES[number]
    assert core.normalize(text) == twin.normalize(text, **settings)


@given(texts())
def test_everything_off_changes_nothing(text):
    core = native(nfkc=False, lowercase=False, whitespace="keep", drop_invisible=False)
    assert core.normalize(text) == text


@given(texts(), st.sampled_from(range(len(SETTINGS))), st.booleans())
def test_origins(text, number, strip_markup):
    """One span a character; spans stay inside and never go backwards."""
    core = native(**SETTINGS[number], strip_markup=strip_markup)
    normalized, spans = core.normalize_mapped(text)
    assert normalized == core.normalize(text)
    assert len(spans) == len(normalized)
    assert all(0 <= begin < end <= len(text) for begin, end in spans)
    assert all(a[0] <= b[0] and a[1] <= b[1] for a, b in itertools.pairwise(spans))


@given(texts(), st.booleans())
def test_slicing_the_original_by_spans(text, lowercase):
    """What stands at a character's span normalizes to something with that character."""
    core = native(**ALL_ON | {"lowercase": lowercase, "whitespace": "keep"})
    normalized, spans = core.normalize_mapped(text)
    for character, (begin, end) in zip(normalized, spans, strict=True):
        origin = text[begin:end]
        again = core.normalize(origin)
        assert character in again or unicodedata.normalize("NFD", character) in (
            unicodedata.normalize("NFD", again)
        )


@given(texts())
def test_characters_that_nothing_changes_come_from_themselves(text):
    core = native(nfkc=False, lowercase=False, whitespace="keep", drop_invisible=True)
    normalized, spans = core.normalize_mapped(text)
    assert [text[begin:end] for begin, end in spans] == list(normalized)


def test_spans_by_hand():
    core = native(**ALL_ON)
    assert core.normalize_mapped("Ａ\u200b ①b") == ("a 1b", [(0, 1), (2, 3), (3, 4), (4, 5)])
    assert core.normalize_mapped("ｶﾞ㌔") == (
        "ガキロ",
        [(0, 2), (2, 3), (2, 3)],
    )


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
    assert native(**ALL_ON, strip_markup=True).normalize(markup) == expected
