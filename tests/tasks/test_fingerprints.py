"""Fingerprints of any width from 1 to 64 bits: every task takes them."""

import itertools
import json
import random

import pytest
from tests.reference import recipes, sketch
from tests.run.plans import plan

from neardup import (
    Index,
    ParameterError,
    SketchMismatchError,
    compare,
    dedup,
    fingerprint,
    fingerprint_files,
    fingerprint_many,
    load_recipe,
    near_pairs,
    pairs,
)
from neardup.recipe import NAMES
from neardup.recipe.rule import with_bits

WIDTHS = (1, 5, 8, 31, 33, 47, 63)


#: Of bkdr, whose share of equal bits stays: the largest distance that is less than half.
BELOW_HALF = {1: 0, 2: 0, 5: 2, 8: 3, 31: 15, 32: 15, 33: 16, 47: 23, 63: 31, 64: 31}


@pytest.mark.parametrize(
    ("name", "bits", "distance"),
    [*(("bkdr", *one) for one in BELOW_HALF.items()), ("news", 24, 3), ("news", 2, 1)],
)
def test_another_width_keeps_a_share_or_a_distance(name, bits, distance):
    recipe = with_bits(load_recipe(name), bits)
    settings = {"sketch": {"bits": bits}, "decide": {"max_distance": distance}}
    assert recipe.id == load_recipe(name).replace(**settings).id
    assert (recipe.sketch.bits, recipe.decide.max_distance) == (bits, distance)
    # Where texts decide there is none.
    assert with_bits(load_recipe("characters"), 64).decide == load_recipe("characters").decide
    assert with_bits(load_recipe(name), None) == load_recipe(name)


@pytest.mark.parametrize(
    ("name", "bits", "message"),
    [
        ("bkdr", 65, "from 1 to 64 with the hash 'bkdr'. Got 65"),
        ("news", 0, "from 1 to 256 with the hash 'news'. Got 0"),
        ("classic", 48, "one of 32, 64, 128, 256. Got 48"),
        ("general", 64, "left out, not 64, since.*'sample'"),
        ("minhash", 64, "left out, not 64, since.*'minhash'"),
    ],
)
def test_width_beyond_a_recipe_is_refused(name, bits, message):
    with pytest.raises(ParameterError, match=f"'bits' parameter must be.*{message}"):
        with_bits(load_recipe(name), bits)


def bkdr(bits, max_distance):
    decide = {"max_distance": max_distance, "min_features": 1}
    return load_recipe("bkdr").replace(sketch={"bits": bits}, decide=decide)


def documents(count, seed):
    """Tagged texts, of which each third shares most of its words with an earlier one."""
    rng = random.Random(seed)
    made = []
    for index in range(count):
        words = [chr(rng.randrange(0x4E00, 0x9000)) * 2 for _ in range(12)]
        if index % 3 == 2:
            words = rng.choice(made).split("/n ")[:-1]
            words[rng.randrange(len(words))] = "渡轮"
        made.append("".join(f"{word}/n " for word in words))
    return made


@pytest.mark.parametrize("bits", WIDTHS)
def test_files_and_plans_have_the_width(bits, tmp_path):
    source, output = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    texts = documents(9, bits)
    source.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts), "utf-8")
    recipe = bkdr(bits, min(3, bits))
    fingerprint_files([source], output, recipe=recipe)
    rows = [json.loads(line)["fingerprint"] for line in output.read_text("utf-8").splitlines()]
    assert rows == [f"{recipes.bkdr(text, bits):0{-(-bits // 4)}x}" for text in texts]
    planned = plan(1_000_000, recipe=recipe)
    assert planned.bits == bits >= max(planned.blocks, planned.key_bits)


