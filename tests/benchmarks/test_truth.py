"""The exact joins of the benchmarks give what brute force gives."""

import random
from itertools import combinations

import numpy as np
import pytest


@pytest.mark.parametrize("distance", [1, 3, 6])
def test_near_pairs_are_those_of_brute_force(module, distance):
    rng = np.random.default_rng(1)
    base = rng.integers(0, 2**64, 300, dtype=np.uint64)
    flips = np.uint64(1) << rng.integers(0, 64, (4, 300), dtype=np.uint64)
    points = np.concatenate((base, base ^ np.bitwise_or.reduce(flips, axis=0)))
    distances = np.bitwise_count(points[:, None] ^ points[None, :])
    expected = np.argwhere(np.triu(distances <= distance, 1))
    assert np.array_equal(module("truth").near_pairs(points, distance), expected)


def test_resembling_pairs_are_those_of_brute_force(module):
    draw = random.Random(0)
    texts = ["".join(draw.choices("船到码头货物上岸。", k=60)) for _ in range(30)]
    texts += [text[: draw.randint(40, 60)] for text in texts]
    sets = [{text[i : i + 5] for i in range(len(text) - 4)} for text in texts]
    expected = {
        (a, b): len(sets[a] & sets[b]) / len(sets[a] | sets[b])
        for a, b in combinations(range(len(texts)), 2)
    }
    expected = {pair: value for pair, value in expected.items() if value >= 0.8}
    found = module("truth").resemblance_pairs(texts, 0.8)
    pairs = {tuple(sorted((int(a), int(b)))): value for a, b, value in found}
    assert pairs == pytest.approx(expected)
    assert expected
