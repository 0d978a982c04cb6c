"""Plans: derived from a similarity or a distance, by the formulas of the methods page."""

import itertools
import math
import re

import pytest

from neardup import ParameterError, load_recipe, plan


@pytest.fixture(scope="module")
def page(root):
    return (root / "docs" / "methods.md").read_text("utf-8")


def test_the_table_of_the_methods_page(page):
    rows = re.findall(r"^\| ([01][.0-9]*) \| (\d+) \| (\d+) \| (\d+) \|$", page, re.MULTILINE)
    assert len(rows) > 5
    for threshold, *distances in rows:
        for bits, distance in zip((64, 128, 256), distances, strict=True):
            recipe = load_recipe("general").replace(sketch={"bits": bits})
            found = plan(1000, recipe=recipe, threshold=float(threshold))
            assert found.max_distance == int(distance), (threshold, bits)


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
        recipe = load_recipe("general").replace(sketch={"bits": bits})
        for threshold in (0.3, 0.5, 0.66, 0.8, 0.95):
            found = plan(1000, recipe=recipe, threshold=threshold)
            expected = predicted_recall(threshold, bits, found.max_distance)
            assert found.predicted_recall == pytest.approx(expected, abs=1e-9)
            assert expected >= wanted
            assert predicted_recall(threshold, bits, found.max_distance - 1) < wanted


def test_thresholds_and_distances_go_one_way():
    for bits in (32, 64, 128, 256):
        recipe = load_recipe("general").replace(sketch={"bits": bits})
        distances = [
            plan(1000, recipe=recipe, threshold=at / 100).max_distance for at in range(1, 101)
        ]
        assert distances == sorted(distances, reverse=True)
        assert distances[0] <= bits
        assert distances[-1] == 0


@pytest.mark.parametrize("name", ["general", "classic", "keywords", "improved", "news", "bkdr"])
def test_the_recipe_says_what_the_call_does_not(name):
    recipe = load_recipe(name)
    found = plan(recipe=name)
    assert (found.documents, found.recipe_id, found.bits) == (
        1_000_000,
        recipe.id,
        recipe.sketch.bits,
    )
    assert found.threshold == recipe.decide.threshold
    if recipe.decide.threshold is None:
        assert found.max_distance == recipe.decide.max_distance
        assert (found.measure, found.predicted_recall) == ("equal_bits", 1.0)
    else:
        assert found.measure == "resemblance(5)"


@pytest.mark.parametrize("name", ["classic", "news", "bkdr", "general"])
def test_a_threshold_with_every_recipe(name):
    """Given, it means verified resemblance; the distance is derived or given too."""
    found = plan(1000, recipe=name, threshold=0.9)
    assert (found.threshold, found.measure) == (0.9, "resemblance(5)")
    both = plan(1000, recipe=name, threshold=0.9, max_distance=7)
    assert (both.threshold, both.max_distance) == (0.9, 7)
    assert plan(1000, recipe=name, max_distance=7).threshold is None


def test_what_a_plan_costs():
    by_keys = plan(10_000_000, recipe="news")
    assert (by_keys.scheme, by_keys.blocks > 3, by_keys.tables > 0) == ("blocks", True, True)
    # Within 3 of 64 bits: 1 + 64 + 2016 + 41664 of 2^64 values.
    chance = 43745 / 2**64 * (1e7 * (1e7 - 1) / 2)
    assert by_keys.random_pairs == pytest.approx(chance, rel=1e-6)
    assert 0 < by_keys.seconds < 60
    assert 8 <= by_keys.bytes_per_document < 1000
    by_scan = plan(1000, recipe="general")
    assert (by_scan.scheme, by_scan.blocks, by_scan.tables, by_scan.key_bits) == ("scan", 0, 0, 0)
    assert by_scan.comparisons == pytest.approx(1000 * 999 / 2, rel=0.01)


@pytest.mark.parametrize("look_ups", [False, True])
def test_more_documents_cost_more(look_ups):
    costs = [plan(n, recipe="news", look_ups=look_ups).seconds for n in (0, 1, 10**4, 10**6, 10**8)]
    assert all(a <= b for a, b in itertools.pairwise(costs))
    assert plan(2**32 - 1, recipe="news").documents == 2**32 - 1


def test_a_recipe_that_does_not_decide():
    recipe = load_recipe("general").replace(decide={"threshold": None})
    with pytest.raises(ParameterError, match="does not say what a duplicate is"):
        plan(recipe=recipe)
