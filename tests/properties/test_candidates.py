"""Stage candidates: every scheme gives what trying all pairs gives."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.reference import candidates as twin
from tests.reference import sketch

from neardup import near_pairs
from neardup._core import Fingerprints

WIDTHS = (1, 5, 32, 61, 64, 128, 256)


def rows_of(fingerprints, bits):
    words = [sketch.words64(value, bits) for value in fingerprints]
    return np.array(words, np.uint64).reshape(len(fingerprints), -(-bits // 64))


def listed(near):
    columns = near if isinstance(near, tuple) else (near.a, near.b, near.distance)
    return list(zip(*(column.tolist() for column in columns), strict=True))


def by_places(hits):
    return sorted((query, stored, distance) for query, stored, distance in hits)


@st.composite
def fingerprints(draw, bits, max_size=40):
    """Values within some bits of each other, equal ones and far ones among them."""
    base = draw(st.lists(st.integers(0, 2**bits - 1), min_size=1, max_size=3))
    made = []
    for _ in range(draw(st.integers(0, max_size))):
        value = draw(st.sampled_from(base + made))
        for bit in draw(st.lists(st.integers(0, bits - 1), max_size=5)):
            value ^= 1 << bit
        made.append(value)
    return made


@pytest.mark.slow
@pytest.mark.parametrize("bits", WIDTHS)
@given(data=st.data())
def test_all_pairs(bits, data):
    values = data.draw(fingerprints(bits))
    max_distance = min(bits, data.draw(st.sampled_from((0, 1, 3, 6, 10, bits // 2, bits))))
    near = near_pairs(rows_of(values, bits), max_distance=max_distance, bits=bits)
    assert listed(near) == twin.near_pairs(values, max_distance)


@pytest.mark.slow
@pytest.mark.parametrize("bits", WIDTHS)
@given(data=st.data())
def test_scan_of_growing_fingerprints_equals_the_twin(bits, data):
    values = data.draw(fingerprints(bits))
    queries = data.draw(fingerprints(bits, max_size=6))
    asked = min(bits, data.draw(st.sampled_from((0, 3, 10, bits))))
    cut = data.draw(st.integers(0, len(values)))
    stored = Fingerprints(rows_of(values[:cut], bits), bits=bits)
    stored.add(rows_of(values[cut:], bits))
    assert len(stored) == len(values)
    near = stored.near(rows_of(queries, bits), max_distance=asked)
    assert listed(near) == by_places(twin.near(values, queries, asked))
    near_itself = stored.near(rows_of(values, bits), max_distance=asked)
    assert listed(near_itself) == by_places(twin.near(values, values, asked))


def many(bits, count, seed):
    """Enough fingerprints for the schemes with keys; a fifth have a near one."""
    rng = random.Random(seed)
    made = []
    for _ in range(count):
        value = rng.choice(made) if made and rng.random() < 0.2 else rng.getrandbits(bits)
        for bit in rng.sample(range(bits), rng.randint(0, 6)):
            value ^= 1 << bit
        made.append(value)
    return rows_of(made, bits)


def brute_force(rows, queries, max_distance, *, only_later=False):
    """Return hits by NumPy: a second opinion on sizes that the twin is too slow for.

    With `only_later`, of rows behind the query. Sums are made word by word: NumPy takes
    much longer to sum up short rows.
    """
    columns = np.ascontiguousarray(rows.T)
    hits = []
    for query, row in enumerate(queries):
        first = query + 1 if only_later else 0
        distance = np.zeros(len(rows) - first, np.uint16)
        for column, word in zip(columns[:, first:], row, strict=True):
            distance += np.bitwise_count(column ^ word)
        for stored in np.flatnonzero(distance <= max_distance):
            hits.append((query, first + int(stored), int(distance[stored])))
    return hits


@pytest.mark.parametrize(
    ("bits", "max_distance"), [(23, 1), (32, 2), (47, 3), (64, 0), (64, 3), (64, 6), (128, 8)]
)
def test_many_fingerprints(bits, max_distance):
    rows = many(bits, 4000, seed=bits + max_distance)
    both = brute_force(rows, rows, max_distance, only_later=True)
    assert len(both) > 100
    for workers in (1, 2):
        near = near_pairs(rows, max_distance=max_distance, bits=bits, workers=workers)
        assert listed(near) == both
    stored = Fingerprints(rows[:1], bits=bits)
    for begin in range(1, len(rows), 777):
        stored.add(rows[begin : begin + 777])
    queries = np.ascontiguousarray(rows[::40])
    near = stored.near(queries, max_distance=max_distance)
    assert listed(near) == brute_force(rows, queries, max_distance)


@pytest.mark.slow
@pytest.mark.parametrize(("bits", "max_distance"), [(64, 3), (64, 8), (128, 20), (256, 40)])
def test_very_many_fingerprints(bits, max_distance):
    rows = many(bits, 12_000, seed=bits)
    both = brute_force(rows, rows, max_distance, only_later=True)
    assert listed(near_pairs(rows, max_distance=max_distance, bits=bits)) == both
    queries = np.ascontiguousarray(rows[::100])
    stored = Fingerprints(rows, bits=bits)
    near = stored.near(queries, max_distance=max_distance)
    assert listed(near) == brute_force(rows, queries, max_distance)


def test_no_fingerprints():
    empty = np.zeros((0, 1), np.uint64)
    assert listed(near_pairs(empty)) == []
    stored = Fingerprints(empty, bits=64)
    assert len(stored) == 0
    for queries in (np.array([[7]], np.uint64), empty):
        assert listed(stored.near(queries, max_distance=3)) == []


@pytest.mark.parametrize(
    ("bits", "max_distance"), [(bits, d) for bits in WIDTHS for d in (0, 3, 7) if d < bits]
)
def test_the_bound_is_inside(bits, max_distance):
    """At the distance, one under, one over."""
    values = [0, 2**max_distance - 1, 2 ** (max_distance + 1) - 1]
    near = near_pairs(rows_of(values, bits), max_distance=max_distance, bits=bits)
    pairs = {(a, b) for a, b, _ in listed(near)}
    assert (0, 1) in pairs
    assert (0, 2) not in pairs
    assert (1, 2) in pairs or max_distance == 0
