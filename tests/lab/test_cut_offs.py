"""Cut-offs and settings: chosen, left out, resampled, against plain counting; and metrics."""

import numpy as np
import pytest

from neardup.base.messages import in_language
from neardup.lab import Scores
from neardup.lab.experiments.labelled_pairs.measures import (
    Decider,
    MeasureScores,
    judge_left_out,
    rank_measures,
)
from neardup.lab.experiments.labelled_pairs.settings import (
    choose,
    cross_validate,
    list_sentences,
    pick_cut_off,
)
from neardup.lab.scores import count_scores, estimate_f1, estimate_interval

TRUE = np.array([True, True, True, False, False])


def measure(values, *, by_distance=False):
    return MeasureScores("m", by_distance, values, ())


def sweep(values, is_true, *, by_distance=False, folds=None):
    folds = np.arange(len(is_true)) if folds is None else folds
    [result] = rank_measures([measure(values, by_distance=by_distance)], is_true, folds)
    return result


def at_best(result, is_true):
    return count_scores(result.measured.passes(result.cut_off), is_true)


def f1_at(values, is_true, cut):
    taken = values >= cut
    tp = int((taken & is_true).sum())
    return Scores(tp, int((taken & ~is_true).sum()), int(is_true.sum()) - tp).f1


def drawn(seed, count=40):
    draw = np.random.default_rng(seed)
    is_true = draw.random(count) < 0.4
    is_true[:2] = True, False
    values = np.round(np.clip(0.3 * is_true + draw.random(count) * 0.7, 0, 1), 2)
    return values, is_true


@pytest.mark.parametrize(
    ("values", "labels", "by_distance", "cut_off", "scores"),
    [
        # Between two values, a short number.
        ([0.9, 0.812, 0.7, 0.3, 0.1], "yyynn", False, 0.5, Scores(3, 0, 0)),
        ([0.9, 0.8, 0.70012, 0.70011, 0.1], "yyynn", False, 0.70012, Scores(3, 0, 0)),
        # Distances are cut at whole numbers.
        ([0, 2, 5, 10, 30], "yyynn", True, 7, Scores(3, 0, 0)),
        ([0, 2, 5, 6, 30], "yyynn", True, 5, Scores(3, 0, 0)),
        # F1 of the three cuts is 2/3, 1/2 and 4/5.
        ([0.9, 0.6, 0.5], "yny", False, None, Scores(2, 1, 0)),
        ([0.9, 0.6], "yn", False, 0.75, Scores(1, 0, 0)),
        # Pairs without a value are never found.
        ([0.9, np.nan, 0.2], "yyn", False, None, Scores(1, 0, 1)),
        ([np.nan, np.nan, np.nan], "yyn", False, None, Scores(0, 0, 2)),
    ],
)
def test_cut_off_is_the_strictest_of_the_best(values, labels, by_distance, cut_off, scores):
    is_true = np.array([label == "y" for label in labels])
    result = sweep(np.array(values, float), is_true, by_distance=by_distance)
    assert at_best(result, is_true) == scores
    assert cut_off is None or result.cut_off == pytest.approx(cut_off, abs=1e-5)


@pytest.mark.parametrize(("by_distance", "passes"), [(False, "nyy"), (True, "yyn")])
def test_value_at_the_cut_off_is_a_duplicate(by_distance, passes):
    scores = measure(np.array([1.0, 2.0, 3.0]), by_distance=by_distance)
    assert scores.passes(2.0).tolist() == [each == "y" for each in passes]


@pytest.mark.parametrize("seed", range(6))
def test_the_best_cut_is_the_best_of_all(seed):
    assert sweep(np.array([0.9, 0.8, 0.7]), np.array([True, True, False])).average_precision == 1
    values, is_true = drawn(seed)
    result = sweep(values, is_true)
    top = max(f1_at(values, is_true, cut) for cut in values)
    assert at_best(result, is_true).f1 == pytest.approx(top)
    assert f1_at(values, is_true, result.cut_off) == pytest.approx(top)


@pytest.mark.parametrize("count", [25, 6])
@pytest.mark.parametrize("seed", range(4))
def test_a_fold_is_judged_by_the_cut_off_of_all_others(seed, count):
    values, is_true = drawn(seed, 25)
    folds = np.random.default_rng(seed).permutation(25) % count
    result = sweep(values, is_true, folds=folds)
    judged = np.zeros(25, bool)
    for fold in range(count):
        others = folds != fold
        cut_off = sweep(values[others], is_true[others]).cut_off
        judged[~others] = values[~others] >= cut_off
    assert result.left_out == count_scores(judged, is_true)
    if count == len(values):
        assert sweep(values, is_true).left_out == result.left_out


def test_many_folds_are_left_out_in_groups():
    sizes = []

    def call(known):
        sizes.append(int((~known).sum()))
        return np.ones_like(known)

    assert judge_left_out(call, np.arange(250)).all()
    assert len(sizes) == 100
    assert sum(sizes) == 250


def test_pairs_drawn_together_make_intervals_wider():
    values, is_true = drawn(1, 60)
    judged = values >= 0.5
    single = estimate_f1(judged, is_true)
    # Every pair ten times, as if ten of them shared their documents.
    tenfold = np.tile(judged, 10), np.tile(is_true, 10)
    many, together = estimate_f1(*tenfold), estimate_f1(*tenfold, np.tile(np.arange(60), 10))
    width = [high - low for low, high in (single, many, together)]
    assert width[1] < 0.5 * width[0]
    assert width[2] == pytest.approx(width[0])


