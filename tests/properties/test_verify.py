"""Stage verify against its twins: content(k), resemblance and containment."""

import random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.kit.strategies import texts
from tests.reference import content as twin
from tests.reference import verify

from neardup import _core, compare, load_recipe
from neardup.recipe.assets import compiled

#: More than any collection here has.
ALL = 8_000_000

_PIECES = (
    "水文站通报今晨八时闸口水位",
    "13.5米，比昨日上涨",
    "十三厘米，",
    "下跌两厘米，工作开始，",
    "工作停止，",
    "the pump was started ",
    "the pump was stopped ",
    "2023年",
    "二〇二三年",
    "1,200户",
    "1200户居民已经转移到学校，",
    "请沿岸单位检查泵房、涵洞和仓库，夜间安排人值守。",
    "渡船停开，复航时间另行通知。",
    "一万二千立方米，",
    "the gauge at the lock read 7:30 ",
    "on 3 december twelve ships waited below the lock, ",
    "on december 3 eight ships waited below the lock, ",
    "。。",
)


def both(a: str, b: str, k: int, counted: list[str], entries: int = ALL) -> dict:
    """Return what the program says, held to the twin."""
    result = _core.content(a, b, shingle=k, counted=counted, entries=entries)
    expected = twin.content(a, b, k, counted, entries)
    assert {name: result[name] for name in expected} == expected
    return result


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


@given(texts(), texts(), st.sampled_from((1, 3, 5)))
def test_content_of_hostile_texts_is_the_twin(a, b, k):
    both(a, b, k, [a, b])


@given(collections())
def test_shingles_without_a_collection_count_alike(made):
    result = both(made[0], made[-1], 5, [])
    assert result["weighed"] is None
    if not result["aligned"]["replaced"] and result["alignment"] == 1:
        assert result["short"] or result["similarity"] == result["resemblance"]


@given(collections())
def test_the_order_of_two_texts_does_not_matter(made):
    result = both(made[0], made[-1], 5, made)
    turned = _core.content(made[-1], made[0], shingle=5, counted=made, entries=ALL)
    assert result["similarity"] == turned["similarity"]
    counts = ("equal", "agree", "differ", "replaced")
    assert [result["aligned"][n] for n in counts] == [turned["aligned"][n] for n in counts]


def test_tie_of_alignments_does_not_depend_on_order():
    """Two longest common subsequences: by one of them, but not the other, a number is replaced."""
    body = "渡口管理处说本班船的票已经售完请旅客改乘后面的船今日停航夜间安排人值守"
    a, b = (f"{body}{middle}{body}" for middle in ("丙,乙,,甲3甲3", ",丙,3甲3甲11"))
    result, turned = (
        _core.content(*pair, shingle=5, counted=[], entries=ALL) for pair in ((a, b), (b, a))
    )
    assert result["similarity"] == turned["similarity"]
    both(a, b, 5, [])


@given(collections(), st.randoms(use_true_random=False))
def test_the_order_of_the_collection_does_not_matter(made, rng):
    mixed = rng.sample(made, len(made))
    for entries in (50, ALL):
        result = _core.content(made[0], made[-1], shingle=5, counted=made, entries=entries)
        assert result == _core.content(made[0], made[-1], shingle=5, counted=mixed, entries=entries)


