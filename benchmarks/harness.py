"""Runs engines on works, each run in a process of its own, and judges the answers.

A work is a definition with a known answer. An engine's answer is judged before
its time counts: a wrong answer is a failure and has no time.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

import environments

HERE = Path(__file__).resolve().parent
PRODUCT = "neardup"


class WrongAnswerError(Exception):
    """An engine's answer is not what the work's definition says it must be."""


@dataclass(frozen=True)
class Engine:
    """One way to do a work: a function of a peer's file, and its options."""

    label: str
    peer: str
    function: str
    options: dict = field(default_factory=dict)
    # None: as many as the run asks for. Slow engines say less.
    repetitions: int | None = None


@dataclass(frozen=True)
class Work:
    """What is done, on which input, by which engines, and how the answer is judged.

    `prepare` returns the input's path, or None where its source is missing;
    `judge` takes an answer's arrays and the engine, and returns the row's own
    columns or raises `WrongAnswerError`.
    """

    name: str
    title: str
    prepare: Callable[[], Path | None]
    judge: Callable[[dict, Engine], dict]
    engines: tuple[Engine, ...]
    notes: str = ""
    threads: int = 1
    needs: str = ""


def run(work, repetitions, only=None):
    """Do a work and return its result as plain data."""
    result = {"name": work.name, "title": work.title, "notes": work.notes, "rows": []}
    result["threads"] = work.threads
    path = work.prepare()
    if path is None:
        return result | {"missing": work.needs}
    engines = [engine for engine in work.engines if only is None or engine.peer in only]
    rows = {engine.label: {"engine": engine.label, "runs": []} for engine in engines}
    for repetition in range(repetitions):
        # Interleaved, so that a noisy minute hurts all engines and not one.
        for engine in engines:
            row = rows[engine.label]
            if "failure" in row or repetition >= (engine.repetitions or repetitions):
                continue
            print(f"{work.name}: {engine.label}, run {repetition + 1}", file=sys.stderr, flush=True)
            try:
                measured, answer = measure(work, engine, path)
                row["quality"] = work.judge(answer, engine) | measured.pop("facts", {})
                row["versions"] = measured.pop("versions")
                row["runs"].append(measured)
            except (WrongAnswerError, RuntimeError, environments.NotInstalledError) as error:
                row["failure"] = f"{type(error).__name__}: {error}"
                print(f"{work.name}: {engine.label}: {row['failure']}", file=sys.stderr)
    return result | {"rows": [summary(row) for row in rows.values()]}


def summary(row):
    """Add the medians to a row; a failed row has none."""
    if "failure" in row or not row["runs"]:
        return {key: value for key, value in row.items() if key != "runs"}
    seconds = [run["seconds"] for run in row["runs"]]
    medians = {
        key: statistics.median(run[key] for run in row["runs"])
        for key in ("seconds", "load_seconds", "peak_mb", "base_mb")
    }
    return row | medians | {"fastest": min(seconds), "slowest": max(seconds)}


def measure(work, engine, path):
    """Run an engine once in a new process; return its measures and its answer."""
    python = environments.python_of(engine.peer)
    with tempfile.TemporaryDirectory(dir=HERE / ".inputs") as folder:
        order = {
            "peer": engine.peer,
            "function": engine.function,
            "input": str(path),
            "folder": folder,
            "options": engine.options,
            "one_core": work.threads == 1,
        }
        done = subprocess.run(
            [python, str(HERE / "worker.py"), json.dumps(order)],
            env=environment(work.threads),
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            last = (done.stderr.strip() or "no message").splitlines()[-1]
            raise RuntimeError(f"exit code {done.returncode}: {last[:300]}")
        measured = json.loads((Path(folder) / "measured.json").read_text("utf-8"))
        with np.load(Path(folder) / "answer.npz") as answer:
            return measured, dict(answer)


def environment(threads):
    """Return the variables of a run: threads bounded, Python's hash pinned."""
    bounds = {
        name: str(threads)
        for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS")
    }
    kept = {
        name: value
        for name, value in os.environ.items()
        if name in ("PATH", "HOME", "LANG", "TMPDIR", "SYSTEMROOT", "LD_LIBRARY_PATH")
    }
    return kept | bounds | {"PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"}
