"""Collections of the benchmarks: they grow at their end, and their truth is an exact join's."""

import importlib
import random
import sys

import numpy as np
import pytest
from tests.conftest import ROOT

FOLDER = ROOT / "benchmarks"


@pytest.fixture
def corpora(monkeypatch):
    """The module, which imports its neighbours by their bare names."""
    monkeypatch.syspath_prepend(FOLDER)
    before = set(sys.modules)
    yield importlib.import_module("corpora")
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(FOLDER)):
            del sys.modules[name]


def pool(count):
    """Return clauses of 16 characters of which no two share one."""
    return [
        "".join(map(chr, range(index, index + 16)))
        for index in range(0x4E00, 0x4E00 + 16 * count, 16)
    ]


def test_the_beginning_of_a_larger_collection_is_the_smaller_one(corpora):
    small, large = (list(corpora.Clauses(pool(50), count).records()) for count in (150, 400))
    assert large[:150] == small


def test_the_truth_of_clauses_is_that_of_an_exact_join(corpora):
    # So few clauses that texts of different families resemble each other, or are equal.
    collection = corpora.Clauses(pool(4), 200)
    texts = [record["text"] for record in collection.records()]
    expected = corpora.truth.resemblance_pairs(texts, corpora.THRESHOLD)
    within_families = len(collection.pairs)
    result = np.array(collection.truth())
    assert within_families < len(result)
    assert [tuple(pair) for pair in result[:, :2]] == sorted(tuple(p) for p in expected[:, :2])


def test_planted_pairs_have_the_resemblance_of_their_texts(corpora):
    draw = random.Random(0)
    texts = ["".join(draw.choices("船到码头货物上岸。", k=250)) for _ in range(40)]
    collection = corpora.with_copies(texts, 10, draw)
    assert [record["text"] for record in collection.records()] == collection.texts
    assert len(collection.truth()) == 10
    assert {collection.texts[text] for _, text in collection.planted} <= set(texts)
    for copy, text, value in collection.truth():
        sets = (corpora.shingles(collection.texts[place]) for place in (copy, text))
        assert value == corpora.resemblance(*sets)
        assert value > 0.3


@pytest.mark.parametrize("distance", [1, 3, 6])
def test_near_pairs_are_those_of_brute_force(corpora, distance):
    rng = np.random.default_rng(1)
    base = rng.integers(0, 2**64, 300, dtype=np.uint64)
    flips = np.uint64(1) << rng.integers(0, 64, (4, 300), dtype=np.uint64)
    points = np.concatenate((base, base ^ np.bitwise_or.reduce(flips, axis=0)))
    distances = np.bitwise_count(points[:, None] ^ points[None, :])
    expected = np.argwhere(np.triu(distances <= distance, 1))
    assert np.array_equal(corpora.truth.near_pairs(points, distance), expected)


@pytest.mark.usefixtures("corpora")
def test_all_cases_are_listed():
    cases = importlib.import_module("run").cases()
    assert {"news", "accuracy", "subjects", "index", "server"} <= set(cases)
