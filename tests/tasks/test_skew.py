"""What very many documents share costs each of them the same, and is told."""

import random

import pytest
from tests.kit import hard_texts
from tests.kit.progress import RecordedProgress
from tests.run.test_memory import counts
from tests.tasks.test_templates import bulletins

from neardup import dedup
from neardup.tasks.dedup import dedup_files

pytestmark = pytest.mark.slow


def copies(count, seed=2):
    """Return a text and copies of it, each with two characters of its own."""
    rng = random.Random(seed)
    text = hard_texts.FORM + hard_texts.letters(rng, 120)
    return [text] + [hard_texts.edited(rng, text) for _ in range(count - 1)]


def run(texts, folder):
    """Run over a file of texts; return its counts and the notes."""
    folder.mkdir()
    path = hard_texts.write_records(folder / "in.jsonl", texts)
    watch = RecordedProgress()
    kept, removed = folder / "kept.jsonl", folder / "removed.jsonl"
    result = dedup_files([path], kept, removed=removed, memory="1GiB", progress=watch)
    return counts(result), "\n".join(watch.notes)


def test_a_form_costs_each_document_the_same(tmp_path):
    """Four times as many need four times as many candidates, not sixteen times."""
    small = dedup(bulletins(1_500)).summary
    texts = bulletins(6_000)
    large, told = run(texts, tmp_path / "memory")
    assert large["candidates"] <= 4 * 1.3 * small.candidates
    assert large["kept"] == 6_000
    assert large["largest_form"] == 6_000
    assert large["capped_lists"] > 0
    # These hide next to nothing.
    assert "may be missed" not in told


def test_empty_texts_cost_nothing(tmp_path):
    """Records without text are duplicates if they have the same title, of 17,576."""
    result, told = run([""] * 12_000 + ["some text of its own"], tmp_path / "memory")
    assert 8_000 < result["kept"] == 12_001 - result["exact_duplicates"]
    assert result["without_features"] == 12_000
    assert result["candidates"] == 0
    assert "12,000 records have a text with nothing to compare" in told
    assert "records were dropped for one kept record" not in told


def test_copies_of_one_text_cost_one_candidate_each(tmp_path):
    result, told = run(copies(12_000), tmp_path / "memory")
    # Some have 未 inserted, which turns the meaning.
    kept = result["kept"]
    assert 1 <= kept <= 6
    assert result["candidates"] <= kept * 12_000
    largest = result["largest_cluster"]
    assert 11_900 < largest <= 12_001 - kept
    assert f"{largest - 1:,} records were dropped for one kept record" in told
