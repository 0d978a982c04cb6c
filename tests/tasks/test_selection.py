"""Which documents are compared, and which duplicate stays: groups, lengths and priorities."""

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.kit import hard_texts
from tests.kit.progress import RecordedProgress

import neardup
from neardup import InputError, ParameterError, dedup
from neardup.base.priority import priority_order

FERRY = "The ferry leaves at nine in the morning and returns at noon with bread for the village."
CHATS = [
    {"chat": 1, "text": "继续"},
    {"chat": 2, "text": "继续"},
    {"chat": 1, "text": FERRY},
    {"chat": 1, "text": "继续"},
    {"chat": "2", "text": FERRY},
    {"text": "继续"},
    {"chat": "2", "text": f"{FERRY} Yes."},
    {"chat": None, "text": "继续"},
    {"chat": "", "text": "继续"},
]
#: A number is the text of its digits; missing, null and empty values are no value.
KEPT = [True, True, True, False, True, True, False, False, False]

#: Of each kind of search; none counts over the collection.
RECIPES: dict[str, Any] = {
    **dict.fromkeys(("shingle", "shingle-sample", "aligned", "characters", "classic", "minhash")),
    **{
        name: neardup.load_recipe(name).replace(decide={"common": "none"})
        for name in ("general", "strict", "containment")
    },
}


def write(path, records):
    Path(path).write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def grouped(seed, groups, count):
    """Return records of random groups with many repeats."""
    rng = random.Random(seed)
    return [
        {"id": str(at), "chat": rng.randrange(groups), "text": text or ""}
        for at, text in enumerate(rng.choices(hard_texts.mixed(rng, 40), k=count))
    ]


def rows_of(result):
    names = ("id", "kept_id", "similarity", "distance", "kind")
    return {row["id"]: tuple(row[name] for name in names) for row in result.removed.to_pylist()}


def test_only_documents_of_one_group_are_compared():
    kept = neardup.dedup(CHATS, recipe="strict", group_field="chat").keep.tolist()
    assert kept == KEPT
    assert sum(neardup.dedup(CHATS, recipe="strict").keep) == 2


@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize(("groups", "others"), [(1, 0), (4, 0), (40, 0), (5, 150)])
def test_each_group_is_decided_as_if_it_were_alone(tmp_path, recipe, groups, others):
    """Another collection takes part with its groups."""
    records = grouped(groups, groups, 300)
    before, after = records[:others], records[others:]

    def options(side):
        return {"recipe": RECIPES[recipe] or recipe} | ({"against": side} if others else {})

    removed, pairs = {}, []
    for chat in range(groups):
        own, side = ([r for r in some if r["chat"] == chat] for some in (after, before))
        removed |= rows_of(neardup.dedup(own, **options(side)))
        pairs += neardup.pairs(own, **options(side)).table.to_pylist()
    assert len(removed) > 20
    whole = options(before) | {"group_field": "chat"}
    assert rows_of(neardup.dedup(after, **whole, workers=1)) == removed
    found = neardup.pairs(after, **whole).table.to_pylist()
    assert sorted(found, key=json.dumps) == sorted(pairs, key=json.dumps)
    # Everything that may leave memory does, from the first document on.
    whole |= options([write(tmp_path / "old.jsonl", before)])
    whole |= {"memory": "512MiB", "work": tmp_path / "work", "workers": 2}
    file = write(tmp_path / "in.jsonl", after)
    assert rows_of(neardup.dedup_files([file], tmp_path / "out.jsonl", **whole)) == removed


