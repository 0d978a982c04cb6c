"""Planted passages: the truth is exact, and the same for the same seed."""

import re
from contextlib import suppress
from difflib import SequenceMatcher
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

from neardup import ParameterError
from neardup.lab import KINDS, exchange_words, passage_scores, plant
from neardup.lab.datasets import sentences as spans
from neardup.lab.plagdet import Case


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


def sentences(text):
    """Spans of the sentences without the white space around them."""
    result = [
        (end - len(text[begin:end].lstrip()), begin + len(text[begin:end].rstrip()))
        for begin, end in spans.sentences(text)
    ]
    return [(begin, end) for begin, end in result if begin < end]


def without(paper):
    """The paper's text without what was planted."""
    text = paper.text
    for case in reversed(paper.cases):
        text = text[: case.begin] + text[case.end :]
    return text


def pieces(paper, sources):
    """Each passage: what it was made of, and what stands in the paper."""
    for case in paper.cases:
        original = sources[case.source][case.source_begin : case.source_end]
        yield original, paper.text[case.begin : case.end]


@pytest.mark.parametrize("kind", KINDS)
def test_the_truth_is_exact(kind, hosts, sources):
    papers = plant(hosts, sources, kind=kind, seed=1)
    assert [paper.document for paper in papers] == list(hosts)
    for paper in papers:
        host = hosts[paper.document]
        assert without(paper) == host
        assert len({case.source for case in paper.cases}) == len(paper.cases) == 3
        starts = {begin for begin, _ in sentences(host)} | {len(host)}
        planted_before = 0
        for case in paper.cases:
            assert case.document == paper.document
            assert case.begin - planted_before in starts
            planted_before += case.end - case.begin
            assert 100 <= case.source_end - case.source_begin <= 500
            result = sentences(sources[case.source])
            assert case.source_begin in {begin for begin, _ in result}
            assert case.source_end in {end for _, end in result}
        edges = [edge for case in paper.cases for edge in (case.begin, case.end)]
        # At least a sentence of the host between two of them.
        assert all(a < b for a, b in pairwise(edges))


@pytest.mark.parametrize("rate", [0.05, 0.1, 0.2, 0.5])
def test_edited(rate, hosts, sources):
    shares = []
    for paper in plant(hosts, sources, kind="edited", rate=rate):
        for original, passage in pieces(paper, sources):
            edits = Levenshtein.distance(original, passage)
            assert edits <= round(rate * len(original))
            shares.append(edits / len(original))
    assert 0.8 * rate <= sum(shares) / len(shares) <= rate + 0.005


def test_edits_are_of_all_kinds(hosts, sources):
    seen = set()
    for paper in plant(hosts, sources, kind="edited", rate=0.2):
        for original, passage in pieces(paper, sources):
            for tag, a, b, c, d in SequenceMatcher(None, original, passage, False).get_opcodes():
                changed = original[a:b] + passage[c:d]
                is_mark = bool(re.search(r"[，、；：。]", changed))
                seen.add((tag, is_mark))
    kinds = {(tag, mark) for tag in ("insert", "delete", "replace") for mark in (True, False)}
    assert kinds <= seen


def test_no_edits_at_rate_zero(hosts, sources):
    verbatim = plant(hosts, sources)
    assert plant(hosts, sources, kind="edited", rate=0) == verbatim
    for paper in verbatim:
        assert all(original == passage for original, passage in pieces(paper, sources))


def test_rates_change_the_same_passages(hosts, sources):
    for a, b in zip(
        plant(hosts, sources, kind="edited", rate=0.05),
        plant(hosts, sources, kind="edited", rate=0.2),
        strict=True,
    ):
        assert [case[3:] for case in a.cases] == [case[3:] for case in b.cases]


def test_reordered(hosts, sources):
    for paper in plant(hosts, sources, kind="reordered"):
        for original, passage in pieces(paper, sources):
            before = [original[b:e] for b, e in sentences(original)]
            after = [passage[b:e] for b, e in sentences(passage)]
            assert len(before) >= 2
            assert before != after
            assert sorted(before) == sorted(after)
            assert len(original) == len(passage)


def test_two_sentences_always_change_places():
    for seed in range(10):
        [paper] = plant(
            {"h": "渡口关闭。"},
            {"s": "灯塔修好了。\n书店今天开门。"},
            kind="reordered",
            passages=1,
            length=(10, 20),
            seed=seed,
        )
        [case] = paper.cases
        assert paper.text[case.begin : case.end] == "书店今天开门。\n灯塔修好了。"


def test_synonyms():
    text = "目前必须提高质量，因为大家非常重要。"
    [paper] = plant({"h": "渡口关闭。"}, {"s": text}, kind="synonyms", passages=1, length=(5, 30))
    [case] = paper.cases
    assert paper.text[case.begin : case.end] == "当前务必提升品质，由于大家十分要紧。"


