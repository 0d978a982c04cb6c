"""Another collection counts as kept: dedup against its twin, and its laws."""

import json
import os
import random
import threading
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.kit import hard_texts
from tests.kit.progress import RecordedProgress
from tests.kit.strategies import corpora
from tests.properties.test_one_rule import BY_BITS, GENERAL, PRIORITIES, THRESHOLDS, Judge, order_of
from tests.reference import dedup as twin
from tests.run.test_memory import RECIPES, without_memory  # noqa: F401

from neardup import Index, InputError, OutputError, ParameterError, dedup, pairs
from neardup.tasks.dedup import dedup_files
from neardup.tasks.pairs import pairs_files


def rows_of(result):
    return [tuple(row.values()) for row in result.removed.to_pylist()]


@given(
    many=corpora(),
    share=st.floats(0, 1),
    threshold=st.sampled_from(THRESHOLDS),
    priority=st.sampled_from(PRIORITIES),
    alone=st.booleans(),
)
def test_dedup_against_is_the_twin(many, share, threshold, priority, alone):
    first = round(len(many) * share)
    documents = [{"text": text, "date": len(text) % 4} for text in many]
    others, inputs = documents[:first], documents[first:]
    assume(others and inputs)
    options = {"threshold": threshold, "recipe": GENERAL, "priority": priority}
    result = dedup(
        inputs, against=[{"text": other["text"]} for other in others], against_only=alone, **options
    )
    judge = Judge(many, GENERAL, threshold, plan=result.plan)

    def similarity(a, b):
        return -1.0 if alone and b >= first else judge.similarity(a, b)

    order = [first + n for n in order_of(priority, inputs)]
    kept, removals = twin.dedup(len(many), similarity, threshold, order, range(first))
    assert (first + np.flatnonzero(result.keep)).tolist() == kept[first:]
    rows = [(int(row[0]), int(row[1]), row[2]) for row in rows_of(result)]
    assert rows == [
        (r.document - first, r.kept - first * (r.kept >= first), r.similarity) for r in removals
    ]
    sides = ["input" if removal.kept >= first else "against" for removal in removals]
    assert [row[-1] for row in rows_of(result)] == sides
    assert (result.summary.against, result.summary.read) == (first, len(inputs))


@given(many=corpora(), max_distance=st.sampled_from((0, 3, 20)))
def test_distance_decides_as_in_the_twin(many, max_distance):
    half = len(many) // 2
    assume(half)
    options = {"max_distance": max_distance, "recipe": BY_BITS}
    result = dedup(many[half:], against=many[:half], **options)
    judge = Judge(many, BY_BITS, None, plan=result.plan)
    kept, _ = twin.dedup(len(many), judge.similarity, 0.0, range(half, len(many)), range(half))
    assert (half + np.flatnonzero(result.keep)).tolist() == kept[half:]


@given(
    many=corpora(), share=st.floats(0, 1), threshold=st.sampled_from(THRESHOLDS), bits=st.booleans()
)
def test_pairs_across_are_all_of_them(many, share, threshold, bits):
    first = round(len(many) * share)
    assume(first < len(many))
    options = {"threshold": threshold, "max_distance": 128, "recipe": GENERAL}
    if bits:
        options = {"max_distance": 20, "recipe": BY_BITS}
    result = pairs(many[first:], against=many[:first], **options)
    judge = Judge(many, options["recipe"], options.get("threshold"), plan=result.plan)
    expected = [
        (a - first, b, judge.similarity(a, b))
        for a in range(first, len(many))
        for b in range(first)
        if judge.similarity(a, b) >= (judge.threshold or 0)
    ]
    rows = result.table.to_pylist()
    assert [(int(r["id_a"]), int(r["id_b"]), r["similarity"]) for r in rows] == expected
    assert (result.summary.pairs, result.summary.against) == (len(expected), first)


