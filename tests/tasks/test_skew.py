"""What very many documents share costs each of them the same, and is told."""

import random

import pytest
from tests import hard_texts
from tests.run.test_memory import counts
from tests.tasks.test_templates import bulletins

from neardup import dedup
from neardup.base.progress import Progress
from neardup.dedup import dedup_files

pytestmark = pytest.mark.slow


def copies(count, seed=2):
    """Return a text and copies of it, each with two characters of its own."""
    rng = random.Random(seed)
    text = hard_texts.FORM + hard_texts.letters(rng, 120)
    return [text] + [hard_texts.edited(rng, text) for _ in range(count - 1)]


class Notes(Progress):
    """Remember what a run tells."""

    def __init__(self):
        self.lines = []

    def note(self, line):
        self.lines.append(line)


def run(texts, folder, work=None):
    """Run over a file of texts; return its counts, the outputs and the notes."""
    folder.mkdir()
    path = hard_texts.write_records(folder / "in.jsonl", texts)
    watch = Notes()
    kept, removed = folder / "kept.jsonl", folder / "removed.jsonl"
    result = dedup_files([path], kept, removed=removed, memory="1GiB", work=work, progress=watch)
    return counts(result), (kept.read_bytes(), removed.read_bytes()), "\n".join(watch.lines)


def test_a_form_costs_each_document_the_same(tmp_path):
    """Four times as many need four times as many candidates, not sixteen times."""
    small = dedup(bulletins(2_500)).summary
    texts = bulletins(10_000)
    large, outputs, told = run(texts, tmp_path / "memory")
    assert large["candidates"] <= 4 * 1.3 * small.candidates
    assert large["kept"] == 10_000
    assert large["largest_form"] == 10_000
    assert large["closed_lists"] > 0
    assert "near-duplicates among them may be missed" in told
    worked = run(texts, tmp_path / "worked", tmp_path / "work")
    assert worked[:2] == (large, outputs)


def test_empty_texts_cost_nothing(tmp_path):
    found, outputs, told = run([""] * 30_000 + ["some text of its own"], tmp_path / "memory")
    assert (found["kept"], found["exact_duplicates"]) == (2, 29_999)
    assert found["without_features"] == 30_000
    assert found["candidates"] == 0
    assert "30,000 records have a text with nothing to compare" in told
    assert "29,999 records were dropped for one kept record" in told
    worked = run([""] * 30_000 + ["some text of its own"], tmp_path / "worked", tmp_path / "work")
    assert worked[:2] == (found, outputs)


def test_copies_of_one_text_cost_one_candidate_each(tmp_path):
    found, outputs, told = run(copies(20_000), tmp_path / "memory")
    assert found["kept"] == 1
    assert found["candidates"] <= 20_000
    assert found["largest_cluster"] == 20_000
    assert "19,999 records were dropped for one kept record" in told
    worked = run(copies(20_000), tmp_path / "worked", tmp_path / "work")
    assert worked[:2] == (found, outputs)