def test_exchanged_words():
    assert exchange_words("big boxes, bigger boxes; the answer is yet to begin") == (
        "large boxes, bigger boxes; the reply is but to start"
    )
    # The longest first: 负责人 is one word.
    assert exchange_words("负责人") == "领导"
    assert exchange_words("") == ""


def test_mixed_does_all(hosts, sources):
    [paper, *_] = plant(hosts, sources, kind="mixed", rate=0.1, seed=2)
    for original, passage in pieces(paper, sources):
        assert original != passage
        # Of the characters nearly all are still there, in another order.
        common = sum(min(original.count(c), passage.count(c)) for c in set(original))
        assert common >= 0.8 * len(original)
        assert Levenshtein.distance(original, passage) > round(0.1 * len(original))


def test_papers_depend_on_seed_host_and_sources_alone(hosts, sources):
    whole = plant(hosts, sources, kind="mixed", seed=5)
    assert plant(hosts, sources, kind="mixed", seed=5) == whole
    for name, paper in zip(hosts, whole, strict=True):
        assert plant({name: hosts[name]}, sources, kind="mixed", seed=5) == (paper,)
    assert plant(hosts, sources, kind="mixed", seed=6) != whole


def test_pinned():
    """Results would change with these draws: a change here is one of all experiments."""
    host = "渡口昨天关闭。船都停在岸边。"
    source = "灯塔修好了，港口亮了起来。游客都来观看。书店今天开门。"
    [paper] = plant(
        {"h": host}, {"s": source}, kind="mixed", rate=0.2, passages=1, length=(15, 25), seed=4
    )
    assert paper.text == "渡口昨天关闭。船都停在岸边。游客都来观，看。灯塔修好；来港口亮了起来。"
    assert paper.cases == (Case("h", 14, 35, "s", 0, 20),)


def test_a_perfect_and_a_plain_detector(hosts, sources):
    """The truth scores 1; the longest runs in common find most of a verbatim copy."""
    papers = plant(hosts, sources, passages=2)
    true = [case for paper in papers for case in paper.cases]
    assert passage_scores(true, true).plagdet == 1
    result = []
    for paper in papers:
        for name in {case.source for case in paper.cases}:
            blocks = SequenceMatcher(None, paper.text, sources[name], False).get_matching_blocks()
            result += [
                Case(paper.document, a, a + size, name, b, b + size)
                for a, b, size in blocks
                if size >= 40
            ]
    assert passage_scores(result, true).plagdet > 0.95


@pytest.mark.slow
@given(
    text=st.text("甲乙丙。！\n ab.", min_size=8, max_size=80),
    kind=st.sampled_from(KINDS),
    rate=st.floats(0, 0.5),
    seed=st.integers(0, 9),
)
def test_any_source(text, kind, rate, seed):
    host = "渡口昨天关闭。船都停在岸边。"
    # A text without a passage in bounds is refused.
    with suppress(ParameterError):
        [paper] = plant(
            {"h": host}, {"s": text}, kind=kind, rate=rate, passages=1, length=(4, 60), seed=seed
        )
        [case] = paper.cases
        assert case.begin < case.end
        assert without(paper) == host


TEXTS = {"hosts": {"h": "渡口关闭。"}, "sources": {"s": "灯塔修好了。"}}


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("hosts", [None, ["text"], {"h": 1}, {1: "text"}]),
        ("sources", [None, "text", {"s": None}, {"h": "另一篇。"}, {"s": "渡口关闭。"}]),
        ("kind", ["cut", None, True]),
        ("rate", [-0.1, 0.6, "x", True]),
        ("passages", [0, 1.5, None]),
        ("length", [100, (5, 4), (0, 5), (1, 2, 3), (1.0, 2)]),
        ("seed", [-1, None]),
    ],
)
def test_parameters_out_of_bounds(name, values):
    for value in values:
        with pytest.raises(ParameterError, match=f"'{name}' parameter must"):
            plant(**(TEXTS | {"passages": 1, "length": (4, 9)} | {name: value}))


def test_too_few_sources():
    with pytest.raises(ParameterError, match=r"'sources' .* 2 texts .* 4 to 9 .* Got 1 instead"):
        plant(**TEXTS, passages=2, length=(4, 9))


def test_too_few_places():
    sources = dict.fromkeys("abc", "灯塔修好了。")
    with pytest.raises(ParameterError, match=r"'hosts' .* 3 places .* Got 2 in 'h' instead"):
        plant({"h": "渡口关闭。"}, sources, passages=3, length=(4, 9))