@pytest.mark.parametrize("recipe", RECIPES)
def test_pairs_across_join_both_collections(recipe):
    many = hard_texts.mixed(random.Random(7), 300)
    rule = {} if recipe in ("classic", "improved") else {"threshold": 0.5}
    both = pairs(many, recipe=recipe, **rule).table.to_pylist()
    across = {
        (int(r["id_b"]) - 150, int(r["id_a"]))
        for r in both
        if int(r["id_a"]) < 150 <= int(r["id_b"])
    }
    rows = pairs(many[150:], against=many[:150], recipe=recipe, **rule).table.to_pylist()
    assert {(int(r["id_a"]), int(r["id_b"])) for r in rows} == across
    assert len(across) > 20


COLLECTIONS = {
    "one form": lambda: hard_texts.of_one_form(random.Random(1), 300),
    "mixed": lambda: hard_texts.mixed(random.Random(2), 400),
}


@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize("name", COLLECTIONS)
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


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    texts = {
        "old.jsonl": [
            "渡船早上八点从东码头开出，下午五点回来。",
            "图书馆周一闭馆整理书架，周二照常开放。",
        ],
        "new.jsonl": [
            "渡船早上八点从东码头开出，下午五点回来！",
            "市集搬到了河边的新广场，周末才有。",
            "市集搬到了河边的新广场，周末才有！",
        ],
    }
    for name, all_of in texts.items():
        lines = [json.dumps({"id": f"{name[0]}{n}", "text": text}) for n, text in enumerate(all_of)]
        (tmp_path / name).write_text("\n".join(lines) + "\n", "utf-8")
    return tmp_path


def rows_in(path):
    return [json.loads(line) for line in Path(path).read_text("utf-8").splitlines()]


def test_files(folder):
    progress = RecordedProgress()
    result = dedup_files(
        ["new.jsonl"],
        "kept.jsonl",
        removed="removed.jsonl",
        report="report.json",
        against=["old.jsonl"],
        progress=progress,
    )
    assert [row["id"] for row in rows_in("kept.jsonl")] == ["n1"]
    removed = rows_in("removed.jsonl")
    assert [(row["id"], row["kept_id"], row["kept_from"]) for row in removed] == [
        ("n0", "o0", "against"),
        ("n2", "n1", "input"),
    ]
    report = json.loads((folder / "report.json").read_text("utf-8"))
    assert (report["summary"]["against"], report["summary"]["read"]) == (2, 3)
    assert report["settings"]["against"] == ["old.jsonl"]
    assert (result.summary.kept, progress.notes) == (1, [])


@pytest.mark.usefixtures("folder")
def test_files_of_pairs():
    result = pairs_files(["new.jsonl"], "pairs.jsonl", against=["old.jsonl"])
    rows = rows_in("pairs.jsonl")
    assert [(row["id_a"], row["id_b"]) for row in rows] == [("n0", "o0")]
    assert (result.summary.read, result.summary.against, result.summary.kept) == (3, 2, 3)


@pytest.fixture
def interrupted(monkeypatch):
    """Return a function that begins a run, which is ended before it writes."""

    def fail(*_):
        raise KeyboardInterrupt

    def begin(**options):
        with monkeypatch.context() as patch:
            patch.setattr("neardup.run.run.write_kept", fail)
            with pytest.raises(KeyboardInterrupt):
                dedup_files(["new.jsonl"], "kept.jsonl", work="work", **options)

    return begin


@pytest.mark.usefixtures("folder")
def test_the_same_file_on_both_sides_is_told():
    progress = RecordedProgress()
    result = dedup_files(["new.jsonl"], "kept.jsonl", against=["./new.jsonl"], progress=progress)
    assert not result.keep.any()
    assert progress.notes[0].startswith("new.jsonl is also in the other")


def test_a_pipe_is_read_from_its_beginning(folder):
    os.mkfifo("pipe.jsonl")
    lines = (folder / "old.jsonl").read_bytes()
    writer = threading.Thread(target=Path("pipe.jsonl").write_bytes, args=(lines,))
    writer.start()
    result = dedup_files(["new.jsonl"], "kept.jsonl", against=["pipe.jsonl"])
    writer.join()
    assert (result.summary.against, result.keep.tolist()) == (2, [False, True, False])


