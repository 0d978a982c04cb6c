"""Stage verify against its twins: content(k), resemblance and containment."""

import random
import string
from collections.abc import Iterator

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.kit.hard_texts import letters
from tests.kit.strategies import texts
from tests.reference import content as twin
from tests.reference import verify
from tests.reference.aligned import units

from neardup import _core, compare, load_recipe
from neardup.recipe.assets import compiled

approx = pytest.approx
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


@given(collections(), st.randoms(use_true_random=False))
def test_order_does_not_matter(made, rng):
    """Of the two texts, and of the collection."""
    a, b, mixed = made[0], made[-1], rng.sample(made, len(made))
    for entries in (50, ALL):
        result = _core.content(a, b, shingle=5, counted=made, entries=entries)
        assert result == _core.content(a, b, shingle=5, counted=mixed, entries=entries)
    turned = _core.content(b, a, shingle=5, counted=made, entries=ALL)
    assert result["similarity"] == turned["similarity"]
    counts = ("equal", "agree", "differ", "replaced")
    assert [result["aligned"][n] for n in counts] == [turned["aligned"][n] for n in counts]


def test_tie_of_alignments_does_not_depend_on_order():
    """Two longest common subsequences: by one of them, but not the other, a number is replaced."""
    body = "渡口管理处说本班船的票已经售完请旅客改乘后面的船今日停航夜间安排人值守"
    a, b = (f"{body}{middle}{body}" for middle in ("丙,乙,,甲3甲3", ",丙,3甲3甲11"))
    assert both(a, b, 5, [])["similarity"] == both(b, a, 5, [])["similarity"]


def written(rng: random.Random, count: int) -> str:
    return letters(rng, count, [chr(number) for number in range(0x5000, 0x5800)])


