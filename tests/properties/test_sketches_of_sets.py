"""Stage sketch, signatures and samples: against the twins, and their laws."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.hostile import TEXTS, texts
from tests.reference import minhash, recipes, sample
from tests.reference.characters import is_letter

from neardup import compare, load_recipe
from neardup.recipe.assets import compiled
from neardup.recipe.text_inputs import sketch_texts

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
def test_named_texts(name):
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
