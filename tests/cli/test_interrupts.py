"""Commands that end early: a signal, a kill or a full disk at a moment, and what is left.

A new command joins with a line in `ENDED`.
"""

import json
import os
import random
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests import forks
from tests.cli.conftest import A, B, environment
from tests.cli.interrupted import MESSAGE, run_interrupted

pytestmark = pytest.mark.slow

DEDUP = "dedup in.jsonl -o out.jsonl --removed removed.jsonl -r classic"
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

#: Commands, with moments and the actions that are tried at each.
ENDED = [
    # From the first line of the package to the moment before the outputs get their names.
    (DEDUP, "import neardup.cli", SIGNALS),
    (DEDUP, "open .out.jsonl", (*SIGNALS, signal.SIGKILL)),
    *(
        (DEDUP, f"import {name}", SIGNALS[:1])
        for name in ("neardup.cli.parser", "neardup.tasks.dedup", "neardup._core", "pyarrow.lib")
    ),
    *(
        (DEDUP, moment, (signal.SIGINT, signal.SIGKILL))
        for moment in ("open in.jsonl", "open .removed.jsonl", "stage 1", "stage 2", "stage 3")
    ),
    (DEDUP, "rename out.jsonl", (signal.SIGKILL,)),
    ("pairs in.jsonl -o out.jsonl", "stage 1", (signal.SIGINT, signal.SIGKILL)),
    ("pairs in.jsonl -o out.parquet", "rename out.parquet", (signal.SIGKILL,)),
    ("fingerprint in.jsonl -o out.jsonl", "open in.jsonl", (signal.SIGINT, signal.SIGKILL)),
    ("sketch in.jsonl -o out.sketches", "rename out.sketches", (signal.SIGKILL,)),
    ("repeats in.jsonl -o r.csv --remove out.jsonl", "rename r.csv", (signal.SIGKILL,)),
    ("idf in.jsonl -o out.idf", "open in.jsonl", (signal.SIGINT, signal.SIGKILL)),
    ("compare a.txt b.txt", "open a.txt", SIGNALS[:1]),
    ("explain a.txt", "import neardup._core", SIGNALS[:1]),
    ("check a.txt --library b.txt -o out.html", "open a.txt", SIGNALS[:1]),
    ("evaluate pairs in.jsonl --truth pairs.tsv -o out", "open pairs.tsv", SIGNALS[:1]),
    *(
        (line, "import sqlite3", SIGNALS[:1])
        for line in ("index create n.db", "index query n.db text", "serve --index n.db")
    ),
]


@pytest.fixture
def inputs(here, files):  # noqa: ARG001
    """Write what the commands read, and return all names."""
    Path("a.txt").write_text(A, "utf-8")
    Path("b.txt").write_text(B, "utf-8")
    Path("pairs.tsv").write_text("id_a\tid_b\tlabel\na\tb\t0\na\tc\t1\n", "utf-8")
    return files()


@pytest.mark.parametrize(
    ("line", "moment", "number"),
    [(line, moment, n) for line, moment, actions in ENDED for n in actions if n in SIGNALS],
)
def test_interrupted_command_leaves_no_output(inputs, files, line, moment, number):
    assert run_interrupted(moment, number, *line.split()) == (128 + number, MESSAGE)
    assert files() == inputs


@pytest.mark.parametrize(
    ("line", "moment"),
    [(line, moment) for line, moment, actions in ENDED if signal.SIGKILL in actions],
)
def test_killed_command_leaves_no_output_and_the_next_one_writes_all(inputs, files, line, moment):
    code, _ = run_interrupted(moment, signal.SIGKILL, *line.split())
    assert code == -signal.SIGKILL
    assert [name for name in files() if not name.startswith(".")] == inputs
    outputs = [word for word in line.split()[2:] if "." in word]
    written = []
    for _ in range(2):
        done = forks.run(forks.run_command, *line.split(), environment=environment())
        assert done.returncode == 0, done.stderr
        # Not even a part of what the killed command had begun.
        assert files() == sorted([*inputs, *outputs])
        written.append([Path(name).read_bytes() for name in outputs])
        for name in outputs:
            Path(name).unlink()
    assert all(written[0])
    assert written[0] == written[1]


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("name", ["out.jsonl", "removed.jsonl"])
def test_interrupt_while_outputs_get_their_names_comes_too_late(files, name):
    code, errors = run_interrupted(f"rename {name}", signal.SIGINT, *DEDUP.split(), "-q")
    assert (code, errors) == (0, "")
    assert files() == ["in.jsonl", "out.jsonl", "removed.jsonl"]


@pytest.mark.skipif(os.name != "posix", reason="nohup is of POSIX")
@pytest.mark.usefixtures("here")
def test_signal_ignored_from_the_start_stays_ignored(files):
    """As `nohup` does it."""
    result = run_interrupted(
        *("open .out.jsonl", signal.SIGHUP, *DEDUP.split(), "-q"),
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN),
    )
    assert result == (0, "")
    assert files() == ["in.jsonl", "out.jsonl", "removed.jsonl"]


def test_library_keeps_its_signals():
    """Importing the package, also in a program of that name, changes no handler."""
    program = (
        "import signal, sys; before = signal.getsignal(signal.SIGTERM); sys.argv = ['{}'];"
        " import neardup; assert signal.getsignal(signal.SIGTERM) is before"
    )
    for name in ("-c", "-m", "other", "/usr/bin/neardup"):
        subprocess.run([sys.executable, "-c", program.format(name)], check=True, env=environment())


def run_with_little_space(size, *words):
    """Files that may not grow are as good as a disk that is full."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    forks.run_command(*words)


@pytest.mark.parametrize(
    "name", ["jsonl", "jsonl.gz", "csv.zst", "jsonl.xz", "tsv.bz2", "parquet", "arrow"]
)
@pytest.mark.usefixtures("here")
def test_full_disk_leaves_no_output(files, name):
    rng = random.Random(1)
    rows = (json.dumps({"text": rng.randbytes(500).hex()}) + "\n" for _ in range(1000))
    Path("large.jsonl").write_text("".join(rows))
    before, words = files(), ("dedup", "large.jsonl", "-o", f"o.{name}", "-q")
    done = forks.run(run_with_little_space, 100_000, *words, environment=environment())
    said = f"neardup: o.{name}: cannot be written: File too large. No output was changed."
    assert (done.returncode, said in done.stderr.decode().splitlines()) == (2, True), done.stderr
    assert files() == before
