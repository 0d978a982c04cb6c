"""The verdict on a paper: by exact rates, which are shown with one decimal."""

import random
from dataclasses import replace

import pytest
from tests.papers.texts import around, letters, unrelated
from tests.readers.making import column, pdf, without_page

from neardup import ParameterError, check
from neardup.papers.verdict import Thresholds
from neardup.readers import read_bytes


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


PAGES = [
    column([around("渡口有木船三只，船工九人，由两岸商户分担费用。", first, first + 50)])
    for first in range(20)
]
GARBLED = letters(random.Random(1), 2000).encode("gbk").decode("latin-1")


@pytest.mark.parametrize(
    ("signs", "damaged", "has_verdict"),
    [(0, 0, True), (8, 0, True), (11, 0, False), (60, 0, False), (0, 1, False), (4, 1, False)],
)
def test_unreadable_paper_has_no_verdict(make, signs, damaged, has_verdict):
    formulas = ["".join(chr(0xE000 + at) for at in range(of, of + signs)) for of in range(20)]
    pages = [
        [*page, (90, 60, 9, formula)] if formula else page
        for page, formula in zip(PAGES, formulas, strict=True)
    ]
    data = pdf(pages)
    paper = make("a.pdf", without_page(data, 7) if damaged else data)
    report = check(paper, make("b.txt", unrelated(77)))
    report = replace(report, thresholds=Thresholds(0.15))
    assert (report.verdict is not None) == has_verdict
    told = [note for note in report.notes if note.endswith("could not be read: no verdict.")]
    assert len(told) == (not has_verdict)
    of_page = sum(len(line[3]) for line in PAGES[0])
    garbled = signs / (of_page + signs)
    assert report.unread == pytest.approx(1 - (1 - damaged / 20) * (1 - garbled))


def test_garbled_letters_do_not_count(make):
    text = letters(random.Random(2), 6000)
    paper = read_bytes(f"{text}\n{GARBLED}".encode(), "a.txt")
    report = check(paper, make("b.txt", text))
    assert (report.rates.total, report.characters) == (1.0, 6000)
    assert report.text == paper.text
