"""Work folders: a run that is ended resumes where it was, and never from what is not its own."""

import gzip
import json
import os
import random
import resource
import signal
import sys
import threading
from pathlib import Path

import pyarrow as pa
import pytest
from tests import forks
from tests.kit import hard_texts
from tests.kit.formats import serialize
from tests.kit.progress import RecordedProgress
from tests.run.conftest import Interrupting, ended, left_in, run
from tests.run.test_memory import memory_of_nothing

from neardup import InputError, OutputError
from neardup.readers import Sources
from neardup.recipe import load_recipe
from neardup.run.checkpoint import Work
from neardup.run.pipeline import Pipeline
from neardup.tasks.dedup import dedup_files
from neardup.tasks.pairs import pairs_files
from neardup.tasks.sketch import fingerprint_files, sketch_files
from neardup.writers.sink import FileSink

#: What a run tells of itself, each with the number of times after which it may end.
MOMENTS = [
    ("stage read and sketch", 1),
    ("advance read and sketch", 1),
    ("stage join keys", 1),
    ("advance join keys", 1),
    ("advance join keys", 3),
    ("stage candidates, verify, cluster", 1),
    ("advance candidates, verify, cluster", 1),
    ("stage write", 1),
]

#: Sketches leave memory, so that their keys are joined.
OUTSIDE = ("neardup.run.pipeline.memory_of", memory_of_nothing)


def kill(*_):
    os.kill(os.getpid(), signal.SIGKILL)


def kill_in_fork(function, *arguments):
    """Run a function in another process, which ends with a kill."""
    done = forks.run(function, *arguments)
    assert done.returncode == -signal.SIGKILL, done.stderr


#: Documents of a batch and bytes of a shard, which then has two or three batches.
SMALL_BATCH, SMALL_SHARD = 20, 5_000


@pytest.fixture
def small_shards(monkeypatch):
    """Many shards, of few documents."""
    make_small_shards(monkeypatch)


def make_small_shards(patch):
    patch.setitem(Sources.batches.__kwdefaults__, "batch_records", SMALL_BATCH)
    patch.setattr("neardup.run.shards._BYTES", SMALL_SHARD)


@pytest.mark.parametrize(
    ("moment", "recipe"),
    [
        *((moment, "general") for moment in MOMENTS),
        *((moment, "minhash") for moment in MOMENTS[3:6]),
        # Fingerprints have no keys to join.
        *((moment, recipe) for moment in MOMENTS[-3:] for recipe in ("characters", "improved")),
    ],
    ids=str,
)
def test_goes_on_after_ctrl_c(moment, recipe, folder, monkeypatch):
    expected = run(work=None, recipe=recipe)
    if "join keys" in moment[0]:
        monkeypatch.setattr(*OUTSIDE)
    ended(*moment, recipe=recipe)
    assert [name for name in left_in(folder) if not name.startswith("work")] == ["in.jsonl"]
    watch = Interrupting("stage read and sketch", 2)
    assert run(recipe=recipe, progress=watch, memory="1GiB", workers=1) == expected
    # Documents that are stored are not sketched again.
    resumed = any("500 records are read" in note for note in watch.notes)
    assert (resumed, watch.left) == ((False, 1) if "read" in moment[0] else (True, 2))
    assert left_in(folder) == ["in.jsonl", "work"]


@pytest.mark.parametrize("recipe", ["general", "minhash", "characters"])
def test_any_tool_opens_the_sketches(recipe, folder):
    lines = (folder / "in.jsonl").read_bytes().splitlines(keepends=True)
    (folder / "in.jsonl").write_bytes(b"".join([*lines[:7], b'{"text": 7}\n', *lines[7:]]))
    options = {"recipe": recipe, "priority": "last", "on_error": "drop"}
    expected = run(work=None, **options)
    ended("stage write", **options)
    with pa.memory_map("work/sketches-1.arrow") as file:
        sketches = pa.ipc.open_file(file).read_all()
    records = [json.loads(line) for line in lines]
    ids, texts = ([record.get(field) for record in records] for field in ("id", "text"))
    assert sketches["id"].to_pylist() == [*ids[:7], "in.jsonl:8", *ids[7:]]
    assert sketches["features"].null_count == 1 + texts.count(None)
    # It is what `neardup sketch` writes.
    sketch_files(["in.jsonl"], "in.sketches", recipe=recipe)
    with pa.OSFile("in.sketches") as file:
        assert pa.ipc.open_file(file).read_all().equals(sketches)
    assert run(**options) == expected


