"""Alignment: where passages begin and end, and the words that differ."""

import random
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.kit.strategies import texts
from tests.papers.texts import around, unrelated

from neardup import InputError, ParameterError, check, compare
from neardup.papers import align
from neardup.papers.alignment import count_equated_words
from neardup.papers.edits import find_replacements, find_words, make_fold
from neardup.papers.hiding import unmask

A = "县志记载，清末渡口有木船三只，船工九人。"
B = "民国初年改用汽船，来往时间缩短一半，货物转运也由此兴盛。"
C = "老船工说，水位最高的那年，石阶只剩下最上面的两级。"


@pytest.mark.parametrize(
    ("text", "source", "expected"),
    [
        (around(B, 1, 2), unrelated(3, 33) + B + unrelated(4), [[B]]),
        (unrelated(1) + A + around(C, 2, 3), A + unrelated(4, 700) + C, [[A], [C]]),
        # Sentences in another order are pieces of one passage, and so are those around new text.
        (around(C + A + B, 1, 2), around(A + B + C, 3, 4), [[C, A + B]]),
        (around(A + unrelated(2, 25) + B, 1, 3), around(A + B, 4, 5), [[A, B]]),
    ],
)
def test_passages_have_equal_pieces_in_both_texts(text, source, expected):
    passages = align(text, source, min_passage_length=15)
    pieces = [
        [(text[p.begin : p.end], source[p.source_begin : p.source_end]) for p in passage.pieces]
        for passage in passages
    ]
    assert pieces == [[(part[:-1], part[:-1]) for part in parts] for parts in expected]


@pytest.mark.parametrize(
    "changed",
    [
        B.replace("汽船", "轮船"),
        B.replace("缩短", "大大缩短"),
        B.replace("货物", ""),
        B.replace("时间", "的时间").replace("一半", "过半"),
    ],
)
def test_edits_within(changed):
    text = around(changed, 1, 2)
    (passage,) = align(text, around(B, 3, 4), min_passage_length=15)
    assert text[passage.begin : passage.end] == changed[:-1]
    assert 0.8 < passage.similarity < 1


LATIN = "".join(random.Random(3).choices("abcdefghijklmnopqrstuvwxyz", k=40))


@pytest.mark.parametrize(
    ("shared", "count"),
    [(unrelated(7, 19), 0), (unrelated(7, 20), 1), (LATIN[:39], 0), (LATIN, 1)],
)
def test_passage_has_twenty_chinese_characters_or_twice_as_many_letters(shared, count):
    assert len(align(around(shared, 1, 2), around(shared, 3, 4))) == count
    assert len(align(shared, shared)) == count
    assert len(align(shared, shared, min_passage_length=19)) == 1


def test_repeated_text_is_one_passage_per_place_in_the_paper():
    """The paper's text is copied once, wherever it stands in the source."""
    (passage,) = align(unrelated(1) + B, unrelated(2) + B + unrelated(3, 900) + B)
    assert passage.begin == 80
    (first, second) = align(unrelated(1) + B + unrelated(2, 900) + B, unrelated(3) + B)
    assert first.source_begin == second.source_begin == 80
    assert first.source_end == second.source_end == 80 + len(B) - 1


@pytest.mark.parametrize("unit", ["雨", "雨雪", "ha", "渡口停航，", "abcdefghij" * 2])
def test_repetitive_texts_align_whole(unit):
    """Time does not explode, and all of it is passage."""
    text = unit * (8_000 // len(unit))
    passages = align(text, text)
    assert min(passage.begin for passage in passages) == 0
    assert len(text) - max(passage.end for passage in passages) <= len(unit) + 3


def test_compare_gives_the_passages_of_two_texts():
    text, source = unrelated(1) + B, B + unrelated(2)
    comparison = compare(text, source)
    assert (comparison.passages, comparison.differences) == (None, None)
    assert compare(text, source, passages=True).passages == tuple(align(text, source))


FARES = "The fare will stay the same as on the old boat, and children ride for free."
HALL = "The new hall has three hundred seats and a room for children, who are welcome."


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        (FARES, FARES.replace("will stay", "is to stay"), [("will", "is to", False)]),
        # The letters that two words have in common are no reason to split them.
        (f"Saturday. {FARES}", f"Monday. {FARES}", [("Saturday", "Monday", False)]),
        (f"{FARES}\n{HALL}", f"{HALL}\n{FARES}", [(HALL[:-1], HALL[:-1], True)]),
        (f"{FARES}\n{HALL}", FARES, [(HALL[:-1], "", False)]),
        (f"票价与旧船相同。{B}", f"{B}", [("票价与旧船相同", "", False)]),
        ("甲乙丙丁", "ABCD", [("甲乙丙丁", "ABCD", False)]),
        (B, B, []),
    ],
)
def test_differences_are_words_and_moved_text(a, b, expected):
    places = compare(a, b, passages=True).differences
    assert [(place.text, place.source_text, place.moved) for place in places] == expected
    for place in places:
        assert a[place.begin : place.end] == place.text
        assert b[place.source_begin : place.source_end] == place.source_text


