"""Hostile inputs, made from a seed and tried in a process of their own.

A target is a pair of functions: one makes an input from a random generator, the other tries it
and raises only what users may see. The process has a limit of memory, and a limit of time for
each input. A panic, a hang, an abort or an unexpected exception becomes a `Failure` that names the
input; the rest of the inputs is tried all the same. Input 117 of seed 0 is always the same one.
"""

import faulthandler
import importlib
import os
import random
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.forks import Fork

#: Seconds for one input. All take milliseconds: only what never ends takes so long.
PATIENCE = 120

#: Instead of a number before the first input.
_NOT_YET = 2**64 - 1

#: Bytes of address space. Libraries and stacks of threads take a third of them.
MEMORY = 24 << 30

#: Where the targets are.
_MODULES = ("file_inputs",)


@dataclass(frozen=True)
class Target:
    """What is tried: `make` an input, `attempt` it. The errors `expected` are answers."""

    make: Callable[[random.Random], Any]
    attempt: Callable[[Any], None]
    expected: tuple[type[BaseException], ...]


@dataclass(frozen=True)
class Failure:
    """An input that broke the program, and how."""

    target: str
    seed: int
    number: int
    happened: str

    def __str__(self) -> str:
        again = f"python tests/faults/run.py --only {self.target} --seed {self.seed}"
        return f"{again} --example {self.number}\n{self.happened}"


@dataclass(frozen=True)
class Report:
    """How many inputs were tried, in how many seconds, and what failed."""

    inputs: int
    seconds: float
    failures: tuple[Failure, ...]


def targets() -> dict[str, Target]:
    """All targets by name."""
    modules = [importlib.import_module(f"tests.faults.{name}") for name in _MODULES]
    return {name: target for module in modules for name, target in module.TARGETS.items()}


def fuzz(
    name: str,
    *,
    seed: int = 0,
    first: int = 0,
    examples: int | None = None,
    seconds: float | None = None,
    most: int = 5,
) -> Report:
    """Try inputs of a target until one of the limits is reached, or `most` inputs have failed."""
    began = time.monotonic()
    failures: list[Failure] = []
    number = first
    last = sys.maxsize if examples is None else first + examples
    until = float("inf") if seconds is None else began + seconds
    while number < last and len(failures) < most and (left := until - time.monotonic()) > 0:
        reached, happened = _run(name, seed, number, last, left)
        number = reached + 1
        if happened is None:
            break
        failures.append(Failure(name, seed, reached, happened))
    return Report(number - first, time.monotonic() - began, tuple(failures))


def _run(name: str, seed: int, first: int, last: int, seconds: float) -> tuple[int, str | None]:
    """Return the number of the last input that was tried, and what happened if it failed."""
    with tempfile.TemporaryDirectory(prefix="neardup-fuzz-") as folder:
        note = Path(folder, "input")
        note.write_bytes(_NOT_YET.to_bytes(8, "little"))
        told = Path(folder, "errors")
        process = Fork(
            *(_main, name, seed, first, last, seconds),
            folder=Path(folder),
            stdout=Path(os.devnull),
            stderr=told,
            environment={"RUST_BACKTRACE": "0"},
        )
        try:
            code = process.wait()
        finally:
            process.kill()
        number = int.from_bytes(note.read_bytes()[:8], "little")
        if code == 0:
            return (first - 1 if number == _NOT_YET else number), None
        shown = told.read_text("utf-8", "replace")
        if number == _NOT_YET:
            raise RuntimeError(f"the process did not begin: {shown}")
        lines = [f"exit code {code}", *shown.splitlines()[-60:]]
        with_input = Path(folder, "shown")
        if with_input.exists():
            lines.append("input: " + with_input.read_text("utf-8", "replace"))
        return number, "\n".join(lines)


def _try(target: Target, name: str, seed: int, numbers: Iterator[int], until: float) -> None:
    """Try inputs in this process; end with an exception on the first that fails."""
    import mmap

    folder = Path.cwd()
    with Path(folder, "input").open("r+b") as file:
        note = mmap.mmap(file.fileno(), 8)
    work = Path(folder, "work")
    for number in numbers:
        if time.monotonic() > until:
            return
        note[:8] = number.to_bytes(8, "little")
        faulthandler.dump_traceback_later(PATIENCE, exit=True)
        work.mkdir(exist_ok=True)
        os.chdir(work)
        made = target.make(random.Random(f"{name}/{seed}/{number}"))
        try:
            target.attempt(made)
        except target.expected as error:
            if not str(error):
                raise
        except BaseException:
            Path(folder, "shown").write_text(repr(made)[:4000], "utf-8", "replace")
            raise
        faulthandler.cancel_dump_traceback_later()


def _main(name: str, seed: int, first: int, last: int, seconds: float) -> None:
    faulthandler.enable()
    target = targets()[name]
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _try(target, name, seed, iter(range(first, last)), time.monotonic() + seconds)
