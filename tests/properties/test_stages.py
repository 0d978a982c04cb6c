"""Stages normalize to sketch against their slow twins, over the same texts; a stage is a row."""

import itertools
import random
from functools import partial

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conftest import ROOT
from tests.kit.hard_texts import letters
from tests.kit.strategies import TEXTS, texts
from tests.reference import (
    align,
    look_alikes,
    minhash,
    normalize,
    numbers,
    recipes,
    sample,
    segment,
    sketch,
    weigh,
)
from tests.reference.normalize import simplified
from tests.reference.numerals import NUMERALS

from neardup import (
    Fingerprint,
    InputError,
    _core,
    compare,
    dedup,
    fingerprint,
    fingerprint_many,
    load_recipe,
)
from neardup.papers.alignment import get_aligner
from neardup.recipe.assets import compiled
from neardup.recipe.text_inputs import sketch_texts

FOLDINGS = ("traditional", "points", "look-alikes")
ALL_OFF = {"nfkc": False, "lowercase": False, "whitespace": "keep", "drop_invisible": False}
ALL_ON = {"nfkc": True, "lowercase": True, "whitespace": "by-script", "drop_invisible": True}
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
WIDTHS = (32, 64, 128, 256)
HASHES = {"xxh3": sketch.xxh3, "news": sketch.news, "bkdr": sketch.bkdr}
SCHEMES = {"once": weigh.once, "tf": weigh.tf, "share": weigh.share}
NUM_PERMS = (16, 17, 64, 128, 200, 1024)
SIZES = (0, 1, 2, 7, 32)
#: Characters that normalization keeps, apart from some that are folded.
DISTINCT = [
    letter
    for letter in map(chr, range(0x4E00, 0x9000))
    if simplified(letter) == letter and letter not in NUMERALS
]

#: Text of all scripts that foldings are about, with what looks alike close together.
LETTERS = st.one_of(
    st.text(
        "aoebjMH аоебјМНж αοερνΜΗω 國國书云口ロカかニ二⻋𠮷㑮 \u064b\u0640\u0623\u0627\u0629\u0654 "
        "\u05b0\u05d0\u0301\u200b\n.15OlS",
        max_size=40,
    ),
    st.text("aаоеж ", max_size=20),
    st.text("aοενδ ", max_size=20),
)
#: What numbers, dates and times are made of, and what stands beside them.
PARTS = """
    0 1 2 05 12 31 2026 7000 〇 零 一 二 两 三 五 九 十 百 千 万 亿 兆 壹 拾 年 月 日 号 时 点 分
    秒 半 整 间 钟 第 之 些 样 国 统 几 上午 下午 晚 个 . , : - / 。 march may sept one twenty five
    hundred thousand and of 5th t 9:05 am pm p.m
"""
SPELLED = ROOT / "crates/neardup-core/src/normalize/numbers/spellings.txt"
SIGNS = str.maketrans("␟␞⊕⊖", "\x1f\x1e\x1d\x1c")
#: Numbers as they are spelled, and notations of each: the table of the stage.
SPELLINGS = [
    line.translate(SIGNS).split(" = ")
    for line in SPELLED.read_text("utf-8").splitlines()
    if " = " in line
]
NOTATIONS = [notation for _, row in SPELLINGS for notation in row.split(" | ")]
NUMBERS = st.lists(st.sampled_from([*PARTS.split(), *NOTATIONS, " "]), max_size=12).map("".join)
#: Ends of posts close together, and what looks like them.
ENDS = """http://t.cn/A6x https://a.b/c?d=1&e www.e.f t.co/x @ ＠ # ＃ @joe_b @张三 #tag #话题#
#1 RT MT : ： 转发微博 转发 网页链接 展开全文 c [话题]# via by 来自 Read more / . 。 ( ] ，
a 好 今天下雨了 1 x@y.z C# @aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
#一二三四五六七八九十甲乙丙丁戊己庚辛壬癸子丑寅卯辰巳午未申酉 戌"""
POSTS = st.lists(
    st.tuples(st.sampled_from([*ENDS.split(), "\n", "read more"]), st.sampled_from(("", " "))),
    max_size=9,
).map(lambda parts: "".join(map("".join, parts)))


def recipe_of(name, **stages):
    return compiled(load_recipe(name).replace(**stages))


def normalizer(**settings):
    kept = {"punctuation": "keep", "ends": "keep", "numbers": "keep", "fold": ()} | settings
    return recipe_of("characters", normalize=kept)


def normalizing(**settings):
    return normalizer(**settings).normalize, partial(normalize.normalize, **settings)


