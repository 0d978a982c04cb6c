"""Runs engines, each in a separate process, and judges their answers.

A *work* is an input with a known answer, and the engines that do it. An engine's answer is judged
before its time counts: a wrong answer is a failure and has no time.
"""

import contextlib
import datetime
import json
import os
import platform
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

import environments
from tables import work_table

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results"
PRODUCT = "neardup"
#: Environment variables that a run inherits from this process.
KEPT = ("PATH", "HOME", "LANG", "TMPDIR", "LD_LIBRARY_PATH", "PYTHONPATH")
#: If an engine's first run takes more seconds, there is no second run.
LONG = 10
#: Seconds between two looks at the memory of a run.
EVERY = 0.2


class WrongAnswerError(Exception):
    """An engine's answer is wrong by the definition of the work."""


class LimitError(Exception):
    """An engine exceeded a limit of time or memory."""


@dataclass(frozen=True)
class Limits:
    """The limits of one run: seconds, and megabytes of all its processes together."""

    seconds: float = 300
    megabytes: float = 8_000


@dataclass(frozen=True)
class Engine:
    """A way to do a work: a function in a peer's file, and its options."""

    label: str
    peer: str
    function: str
    options: dict = field(default_factory=dict)


@dataclass(frozen=True)
class Measurement:
    """A benchmark by name.

    `measure` takes the options of the run and returns plain data, `show` makes Markdown of them.
    One that is `large` only runs if it is asked for.
    """

    name: str
    title: str
    measure: Callable
    show: Callable[[dict], str]
    large: bool = False


@dataclass(frozen=True)
class Work:
    """A benchmark with engines.

    `prepare` returns the path of the input; it takes whether this is a trial. `judge` takes the
    arrays of an answer, the engine and the path; it returns further columns of the row or raises
    `WrongAnswerError`.
    """

    name: str
    title: str
    prepare: Callable[[bool], Path]
    judge: Callable[[dict, Engine, Path], dict]
    engines: tuple[Engine, ...]
    notes: str = ""
    threads: int = 2
    limits: Limits = Limits()
    large: bool = False

    def measure(self, options):
        """Run all engines in turn; return the result as plain data."""
        engines = [e for e in self.engines if not options.engines or e.peer in options.engines]
        if any(engine.peer != PRODUCT for engine in engines):
            environments.install()
        path = self.prepare(options.trial)
        rows = {engine.label: {"engine": engine.label, "runs": []} for engine in engines}
        for repetition in range(options.repetitions):
            # Engines take turns, so that a noisy minute affects all of them.
            for engine in engines:
                row = rows[engine.label]
                if repetition and (not row["runs"] or row["runs"][0]["seconds"] > LONG):
                    continue
                print(f"{self.name}: {engine.label}, run {repetition + 1}", file=sys.stderr)
                try:
                    row["runs"].append(self.run(engine, path, row))
                except LimitError as error:
                    row["stopped"] = str(error)
                except (WrongAnswerError, RuntimeError) as error:
                    told = str(error).replace(f"{HERE}{os.sep}", "")
                    row["failure"] = f"{type(error).__name__}: {told}"
                if reason := row.get("stopped") or row.get("failure"):
                    row["runs"] = []
                    print(f"{self.name}: {engine.label}: {reason}", file=sys.stderr)
        return {"threads": self.threads, "rows": [summary(row) for row in rows.values()]}

    def run(self, engine, path, row):
        """Run an engine once in a new process; return its figures."""
        with tempfile.TemporaryDirectory(dir=HERE / ".inputs") as folder:
            order = {
                "peer": engine.peer,
                "function": engine.function,
                "input": str(path),
                "folder": folder,
                "options": engine.options,
                "one_core": self.threads == 1,
            }
            arguments = [environments.python_of(engine.peer), HERE / "worker.py", json.dumps(order)]
            # Caches are written to a folder that is deleted after the run.
            variables = environment(self.threads) | {"HOME": folder, "TMPDIR": folder}
            peak = run_limited(arguments, variables, folder, self.limits)
            figures = json.loads((Path(folder) / "figures.json").read_text("utf-8"))
            # Of several processes, what they hold together counts.
            figures["peak_mb"] = max(figures["peak_mb"], peak)
            with np.load(Path(folder) / "answer.npz") as answer:
                quality = self.judge(dict(answer), engine, path)
        row["quality"] = quality | figures.pop("facts")
        row["versions"] = figures.pop("versions")
        return figures

    def show(self, result):
        """Return the table of a result as Markdown."""
        return work_table(self.title, self.notes, result)


