"""Another collection counts as kept: dedup against its twin, and its laws."""

import itertools
import json
import os
import random
import threading
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.kit import hard_texts
from tests.kit.progress import RecordedProgress
from tests.kit.strategies import corpora
from tests.properties.test_one_rule import BY_BITS, GENERAL, PRIORITIES, THRESHOLDS, Judge, order_of
from tests.reference import dedup as twin
from tests.run.test_memory import COLLECTIONS, RECIPES, without_memory  # noqa: F401

from neardup import Index, InputError, OutputError, ParameterError, dedup, pairs
from neardup.tasks.dedup import dedup_files
from neardup.tasks.pairs import pairs_files


def rows_of(result):
    return [tuple(row.values()) for row in result.removed.to_pylist()]


#: A collection and where it is cut, and a threshold or a distance alone.
sides = st.tuples(corpora(), st.floats(0, 1)).map(lambda cut: (cut[0], round(len(cut[0]) * cut[1])))
rules = st.one_of(
    st.sampled_from(THRESHOLDS).map(lambda t: {"threshold": t, "recipe": GENERAL}),
    st.sampled_from((0, 3, 20)).map(lambda d: {"max_distance": d, "recipe": BY_BITS}),
)


@given(cut=sides, rule=rules, priority=st.sampled_from(PRIORITIES), alone=st.booleans())
def test_dedup_against_is_the_twin(cut, rule, priority, alone):
    many, first = cut
    documents = [{"text": text, "date": len(text) % 4} for text in many]
    others, inputs = documents[:first], documents[first:]
    assume(others and inputs)
    against = [{"text": other["text"]} for other in others]
    result = dedup(inputs, against=against, against_only=alone, priority=priority, **rule)
    judge = Judge(many, rule["recipe"], rule.get("threshold"), plan=result.plan)

    def similarity(a, b):
        return -1.0 if alone and b >= first else judge.similarity(a, b)

    order = [first + n for n in order_of(priority, inputs)]
    least = rule.get("threshold", 0.0)
    kept, removals = twin.dedup(len(many), similarity, least, order, range(first))
    assert (first + np.flatnonzero(result.keep)).tolist() == kept[first:]
    rows = [(int(row[0]), int(row[1]), row[2], row[-1]) for row in rows_of(result)]
    assert rows == [
        (r.document - first, r.kept - first, r.similarity, "input")
        if r.kept >= first
        else (r.document - first, r.kept, r.similarity, "against")
        for r in removals
    ]
    assert (result.summary.against, result.summary.read) == (first, len(inputs))


@given(cut=sides, rule=rules)
def test_pairs_across_are_all_of_them(cut, rule):
    many, first = cut
    assume(first < len(many))
    result = pairs(many[first:], against=many[:first], **rule)
    judge = Judge(many, rule["recipe"], rule.get("threshold"), plan=result.plan)
    across = itertools.product(range(first, len(many)), range(first))
    compared = [(a - first, b, judge.similarity(a, b)) for a, b in across]
    expected = [row for row in compared if row[2] >= (judge.threshold or 0)]
    rows = result.table.to_pylist()
    assert [(int(r["id_a"]), int(r["id_b"]), r["similarity"]) for r in rows] == expected
    assert (result.summary.pairs, result.summary.against) == (len(expected), first)


@pytest.mark.parametrize("recipe", RECIPES)
def test_pairs_across_join_both_collections(recipe):
    many = hard_texts.mixed(random.Random(7), 300)
    rule = {} if recipe in ("classic", "improved") else {"threshold": 0.5}
    both = pairs(many, recipe=recipe, **rule).table.to_pylist()
    places = [(int(r["id_a"]), int(r["id_b"])) for r in both]
    across = {(b - 150, a) for a, b in places if a < 150 <= b}
    rows = pairs(many[150:], against=many[:150], recipe=recipe, **rule).table.to_pylist()
    assert {(int(r["id_a"]), int(r["id_b"])) for r in rows} == across
    assert len(across) > 20


@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize("name", ["one form", "mixed"])
def test_against_keeps_the_documents_kept_of_both(name, recipe, request):
    """Of B without repeats and A, `dedup` keeps all of B, and of A what `against` keeps."""
    many = COLLECTIONS[name]()
    rule = {} if recipe in ("classic", "improved") else {"threshold": 0.5}
    options = {"recipe": recipe, **rule}
    b, a = many[::2], many[1::2]
    while not (once := dedup(b, **options)).keep.all():
        b = once.kept
    both = dedup(b + a, **options)
    if not both.keep[: len(b)].all():
        pytest.fail("B has repeats beside A")
    alone = dedup(a, against=b, **options)
    assert alone.keep.tolist() == both.keep[len(b) :].tolist()
    assert not alone.keep.all()
    # Whatever waits in files.
    request.getfixturevalue("without_memory")()
    small = dedup(a, against=b, **options)
    assert (small.keep.tolist(), rows_of(small)) == (alone.keep.tolist(), rows_of(alone))


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(
        "old", "渡船早上八点从东码头开出，下午五点回来。", "图书馆周一闭馆整理书架，周二照常开放。"
    )
    write("new", "渡船早上八点从东码头开出，下午五点回来！", *NEWS)
    return tmp_path


