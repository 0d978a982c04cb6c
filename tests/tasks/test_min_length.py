"""Short and long texts are left alone: kept, and nothing is dropped for one of them."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.kit.progress import RecordedProgress

import neardup
from neardup.exceptions import ParameterError

LONG = "The ferry leaves at nine in the morning and returns at noon with bread for the village."
CHAT = ["继续", LONG, "继续", "继续。。。！？", f"{LONG} Yes.", "ok ok", "ok ok", LONG]


def kept_of(texts, **options):
    return neardup.dedup(texts, recipe="strict", **options).keep.tolist()


def test_short_texts_are_kept():
    assert kept_of(CHAT) == [True, True, False, False, False, True, False, False]
    assert kept_of(CHAT, min_length=3) == [True, True, True, True, False, True, False, False]
    # White space and punctuation do not count; four letters are not fewer than four.
    assert kept_of(CHAT, min_length=4) == kept_of(CHAT, min_length=3)
    assert kept_of(CHAT, min_length=5) == [True, True, True, True, False, True, True, False]


def test_nothing_is_dropped_for_a_short_text():
    texts = [LONG, f"{LONG} And."]
    letters = sum(map(str.isalnum, LONG))
    assert neardup.dedup(texts, threshold=0.5).keep.tolist() == [True, False]
    for extra in (0, 1):
        keep = neardup.dedup(texts, threshold=0.5, min_length=letters + extra).keep.tolist()
        assert keep == [True, bool(extra)]
    for fewer in (0, 1):
        result = neardup.dedup(texts, threshold=0.5, max_length=letters + 3 - fewer)
        assert (result.keep.tolist(), result.summary.too_long) == ([True, bool(fewer)], fewer)
    against = neardup.dedup(texts[1:], against=texts[:1], threshold=0.5, min_length=letters + 1)
    assert against.keep.tolist() == [True]


def test_lengths_that_no_text_has_are_refused_with_both_names():
    with pytest.raises(ParameterError, match=r"min_length.*max_length.*5 and 4"):
        neardup.dedup(CHAT, min_length=5, max_length=4)
    assert len(neardup.dedup(CHAT, min_length=4, max_length=4).kept) == 7


def test_note_counts_the_texts_that_are_left_alone(tmp_path):
    source = tmp_path / "in.jsonl"
    source.write_text("".join(json.dumps({"text": text}) + "\n" for text in [*CHAT, None]))
    progress = RecordedProgress()
    options = {"recipe": "strict", "min_length": 3, "progress": progress}
    result = neardup.dedup_files([source], tmp_path / "out.jsonl", **options)
    assert result.keep.tolist() == [*kept_of(CHAT, min_length=3), True]
    assert "3 texts of fewer than 3 letters and digits are left alone." in progress.notes


@pytest.mark.parametrize("bounds", [(6, None), (None, 40), (3, 20)])
@settings(max_examples=30, deadline=None)
@given(texts=st.lists(st.sampled_from([*CHAT, "", "a", "bread for the village"]), max_size=12))
def test_the_others_are_decided_as_if_they_were_alone(bounds, texts):
    least, most = bounds
    lengths = [sum(map(str.isalnum, text)) for text in texts]
    short = [length < (least or 0) for length in lengths]
    long = [most is not None and length > most for length in lengths]
    alone = [a or b for a, b in zip(short, long, strict=True)]
    rows = iter(kept_of([text for text, out in zip(texts, alone, strict=True) if not out]))
    result = neardup.dedup(texts, recipe="strict", min_length=least, max_length=most)
    assert result.keep.tolist() == [True if out else next(rows) for out in alone]
    assert (result.summary.too_short, result.summary.too_long) == (sum(short), sum(long))
