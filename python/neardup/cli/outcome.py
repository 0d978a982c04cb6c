"""How a command ends: one line on standard error, and the right exit code."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable
from typing import Any, NoReturn, cast

from neardup.base import interrupt, messages
from neardup.base.messages import Message, system_words
from neardup.cli.options import flags_of, typer_signature_of
from neardup.cli.terminal import choose_flags, tell, tell_note


def exit_code_of(run: Callable[[], None]) -> int:
    """Run the command line and return its exit code."""
    interrupt.last_words = _last_words
    code = _code_of(run)
    # What was printed but not yet written may fail too.
    return _code_of(sys.stdout.flush) or code


def _code_of(call: Callable[[], object]) -> int:
    try:
        call()
    except SystemExit as end:
        if isinstance(end.__context__, BrokenPipeError):
            # Rich and Typer end with 1.
            return 0
        return end.code if isinstance(end.code, int) else 0
    except BaseException as error:
        try:
            return _report(error)
        except BaseException:
            # A bug. Python's own code for it, 1, means that duplicates were found.
            sys.excepthook(*sys.exc_info())
            return 2
    return 0


def reported(run: Callable[..., None]) -> Callable[..., None]:
    """Wrap a command so that every error becomes one line and an exit code.

    Interrupts and closed pipes are caught here because Typer has exit codes of its
    own for them.
    """

    @functools.wraps(run)
    def wrapped(*arguments: object, **options: object) -> None:
        choose_flags(functools.cache(lambda: flags_of(run)))
        before = _files_written()
        messages.announce = tell_note
        try:
            interrupt.raise_interrupts()
            run(*arguments, **options)
            sys.stdout.flush()
        except BaseException as error:
            interrupt.restore()
            code = _report(error)
            if code == 2 and options.get("output") not in (None, "-"):
                files = _files_written() - before
                tell(Message("cli.files_written" if files else "cli.nothing_written", count=files))
            raise SystemExit(code) from None
        finally:
            interrupt.restore()

    return wrapped


def end_with_problems() -> NoReturn:
    """End a command that is done although some of its input could not be used."""
    tell(Message("cli.done_with_problems"))
    raise SystemExit(2)


def typer_command(run: Callable[..., None]) -> Callable[..., None]:
    """Return a command for Typer: reported, with the signature that Typer reads."""
    command: Any = reported(run)
    command.__signature__ = typer_signature_of(run)
    return cast(Callable[..., None], command)


def _report(error: BaseException) -> int:
    """Print an error in one line and return its exit code; raise it again if it is a bug."""
    from neardup.exceptions import NeardupError

    if isinstance(error, KeyboardInterrupt) or (
        interrupt.arrived() and not isinstance(error, SystemExit)
    ):
        # A library may turn the interrupt into another error: NumPy, while it is
        # imported, makes an ImportError of it.
        details = error.args[0] if isinstance(error, interrupt.Interrupted) else None
        code = "cli.interrupted" if details is None else "cli.interrupted_after"
        tell(Message(code, details=details))
        return interrupt.exit_code()
    if isinstance(error, BrokenPipeError):
        # The reader of the output has seen enough.
        _discard_output()
        return 0
    if isinstance(error, NeardupError):
        tell(error)
    elif isinstance(error, OSError) and error.filename is None:
        # Errors of files are handled where they are opened: this one is of standard output.
        _discard_output()
        tell(Message("cli.stdout_failed", error=system_words(error)))
    elif isinstance(error, MemoryError) or "failed to map segment" in str(error):
        # The second is what the loader says of a library that does not fit.
        tell(Message("cli.out_of_memory"))
    else:
        raise error
    return 2


def _last_words() -> None:
    """Tell that memory ran out where no exception can, and remove what is half-written."""
    tell(Message("cli.out_of_memory"))
    sinks = sys.modules.get("neardup.writers.sink")
    if sinks is not None:
        sinks.remove_temporaries()


def _discard_output() -> None:
    # Otherwise Python reports the error again when it flushes at exit.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _files_written() -> int:
    """Return how many outputs this process has completed."""
    writers = sys.modules.get("neardup.writers.output")
    return 0 if writers is None else int(writers.committed)