@pytest.mark.slow
@pytest.mark.parametrize(("bits", "distance"), [(5, 0), (8, 1), (31, 3), (47, 5), (63, 9), (8, 8)])
def test_pairs_removals_and_an_index_agree(bits, distance, tmp_path):
    recipe = bkdr(bits, distance)
    texts = documents(120, bits)
    values = [recipes.bkdr(text, bits) for text in texts]

    def near(a, b):
        # Equal texts are duplicates whatever their fingerprints are.
        return sketch.distance(values[a], values[b]) <= distance or texts[a] == texts[b]

    expected = [(a, b) for a in range(120) for b in range(a + 1, 120) if near(a, b)]
    records = [{"id": str(number), "text": text} for number, text in enumerate(texts)]
    result = pairs(records, recipe=recipe).table.to_pylist()
    assert [(int(row["id_a"]), int(row["id_b"])) for row in result] == expected
    rows = fingerprint_many(texts, recipe=recipe)
    joined = near_pairs(rows, max_distance=distance, bits=bits)
    assert list(zip(joined.a.tolist(), joined.b.tolist(), strict=True)) == expected

    keeps = []
    for number in range(120):
        keeps.append(not any(keeps[item] and near(item, number) for item in range(number)))
    assert dedup(texts, recipe=recipe).keep.tolist() == keeps
    with Index(tmp_path / "index.db", recipe=recipe) as index:
        added = [index.add(str(number), text) is None for number, text in enumerate(texts)]
    assert added == keeps
    with Index(tmp_path / "index.db") as index:
        assert [index.query(text, 1) != [] for text in texts] == [True] * 120


# Fingerprints as values, and what may not meet.

#: The recipes that make fingerprints.
PRINTING = tuple(name for name in NAMES if load_recipe(name).sketch.kind == "simhash")

TEXT = "渡口的新渡轮下周试航，旧渡轮送进博物馆。"


#: Equal widths do not make fingerprints comparable: one setting is enough.
OTHER_SETTING = load_recipe("characters").replace(segment={"k": 3})
DECIDES_OTHERWISE = load_recipe("characters").replace(decide={"threshold": 0.9})


@pytest.mark.parametrize(
    ("a", "b"), [*itertools.combinations(PRINTING[:5], 2), ("characters", OTHER_SETTING)]
)
def test_fingerprints_of_two_recipes_never_meet(a, b):
    first, other = fingerprint(TEXT, recipe=a), fingerprint(TEXT, recipe=b)
    for meet in (first.distance, first.similarity):
        with pytest.raises(SketchMismatchError, match=f"{first.recipe_id}.*{other.recipe_id}"):
            meet(other)
    assert fingerprint(TEXT).distance(fingerprint(TEXT, recipe=DECIDES_OTHERWISE)) == 0


@pytest.mark.parametrize("bits", [32, 64, 128, 256])
def test_text_of_a_fingerprint_is_hexadecimal(bits):
    result = fingerprint(TEXT, recipe=load_recipe("characters").replace(sketch={"bits": bits}))
    assert len(str(result)) == bits // 4
    assert int(str(result), 16) == result.value < 2**bits
    assert result.similarity(result) == 1.0


@pytest.mark.parametrize("name", PRINTING)
@pytest.mark.parametrize("text", ["", " ", "\n\t", "\u200b", "。，！", "...", "🙂"])
def test_texts_without_features(name, text):
    result = fingerprint(text, recipe=name)
    # The news program counts all tokens, spaces and punctuation too.
    if text if name == "news" else text.strip() and name == "news-words":
        assert result is not None
    else:
        assert result is None
        assert not fingerprint_many([text], recipe=name).any()


# The news program counts all tokens, and bkdr refuses texts without tags.
@pytest.mark.parametrize("name", sorted({*NAMES} - {"news", "news-words", "bkdr"}))
@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        ("", "", True),
        ("。", "。", True),
        ("。", "，", False),
        ("", "。", False),
        ("。", TEXT, False),
    ],
)
def test_comparing_texts_without_features(name, a, b, same):
    comparison = compare(a, b, recipe=name)
    assert (comparison.similarity, comparison.duplicate) == (float(same), same)
    assert (comparison.measure, comparison.distance) == ("identical", None)


@pytest.mark.parametrize(
    ("recipe", "bits", "a", "b"),
    [("news", 64, TEXT, TEXT + "很快"), (bkdr(8, 3), 8, "渡轮/n 停航/v", "码头/n 停航/v")],
)
def test_recipe_of_distances_compares_bits(recipe, bits, a, b):
    comparison = compare(a, b, recipe=recipe)
    assert (comparison.bits, comparison.measure) == (bits, "equal_bits")
    assert comparison.similarity == 1 - comparison.distance / bits < 1


def test_repeats_of_one_unit_are_one_feature():
    """Such a fingerprint says nothing of the text, so only equal texts are equal."""
    assert len(dedup(["啊" * 6, "啊" * 30]).kept) == 2
    assert len(dedup(["啊" * 30, "啊" * 30]).kept) == 1
