"""Processes forked from one that has imported everything: a start takes milliseconds.

A new interpreter that imports the service takes two seconds of a processor. Such a fork has
its own signals, files, limits and memory like any other process; its interpreter is not new.
"""

import contextlib
import importlib
import multiprocessing.connection
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import neardup
from neardup.readers import sandbox

#: All forks of a process come from one server, so all that tests run in forks is listed here.
context = multiprocessing.get_context("forkserver")
context.set_forkserver_preload(
    [
        "tests.index.children",
        "tests.server.programs",
        # What is otherwise loaded where it is first used.
        "anyio._backends._asyncio",
        "jinja2",
        "neardup.cli",
        "neardup.index.engine",
        "neardup.readers.sandboxed_reader",
        "neardup.server.jobs.check_process",
        "pandas",
        "psycopg",
        "pytest",
        "sqlalchemy.dialects.sqlite",
    ]
)


class Fork:
    """A process that runs a function of a module, with the methods of `subprocess.Popen`.

    The result of the function is the exit code. Output is appended to `stdout` and `stderr`;
    without `stdin` there is no input. `environment` has variables that are set.
    """

    def __init__(
        self,
        function: Callable[..., int | None],
        *arguments: Any,
        stdout: Path,
        stderr: Path,
        stdin: Path = Path(os.devnull),
        folder: Path | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        streams = (stdin, stdout, stderr)
        run = (function, arguments, streams, folder or Path.cwd(), dict(environment or {}))
        self._process = context.Process(target=_run, args=run, daemon=True)
        self._process.start()
        # The exit code can be read once, by one thread.
        self._lock = threading.Lock()
        self.pid: int = self._process.pid

    def poll(self) -> int | None:
        """Return the exit code, None while it runs."""
        with self._lock:
            return self._process.exitcode

    def wait(self, timeout: float | None = None) -> int:
        """Return the exit code once there is one."""
        multiprocessing.connection.wait([self._process.sentinel], timeout)
        code = self.poll()
        if code is None:
            raise subprocess.TimeoutExpired(str(self._process), timeout)
        return code

    def send_signal(self, number: int) -> None:
        """Send a signal if it still runs."""
        with contextlib.suppress(ProcessLookupError):
            if self.poll() is None:
                os.kill(self.pid, number)

    def kill(self) -> None:
        """Kill it."""
        self._process.kill()


def run(
    function: Callable[..., int | None], *arguments: Any, seconds: float = 60, **options: Any
) -> subprocess.CompletedProcess[bytes]:
    """Run a function in a fork to its end, and capture its output; options are those of `Fork`."""
    with tempfile.TemporaryDirectory() as folder:
        outputs = {name: Path(folder, name) for name in ("stdout", "stderr")}
        process = Fork(function, *arguments, **(outputs | options))
        try:
            code = process.wait(seconds)
        finally:
            process.kill()
        printed = [path.read_bytes() if path.exists() else b"" for path in outputs.values()]
    return subprocess.CompletedProcess(arguments, code, *printed)


def run_program(program: str) -> None:
    """Run source code, as ``python -c`` does."""
    exec(program, {"__name__": "__main__"})


def run_command(*arguments: str) -> None:
    """Run the command line, as ``python -m neardup`` does."""
    from neardup.__main__ import main

    sys.argv = ["neardup", *arguments]
    main()


def run_script(program: str, *arguments: str) -> None:
    """Run a program of the package that is a script, given its file."""
    sys.argv = [program, *arguments]
    module = Path(program).relative_to(Path(neardup.__file__).parents[1]).with_suffix("")
    importlib.import_module(".".join(module.parts)).main()


def run_in_sandbox(
    program: Path,
    arguments: Sequence[str],
    source: IO[bytes],
    *,
    seconds: float,
    look: Callable[[], None],
) -> sandbox.ProcessResult:
    """Do what `neardup.readers.sandbox.run_in_sandbox` does, without a new interpreter."""
    source.seek(0)
    with tempfile.TemporaryDirectory() as folder:
        taken, output, errors = (Path(folder, name) for name in ("in", "out", "err"))
        taken.write_bytes(source.read())
        process = Fork(
            run_script, str(program), *arguments, stdin=taken, stdout=output, stderr=errors
        )
        try:
            code = sandbox._wait(process, seconds, look)
        finally:
            process.kill()
            process.wait()
        place = sandbox._find_place(errors.read_bytes())
        return sandbox.ProcessResult(code, output.read_bytes(), place)


class Exchange(sandbox.Exchange):
    """Does what `neardup.readers.sandbox.Exchange` does, without a new interpreter."""

    def _started(self, program: Path, errors: IO[bytes]) -> tuple[Any, IO[bytes], IO[bytes]]:
        log = Path(f"/proc/{os.getpid()}/fd/{errors.fileno()}")
        with tempfile.TemporaryDirectory() as folder:
            given, answers = Path(folder, "in"), Path(folder, "out")
            for pipe in (given, answers):
                os.mkfifo(pipe)
            process = Fork(run_script, str(program), stdin=given, stdout=answers, stderr=log)
            return process, given.open("wb"), answers.open("rb")


def _run(
    function: Callable[..., int | None],
    arguments: tuple[Any, ...],
    streams: tuple[Path, Path, Path],
    folder: Path,
    environment: dict[str, str],
) -> None:
    os.environ.update(environment)
    os.chdir(folder)
    append = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    for number, flags in enumerate((os.O_RDONLY, append, append)):
        opened = os.open(streams[number], flags, 0o600)
        os.dup2(opened, number)
        os.close(opened)
    # `multiprocessing` has closed the one that there was.
    sys.stdin = open(0, closefd=False)  # noqa: SIM115
    sys.exit(function(*arguments))