def test_empty_sides(folder):
    (folder / "empty.jsonl").write_text("")
    result = dedup_files(["new.jsonl"], "kept.jsonl", against=["empty.jsonl"])
    assert (result.keep.tolist(), result.summary.problems) == ([True, True, False], 1)
    result = dedup_files(["empty.jsonl"], "none.jsonl", against=["old.jsonl"])
    assert (len(result.keep), result.summary.problems) == (0, 1)
    for inputs, others in ((["new.jsonl"], ["empty.jsonl"]), (["empty.jsonl"], ["new.jsonl"])):
        result = pairs_files(inputs, "pairs.jsonl", against=others)
        assert (result.summary.pairs, result.summary.problems) == (0, 1)
        Path("pairs.jsonl").unlink()
    assert len(pairs(["同一句话说了两遍。"] * 2, against=[]).table) == 0


@pytest.mark.parametrize(
    ("options", "error", "match"),
    [
        ({"against": []}, ParameterError, "against"),
        ({"against": ["nowhere.jsonl"]}, InputError, "nowhere.jsonl"),
        ({"against": ["kept.jsonl"], "force": True}, OutputError, "kept.jsonl"),
        ({"against_only": True}, ParameterError, "'against_only'"),
    ],
)
def test_bad_input_leaves_nothing(folder, options, error, match):
    (folder / "kept.jsonl").write_text('{"text": "as it was"}\n')
    with pytest.raises(error, match=match):
        dedup_files(["new.jsonl"], "kept.jsonl", **{"force": True, **options})
    assert (folder / "kept.jsonl").read_text() == '{"text": "as it was"}\n'


class TestAnIndex:
    def test_counts_as_kept(self, folder):
        with Index("old.db") as index:
            index.add_files(["old.jsonl"])
        result = dedup_files(
            ["new.jsonl"], "kept.jsonl", against=["old.db"], removed="removed.jsonl"
        )
        assert [row["id"] for row in rows_in("kept.jsonl")] == ["n1"]
        assert [row["kept_from"] for row in rows_in("removed.jsonl")] == ["against", "input"]
        assert result.summary.against == 2
        result = pairs_files(["new.jsonl"], folder / "pairs.jsonl", against=["old.db"])
        assert result.table.column("id_b").to_pylist() == ["o0"]

    def test_is_read_while_it_is_written(self, folder):
        texts = [row["text"] for row in rows_in(folder / "new.jsonl")]
        with Index(folder / "n.db") as index:
            index.add("first", texts[1])
            result = dedup(texts, against=index)
            assert result.kept == [texts[0]]
            index.add("second", texts[0])
            assert dedup(texts, against=index).kept == []
            across = pairs(texts, against=index).table.to_pylist()
            assert [(row["id_a"], row["id_b"]) for row in across] == [
                ("0", "second"),
                ("1", "first"),
                ("2", "first"),
            ]

    @pytest.mark.usefixtures("folder")
    def test_run_against_other_documents_does_not_resume(self, interrupted):
        with Index("old.db") as index:
            index.add_files(["old.jsonl"])
            interrupted(against=["old.db"])
            index.add("another", "别的一篇，说的是别的事情。")
        for others in (None, ["old.jsonl"], ["old.db"]):
            with pytest.raises(InputError, match="a run with other settings: against"):
                dedup_files(["new.jsonl"], "kept.jsonl", against=others, work="work")

    @pytest.mark.usefixtures("folder")
    def test_unusable_index_is_named(self):
        Index("n.db").close()
        with pytest.raises(ParameterError, match=r"'against' .* one index"):
            dedup_files(["new.jsonl"], "kept.jsonl", against=["n.db", "old.jsonl"])
        assert not Path("kept.jsonl").exists()