def words(units):
    return [word for word, _ in units]


def segmenting(way, twin, k):
    core = recipe_of("characters", segment={"units": way, "k": k})
    return lambda text: words(core.units(text)), partial(twin, k=k)


def fingerprinting(hash, bits, scheme, tie, top):
    """Compare the number of features and the words of the fingerprint."""
    changes = {"hash": hash, "bits": bits, "tie": tie}
    core = recipe_of("characters", weigh={"scheme": scheme, "top": top}, sketch=changes)

    def native(text):
        count, made, _ = core.sketch(core.normalize(text), None)
        return count, sum(word << 64 * at for at, word in enumerate(made))

    def slow(text):
        weights = SCHEMES[scheme](recipes.units(text))
        count = len(weights)
        weights = weights if top is None else weigh.top(weights, top)
        return count, sketch.simhash(weights, bits, HASHES[hash], tie) if weights else 0

    return native, slow


def choosing(name, k, drop_punctuation=False, **settings):
    """Compare the number of features, and the values of the signature or the sample."""
    stages = {"segment": {"k": k}, "weigh": {"drop_punctuation": drop_punctuation}}
    core = recipe_of(name, **stages, sketch=settings)

    def slow(text):
        units = recipes.shingles(text, k, drop_punctuation, by_script=name == "general")
        if name == "minhash":
            return len(units), minhash.signature(units, settings["num_perm"])
        return len(units), sample.sample(units, settings["size"])[1]

    return lambda text: core.sketch(core.normalize(text), None)[::2], slow


def of_paper(text):
    (packed,) = get_aligner().sketches(pa.array([text], pa.large_string()), workers=1)
    return np.frombuffer(packed, "<u4").tolist()


def many_of(functions, rows):
    """Return (native, twin) by the row of settings that they are made of."""
    return {str(row): functions(*row) for row in rows}


NORMALIZE = {str(settings): normalizing(**settings) for settings in SETTINGS}
ANY_BITS = [("xxh3", bits) for bits in WIDTHS] + [
    (hash, bits) for hash in ("news", "bkdr") for bits in (1, 2, 31, 32, 33, 53, 54, 63, 64)
]
HASHED = zip(
    *zip(*itertools.product(ANY_BITS, SCHEMES), strict=True),
    itertools.cycle((0, 0, 1, 1)),
    itertools.cycle((None, 3, None, 1, None)),
)
K = (1, 2, 5)
#: For each stage its texts, and its function and the twin, both of a text, by settings.
STAGES = {
    "normalize": (texts(), NORMALIZE),
    "drop ends": (POSTS | texts(), {"": normalizing(**ALL_OFF, ends="drop")}),
    "look-alikes": (LETTERS, {"": (_core.unmask, look_alikes.unmask)}),
    **{
        way: (
            texts() | st.text(st.sampled_from("雨é ab1。🙂━\u1e01"), max_size=60),
            many_of(partial(segmenting, way, twin), [(k,) for k in lengths]),
        )
        for way, twin, lengths in (
            ("by-script", segment.by_script, (1, 2, 3, 7)),
            ("shingles", segment.shingles, (1, 2, 5, 31)),
            ("script-shingles", segment.script_shingles, (1, 2, 5, 31)),
        )
    },
    "tagged": (
        st.text(st.sampled_from("雨雪a/ \n\t\u3000wnd"), max_size=40),
        {
            "": (
                recipe_of(
                    "characters", segment={"units": "tagged", "drop_tags": ("wn", "wd")}
                ).units,
                partial(segment.tagged, drop_tags=("wn", "wd")),
            )
        },
    ),
    "fingerprint": (
        texts(),
        many_of(lambda hashed, *rest: fingerprinting(*hashed, *rest), HASHED),
    ),
    "signature": (
        texts(max_size=200),
        {
            f"{n} {k} {drop}": choosing("minhash", k, drop, num_perm=n)
            for n in NUM_PERMS
            for k in K
            for drop in (False, True)
            if n == 64 or not drop
        },
    ),
    "sample": (
        texts(max_size=200),
        {
            f"{size} {k} {drop}": choosing("general", k, drop, size=size)
            for size, k, drop in itertools.product(SIZES, K, (False, True))
        },
    ),
    "paper": (
        st.lists(texts(), max_size=3).map("國學".join) | st.text("ab學国12 Ａ，", max_size=120),
        {"": (of_paper, align.sketch)},
    ),
}


