"""Sketches of a collection that are saved: runs against them decide as runs against the texts."""

import contextlib
import json
import random
import shutil
from pathlib import Path

import pyarrow as pa
import pytest
from tests.kit import hard_texts
from tests.kit.strategies import TEXTS
from tests.run.test_memory import RECIPES, without_memory  # noqa: F401

from neardup import (
    InputError,
    OutputError,
    ParameterError,
    dedup_files,
    pairs_files,
    sketch_files,
)
from neardup.options.signatures import complete_options
from neardup.recipe import load_recipe
from neardup.run.document_set import DocumentSet
from neardup.run.pipeline import Pipeline
from neardup.run.run_options import RunOptions
from neardup.run.sketch_file import SketchFiles

#: Those that weigh each text by itself.
BY_THEMSELVES = [recipe for recipe in RECIPES if recipe != "improved"]

COLLECTIONS = {
    "one form": lambda: hard_texts.of_one_form(random.Random(1), 300),
    "mixed": lambda: hard_texts.mixed(random.Random(2), 400),
    "hostile": lambda: [*TEXTS.values(), None, *list(TEXTS.values())[::3], "", None],
}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def write(many):
    hard_texts.write_records(Path("b.jsonl"), many[::2])
    hard_texts.write_records(Path("a.jsonl"), many[1::2])


def run(against, name, **options):
    result = dedup_files(
        ["a.jsonl"],
        f"{name}.jsonl",
        removed=f"{name}-removed.jsonl",
        against=[against],
        **options,
    )
    across = pairs_files(["a.jsonl"], f"{name}-pairs.jsonl", against=[against], **options)
    written = [Path(f"{name}{end}.jsonl").read_bytes() for end in ("", "-pairs")]
    # Sketches have no titles.
    removed = Path(f"{name}-removed.jsonl").read_text("utf-8").splitlines()
    written += [json.loads(line) | {"title": None, "kept_title": None} for line in removed]
    counts = vars(result.summary) | {"pairs": across.summary.pairs}
    names = "read against kept exact_duplicates near_duplicates candidates pairs"
    return written, {name: counts[name] for name in names.split()}


@pytest.mark.parametrize("recipe", BY_THEMSELVES)
@pytest.mark.parametrize("name", COLLECTIONS)
def test_decisions_equal_a_run_against_the_texts(name, recipe, request):
    write(COLLECTIONS[name]())
    rule = {} if recipe == "classic" else {"threshold": 0.5}
    summary = sketch_files(["b.jsonl"], "b.sketches", recipe=recipe)
    expected = run("b.jsonl", "texts", recipe=recipe, **rule)
    result = run("b.sketches", "sketches", recipe=recipe, **rule)
    assert result == expected
    assert summary.read == expected[1]["against"]
    if name != "hostile":
        assert 0 < expected[1]["kept"] < expected[1]["read"]
    # Whatever waits in files, and by one thread.
    first = Path("b.sketches").read_bytes()
    request.getfixturevalue("without_memory")()
    sketch_files(["b.jsonl"], "b.sketches", recipe=recipe, workers=1, force=True)
    assert Path("b.sketches").read_bytes() == first
    assert run("b.sketches", "outside", recipe=recipe, workers=1, **rule) == expected


def test_boilerplate_is_counted_over_both_collections():
    """Of the texts of one form, each side alone has too few for the form to be seen."""
    many = hard_texts.of_one_form(random.Random(3), 12)
    write(many)
    sketch_files(["b.jsonl"], "b.sketches")
    expected = run("b.jsonl", "texts")
    assert run("b.sketches", "sketches") == expected


def test_files_of_several_months():
    many = hard_texts.mixed(random.Random(5), 300)
    for index in range(3):
        hard_texts.write_records(Path(f"{index}.jsonl"), many[index::4])
        sketch_files([f"{index}.jsonl"], f"{index}.sketches")
    hard_texts.write_records(Path("a.jsonl"), many[3::4])
    months = [f"{index}.sketches" for index in range(3)]
    result = dedup_files(["a.jsonl"], "kept.jsonl", against=months)
    assert result.summary.against == len(many) * 3 // 4
    assert 0 < result.summary.kept < result.summary.read


def test_runs_in_a_work_folder_resume(monkeypatch):
    write(hard_texts.mixed(random.Random(6), 200))
    sketch_files(["b.jsonl"], "b.sketches")
    expected = dedup_files(["a.jsonl"], "texts.jsonl", against=["b.jsonl"])

    def killed(*_):
        raise KeyboardInterrupt

    options = {"against": ["b.sketches"], "work": "work"}
    with monkeypatch.context() as patched:
        patched.setattr(Pipeline, "decide", killed)
        with pytest.raises(KeyboardInterrupt):
            dedup_files(["a.jsonl"], "worked.jsonl", **options)
    # The texts are in the folder, so those of the sketches are not read again.
    monkeypatch.setattr(Pipeline, "_collect", killed)
    result = dedup_files(["a.jsonl"], "worked.jsonl", **options)
    assert result.removed.equals(expected.removed)
    assert Path("worked.jsonl").read_bytes() == Path("texts.jsonl").read_bytes()


