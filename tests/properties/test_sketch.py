"""Fingerprints of every width, weighting and hash against the twins."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.hostile import TEXTS, texts
from tests.reference import normalize, recipes, segment, sketch, weigh

from neardup import (
    Fingerprint,
    InputError,
    compare,
    dedup,
    fingerprint,
    fingerprint_many,
    load_recipe,
)
from neardup.recipe.assets import compiled

WIDTHS = (32, 64, 128, 256)
HASHES = {"xxh3": sketch.xxh3, "news": sketch.news, "bkdr": sketch.bkdr}
SCHEMES = {"once": weigh.once, "tf": weigh.tf, "share": weigh.share}
BY_TF = load_recipe("characters").replace(weigh={"scheme": "tf"})
GENERAL = {bits: BY_TF.replace(sketch={"bits": bits}) for bits in WIDTHS}


def value(print_):
    return None if print_ is None else print_.value


@pytest.mark.parametrize("bits", WIDTHS)
@pytest.mark.parametrize("name", TEXTS)
def test_named_texts(name, bits):
    text = TEXTS[name]
    units = segment.by_script(normalize.normalize(text, **recipes.FOLDED), 2)
    expected = sketch.simhash(weigh.tf(units), bits, sketch.xxh3, 0) if units else None
    assert value(fingerprint(text, recipe=GENERAL[bits])) == expected


@given(st.lists(texts(), max_size=6), st.sampled_from(WIDTHS))
def test_many_are_single_ones(many, bits):
    rows = fingerprint_many(many, recipe=GENERAL[bits])
    assert rows.shape == (len(many), -(-bits // 64))
    assert rows.dtype == np.uint64
    for text, row in zip(many, rows.tolist(), strict=True):
        print_ = fingerprint(text, recipe=GENERAL[bits])
        assert row == sketch.words64(0 if print_ is None else print_.value, bits)


@given(
    texts(),
    st.sampled_from([("xxh3", b) for b in WIDTHS])
    | st.tuples(st.sampled_from(("news", "bkdr")), st.integers(1, 64)),
    st.sampled_from(sorted(SCHEMES)),
    st.sampled_from((0, 1)),
    st.sampled_from((None, 1, 3)),
)
def test_every_hash_scheme_tie_and_top(text, hash_and_bits, scheme, tie, top):
    hash_name, bits = hash_and_bits
    recipe = load_recipe("characters").replace(
        weigh={"scheme": scheme, "top": top},
        sketch={"hash": hash_name, "bits": bits, "tie": tie},
    )
    units = segment.by_script(normalize.normalize(text, **recipes.FOLDED), 2)
    features = SCHEMES[scheme](units)
    if top is not None:
        features = weigh.top(features, top)
    expected = sketch.simhash(features, bits, HASHES[hash_name], tie) if features else None
    assert value(fingerprint(text, recipe=recipe)) == expected


@pytest.mark.parametrize("scheme", sorted(SCHEMES))
@pytest.mark.parametrize("bits", WIDTHS)
def test_long_texts(bits, scheme):
    """Sums that outgrow a byte, and as many features as counters may be wide."""
    rng = random.Random(bits)
    kept = {"fold": (), "numbers": "keep"}
    recipe = GENERAL[bits].replace(normalize=kept, weigh={"scheme": scheme})
    for length in (2, 3, 4, 5, 8, 9, 16, 17, 32, 33, 64, 65, 128, 129, 257, 513, 1025, 3000):
        # Few characters, so that shingles repeat; for the last text more than a byte counts.
        text = "".join(rng.choices("山水云雨风雪花月", k=length // 3))
        text += "".join(chr(rng.randrange(0x4E00, 0x9000)) for _ in range(length - len(text)))
        units = segment.shingles(text, 2)
        expected = sketch.simhash(SCHEMES[scheme](units), bits, sketch.xxh3, tie=0)
        assert fingerprint(text, recipe=recipe).value == expected, length


@given(texts())
def test_the_number_of_features_is_that_of_distinct_units(text):
    core = compiled(GENERAL[128])
    count, _, _ = core.sketch(core.normalize(text), None)
    assert count == len(set(segment.by_script(normalize.normalize(text, **recipes.FOLDED), 2)))


@given(st.data(), st.sampled_from((1, 5, 8, 47, 64)))
def test_blocks_agree_where_the_pigeonhole_principle_says(data, bits):
    values = st.integers(0, 2**bits - 1)
    a, b = (Fingerprint(data.draw(values), bits, "x") for _ in range(2))
    max_distance = data.draw(st.integers(0, bits - 1))
    cut = a.blocks(max_distance), b.blocks(max_distance)
    assert len(cut[0]) == max_distance + 1
    if a.distance(b) <= max_distance:
        assert any(x == y for x, y in zip(*cut, strict=True))


@pytest.mark.parametrize("bits", WIDTHS)
def test_blocks_put_together_are_the_fingerprint(bits):
    whole_print = fingerprint("块的首尾相接就是指纹本身", recipe=GENERAL[bits])
    for max_distance in (0, 1, 2, 3, 6, bits - 1):
        cut = whole_print.blocks(max_distance)
        width, wider = divmod(bits, max_distance + 1)
        whole, shift = 0, 0
        for number, block in enumerate(cut):
            whole |= block << shift
            shift += width + (number < wider)
        assert (whole, shift) == (whole_print.value, bits)


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
    ],
    # Or each worker reports the line as the name of the test.
    ids=["dense", "words", "one word"],
)
def test_a_line_of_ten_megabytes(line, feature):
    """One feature decides all bits, however often it occurs or long it is."""
    assert fingerprint(line).value == sketch.xxh3(feature, 128)
    assert dedup([line, "something else", line]).keep.tolist() == [True, True, False]


@pytest.mark.slow
def test_ten_megabytes_without_a_feature():
    line = "🙂" * 2_500_000
    assert fingerprint(line) is None
    assert dedup([line, line, line + "🙂"]).keep.tolist() == [True, False, True]
