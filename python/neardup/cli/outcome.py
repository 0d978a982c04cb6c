"""How a command ends: one line on standard error, and the right exit code."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable
from typing import Any, cast

from neardup._engine import interrupt, messages
from neardup._engine.messages import Message, system_words
from neardup.cli.options import flags_of, typer_signature_of
from neardup.cli.terminal import choose_flags, tell, tell_note


def reported(run: Callable[..., None]) -> Callable[..., None]:
    """Wrap a command so that every error becomes one line and an exit code.

    Interrupts and closed pipes are caught here because Typer has exit codes of its
    own for them.
    """

    @functools.wraps(run)
    def wrapped(*arguments: object, **options: object) -> None:
        choose_flags(functools.cache(lambda: flags_of(run)))
        messages.announce = tell_note
        try:
            interrupt.raise_interrupts()
            run(*arguments, **options)
            # It is None if the caller closed it.
            if sys.stdout is not None:
                sys.stdout.flush()
        except BaseException as error:
            interrupt.restore()
            _report(error)
        finally:
            interrupt.restore()

    return wrapped


def typer_command(run: Callable[..., None]) -> Callable[..., None]:
    """Return a command for Typer: reported, with the signature that Typer reads."""
    command: Any = reported(run)
    command.__signature__ = typer_signature_of(run)
    return cast(Callable[..., None], command)


def _report(error: BaseException) -> None:
    """Print an error in one line and exit with its code; raise it again if it is a bug."""
    from neardup.exceptions import NeardupError

    if isinstance(error, KeyboardInterrupt) or (
        interrupt.arrived() and not isinstance(error, SystemExit)
    ):
        # A library may turn the interrupt into another error: NumPy, while it is
        # imported, makes an ImportError of it.
        details = error.args[0] if isinstance(error, interrupt.Interrupted) else None
        code = "cli.interrupted" if details is None else "cli.interrupted_after"
        _exit(Message(code, details=details), interrupt.exit_code())
    if isinstance(error, BrokenPipeError):
        # The reader of the output has seen enough.
        _discard_output()
        return
    if isinstance(error, NeardupError):
        _exit(error)
    if isinstance(error, OSError) and error.filename is None:
        # Errors of files are handled where they are opened: this one is of standard output.
        _discard_output()
        _exit(Message("cli.stdout_failed", error=system_words(error)))
    if isinstance(error, MemoryError):
        _exit(Message("cli.out_of_memory"))
    raise error


def _discard_output() -> None:
    # Otherwise Python reports the error again when it flushes at exit.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _exit(said: object, code: int = 2) -> None:
    tell(said)
    raise SystemExit(code) from None
