"""The twins against what others published or a hand can compute."""

import random
from collections import Counter

import pytest

from . import (
    candidates,
    dedup,
    minhash,
    normalize,
    postings,
    sample,
    segment,
    sketch,
    verify,
    weigh,
)

ALL = {"nfkc": True, "lowercase": True, "whitespace": "by-script", "drop_invisible": True}
OFF = {"nfkc": False, "lowercase": False, "whitespace": "keep", "drop_invisible": False}


def seeded_words(count, seed):
    """Return pseudo-words of one to four letters, some of them often."""
    rng = random.Random(seed)
    return ["".join(rng.choices("abcde", k=rng.randint(1, 4))) for _ in range(count)]


# normalize


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        ("ＡＢＣ１２３", "abc123"),
        ("ｶﾞラス", "ガラス"),
        ("か\u3099", "が"),
        ("新\u200b闻\ufeff", "新闻"),
        ("a\u00adb\x00c\x1fd", "abcd"),
        ("  one \t\r\n two　", "one two"),
        ("第一行\n第二行", "第一行第二行"),
        ("共 3 个 of 5", "共3个of 5"),
        ("结束。 End", "结束。end"),
        ("ΟΔΟΣ", "οδοσ"),
        ("İ", "i\u0307"),
        ("☂\ufe0f", "☂"),
        ("x\n（y", "x (y"),
        ("ﬁne", "fine"),
    ],
)
def test_normalize_everything(text, expected):
    assert normalize.normalize(text, **ALL) == expected


def test_normalize_collapse_keeps_one_space_between_ideographs():
    assert (
        normalize.normalize("第一行\n 第二行 ", **OFF | {"whitespace": "collapse"})
        == "第一行 第二行"
    )


def test_normalize_by_script_alone_knows_full_width_punctuation():
    """With NFKC it is ASCII by then, and the white space beside it stays."""
    assert normalize.normalize("x\n（y", **OFF | {"whitespace": "by-script"}) == "x（y"


def test_normalize_composes_before_it_drops():
    """A joiner keeps two characters apart in step 1 and is gone after step 2."""
    assert normalize.normalize("か\u200b\u3099", **ALL) == "か\u3099"


# segment


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("今天下雨", ["今天", "天下", "下雨"]),
        ("用rust写的", ["用", "rust", "写的"]),
        ("2020年3月", ["2020", "年", "3", "月"]),
        ("naïve café, twice", ["naïve", "café", "twice"]),
        ("雨，雪", ["雨", "雪"]),
        ("人々", ["人々"]),
        ("コーヒー", ["コー", "ーヒ", "ヒー"]),
        ("か\u3099く", ["か\u3099", "\u3099く"]),
        ("q\u0303a", ["q\u0303a"]),
        ("雨\u0301a", ["雨\u0301", "a"]),
        ("\u0301a", ["\u0301a"]),
        ("Ⓐ雪", ["Ⓐ", "雪"]),
        ("、。!? ", []),
    ],
)
def test_by_script(text, expected):
    assert segment.by_script(text) == expected


def test_tagged():
    text = "城市/n 的/u \n雨/n ，/wd 、/wn //w 无标记 雨/n 1/2/m 澜江/null"
    assert segment.tagged(text, drop_tags=("wd", "wn")) == [
        ("城市", "n"),
        ("的", "u"),
        ("雨", "n"),
        ("", "w"),
        ("雨", "n"),
        ("1", "m"),
        ("澜江", ""),
    ]


def test_external():
    text = "雨\x1fn\x1e\x1e下\x1e\x1fx\x1e"
    assert segment.external(text) == [("雨", "n"), ("下", "")]


# weigh


def test_counts():
    units = ["b", "a", "b"]
    assert weigh.once(units) == {"b": 1, "a": 1}
    assert weigh.tf(units) == {"b": 2, "a": 1}
    assert weigh.share(units) == {"b": 4, "a": 1}


def test_tf_idf_by_hand():
    """ln(100 / 1 + 0.01) = 4.60527..., and 65536 times that is 301811.0..."""
    assert weigh.idf_q(100, 1) == 301811
    assert weigh.idf_q(7, 7) == 652  # ln 1.01 = 0.00995033
    assert weigh.tf_idf(["x", "x", "y"], 7, {"x": 7}) == {"x": 1304, "y": weigh.idf_q(7, 1)}


def test_improved_by_hand():
    """One noun in the title, one verb that is a marker, one other word."""
    tagged = [("bridge", "n"), ("so", "v"), ("bridge", "n"), ("very", "d")]
    df = {"bridge": 7, "so": 7, "very": 7}
    weights = weigh.improved(tagged, 7, df, markers=("so", "er"), title="the bridge")
    assert weights == {
        "bridge": 2 * 652 * (1 + 3 + 5 + 1),  # length factor 1: the longest
        "so": 652 * (1 + 2 + 5),  # length factor 0: the shortest
        "very": 652 * (1 + 1) + 652 // 2,  # length factor one half
    }