NEWS = ("市集搬到了河边的新广场，周末才有。", "市集搬到了河边的新广场，周末才有！")


def write(name, *texts):
    lines = [json.dumps({"id": f"{name[0]}{at}", "text": text}) for at, text in enumerate(texts)]
    Path(f"{name}.jsonl").write_text("".join(line + "\n" for line in lines), "utf-8")


def rows_in(path):
    return [json.loads(line) for line in Path(path).read_text("utf-8").splitlines()]


@pytest.mark.parametrize("against", ["old.jsonl", "old.db"])
def test_files_and_an_index_count_as_kept(against):
    with Index("old.db") as index:
        index.add_files(["old.jsonl"])
    progress = RecordedProgress()
    named = {"removed": "removed.jsonl", "report": "report.json", "progress": progress}
    result = dedup_files(["new.jsonl"], "kept.jsonl", against=[against], **named)
    assert [row["id"] for row in rows_in("kept.jsonl")] == ["n1"]
    removed = [(row["id"], row["kept_id"], row["kept_from"]) for row in rows_in("removed.jsonl")]
    assert removed == [("n0", "o0", "against"), ("n2", "n1", "input")]
    report = json.loads(Path("report.json").read_text("utf-8"))
    assert (report["summary"]["against"], report["summary"]["read"]) == (2, 3)
    assert report["settings"]["against"] == [against]
    assert (result.summary.kept, progress.notes) == (1, [])
    summary = pairs_files(["new.jsonl"], "pairs.jsonl", against=[against]).summary
    assert [(row["id_a"], row["id_b"]) for row in rows_in("pairs.jsonl")] == [("n0", "o0")]
    assert (summary.read, summary.against, summary.kept) == (3, 2, 3)


def test_the_same_file_on_both_sides_is_told():
    progress = RecordedProgress()
    result = dedup_files(["new.jsonl"], "kept.jsonl", against=["./new.jsonl"], progress=progress)
    assert not result.keep.any()
    assert progress.notes[0].startswith("new.jsonl is also in the other")


def test_a_pipe_is_read_from_its_beginning():
    os.mkfifo("pipe.jsonl")
    lines = Path("old.jsonl").read_bytes()
    writer = threading.Thread(target=Path("pipe.jsonl").write_bytes, args=(lines,))
    writer.start()
    result = dedup_files(["new.jsonl"], "kept.jsonl", against=["pipe.jsonl"])
    writer.join()
    assert (result.summary.against, result.keep.tolist()) == (2, [False, True, False])


@pytest.mark.parametrize(
    ("name", "other", "keep"), [("new", "empty", [True, True, False]), ("empty", "new", [])]
)
def test_empty_sides(name, other, keep):
    write("empty")
    sides = {"inputs": [f"{name}.jsonl"], "against": [f"{other}.jsonl"]}
    result = dedup_files(output="kept.jsonl", **sides)
    assert (result.keep.tolist(), result.summary.problems) == (keep, 1)
    result = pairs_files(output="pairs.jsonl", **sides)
    assert (result.summary.pairs, result.summary.problems) == (0, 1)
    assert len(pairs(["同一句话说了两遍。"] * 2, against=[]).table) == 0


@pytest.mark.parametrize(
    ("options", "error", "match"),
    [
        ({"against": []}, ParameterError, "against"),
        ({"against": ["nowhere.jsonl"]}, InputError, "nowhere.jsonl"),
        ({"against": ["kept.jsonl"]}, OutputError, "kept.jsonl"),
        ({"against_only": True}, ParameterError, "'against_only'"),
        ({"against": ["n.db", "old.jsonl"]}, ParameterError, r"'against' .* one index"),
    ],
)
def test_bad_input_leaves_the_output_as_it_was(options, error, match):
    Index("n.db").close()
    write("kept", "as it was")
    with pytest.raises(error, match=match):
        dedup_files(["new.jsonl"], "kept.jsonl", force=True, **options)
    assert [row["text"] for row in rows_in("kept.jsonl")] == ["as it was"]


def test_index_is_read_while_it_is_written():
    texts = [row["text"] for row in rows_in("new.jsonl")]
    with Index("n.db") as index:
        index.add("first", texts[1])
        assert dedup(texts, against=index).kept == [texts[0]]
        index.add("second", texts[0])
        assert dedup(texts, against=index).kept == []
        across = pairs(texts, against=index).table.to_pylist()
    found = [(row["id_a"], row["id_b"]) for row in across]
    assert found == [("0", "second"), ("1", "first"), ("2", "first")]


def test_run_against_other_documents_does_not_resume(monkeypatch):
    with Index("old.db") as index, monkeypatch.context() as patch:
        index.add_files(["old.jsonl"])
        patch.setattr("neardup.run.run.write_kept", Mock(side_effect=KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            dedup_files(["new.jsonl"], "kept.jsonl", against=["old.db"], work="work")
        index.add("another", "别的一篇，说的是别的事情。")
    for others in (None, ["old.jsonl"], ["old.db"]):
        with pytest.raises(InputError, match="a run with other settings: against"):
            dedup_files(["new.jsonl"], "kept.jsonl", against=others, work="work")
