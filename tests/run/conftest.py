"""Runs in a work folder, and their ends."""

import random
from pathlib import Path

import pytest
from tests.kit import hard_texts
from tests.kit.progress import RecordedProgress

from neardup.tasks.dedup import dedup_files


def interrupt():
    raise KeyboardInterrupt


class Interrupting(RecordedProgress):
    """Ctrl-C, or another end, at the `count`-th time that a moment comes."""

    def __init__(self, moment, count=1, end=interrupt):
        super().__init__()
        self.moment, self.left, self.end = moment, count, end

    def stage(self, name, *given):
        super().stage(name, *given)
        self.reach(f"stage {name}")

    def advance(self, *given):
        super().advance(*given)
        self.reach(f"advance {self.stages[-1][0]}")

    def reach(self, moment):
        if moment == self.moment:
            self.left -= 1
            if not self.left:
                self.end()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A working folder with an input."""
    rng = random.Random(7)
    texts = hard_texts.mixed(rng, 300) + hard_texts.of_one_form(rng, 200)
    hard_texts.write_records(tmp_path / "in.jsonl", texts)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(**options):
    """Run over the input of the folder, and return the bytes of the outputs."""
    options = {"work": "work", **options}
    dedup_files(
        ["in.jsonl"], "kept.jsonl", removed="removed.jsonl", report="report.json", **options
    )
    outputs = [Path(name) for name in ("kept.jsonl", "removed.jsonl")]
    read = [path.read_bytes() for path in outputs]
    for path in [*outputs, Path("report.json")]:
        path.unlink()
    return read


def ended(moment, count=1, **options):
    """Run until a moment, where Ctrl-C comes."""
    with pytest.raises(KeyboardInterrupt):
        run(progress=Interrupting(moment, count), **options)


def left_in(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))
