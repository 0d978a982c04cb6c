"""Equal input gives equal bytes: threads and batches decide nothing."""

import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.kit.strategies import TEXTS, corpora

from neardup import count_idf, dedup, fingerprint_many, load_recipe, pairs
from neardup.readers import Sources
from neardup.tasks.dedup import dedup_files
from neardup.tasks.pairs import pairs_files
from neardup.tasks.sketch import fingerprint_files

#: Each kind of sketch and each way to search.
RECIPES = (
    "general",
    "containment",
    "aligned",
    "shingle",
    "shingle-sample",
    "minhash",
    "characters",
    "classic",
    "improved",
)
BY_DISTANCE = ("classic", "improved")
MAKES_PRINTS = ("characters", "classic", "improved")


@pytest.fixture(scope="module")
def corpus():
    """Some hundred documents; half of them are others with a few edits."""
    rng = random.Random(8)
    words = [w for text in TEXTS.values() for w in (text, *text.split()) if w]
    made = []
    for _ in range(200):
        if made and rng.random() < 0.5:
            text = rng.choice(made)
            begin = rng.randint(0, len(text))
            text = text[:begin] + rng.choice(words) + text[begin + rng.randint(0, 3) :]
        else:
            text = " ".join(rng.choices(words, k=rng.randint(0, 12)))
        made.append(text)
    return made


def run_all(source, folder, **options):
    """Run each file task; return the bytes of what it wrote."""
    folder.mkdir()
    for recipe in RECIPES:
        kinds = ("kept", "removed", "pairs", "prints")
        kept, removed, pairs_path, prints = (folder / f"{recipe}-{kind}.jsonl" for kind in kinds)
        rule = {} if recipe in BY_DISTANCE else {"threshold": 0.6}
        dedup_files([source], kept, removed=removed, recipe=recipe, **rule, **options)
        pairs_files([source], pairs_path, recipe=recipe, **rule, **options)
        if recipe in MAKES_PRINTS:
            fingerprint_files([source], prints, recipe=recipe, **options)
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


@pytest.fixture(scope="module")
def source(corpus, tmp_path_factory):
    path = tmp_path_factory.mktemp("in") / "in.jsonl"
    lines = [json.dumps({"id": str(number), "text": text}) for number, text in enumerate(corpus)]
    lines.insert(7, '{"text": 12}')
    lines.insert(150, "not json")
    path.write_text("".join(line + "\n" for line in lines), "utf-8")
    return path


@pytest.fixture(scope="module")
def expected(source, tmp_path_factory):
    written = run_all(source, tmp_path_factory.mktemp("out") / "expected", workers=1)
    assert all(len(data.splitlines()) > 10 for data in written.values())
    return written


@pytest.mark.parametrize("workers", [0, 3])
def test_workers(workers, source, expected, tmp_path):
    assert run_all(source, tmp_path / "out", workers=workers) == expected


@pytest.mark.parametrize("records", [1, 50])
def test_batches(records, source, expected, tmp_path, monkeypatch):
    batches = Sources.batches

    def cut(self, **options):
        return batches(self, **options | {"batch_records": records})

    monkeypatch.setattr(Sources, "batches", cut)
    assert run_all(source, tmp_path / "out") == expected


def test_records_in_memory_give_the_results_of_files(source, expected):
    records = [
        json.loads(line) for line in source.read_text("utf-8").splitlines() if line[0] == "{"
    ]
    result = dedup(records, threshold=0.6)
    kept = [
        json.loads(line) for line in expected["general-kept.jsonl"].splitlines() if line[:1] == b"{"
    ]
    assert result.kept == kept
    removed = [json.loads(line) for line in expected["general-removed.jsonl"].splitlines()]
    # In memory a record without an id has its number, which another record has as its id.
    columns = [name for name in result.removed.column_names if not name.endswith("record")]
    assert result.removed.select(columns).to_pylist() == removed


@pytest.mark.slow
@settings(max_examples=8)
@given(many=corpora(max_documents=30), workers=st.sampled_from((2, 3)))
def test_workers_in_memory(many, workers):
    for recipe in RECIPES:
        first, second = (dedup(many, recipe=recipe, workers=w) for w in (1, workers))
        assert first.removed.equals(second.removed)
        assert (first.keep == second.keep).all()
        tables = [pairs(many, recipe=recipe, workers=w).table for w in (1, workers)]
        assert tables[0].equals(tables[1])
        if recipe in MAKES_PRINTS:
            rows = [fingerprint_many(many, recipe=recipe, workers=w) for w in (1, workers)]
            assert (rows[0] == rows[1]).all()
    counted = [count_idf(many, workers=w) for w in (1, workers)]
    assert counted[0] == counted[1]
    assert list(counted[0].counts) == sorted(counted[0].counts)


@pytest.mark.slow
def test_more_documents_than_a_chunk_of_the_search():
    """Chunks of the search are a matter of speed as well."""
    rng = random.Random(3)
    made = []
    for _ in range(3500):
        if made and rng.random() < 0.6:
            text = rng.choice(made[-2000:])
            position = rng.randrange(len(text))
            text = text[:position] + chr(rng.randrange(0x4E00, 0x4F00)) + text[position + 1 :]
        else:
            text = "".join(chr(rng.randrange(0x4E00, 0x5200)) for _ in range(40))
        made.append(text)
    recipe = load_recipe("characters").replace(decide={"shingle": 2})
    whole = dedup(made, threshold=0.7, recipe=recipe)
    assert 500 < whole.removed.num_rows < 3000
    # Whatever comes later changes nothing for what came before.
    for cut in (1000, 1024, 1025, 3333):
        part = dedup(made[:cut], threshold=0.7, recipe=recipe, workers=1)
        assert (part.keep == whole.keep[:cut]).all()
