"""How many passages a report shows, and that its rates include the others."""

import dataclasses
import inspect
import random

import numpy as np
import pytest
from tests.papers.test_check import check_sound, own

from neardup import ParameterError, check
from neardup.cli.check import run as command
from neardup.papers import ReportLimits, check_files

#: Sentences that all sources have.
COMMON = [own(at, 24) for at in range(12)]
DEFAULT = ReportLimits()


@pytest.fixture
def paper(make):
    """Return a paper of common sentences; its library has them in six sources."""
    for source in range(6):
        # A source has more of them the earlier it comes, each beside text of its own.
        shared = COMMON[: 12 - source]
        text = "".join(one + own(100 * source + at + 50, 60) for at, one in enumerate(shared))
        make(f"library/{source}.txt", text)
    return make("paper.txt", "".join(one + own(1000 + at, 60) for at, one in enumerate(COMMON)))


def counted(report):
    """Return what a report says of all passages, shown or not."""
    return report.copied, report.rates, report.sources, report.sections


def test_everything_is_shown_below_the_limits(paper):
    report = check(paper, "library")
    check_sound(report)
    assert [source.passages for source in report.sources] == [12, 11, 10, 9, 8, 7]
    assert len(report.passages) == 57
    assert report.notes == ()
    exact = ReportLimits(max_passages=57, max_source_passages=12)
    assert check(paper, "library", limits=exact).passages == report.passages


@pytest.mark.parametrize(
    ("limits", "shown", "hidden"),
    [
        (ReportLimits(max_passages=20), 20, 37),
        (ReportLimits(max_source_passages=3), 18, 39),
        (ReportLimits(max_passages=10, max_source_passages=8), 10, 47),
        (ReportLimits(max_source_text=1), 1, 56),
        (ReportLimits(max_passages=1), 1, 56),
    ],
)
def test_passages_are_limited_and_rates_are_not(paper, limits, shown, hidden):
    whole, report = check(paper, "library"), check(paper, "library", limits=limits)
    check_sound(whole)
    assert counted(report) == counted(whole)
    assert len(report.passages) == shown
    assert set(report.passages) <= set(whole.passages)
    (note,) = report.notes
    assert note.startswith(f"{hidden} more passages are neither marked in the text nor shown")
    of_one = [sum(one.source == at for one in report.passages) for at in range(6)]
    assert max(of_one) <= limits.max_source_passages
    assert {name: report.settings[name] for name in dataclasses.asdict(limits)} == (
        dataclasses.asdict(limits)
    )


def test_all_of_the_copied_text_is_marked_first(paper):
    report = check(paper, "library", limits=ReportLimits(max_passages=17))
    # The largest source has all of the text; then each source shows its largest passage.
    assert [one.source for one in report.passages].count(0) == 12
    assert {one.source for one in report.passages} == set(range(6))


def test_one_passage_more(paper):
    report = check(paper, "library", limits=ReportLimits(max_passages=56))
    assert report.notes == (
        "1 more passage is neither marked in the text nor shown; the rates include it.",
    )


def test_the_source_text_is_limited(paper):
    whole = check(paper, "library")
    report = check(paper, "library", limits=ReportLimits(max_source_text=1000))
    text = sum(len(one.source_text) for one in report.passages)
    longest = max(len(one.source_text) for one in whole.passages)
    assert 1000 <= text < 1000 + longest


@pytest.mark.parametrize(
    ("language", "note", "shown"),
    [
        ("en", "47 more passages are neither marked in the text nor shown", "10 shown"),
        ("zh", "另有 47 处片段未在正文中标出", "显示 10 处"),
    ],
)
def test_the_page_says_what_it_leaves_out(paper, language, note, shown):
    report = check(paper, "library", limits=ReportLimits(max_passages=10))
    page = report.to_html(language=language)
    assert note in page
    assert shown in page
    assert page.count("<article ") == 10
    assert note not in check(paper, "library").to_html(language=language)


def test_json_says_what_it_leaves_out(paper):
    report = check(paper, "library", limits=ReportLimits(max_passages=10)).to_dict()
    assert sum(source["passages"] for source in report["sources"]) == 57
    assert len(report["passages"]) == 10
    assert report["notes"][0].startswith("47 more passages")


def test_many_papers(paper):
    (checked,) = check_files([paper], "library", limits=ReportLimits(max_passages=10))
    assert len(checked.report.passages) == 10


def test_a_paper_of_common_sentences_makes_a_small_report(make):
    # Shorter ones would be common wording, and no copies.
    sentences = [own(at, 104) for at in range(40)]
    shuffled = random.Random(1)
    for source in range(30):
        shared = shuffled.sample(sentences, 30)
        text = "".join(one + own(300 * source + at, 60) for at, one in enumerate(shared))
        make(f"library/{source:02}.txt", text)
    repeated = shuffled.choices(sentences, k=200)
    text = "".join(one + own(9000 + at, 60) for at, one in enumerate(repeated))
    report = check(make("paper.txt", text), "library")
    assert sum(source.passages for source in report.sources) > 4 * DEFAULT.max_passages
    assert len(report.passages) == DEFAULT.max_passages
    assert len(report.to_html()) < 4_000_000
    assert len(report.to_json()) < 4_000_000


@pytest.mark.parametrize("name", [field.name for field in dataclasses.fields(ReportLimits)])
def test_bounds(name):
    with pytest.raises(
        ParameterError, match=f"'{name}' parameter must be a whole number of at least 1. Got 0"
    ):
        ReportLimits(**{name: 0})
    # The command line cannot import this module for its help.
    assert inspect.signature(command).parameters[name].default == getattr(DEFAULT, name)


def test_numbers_of_numpy(paper):
    report = check(paper, "library", limits=ReportLimits(max_passages=np.int64(10)))
    assert '"max_passages": 10' in report.to_json()


def test_something_else(paper):
    with pytest.raises(ParameterError, match="'limits' parameter must be ReportLimits or None"):
        check(paper, "library", limits=10)
