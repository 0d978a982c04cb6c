"""Whatever waits in files, the same documents are kept and removed."""

import random
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.kit import hard_texts

from neardup import InputError, _core, dedup, pairs
from neardup.base.memory import LEAST, check_memory
from neardup.run.document_set import Ids
from neardup.tasks.dedup import dedup_files

COLLECTIONS = {
    "one form": lambda: hard_texts.of_one_form(random.Random(1), 300),
    "mixed": lambda: hard_texts.mixed(random.Random(2), 400),
    "tiny": lambda: hard_texts.tiny(random.Random(3), 400),
}
#: Those whose keys leave memory, and one of each kind that stays.
RECIPES = ("general", "minhash", "shingle", "characters", "classic", "improved", "shingle-sample")


def memory_of_nothing(size, folder, *, sketches):
    """All that may leave memory leaves it at once, and keys are joined in small buckets."""
    del size
    return _core.Memory(
        texts=100,
        sketches=0 if sketches else None,
        compared=1 << 16,
        keys=1 << 12,
        folder=folder,
    )


@pytest.fixture
def without_memory(monkeypatch):
    """Return a function from where on runs hold nothing in memory."""

    def begin():
        monkeypatch.setattr("neardup.run.pipeline.memory_of", memory_of_nothing)
        monkeypatch.setattr(Ids, "__init__", _ids_of_nothing)

    return begin


_INIT = Ids.__init__


def _ids_of_nothing(self, budget=None):
    _INIT(self, budget=None if budget is None else 0)


def counts(result):
    """Return what a run counted; the rest is time and place."""
    summary = result.summary
    names = ("read", "unreadable", "exact_duplicates", "near_duplicates", "kept", "candidates")
    more = ("problems", "without_features", "largest_cluster", "largest_form")
    left_out = ("capped_lists", "skipped_documents", "skipped_pairs")
    return {name: getattr(summary, name) for name in names + more + left_out}


def run_files(path, folder, work=None, **options):
    """Return the bytes of the outputs of a run over a file, and its counts."""
    folder.mkdir()
    kept, removed = folder / "kept.jsonl", folder / "removed.jsonl"
    result = dedup_files([path], kept, removed=removed, work=work, **options)
    return kept.read_bytes(), removed.read_bytes(), counts(result)


def hard():
    texts = hard_texts.mixed(random.Random(4), 300)
    return texts + hard_texts.of_one_form(random.Random(5), 200)


def of_several_batches():
    """Of 4096 documents each; a cluster of 1200 copies closes the lists of bands too."""
    rng = random.Random(6)
    texts = hard_texts.of_one_form(rng, 1100) + hard_texts.mixed(rng, 2000)
    texts += [hard_texts.edited(rng, hard_texts.FORM * 3) for _ in range(1200)]
    rng.shuffle(texts)
    return texts


OPTIONS = (
    {"priority": "last"},
    {"priority": "longest"},
    {"priority": "field:rank:desc", "on_error": "drop"},
    {"threshold": 0.3},
    {"threshold": 0.9, "workers": 1},
    {"min_length": 30, "max_length": 90},
)
#: Collections, and options of the runs over them.
RUNS = [
    *((name, {"recipe": recipe}) for recipe in RECIPES for name in COLLECTIONS),
    *(("hard", {"recipe": name} | more) for name in ("general", "minhash") for more in OPTIONS),
    ("mixed", {"recipe": "characters", "max_distance": 8}),
    *((texts, {}) for texts in ([], [None, None], ["", ""], ["one text alone"])),
    *(
        pytest.param("several batches", {"recipe": recipe, "workers": 2}, marks=pytest.mark.slow)
        for recipe in ("general", "minhash")
    ),
]
WRITTEN = COLLECTIONS | {"hard": hard, "several batches": of_several_batches}