_WORDS = st.sampled_from(
    ["元", "12元", "票价", "漢字", "汉字", "Ferry", "thе", "the", "ＡＢ", "café", "cafe\u0301"]
)


_LISTS = st.lists(_WORDS, max_size=30)


@given(_LISTS, _LISTS, st.sampled_from([" ", "，", ""]))
def test_equal_words_are_no_difference(words, others, between):
    a, b = f"{B}{between.join(words)}", f"{between.join(others)}{B}"
    for place in compare(a, b, passages=True).differences:
        sides = unmask(place.text), unmask(place.source_text)
        assert place.moved or list(find_replacements(*sides, FOLD))
        if all(sides) and not place.moved:
            # Nor are equal words at either end of one.
            ends = [[text[slice(*find_words(text)[n])] for n in (0, -1)] for text in sides]
            assert all(list(find_replacements(*pair, FOLD)) for pair in zip(*ends, strict=True))


def test_equated_letters_are_named():
    text = "Тhe new ＦＥＲＲＹ leaves the old pier at nine，票價與舊船相同。"
    source = "The new ferry leaves the old pier at nine，票价与旧船相同。"
    assert count_equated_words(align(text, source)) == {
        ("Тhe", "The"): 1,
        ("ＦＥＲＲＹ", "ferry"): 1,
        ("價", "价"): 1,
        ("與", "与"): 1,
        ("舊", "旧"): 1,
    }
    assert count_equated_words(align(text, text)) == {}


PIER = "the arrival of the ferry at the old pier was left to the harbour"
LONG_WORD = "antidisestablishmentarianismcounterrevolutionaries"
THAI = "เรือข้ามฟากลำใหม่จะออกจากท่าเรือเก่าเวลาเก้าโมงเช้าของวันจันทร์หน้า"


@pytest.mark.parametrize(
    ("text", "source", "expected"),
    [
        (f"reporting {PIER} mastering", f"transporting {PIER} master", PIER),
        (f"reporting {PIER} master", f"reporting {PIER} mastering", f"reporting {PIER} master"),
        (f"12026 {PIER}", f"22026 {PIER}", PIER),
        (f"自一九八九年起{B}", f"至一九八九年起{B}", f"一九八九年起{B[:-1]}"),
        # Words of scripts without spaces between them are not known.
        (f"ก{THAI}", f"ข{THAI}", THAI),
        # One word, and what is none.
        (f"x{LONG_WORD} {PIER}", f"y{LONG_WORD} {PIER}", f"{LONG_WORD} {PIER}"),
        (f"x{LONG_WORD}", f"y{LONG_WORD}", LONG_WORD),
    ],
)
def test_a_passage_begins_and_ends_at_words(text, source, expected, tmp_path):
    (passage,) = align(text, source)
    assert passage.text == text[passage.begin : passage.end] == expected
    assert passage.source_text == source[passage.source_begin : passage.source_end] == expected
    for name, content in (("paper", text), ("source", source)):
        (tmp_path / f"{name}.txt").write_text(content, "utf-8")
    report = check(tmp_path / "paper.txt", tmp_path / "source.txt", min_passage_length=5)
    (shown,) = report.passages
    assert (shown.begin, shown.end) == (passage.begin, passage.end)
    assert report.copied == sum(map(str.isalnum, expected))