def test_arrow_file_of_documents_is_another_collection():
    table = pa.table({"id": ["a", "b"], "text": ["渡船早上八点从东码头开出。", "另一条消息。"]})
    with pa.ipc.new_file("b.arrow", table.schema) as writer:
        writer.write_table(table)
    hard_texts.write_records(Path("a.jsonl"), [table["text"][0].as_py()])
    result = dedup_files(["a.jsonl"], "kept.jsonl", against=["b.arrow"])
    assert result.removed["kept_id"].to_pylist() == ["a"]


def test_empty_sketch_file_changes_nothing():
    Path("b.jsonl").write_text("")
    sketch_files(["b.jsonl"], "b.sketches")
    hard_texts.write_records(Path("a.jsonl"), ["a text", "a text"])
    result = dedup_files(["a.jsonl"], "kept.jsonl", against=["b.sketches"])
    assert (result.summary.against, result.summary.kept) == (0, 1)


@pytest.fixture
def sketched():
    write(hard_texts.mixed(random.Random(7), 40))
    sketch_files(["b.jsonl"], "b.sketches")


@pytest.mark.usefixtures("sketched")
class TestRefusals:
    def refused(self, against, error, says, **options):
        before = sorted(Path().iterdir())
        with pytest.raises(error, match=says):
            dedup_files(["a.jsonl"], "kept.jsonl", against=against, **options)
        assert sorted(Path().iterdir()) == before

    def test_another_recipe(self):
        says = r"b\.sketches: must have sketches of the recipe characters, not of general"
        self.refused(["b.sketches"], InputError, says, recipe="characters")
        says = r"the settings of this run, general-\w{12}, not general-\w{12}\. Make them again"
        changed = load_recipe("general").replace(normalize={"strip_markup": True})
        self.refused(["b.sketches"], InputError, says, recipe=changed)

    def test_other_files_beside_them(self):
        says = r"files of sketches, or files of documents, not both \(b\.sketches, b\.jsonl\)"
        self.refused(["b.jsonl", "b.sketches"], ParameterError, says)

    def test_files_of_another_version(self):
        metadata = {"neardup_sketches": "0"}
        with pa.ipc.new_file("other.arrow", pa.schema({"text": pa.string()}, metadata)):
            pass
        self.refused(["other.arrow"], InputError, "this version of neardup sketch")

    @pytest.mark.parametrize("share", [0.01, 0.5, 0.999])
    def test_half_of_a_file(self, share):
        whole = Path("b.sketches").read_bytes()
        Path("half.sketches").write_bytes(whole[: int(len(whole) * share)])
        self.refused(["half.sketches"], InputError, r"half\.sketches: must be a whole file")

    def test_damaged_bytes_are_no_crash(self):
        whole = Path("b.sketches").read_bytes()
        rng = random.Random(8)
        for _ in range(60):
            data = bytearray(whole)
            for _ in range(rng.choice((1, 20))):
                data[rng.randrange(8, len(data))] ^= 1 << rng.randrange(8)
            Path("bad.sketches").write_bytes(data)
            with contextlib.suppress(InputError):
                dedup_files(["a.jsonl"], "kept.jsonl", against=["bad.sketches"], force=True)

    def test_an_input_of_documents(self):
        with pytest.raises(InputError, match=r"b\.sketches: must have documents"):
            dedup_files(["b.sketches"], "kept.jsonl")

    def test_existing_files_and_frequencies_of_the_collection(self):
        with pytest.raises(OutputError, match="exists already"):
            sketch_files(["b.jsonl"], "b.sketches")
        with pytest.raises(ParameterError, match="idf = 'corpus'"):
            sketch_files(["b.jsonl"], "c.sketches", recipe="improved")
        with pytest.raises(OutputError, match=r"a\.jsonl: must not be both"):
            sketch_files(["a.jsonl"], "a.jsonl", force=True)

    def test_moved_sketches_stay_usable(self):
        Path("else").mkdir()
        shutil.move("b.sketches", "else/archive")
        expected = run("b.jsonl", "texts")
        assert run("else/archive", "sketches") == expected


def test_ids_of_uncompressed_sketches_do_not_hold_the_texts():
    write(hard_texts.mixed(random.Random(8), 50))
    sketch_files(["b.jsonl"], "b.sketches")
    with pa.OSFile("b.sketches") as file:
        rows = pa.ipc.open_file(file).read_all()
    with pa.ipc.new_file("plain.arrow", rows.schema) as writer:
        writer.write_table(rows)
    options = RunOptions(complete_options(dedup_files, {}))
    corpus = Pipeline(options).corpus(options.recipe)
    collected = DocumentSet(options.recipe, corpus)
    list(SketchFiles(["plain.arrow"]).put_into(collected))
    buffers = [b for chunk in collected.ids.column().chunks for b in chunk.buffers() if b]
    assert len(buffers) > 0
    assert all(buffer.parent is None for buffer in buffers)