@pytest.mark.parametrize("seed", range(3))
def test_improved_in_integers_orders_as_the_formula_does(seed):
    """The integers are the printed scores times n * 2^16, to within rounding."""
    rng = random.Random(seed)
    tags = dict.fromkeys(seeded_words(200, seed))
    tags = {word: rng.choice(["n", "nr", "v", "d", ""]) for word in tags}
    tagged = [(word, tags[word]) for word in seeded_words(200, seed)]
    df = {word: rng.randint(1, 1000) for word in tags}
    options = {"markers": ("ab", "ce", "bcd"), "title": "abcde cab"}
    integers = weigh.improved(tagged, 1000, df, **options)
    scores = weigh.improved_float(tagged, 1000, df, **options)
    for word, weight in integers.items():
        expected = scores[word] * len(tagged) * weigh.ONE
        # Half a unit of the logarithm, times tf and the largest factor, and one for the shift.
        assert abs(weight - expected) <= 0.5 * len(tagged) * 15 + 1
    fingerprints = {
        sketch.simhash(integers, 64, sketch.xxh3, 0),
        sketch.simhash(scores, 64, sketch.xxh3, 0),
    }
    assert len(fingerprints) == 1


@pytest.mark.parametrize(
    ("word", "marker", "expected"),
    [
        ("但是", "但是", True),
        ("但是呢", "但是", False),
        ("事故", "故", False),
        ("更新", "更", False),
        ("第一", "一", False),
        ("故", "故", True),
        ("综上所述可见", "综上所述", True),
        ("据", "据…", True),
        ("数据", "据…", False),
        ("但", "但是", False),
        ("以此为例", "以…为例", True),
        ("以为例", "以……为例", True),
        ("为例以", "以…为例", False),
    ],
)
def test_markers(word, marker, expected):
    assert weigh.is_marked(word, marker) is expected


def test_top_breaks_ties_by_code_points():
    assert weigh.top({"b": 2, "a": 2, "c": 3, "d": 1}, 2) == {"c": 3, "a": 2}


# sketch


@pytest.mark.parametrize("tie", [0, 1])
def test_tie(tie):
    hashes = {"x": 0b01, "y": 0b10}
    both = sketch.simhash({"x": 3, "y": 3}, 2, lambda f, _: hashes[f], tie)
    assert both == (0b11 if tie else 0)


def test_xxh3_of_the_empty_input_is_the_published_one():
    """Test vectors of the xxHash specification: length 0, seed 0."""
    assert sketch.xxh3("", 64) == 0x2D06800538D394C2
    assert sketch.xxh3("", 32) == 0x38D394C2
    assert sketch.xxh3("", 128) == 0x99AA06D3014798D86001C324468D497F
    assert sketch.xxh3("", 256) & (2**128 - 1) == sketch.xxh3("", 128)


def test_hashes_see_utf16_code_units():
    assert sketch.code_units("a😀") == [0x61, 0xD83D, 0xDE00]
    assert sketch.news("", 64) == 0
    assert sketch.news("a", 64) == ((0x61 << 7) * 1000003 ^ 0x61) ^ 1
    assert sketch.bkdr("ab", 32) == 0x61 * 31 + 0x62
    assert sketch.signed64(2**63) == -(2**63)


def test_split_mix_is_the_published_one():
    """The first outputs of SplitMix64 from seed 0."""
    published = [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]
    assert minhash.split_mix(3) == published
    assert minhash.orders(1) == [(0x7B1DCDAF, 0xE220A839)]
    assert all(a % 2 for a, _ in minhash.orders(64))


def test_signature_by_hand():
    """XXH3 of the empty input ends in 38d394c2."""
    (rank,) = {(0x7B1DCDAF * 0x38D394C2 + 0xE220A839) % 2**32}
    assert minhash.signature([""], 16)[0] == rank
    assert minhash.signature([], 2) == [2**32 - 1] * 2
    first, second = (minhash.signature(units, 64) for units in ("abcd", "abce"))
    both = minhash.signature("abcde", 64)
    assert [min(pair) for pair in zip(first, second, strict=True)] == both
    assert minhash.equal_values([1, 2, 3, 4], [1, 2, 4, 3]) == 0.5
    assert minhash.share_a_band([1, 2, 3, 4], [9, 2, 3, 4], 2, 2)
    assert not minhash.share_a_band([1, 2, 3, 4], [1, 9, 9, 4], 2, 2)
    # Values behind the last band are in none.
    assert not minhash.share_a_band([1, 2, 3], [9, 2, 3], 1, 2)


