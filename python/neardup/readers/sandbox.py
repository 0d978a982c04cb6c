"""Runs any program of the package as a separate process: stoppable, with a bare environment.

`sandboxed_reader` is the program that reads a file; the service also renders reports in such a
process.

A process that reads what strangers send also limits its own memory and time: `limit_process`.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, NoReturn, Self

#: Seconds between two looks at a running process.
_TURN = 0.02

#: Only these variables are passed on: an environment may contain passwords.
_ENVIRONMENT = ("PATH", "LANG", "LC_ALL", "TMPDIR", "TEMP", "SYSTEMROOT", "LD_LIBRARY_PATH")


@dataclass(frozen=True)
class ProcessResult:
    """The end of a process, and its standard output."""

    #: The exit code, or the negative number of the signal; None if its time was up.
    code: int | None
    output: bytes
    #: Where in the source it failed, if known. Not the message, which may quote a text.
    place: str


def run_in_sandbox(
    program: Path,
    arguments: Sequence[str],
    source: IO[bytes],
    *,
    seconds: float,
    look: Callable[[], None],
) -> ProcessResult:
    """Run a Python file as a script, which loads no packages around it, with `source` as its input.

    All users of the machine can see the arguments. An exception of `look` ends the process.
    """
    source.seek(0)
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        process = _start(program, arguments, source, output, errors)
        try:
            code = _wait(process, seconds, look)
        finally:
            process.kill()
            process.wait()
        output.seek(0)
        errors.seek(0)
        return ProcessResult(code, output.read(), _find_place(errors.read()))


class ExchangeEndedError(Exception):
    """The other process of an exchange ended; the text is its exit code and place."""


class Exchange:
    """A Python file as a script that exchanges pickled objects with this process.

    `look` is called again and again in a separate thread. An exception of it ends the process at
    once, and the next call of `send` or `receive` raises it. The other process calls
    `open_other_side`.
    """

    def __init__(self, program: Path, look: Callable[[], None]) -> None:
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115
        self._process = _start(program, (), subprocess.PIPE, subprocess.PIPE, self._errors)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._to, self._from = self._process.stdin, self._process.stdout
        self._raised: BaseException | None = None
        self._ends = threading.Event()
        self._watch = threading.Thread(target=self._look, args=(look,), daemon=True)
        self._watch.start()

    def _look(self, look: Callable[[], None]) -> None:
        while not self._ends.wait(_TURN):
            try:
                look()
            except BaseException as error:
                self._raised = error
                self._process.kill()
                return

    def send(self, message: object) -> None:
        """Send an object."""
        try:
            pickle.dump(message, self._to)
            self._to.flush()
        except OSError:
            self._fail()

    def receive(self) -> Any:
        """Return the next object that the other process sends."""
        try:
            return pickle.load(self._from)
        except (EOFError, OSError, pickle.UnpicklingError):
            self._fail()

    def _fail(self) -> NoReturn:
        self.close()
        if self._raised is not None:
            raise self._raised
        self._errors.seek(0)
        code, place = self._process.poll(), _find_place(self._errors.read())
        raise ExchangeEndedError(f"{code}. {place}")

    def close(self) -> None:
        """End the other process."""
        self._ends.set()
        self._watch.join()
        self._process.kill()
        self._process.wait()
        for file in (self._to, self._from):
            # The other process loses all that it has not read.
            with contextlib.suppress(OSError):
                file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()
        self._errors.close()


def open_other_side() -> tuple[Callable[[], Any], Callable[[object], None]]:
    """Return the calls that receive and send objects, in the process of an `Exchange`."""
    source, output = os.fdopen(0, "rb", closefd=False), os.fdopen(os.dup(1), "wb")
    # Output of a library is not a message.
    os.dup2(2, 1)

    def send(message: object) -> None:
        pickle.dump(message, output)
        output.flush()

    return lambda: pickle.load(source), send


def _start(
    program: Path,
    arguments: Sequence[str],
    source: IO[bytes] | int,
    output: IO[bytes] | int,
    errors: IO[bytes],
) -> subprocess.Popen[bytes]:
    environment = {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}
    environment["PYTHONUTF8"] = "1"
    # The other process finds the package where this one does.
    environment["PYTHONPATH"] = os.pathsep.join(os.path.abspath(path) for path in sys.path if path)
    return subprocess.Popen(
        [sys.executable, "-P", str(program), *arguments],
        stdin=source,
        stdout=output,
        stderr=errors,
        env=environment,
        # Ctrl-C in a terminal goes only to the caller, which decides what it ends.
        start_new_session=True,
    )


def _wait(process: subprocess.Popen[bytes], seconds: float, look: Callable[[], None]) -> int | None:
    end = time.monotonic() + seconds
    while True:
        try:
            return process.wait(_TURN)
        except subprocess.TimeoutExpired:
            if time.monotonic() > end:
                return None
        look()


def _find_place(errors: bytes) -> str:
    lines = errors[-20_000:].decode("utf-8", "replace").splitlines()
    return next((line.strip() for line in reversed(lines) if line.startswith("  File ")), "")


def limit_process(seconds: float, memory: int) -> None:
    """Let the system end this process after `seconds`, or (on Linux) `memory` more bytes."""
    if hasattr(os, "nice"):
        # Requests have priority over this process.
        os.nice(5)
    # If the service itself is killed, nothing else ends this process.
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        import resource
    except ImportError:
        return
    # The limit excludes what the interpreter and its libraries have mapped so far.
    limits = {
        resource.RLIMIT_AS: _measure_mapped() + memory,
        resource.RLIMIT_CPU: int(seconds) + 1,
        resource.RLIMIT_CORE: 0,
        # The process writes its result to standard output and opens only files of its libraries.
        resource.RLIMIT_FSIZE: memory,
        resource.RLIMIT_NOFILE: 64,
    }
    for limit, wanted in limits.items():
        _, hard = resource.getrlimit(limit)
        wanted = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        # A system may define a limit without supporting it, as macOS does with RLIMIT_AS.
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(limit, (wanted, wanted))


def _measure_mapped() -> int:
    """Return the address space in use, in bytes; 0 if unknown."""
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0
