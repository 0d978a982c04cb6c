"""Metrics: by hand and by their definitions; empty cases as documented."""

import numpy as np
import pytest

from neardup.lab import Scores
from neardup.lab.metrics import bootstrap_interval


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
