"""Runs parts of a check as separate processes with limits."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

__all__ = ["ProcessResult", "run_in_sandbox"]

#: Seconds between two looks at a running process.
_TURN = 0.02

#: Only these variables are passed on: an environment may contain passwords.
_ENVIRONMENT = ("PATH", "LANG", "LC_ALL", "TMPDIR", "TEMP", "SYSTEMROOT", "LD_LIBRARY_PATH")


@dataclass(frozen=True)
class ProcessResult:
    """How a process ended.

    Parameters
    ----------
    code : int or None
        Its exit code, or the negative number of the signal that ended it; None if its time was up.
    output : bytes
        What it wrote to standard output.
    where : str
        Where in the source it failed, if known. Not the message, which may quote a paper.
    """

    code: int | None
    output: bytes
    where: str


def run_in_sandbox(
    program: str,
    arguments: Sequence[str],
    given: IO[bytes],
    *,
    seconds: float,
    look: Callable[[], None],
) -> ProcessResult:
    """Run one of the programs of this folder.

    Parameters
    ----------
    program : str
        File name of the program. It runs as a script, so that nothing else of the service is
        loaded.
    arguments : sequence of str
        Arguments of the program; all users of the machine can see them.
    given : binary file
        Standard input of the program, from the beginning; must have a file descriptor.
    seconds : float
        Longest time, in seconds.
    look : callable
        Called repeatedly meanwhile; an exception that it raises ends the process.
    """
    environment = {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}
    environment["PYTHONUTF8"] = "1"
    # The other process finds the package where this one does.
    environment["PYTHONPATH"] = os.pathsep.join(os.path.abspath(one) for one in sys.path if one)
    given.seek(0)
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as said:
        process = subprocess.Popen(
            [sys.executable, "-P", str(Path(__file__).with_name(program)), *arguments],
            stdin=given,
            stdout=output,
            stderr=said,
            env=environment,
            # Ctrl-C in a terminal goes only to the service, which finishes running checks.
            start_new_session=True,
        )
        try:
            code = _wait(process, seconds, look)
        finally:
            process.kill()
            process.wait()
        output.seek(0)
        said.seek(0)
        return ProcessResult(code, output.read(), _where(said.read()))


def _wait(process: subprocess.Popen[bytes], seconds: float, look: Callable[[], None]) -> int | None:
    end = time.monotonic() + seconds
    while True:
        try:
            return process.wait(_TURN)
        except subprocess.TimeoutExpired:
            if time.monotonic() > end:
                return None
        look()


def _where(said: bytes) -> str:
    lines = said[-20_000:].decode("utf-8", "replace").splitlines()
    return next((line.strip() for line in reversed(lines) if line.startswith("  File ")), "")