@pytest.mark.parametrize("length", [255, 300, 1200])
@pytest.mark.parametrize("entries", [200, 2000, ALL])
def test_sampled_texts_are_the_twin(length, entries):
    """Long texts of one form, posted often, each with some words of its own."""
    rng = random.Random(length)

    def words(count: int) -> str:
        return "".join(chr(rng.randrange(0x5000, 0x5800)) for _ in range(count))

    form = words(length)
    made = []
    for _ in range(14):
        begin = rng.randrange(length)
        made.append(form[:begin] + words(length // 10) + form[begin + length // 12 :])
    result = both(made[0], made[1], 5, made, entries)
    if entries == ALL:
        assert result["weighed"]["median"] > twin.RARE
    both(made[0], words(length), 5, made, entries)


def characters(first: int, count: int) -> str:
    """Return distinct letters; with shingles of one character each is one."""
    return "".join(chr(0xAC00 + first + number) for number in range(count))


@pytest.mark.parametrize(("times", "weighed"), [(4, False), (5, True)])
def test_more_than_four_texts_make_a_shingle_common(times, weighed):
    form = characters(0, 60)
    a, b = form + characters(100, 9), form + characters(200, 9)
    result = both(a, b, 1, [form] * times)
    assert (result["weighed"] is not None) == weighed
    # One that five texts have weighs half.
    assert result["similarity"] == pytest.approx(30 / 48 if weighed else 60 / 78, abs=0.02)


@pytest.mark.parametrize(
    ("carried", "weight"), [(5, 500), (6, 414), (8, 333), (13, 250), (104, 150)]
)
def test_weight_of_a_common_shingle(carried, weight):
    form = characters(0, 60)
    result = both(form + characters(100, 9), form, 1, [form] * carried)
    assert result["weighed"]["resemblance"] == 60 * weight / (60 * weight + 9 * 1000)
    assert result["weighed"]["containment"] == 1.0


@pytest.mark.parametrize(
    ("of_form", "of_usual", "excused"),
    [(10, 8, 6), (10, 7, 0), (5, 4, 6), (5, 3, 0), (100, 80, 6)],
)
def test_a_majority_excuses_departures(of_form, of_usual, excused):
    form, departures, usual = characters(0, 50), characters(100, 6), characters(200, 6)
    result = both(form + departures, form + usual, 1, [form] * of_form + [usual] * of_usual)
    assert result["weighed"]["excused"] == excused


@pytest.mark.parametrize(("text", "weighed"), [("渡口", True), ("ferry", True)])
def test_scripts_with_spaces_are_weighed_too(text, weighed):
    words = " ".join(f"{text}{'abcdefghijklmnopqrst'[number]}" for number in range(20))
    result = both(words + " lock", words + " gate", 5, [words] * 9)
    assert (result["weighed"] is not None) == weighed


def test_the_median_is_the_lower_of_two():
    low, high = characters(0, 30), characters(50, 30)
    result = both(low + high, low + high, 1, [low] * 6 + [high] * 9)
    assert result["weighed"]["median"] == 6


@pytest.mark.parametrize(("letters", "short"), [(39, True), (40, False)])
def test_less_than_forty_letters_are_a_short_text(letters, short):
    a, b = characters(0, letters), characters(0, letters + 1) + "。"
    result = both(a, b, 1, [])
    assert result["short"] == short
    expected = letters / (letters + (1 if short else 2))
    assert result["similarity"] == pytest.approx(expected, abs=0.001)


@pytest.mark.parametrize(("distinct", "known"), [(23, False), (24, True)])
def test_a_small_sample_says_nothing(distinct, known):
    text = characters(0, distinct) * 2
    result = both(text, text, 1, [text] * 9)
    assert (result["weighed"] is not None) == known


@pytest.mark.parametrize(
    ("length", "agree", "replaced", "taken"),
    [
        # All numbers are others: how long the text is decides, and more than two say no more.
        (400, 0, 1, 0.5),
        (800, 0, 1, 0.25),
        (800, 0, 2, 0.5),
        (800, 0, 3, 0.5),
        (800, 0, 8, 0.5),
        # The share of numbers that are others decides.
        (200, 9, 1, 0.6),
        (200, 19, 1, 0.3),
        (200, 9, 0, 0.0),
    ],
)
def test_replaced_numbers_lower_the_similarity(length, agree, replaced, taken):
    """Each number stands behind letters of its own, and the last of them before others."""
    numbers, end = agree + replaced, 20
    each = (length - end) // numbers
    parts = [characters(each * number, each - 1) for number in range(numbers)]
    parts[0] += characters(1000, length - end - each * numbers)
    a, b = (
        "".join(f"{part}{first if number < replaced else 7}" for number, part in enumerate(parts))
        + characters(2000, end)
        for first in (3, 4)
    )
    result = both(a, b, 5, [])
    side = result["aligned"]
    assert (side["units_a"], side["agree"], side["replaced"]) == (length, agree, replaced)
    lost = 2 - result["resemblance"] - result["alignment"] + taken
    expected = min(result["resemblance"], max(0, 1 - lost * 60 / 92))
    # Nearly all is aligned.
    assert result["similarity"] == pytest.approx(expected, abs=0.04)


@pytest.mark.parametrize("word", ["渡", "ferry "])
def test_texts_of_the_same_pieces_align_over_little(word):
    """Sentences in another order share their shingles; an edited text keeps its order."""
    sentences = [word + characters(40 * number, 30) + "。" for number in range(8)]
    moved = "".join(sentences[4:] + sentences[:4])
    result = both("".join(sentences), moved, 5, [])
    assert result["resemblance"] > 0.9 > 0.6 > result["alignment"]
    assert result["similarity"] < result["resemblance"]


def test_numbers_outside_the_core_do_not_count():
    """The masthead of one site has a date where the other has the code of a share."""
    body = characters(0, 100)
    a, b = f"10:30 {characters(300, 6)}{body}", f"600519 {characters(400, 6)}{body}"
    result = both(a, b, 5, [])
    assert result["aligned"]["differ"] == 1
    assert result["aligned"]["replaced"] == result["penalty"] == 0


def test_the_shape_of_a_signature():
    foot = characters(500, 30)
    result = both(characters(0, 60) + foot, characters(100, 60) + foot, 5, [])
    assert result["aligned"]["at_end"]
    assert result["aligned"]["core"] == [30, 30]
    assert result["similarity"] < 0.45


def test_term_replaced_throughout_recurs():
    parts = [characters(20 * number, 18) for number in range(6)]
    result = both("东".join(parts), "西".join(parts), 5, [])["aligned"]
    assert (result["gaps"], result["replacements"], result["recurring"]) == (5, 5, 4)


@pytest.mark.parametrize(("least", "counted"), [(12, 1), (13, 0)])
def test_a_number_in_a_long_gap_is_rewritten_with_the_rest(least, counted):
    """A gap of at most 12 units, the number among them, replaces a number."""
    begin, end = characters(0, 40), characters(50, 40)
    a = begin + "3" + characters(100, least - 1) + end
    b = begin + "4" + characters(200, least - 1) + end
    side = both(a, b, 5, [])["aligned"]
    assert (side["differ"], side["replaced"]) == (1, counted)


@pytest.mark.parametrize(("length", "equal"), [(2, 80), (3, 83)])
def test_less_than_three_equal_units_between_differences_are_none(length, equal):
    begin, end, same = characters(0, 40), characters(50, 40), characters(95, length)
    a, b = (
        begin + characters(first, 5) + same + characters(first + 5, 5) + end for first in (100, 200)
    )
    assert both(a, b, 5, [])["aligned"]["equal"] == equal


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("十三人", "13人", (1, 0)),
        ("十人", "10 人", (1, 0)),
        ("两百五十人", "250人", (1, 0)),
        ("一千零五人", "1005人", (1, 0)),
        ("三万五千人", "35000人", (1, 0)),
        ("二〇二三年", "2023年", (1, 0)),
        ("1,200人", "1200人", (1, 0)),
        ("thirteen ships", "13 ships", (1, 0)),
        ("twelve ships", "eleven ships", (0, 1)),
        ("8 March", "8 mar", (2, 0)),
        ("8 march", "8 june", (1, 1)),
        ("it may", "it june", (0, 0)),
        ("7:30开", "7:45开", (1, 1)),
        ("7.0度", "7度", (1, 0)),
        ("来了7人", "来了人", (0, 0)),
        ("于3日5时", "于5日3时", (2, 0)),
    ],
)
def test_numbers_by_hand(a, b, expected):
    aligned = both(a, b, 5, [])["aligned"]
    assert (aligned["agree"], aligned["differ"]) == expected


