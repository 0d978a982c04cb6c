"""The best setting for labelled pairs, judged on pairs that did not choose it."""

import numpy as np
import pytest

from neardup.base.messages import in_language
from neardup.lab.experiments.labelled_pairs.measures import Decider, MeasureScores
from neardup.lab.experiments.labelled_pairs.settings import (
    choose,
    cross_validated_calls,
    pick,
    sentences,
)
from neardup.lab.metrics import count_scores, f1_interval

OWN = 0.4


def measure(name, values, recipe_cut_off=OWN):
    return MeasureScores(
        name, False, np.asarray(values, float), (Decider("general", name, recipe_cut_off),)
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
    choice = chosen([measure("general", values)], is_true)
    assert choice.is_better
    assert choice.advised is choice.best
    assert choice.best.scores.f1 == 1
    assert choice.best.options == f"--threshold {choice.best.cut_off:g}"
    advice, usual, best = sentences(choice)
    assert advice.startswith("Use ")
    assert choice.best.options in advice
    assert "is larger than chance" in best
    assert usual.values["f1"] == "0.000"
    assert "不是偶然" in in_language(best, "zh")


def test_a_difference_by_chance_leaves_the_default():
    draw = np.random.default_rng(3)
    is_true = np.arange(40) % 2 == 0
    choice = chosen([measure("general", noise(draw, is_true, 0.1, 40))], is_true)
    assert not choice.is_better
    assert choice.advised is choice.default
    assert sentences(choice)[0].startswith(STAY)


def test_the_default_as_the_best_needs_no_second_sentence():
    is_true = np.array([True, True, False, False])
    choice = chosen([measure("general", [0.9, 0.8, 0.2, 0.1], recipe_cut_off=0.5)], is_true)
    assert choice.is_same
    assert not choice.is_better
    advice, usual = sentences(choice)
    assert advice.startswith(STAY)
    assert "f1" in usual.values


@pytest.mark.parametrize("gap", [0, 0.15])
def test_measure_and_cut_off_are_chosen_without_the_pair(gap):
    """Of many measures that are equally good, the best one must not look better than it is."""
    count, measures = 60, 10
    flattered, honest, expected = [], [], []
    for seed in range(60):
        draw = np.random.default_rng(seed)
        is_true = draw.random(count) < 0.35
        measured = [
            measure(f"{index}", noise(draw, is_true, gap, count)) for index in range(measures)
        ]
        item, cut_off = pick(measured, is_true, np.ones_like(is_true))
        flattered.append(count_scores(item.passes(cut_off), is_true).f1)
        judged = cross_validated_calls(measured, is_true, np.arange(count) % 15)
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
        low, high = f1_interval(noise(draw, is_true, 0.2, 120) >= 0.5, is_true, seed=seed)
        # The F1 of four million pairs.
        held += low <= 0.7036 <= high
    assert held >= 88
