"""Passages found against passages planted: every figure computed by hand."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup import ParameterError
from neardup.lab import Case, passage_scores

#: One passage: 100 characters of a paper, from 100 of a source.
CASE = Case("p", 100, 200, "s", 1000, 1100)
OTHER = Case("p", 500, 700, "t", 0, 200)


def case(begin, end, source_begin, source_end, document="p", source="s"):
    return Case(document, begin, end, source, source_begin, source_end)


GOLDEN = {
    # name: detections, cases, precision, recall, granularity
    "perfect": ([CASE, OTHER], [CASE, OTHER], 1, 1, 1),
    "nothing found": ([], [CASE], 1, 0, 1),
    "nothing to find": ([CASE], [], 0, 1, 1),
    "nothing at all": ([], [], 1, 1, 1),
    "half outside": ([case(150, 250, 1050, 1150)], [CASE], 1 / 2, 1 / 2, 1),
    "right in the paper alone": ([case(100, 200, 1000, 1050)], [CASE], 1, 3 / 4, 1),
    "two fragments": (
        [case(100, 150, 1000, 1050), case(150, 200, 1050, 1100)],
        [CASE],
        *(1, 1, 2),
    ),
    "three fragments of two cases": (
        [case(100, 130, 1000, 1030), case(130, 200, 1030, 1100), OTHER],
        [CASE, OTHER],
        *(1, 1, 3 / 2),
    ),
    "another source": ([case(100, 200, 1000, 1100, source="t")], [CASE], 0, 0, 1),
    "ends where the case begins, in the source alone": (
        [case(50, 150, 950, 1000)],
        [CASE],
        *(0, 0, 1),
    ),
    "one character on either side": ([case(50, 101, 951, 1001)], [CASE], 2 / 101, 2 / 200, 1),
    # One detection over two cases with a gap of 100: right are 200 of 300 on each side.
    "two cases in one": (
        [case(100, 400, 1000, 1300)],
        [CASE, case(300, 400, 1200, 1300)],
        *(2 / 3, 1, 1),
    ),
}


@pytest.mark.parametrize("name", GOLDEN)
def test_by_hand(name):
    result, true, precision, recall, granularity = GOLDEN[name]
    scores = passage_scores(result, true)
    assert (scores.cases, scores.detections) == (len(true), len(result))
    assert scores.precision == pytest.approx(precision, abs=1e-15)
    assert scores.recall == pytest.approx(recall, abs=1e-15)
    assert scores.granularity == granularity
    f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0
    assert scores.plagdet == pytest.approx(f1 / math.log2(1 + granularity), abs=1e-15)


def test_micro_counts_characters_and_macro_passages():
    """A short case found, a long one missed; a short wrong detection."""
    short, long = case(0, 10, 0, 10), case(100, 190, 100, 190)
    wrong = case(500, 530, 500, 530)
    scores = passage_scores([short, wrong], [short, long])
    assert (scores.precision, scores.recall) == (0.5, 0.5)
    assert (scores.micro_precision, scores.micro_recall) == (0.25, 0.1)
    assert scores.micro_plagdet == pytest.approx(2 * 0.25 * 0.1 / 0.35)
    assert scores.detected == 1


def test_a_document_that_is_called_as_its_source():
    same = Case("a", 0, 10, "a", 0, 10)
    assert passage_scores([same], [same]).micro_recall == 1
    half = Case("a", 0, 5, "a", 0, 5)
    assert passage_scores([half], [same]).micro_recall == 0.5


def test_the_order_changes_nothing():
    draw = random.Random(3)

    def some(count):
        places = [(draw.randrange(300), draw.randrange(300)) for _ in range(count)]
        return [
            case(a, a + draw.randrange(1, 90), b, b + draw.randrange(1, 90), draw.choice("pq"))
            for a, b in places
        ]

    result, true = some(40), some(30)
    forth = passage_scores(result, true)
    draw.shuffle(result)
    draw.shuffle(true)
    assert passage_scores(iter(result), iter(true)) == forth


SPAN = st.tuples(st.integers(0, 30), st.integers(1, 12)).map(lambda s: (s[0], s[0] + s[1]))
CASES = st.lists(
    st.builds(
        lambda d, span, s, source_span: Case(d, *span, s, *source_span),
        st.sampled_from("pq"),
        SPAN,
        st.sampled_from("st"),
        SPAN,
    ),
    max_size=6,
)


def characters(item):
    here = {("here", item.document, index) for index in range(item.begin, item.end)}
    return here | {
        ("there", item.source, index) for index in range(item.source_begin, item.source_end)
    }


def right(item, others):
    """The paper's definition, a set of references to characters."""
    parts = set()
    for other in others:
        common = characters(item) & characters(other)
        if (
            (item.document, item.source) == (other.document, other.source)
            and any(side == "here" for side, _, _ in common)
            and any(side == "there" for side, _, _ in common)
        ):
            parts |= common
    return parts


@given(result=CASES, true=CASES)
def test_as_sets_of_characters(result, true):
    scores = passage_scores(result, true)

    def mean(items, others):
        shares = [len(right(item, others)) / len(characters(item)) for item in items]
        return math.fsum(shares) / len(shares) if shares else 1

    def all_of(items):
        return set().union(*map(characters, items))

    both = set().union(*(right(item, true) for item in result))
    assert scores.precision == pytest.approx(mean(result, true))
    assert scores.recall == pytest.approx(mean(true, result))
    assert scores.micro_precision == pytest.approx(len(both) / len(all_of(result)) if result else 1)
    assert scores.micro_recall == pytest.approx(len(both) / len(all_of(true)) if true else 1)
    times = [sum(bool(right(item, [other])) for other in result) for item in true]
    detected = [count for count in times if count]
    assert scores.detected == len(detected)
    assert scores.granularity == (sum(detected) / len(detected) if detected else 1)
    assert 0 <= scores.plagdet <= scores.f1 <= 1


@pytest.mark.parametrize(
    "wrong",
    [
        None,
        [0, 1, 2],
        ("p", 0, 10, "s", 0),
        ("p", 10, 10, "s", 0, 5),
        ("p", 0, 10, "s", 5, 4),
        ("p", -1, 10, "s", 0, 5),
        ("p", 0.5, 10, "s", 0, 5),
        ("p", True, 10, "s", 0, 5),
    ],
)
def test_what_is_no_case(wrong):
    with pytest.raises(ParameterError, match="'found' parameter must be"):
        passage_scores([wrong], [])
    with pytest.raises(ParameterError, match="'true' parameter must be"):
        passage_scores([], [wrong])