def summary(row):
    """Return a row with the medians of its runs; a failed row has none."""
    if not row["runs"]:
        return {key: value for key, value in row.items() if key != "runs"}
    return row | {key: statistics.median(run[key] for run in row["runs"]) for key in row["runs"][0]}


def run_limited(arguments, variables, folder, limits):
    """Run a command within limits; return the most memory that its processes held, in MB.

    Raise a RuntimeError if its exit code is not 0. A limit on the address space would also count
    memory that is reserved and never used, so memory is sampled.
    """
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as errors:
        process = subprocess.Popen(
            [str(argument) for argument in arguments],
            env=variables,
            cwd=folder,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            start_new_session=True,
        )
        begun, peak = time.monotonic(), 0.0
        try:
            while process.poll() is None:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(EVERY)
                peak = max(peak, memory_of_session(process.pid))
                seconds = time.monotonic() - begun
                if seconds > limits.seconds:
                    raise LimitError(f"over {limits.seconds:g} s")
                if peak > limits.megabytes:
                    raise LimitError(f"over {limits.megabytes / 1000:g} GB after {seconds:.0f} s")
        finally:
            # The group is also that of children which outlive it.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        if process.returncode != 0:
            errors.seek(0)
            raise RuntimeError(f"exit code {process.returncode}: {last_words(errors.read())}")
    return peak


def memory_of_session(session):
    """Return the memory of the processes of a session in MB; shared pages count in parts."""
    total = 0
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if os.getsid(int(folder.name)) == session:
                text = (folder / "smaps_rollup").read_text("ascii")
                total += sum(map(int, re.findall(r"^Pss:\s*(\d+) kB", text, re.MULTILINE)))
    return total / 1024


def last_words(errors):
    """Return the last line of errors that contains a letter, which a line of a frame does not."""
    lines = [line.strip(" │") for line in errors.splitlines() if any(map(str.isalpha, line))]
    return lines[-1][:300] if lines else "no message"


def environment(threads):
    """Return the variables of a run: threads bounded, hash seed fixed."""
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS")
    kept = {name: value for name, value in os.environ.items() if name in KEPT}
    return kept | dict.fromkeys(names, str(threads)) | {"PYTHONHASHSEED": "0"}


def stored(name):
    """Return a stored result, or None."""
    path = RESULTS / f"{name}.json"
    return json.loads(path.read_text("utf-8")) if path.exists() else None


def store(name, result):
    """Store a result in place of the previous one."""
    RESULTS.mkdir(exist_ok=True)
    text = json.dumps(result, indent=1, ensure_ascii=False) + "\n"
    (RESULTS / f"{name}.json").write_text(text, encoding="utf-8")


def machine():
    """Return the machine, its load, the commit and the date as plain data."""
    lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "processor": names[0] if names else platform.machine(),
        "cores": len(os.sched_getaffinity(0)),
        "memory_gb": round(memory / 1e9, 1),
        "load": round(os.getloadavg()[0], 1),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "commit": commit(),
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
    }


def commit():
    """Return the commit, with a plus if files other than results differ; None outside of git."""

    def git(*arguments):
        command = ["git", "-C", str(HERE.parent), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    try:
        name = git("describe", "--always", "--abbrev=10")
        changed = git("status", "--porcelain", "-uno", "--", ".", ":!benchmarks/results", ":!docs")
    except (OSError, subprocess.CalledProcessError):
        return None
    return name + "+" * bool(changed)
