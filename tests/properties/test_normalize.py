"""Stages normalize and segment against their twins, and the origins that they remember."""

import itertools
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.kit.strategies import TEXTS, texts
from tests.reference import look_alikes, segment
from tests.reference import normalize as twin

from neardup import ParameterError, _core, compare
from neardup.recipe import load_recipe, recipe_from_table
from neardup.recipe.assets import compiled

FOLDINGS = ("traditional", "points", "look-alikes")
SETTINGS = [
    {
        "nfkc": nfkc,
        "lowercase": lower,
        "whitespace": white,
        "drop_invisible": drop,
        "fold": fold,
        "punctuation": marks,
        "numbers": numbers,
    }
    for nfkc, lower, drop in itertools.product((True, False), repeat=3)
    for white in ("keep", "collapse", "by-script")
    for fold in ((), FOLDINGS)
    for marks in ("keep", "drop")
    for numbers in ("keep", "value")
]
ALL_ON = {
    "nfkc": True,
    "lowercase": True,
    "whitespace": "by-script",
    "drop_invisible": True,
    "fold": FOLDINGS,
}
ALL_OFF = {
    "nfkc": False,
    "lowercase": False,
    "whitespace": "keep",
    "drop_invisible": False,
    "fold": (),
}

#: Text of all scripts that foldings are about, with what looks alike close together.
LETTERS = st.text(
    "aoebjMH аоебјМНж αοερνΜΗω 國国書云口ロカかニ二⻋𠮷㑮 \u064b\u0640\u0623\u0627\u0629\u0654 "
    "\u05b0\u05d0\u0301\u200b\n.15OlS",
    max_size=40,
)


#: What numbers, dates and times are made of, and what stands beside them.
PARTS = """
    0 1 2 05 12 31 2026 7000 〇 零 一 二 两 三 五 九 十 百 千 万 亿 兆 壹 拾 年 月 日 号 时 点 分
    秒 半 整 间 钟 第 之 些 样 国 统 几 上午 下午 晚 个 . , : - / 。 march may sept one twenty five
    hundred thousand and of 5th t 9:05 am pm p.m
"""
NUMBERS = st.lists(st.sampled_from([*PARTS.split(), " "]), max_size=12).map("".join)


def native(**settings):
    kept = {"punctuation": "keep", "ends": "keep", "numbers": "keep"} | settings
    return compiled(load_recipe("characters").replace(normalize=kept))


CORES = [(settings, native(**settings)) for settings in SETTINGS]


@pytest.mark.parametrize("name", TEXTS)
def test_named_texts_under_every_setting(name):
    for settings, core in CORES:
        assert core.normalize(TEXTS[name]) == twin.normalize(TEXTS[name], **settings), settings


#: What is normalized: any text, what foldings are about, and what numbers are made of.
STRATEGIES = {"texts": texts(), "letters": LETTERS, "numbers": NUMBERS}


@pytest.mark.parametrize("kind", STRATEGIES)
@given(data=st.data(), number=st.sampled_from(range(len(SETTINGS))))
def test_native_is_the_twin(kind, data, number):
    text = data.draw(STRATEGIES[kind])
    settings, core = CORES[number]
    assert core.normalize(text) == twin.normalize(text, **settings)


@given(texts())
def test_everything_off_changes_nothing(text):
    core = native(**ALL_OFF)
    assert core.normalize(text) == text


@given(texts() | LETTERS, st.sampled_from(range(len(SETTINGS))), st.booleans())
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
    # Whether a letter looks like another one depends on the text beside it.
    changed = {"lowercase": lowercase, "whitespace": "keep", "fold": FOLDINGS[:2]}
    core = native(**ALL_ON | changed)
    normalized, spans = core.normalize_mapped(text)
    for character, (begin, end) in zip(normalized, spans, strict=True):
        origin = text[begin:end]
        again = core.normalize(origin)
        assert character in again or unicodedata.normalize("NFD", character) in (
            unicodedata.normalize("NFD", again)
        )


@given(texts())
def test_unchanged_characters_come_from_themselves(text):
    core = native(**ALL_OFF | {"drop_invisible": True})
    normalized, spans = core.normalize_mapped(text)
    assert [text[begin:end] for begin, end in spans] == list(normalized)


def test_spans_by_hand():
    core = native(**ALL_ON)
    assert core.normalize_mapped("Ａ\u200b ①b") == ("a 1b", [(0, 1), (2, 3), (3, 4), (4, 5)])
    assert core.normalize_mapped("ｶﾞ㌔") == (
        "ガキロ",
        [(0, 2), (2, 3), (2, 3)],
    )


#: Ends of posts close together, and what looks like them.
_PARTS = """http://t.cn/A6x https://a.b/c?d=1&e www.e.f t.co/x @ ＠ # ＃ @joe_b @张三 #tag #话题#
#1 RT MT : ： 转发微博 转发 网页链接 展开全文 c [话题]# via by 来自 Read more / . 。 ( ] ，
a 好 今天下雨了 1 x@y.z C# aaaaaaaaaaaaaaaaaaaa 一二三四五六七八九十甲乙丙丁戊己庚辛壬癸"""
POSTS = st.lists(
    st.tuples(st.sampled_from([*_PARTS.split(), "\n", "read more"]), st.sampled_from(("", " "))),
    max_size=9,
).map(lambda parts: "".join(map("".join, parts)))