@pytest.mark.parametrize(
    ("parameter", "value", "message"),
    [
        *(("min_passage_length", value, "'min_passage_length'") for value in (4, 10_001, 5.5)),
        *((name, b"bytes", f"^{name}: expected") for name in ("text", "source")),
    ],
)
def test_invalid_argument_is_refused(parameter, value, message):
    with pytest.raises((ParameterError, InputError), match=message):
        align(**{"text": A, "source": B} | {parameter: value})


def test_a_phrase_of_the_source_counts_once():
    phrase = unrelated(1, 12)
    text = "".join(phrase + unrelated(10 + n, 5) for n in range(6))
    assert align(around(text, 2, 3), around(phrase, 4, 5)) == []
    # A sentence that the paper repeats is found, though.
    sentence = unrelated(1, 30)
    text = "".join(sentence + unrelated(10 + n, 5) for n in range(4))
    (passage,) = align(unrelated(2) + text, around(sentence, 4, 5))
    assert len(passage.pieces) == 4


def test_phrases_far_apart_are_no_passage():
    parts = [unrelated(n, 12) for n in range(3)]
    text = unrelated(50) + "".join(part + unrelated(60 + n, 25) for n, part in enumerate(parts))
    source = unrelated(51) + "".join(part + unrelated(70 + n, 90) for n, part in enumerate(parts))
    assert align(text, source) == []
    # As a text that was put together from them, they are.
    (passage,) = align(unrelated(50) + "".join(parts), unrelated(51) + "".join(reversed(parts)))
    assert len(passage.pieces) == 3


LONG = "潮水退去以后，沙洲上留下了许多贝壳，孩子们提着篮子去捡。"
FOLD = make_fold()


def edited(a, b):
    """Return the spans of words of both texts that the other one does not have."""
    places = list(find_replacements(a, b, FOLD))
    return [[place[side] for place in places if place[side][0] < place[side][1]] for side in (0, 1)]


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("社区图书馆承担着任务。", "社区图书馆，肩负着任务", (["承担"], ["肩负"])),
        ("离居民最近", "距离居民很近的", (["最"], ["距", "很", "的"])),
        ("It was mended twice.", "it was REPAIRED twice", (["mended"], ["REPAIRED"])),
        ("ＡＢ１２，好", "ab12好", ([], [])),
        ("", "好", ([], ["好"])),
        ("好", "", (["好"], [])),
        ("山水", "鸟鱼", (["山水"], ["鸟鱼"])),
        ("甲。乙丙丁", "戊。己丙丁", (["甲。乙"], ["戊。己"])),
        ("漢字之內", "汉字之内", ([], [])),
        # Points above and below letters are no edits.
        ("كَتَبَ الرسالةَ أمس", "كتب الرساله امس", ([], [])),
        ("שָׁלוֹם לכם", "שלום להם", (["לכם"], ["להם"])),
    ],
)
def test_edits_are_words_of_one_text_only(a, b, expected):
    spans, other_spans = edited(a, b)
    assert [a[begin:end] for begin, end in spans] == expected[0]
    assert [b[begin:end] for begin, end in other_spans] == expected[1]


@given(texts(), texts())
@example("\u3099", "\uff9e")
def test_text_between_edits_is_equal(a, b):
    left = []
    for text, spans in zip((a, b), edited(a, b), strict=True):
        assert all(0 <= begin < end <= len(text) for begin, end in spans)
        bounds = [0, *(bound for span in spans for bound in span), len(text)]
        assert bounds == sorted(bounds)
        rest = "".join(
            text[begin:end] for begin, end in zip(bounds[::2], bounds[1::2], strict=True)
        )
        # The sound mark of kana is a letter only in its narrow form.
        folded = [FOLD(character) for character in rest if character.isalnum()]
        left.append("".join(filter(str.isalnum, folded)))
    assert left[0] == left[1]


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("一二三" * 8_000, "一三二" * 8_000),
        (LONG * 800, LONG[::-1] * 800),
        ("一" * 24_000, "二"),
    ],
    ids=["repeated", "reversed", "uneven"],
)
def test_long_ones_take_no_long_time(a, b):
    begin = time.process_time()
    edited(a, b)
    assert time.process_time() - begin < 4
