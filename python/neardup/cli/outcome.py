"""How a command ends: one line on standard error, and the right exit code."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable

import typer


def reported(run: Callable[..., None]) -> Callable[..., None]:
    """Wrap a command so that whatever ends it becomes a line and a code.

    Typer has codes of its own for an interrupt and for a closed pipe, so these
    are met here, before it sees them.
    """

    @functools.wraps(run)
    def wrapped(*arguments: object, **options: object) -> None:
        from neardup.exceptions import NeardupError

        try:
            run(*arguments, **options)
            sys.stdout.flush()
        except BrokenPipeError:
            # Whoever read the output has seen enough.
            _discard_output()
        except NeardupError as error:
            _fail(str(error))
        except OSError as error:
            # Files are met where they are opened, so what is left is what is printed.
            if error.filename is not None:
                raise
            _discard_output()
            _fail(f"standard output: cannot be written: {error.strerror or error}.")
        except KeyboardInterrupt:
            _fail("interrupted; no output was left half-written.")
        except MemoryError:
            _fail("out of memory; no output was left half-written.")

    return wrapped


def _discard_output() -> None:
    # Python would complain once more when it flushes at exit.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fail(line: str) -> None:
    print(f"neardup: {line}", file=sys.stderr)
    raise typer.Exit(2)
