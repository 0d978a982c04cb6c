"""How many passages a report shows, and that its rates include the others."""

import dataclasses
import random
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from tests.papers.test_rates import check_consistent
from tests.papers.texts import unrelated

from neardup import InputError, ParameterError, check
from neardup.cli.check import run as command
from neardup.cli.commands import list_parameters
from neardup.papers import ReportLimits, check_files

#: Sentences that all sources have.
COMMON = [unrelated(n, 24) for n in range(12)]
DEFAULT = ReportLimits()


def beside(sentences, seed):
    """Return a text of sentences, each before one of its own."""
    return "".join(text + unrelated(seed + n, 60) for n, text in enumerate(sentences))


@pytest.fixture
def paper(make):
    """Return a paper of common sentences; its library has them in six sources."""
    for source in range(6):
        # A source has more of them the earlier it comes, each beside text of its own.
        shared = COMMON[: 12 - source]
        text = beside(shared, 100 * source + 50)
        make(f"library/{source}.txt", text)
    # So that six of all documents are too few to share them.
    for other in range(30):
        make(f"library/other{other:02}.txt", unrelated(2000 + other))
    return make("paper.txt", beside(COMMON, 1000))


def counted(report):
    """Return what a report says of all passages, shown or not."""
    return report.copied, report.rates, report.sources, report.sections


def test_everything_is_shown_below_the_limits(paper):
    report = check(paper, "library")
    check_consistent(report)
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
    check_consistent(whole)
    assert counted(report) == counted(whole)
    assert len(report.passages) == shown
    assert set(report.passages) <= set(whole.passages)
    (note,) = report.notes
    assert re.search(rf"\b{hidden}\b", note)
    of_sources = Counter(passage.source for passage in report.passages)
    assert max(of_sources.values()) <= limits.max_source_passages
    assert report.to_html().count("<article ") == shown
    assert {name: report.settings[name] for name in dataclasses.asdict(limits)} == (
        dataclasses.asdict(limits)
    )


def test_all_of_the_copied_text_is_marked_first(paper):
    report = check(paper, "library", limits=ReportLimits(max_passages=17))
    # The largest source has all of the text; then each source shows its largest passage.
    assert [passage.source for passage in report.passages].count(0) == 12
    assert {passage.source for passage in report.passages} == set(range(6))


def test_the_source_text_is_limited(paper):
    whole = check(paper, "library")
    report = check(paper, "library", limits=ReportLimits(max_source_text=1000))
    text = sum(len(passage.source_text) for passage in report.passages)
    longest = max(len(passage.source_text) for passage in whole.passages)
    assert 1000 <= text < 1000 + longest


def test_a_paper_of_common_sentences_makes_a_small_report(make):
    # Shorter ones would be common wording, and no copies.
    sentences = [unrelated(n, 104) for n in range(40)]
    shuffled = random.Random(1)
    for source in range(30):
        shared = shuffled.sample(sentences, 30)
        text = beside(shared, 300 * source)
        make(f"library/{source:02}.txt", text)
    repeated = shuffled.choices(sentences, k=200)
    text = beside(repeated, 9000)
    report = check(make("paper.txt", text), "library")
    assert sum(source.passages for source in report.sources) > 4 * DEFAULT.max_passages
    assert len(report.passages) == DEFAULT.max_passages
    assert len(report.to_html()) < 4_000_000
    assert len(report.to_json()) < 4_000_000


@pytest.mark.parametrize("name", [field.name for field in dataclasses.fields(ReportLimits)])
def test_bounds(name):
    with pytest.raises(ParameterError, match=f"'{name}'"):
        ReportLimits(**{name: 0})
    # The command line cannot import this module for its help.
    of_command = {parameter.name: parameter.option for parameter in list_parameters(command)}
    assert of_command[name].default == getattr(DEFAULT, name)


def test_numbers_of_numpy(paper):
    (checked,) = check_files([paper], "library", limits=ReportLimits(max_passages=np.int64(10)))
    report = checked.report
    assert len(report.passages) == 10
    assert '"max_passages": 10' in report.to_json()


def test_paper_beyond_the_memory_is_refused_before_it_is_compared(make):
    """Among others it is a problem, and the others are checked."""
    long, short = make("papers/long.txt", "雪" * 3_000_000), make("papers/short.txt", "雪" * 300)
    library = make("library.txt", "渡口有木船三只")
    with pytest.raises(InputError, match=r"3,000,000 characters needs \d+ MB.*split the paper"):
        check(long, library, memory="512MiB")
    found = {Path(one.paper).name: one for one in check_files([long, short], library, memory=2**29)}
    assert found["long.txt"].report is None
    assert "3,000,000 characters" in str(found["long.txt"].problem)
    assert found["short.txt"].report.characters == 300
