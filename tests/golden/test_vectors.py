"""Every built-in recipe against vectors that the twins computed."""

import json

import pytest
from tests.golden import regenerate
from tests.reference import recipes, segment, sketch
from tests.weights import weights_of

from neardup import count_idf, fingerprint, fingerprint_many, load_recipe
from neardup.recipe import NAMES
from neardup.recipe.assets import compiled

TEXTS = regenerate.texts()
VECTORS = json.loads((regenerate.HERE / "vectors.json").read_text("utf-8"))
NUMBERS = range(len(TEXTS))
# Without features there is no fingerprint; the last text is one stop word.
EMPTY = {("classic", 6), ("keywords", 6), ("improved", 6)}
CORPUS = [document["text"] for document in TEXTS]
TITLES = [document["title"] or None for document in TEXTS]


def test_the_twins_still_compute_the_file():
    assert regenerate.vectors(TEXTS) == VECTORS


@pytest.mark.parametrize("at", NUMBERS)
def test_words_and_parts_of_speech(at):
    core = compiled(load_recipe("classic"))
    units = core.units(core.normalize(CORPUS[at]))
    assert [unit for unit in units if unit[0] != " "] == segment.tagged(TEXTS[at]["words"])
    tokens = [word for word, _ in compiled(load_recipe("news")).units(CORPUS[at])]
    assert tokens == TEXTS[at]["tokens"].split("|")


def expected(name, at):
    value = int(VECTORS[at]["fingerprints"][name], 16)
    return 0 if (name, at) in EMPTY else value


ALONE = {
    **{
        f"characters-{bits}": load_recipe("characters").replace(sketch={"bits": bits})
        for bits in regenerate.WIDTHS
    },
    **{name: load_recipe(name) for name in ("classic", "news", "bkdr")},
}


@pytest.mark.parametrize("name", ALONE)
@pytest.mark.parametrize("at", NUMBERS)
def test_fingerprints_of_single_texts(name, at):
    text = TEXTS[at]["words"] if name == "bkdr" else CORPUS[at]
    found = fingerprint(text, recipe=ALONE[name])
    assert (0 if found is None else found.value) == expected(name, at)


def values_of(name, at):
    core = compiled(load_recipe(name))
    return core.sketch(core.normalize(CORPUS[at]), None)[2]


@pytest.mark.parametrize("at", NUMBERS)
def test_minhash(at):
    values = values_of("minhash", at)
    assert regenerate.listed(values) == VECTORS[at]["minhash"]
    assert values == recipes.minhash(CORPUS[at])


@pytest.mark.parametrize("name", sorted(regenerate.SIZES))
@pytest.mark.parametrize("at", NUMBERS)
def test_samples(at, name):
    keys, pinned = values_of(name, at), VECTORS[at]["samples"][name]
    assert (len(keys), regenerate.listed(keys)) == (pinned["size"], pinned["keys"])
    assert keys == regenerate.sample(CORPUS[at], name)[1]


def test_a_golden_text_is_long_enough_to_be_sampled():
    rates = [VECTORS[at]["samples"]["general"]["rate"] for at in NUMBERS]
    assert set(rates) == {1, 2}


@pytest.mark.parametrize("name", ["classic", "keywords", "improved", "news"])
def test_recipes_over_the_corpus(name):
    rows = fingerprint_many(CORPUS, titles=TITLES, recipe=name)
    assert [row for (row,) in rows.tolist()] == [expected(name, at) for at in NUMBERS]


@pytest.mark.parametrize("name", ["keywords", "improved"])
def test_weights_over_a_table_of_the_corpus(name, tmp_path):
    """The weights themselves: a fingerprint shows only the signs of their sums."""
    table = tmp_path / "idf.txt"
    count_idf(CORPUS, recipe=name).save(table)
    recipe = load_recipe(name).replace(weigh={"idf": str(table), "top": None})
    core = compiled(recipe)
    for at in NUMBERS:
        weights = weights_of(core, core.normalize(CORPUS[at]), TITLES[at])
        assert weights == ({} if (name, at) in EMPTY else VECTORS[at][name])


def test_every_built_in_recipe_is_pinned():
    pinned = {name.partition("-")[0] for name in VECTORS[0]["fingerprints"]}
    # The published integers pin `news-words`.
    assert pinned | set(regenerate.SIZES) | {"minhash", "news-words"} == set(NAMES)


@pytest.mark.parametrize("tie", [0, 1])
def test_hashes_of_single_features(tie):
    """One feature: the fingerprint is its hash."""
    for name, hash in (("news", sketch.news), ("bkdr", sketch.bkdr), ("xxh3", sketch.xxh3)):
        for bits in (64, 32) if name == "xxh3" else range(1, 65):
            recipe = load_recipe("bkdr").replace(
                sketch={"hash": name, "bits": bits, "tie": tie}, decide={"max_distance": 0}
            )
            for word in ("灯塔", "a", "𠀀", "\ufeff", "x" * 300):
                assert fingerprint(f"{word}/n", recipe=recipe).value == hash(word, bits)
