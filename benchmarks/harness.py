"""Runs engines, each run in its own process, and judges the answers.

A *work* is a task with a known answer. An engine's answer is judged before its time counts: a
wrong answer is a failure and has no time.
"""

import json
import os
import statistics
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

import environments
from limits import LimitError, Limits, limited
from results import stored
from tables import table_of

HERE = Path(__file__).resolve().parent
PRODUCT = "neardup"
#: Environment variables that a run inherits from this process.
KEPT = ("PATH", "HOME", "LANG", "TMPDIR", "SYSTEMROOT", "LD_LIBRARY_PATH", "PYTHONPATH")
#: If a work has limits and an engine's first run takes more seconds, there is no second run.
LONG = 10


class WrongAnswerError(Exception):
    """An engine's answer is wrong by the definition of the work."""


@dataclass(frozen=True)
class Engine:
    """A way to do a work: a function in a peer's file, and its options."""

    label: str
    peer: str
    function: str
    options: dict = field(default_factory=dict)
    # None: as many as the run asks for. Slow engines have fewer.
    repetitions: int | None = None
    # Whether it works in several processes, whose memory is added up.
    several: bool = False


@dataclass(frozen=True)
class Work:
    """A task with its input, its engines and its judge.

    `prepare` returns the path of the input, or None if its source is missing. `judge` takes the
    arrays of an answer and the engine; it returns further columns of the row or raises
    `WrongAnswerError`.
    """

    name: str
    title: str
    prepare: Callable[[], Path | None]
    judge: Callable[[dict, Engine], dict]
    engines: tuple[Engine, ...]
    notes: str = ""
    threads: int = 1
    needs: str = ""
    documents: int | None = None
    limits: Limits | None = None
    #: The names of this work at a tenth and at a hundredth of the size. If an engine exceeded
    #: a limit there, it is not run here.
    smaller: tuple[str, ...] = ()


@dataclass(frozen=True)
class Case:
    """A benchmark by name.

    `measure` takes the options of the run and returns plain data; `show` makes Markdown of them.
    A case that is neither `usual` nor `large` only runs if it is named.
    """

    name: str
    title: str
    measure: Callable
    show: Callable[[dict], str]
    usual: bool = False
    large: bool = False


def case_of(work, **kind):
    """Return a work as a case."""

    def measure(options):
        peers = sorted({engine.peer for engine in work.engines})
        environments.install_all(p for p in peers if p in (options.engines or peers))
        smaller = [found for name in work.smaller if (found := stored(name))]
        return run(work, options.repetitions, options.engines, smaller)

    return Case(work.name, work.title, measure, table_of, **kind)


def run(work, repetitions, only=None, smaller=()):
    """Run a work and return its result as plain data.

    `smaller`: the results of the works that `work.smaller` names.
    """
    result = {"name": work.name, "title": work.title, "notes": work.notes, "rows": []}
    result["threads"] = work.threads
    if work.documents:
        result["documents"] = work.documents
    if work.limits:
        result["limits"] = {"seconds": work.limits.seconds, "megabytes": work.limits.megabytes}
    path = work.prepare()
    if path is None:
        return result | {"missing": work.needs}
    engines = [engine for engine in work.engines if only is None or engine.peer in only]
    rows = {engine.label: {"engine": engine.label, "runs": []} for engine in engines}
    for label, reason in beyond(work, smaller).items():
        if label in rows:
            rows[label]["stopped"] = reason
    for repetition in range(repetitions):
        # Engines take turns, so that a noisy minute affects all of them.
        for engine in engines:
            row = rows[engine.label]
            if "failure" in row or "stopped" in row:
                continue
            if repetition >= (engine.repetitions or repetitions):
                continue
            if work.limits and repetition and slow(row):
                continue
            print(f"{work.name}: {engine.label}, run {repetition + 1}", file=sys.stderr, flush=True)
            try:
                measured, answer = measure(work, engine, path)
                row["quality"] = work.judge(answer, engine) | measured.pop("facts")
                row["versions"] = measured.pop("versions")
                row["runs"].append(measured)
            except LimitError as error:
                row["stopped"] = str(error)
                print(f"{work.name}: {engine.label}: {error}", file=sys.stderr)
            except (WrongAnswerError, RuntimeError, environments.NotInstalledError) as error:
                told = str(error).replace(f"{HERE}{os.sep}", "")
                row["failure"] = f"{type(error).__name__}: {told}"
                print(f"{work.name}: {engine.label}: {row['failure']}", file=sys.stderr)
    return result | {"rows": [summary(row) for row in rows.values()]}


def beyond(work, smaller):
    """Return engine -> reason for the engines that would be too slow.

    `smaller` has the results of the same work at a tenth and at a hundredth of the size. A line
    through both times predicts the time at this size; so the time to start is not multiplied. The
    prediction may exceed the limit by a quarter.
    """
    if not smaller:
        return {}
    before = {row["engine"]: row.get("seconds") for result in smaller[1:] for row in result["rows"]}
    reasons = {}
    for row in smaller[0]["rows"]:
        stopped, seconds = row.get("stopped"), row.get("seconds")
        starting = before.get(row["engine"])
        if stopped:
            more = stopped if stopped.startswith("not run") else f"not run: a tenth was {stopped}"
            reasons[row["engine"]] = more
        elif seconds and starting:
            drawn_on = seconds + 10 * (seconds - starting)
            if 0.8 * drawn_on > work.limits.seconds:
                reasons[row["engine"]] = f"not run: a tenth took {seconds:.0f} s"
    return reasons


def slow(row):
    """Return whether one run of an engine is enough."""
    return row["runs"][0]["seconds"] > LONG


def summary(row):
    """Add the medians to a row; a failed row has none."""
    if "failure" in row or "stopped" in row or not row["runs"]:
        return {key: value for key, value in row.items() if key != "runs"}
    seconds = [run["seconds"] for run in row["runs"]]
    medians = {
        key: statistics.median(run[key] for run in row["runs"])
        for key in ("seconds", "load_seconds", "peak_mb", "base_mb")
    }
    return row | medians | {"fastest": min(seconds), "slowest": max(seconds)}


def measure(work, engine, path):
    """Run an engine once in a new process; return its figures and its answer."""
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
        code, errors, peak = limited(
            [python, str(HERE / "worker.py"), json.dumps(order)],
            # Caches are written to a folder that is deleted after the run.
            environment(work.threads) | {"HOME": folder, "TMPDIR": folder},
            folder,
            work.limits,
        )
        if code != 0:
            raise RuntimeError(f"exit code {code}: {last_words(errors)}")
        measured = json.loads((Path(folder) / "measured.json").read_text("utf-8"))
        if engine.several:
            measured["peak_mb"] = max(measured["peak_mb"], peak)
        with np.load(Path(folder) / "answer.npz") as answer:
            return measured, dict(answer)


def last_words(errors):
    """Return the last line of errors that contains a letter.

    A line that only draws a frame contains none.
    """
    lines = [line.strip(" │") for line in errors.splitlines() if any(map(str.isalpha, line))]
    return lines[-1][:300] if lines else "no message"


def environment(threads):
    """Return the variables of a run: threads bounded, hash seed fixed."""
    bounds = {
        name: str(threads)
        for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS")
    }
    kept = {name: value for name, value in os.environ.items() if name in KEPT}
    return kept | bounds | {"PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"}