@pytest.mark.parametrize("length", [255, 300, 1200])
@pytest.mark.parametrize("entries", [200, 2000, ALL])
def test_sampled_texts_are_the_twin(length, entries):
    """Long texts of one form, posted often, each with some words of its own."""
    rng = random.Random(length)
    form = written(rng, length)
    made = []
    for _ in range(14):
        begin = rng.randrange(length)
        made.append(form[:begin] + written(rng, length // 10) + form[begin + length // 12 :])
    result = both(made[0], made[1], 5, made, entries)
    if entries == ALL:
        assert result["weighed"]["median"] > twin.RARE
    both(made[0], written(rng, length), 5, made, entries)


def characters(first: int, count: int) -> str:
    """Return distinct letters; with shingles of one character each is one."""
    return "".join(chr(0xAC00 + first + number) for number in range(count))


def rows() -> Iterator[tuple[str, str, str, int, list[str], dict]]:
    """Yield a name, two texts, the length of shingles, the collection, and what must come out."""
    form, nine, others = characters(0, 60), characters(100, 9), characters(200, 9)
    a, b = form + nine, form + others
    yield "four texts make nothing common", a, b, 1, [form] * 4, {"weighed": None}
    # One that five texts have weighs half.
    half = {"excused": 0, "similarity": approx(30 / 48, abs=0.02)}
    yield "five texts make a shingle common", a, b, 1, [form] * 5, half
    for carried, weight in ((5, 500), (6, 414), (8, 333), (13, 250), (104, 150)):
        weighed = {"median": carried, "shared": 60 * weight / (60 * weight + 9 * 1000)}
        yield f"weight of {carried}", a, form, 1, [form] * carried, weighed
    a, b = (characters(0, 50) + characters(first, 6) for first in (100, 200))
    for of_form, of_b, excused in ((10, 8, 6), (10, 7, 0), (5, 4, 6), (5, 3, 0), (100, 80, 6)):
        collection = [characters(0, 50)] * of_form + [characters(200, 6)] * of_b
        yield f"majority of {of_b}", a, b, 1, collection, {"excused": excused}
    for word in ("渡口", "ferry"):
        words = " ".join(f"{word}{letter}" for letter in string.ascii_lowercase[:20])
        found = {"median": 9, "spaced": word == "ferry"}
        yield f"form of {word}", f"{words} lock", f"{words} gate", 5, [words] * 9, found
    low, high = characters(0, 30), characters(50, 30)
    both_halves = [low] * 6 + [high] * 9
    yield "lower of two medians", low + high, low + high, 1, both_halves, {"median": 6}
    for length, short in ((39, True), (40, False)):
        a, b = characters(0, length), characters(0, length + 1) + "。"
        similarity = approx(length / (length + (1 if short else 2)), abs=0.001)
        yield f"{length} letters", a, b, 1, [], {"short": short, "similarity": similarity}
    a = characters(0, 23) * 2
    yield "small sample", a, a, 1, [a] * 9, {"weighed": None}
    a = characters(0, 24) * 2
    yield "large sample", a, a, 1, [a] * 9, {"median": 9}
    # Half of the shingles are still more than 24.
    for entries, level in ((59, 1), (60, 0), (61, 0)):
        yield f"table of {entries}", form, form, 1, [form] * 9, {"level": level, "entries": entries}
    # Text of more than twenty says nothing where a text has a line alone, beyond two for an edit.
    usual = characters(200, 6)
    for alone, has, similarity in ((12, False, 0.575), (13, True, 0.071)):
        a, b = f"{form}{characters(100, alone)}。", f"{form}{usual}。"
        unique = {"has": [has, False], "similarity": approx(similarity, abs=0.001)}
        yield f"{alone} letters alone", a, b, 1, [form] * 30 + [usual] * 30, unique
    # Other names in three places make two texts of a form.
    for slots, similarity in ((2, 0.671), (3, 0)):
        parts = [characters(400 + 20 * part, 20) for part in range(slots)]
        a, b = (
            form + "".join(characters(n + 2 * at, 2) + part for at, part in enumerate(parts))
            for n in (100, 200)
        )
        found = {"slots": slots, "similarity": approx(similarity, abs=0.001)}
        common = [form + "".join(parts)] * 30
        yield f"{slots} other names", a, b, 1, common, found
    # At least four small differences, and four for each weighty one, are scattered edits.
    for small, weighty, scattered in ((3, 0, 0), (4, 0, 1), (4, 1, 1), (7, 2, 0), (8, 2, 1)):
        lengths = [3] * weighty + [1] * small
        step = 180 // (len(lengths) - 1)
        b = a = characters(0, 200)
        for at, length in enumerate(lengths):
            begin = 5 + step * at
            b = b[:begin] + characters(1000 + 5 * at, length) + b[begin + length :]
        yield f"{small} small and {weighty}", a, b, 5, [], {"scattered": bool(scattered)}
    # Opposed words count in short gaps of short texts, those of one letter in gaps of two.
    before, after = (" ".join(f"{w}{c}" for c in string.ascii_lowercase[:12]) for w in "xy")
    for gap, opposed in ((6, 1), (7, 0)):
        others = (" ".join(f"{w}{n}" for n in string.ascii_lowercase[1:gap]) for w in "pq")
        sides = zip(("started", "stopped"), others, strict=True)
        a, b = (f"{before} {word} {other} {after}" for word, other in sides)
        yield f"opposed words among {gap}", a, b, 5, [], {"negated": opposed}
    for first, second, length, opposed in (
        *(("涨", "跌", 198, 1), ("涨", "跌", 199, 0)),
        *(("涨甲", "跌乙", 60, 1), ("涨甲丙", "跌乙丁", 60, 0)),
    ):
        a, b = (characters(0, length) + end for end in (first, second))
        yield f"{first} after {length}", a, b, 5, [], {"negated": opposed}
    # The masthead of one site has a date where the other has the code of a share.
    body = characters(0, 100)
    a, b = f"10:30 {characters(300, 6)}{body}", f"600519 {characters(400, 6)}{body}"
    outside = {"differ": 1, "replaced": 0, "penalty": 0}
    yield "numbers outside the core", a, b, 5, [], outside
    foot = characters(500, 30)
    a, b = characters(0, 60) + foot, characters(100, 60) + foot
    yield (
        "signature",
        a,
        b,
        5,
        [],
        {"at_end": True, "core": [30, 30], "similarity": approx(0.03, abs=0.001)},
    )
    parts = [characters(20 * number, 18) for number in range(6)]
    recurs = {"gaps": 5, "replacements": 5, "recurring": 4}
    yield "term replaced throughout", "东".join(parts), "西".join(parts), 5, [], recurs
    # A gap of at most 12 units, the number among them, replaces a number.
    begin, end = characters(0, 40), characters(50, 40)
    for gap, counted in ((12, 1), (13, 0)):
        a, b = (f"{begin}{n}{characters(100 * n, gap - 1)}{end}" for n in (3, 4))
        yield f"gap of {gap}", a, b, 5, [], {"differ": 1, "replaced": counted}
    # Less than three equal units between differences are none.
    for same, equal in ((2, 80), (3, 83)):
        middle = characters(95, same)
        a, b = (f"{begin}{characters(n, 5)}{middle}{characters(n + 5, 5)}{end}" for n in (100, 200))
        yield f"{same} equal units", a, b, 5, [], {"equal": equal}
    for body in ("渡口停航三天", "the ferry stops for 3 days"):
        yield f"{body} and a sign", body, body + "。", 5, [], {"similarity": 1}
        other = body.replace("三", "四").replace("3", "4")
        yield f"{body} and another number", body, other, 5, [], {"similarity": 0}
    for a, b, agree, differ in (
        ("十三人", "13人", 1, 0),
        ("十人", "10 人", 1, 0),
        ("两百五十人", "250人", 1, 0),
        ("一千零五人", "1005人", 1, 0),
        ("三万五千人", "35000人", 1, 0),
        ("二〇二三年", "2023年", 1, 0),
        ("1,200人", "1200人", 1, 0),
        ("thirteen ships", "13 ships", 1, 0),
        ("twelve ships", "eleven ships", 0, 1),
        ("8 March", "8 mar", 2, 0),
        ("8 march", "8 june", 1, 1),
        ("it may", "it june", 0, 0),
        ("7:30开", "7:45开", 1, 1),
        ("7.0度", "7度", 1, 0),
        ("来了7人", "来了人", 0, 0),
        ("于3日5时", "于5日3时", 2, 0),
    ):
        yield f"{a} and {b}", a, b, 5, [], {"agree": agree, "differ": differ}


@pytest.mark.parametrize(
    ("a", "b", "k", "counted", "expected"), [pytest.param(*row, id=name) for name, *row in rows()]
)
def test_content_by_hand(a, b, k, counted, expected):
    entries = expected.get("entries", ALL)
    result = both(a, b, k, counted, entries)
    weighed = result["weighed"] or {}
    more = {"shared": weighed.get("resemblance"), "entries": entries}
    more |= {"has": (weighed.get("unique") or {}).get("has")}
    found = result["aligned"] | weighed | result | more
    assert {name: found[name] for name in expected} == expected


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
    assert result["similarity"] == approx(expected, abs=0.04)


@pytest.mark.parametrize("word", ["渡", "ferry "])
def test_texts_of_the_same_pieces_align_over_little(word):
    """Sentences in another order share their shingles; an edited text keeps its order."""
    sentences = [word + characters(40 * number, 30) + "。" for number in range(8)]
    moved = "".join(sentences[4:] + sentences[:4])
    result = both("".join(sentences), moved, 5, [])
    assert result["resemblance"] > 0.9 > 0.6 > result["alignment"]
    assert result["similarity"] < result["resemblance"]


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
    form, part, *parts = (written(rng, n) for n in (40, length, 2500, 2500, length))
    whole, other = form + parts[0] + part + parts[1], form + parts[2]
    counted = [whole, form + part, other, *(form + written(rng, 100) for _ in range(12))]
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
    exact = verify.edit_distance(units(a), units(b))
    assert exact <= aligned["distance"] <= aligned["units_a"] + aligned["units_b"]
    longer = max(aligned["units_a"], aligned["units_b"])
    expected = max(0, longer - aligned["distance"]) / longer if longer else 1.0
    assert aligned["similarity"] == expected


@given(st.integers(0, 23), st.sampled_from(["渡", "boat ", "7"]))
def test_one_edit_is_a_distance_of_one(position, added):
    """Of a unit between others; the words beside it may grow together or fall apart."""
    body = "渡口管理处说本班船的票已经售完请旅客改乘后面的船"
    aligned = both(body, body[:position] + "|" + added + body[position:], 5, [])["aligned"]
    assert aligned["distance"] == 1


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
    result = both(text, text, 5, [text])
    assert (result["similarity"], result["aligned"]["distance"]) == (1.0, 0)
    comparison = compare(text, text)
    assert (comparison.similarity, comparison.resemblance) == (1.0, 1.0)
    assert comparison.distance is None
    same = compare("桥" + text, "桥" + text, recipe="characters")
    assert (same.similarity, same.distance) == (1.0, 0)
