"""Four times the documents take at most five times the steps, on collections of several shapes."""

import random

import pytest
from tests.kit import hard_texts
from tests.kit.progress import RecordedProgress
from tests.run.test_memory import counts
from tests.tasks.test_templates import bulletins

from neardup import dedup
from neardup.tasks.dedup import dedup_files

pytestmark = pytest.mark.slow

SMALL, TIMES = 2_500, 4
COMMON = "的一是在不了有和人这中大为上个国我以要他"


class Maker:
    """Makes documents of sentences of random letters."""

    def __init__(self, documents):
        self.draw, self.documents = random.Random(documents), documents

    def sentence(self):
        return "".join(chr(self.draw.randrange(0x4E00, 0x9FA0)) for _ in range(30)) + "。"

    def text(self, sentences):
        return "".join(self.sentence() for _ in range(sentences))

    def edited(self, text, share):
        change = self.draw.random
        return "".join(self.draw.choice(COMMON) if change() < share else c for c in text)

    def reposts(self):
        originals = [self.text(8) for _ in range(self.documents // 10)]
        half = range(self.documents // 2)
        copies = [self.edited(self.draw.choice(originals), 0.02) for _ in half]
        return [self.text(8) for _ in half] + copies

    def recombined(self):
        sentences = [self.sentence() for _ in range(self.documents)]
        return ["".join(self.draw.choices(sentences, k=6)) for _ in range(self.documents)]

    def template(self):
        form = self.text(8)
        return [form + self.sentence() for _ in range(self.documents)]

    def versions(self):
        originals = [self.text(10) for _ in range(self.documents // 100)]
        return [self.edited(self.draw.choice(originals), 0.04) for _ in range(self.documents)]


def steps(shape, documents):
    texts = getattr(Maker(documents), shape)()
    result = dedup(texts)
    summary = result.summary
    # Each text is read at most once for its shingles and once for its alignment.
    assert summary.bytes_compared <= 2 * sum(len(text.encode()) for text in texts)
    return {name: getattr(summary, name) for name in ("visited", "candidates")}


@pytest.mark.parametrize("shape", ["reposts", "recombined", "template", "versions"])
def test_steps_grow_as_the_documents_do(shape):
    small, large = steps(shape, SMALL), steps(shape, TIMES * SMALL)
    for name, count in large.items():
        # Where there are few steps, some more mean nothing.
        assert count <= 5 * small[name] + 1_000, (name, small, large)


# What very many documents share costs each of them the same, and is told.


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