@pytest.mark.parametrize("body", ["渡口停航三天", "the ferry stops for 3 days"])
def test_short_texts_with_another_number_have_nothing_in_common(body):
    other = body.replace("三", "四").replace("3", "4")
    assert both(body, body + "。", 5, [])["similarity"] == 1.0
    assert both(body, other, 5, [])["similarity"] == 0.0


@pytest.mark.parametrize("edits", [3, 40])
@pytest.mark.parametrize("length", [600, 3000])
def test_long_edited_texts_are_the_twin(length, edits):
    """Long enough that rows of four units hold the alignment fast."""
    rng = random.Random(length + edits)
    base = [chr(rng.randrange(0x5000, 0x5100)) for _ in range(length)]
    for position in range(0, length, 29):
        base[position] = str(rng.randrange(100))
    other = list(base)
    for _ in range(edits):
        position = rng.randrange(len(other))
        end = position + rng.randrange(9)
        other[position:end] = rng.sample([*base, "7", "8"], rng.randrange(9))
    rest = len(other) // 2
    for b in ("".join(other), "".join(other[rest:] + other[:rest])):
        result = both("".join(base), b, 5, [])
        assert 0 < result["aligned"]["equal"] < length


@pytest.mark.parametrize("length", [60, 150, 400, 4000])
@pytest.mark.parametrize("entries", [300, ALL])
def test_parts_of_long_texts_are_the_twin(length, entries):
    """A part of a long text lies in it, by the shingles of the part and not those of the whole."""
    rng = random.Random(length)

    def words(count: int) -> str:
        return "".join(chr(rng.randrange(0x5000, 0x5800)) for _ in range(count))

    form, part = words(40), words(length)
    whole = form + words(2500) + part + words(2500)
    other = form + words(length)
    counted = [whole, form + part, other, *(form + words(100) for _ in range(12))]
    containment = both(form + part, whole, 5, counted, entries)["containment"]
    # All but the four shingles that begin in the form; they are more of few sampled ones.
    assert containment["a_in_b"] > 0.85
    if length >= 400 and entries == ALL:
        assert containment["a_in_b"] > 0.98
    assert containment["b_in_a"] < 0.5
    # The form is in both, and is common.
    containment = both(other, whole, 5, counted, entries)["containment"]
    assert containment["similarity"] < 0.4


