"""Metrics: by hand and by their definitions; empty cases as documented."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.lab import Scores
from neardup.lab.metrics import KeptScores, b_cubed, bootstrap_interval, kept_scores

LABELS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=12)


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        (Scores(0, 0, 0), (1, 1, 1)),
        (Scores(0, 0, 2), (1, 0, 0)),
        (Scores(0, 2, 0), (0, 1, 0)),
        (Scores(0, 2, 2), (0, 0, 0)),
    ],
)
def test_scores_of_nothing(scores, expected):
    assert (scores.precision, scores.recall, scores.f1) == expected


@given(LABELS)
def test_b_cubed_is_its_definition(labels):
    def mean(a, b):
        """Over documents, the share of a's cluster that is in b's."""
        shares = []
        for index in range(len(a)):
            mine = [k for k in range(len(a)) if a[k] == a[index]]
            shares.append(Fraction(sum(b[k] == b[index] for k in mine), len(mine)))
        return float(sum(shares) / len(shares))

    result, true = np.array(labels).T
    scores = b_cubed(result, true)
    assert scores.precision == pytest.approx(mean(result, true))
    assert scores.recall == pytest.approx(mean(true, result))
    assert b_cubed(true, result).precision == scores.recall
    both = scores.precision + scores.recall
    assert scores.f1 == pytest.approx(2 * scores.precision * scores.recall / both)


def test_kept_by_hand():
    # True {0 1 2} {3 4} {5}. 1 rightly points at 0; 3 and 4 and 5 wrongly.
    scores = kept_scores(np.array([0, 0, 2, 0, 2, 2]), np.array([7, 7, 7, 8, 8, 9]))
    assert scores == KeptScores(to_drop=3, dropped=4, rightly=1, lost=2)


@given(LABELS)
def test_kept_within_true_clusters_loses_nothing(labels):
    true = [b for _, b in labels]
    first = [true.index(label) for label in true]
    scores = kept_scores(np.array(first), np.array(true))
    assert scores.rightly == scores.dropped == scores.to_drop == len(true) - len(set(true))
    assert scores.lost == 0


def test_the_interval_of_a_share_is_that_of_the_binomial():
    values = np.repeat([[1.0], [0.0]], [300, 700], axis=0)
    low, high = bootstrap_interval(values, lambda sums: sums[0] / 1000)
    deviation = (0.3 * 0.7 / 1000) ** 0.5
    assert low == pytest.approx(0.3 - 1.96 * deviation, abs=0.005)
    assert high == pytest.approx(0.3 + 1.96 * deviation, abs=0.005)


def test_the_interval_depends_on_the_seed_and_not_on_order():
    values = np.random.Generator(np.random.PCG64(1)).random((50, 2))

    def ratio(sums):
        return sums[0] / sums[1]

    first = bootstrap_interval(values, ratio, seed=5)
    assert first == pytest.approx(bootstrap_interval(values[::-1], ratio, seed=5))
    assert first != bootstrap_interval(values, ratio, seed=6)
    assert first[0] < values[:, 0].sum() / values[:, 1].sum() < first[1]
