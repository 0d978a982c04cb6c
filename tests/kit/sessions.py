"""Console sessions of pages: commands after ``$``, and what they print."""

import doctest
import re
import shlex
import subprocess
import sys
from pathlib import Path

from tests import forks
from tests.conftest import ROOT

EXAMPLES = ROOT / "examples"
COMMAND = re.compile(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
#: Characters that a shell does not pass on, apart from quotation marks.
_FOR_A_SHELL = re.compile(r"[|;&<>$`*?(){}\\]")
_FUNCTION = f'neardup() {{ "{sys.executable}" -m neardup "$@"; }}; '


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
            given = ["bash", "-c", _FUNCTION + command]
            done = subprocess.run(given, cwd=self._folder, stdout=subprocess.PIPE, timeout=120)
            printed = done.stdout
        self._code = done.returncode
        return printed.decode()


def is_same(expected: str, printed: str) -> bool:
    """Return whether a command printed what a page says; ``...`` in the page is any text."""
    return doctest.OutputChecker().check_output(expected, printed, doctest.ELLIPSIS)
