"""The command line: one file per command, without algorithms.

A command maps its arguments to the public functions and their errors to exit
codes: 0 done, 1 done and duplicates were found (only with ``--fail-on-duplicates``),
2 an error, also a partial one, 128 + the signal's number after an interrupt. Results
go to standard output or to the named files, everything else to standard error.
"""

from __future__ import annotations

import sys
from importlib import import_module

#: The commands that are read without Typer if nothing is unusual: the rest are groups of
#: commands, need Typer themselves, or import packages that take far longer to load.
PLAIN = (
    "dedup",
    "pairs",
    "sketch",
    "contamination",
    "repeats",
    "explain",
    "fingerprint",
    "plan",
    "recipes",
    "idf",
)


def main() -> None:
    """Run the command line and exit with its code."""
    words = sys.argv[1:]
    if words == ["--version"]:
        from neardup.base import __version__

        print(f"neardup {__version__}")
        return
    from neardup.cli.terminal import choose_language

    # Until the words name another.
    choose_language(None)
    if words and words[0] in PLAIN and _run_plain(*words):
        return
    from neardup.cli.program import run

    sys.exit(run())


def _run_plain(name: str, *words: str) -> bool:
    """Run a command unless Typer has to read its words; return whether it was run."""
    from neardup.cli.flags import plain_values
    from neardup.cli.options import signature_of
    from neardup.cli.outcome import reported

    command = import_module(f"neardup.cli.{name}")
    if command.NEEDS_ARGUMENTS and not words:
        return False
    values = plain_values(signature_of(command.run), list(words))
    if values is None:
        return False
    reported(command.run)(**values)
    return True