def test_pairs_without_a_value_are_never_found():
    is_true = np.array([True, True, False])
    assert at_best(sweep(np.array([0.9, np.nan, 0.2]), is_true), is_true) == Scores(1, 0, 1)
    assert at_best(sweep(np.full(3, np.nan), is_true), is_true) == Scores(0, 0, 2)


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


def test_interval_of_a_share_is_binomial():
    values = np.repeat([[1.0], [0.0]], [300, 700], axis=0)
    low, high = estimate_interval(values, lambda sums: sums[0] / 1000)
    deviation = (0.3 * 0.7 / 1000) ** 0.5
    assert low == pytest.approx(0.3 - 1.96 * deviation, abs=0.005)
    assert high == pytest.approx(0.3 + 1.96 * deviation, abs=0.005)


def test_the_interval_depends_on_the_seed_and_not_on_order():
    values = np.random.Generator(np.random.PCG64(1)).random((50, 2))

    def ratio(sums):
        return sums[0] / sums[1]

    first = estimate_interval(values, ratio, seed=5)
    assert first == pytest.approx(estimate_interval(values[::-1], ratio, seed=5))
    assert first != estimate_interval(values, ratio, seed=6)
    assert first[0] < values[:, 0].sum() / values[:, 1].sum() < first[1]


OWN = 0.4


def decided(name, values, own_cut_off=OWN):
    return MeasureScores(
        name, False, np.asarray(values, float), (Decider("general", name, own_cut_off),)
    )


def chosen(measured, is_true, seed=0):
    folds = np.arange(len(is_true))
    default = (measured[0].deciders[0], measured[0])
    return choose(
        measured, default, is_true, folds=folds, units=folds, left_out="shared", seed=seed
    )


STAY = "Stay with the default"


def noise(draw, is_true, gap, count):
    return np.clip(draw.normal(0.4 + gap * is_true, 0.15, count), 0.01, 1)


def test_a_clearly_better_bound_is_advised():
    is_true = np.arange(80) % 2 == 0
    values = np.where(is_true, 0.3, 0.1) + np.linspace(0, 0.1, 80)
    choice = chosen([decided("general", values)], is_true)
    assert choice.is_better
    assert choice.advised is choice.best
    assert choice.best.scores.f1 == 1
    assert choice.best.options == f"--threshold {choice.best.cut_off:g}"
    advice, usual, best = list_sentences(choice)
    assert advice.startswith("Use ")
    assert choice.best.options in advice
    assert "is larger than chance" in best
    assert "0.000" in usual
    assert "不是偶然" in in_language(best, "zh")


def test_a_difference_by_chance_leaves_the_default():
    draw = np.random.default_rng(3)
    is_true = np.arange(40) % 2 == 0
    choice = chosen([decided("general", noise(draw, is_true, 0.1, 40))], is_true)
    assert not choice.is_better
    assert choice.advised is choice.default
    assert list_sentences(choice)[0].startswith(STAY)


def test_the_default_as_the_best_needs_no_second_sentence():
    is_true = np.array([True, True, False, False])
    choice = chosen([decided("general", [0.9, 0.8, 0.2, 0.1], own_cut_off=0.5)], is_true)
    assert choice.is_same
    assert not choice.is_better
    advice, usual = list_sentences(choice)
    assert advice.startswith(STAY)
    assert "f1" in usual.values


@pytest.mark.parametrize("gap", [0, 0.15])
def test_measure_and_cut_off_are_chosen_without_the_pair(gap):
    """Of many measures that are equally good, the best one must not look better than it is."""
    count, measures = 60, 10
    flattered, honest, expected = [], [], []
    for seed in range(40):
        draw = np.random.default_rng(seed)
        is_true = draw.random(count) < 0.35
        measured = [
            decided(f"{index}", noise(draw, is_true, gap, count)) for index in range(measures)
        ]
        item, cut_off = pick_cut_off(measured, is_true, np.ones_like(is_true))
        flattered.append(count_scores(item.passes(cut_off), is_true).f1)
        judged = cross_validate(measured, is_true, np.arange(count) % 15)
        honest.append(count_scores(judged, is_true).f1)
        # The same setting on pairs that nobody has seen.
        fresh = draw.random(2000) < 0.35
        expected.append(count_scores(noise(draw, fresh, gap, 2000) >= cut_off, fresh).f1)
    assert np.mean(flattered) > np.mean(expected) + 0.1
    assert np.mean(honest) == pytest.approx(np.mean(expected), abs=0.04)


def test_the_interval_holds_the_f1_of_new_pairs():
    """About 95 % of the intervals hold the true value; 100 trials leave room for chance."""
    held = 0
    for seed in range(100):
        draw = np.random.default_rng(seed)
        is_true = draw.random(120) < 0.4
        low, high = estimate_f1(noise(draw, is_true, 0.2, 120) >= 0.5, is_true, seed=seed)
        # The F1 of four million pairs.
        held += low <= 0.7036 <= high
    assert held >= 88