def test_counts_are_of_the_whole_collection():
    notice = (
        "Visitors are asked to leave bags, umbrellas and wet coats at the desk by the door. Guides "
        "speak four languages and answer questions until the bell rings at half past five. "
    )
    rng = random.Random(5)
    texts = [notice + "".join(rng.choices("bdfgklmn aeiou", k=40)) for _ in range(60)]
    records = [{"chat": at // 2, "text": text} for at, text in enumerate(texts)]
    alone = [neardup.dedup(records[at : at + 2]).keep.sum() for at in range(0, 60, 2)]
    assert sum(alone) == 30
    assert neardup.dedup(records, group_field="chat").keep.all()


def test_the_field_may_be_at_a_path_and_in_any_format(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    nested = [
        {"text": r["text"], "meta": {"chat": r["chat"]} if "chat" in r else {}} for r in CHATS
    ]
    write("in.jsonl", nested)
    flat = [str(record.get("chat") or "") for record in CHATS]
    rows = "".join(f'"{r["text"]}",{chat}\n' for r, chat in zip(CHATS, flat, strict=True))
    Path("in.csv").write_text("text,meta.chat\n" + rows)
    texts = [record["text"] for record in CHATS]
    chats = pa.array([{"chat": chat or None} for chat in flat])
    pq.write_table(pa.table({"text": texts, "meta": chats}), "in.parquet")
    numbers = pa.array([int(chat) if chat else None for chat in flat])
    table = pa.table({"text": texts, "meta": chats, "chat": numbers})
    options = {"recipe": "strict", "group_field": "meta.chat"}
    for name in ("in.jsonl", "in.csv", "in.parquet"):
        result = neardup.dedup_files([name], f"kept-{name}", **options)
        assert result.keep.tolist() == KEPT, name
        assert result.problems == []
    for data in (nested, table):
        assert neardup.dedup(data, **options).keep.tolist() == KEPT
    assert neardup.dedup(table, recipe="strict", group_field="chat").keep.tolist() == KEPT


def test_records_without_a_value_are_told(tmp_path):
    watch = RecordedProgress()
    file = write(tmp_path / "in.jsonl", CHATS)
    options = {"group_field": "chat", "progress": watch}
    neardup.dedup_files([file], tmp_path / "kept.jsonl", recipe="strict", **options)
    with open(file, "a") as damaged:
        damaged.write("{\n")
    neardup.dedup_files([file], tmp_path / "again.jsonl", recipe="strict", **options)
    assert watch.notes[0] == watch.notes[1]
    told = "3 records have no value in the field 'chat': they are compared only with one another."
    assert told in watch.notes
    with pytest.raises(InputError, match="No record has a value in the field 'chats', which"):
        neardup.dedup(CHATS, group_field="chats")
    for texts in (["a", "b"], pa.array(["a", "b"])):
        with pytest.raises(InputError, match="field 'chat', which group_field= names"):
            neardup.dedup(texts, group_field="chat")
        with pytest.raises(InputError, match="'n'"):
            neardup.dedup(texts, priority="field:n")
    with pytest.raises(InputError, match="No record has a value in the field 'chat'"):
        neardup.dedup(CHATS, against=[{"text": FERRY}], group_field="chat")
    with pytest.raises(InputError, match="must have the column 'chats'"):
        neardup.dedup(pa.table({"text": [FERRY]}), group_field="chats")
    write(file, [])
    assert len(neardup.dedup_files([file], tmp_path / "out.jsonl", group_field="chat").keep) == 0


def test_value_of_another_kind_is_a_problem_and_its_record_stays(tmp_path):
    values = [1.5, 1.5, [1], True, "\ud800", 3, 3]
    records = [{"chat": value, "text": FERRY} for value in values]
    result = neardup.dedup(records, group_field="chat")
    assert result.keep.tolist() == [True] * 6 + [False]
    assert len(result.problems) == result.summary.unreadable == 5
    assert str(result.problems[0]) == (
        "input: record 1, field 'chat': must be text or an integer. Got 1.5 instead."
    )
    kept = neardup.dedup(records, group_field="chat", on_error="drop").keep.tolist()
    assert kept == [False] * 5 + [True, False]
    with pytest.raises(InputError, match="must be text or an integer"):
        neardup.dedup(records, group_field="chat", on_error="stop")
    # A reader reports whole numbers that it cannot represent.
    records = [{"chat": 10**20 + at // 2, "text": FERRY} for at in range(4)]
    file = write(tmp_path / "in.jsonl", [*records, {"chat": 1, "text": FERRY}])
    result = neardup.dedup_files([file], tmp_path / "out.jsonl", group_field="chat")
    assert result.keep.all()
    assert [problem.record for problem in result.problems] == [1, 2, 3, 4]


def test_collection_without_groups_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write("in.jsonl", CHATS)
    neardup.sketch_files(["in.jsonl"], "in.sketches")
    with neardup.Index("known.db") as index:
        index.add_files(["in.jsonl"])
        for call in (neardup.dedup, neardup.pairs):
            with pytest.raises(ParameterError, match="must be left out, since an index"):
                call(CHATS, group_field="chat", against=index)
    for against in ("known.db", "in.sketches"):
        with pytest.raises(ParameterError, match="must be left out, since an index"):
            neardup.dedup_files(["in.jsonl"], "o.jsonl", against=[against], group_field="chat")
    assert not Path("o.jsonl").exists()


def test_other_options_hold_inside_a_group():
    options = {"recipe": "strict", "group_field": "chat"}
    short = neardup.dedup(CHATS, min_length=5, **options).keep.tolist()
    assert short == [True] * 6 + [False] + [True] * 2
    last = neardup.dedup(CHATS, priority="last", **options).keep.tolist()
    assert last == [False, True, True, True, False, False, True, False, True]
    records = [{**record, "at": at % 4} for at, record in enumerate(CHATS)]
    by_field = neardup.dedup(records, priority="field:at", **options).keep.tolist()
    assert by_field == [True, True, True, False, True, False, False, False, True]


# Short and long texts are left alone: nothing is dropped for one of them.

CHAT = ["继续", FERRY, "继续", "继续。。。！？", f"{FERRY} Yes.", "ok ok", "ok ok", FERRY]


def kept_of(texts, **options):
    return neardup.dedup(texts, recipe="strict", **options).keep.tolist()


def test_nothing_is_dropped_for_a_short_text():
    texts = [FERRY, f"{FERRY} And."]
    letters = sum(map(str.isalnum, FERRY))
    assert neardup.dedup(texts, threshold=0.5).keep.tolist() == [True, False]
    for extra in (0, 1):
        keep = neardup.dedup(texts, threshold=0.5, min_length=letters + extra).keep.tolist()
        assert keep == [True, bool(extra)]
    for fewer in (0, 1):
        result = neardup.dedup(texts, threshold=0.5, max_length=letters + 3 - fewer)
        assert (result.keep.tolist(), result.summary.too_long) == ([True, bool(fewer)], fewer)
    against = neardup.dedup(texts[1:], against=texts[:1], threshold=0.5, min_length=letters + 1)
    assert against.keep.tolist() == [True]


def test_impossible_lengths_are_refused_with_both_names():
    with pytest.raises(ParameterError, match=r"min_length.*max_length.*5 and 4"):
        neardup.dedup(CHAT, min_length=5, max_length=4)
    assert len(neardup.dedup(CHAT, min_length=4, max_length=4).kept) == 7


def test_note_counts_too_short_texts(tmp_path):
    source = write(tmp_path / "in.jsonl", [{"text": text} for text in [*CHAT, None]])
    progress = RecordedProgress()
    options = {"recipe": "strict", "min_length": 3, "progress": progress}
    result = neardup.dedup_files([source], tmp_path / "out.jsonl", **options)
    assert result.keep.tolist() == [*kept_of(CHAT, min_length=3), True]
    assert "3 texts of fewer than 3 letters and digits are left alone." in progress.notes


@pytest.mark.parametrize("bounds", [(3, None), (4, None), (5, None), (None, 40), (3, 20)])
@settings(max_examples=20, deadline=None)
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


# Which of several duplicates stays: priorities by position, length and fields.

BODY = "城市公园\n今天的天气非常好，我们去公园散步，然后去图书馆读书。"


def ids_kept(rows, **options):
    return [row["id"] for row in dedup(rows, **options).kept]


def scored(*values):
    return [{"id": str(index), "text": BODY, "score": value} for index, value in enumerate(values)]


@pytest.mark.parametrize(
    ("values", "first"),
    [
        (["0.5", "0.25", ""], "1"),
        (["", "  ", "7"], "2"),
        (["3", "-4", "2"], "1"),
        (["1712345678901234568", "1712345678901234567"], "1"),
        (["2024-12-1", "2024-3-9", ""], "1"),
        (["a10", "a9"], "1"),
        (["9" * 5000 + "b", "8" * 5000 + "b"], "1"),
        ([None, 3.5, float("nan"), 2], "3"),
    ],
)
def test_the_smallest_value_stays(values, first):
    assert ids_kept(scored(*values), priority="field:score") == [first]


def test_ties_stay_in_input_order_in_both_directions():
    readable = np.ones(4, bool)
    values = {"x": [1, 2, 1, 2], "y": [None, 1, 2, 3]}
    for priority, wanted in (
        ("field:x", [0, 2, 1, 3]),
        ("field:x:desc", [1, 3, 0, 2]),
        ("field:x,last", [2, 0, 3, 1]),
        ("field:x,field:y:desc", [2, 0, 3, 1]),
        ("field:x:desc,field:y", [1, 3, 2, 0]),
        ("field:y:desc,first", [3, 2, 1, 0]),
        ("last,field:x", [3, 2, 1, 0]),
    ):
        assert priority_order(priority, readable, [], values).tolist() == wanted


def test_longest_with_the_best_value_stays():
    records = [
        {"id": 0, "text": "渡船早上八点从东码头开出", "rank": 1},
        {"id": 1, "text": "渡船早上八点从东码头开出。", "rank": 2},
        {"id": 2, "text": "渡船早上八点从东码头开出！！", "rank": 2},
    ]
    assert ids_kept(records, priority="field:rank:desc,longest") == [2]
    assert ids_kept(records, priority="field:rank,longest") == [0]
    for wrong in ("field:rank,", "longest,newest", ","):
        with pytest.raises(ParameterError, match="several of these with commas"):
            dedup(records, priority=wrong)
