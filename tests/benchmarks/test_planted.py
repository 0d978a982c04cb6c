"""Planted passages of the benchmarks: the truth is exact, and every score computed by hand."""

import math
from itertools import pairwise

import pytest
from rapidfuzz.distance import Levenshtein

from neardup.lab.datasets import sentences as spans

KINDS = ("verbatim", "edited", "reordered", "synonyms")


@pytest.fixture
def planted(module):
    return module("planted")


@pytest.fixture(scope="module")
def hosts(write):
    return {f"paper{index}": write(f"host{index}", 40) for index in range(6)}


@pytest.fixture(scope="module")
def sources(write):
    # Line breaks, as real texts have them.
    return {
        f"source{index}": "\n\t".join(write(f"source{index}.{part}", 6) for part in range(5))
        for index in range(8)
    }


def pieces(text, cases, sources):
    """Each passage: what it was made of, and what stands in the paper."""
    for case in cases:
        original = sources[case.source][case.source_begin : case.source_end]
        yield original, text[case.begin : case.end]


@pytest.mark.parametrize("kind", KINDS)
def test_the_truth_is_exact(planted, kind, hosts, sources):
    papers = planted.plant(hosts, sources, kind, 0.1, 1)
    assert planted.plant(hosts, sources, kind, 0.1, 1) == papers
    for (text, cases), (name, host) in zip(papers, hosts.items(), strict=True):
        without = text
        for case in reversed(cases):
            without = without[: case.begin] + without[case.end :]
            assert 100 <= case.source_end - case.source_begin <= 500
            assert case.document == name
        assert without == host
        assert len({case.source for case in cases}) == len(cases) == 3
        edges = [edge for case in cases for edge in (case.begin, case.end)]
        # At least a sentence of the host between two of them.
        assert all(a < b for a, b in pairwise(edges))
        for original, passage in pieces(text, cases, sources):
            assert (original == passage) == (kind == "verbatim")


@pytest.mark.parametrize("rate", [0.05, 0.1, 0.2, 0.5])
def test_edits_are_the_share_of_the_characters(planted, rate, hosts, sources):
    shares = []
    for text, cases in planted.plant(hosts, sources, "edited", rate, 0):
        for original, passage in pieces(text, cases, sources):
            edits = Levenshtein.distance(original, passage)
            assert edits <= round(rate * len(original))
            shares.append(edits / len(original))
    assert 0.8 * rate <= sum(shares) / len(shares) <= rate + 0.005


def test_reordered_sentences_are_all_there(planted, hosts, sources):
    for text, cases in planted.plant(hosts, sources, "reordered", 0, 0):
        for original, passage in pieces(text, cases, sources):
            before = [original[b:e].strip() for b, e in spans.sentences(original)]
            after = [passage[b:e].strip() for b, e in spans.sentences(passage)]
            assert before != after
            assert sorted(before) == sorted(after)


def test_pinned(planted):
    """Results would change with these draws: a change here is one of all benchmarks."""
    host = "渡口昨天关闭。船都停在岸边。"
    source = "灯塔修好了，港口亮了起来。游客都来观看。书店今天开门。"
    options = {"passages": 1, "length": (15, 25)}
    [(text, cases)] = planted.plant({"h": host}, {"s": source}, "edited", 0.2, 4, **options)
    assert text == "渡口昨天关闭。船都停在岸边。灯塔修好了，港口亮修起来游客都；来观看。"
    assert cases == [("h", 14, 34, "s", 0, 20)]


#: One passage: 100 characters of a paper, from 100 of a source.
CASE, OTHER = ("p", 100, 200, "s", 1000, 1100), ("p", 500, 700, "t", 0, 200)
GOLDEN = {
    # name: detections, cases, precision, recall, granularity
    "perfect": ([CASE, OTHER], [CASE, OTHER], 1, 1, 1),
    "nothing found": ([], [CASE], 1, 0, 1),
    "nothing to find": ([CASE], [], 0, 1, 1),
    "half outside": ([("p", 150, 250, "s", 1050, 1150)], [CASE], 1 / 2, 1 / 2, 1),
    "right in the paper alone": ([("p", 100, 200, "s", 1000, 1050)], [CASE], 1, 3 / 4, 1),
    "three fragments of two cases": (
        [("p", 100, 130, "s", 1000, 1030), ("p", 130, 200, "s", 1030, 1100), OTHER],
        [CASE, OTHER],
        *(1, 1, 3 / 2),
    ),
    "another source": ([("p", 100, 200, "t", 1000, 1100)], [CASE], 0, 0, 1),
    "ends where the case begins": ([("p", 50, 150, "s", 950, 1000)], [CASE], 0, 0, 1),
    "one character": ([("p", 50, 101, "s", 951, 1001)], [CASE], 2 / 101, 2 / 200, 1),
    # One detection over two cases with a gap of 100: right are 200 of 300 on each side.
    "two cases in one": (
        [("p", 100, 400, "s", 1000, 1300)],
        [CASE, ("p", 300, 400, "s", 1200, 1300)],
        *(2 / 3, 1, 1),
    ),
}


@pytest.mark.parametrize("name", GOLDEN)
def test_scores_by_hand(planted, name):
    found, true, precision, recall, granularity = GOLDEN[name]
    found, true = ([planted.Case(*case) for case in cases] for cases in (found, true))
    scores = planted.scores(found, true)
    assert scores["precision"] == pytest.approx(precision, abs=1e-15)
    assert scores["recall"] == pytest.approx(recall, abs=1e-15)
    assert scores["granularity"] == granularity
    f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0
    assert scores["plagdet"] == pytest.approx(f1 / math.log2(1 + granularity), abs=1e-15)
