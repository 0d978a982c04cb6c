"""The verdict on a paper: by exact rates, which are shown with one decimal."""

import pytest

from neardup import ParameterError
from neardup.papers.verdict import Thresholds


@pytest.mark.parametrize(
    ("low", "high", "rate", "result", "shown"),
    [
        (0.15, 0.3, 0.0, "pass", "0% copied: below 15%, passes"),
        (0.15, 0.3, 0.0001, "pass", "<0.1% copied: below 15%, passes"),
        (0.15, 0.3, 0.149996, "pass", "15.0% copied: below 15%, passes"),
        (0.15, 0.3, 15 / 100, "review", "15.0% copied: neither below 15% nor above 30%"),
        (0.15, 0.3, 0.3, "review", "30.0% copied: neither"),
        (0.15, 0.3, 0.30001, "reject", "30.0% copied: above 30%, rejected"),
        (0.15, 0.3, 1.0, "reject", "100% copied"),
        (0.124, None, 124 / 1000, "reject", "12.4% copied: not below 12.4%, rejected"),
        (0.125, None, 124 / 1000, "pass", "12.4% copied: below 12.5%, passes"),
        (None, 0.3, 0.3, "pass", "30.0% copied: not above 30%, passes"),
        (None, 0, 0.0, "pass", "0% copied: not above 0%, passes"),
        (None, 0, 1e-6, "reject", "<0.1% copied: above 0%, rejected"),
    ],
)
def test_verdicts(low, high, rate, result, shown):
    verdict = Thresholds(low, high).verdict(rate)
    assert verdict.result == result
    assert verdict.sentence.startswith(shown)


def test_no_thresholds():
    assert Thresholds().verdict(0.5) is None


@pytest.mark.parametrize("value", [15, -0.1, "0.15", True, float("nan")])
def test_thresholds_are_rates(value):
    for name in ("pass_below", "reject_above"):
        with pytest.raises(ParameterError, match=f"'{name}' .* a number from 0 to 1"):
            Thresholds(**{name: value})


def test_the_order_of_thresholds():
    assert Thresholds(0.3, 0.3).verdict(0.3).result == "review"
    with pytest.raises(ParameterError, match=r"at most .* 30%\. Got 40% instead"):
        Thresholds(0.4, 0.3)
