"""Stage sketch against its twins: fingerprints of every kind, signatures and samples."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.kit.strategies import TEXTS, texts
from tests.reference import minhash, normalize, recipes, sample, segment, sketch, weigh
from tests.reference.characters import is_letter

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
from neardup.recipe.text_inputs import sketch_texts

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
def test_number_of_features_is_the_number_of_distinct_units(text):
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


NUM_PERMS = (16, 17, 64, 128, 200, 1024)
SIZES = (0, 1, 2, 7, 32)
SIGNING = {n: load_recipe("minhash").replace(sketch={"num_perm": n}) for n in NUM_PERMS}
SAMPLING = {n: load_recipe("general").replace(sketch={"size": n}) for n in SIZES}


def features(text, recipe):
    by_script = recipe.segment.units == "script-shingles"
    return recipes.shingles(text, recipe.segment.k, recipe.weigh.drop_punctuation, by_script)


def sampled(text, recipe):
    """Return the rate and the keys of a text."""
    by_script = recipe.segment.units == "script-shingles"
    filters = (recipe.segment.k, recipe.weigh.drop_punctuation, by_script)
    return recipes.sample(text, recipe.sketch.size, *filters)


def made(text, recipe):
    """Return the number of features and the values of the sketch."""
    core = compiled(recipe)
    count, _, values = core.sketch(core.normalize(text), None)
    return count, values


def long_text(seed, length):
    rng = random.Random(seed)
    return "".join(chr(rng.randrange(0x4E00, 0x9000)) for _ in range(length))


@pytest.mark.parametrize("name", TEXTS)
def test_sets_of_named_texts(name):
    for recipe in (*SIGNING.values(), *SAMPLING.values()):
        units = features(TEXTS[name], recipe)
        count, values = made(TEXTS[name], recipe)
        assert count == len(units)
        if recipe.sketch.kind == "minhash":
            assert values == minhash.signature(units, recipe.sketch.num_perm)
        else:
            assert values == sampled(TEXTS[name], recipe)[1]


@given(texts(max_size=200), st.sampled_from(NUM_PERMS), st.sampled_from((1, 2, 5)))
def test_signatures_are_the_twins(text, num_perm, k):
    recipe = SIGNING[num_perm].replace(segment={"k": k})
    count, values = made(text, recipe)
    units = features(text, recipe)
    assert (count, values) == (len(units), minhash.signature(units, num_perm))


@given(texts(max_size=200), st.sampled_from(SIZES), st.sampled_from((1, 2, 5)))
def test_samples_are_the_twins(text, size, k):
    recipe = SAMPLING[size].replace(segment={"k": k})
    count, values = made(text, recipe)
    assert (count, values) == (len(features(text, recipe)), sampled(text, recipe)[1])


@given(texts(max_size=200), st.sampled_from((1, 2, 5)))
def test_shingles_without_letters_and_digits_may_be_dropped(text, k):
    changes = {"segment": {"k": k}, "weigh": {"drop_punctuation": True}}
    signing, sampling = SIGNING[64].replace(**changes), SAMPLING[2].replace(**changes)
    units = features(text, signing)
    assert all(any(map(is_letter, unit)) for unit in units)
    assert made(text, signing) == (len(units), minhash.signature(units, 64))
    units = features(text, sampling)
    assert made(text, sampling) == (len(units), sampled(text, sampling)[1])


@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(5, 300)), min_size=2, max_size=2),
    st.sampled_from(SIZES),
)
def test_the_similarity_of_samples_is_the_twins(cuts, size):
    """The beginnings of texts: some share most, and their rates differ."""
    first, second = (long_text(seed % 3, length) for seed, length in cuts)
    recipe = SAMPLING[size].replace(decide={"measure": "sketch"})
    comparison = compare(first, second, recipe=recipe)
    a, b = (sampled(text, recipe) for text in (first, second))
    assert comparison.measure == "sampled_resemblance"
    assert comparison.similarity == sample.resemblance(a, b)
    if a[0] == b[0] == 1:
        assert comparison.similarity == pytest.approx(comparison.resemblance, abs=1e-12)


@given(texts(), texts(), st.sampled_from(NUM_PERMS))
def test_the_similarity_of_signatures_is_the_twins(a, b, num_perm):
    recipe = SIGNING[num_perm].replace(decide={"measure": "sketch"})
    comparison = compare(a, b, recipe=recipe)
    units = [features(text, recipe) for text in (a, b)]
    if all(units):
        signatures = [minhash.signature(of_text, num_perm) for of_text in units]
        assert comparison.measure == "equal_values"
        assert comparison.similarity == minhash.equal_values(*signatures)
    else:
        assert (comparison.measure, comparison.similarity) == ("identical", float(a == b))


@pytest.mark.parametrize("size", [1, 8, 32])
def test_the_rate_doubles_where_twice_as_many_features_are_kept(size):
    """Texts of 5-shingles have four fewer than characters; all are distinct here."""
    recipe = SAMPLING[32].replace(normalize={"fold": (), "numbers": "keep"}, sketch={"size": size})
    characters = [chr(0x4E00 + number) for number in range(70 * size + 4)]
    for count in (size, 2 * size - 1, 2 * size, 4 * size - 1, 4 * size, 64 * size):
        units = {"".join(characters[begin : begin + 5]) for begin in range(count)}
        rate, keys = sample.sample(units, size)
        assert rate == 2 ** ((count // size).bit_length() - 1)
        assert made("".join(characters[: count + 4]), recipe) == (count, keys)


@given(st.lists(texts(), max_size=6), st.sampled_from((16, 64)), st.sampled_from((1, 2)))
def test_many_signatures_are_single_ones(many, num_perm, workers):
    recipe = SIGNING[num_perm]
    rows = sketch_texts(many, None, recipe, workers).signatures()
    assert (rows.dtype, rows.shape[1:]) == (np.uint32, (num_perm,) if many else rows.shape[1:])
    signatures = [minhash.signature(features(text, recipe), num_perm) for text in many]
    assert rows.tolist() == signatures


def test_a_short_signature_begins_a_long_one():
    text = long_text(1, 400)
    assert made(text, SIGNING[1024])[1][:200] == made(text, SIGNING[200])[1]


def test_order_and_repetition_of_features_change_nothing():
    units = [long_text(number, 5) for number in range(40)]
    recipe = load_recipe("minhash").replace(segment={"k": 1})
    texts = ["".join(units), "".join(reversed(units)), "".join(units) * 2]
    for changes in ({}, {"sketch": {"kind": "sample", "num_perm": 128}}):
        sketches = [made(text, recipe.replace(**changes)) for text in texts]
        assert sketches[0] == sketches[1] == sketches[2]


def test_documents_choose_alike():
    """What two samples share is what the larger rate keeps of the shared features."""
    short, long = long_text(7, 300), long_text(7, 300) + long_text(8, 4000)
    (rate_short, keys), (rate_long, more) = (
        sample.sample(features(text, SAMPLING[32]), 32) for text in (short, long)
    )
    assert (rate_short, rate_long) == (8, 128)
    assert set(made(short, SAMPLING[32])[1]) == set(keys)
    shared = set(keys) & set(made(long, SAMPLING[32])[1])
    assert shared == set(sample.sample(features(short, SAMPLING[32]), 0)[1]) & set(more)
