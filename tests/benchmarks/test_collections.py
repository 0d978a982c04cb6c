"""Planted passages of the benchmarks: the truth is exact, and every score computed by hand."""

import math
import random
from itertools import combinations, pairwise

import numpy as np
import pytest
from rapidfuzz.distance import Levenshtein
from tests.kit.sentences import written

from neardup.lab.datasets import sentences as spans

KINDS = ("verbatim", "edited", "reordered", "synonyms")


@pytest.fixture
def planted(module):
    return module("planted")


@pytest.fixture(scope="module")
def hosts():
    return {f"paper{index}": written(f"host{index}", 40) for index in range(6)}


@pytest.fixture(scope="module")
def sources():
    # Line breaks, as real texts have them.
    return {
        f"source{index}": "\n\t".join(written(f"source{index}.{part}", 6) for part in range(5))
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
            before = [original[b:e].strip() for b, e in spans.find_sentences(original)]
            after = [passage[b:e].strip() for b, e in spans.find_sentences(passage)]
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


# The exact joins of the benchmarks give what brute force gives.


@pytest.mark.parametrize("distance", [1, 3, 6])
def test_near_pairs_equal_brute_force(module, distance):
    rng = np.random.default_rng(1)
    base = rng.integers(0, 2**64, 300, dtype=np.uint64)
    flips = np.uint64(1) << rng.integers(0, 64, (4, 300), dtype=np.uint64)
    points = np.concatenate((base, base ^ np.bitwise_or.reduce(flips, axis=0)))
    distances = np.bitwise_count(points[:, None] ^ points[None, :])
    expected = np.argwhere(np.triu(distances <= distance, 1))
    assert np.array_equal(module("truth").near_pairs(points, distance), expected)


def test_resembling_pairs_equal_brute_force(module):
    draw = random.Random(0)
    texts = ["".join(draw.choices("船到码头货物上岸。", k=60)) for _ in range(30)]
    texts += [text[: draw.randint(40, 60)] for text in texts]
    sets = [{text[i : i + 5] for i in range(len(text) - 4)} for text in texts]
    expected = {
        (a, b): len(sets[a] & sets[b]) / len(sets[a] | sets[b])
        for a, b in combinations(range(len(texts)), 2)
    }
    expected = {pair: value for pair, value in expected.items() if value >= 0.8}
    found = module("truth").resemblance_pairs(texts, 0.8)
    pairs = {tuple(sorted((int(a), int(b)))): value for a, b, value in found}
    assert pairs == pytest.approx(expected)
    assert expected


# The shapes of the benchmarks: equal draws, and a truth that holds by construction.


@pytest.fixture
def shapes(module, monkeypatch):
    """The module, with sentences of its own."""
    found = module("shapes")
    chinese = [f"{written(f'shape{n}', 1)}第{n}号渡口的船今天开往对岸的码头。" for n in range(400)]
    english = [
        f"Ship number {n} leaves the {n % 7} th harbour for the far shore." for n in range(400)
    ]
    monkeypatch.setattr(found, "chinese", lambda: chinese)
    monkeypatch.setattr(found, "own", lambda: chinese)
    monkeypatch.setattr(found, "english", lambda: english)
    return found


def test_the_same_call_makes_the_same_documents(shapes):
    for name in shapes.SHAPES:
        first, second = (list(getattr(shapes.Maker(name, 200), name)()) for _ in range(2))
        assert first == second
        assert len(first) == {"recombined": 400, "long": 4}.get(name, 200)


@pytest.mark.parametrize("name", ["reposts", "versions", "long"])
def test_a_copy_differs_by_few_letters_and_no_digit(shapes, name):
    families = {}
    for family, text in getattr(shapes.Maker(name, 500), name)():
        families.setdefault(family, []).append(text)
    several = [texts for texts in families.values() if len(texts) > 1]
    assert several
    for first, *others in several:
        for text in others:
            assert 0 <= Levenshtein.distance(first, text) <= 0.09 * len(first)
            assert [c for c in text if c.isdigit()] == [c for c in first if c.isdigit()]


def test_documents_of_one_template_have_a_sentence_each(shapes):
    texts = [text for _, text in shapes.Maker("template", 100).template()]
    posts = [text for _, text in shapes.Maker("posted_sentence", 100).posted_sentence(20)]
    assert len(set(texts)) == len(set(posts)) == 100
    assert len({text[:100] for text in texts}) == 1
    assert len({text.split("\n")[0] for text in posts}) == 5


def test_posts_with_a_line_are_copies(shapes):
    families = {}
    for family, text in shapes.Maker("posted_line", 100).posted_line(20):
        one, other = text.split("\n")
        line, whole = sorted((one, other), key=len)
        assert 5 <= len(line) <= 15
        families.setdefault(family, set()).add(whole)
    assert [len(texts) for texts in families.values()] == [1] * 5


def test_sentences_of_their_own_are_no_copies_of_each_other(module, monkeypatch):
    found = module("shapes")
    sentences = [
        "今天开往对岸的渡船因为大风停航。",
        "今天开往对岸的渡船因为大雾停航。",
        "来源：渡口报",
        "码头上的人忙着卸货。",
    ]
    monkeypatch.setattr(found, "chinese", lambda: sentences)
    found.own.cache_clear()
    assert found.own() == [sentences[0], sentences[3]]
