"""Console sessions of pages: commands after ``$``, and what they print."""

import contextlib
import doctest
import os
import re
import shlex
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests import forks
from tests.conftest import ROOT

EXAMPLES = ROOT / "examples"
COMMAND = re.compile(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
#: Characters that a shell does not pass on, apart from quotation marks.
_FOR_A_SHELL = re.compile(r"[|;&<>$`*?(){}\\]")
#: A command whose variables are set runs in another process.
_SETS_A_VARIABLE = re.compile(r"[A-Z_]+=")
_PROCESS = f'neardup() {{ "{sys.executable}" -m neardup "$@"; }}; '
#: Any other command in a line for a shell asks the test to run it in a fork, with the streams that
#: the shell made for it. It waits for the exit code.
_FORK = """
neardup() {
    local code call="$CALLS/$BASHPID"
    mkfifo "$call.code"
    printf '%s\\0' "$BASHPID" "$PWD" "$@" > "$call.arguments"
    echo "$call" > "$CALLS/requests"
    read -r code < "$call.code"
    rm "$call.code"
    return "$code"
}
"""


class Session:
    """Commands that run in one folder, one after the other. ``echo $?`` prints the exit code.

    A command of neardup alone runs in a fork, since a new interpreter takes half a second.
    """

    def __init__(self, folder: Path) -> None:
        (folder / "examples").symlink_to(EXAMPLES)
        self._folder = folder
        self._code = 0

    def run(self, command: str) -> str:
        if command == "echo $?":
            return f"{self._code}\n"
        words = command.removesuffix(" 2>&1")
        if words.startswith("neardup ") and not _FOR_A_SHELL.search(words):
            arguments = shlex.split(words)[1:]
            done = forks.run(forks.run_command, *arguments, folder=self._folder, seconds=120)
            printed = done.stdout + (done.stderr if words != command else b"")
        else:
            with tempfile.TemporaryDirectory() as calls, _answering(Path(calls)):
                function = _PROCESS if _SETS_A_VARIABLE.match(command) else _FORK
                done = subprocess.run(
                    ["bash", "-c", function + command],
                    cwd=self._folder,
                    env=os.environ | {"CALLS": calls},
                    stdout=subprocess.PIPE,
                    timeout=120,
                )
            printed = done.stdout
        self._code = done.returncode
        return printed.decode()


@contextlib.contextmanager
def _answering(calls: Path) -> Iterator[None]:
    """Run the commands that a shell asks for."""
    requests = calls / "requests"
    os.mkfifo(requests)

    def answer(call: str) -> None:
        process, folder, *arguments = Path(f"{call}.arguments").read_text("utf-8").split("\0")[:-1]
        streams = (Path(f"/proc/{process}/fd/{number}") for number in range(3))
        named = dict(zip(("stdin", "stdout", "stderr"), streams, strict=True))
        done = forks.Fork(forks.run_command, *arguments, folder=Path(folder), **named)
        Path(f"{call}.code").write_text(f"{done.wait(120)}\n")

    # Both ends are open here, so the file does not end before the last request.
    with requests.open("r+b", buffering=0) as ends, ThreadPoolExecutor() as pool:

        def listen() -> None:
            with requests.open("rb", buffering=0) as lines:
                for line in iter(lines.readline, b"\n"):
                    pool.submit(answer, line.decode().strip())

        listening = threading.Thread(target=listen)
        listening.start()
        try:
            yield
        finally:
            ends.write(b"\n")
            listening.join()


def is_same(expected: str, printed: str) -> bool:
    """Return whether a command printed what a page says; ``...`` in the page is any text."""
    return doctest.OutputChecker().check_output(expected, printed, doctest.ELLIPSIS)
