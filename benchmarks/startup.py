"""How long commands take before and after their work, beside ``import numpy``.

Usage: python benchmarks/startup.py [RUNS]

Each command is a process of its own and does as little as it can: `dedup` reads three records.
Commands take turns, run by run, so that a noisy minute affects all alike; the table has medians
of the wall time and of the processor time, and both as multiples of ``import numpy``.
"""

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import machine
from tables import table

_RUNS = 21
_NUMPY = "import numpy"
_TEXTS = (
    "The council will open the new bridge on Sunday morning.",
    "Rain is expected along the coast until Thursday.",
    "The council will open the new bridge on Sunday morning!",
)


def commands(folder):
    """Return the arguments of Python by the name of a row."""
    records = folder / "in.jsonl"
    lines = [json.dumps({"id": str(at), "text": text}) for at, text in enumerate(_TEXTS)]
    records.write_text("\n".join(lines) + "\n", "utf-8")
    neardup = ["-m", "neardup"]
    return {
        "nothing": ["-c", "pass"],
        _NUMPY: ["-c", _NUMPY],
        "import neardup": ["-c", "import neardup"],
        "neardup --version": [*neardup, "--version"],
        "neardup --help": [*neardup, "--help"],
        "neardup dedup --help": [*neardup, "dedup", "--help"],
        "neardup dedup, 3 records": [
            *[*neardup, "dedup", str(records), "-o", str(folder / "out.jsonl"), "-f", "-q"]
        ],
    }


def timed(arguments):
    """Return wall seconds and processor seconds of a process."""
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
    wall, after = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def main():
    """Print the table."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else _RUNS
    seconds = {}
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder:
        wanted = commands(Path(folder))
        # The first round is a warm-up: it compiles what was not compiled yet.
        for run in range(runs + 1):
            for name, arguments in wanted.items():
                found = timed(arguments)
                if run:
                    seconds.setdefault(name, []).append(found)
    medians = {
        name: [statistics.median(column) for column in zip(*its, strict=True)]
        for name, its in seconds.items()
    }
    lines = []
    for name, its in medians.items():
        ratios = [one / base for one, base in zip(its, medians[_NUMPY], strict=True)]
        lines.append([name, *(f"{one:.3f}" for one in its), *(f"{one:.2f}" for one in ratios)])
    heading = ["command", "wall s", "processor s", "wall / numpy", "processor / numpy"]
    print(table(heading, lines, text=1))
    print(f"\nMedians of {runs} runs in turn; load {load:.1f}. {machine.facts()}")


if __name__ == "__main__":
    main()
