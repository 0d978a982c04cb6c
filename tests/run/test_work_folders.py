"""Work folders: which runs and inputs they belong to, and what of them is damaged."""

import json
import os
import random
import shutil
from pathlib import Path

import pytest
from tests.kit import hard_texts
from tests.run.conftest import ended, left_in, run

from neardup import InputError, OutputError, ParameterError
from neardup.run.checkpoint import Work
from neardup.tasks.dedup import dedup_files


@pytest.mark.usefixtures("folder")
def test_a_wrong_format_leaves_no_work_folder():
    with pytest.raises(ParameterError, match="'format'"):
        dedup_files(["in.jsonl"], "kept.jsonl", work="work", format="xml")
    assert not Path("work").exists()


@pytest.mark.usefixtures("folder")
def test_inputs_may_be_one_path_or_an_iterator():
    for inputs in ("in.jsonl", Path("in.jsonl"), iter(["in.jsonl"])):
        result = dedup_files(inputs, "kept.jsonl", work="work", report="report.json", force=True)
        assert result.summary.read == 500
        assert json.loads(Path("report.json").read_bytes())["settings"]["inputs"] == ["in.jsonl"]


@pytest.mark.parametrize("damage", ["flipped", "missing", "cut", "emptied"])
@pytest.mark.parametrize(
    "name", ["sketches-1.arrow", "sketches-1.json", "order", "neardup-work.json"]
)
def test_damage_is_found(name, damage, folder):
    texts = hard_texts.mixed(random.Random(9), 50)
    hard_texts.write_records(folder / "in.jsonl", texts)
    expected = run(work=None)
    ended("stage write")
    shutil.copytree("work", "copy")
    path = folder / "copy" / name
    whole = path.read_bytes()
    middle = len(whole) // 2
    if damage == "missing":
        path.unlink()
    elif damage == "flipped":
        path.write_bytes(whole[:middle] + bytes([whole[middle] ^ 4]) + whole[middle + 1 :])
    else:
        path.write_bytes(whole[: middle if damage == "cut" else 0])
    if (name, damage) == ("sketches-1.json", "missing"):
        # The shard was not complete.
        assert run(work="copy") == expected
    else:
        # Without the manifest, the other files may be anybody's.
        is_foreign = (name, damage) == ("neardup-work.json", "missing")
        words = "must be empty or" if is_foreign else r"has changed|damaged"
        with pytest.raises(InputError, match=words):
            run(work="copy")
        assert run() == expected


def test_folder_with_other_things_is_left_as_it_is(folder):
    (folder / "work").mkdir()
    (folder / "work" / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match=r"work: must be empty .* notes\.txt"):
        run()
    assert left_in(folder / "work") == ["notes.txt"]


def test_file_is_not_a_work_folder(folder):
    (folder / "work").write_text("mine")
    with pytest.raises(OutputError, match="work: cannot be used as a work folder"):
        run()


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    "options",
    [
        {"recipe": "minhash"},
        {"threshold": 0.9},
        {"priority": "last"},
        {"title_from_first_line": True},
        {"text_field": "title"},
        {"id_field": "title"},
        {"format": "jsonl"},
        {"max_length": 70},
        {"group_field": "rank"},
    ],
    ids=str,
)
def test_other_settings_are_refused(options):
    ended("stage write")
    (name,) = options
    with pytest.raises(InputError, match=f"with other settings: .*{name}.*delete the folder"):
        run(**options)


def test_changed_input_is_refused(folder):
    expected = run(work=None)
    ended("stage write")
    status = (folder / "in.jsonl").stat()
    (folder / "in.jsonl").touch()
    with pytest.raises(InputError, match="with other settings: inputs"):
        run()
    os.utime(folder / "in.jsonl", ns=(status.st_atime_ns, status.st_mtime_ns))
    assert run() == expected


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(("name", "value"), [("__version__", "0.0.1"), ("_LAYOUT", 8)])
def test_another_version_is_refused(monkeypatch, name, value):
    with monkeypatch.context() as patch:
        patch.setattr(f"neardup.run.checkpoint.{name}", value)
        ended("stage write")
    with pytest.raises(InputError, match=r"another version of neardup .*\. Delete it"):
        run()


def test_two_runs_at_a_time_are_refused(folder):
    with (
        Work(folder / "work", {}),
        pytest.raises(InputError, match="another run is using this work folder"),
    ):
        run()


def test_output_in_the_work_folder_is_refused(folder):
    (folder / "work").mkdir()
    (folder / "link").symlink_to("work")
    for work, output in (
        *(("work", name) for name in ("work/kept.jsonl", "link/kept.jsonl", "work")),
        ("new.jsonl", "new.jsonl"),
    ):
        with pytest.raises(ParameterError, match=r"one output only|without other outputs"):
            dedup_files(["in.jsonl"], output, work=work)
    assert left_in(folder) == ["in.jsonl", "link", "work"]


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("kind", ["-", "pipe"])
def test_unrepeatable_input_is_refused(kind):
    if kind == "pipe":
        os.mkfifo("pipe")
    with pytest.raises(InputError, match=f"{kind}: .*Write it to a file first"):
        dedup_files([kind], "kept.jsonl", work="work", format="jsonl")


@pytest.mark.usefixtures("folder")
def test_resumed_run_cannot_stop_at_earlier_problems():
    ended("stage write", on_error="keep")
    with pytest.raises(InputError, match="on_error='stop'"):
        run(on_error="stop")
    assert run(on_error="drop") == run(work=None, on_error="drop")


def test_incomplete_work_folder_is_used(folder):
    (folder / "work").mkdir()
    (folder / "work" / "neardup-work.json.part").write_text("{")
    (folder / "work" / "neardup-work.lock").touch()
    assert run() == run(work=None)
    assert left_in(folder) == ["in.jsonl", "work"]
