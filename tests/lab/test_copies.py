"""Copies: edited as much as was asked for, or re-posted; the same for the same seed and id."""

from functools import partial

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein
from tests.kit.sentences import written

from neardup import ParameterError
from neardup.lab import EditModel, RepostModel
from neardup.lab.datasets.edit_model import find_head, find_tail
from neardup.lab.datasets.sentences import find_sentences, find_words

ENGLISH = (
    "The harbour master counted the boats twice on Monday. Nobody had seen the grey one leave. "
    "By noon the fog was gone, and so was the ferry. Two children found a rope on the beach; "
    "they brought it to the office. The clerk wrote it down in the book and went home early."
)


@pytest.fixture(scope="module")
def pool():
    return [written(f"pool{index}", 20) for index in range(8)]


@pytest.mark.parametrize(
    ("texts", "donors", "rate", "least"),
    [
        *((None, None, *pair) for pair in ((0.02, 0.85), (0.1, 0.85), (0.3, 0.8), (0.5, 0.7))),
        ([ENGLISH] * 20, [ENGLISH.upper(), ENGLISH[::-1]], 0.2, 0.75),
    ],
)
def test_the_measured_share_agrees_with_the_rate(texts, donors, rate, least, pool):
    """Over 20 copies the share is on average close below the rate."""
    model = EditModel(donors or pool, rate=rate)
    shares = []
    for index, text in enumerate(texts or [written(f"text{n}", 30) for n in range(20)]):
        copy = model.copy(text, str(index))
        shares.append(Levenshtein.distance(text, copy) / max(len(text), len(copy)))
    assert least * rate <= np.mean(shares) <= rate + 0.001


def test_rates_are_drawn_from_two_to_ten_percent(pool):
    model, text = EditModel(pool), written("one", 60)
    rates = [Levenshtein.distance(text, model.copy(text, str(index))) for index in range(100)]
    rates = np.array(rates) / len(text)
    assert 0.015 <= rates.min() < 0.03
    assert 0.08 < rates.max() <= 0.10
    assert 0.045 < rates.mean() < 0.065


def test_inserted_text_comes_from_the_pool():
    model = EditModel(["甲乙丙丁戊己庚辛。"] * 3, rate=0.3)
    text = "".join(f"{index}、" for index in range(200))
    new = set().union(*(set(model.copy(text, str(index))) for index in range(30))) - set(text)
    assert set("甲乙丙丁戊己庚辛") <= new
    # All else is of the lines at head and tail, which are English for numbers.
    assert not {c for c in new if "\u4e00" <= c <= "\u9fff"} - set("甲乙丙丁戊己庚辛")


def test_copies_depend_on_seed_id_and_rate_alone(pool):
    texts = {str(index): written(f"text{index}") for index in range(6)}
    model = EditModel(pool, seed=3)
    forth = {id: model.copy(text, id) for id, text in texts.items()}
    back = {id: EditModel(pool, seed=3).copy(texts[id], id) for id in reversed(texts)}
    assert forth == back
    assert EditModel(pool, seed=4).copy(texts["0"], "0") != forth["0"]
    assert model.copy(texts["0"], "1") != forth["0"]


def test_pinned():
    """Results would change with these draws: a change here is one of all experiments."""
    copy = EditModel(["码头上的吊车昨夜停了。", "渡船改在清晨开出。"], seed=1, rate=0.3).copy(
        "灯塔今天重新点亮，港口的居民都来观看。", "a1"
    )
    assert copy == "【转载】灯塔今天重新点亮，港口的居民都渡船看。"


@example(text=": ", rate=0.5, id="Z\x89")
@given(
    text=st.text(max_size=60) | st.text("甲乙丙丁。\n ab.", max_size=120),
    rate=st.floats(0, 0.5),
    id=st.text(max_size=5),
)
def test_the_rate_bounds_the_distance(text, rate, id):
    copy = EditModel(["子丑寅卯，辰巳午未。", "one two three."], rate=rate).copy(text, id)
    assert Levenshtein.distance(text, copy) <= round(rate * len(text))


