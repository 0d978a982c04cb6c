"""The command in a process that interrupts itself at a named moment.

A moment is an event of the process and not a time, so no test depends on the machine:
``import NAME`` (the first import of a module), ``open NAME`` (a file whose name begins so),
``stage N`` (the N-th stage begins), ``advance N`` (the N-th report that documents are done),
``rename NAME`` (a file gets that name).
"""

import os
import runpy
import subprocess
import sys

MESSAGE = "neardup: interrupted; no output was left half-written.\n"

_PROGRAM = """
import sys
from tests.cli.interrupted import run_until

run_until(sys.argv[1], int(sys.argv[2]), *sys.argv[3:])
"""


def run_until(moment, number, *arguments):
    """Run the command in this process, which gets a signal at a moment."""
    kind, _, name = moment.partition(" ")
    sys.argv = list(arguments)
    moments = 0

    def interrupt(wanted=1):
        nonlocal moments
        moments += 1
        if moments == wanted:
            os.kill(os.getpid(), number)

    def base(path):
        return os.path.basename(os.fsdecode(path))

    def watch(event, values):
        if event == kind == "import" and values[0] == name:
            interrupt()
        elif event == kind == "open":
            path = values[0]
            if isinstance(path, (str, bytes)) and base(path).startswith(name):
                interrupt()
        elif kind == "rename" and event in ("os.rename", "os.link") and base(values[1]) == name:
            interrupt()

    if kind in ("stage", "advance"):
        from neardup.cli.watch import Watch

        original = getattr(Watch, kind)

        def counted(self, *values):
            original(self, *values)
            interrupt(int(name))

        setattr(Watch, kind, counted)
    sys.addaudithook(watch)
    runpy.run_module("neardup", run_name="__main__")


def run_interrupted(moment, number, *arguments, **options):
    """Return exit code and standard error of a command that is interrupted at a moment.

    Imports are watched in a new interpreter, and so is what needs options of `subprocess.run`;
    for all else a fork has the same handlers of signals.
    """
    # Not where the command runs, which is to import as little as its users' does.
    from tests import forks
    from tests.cli.conftest import environment

    if options or moment.startswith("import "):
        done = subprocess.run(
            [sys.executable, "-c", _PROGRAM, moment, str(int(number)), "neardup", *arguments],
            capture_output=True,
            timeout=300,
            env=environment(),
            **options,
        )
    else:
        done = forks.run(
            run_until,
            *(moment, number, "neardup", *arguments),
            seconds=300,
            environment=environment(),
        )
    return done.returncode, done.stderr.decode()