class TestEnds:
    @given(st.one_of(POSTS, texts()))
    def test_native_is_the_twin(self, text):
        core = native(**ALL_OFF, ends="drop")
        assert core.normalize(text) == twin.normalize(text, **ALL_OFF, ends="drop")

    @given(POSTS)
    def test_rest_is_one_piece_of_the_original(self, text):
        normalized, spans = native(**ALL_OFF, ends="drop").normalize_mapped(text)
        assert "".join(text[begin:end] for begin, end in spans) == normalized
        assert normalized in text


class TestFoldings:
    @given(LETTERS)
    def test_look_alikes_equal_the_twin(self, text):
        assert _core.unmask(text) == look_alikes.unmask(text)

    def test_single_letters_equal_the_twin(self):
        """The table is OpenCC's; points are those of Unicode."""
        for fold in FOLDINGS:
            core = native(**ALL_OFF | {"fold": (fold,)})
            differing = [
                character
                for character in map(chr, [*range(0xD800), *range(0xE000, 0x33480)])
                if core.normalize(character)
                != twin.normalize(character, **ALL_OFF | {"fold": (fold,)})
            ]
            assert differing == [], fold

    # A point between a letter and its look-alike makes two words of them.
    @pytest.mark.parametrize("other", ["points", "look-alikes"])
    @given(text=st.one_of(LETTERS, texts()))
    def test_folding_twice_is_folding_once(self, text, other):
        core = native(**ALL_OFF | {"fold": ("traditional", other)})
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
    def test_each_folding_works_alone_and_is_switched_off(self, fold, text, folded):
        alone = native(**ALL_ON | {"fold": (fold,)})
        assert alone.normalize(text) == folded
        assert native(**ALL_ON).normalize(text) == folded
        others = tuple(name for name in FOLDINGS if name != fold)
        off = native(**ALL_ON | {"fold": others}).normalize(text)
        assert off == native(**ALL_ON | {"fold": ()}).normalize(text) != folded

    def test_spans_by_hand(self):
        core = native(**ALL_ON)
        assert core.normalize_mapped("圖 كَت а") == (
            "图كت а",
            [(0, 1), (2, 4), (4, 5), (5, 6), (6, 7)],
        )
        text = "<b>F\u0435</b>\u0435s"
        assert native(**ALL_ON, strip_markup=True).normalize_mapped(text) == (
            "fees",
            [(3, 4), (4, 5), (9, 10), (10, 11)],
        )

    def test_foldings_are_settings_of_a_recipe(self):
        recipe = load_recipe()
        assert recipe.normalize.fold == FOLDINGS
        assert 'fold = [\n    "traditional",\n' in recipe.to_toml()
        # Their order is no setting.
        turned = recipe.replace(normalize={"fold": FOLDINGS[::-1]})
        assert (turned.id, turned.to_toml()) == (recipe.id, recipe.to_toml())
        off = recipe.replace(normalize={"fold": ()})
        assert off.id != recipe.id
        a, b = "市圖書館今天開放到晚上九點", "市图书馆今天开放到晚上九点"
        assert compare(a, b, recipe=recipe).similarity == 1.0
        assert compare(a, b, recipe=off).similarity < 0.5
        with pytest.raises(ParameterError, match=r"normalize\.fold"):
            recipe.replace(normalize={"fold": ("accents",)})
        with pytest.raises(ParameterError, match=r"normalize\.fold"):
            recipe.replace(normalize={"fold": "points"})
        # A recipe that was saved before they existed folds nothing.
        old = {"normalize": {"nfkc": True}, "sketch": {"kind": "simhash"}}
        assert recipe_from_table(old).normalize.fold == ()

    @pytest.mark.parametrize("name", ["news", "bkdr", "classic", "improved", "keywords", "minhash"])
    def test_published_methods_have_none(self, name):
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
    assert native(**ALL_ON, strip_markup=True).normalize(markup) == expected


def segmenting(**settings):
    return compiled(load_recipe("characters").replace(segment=settings))


#: Ways to cut a text: the lengths, and the twin.
WAYS = {
    "by-script": ((1, 2, 3, 7), segment.by_script),
    "shingles": ((1, 2, 5, 31), segment.shingles),
    "script-shingles": ((1, 2, 5, 31), segment.script_shingles),
}
SEGMENTERS = {(way, k): segmenting(units=way, k=k) for way, (ks, _) in WAYS.items() for k in ks}
TAGGED = segmenting(units="tagged", drop_tags=("wn", "wd"))


def words(units):
    return [word for word, _ in units]


def check_units(text, way):
    lengths, twin_of = WAYS[way]
    for k in lengths:
        assert words(SEGMENTERS[way, k].units(text)) == twin_of(text, k)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", TEXTS)
def test_units_of_named_texts(name, way):
    check_units(TEXTS[name], way)


@pytest.mark.parametrize("way", WAYS)
@given(text=texts() | st.text(st.sampled_from("雨é ab1。🙂━\u1e01"), max_size=60))
def test_units_equal_the_twin(way, text):
    check_units(text, way)


@given(st.text(st.sampled_from("雨雪a/ \n\t\u3000wnd"), max_size=40))
def test_tagged_is_the_twin(text):
    assert TAGGED.units(text) == segment.tagged(text, ("wn", "wd"))


@given(texts())
def test_words_of_jieba_are_the_text(text):
    """A segmenter may cut as it likes; it may not lose or invent characters."""
    core = compiled(load_recipe("news"))
    assert "".join(words(core.units(text))) == text