@given(st.text(max_size=80))
def test_passages_are_in_order_and_apart(text):
    for spans in (find_words(text), find_sentences(text)):
        edges = [edge for span in spans for edge in span]
        assert edges == sorted(edges)
        assert all(begin < end <= len(text) for begin, end in spans)
    assert not any("\n" in text[begin:end] for begin, end in find_sentences(text))


@pytest.mark.parametrize(
    ("text", "head", "tail"),
    [
        ("本报讯 渡口关闭。", "本报讯 ", ""),
        ("晨江社五月二日电（记者 何青）渡口关闭。（完）", "晨江社五月二日电", "（完）"),
        ("渡口关闭。\n编辑：何青", "", "\n编辑：何青"),
        ("PORT TOWN (Wire) -- The ferry stopped.", "PORT TOWN (Wire) -- ", ""),
        ("", "", ""),
    ],
)
def test_lines_of_a_source_are_found(text, head, tail):
    assert text[slice(*find_head(text))] == head
    assert text[slice(*find_tail(text))] == tail


def test_text_is_its_own_donor_if_there_is_no_other():
    text = "one text of words"
    assert EditModel([text], rate=0.5).copy(text, "a") != text


POOL = ["some words"]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        *(
            (partial(EditModel, POOL, rate=rate), r"'rate' .* a number from 0 to 0\.5")
            for rate in (-0.1, 0.51, True, "x", float("nan"))
        ),
        *(
            (partial(EditModel, pool), "'pool' .* a text with a word")
            for pool in ([], ["", "。。"])
        ),
        (partial(EditModel, "some words"), "'pool' parameter must be a list"),
        *(
            (partial(model, seed=seed), "'seed' parameter must be")
            for model in (partial(EditModel, POOL), RepostModel)
            for seed in (-1, 0.5, "1")
        ),
        (partial(RepostModel().copy, 3, "a"), "'text' parameter must be"),
        (partial(RepostModel().copy, "a", 3), "'id' parameter must be"),
    ],
)
def test_bad_value_is_refused(call, message):
    with pytest.raises(ParameterError, match=message):
        call()


ARTICLE = "渡口的新渡轮下周一试航，票价两元，末班船推迟到夜里十一点。" * 30


def made(count=2000, text=ARTICLE, seed=0):
    model = RepostModel(seed=seed)
    return [model.copy(text, str(index)) for index in range(count)]


@given(st.text(), st.text(max_size=5), st.integers(0, 9))
def test_the_article_is_left_alone(text, id, seed):
    result = RepostModel(seed=seed).copy(text, id)
    assert text in result
    assert result == RepostModel(seed=seed).copy(text, id)


def test_added_lines_have_the_stated_places_and_lengths():
    added = [copy.split(ARTICLE) for copy in made()]
    where = [(bool(head), bool(tail)) for head, tail in added]
    shares = {place: where.count(place) / len(where) for place in set(where)}
    assert shares[False, False] == pytest.approx(0.07, abs=0.02)
    for place in ((True, False), (False, True), (True, True)):
        assert shares[place] == pytest.approx(0.31, abs=0.04)
    lengths = [len(head + tail) for head, tail in added]
    # 1.6 % of 900 characters, the median of the news they are made for.
    assert sum(lengths) / len(lengths) == pytest.approx(14, abs=2)
    assert max(lengths) < 45


def test_lines_are_in_the_language_of_the_text():
    article = "The harbour master counted the boats twice on Monday. " * 20
    lines = "".join(copy.replace(article, "") for copy in made(200, article))
    assert "Source: " in lines
    assert lines.isascii()


def test_seed_and_id_decide():
    assert made(20) == made(20)
    assert made(20) != made(20, seed=1)
    assert len(set(made(20))) > 10