#: What foldings and numbers are about.
MORE = {
    "normalize letters": (LETTERS, NORMALIZE),
    "normalize numbers": (NUMBERS, NORMALIZE),
    "numbers": (NUMBERS, {"": normalizing(**ALL_OFF, numbers="value")}),
}


@pytest.mark.parametrize("stage", STAGES | MORE)
@given(data=st.data())
def test_stage_is_its_twin(stage, data):
    strategy, functions = (STAGES | MORE)[stage]
    settings = st.sampled_from(sorted(functions))
    for text, chosen in data.draw(st.lists(st.tuples(strategy, settings), min_size=1, max_size=12)):
        native, twin = functions[chosen]
        assert native(text) == twin(text)


@pytest.mark.parametrize(("spelled", "notations"), SPELLINGS)
def test_twin_spells_each_notation_of_the_core(spelled, notations):
    assert {numbers.spell(notation) for notation in notations.split(" | ")} == {spelled}


#: Texts at the bounds of a rule.
BOUNDS = {
    "apostrophes": "don't o’clock l'été 5’6 rock'n’roll ’tis 。'。",
    "blanks after most": "报 纸 a b c",
    "blanks after some": "报纸 a b cd ef",
    "halves of a day": "晚上4点 晚上5点 晚0点 晚11点 晚12点 下午1点 下午0点 上午12点 早上13点",
    "am and pm": "0:30 am 13:30 pm 12:30am 1:05 p.m",
    "dates": "13/12/2024 12/13/2024 5/5/2024 1/2/2024 2024-2-1 31/1/2024 32/1/2024 2999-1-1",
    "days": "12月31日 1月32日 13月1日 march 31 march 32 31st of may 2024 may 5 may 0 99 1000",
    "numerals": "三百五 三百五十 三百零五 一万五 百五 二十三十 三亿五千万 一二三四 五〇 十点五",
    "words": "nineteen hundred and five thousand twenty one million zero hundred twenty zero",
    "long runs": f"{'7' * 40} {'7' * 41} {'3' * 39}.5 {2**128 - 1} {2**128}",
    "names": f"@{'a' * 30} 今天 @{'a' * 30}",
    "long names": f"@{'a' * 31} 今天 @{'a' * 31}",
    "half of a word": "абxy абвx abж абвxyz",
    "scripts": "写abcd 写abcde 写abcdef 写abcdefghij",
}


@pytest.mark.parametrize("stage", STAGES)
def test_named_texts_are_as_in_the_twin(stage):
    for settings, (native, twin) in STAGES[stage][1].items():
        for name, text in (TEXTS | BOUNDS).items():
            assert native(text) == twin(text), (name, settings)


@pytest.mark.parametrize("fold", FOLDINGS)
def test_single_letters_are_folded_as_in_the_twin(fold):
    """The table is OpenCC's; points are those of Unicode."""
    native, twin = normalizing(**ALL_OFF, fold=(fold,))
    lines = "\n".join(map(chr, (*range(0xD800), *range(0xE000, 0x33480))))
    folded = zip(native(lines).split("\n"), twin(lines).split("\n"), strict=True)
    assert [pair for pair in folded if pair[0] != pair[1]] == []


