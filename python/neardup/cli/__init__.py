"""The command line: a thin file for each command, without algorithms.

A command maps its arguments to the public functions and their errors to exit codes. 0 is done; 1 is
done and duplicates were found (only with ``--fail-on-duplicates``). 2 is an error, also a partial
one; 128 + the signal's number follows an interrupt. Results go to standard output or to the named
files, everything else to standard error.
"""

import errno
import os
import sys
from typing import Any

from neardup.base import interrupt, messages
from neardup.base.messages import Message, system_words
from neardup.cli.commands import map_flags
from neardup.cli.parser import read_words
from neardup.cli.terminal import (
    choose_flags,
    choose_language,
    end_with_problems,
    print_message,
    print_note,
    printed_problems,
)
from neardup.exceptions import NeardupError


def main() -> int:
    """Run the command line, and return the exit code."""
    # Until the words name another.
    choose_language(None)
    messages.announce = print_note
    printed_problems.clear()
    files, values, code = _count_files(), dict[str, Any](), 0
    try:
        run, values = read_words(sys.argv[1:])
        choose_flags(map_flags(run))
        interrupt.raise_interrupts()
        run(**values)
        sys.stdout.flush()
        if printed_problems:
            end_with_problems()
    except BaseException as error:
        interrupt.restore()
        code = _report_error(error)
        writes = values.get("output") not in (None, "-")
        if code == 2 and writes and not isinstance(error, SystemExit):
            if files := _count_files() - files:
                print_message(
                    Message.counted(
                        "1 file was complete before the error.",
                        "{count:,} files were complete before the error.",
                        count=files,
                    )
                )
            else:
                print_message(Message("no output was written."))
    finally:
        interrupt.restore()
    try:
        # What was printed but not yet written may fail too.
        sys.stdout.flush()
    except OSError as error:
        code = _report_error(error) or code
    return code


def _tell_out_of_memory() -> None:
    print_message(
        Message(
            "out of memory; no output was left half-written. Raise the memory limit (ulimit -v), "
            "close other programs, or process less data at once."
        )
    )


def tell_last_words() -> None:
    """Tell that memory ran out where no exception can, and remove what is half-written."""
    _tell_out_of_memory()
    sinks = sys.modules.get("neardup.writers.sink")
    if sinks is not None:
        sinks.remove_temporaries()


def _report_error(error: BaseException) -> int:
    """Print an error in one line, and return its exit code."""
    if isinstance(error, SystemExit):
        return error.code if isinstance(error.code, int) else 0
    if isinstance(error, KeyboardInterrupt) or interrupt.has_arrived():
        # A library may turn the interrupt into another error: NumPy, while it is
        # imported, makes an ImportError of it.
        if isinstance(error, interrupt.CommandInterrupt):
            print_message(
                Message(
                    "interrupted; no output was left half-written. {details}", details=error.args[0]
                )
            )
        else:
            print_message(Message("interrupted; no output was left half-written."))
        return interrupt.exit_code()
    if isinstance(error, BrokenPipeError):
        # The reader of the output has seen enough.
        _discard_output()
        return 0
    if isinstance(error, NeardupError):
        print_message(error)
    elif isinstance(error, OSError) and error.errno == errno.ENAMETOOLONG and error.filename:
        # Each look at a path may fail so, also where only its existence is asked for.
        from neardup.readers.batch import show

        print_message(
            Message("{file}: {reason}.", file=show(error.filename), reason=system_words(error))
        )
    elif isinstance(error, OSError) and error.filename is None:
        # Errors of files are handled where they are opened: this one is of standard output.
        _discard_output()
        print_message(
            Message("standard output: cannot be written: {error}.", error=system_words(error))
        )
    elif isinstance(error, MemoryError) or "failed to map segment" in str(error):
        # The second is what the loader says of a library that does not fit.
        _tell_out_of_memory()
    else:
        # A bug. Python's own code for it, 1, means that duplicates were found.
        sys.excepthook(type(error), error, error.__traceback__)
    return 2


def _discard_output() -> None:
    # Otherwise Python reports the error again when it flushes at exit.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _count_files() -> int:
    """Return how many outputs this process has completed."""
    writers = sys.modules.get("neardup.writers.output")
    return 0 if writers is None else int(writers.committed)
