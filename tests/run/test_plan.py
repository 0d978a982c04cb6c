"""Plans: derived from a similarity or a distance, by the formulas of the methods page."""

import itertools
import math
import re

import pytest
from tests.run.plans import plan

from neardup import ParameterError, load_recipe
from neardup.recipe import NAMES


@pytest.fixture(scope="module")
def page(root):
    return (root / "docs" / "methods.md").read_text("utf-8")


def test_the_table_of_the_methods_page(page):
    rows = re.findall(r"^\| ([01][.0-9]*) \| (\d+) \| (\d+) \| (\d+) \|$", page, re.MULTILINE)
    assert len(rows) > 5
    for threshold, *distances in rows:
        for bits, distance in zip((64, 128, 256), distances, strict=True):
            recipe = load_recipe("characters").replace(sketch={"bits": bits})
            result = plan(1000, recipe=recipe, threshold=float(threshold))
            assert result.max_distance == int(distance), (threshold, bits)


def test_the_formula_of_the_methods_page(page):
    share = float(re.search(r"p = ([0-9.]+) · arccos", page)[1])
    wanted = float(re.search(r"recall\(d\) ≥ ([0-9.]+[0-9])", page)[1])
    spread = float(re.search(r"deviation = ([0-9.]+) · √", page)[1])

    def predicted_recall(threshold, bits, distance):
        p = share * math.acos(2 * threshold / (1 + threshold)) / math.pi
        mean = bits * p
        deviation = spread * math.sqrt(mean * (1 - p))
        return 0.5 * math.erfc((mean - distance - 0.5) / deviation / math.sqrt(2))

    for bits in (32, 64, 128, 256):
        recipe = load_recipe("characters").replace(sketch={"bits": bits})
        for threshold in (0.3, 0.5, 0.66, 0.8, 0.95):
            result = plan(1000, recipe=recipe, threshold=threshold)
            expected = predicted_recall(threshold, bits, result.max_distance)
            assert result.predicted_recall == pytest.approx(expected, abs=1e-9)
            assert expected >= wanted
            assert predicted_recall(threshold, bits, result.max_distance - 1) < wanted


#: What each recipe decides by, and how it is searched.
DECIDES = {
    "general": ("content(5)", "postings"),
    "strict": ("content(5)", "postings"),
    "containment": ("containment(5)", "postings"),
    "aligned": ("aligned", "postings"),
    "characters": ("resemblance(5)", "blocks"),
    "classic": ("equal_bits", "blocks"),
    "keywords": ("equal_bits", "blocks"),
    "improved": ("equal_bits", "blocks"),
    "shingle": ("resemblance(5)", "prefix"),
    "shingle-sample": ("sampled_resemblance", "postings"),
    "minhash": ("resemblance(5)", "bands"),
    "news": ("equal_bits", "blocks"),
    "news-words": ("equal_bits", "blocks"),
    "bkdr": ("equal_bits", "scan"),
}


@pytest.mark.parametrize("name", NAMES)
def test_recipe_completes_the_call(name):
    recipe = load_recipe(name)
    result = plan(1_000_000, recipe=name)
    bits = recipe.sketch.bits if recipe.sketch.kind == "simhash" else None
    assert (result.documents, result.recipe_id) == (1_000_000, recipe.id)
    assert (result.kind, result.bits) == (recipe.sketch.kind, bits)
    assert result.threshold == recipe.decide.threshold
    measure, scheme = DECIDES[name]
    assert result.measure == measure
    # Scan and blocks are a matter of cost.
    assert result.scheme == scheme or {result.scheme, scheme} == {"scan", "blocks"}
    if recipe.decide.threshold is None:
        assert result.max_distance == recipe.decide.max_distance
        assert result.predicted_recall == 1.0


