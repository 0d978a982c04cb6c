"""Alignment: where passages begin and end, and what is no passage."""

import random

import pytest
from tests.hostile import TEXTS
from tests.index.written import letters

from neardup import InputError, ParameterError, compare
from neardup.papers import Piece, align
from neardup.papers.edits import variants

A = "县志记载，清末渡口有木船三只，船工九人。"
B = "民国初年改用汽船，来往时间缩短一半，货物转运也由此兴盛。"
C = "老船工说，水位最高的那年，石阶只剩下最上面的两级。"


def spans(found):
    return [(one.begin, one.end, one.source_begin, one.source_end) for one in found]


def own(seed, length=80):
    return letters(random.Random(seed), length)


def test_one_passage_and_where_it_stands():
    text, source = own(1) + B + own(2), own(3, 33) + B + own(4)
    (found,) = align(text, source)
    assert text[found.begin : found.end] == B[:-1]
    assert source[found.source_begin : found.source_end] == B[:-1]
    assert (found.begin, found.source_begin, found.similarity) == (80, 33, 1.0)
    assert found.pieces == (Piece(*spans([found])[0]),)


def test_passages_that_are_apart_are_two():
    text, source = own(1) + A + own(2) + C + own(3), A + own(4, 700) + C
    found = align(text, source, least=15)
    assert [text[one.begin : one.end] for one in found] == [A[:-1], C[:-1]]


def test_sentences_that_were_moved_are_pieces_of_one_passage():
    text, source = own(1) + C + A + B + own(2), own(3) + A + B + C + own(4)
    (found,) = align(text, source)
    assert text[found.begin : found.end] == (C + A + B)[:-1]
    assert [text[piece.begin : piece.end] for piece in found.pieces] == [C[:-1], (A + B)[:-1]]
    for piece in found.pieces:
        assert text[piece.begin : piece.end] == source[piece.source_begin : piece.source_end]


def test_text_put_in_between():
    text, source = own(1) + A + own(2, 25) + B + own(3), own(4) + A + B + own(5)
    (found,) = align(text, source)
    assert [text[piece.begin : piece.end] for piece in found.pieces] == [A[:-1], B[:-1]]
    assert found.similarity < 0.8


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
    text = own(1) + changed + own(2)
    (found,) = align(text, own(3) + B + own(4), least=15)
    assert text[found.begin : found.end] == changed[:-1]
    assert 0.8 < found.similarity < 1


@pytest.mark.parametrize(("length", "count"), [(19, 0), (20, 1), (21, 1)])
def test_the_least_of_chinese_characters_is_inside(length, count):
    shared = own(7, length)
    assert len(align(own(1) + shared + own(2), own(3) + shared + own(4))) == count
    assert len(align(shared, shared)) == count
    assert len(align(shared, shared, least=length)) == 1


@pytest.mark.parametrize(("length", "count"), [(39, 0), (40, 1)])
def test_the_least_of_letters_is_twice_as_much(length, count):
    shared = "".join(random.Random(3).choices("abcdefghijklmnopqrstuvwxyz", k=length))
    assert len(align(shared, shared)) == count
    assert len(align(own(1) + shared, shared + own(2))) == count


def test_what_is_found_in_one_source_twice():
    """The paper's text is copied once, wherever it stands in the source."""
    (found,) = align(own(1) + B, own(2) + B + own(3, 900) + B)
    assert found.begin == 80
    (first, second) = align(own(1) + B + own(2, 900) + B, own(3) + B)
    assert spans([first])[0][2:] == spans([second])[0][2:] == (80, 80 + len(B) - 1)


@pytest.mark.parametrize("name", TEXTS)
def test_short_texts_have_no_passages(name):
    assert align(TEXTS[name], TEXTS[name], least=60) == []
    assert align(TEXTS[name], "") == align("", TEXTS[name]) == []


@pytest.mark.parametrize("unit", ["雨", "雨雪", "ha", "渡口停航，", "abcdefghij" * 2])
def test_texts_that_repeat_themselves(unit):
    """Time does not explode, and all of it is found."""
    text = unit * (8_000 // len(unit))
    found = align(text, text)
    covered = {at for one in found for at in (one.begin, one.end)}
    assert min(covered) == 0
    assert len(text) - max(covered) <= len(unit) + 3


def test_places_count_code_points():
    text = "🙂𠀀" * 30 + B
    (found,) = align(text, "e\u0301" * 9 + B)
    assert (found.begin, found.source_begin) == (60, 18)
    assert text[found.begin : found.end] == B[:-1]


def test_variants_are_pairs_of_characters_and_end():
    traditional, simplified, table = variants()
    known = dict(zip(traditional, simplified, strict=True))
    assert len(known) == len(traditional) > 2000
    assert (known["國"], known["圖"], known["館"]) == ("国", "图", "馆")
    assert all(one != other for one, other in known.items())
    assert not {ord(one) for one in traditional} & set(range(0x3000))
    assert table.startswith("opencc ")


def test_compare_gives_the_passages_of_two_texts():
    text, source = own(1) + B, B + own(2)
    found = compare(text, source)
    assert (found.passages, found.differences) == (None, None)
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
    found = compare(a, b, passages=True).differences
    assert [(one.text, one.source_text, one.moved) for one in found] == expected
    for one in found:
        assert a[one.begin : one.end] == one.text
        assert b[one.source_begin : one.source_end] == one.source_text


@pytest.mark.parametrize("least", [-1, 0, 4, 10_001, 5.5, "20", None, True])
def test_a_bad_least_is_refused(least):
    with pytest.raises(ParameterError, match=r"'least' parameter must be .* Got"):
        align(A, B, least=least)


@pytest.mark.parametrize("value", [None, 7, b"bytes", "\ud800"])
@pytest.mark.parametrize("parameter", ["text", "source"])
def test_what_is_no_text_is_refused(parameter, value):
    with pytest.raises(InputError, match=f"^{parameter}: expected"):
        align(**{"text": A, "source": B} | {parameter: value})
