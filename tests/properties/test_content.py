"""The measure content(k) against its twin."""

import random
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.hostile import texts
from tests.reference import content as twin

from neardup import _core

#: More than any collection here has.
ALL = 8_000_000

_PIECES = (
    "水文站通报今晨八时闸口水位",
    "13.5米，比昨日上涨",
    "十三厘米，",
    "2023年",
    "二〇二三年",
    "1,200户",
    "1200户居民已经转移到学校，",
    "请沿岸单位检查泵房、涵洞和仓库，夜间安排人值守。",
    "渡船停开，复航时间另行通知。",
    "the gauge at the lock read 7:30 ",
    "。。",
)


def without_marks(text: str) -> str:
    """Drop marks, which a twin that knows general categories takes for no letters."""
    return "".join(c for c in text if unicodedata.category(c)[0] != "M")


def both(a: str, b: str, k: int, counted: list[str], entries: int = ALL) -> dict:
    """Return what the program says, held to the twin."""
    found = _core.content(a, b, shingle=k, counted=counted, entries=entries)
    expected = twin.content(a, b, k, counted, entries)
    assert {name: found[name] for name in expected} == expected
    return found


@st.composite
def collections(draw: st.DrawFn) -> list[str]:
    """Texts of few pieces, many of which share most of theirs."""
    form = draw(st.lists(st.sampled_from(_PIECES), min_size=2, max_size=5))
    made = []
    for _ in range(draw(st.integers(2, 16))):
        pieces = list(form)
        for _ in range(draw(st.integers(0, 2))):
            pieces[draw(st.integers(0, len(pieces) - 1))] = draw(st.sampled_from(_PIECES))
        made.append("".join(pieces))
    return list(dict.fromkeys(made))


@given(collections(), st.sampled_from((1, 2, 5)), st.sampled_from((0, 30, 60, ALL)))
def test_content_is_the_twin(made, k, entries):
    both(made[0], made[-1], k, made, entries)


@given(texts().map(without_marks), texts().map(without_marks), st.sampled_from((1, 3, 5)))
def test_content_of_hostile_texts_is_the_twin(a, b, k):
    both(a, b, k, [a, b])


@given(collections())
def test_without_a_collection_it_is_the_resemblance(made):
    found = both(made[0], made[-1], 5, [])
    assert found["short"] or found["similarity"] == found["resemblance"]


@given(collections(), st.randoms(use_true_random=False))
def test_the_order_of_the_collection_does_not_matter(made, rng):
    mixed = rng.sample(made, len(made))
    for entries in (50, ALL):
        one = _core.content(made[0], made[-1], shingle=5, counted=made, entries=entries)
        assert one == _core.content(made[0], made[-1], shingle=5, counted=mixed, entries=entries)


@pytest.mark.parametrize("length", [255, 300, 700, 3000])
@pytest.mark.parametrize("entries", [200, 2000, ALL])
def test_sampled_texts_are_the_twin(length, entries):
    """Long texts of one form, posted often, each with some words of its own."""
    rng = random.Random(length)

    def words(count: int) -> str:
        return "".join(chr(rng.randrange(0x5000, 0x5800)) for _ in range(count))

    form = words(length)
    made = []
    for _ in range(14):
        at = rng.randrange(length)
        made.append(form[:at] + words(length // 10) + form[at + length // 12 :])
    found = both(made[0], made[1], 5, made, entries)
    if entries == ALL:
        assert found["weighed"]["median"] > twin.RARE
    both(made[0], words(length), 5, made, entries)


def characters(first: int, count: int) -> str:
    """Return distinct letters; with shingles of one character each is one."""
    return "".join(chr(0xAC00 + first + at) for at in range(count))


@pytest.mark.parametrize(("times", "weighed"), [(4, False), (5, True)])
def test_more_than_four_texts_make_a_shingle_common(times, weighed):
    form = characters(0, 60)
    a, b = form + characters(100, 9), form + characters(200, 9)
    found = both(a, b, 1, [form] * times)
    assert (found["weighed"] is not None) == weighed
    assert found["similarity"] == (18 / 36 if weighed else 60 / 78)


@pytest.mark.parametrize(
    ("of_form", "of_usual", "edits"),
    [(10, 8, 12), (10, 7, 0), (5, 4, 12), (5, 3, 0), (100, 80, 12)],
)
def test_a_majority_excuses_departures(of_form, of_usual, edits):
    form, own, usual = characters(0, 50), characters(100, 6), characters(200, 6)
    found = both(form + own, form + usual, 1, [form] * of_form + [usual] * of_usual)
    assert found["weighed"]["edits"] == edits


def test_the_median_is_the_lower_of_two():
    low, high = characters(0, 30), characters(50, 30)
    found = both(low + high, low + high, 1, [low] * 6 + [high] * 9)
    assert found["weighed"]["median"] == 6


@pytest.mark.parametrize(("letters", "short"), [(39, True), (40, False)])
def test_less_than_forty_letters_are_a_short_text(letters, short):
    a, b = characters(0, letters), characters(0, letters + 1) + "。"
    found = both(a, b, 1, [])
    assert found["short"] == short
    assert found["similarity"] == letters / (letters + (1 if short else 2))


@pytest.mark.parametrize(("distinct", "known"), [(23, False), (24, True)])
def test_a_small_sample_says_nothing(distinct, known):
    text = characters(0, distinct) * 2
    found = both(text, text, 1, [text] * 9)
    assert (found["weighed"] is not None) == known


@pytest.mark.parametrize(
    ("agree", "differ", "contradicts"), [(17, 3, False), (16, 3, True), (60, 0, False)]
)
def test_the_bound_itself_is_no_contradiction(agree, differ, contradicts):
    """Every character stands in both texts, so more than 0.15 is too much."""
    units = characters(0, agree + differ)
    ends = characters(100, 30) + f"1{units[0]}2{units[1]}"
    ends += "".join(f"1{unit}" for unit in units[2:agree])
    one, other = ("".join(f"{n}{unit}" for unit in units[agree:]) + ends for n in (1, 2))
    found = both(one, other, 1, [])
    assert found["resemblance"] == 1.0
    assert (found["agree"], found["differ"]) == (agree, differ)
    assert found["contradicts"] == contradicts


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("十三人", "13人", (1, 0)),
        ("十人", "10 人", (1, 0)),
        ("两百五十人", "250人", (1, 0)),
        ("一千零五人", "1005人", (1, 0)),
        ("二〇二三年", "2023年", (1, 0)),
        ("1,200人", "1200人", (1, 0)),
        ("7:30开", "7:45开", (0, 1)),
        ("7人", "8度", (0, 0)),
        ("1人1人2人", "1人3人", (1, 1)),
    ],
)
def test_numbers_by_hand(a, b, expected):
    found = both(a, b, 5, [])
    assert (found["agree"], found["differ"]) == expected


@pytest.mark.parametrize("entries", [59, 60, 61])
def test_a_table_may_be_full(entries):
    form = characters(0, 60)
    found = both(form, form, 1, [form] * 9, entries)
    # Half of the shingles are still more than 24.
    assert found["weighed"]["level"] == (entries < 60)


@given(texts())
def test_a_text_is_itself(text):
    found = _core.content(text, text, shingle=5, counted=[text], entries=ALL)
    assert found["similarity"] == 1.0
    assert not found["contradicts"]