@pytest.mark.parametrize("name", ["general", "shingle", "shingle-sample", "minhash"])
def test_plans_of_other_sketches_than_fingerprints(name):
    result = plan(10_000, recipe=name, threshold=0.7)
    assert (result.bits, result.max_distance, result.blocks, result.tables) == (None, None, 0, 0)
    assert (result.comparisons, result.random_pairs, result.seconds) == (0, 0, 0)
    looked_up = plan(10_000, recipe=name, threshold=0.7, look_ups=True)
    sketch = load_recipe(name).sketch
    sampled = sketch.size if sketch.kind == "sample" else 0
    lists = [item.max_list_len for item in (looked_up, result)]
    assert lists == {"shingle": [None, None], "minhash": [1000, 10_000]}.get(name, [32, 10_000])
    assert (result != looked_up) is (name != "shingle")
    if name == "minhash":
        assert result.num_perm == 128
        assert 0 < result.bands * result.rows <= 128
        assert result.keys == result.bands
        assert 0.99 <= result.predicted_recall < 1
        assert result.bytes_per_document > 4 * 128
    else:
        assert (result.num_perm, result.bands, result.rows, result.s_curve) == (0, 0, 0, ())
        assert (looked_up.keys, result.keys) == ((24, sampled * 3 // 2) if sampled else (0, 0))
        assert (result.bytes_per_document is None) == (name == "shingle")


def chance_of_at_least(least, keys, share):
    """Return the probability that of so many keys, each shared with `share`, enough are."""
    return sum(
        math.comb(keys, count) * share**count * (1 - share) ** (keys - count)
        for count in range(least, keys + 1)
    )


@pytest.mark.parametrize(
    ("name", "size", "threshold"),
    [
        *itertools.product(["general", "shingle-sample", "shingle"], [None], [0.05, 0.4, 0.7, 1.0]),
        # Fewer keys than would be filed of a larger sample.
        *itertools.product(["general"], [1, 5, 16, 17], [0.5]),
    ],
)
def test_the_predicted_recall_of_samples(name, size, threshold):
    """Of the rare keys that are filed, of which a third of the threshold is asked for."""
    recipe = load_recipe(name) if size is None else load_recipe(name).replace(sketch={"size": size})
    share, size = 2 * threshold / (1 + threshold), recipe.sketch.size
    # `dedup` files documents under sixteen of them, `pairs` under all.
    for look_ups, keys in ((True, min(size, 16)), (False, size)):
        result = plan(1000, recipe=recipe, threshold=threshold, look_ups=look_ups)
        expected = chance_of_at_least(max(1, int(keys * threshold / 3)), keys, share)
        assert result.predicted_recall == pytest.approx(expected if size else 1.0, abs=1e-9)
        assert result.keys == (min(24, size * 3 // 2) if look_ups else size * 3 // 2)


@pytest.mark.parametrize("documents", [0, 1000, 10**7])
@pytest.mark.parametrize("threshold", [0.3, 0.55, 0.8, 1.0])
def test_s_curve_follows_from_the_bands(threshold, documents):
    result = plan(documents, recipe="minhash", threshold=threshold)

    def share(similarity):
        return 1 - (1 - similarity**result.rows) ** result.bands

    assert result.predicted_recall == pytest.approx(share(threshold), abs=1e-12)
    assert [similarity for similarity, _ in result.s_curve] == [index / 20 for index in range(21)]
    for similarity, predicted in result.s_curve:
        assert predicted == pytest.approx(share(similarity), abs=1e-12)


def test_unreachable_recall_is_told():
    """Pairs of so little in common are found as well as 128 values can."""
    result = plan(1000, recipe="minhash", threshold=0.02)
    assert (result.bands, result.rows) == (128, 1)
    assert result.predicted_recall == pytest.approx(1 - 0.98**128)


@pytest.mark.parametrize(
    ("name", "measure"),
    [
        ("classic", "content"),
        ("news", "content"),
        ("bkdr", "content"),
        ("characters", "resemblance"),
    ],
)
def test_a_threshold_with_every_recipe(name, measure):
    """By a measure of texts it is verified; the distance is derived or given too."""
    result = plan(1000, recipe=name, measure=measure, threshold=0.9)
    assert (result.threshold, result.measure) == (0.9, f"{measure}(5)")
    both = plan(1000, recipe=name, measure=measure, threshold=0.9, max_distance=7)
    assert (both.threshold, both.max_distance) == (0.9, 7)
    assert plan(1000, recipe=name, max_distance=7).threshold is None


def test_plan_predicts_its_cost():
    by_keys = plan(10_000_000, recipe="news")
    assert (by_keys.scheme, by_keys.blocks > 3, by_keys.tables > 0) == ("blocks", True, True)
    # Within 3 of 64 bits: 1 + 64 + 2016 + 41664 of 2^64 values.
    chance = 43745 / 2**64 * (1e7 * (1e7 - 1) / 2)
    assert by_keys.random_pairs == pytest.approx(chance, rel=1e-6)
    assert 0 < by_keys.seconds < 60
    assert 8 <= by_keys.bytes_per_document < 1000
    by_scan = plan(1000, recipe="characters")
    assert (by_scan.scheme, by_scan.blocks, by_scan.tables, by_scan.key_bits) == ("scan", 0, 0, 0)
    assert by_scan.comparisons == pytest.approx(1000 * 999 / 2, rel=0.01)


@pytest.mark.parametrize("look_ups", [False, True])
def test_more_documents_cost_more(look_ups):
    costs = [plan(n, recipe="news", look_ups=look_ups).seconds for n in (0, 1, 10**4, 10**6, 10**8)]
    assert all(a <= b for a, b in itertools.pairwise(costs))
    assert plan(2**32 - 1, recipe="news").documents == 2**32 - 1


def test_recipe_without_a_bound_is_refused():
    recipe = load_recipe("characters").replace(decide={"threshold": None})
    with pytest.raises(ParameterError, match="does not say what a duplicate is"):
        plan(recipe=recipe)
