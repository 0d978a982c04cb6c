"""Metrics: by hand, against scikit-learn, and by laws; empty cases as documented."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup import ParameterError
from neardup.lab import (
    KeptScores,
    Scores,
    adjusted_rand_index,
    average_precision,
    b_cubed,
    bootstrap_interval,
    kept_scores,
    pair_scores,
    precision_recall_curve,
)

LABELS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=12)


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


def test_pairs_have_no_order_and_count_once():
    result = [(1, 0), (0, 1), (2, 3), (7, 5)]
    assert pair_scores(result, [(0, 1), (3, 2), (8, 9)]) == Scores(tp=2, fp=1, fn=1)
    assert pair_scores([], []) == Scores(0, 0, 0)
    assert pair_scores(np.empty((0, 2), np.int64), [(0, 1)]) == Scores(0, 0, 1)


@pytest.mark.parametrize("bad", [[(0, 0)], [0, 1], [(0, 1, 2)], [("a", "b")], [(0.5, 1)]])
def test_what_is_no_pair(bad):
    with pytest.raises(ParameterError, match="'found' parameter must be pairs of"):
        pair_scores(bad, [(0, 1)])


def test_the_curve_by_hand():
    precision, recall, threshold = precision_recall_curve(
        [0.9, 0.8, 0.8, 0.4], [True, True, False, False], missed=2
    )
    assert threshold.tolist() == [0.9, 0.8, 0.4]
    assert precision.tolist() == [1, 2 / 3, 2 / 4]
    assert recall.tolist() == [1 / 4, 2 / 4, 2 / 4]
    result = average_precision([0.9, 0.8, 0.8, 0.4], [True, True, False, False], missed=2)
    assert result == pytest.approx(1 / 4 + 2 / 3 / 4)


def test_the_curve_of_nothing():
    assert [part.tolist() for part in precision_recall_curve([], [])] == [[], [], []]
    assert average_precision([], []) == 1
    assert average_precision([], [], missed=3) == 0
    assert average_precision([0.5], [False]) == 1
    assert precision_recall_curve([0.5], [False])[1].tolist() == [1]


@given(
    st.lists(st.tuples(st.integers(0, 9), st.booleans()), max_size=30),
    st.integers(0, 5),
    st.randoms(use_true_random=False),
)
def test_the_curve_knows_no_order(rows, missed, shuffle):
    def curve(chosen):
        return precision_recall_curve(
            [row[0] for row in chosen], np.array([row[1] for row in chosen], bool), missed=missed
        )

    first = curve(rows)
    shuffle.shuffle(rows)
    for before, after in zip(first, curve(rows), strict=True):
        np.testing.assert_array_equal(before, after)
    assert (np.diff(first[1]) >= 0).all()
    assert (np.diff(first[2]) < 0).all()


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        (([0.5], [True, False]), "is_true"),
        (([0.5], [1]), "is_true"),
        (([float("nan")], [True]), "similarity"),
        (([[0.5]], [[True]]), "similarity"),
    ],
)
def test_curves_of_what_is_no_pair(arguments, name):
    with pytest.raises(ParameterError, match=f"'{name}' parameter must be"):
        precision_recall_curve(*arguments)


@pytest.mark.parametrize(
    ("result", "true", "expected"),
    [
        ([], [], 1),
        ([3], ["a"], 1),
        ([0, 1, 2], ["a", "b", "c"], 1),
        ([0, 0, 0], ["a", "a", "a"], 1),
        ([0, 0, 0], ["a", "b", "c"], 0),
        # Of 15 pairs 1 is together in both, 3 are found, 7 true: below what chance gives.
        ([0, 0, 0, 1, 2, 3], [0, 0, 1, 1, 1, 1], -1 / 9),
    ],
)
def test_adjusted_rand(result, true, expected):
    assert adjusted_rand_index(result, true) == pytest.approx(expected)


@given(LABELS)
def test_b_cubed_is_its_definition(labels):
    def mean(a, b):
        """Over documents, the share of a's cluster that is in b's."""
        shares = []
        for index in range(len(a)):
            mine = [k for k in range(len(a)) if a[k] == a[index]]
            shares.append(Fraction(sum(b[k] == b[index] for k in mine), len(mine)))
        return float(sum(shares) / len(shares)) if shares else 1.0

    result, true = [a for a, _ in labels], [b for _, b in labels]
    scores = b_cubed(result, true)
    assert scores.precision == pytest.approx(mean(result, true))
    assert scores.recall == pytest.approx(mean(true, result))
    assert b_cubed(true, result).precision == scores.recall
    both = scores.precision + scores.recall
    assert scores.f1 == pytest.approx(2 * scores.precision * scores.recall / both)


def test_kept_by_hand():
    # True {0 1 2} {3 4} {5}. 1 rightly points at 0; 3 and 4 and 5 wrongly.
    scores = kept_scores([0, 0, 2, 0, 2, 2], ["a", "a", "a", "b", "b", "c"])
    assert scores == KeptScores(to_drop=3, dropped=4, rightly=1, lost=2)
    assert (scores.precision, scores.recall) == (1 / 4, 1 / 3)


def test_kept_of_nothing():
    assert kept_scores([], []) == KeptScores(0, 0, 0, 0)
    nothing = kept_scores([0, 1], ["a", "b"])
    assert (nothing.precision, nothing.recall, nothing.lost) == (1, 1, 0)


@given(LABELS)
def test_kept_within_true_clusters_loses_nothing(labels):
    true = [b for _, b in labels]
    first = [true.index(label) for label in true]
    scores = kept_scores(first, true)
    assert (scores.precision, scores.recall, scores.lost) == (1, 1, 0)
    assert scores.to_drop == len(true) - len(set(true))


@pytest.mark.parametrize(
    ("kept_of", "expected"),
    [
        ([1, 2, 2], "point at kept documents.*chain at document 0"),
        ([0, 1], "one place for each document, 3 in all"),
        ([0, 1, 3], "places from 0 to 2"),
        ([0, 1, -1], "places from 0 to 2"),
        ([0.0, 1.0, 2.0], "one place for each document"),
    ],
)
def test_what_points_nowhere(kept_of, expected):
    with pytest.raises(ParameterError, match=expected):
        kept_scores(kept_of, ["a", "a", "b"])


@pytest.mark.parametrize("function", [adjusted_rand_index, b_cubed])
def test_clusterings_of_two_lengths(function):
    with pytest.raises(ParameterError, match="'found' parameter must be one label for each doc"):
        function([0, 1], [0])
    with pytest.raises(ParameterError, match="'true' parameter must be one label for each"):
        function([0, 1], [[0, 1]])


def test_the_interval_of_a_share_is_that_of_the_binomial():
    values = np.repeat([[1.0], [0.0]], [300, 700], axis=0)
    low, high = bootstrap_interval(values, lambda sums: sums[0] / 1000, resamples=4000)
    deviation = (0.3 * 0.7 / 1000) ** 0.5
    assert low == pytest.approx(0.3 - 1.96 * deviation, abs=0.003)
    assert high == pytest.approx(0.3 + 1.96 * deviation, abs=0.003)


def test_the_interval_depends_on_the_seed_and_not_on_order():
    values = np.random.Generator(np.random.PCG64(1)).random((50, 2))

    def ratio(sums):
        return sums[0] / sums[1]

    first = bootstrap_interval(values, ratio, seed=5)
    assert first == pytest.approx(bootstrap_interval(values[::-1], ratio, seed=5))
    assert first != bootstrap_interval(values, ratio, seed=6)
    assert first[0] < values[:, 0].sum() / values[:, 1].sum() < first[1]


def test_the_interval_of_nothing():
    low, high = bootstrap_interval(np.empty((0, 2)), lambda sums: sums[0])
    assert np.isnan([low, high]).all()
    assert bootstrap_interval([[2.0]] * 3, lambda sums: sums[0] / 3) == (2, 2)
    for bad in ({"resamples": 0}, {"seed": -1}):
        with pytest.raises(ParameterError, match=next(iter(bad))):
            bootstrap_interval([[1.0]], lambda sums: sums[0], **bad)
    with pytest.raises(ParameterError, match="'contributions'"):
        bootstrap_interval([1.0], lambda sums: sums[0])