@given(st.lists(texts(), max_size=6), st.sampled_from(WIDTHS), st.sampled_from((1, 2)))
def test_many_sketches_are_single_ones(many, bits, workers):
    recipe = load_recipe("characters").replace(sketch={"bits": bits})
    rows = fingerprint_many(many, recipe=recipe)
    assert (rows.shape, rows.dtype) == ((len(many), -(-bits // 64)), np.uint64)
    prints = [fingerprint(text, recipe=recipe) for text in many]
    assert rows.tolist() == [sketch.words64(p.value if p else 0, bits) for p in prints]
    recipe = load_recipe("minhash").replace(sketch={"num_perm": bits})
    rows = sketch_texts(many, None, recipe, workers).signatures()
    assert rows.dtype == np.uint32
    assert rows.tolist() == [recipes.minhash(text, bits) for text in many]


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("bits", WIDTHS)
def test_sums_of_long_texts_are_as_in_the_twin(bits, scheme):
    """Sums that outgrow a byte, and as many features as counters may be wide."""
    rng = random.Random(bits)
    native, twin = fingerprinting("xxh3", bits, scheme, 0, None)
    for length in (2, 3, 4, 5, 8, 9, 16, 17, 32, 33, 64, 65, 128, 129, 257, 513, 1025, 3000):
        # Few characters, so that shingles repeat; for the last text more than a byte counts.
        text = "".join(rng.choices("山水云雨风雪花月", k=length // 3))
        text += "".join(rng.choices(DISTINCT, k=length - len(text)))
        assert native(text) == twin(text), length


@given(st.data(), st.sampled_from((1, 5, 8, 47, 64, 128, 256)))
def test_blocks_of_a_fingerprint(data, bits):
    """Put together they are the fingerprint; of near fingerprints one is equal."""
    max_distance = data.draw(st.integers(0, bits - 1))
    value = data.draw(st.integers(0, 2**bits - 1))
    near = value
    for bit in data.draw(st.lists(st.integers(0, bits - 1), max_size=max_distance)):
        near ^= 1 << bit
    cut, other = (Fingerprint(v, bits, "x").blocks(max_distance) for v in (value, near))
    width, wider = divmod(bits, max_distance + 1)
    widths = [width + (number < wider) for number in range(max_distance + 1)]
    places = itertools.accumulate([0, *widths[:-1]])
    assert sum(block << place for block, place in zip(cut, places, strict=True)) == value
    assert any(x == y for x, y in zip(cut, other, strict=True))


@pytest.mark.parametrize(
    ("parameter", "call"),
    [
        ("text", fingerprint),
        (r"texts\[1\]", lambda text: fingerprint_many(["好", text])),
        ("title", lambda text: fingerprint("好", title=text, recipe="improved")),
        (r"titles\[0\]", lambda text: fingerprint_many(["好"], titles=[text], recipe="improved")),
        ("title_b", lambda text: compare("好", "好", title_b=text, recipe="improved")),
    ],
)
def test_lone_surrogates_are_named(parameter, call):
    for number in (0xD800, 0xDFFF):
        with pytest.raises(InputError, match=rf"^{parameter}.*U\+{number:04X} at character 2"):
            call(f"早晨{chr(number)}好")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "feature"),
    [
        ("雨" * 3_500_000, "雨雨"),
        ("word " * 2_000_000, "word"),
        ("A" * 10_000_000, "a" * 10_000_000),
        ("🙂" * 2_500_000, None),
    ],
    # Or each worker reports the line as the name of the test.
    ids=["dense", "words", "one word", "no feature"],
)
def test_a_line_of_ten_megabytes(line, feature):
    """One feature decides all bits, however often it occurs or long it is."""
    found = fingerprint(line)
    assert (found and found.value) == (feature and sketch.xxh3(feature, 128))
    other = "something else" if feature else line + "🙂"
    assert dedup([line, other, line]).keep.tolist() == [True, True, False]


@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(5, 300)), min_size=2, max_size=2),
    st.sampled_from(SIZES),
)
def test_the_similarity_of_samples_is_the_twins(cuts, size):
    """The beginnings of texts: some share most, and their rates differ."""
    texts = [letters(random.Random(seed), length, DISTINCT) for seed, length in cuts]
    recipe = load_recipe("general").replace(sketch={"size": size}, decide={"measure": "sketch"})
    comparison = compare(*texts, recipe=recipe)
    a, b = (recipes.sample(text, size, by_script=True) for text in texts)
    assert comparison.measure == "sampled_resemblance"
    assert comparison.similarity == sample.resemblance(a, b)
    if a[0] == b[0] == 1:
        assert comparison.similarity == pytest.approx(comparison.resemblance, abs=1e-12)


@given(texts(), texts(), st.sampled_from(NUM_PERMS))
def test_the_similarity_of_signatures_is_the_twins(a, b, num_perm):
    recipe = load_recipe("minhash").replace(
        sketch={"num_perm": num_perm}, decide={"measure": "sketch"}
    )
    comparison = compare(a, b, recipe=recipe)
    if all(map(recipes.shingles, (a, b))):
        expected = minhash.equal_values(*(recipes.minhash(text, num_perm) for text in (a, b)))
        assert (comparison.measure, comparison.similarity) == ("equal_values", expected)
    else:
        assert (comparison.measure, comparison.similarity) == ("identical", float(a == b))


@pytest.mark.parametrize("size", [1, 8, 32])
def test_the_rate_doubles_where_twice_as_many_features_are_kept(size):
    """Texts of 5-shingles have four fewer than characters; all are distinct here."""
    native, twin = choosing("general", 5, size=size)
    for count in (size, 2 * size - 1, 2 * size, 4 * size - 1, 4 * size, 64 * size):
        text = "".join(DISTINCT[: count + 4])
        assert native(text) == twin(text)
        rate, _ = recipes.sample(text, size, by_script=True)
        assert rate == 2 ** ((count // size).bit_length() - 1)