@pytest.mark.parametrize(("texts", "options"), RUNS, ids=str)
def test_files_in_memory_in_a_work_folder_and_outside(texts, options, tmp_path, without_memory):
    texts = WRITTEN[texts]() if isinstance(texts, str) else texts
    path = hard_texts.write_records(tmp_path / "in.jsonl", texts)
    expected = run_files(path, tmp_path / "memory", **options)
    assert run_files(path, tmp_path / "worked", tmp_path / "work", **options) == expected
    without_memory()
    assert run_files(path, tmp_path / "files", **options) == expected


LETTERS = st.text(alphabet="ab ", min_size=0, max_size=12)


@settings(max_examples=25)
@given(
    forms=st.lists(LETTERS, min_size=1, max_size=3),
    ends=st.lists(LETTERS, min_size=1, max_size=90),
    threshold=st.sampled_from([0.2, 0.5, 0.8]),
    recipe=st.sampled_from(["general", "minhash"]),
)
def test_any_texts_of_a_tiny_alphabet(forms, ends, threshold, recipe):
    """More than 32 of one form are kept in many of these, so lists are closed."""
    texts = [forms[index % len(forms)] * 3 + end for index, end in enumerate(ends)]
    expected = dedup(texts, recipe=recipe, threshold=threshold)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("neardup.run.pipeline.memory_of", memory_of_nothing)
        result = dedup(texts, recipe=recipe, threshold=threshold)
    assert result.kept == expected.kept
    assert result.removed.equals(expected.removed)
    assert counts(result) == counts(expected)


@pytest.mark.parametrize("recipe", RECIPES)
def test_the_same_pairs(without_memory, recipe):
    texts = COLLECTIONS["mixed"]()
    expected = pairs(texts, recipe=recipe)
    without_memory()
    result = pairs(texts, recipe=recipe)
    assert len(expected.table) > 0
    assert result.table.equals(expected.table)
    assert counts(result) == counts(expected)
    # Other recipes compare no texts, or no samples.
    for part in ("texts", "samples") if recipe == "general" else ():
        assert expected.summary.budgets[part]["file"] == 0 < result.summary.budgets[part]["file"]


@pytest.mark.parametrize("budget", [None, 0, 100, 10_000])
def test_ids_come_back_in_order(budget):
    parts = (["a", "b"], [], ["Ω" * 300, "", "c"], ["d"])
    ids = Ids(budget)
    assert len(ids.column()) == 0
    for part in parts:
        ids.append(pa.array(part, pa.large_string()))
    for _ in range(2):
        assert ids.column().to_pylist() == [name for part in parts for name in part]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("4GB", 4_000_000_000),
        ("1.5 GiB", 3 << 29),
        ("  1600mb ", 1_600_000_000),
        ("0.002tb", 2_000_000_000),
        ("512MiB", 512 << 20),
        ("1 tib", 1 << 40),
        ("1048576 KiB", 1 << 30),
        ("1000000KB", 1_000_000_000),
        (LEAST, LEAST),
        (f"{LEAST}", LEAST),
        (np.int64(LEAST), LEAST),
    ],
)
def test_size_of_memory_is_read(given, expected):
    assert check_memory(given) == expected


def test_memory_by_default_is_half_of_the_machine():
    assert check_memory(None) >= 1 << 30


def test_temporary_files_are_gone(tmp_path, monkeypatch, without_memory):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    without_memory()
    dedup(COLLECTIONS["mixed"]())
    assert list(Path(tmp_path).iterdir()) == []


def test_more_pairs_than_the_memory_holds_are_refused(monkeypatch):
    """The pairs of n copies are n * (n - 1) / 2."""
    monkeypatch.setattr("neardup.run.pipeline._PAIR_BYTES", (512 << 20) // 400)
    text = hard_texts.letters(random.Random(3), 60)
    assert pairs([text] * 28, memory="512MiB").summary.pairs == 378
    with pytest.raises(InputError, match=r"\b780\b"):
        pairs([text] * 40, memory="512MiB")
