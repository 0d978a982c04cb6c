"""The command in a process that interrupts itself at a named moment.

A moment is an event of the process and not a time, so no test depends on the machine:
``import NAME`` (the first import of a module), ``open NAME`` (a file whose name begins so),
``stage N`` (the N-th stage begins), ``advance N`` (the N-th report that documents are done),
``rename NAME`` (a file gets that name).
"""

import subprocess
import sys

from tests.cli.conftest import environment

MESSAGE = "neardup: interrupted; no output was left half-written.\n"

_PROGRAM = """
import os, runpy, sys

kind, name, number = sys.argv[1].partition(" ")[0], sys.argv[1].partition(" ")[2], int(sys.argv[2])
del sys.argv[:3]
moments = 0

def interrupt(wanted=1):
    global moments
    moments += 1
    if moments == wanted:
        os.kill(os.getpid(), number)

def watch(event, arguments):
    if event == kind == "import" and arguments[0] == name:
        interrupt()
    elif event == kind == "open" and isinstance(arguments[0], (str, bytes)):
        if os.path.basename(os.fsdecode(arguments[0])).startswith(name):
            interrupt()
    elif kind == "rename" and event in ("os.rename", "os.link"):
        if os.path.basename(os.fsdecode(arguments[1])) == name:
            interrupt()

if kind in ("stage", "advance"):
    from neardup.cli.watch import Watch

    original = getattr(Watch, kind)

    def counted(self, *arguments):
        original(self, *arguments)
        interrupt(int(name))

    setattr(Watch, kind, counted)

sys.addaudithook(watch)
runpy.run_module("neardup", run_name="__main__")
"""


def run_interrupted(moment, number, *arguments, **options):
    """Return exit code and standard error of a command that is interrupted at a moment."""
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM, moment, str(int(number)), "neardup", *arguments],
        capture_output=True,
        timeout=300,
        env=environment(),
        **options,
    )
    return done.returncode, done.stderr.decode()
