"""Short and long texts are left alone: kept, and nothing is dropped for one of them."""

import json
import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.kit.progress import RecordedProgress

import neardup
from neardup.base.progress import Progress
from neardup.exceptions import InputError, ParameterError

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


@pytest.mark.parametrize("options", [{}, {"memory": "512MiB"}, {"memory": "512MiB", "work": "w"}])
def test_files_with_little_memory_and_a_work_folder_agree(tmp_path, monkeypatch, options):
    monkeypatch.chdir(tmp_path)
    rng = random.Random(3)
    texts = [*rng.choices(CHAT, k=200), None]
    Path("in.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    progress = RecordedProgress()
    options = options | {"recipe": "strict", "min_length": 3, "progress": progress}
    result = neardup.dedup_files(["in.jsonl"], "out.jsonl", **options)
    assert result.keep.tolist() == [*kept_of(texts[:-1], min_length=3), True]
    short = sum(text is not None and text.startswith("继续") for text in texts)
    assert f"{short} texts of fewer than 3 letters and digits are left alone." in progress.notes
    assert len(Path("out.jsonl").read_text().splitlines()) == result.summary.kept


def test_a_resumed_run_decides_the_same(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("in.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in CHAT))
    options = {"recipe": "strict", "min_length": 3, "max_length": 70}
    options |= {"work": "w", "priority": "last"}

    class Stops(Progress):
        def stage(self, name, *_):
            if name != "read and sketch":
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        neardup.dedup_files(["in.jsonl"], "out.jsonl", progress=Stops(), **options)
    with pytest.raises(InputError, match="another max_length"):
        neardup.dedup_files(["in.jsonl"], "out.jsonl", **options | {"max_length": 71})
    progress = RecordedProgress()
    result = neardup.dedup_files(["in.jsonl"], "out.jsonl", progress=progress, **options)
    assert any("resuming from w" in note for note in progress.notes)
    bounds = {"min_length": 3, "max_length": 70}
    assert result.keep.tolist() == kept_of(CHAT, priority="last", **bounds)
    assert (result.summary.too_short, result.summary.too_long) == (3, 1)