def test_sample_by_hand():
    assert [sample.rate_of(count, 32) for count in (0, 31, 63, 64, 127, 128)] == [1, 1, 1, 2, 2, 4]
    assert sample.rate_of(10**6, 0) == 1
    keys = sorted(sketch.xxh3(unit, 64) >> 32 for unit in "abc")
    assert sample.sample("abc", 2) == (1, keys)
    rate, kept = sample.sample("abcdefgh", 2)
    assert (rate, kept) == (
        4,
        sorted(key for unit in "abcdefgh" if (key := sketch.xxh3(unit, 64) >> 32) < 2**30),
    )
    assert sample.rate_of(10**9, 32) == 4096
    assert sample.resemblance((1, [1, 2, 3]), (1, [2, 3, 4])) == 0.5
    # At rate 2 keys end below 2^31.
    assert sample.resemblance((1, [1, 2, 2**31 - 1, 2**31]), (2, [1, 9])) == 1 / 4
    assert sample.resemblance((1, [2**31]), (2, [1])) == 0.0
    assert sample.resemblance((1, []), (1, [])) == 0.0


def near(filed, asking, threshold, others=()):
    """Return whether a document is found by another, in a collection with others."""
    lists = postings.Postings([filed, asking, *others], threshold, 32)
    lists.insert(0)
    return lists.near(1) == [0]


def test_postings_by_hand():
    # Of sixteen keys at .6 three must be shared; the seventeenth is not looked at.
    usual = range(100, 112)
    assert near(range(20), [0, 5, 15, *usual], 0.6)
    assert not near(range(20), [0, 5, *range(16, 20), *usual], 0.6)
    assert not near([1, 2], [3, 4], 0.4)
    assert postings.enough(16, 0, 0.45) == (2, 4)
    assert postings.enough(12, 6, 0.6) == (2, 5)
    assert postings.enough(0, 6, 0.45) == (1, 2)
    assert postings.enough(0, 0, 0.45) == (1, 1)
    # Keys 100 to 109 are common, 105 and 106 in the most documents.
    many = [[*range(100, 110)]] * 33 + [[105, 106]] * 9
    keys = [1, 2, *range(100, 110)]
    documents = Counter(key for keys in many for key in keys)
    common = [100, 101, 102, 103, 104, 107, 108, 109]
    assert postings.choose(keys, documents, 0.5) == ([1, 2], common)
    # Of ten keys, three of any kind are as good as one rare.
    assert near(keys, [*range(3, 8), 100, 101, 107], 0.4, many)
    assert not near(keys, [*range(3, 12), 100, 105, 106, 107], 0.4, many)
    assert near(keys, [2], 0.4, many)


def test_pair_needs_the_smaller_number_of_keys():
    # Of sixteen keys at .6 three, of eight one.
    assert near(range(16), [0, *range(100, 107)], 0.6)
    assert near([0, *range(100, 107)], range(16), 0.6)
    assert not near(range(16), [0, *range(100, 115)], 0.6)


def test_only_what_is_filed_counts():
    """So which of two was filed matters where one has more keys than are filed."""
    assert not near(range(20), range(16, 20), 0.6)
    assert near(range(16, 20), range(20), 0.6)


def test_a_list_is_closed():
    lists = postings.Postings([[7]] * 5, 0.5, 3)
    for document in range(4):
        lists.insert(document)
    assert lists.near(4) == [0, 1, 2]


# candidates


def test_near_pairs_takes_the_bound_in():
    fingerprints = [0b0000, 0b0111, 0b1111]
    assert candidates.near_pairs(fingerprints, 3) == [(0, 1, 3), (1, 2, 1)]
    assert candidates.near(fingerprints, [0b0110], 2) == [(0, 1, 1), (0, 0, 2), (0, 2, 2)]


# verify


def test_resemblance_by_hand():
    """One of three shingles is shared: abcde, of abcde, bcdef and bcdeg."""
    assert verify.resemblance("abcdef", "abcdeg") == pytest.approx(1 / 3)
    assert verify.containment("abcdef", "abcdefgh") == 1.0
    assert verify.containment("abcdefgh", "abcdef") == 0.5
    assert verify.resemblance("ab", "ab") == 1.0
    assert verify.resemblance("ab", "ba") == 0.0
    assert verify.resemblance("", "a") == 0.0


def test_edit_distance_by_columns_is_the_textbook_one():
    assert verify.edit_distance("kitten", "sitting") == 3
    rng = random.Random(3)
    for _ in range(300):
        a, b = ("".join(rng.choices("abc", k=rng.randint(0, 12))) for _ in range(2))
        assert verify.edit_distance_by_columns(a, b) == verify.edit_distance(a, b)


# dedup


def test_the_most_similar_keeper_and_of_equals_the_earliest():
    table = {(0, 1): 0.1, (0, 2): 0.1, (1, 2): 0.1, (0, 3): 0.8, (1, 3): 0.9, (2, 3): 0.9}
    _, removals = dedup.dedup(4, lambda a, b: table[min(a, b), max(a, b)], 0.8)
    assert removals == [dedup.Removal(3, 1, 0.9)]