def run_killed_while_reading(batches):
    # In another process.
    make_small_shards(pytest.MonkeyPatch())
    run(progress=Interrupting("advance read and sketch", batches, kill))


@pytest.fixture
def sketched(monkeypatch):
    """Return a list of how many documents of each batch are sketched."""
    counts, sketch = [], Pipeline._sketch

    def count(pipeline, batch, collected):
        counts.append(len(batch))
        sketch(pipeline, batch, collected)

    monkeypatch.setattr(Pipeline, "_sketch", count)
    return counts


@pytest.mark.slow
@pytest.mark.parametrize("batches", range(1, 26, 4))
@pytest.mark.usefixtures("small_shards")
def test_kill_while_reading_loses_at_most_one_shard(batches, folder, sketched):
    expected = run(work=None)
    kill_in_fork(run_killed_while_reading, batches)
    sketched.clear()
    assert run() == expected
    done = 500 - sum(sketched)
    assert 0 <= SMALL_BATCH * batches - done < 4 * SMALL_BATCH
    assert left_in(folder) == ["in.jsonl", "work"]


def sample_inputs(folder):
    """Write the same records in many ways, with problems among them."""
    lines = (folder / "in.jsonl").read_bytes().splitlines(keepends=True)
    records = [
        json.loads(line) | {"group": n % 2, "at": n * 7 % 90} for n, line in enumerate(lines)
    ]
    rows = [json.dumps(record).encode() + b"\n" for record in records]
    rows[150:150] = rows[350:350] = [b'{"text": 7}\n', b"not json\n"]
    (folder / "rows.jsonl").write_bytes(b"".join(rows))
    packed = gzip.compress(b"".join(rows))
    (folder / "rows.jsonl.gz").write_bytes(packed)
    (folder / "cut.jsonl.gz").write_bytes(packed[: len(packed) * 2 // 3])
    readable = [record for record in records if isinstance(record.get("text"), str)]
    for format in ("parquet", "csv"):
        (folder / f"rows.{format}").write_bytes(serialize(readable, format))
    (folder / "texts").mkdir()
    for number, record in enumerate(readable[:200]):
        (folder / "texts" / f"{number}.txt").write_text(record["text"], "utf-8")
    sketch_files(["rows.jsonl"], "rows.sketches")


LETTERS = {"segment": {"units": "tests.golden.segmenters:letters"}}


@pytest.mark.parametrize(
    ("inputs", "options"),
    [
        (["rows.jsonl"], {"priority": "longest,field:at"}),
        (["rows.jsonl"], {"min_length": 40, "on_error": "drop"}),
        (["rows.jsonl"], {"group_field": "group"}),
        (["rows.jsonl"], {"recipe": "improved"}),
        (["rows.jsonl"], {"recipe": "minhash"}),
        (["rows.jsonl"], {"recipe": load_recipe("characters").replace(**LETTERS)}),
        (["cut.jsonl.gz", "rows.jsonl"], {}),
        (["rows.jsonl", "cut.jsonl.gz"], {}),
        (["rows.parquet", "texts"], {}),
        (["rows.csv"], {}),
        (["in.jsonl"], {"against": ["rows.jsonl.gz"], "min_length": 40, "on_error": "drop"}),
        (["in.jsonl"], {"against": ["rows.sketches"], "min_length": 40, "on_error": "drop"}),
    ],
    ids=str,
)
@pytest.mark.usefixtures("small_shards")
def test_run_resumed_while_reading_has_the_same_results(
    inputs, options, folder, monkeypatch, sketched
):
    sample_inputs(folder)

    def result(**more):
        dedup_files(inputs, "k.jsonl", removed="r.jsonl", report="q.json", **options, **more)
        report = json.loads(Path("q.json").read_bytes())
        for cost in ("seconds", "peak_memory", "stages", "stage_memory", "budgets"):
            del report["summary"][cost]
        notes = [note for note in report["notes"] if "resuming" not in note]
        written = [Path(name).read_bytes() for name in ("k.jsonl", "r.jsonl")]
        for name in ("k.jsonl", "r.jsonl", "q.json"):
            Path(name).unlink()
        return written, report["summary"], report["problems"], notes

    sketched.clear()
    expected = result()
    whole = sum(sketched)
    sketched.clear()
    for count in (9, 11, 10**6):
        watch = Interrupting("advance read and sketch", count)
        if count == 10**6:
            watch = Interrupting("stage candidates, verify, cluster")
        # The batches of a resumed run need not be those of the one before.
        monkeypatch.setitem(Sources.batches.__kwdefaults__, "batch_records", 13 + count % 7)
        with pytest.raises(KeyboardInterrupt):
            result(work="work", progress=watch, memory=f"{1 + count % 2}GiB")
    if options.get("recipe") != "improved":
        assert whole <= sum(sketched) < whole + 2 * 4 * SMALL_BATCH
    again = sum(sketched)
    assert result(work="work", workers=1) == expected
    assert sum(sketched) == again
    assert left_in(folder / "work") == []


def run_killed_later(count, delay):
    """Run until some milliseconds after a number of things are done to files; print how many."""
    done = 0

    def watch(event, _):
        nonlocal done
        if event == "open" or event.startswith("os."):
            done += 1
            if done == count:
                threading.Timer(delay, kill).start()

    sys.addaudithook(watch)
    run_plainly()
    print(done)


def run_plainly():
    dedup_files(["in.jsonl"], "kept.jsonl", removed="removed.jsonl", work="work")


@pytest.mark.slow
def test_goes_on_after_kill_at_any_time(folder):
    rng = random.Random(8)
    texts = hard_texts.of_one_form(rng, 600) + hard_texts.mixed(rng, 400)
    hard_texts.write_records(folder / "in.jsonl", texts)
    expected = run(work=None)
    outputs = [folder / "kept.jsonl", folder / "removed.jsonl"]
    whole = forks.run(run_killed_later, 0, 0)
    things = int(whole.stdout)
    assert [path.read_bytes() for path in outputs] == expected
    finished = 0
    # As a run goes on where the last one was killed, it does fewer things, and ends at last.
    for count in [*rng.sample(range(1, things), 7), 2 * things]:
        for path in outputs:
            path.unlink(missing_ok=True)
        delay = rng.uniform(0, 0.02)
        killed = forks.run(run_killed_later, count, delay)
        assert killed.returncode in (0, -signal.SIGKILL), killed.stderr
        outputs_there = [path.read_bytes() for path in outputs if path.exists()]
        # A kill between the names of the two leaves the first.
        assert outputs_there == expected[: len(outputs_there)]
        finished += killed.returncode == 0
    for path in outputs:
        path.unlink(missing_ok=True)
    assert finished
    assert run() == expected
    assert left_in(folder) == ["in.jsonl", "work"]


def run_killed_after_one_output():
    commit = FileSink.commit

    def commit_and_end(sink):
        commit(sink)
        if sink.name == "kept.jsonl":
            kill()

    FileSink.commit = commit_and_end
    run_plainly()


def run_killed_before_it_starts():
    """The outputs are opened, and the work folder does not know of them."""
    Work.start = kill
    run_plainly()


@pytest.mark.parametrize("is_interrupted", [False, True])
@pytest.mark.parametrize("killed", [run_killed_before_it_starts, run_killed_after_one_output])
def test_outputs_of_a_killed_run_are_replaced(killed, is_interrupted, folder):
    expected = run(work=None)
    kill_in_fork(killed)
    if is_interrupted:
        ended("stage write")
    assert run() == expected
    assert left_in(folder) == ["in.jsonl", "work"]


def make_anew(path):
    """Often with the number of the old file, which is free again."""
    path.unlink()
    path.write_text("another's")


def append(path):
    with path.open("a") as file:
        file.write("another's\n")


def change_one_letter(path):
    """Size and time stay."""
    status = path.stat()
    with path.open("r+b") as file:
        file.write(b"[")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


@pytest.mark.parametrize("change", [make_anew, append, change_one_letter])
def test_output_changed_after_a_kill_is_not_replaced(folder, change):
    expected = run(work=None)
    kill_in_fork(run_killed_after_one_output)
    kept = folder / "kept.jsonl"
    assert not (folder / "removed.jsonl").exists()
    change(kept)
    changed = kept.read_bytes()
    with pytest.raises(OutputError, match=r"kept\.jsonl: exists already"):
        run()
    assert kept.read_bytes() == changed
    kept.unlink()
    assert run() == expected


def run_with_little_space(size):
    """Files that may not grow are as good as a disk that is full."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
    forks.run_command("dedup", "in.jsonl", "-o", "-", "--work", "work", "--quiet")


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.02, 0.3, 0.6, 0.99])
def test_a_full_disk(share, folder):
    expected = run(work=None)
    ended("stage write")
    largest = max(path.stat().st_size for path in (folder / "work").iterdir())
    for path in (folder / "work").iterdir():
        path.unlink()
    done = forks.run(run_with_little_space, int(largest * share))
    assert done.returncode == 2
    line = done.stderr.decode().splitlines()[-1]
    assert "File too large" in line
    assert "free space there, and run the same command again" in line
    assert run() == expected


@pytest.mark.parametrize(
    ("task", "moment"),
    [
        (pairs_files, "stage candidates, verify"),
        (fingerprint_files, "advance read and sketch"),
    ],
)
def test_pairs_and_fingerprints_are_resumed(folder, task, moment):
    task(["in.jsonl"], "expected.jsonl")
    with pytest.raises(KeyboardInterrupt):
        task(["in.jsonl"], "out.jsonl", work="work", progress=Interrupting(moment))
    assert not Path("out.jsonl").exists()
    if task is pairs_files:
        with pytest.raises(InputError, match=r"task 'pairs' \('dedup' requested\)"):
            run()
    again = RecordedProgress()
    task(["in.jsonl"], "out.jsonl", work="work", progress=again)
    assert Path("out.jsonl").read_bytes() == Path("expected.jsonl").read_bytes()
    assert any("resuming from" in note for note in again.notes) == (task is pairs_files)
    assert left_in(folder / "work") == []


@pytest.mark.parametrize(
    "name", ["sketches-3.json", "sketches-3.arrow", "sketches-1.json", "order"]
)
@pytest.mark.usefixtures("small_shards")
def test_a_kill_while_the_folder_is_emptied(name, folder, monkeypatch):
    expected = run(work=None)
    unlink = Path.unlink

    def killed(path, **options):
        unlink(path, **options)
        if path.name == name:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", killed)
        with pytest.raises(KeyboardInterrupt):
            run()
    assert run() == expected
    assert left_in(folder) == ["in.jsonl", "work"]


@pytest.mark.parametrize(
    "stages",
    [
        {"weigh": {"min_document_frequency": 3}},
        {"segment": {"units": "tests.golden.segmenters:letters"}},
        {"segment": {"units": "tests.golden.segmenters:nothing"}},
    ],
    ids=str,
)
@pytest.mark.usefixtures("folder")
def test_words_of_the_collection_are_not_counted_again(stages):
    """Recipes that weigh by the collection, with rare words left out or a segmenter."""
    options = {"recipe": load_recipe("improved").replace(**stages), "title_from_first_line": True}
    expected = run(work=None, **options)
    ended("stage candidates, verify, cluster", **options)
    assert run(**options) == expected
