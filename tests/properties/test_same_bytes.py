"""Equal input gives equal bytes: threads and batches decide nothing."""

import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.kit import hard_texts
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
TASKS = {"dedup": dedup_files, "pairs": pairs_files, "fingerprint": fingerprint_files}


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """A file of some hundred texts, half of them others with a few edits, and of bad records."""
    texts = [*TEXTS.values(), *hard_texts.mixed(random.Random(8), 200)]
    path = hard_texts.write_records(tmp_path_factory.mktemp("in") / "in.jsonl", texts)
    path.write_text(path.read_text("utf-8").replace("\n", '\n{"text": 12}\nnot json\n', 1), "utf-8")
    return path


@pytest.mark.parametrize("recipe", RECIPES)
def test_threads_and_batches_change_no_byte(recipe, source, tmp_path, monkeypatch):
    rule = {} if recipe in BY_DISTANCE else {"threshold": 0.6}

    def run(**options):
        outputs = {name: tmp_path / f"{name}.jsonl" for name in (*TASKS, "removed")}
        for name, task in TASKS.items():
            if name != "fingerprint":
                more = rule | ({"removed": outputs["removed"]} if name == "dedup" else {})
            elif recipe in MAKES_PRINTS:
                more = {}
            else:
                continue
            task([source], outputs[name], recipe=recipe, force=True, **more, **options)
        return {name: path.read_bytes() for name, path in outputs.items() if path.exists()}

    expected = run(workers=1)
    assert all(len(data.splitlines()) > 10 for data in expected.values())
    assert run(workers=0) == expected
    assert run(workers=3) == expected
    for records in (1, 50):
        monkeypatch.setitem(Sources.batches.__kwdefaults__, "batch_records", records)
        assert run() == expected


def records_of(path):
    return [json.loads(line) for line in path.read_bytes().split(b"\n") if line[:1] == b"{"]


def test_records_in_memory_give_the_results_of_files(source, tmp_path):
    kept, removed = tmp_path / "kept.jsonl", tmp_path / "removed.jsonl"
    dedup_files([source], kept, removed=removed, threshold=0.6)
    result = dedup(records_of(source), threshold=0.6)
    assert result.kept == records_of(kept)
    # In memory, lines without a record have no number.
    columns = [name for name in result.removed.column_names if not name.endswith("record")]
    expected = [{name: row[name] for name in columns} for row in records_of(removed)]
    assert result.removed.select(columns).to_pylist() == expected


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
