"""Standard input and output, closed pipes, interrupts, and what an import costs."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.cli.conftest import LINES, environment


@pytest.mark.parametrize("process", [True, False])
def test_from_standard_input_to_standard_output(run, process):
    found = run("dedup", "-", "-o", "-", stdin=LINES.encode(), process=process)
    assert found.stdout == b"".join(LINES.encode().splitlines(keepends=True)[:2])
    found = run("pairs", "-", stdin=LINES.encode())
    assert len(found.out.splitlines()) == 2


def test_problems_of_standard_input_name_it(run):
    found = run("pairs", "-", stdin=b"oops\n", code=2)
    assert "record 1" in found.err
    assert found.out == ""


@pytest.mark.parametrize(
    "command",
    [["recipes", "general"], ["fingerprint", "many.jsonl"]],
)
@pytest.mark.usefixtures("here")
def test_a_closed_pipe_is_no_error(command):
    Path("many.jsonl").write_text(LINES * 3000, "utf-8")
    process = subprocess.Popen(
        [sys.executable, "-m", "neardup", *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    )
    process.stdout.read(1)
    process.stdout.close()
    errors = process.stderr.read().decode()
    process.stderr.close()
    assert process.wait(60) == 0, errors
    assert "Traceback" not in errors
    assert "BrokenPipe" not in errors


@pytest.mark.usefixtures("here")
def test_output_that_nobody_reads_at_all():
    reading, writing = os.pipe()
    os.close(reading)
    process = subprocess.run(
        [sys.executable, "-m", "neardup", "pairs", "in.jsonl"],
        stdout=writing,
        stderr=subprocess.PIPE,
        timeout=60,
        env=environment(),
    )
    os.close(writing)
    assert process.returncode == 0, process.stderr
    assert b"Traceback" not in process.stderr


@pytest.fixture
def interrupted(here):
    """Begin a run, interrupt it, return its exit code and errors."""
    with (here / "big.jsonl").open("w", encoding="utf-8") as lines:
        for at in range(120_000):
            text = "".join(chr(0x4E00 + (at * 7919 + i * i * 31) % 9000) for i in range(50))
            lines.write(json.dumps({"text": text}, ensure_ascii=False) + "\n")
    arguments = ["big.jsonl", "-o", "out.jsonl", "--removed", "removed.jsonl", "-r", "classic"]

    def run(seconds, number=signal.SIGINT):
        process = subprocess.Popen(
            [sys.executable, "-m", "neardup", "dedup", *arguments],
            stderr=subprocess.PIPE,
            env=environment(),
        )
        if seconds is None:
            while not any(path.name.startswith(".out") for path in here.iterdir()):
                assert process.poll() is None, "the run was over before it began"
                time.sleep(0.01)
        else:
            time.sleep(seconds)
        process.send_signal(number)
        errors = process.stderr.read().decode()
        process.stderr.close()
        return process.wait(30), errors

    return run


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [0.3, 0.6, 0.9, 1.2, 1.6])
def test_an_interrupt_leaves_all_or_nothing(interrupted, files, seconds):
    """On a fast machine the last moments may come after the end."""
    code, _ = interrupted(seconds)
    everything = ["big.jsonl", "in.jsonl", "out.jsonl", "removed.jsonl"]
    assert files() in (everything, ["big.jsonl", "in.jsonl"])
    assert code == 2 or files() == everything


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_says_so(interrupted, number):
    # Sent as soon as the output is open under its temporary name.
    code, errors = interrupted(None, number)
    assert "Traceback" not in errors
    assert errors == "neardup: interrupted; no output was left half-written.\n"
    assert code == 2


def modules_after(program):
    check = f"import sys; {program}; print(' '.join(sorted(sys.modules)))"
    found = subprocess.run(
        [sys.executable, "-c", check], capture_output=True, check=True, env=environment()
    )
    return set(found.stdout.decode().split())


HEAVY = {"numpy", "pyarrow", "pandas", "polars", "typer", "rich", "orjson", "neardup._core"}


def test_importing_loads_nothing_heavy():
    assert not modules_after("import neardup; neardup.dedup; neardup.load_recipe") & HEAVY


def test_the_recipes_need_nothing_heavy():
    """Listing recipes must not wait for tables and arrays."""
    assert not modules_after("import neardup; neardup.load_recipe('improved').id") & HEAVY


def test_help_loads_no_arrays():
    program = (
        "from typer.testing import CliRunner; from neardup.cli import app; "
        "CliRunner().invoke(app, ['dedup', '--help'])"
    )
    assert not modules_after(program) & {"numpy", "pyarrow", "neardup._core"}