@given(collections())
def test_the_distance_is_at_least_the_edit_distance(made):
    a, b = made[0], made[-1]
    aligned = both(a, b, 5, [])["aligned"]
    exact = verify.edit_distance(twin.units(a), twin.units(b))
    assert exact <= aligned["distance"] <= aligned["units_a"] + aligned["units_b"]
    longer = max(aligned["units_a"], aligned["units_b"])
    expected = max(0, longer - aligned["distance"]) / longer if longer else 1.0
    assert aligned["similarity"] == expected


@given(texts(), st.integers(0, 400), st.sampled_from(["渡", "boat ", "7"]))
def test_one_edit_is_a_distance_of_one(text, position, added):
    """Of a unit between others; the words beside it may grow together or fall apart."""
    body = "渡口管理处说本班船的票已经售完请旅客改乘后面的船"
    position %= len(body)
    aligned = both(body, body[:position] + "|" + added + body[position:], 5, [])["aligned"]
    assert aligned["distance"] == 1
    assert both(text, text, 5, [])["aligned"]["distance"] == 0


@pytest.mark.parametrize("entries", [59, 60, 61])
def test_a_table_may_be_full(entries):
    form = characters(0, 60)
    result = both(form, form, 1, [form] * 9, entries)
    # Half of the shingles are still more than 24.
    assert result["weighed"]["level"] == (entries < 60)


@given(texts())
def test_a_text_is_itself(text):
    result = _core.content(text, text, shingle=5, counted=[text], entries=ALL)
    assert result["similarity"] == 1.0
    assert result["aligned"]["equal"] == result["aligned"]["units_a"]


@example("", " ", 1)
@given(texts(), texts(), st.sampled_from((1, 2, 5, 9)))
def test_compare_is_the_twin(a, b, k):
    recipe = load_recipe("characters").replace(decide={"shingle": k})
    core = compiled(recipe)
    x, y = core.normalize(a), core.normalize(b)
    comparison = compare(a, b, recipe=recipe)
    # Where nothing but white space is in both, they must be identical as they came.
    is_nothing = not (a.strip() or b.strip())
    assert comparison.resemblance == (float(a == b) if is_nothing else verify.resemblance(x, y, k))
    if x and y:
        assert comparison.containment_a == verify.containment(x, y, k)
        assert comparison.containment_b == verify.containment(y, x, k)


@given(texts(), texts(), st.sampled_from(("general", "characters")))
def test_compare_is_symmetric(a, b, recipe):
    result, turned = compare(a, b, recipe=recipe), compare(b, a, recipe=recipe)
    for name in ("similarity", "resemblance", "distance"):
        assert getattr(result, name) == getattr(turned, name)
    assert result.containment_a == turned.containment_b
    assert result.containment_b == turned.containment_a


@given(texts())
def test_a_text_compared_with_itself_is_the_same(text):
    comparison = compare(text, text)
    assert (comparison.similarity, comparison.resemblance) == (1.0, 1.0)
    assert comparison.distance is None
    same = compare("桥" + text, "桥" + text, recipe="characters")
    assert (same.similarity, same.distance) == (1.0, 0)
