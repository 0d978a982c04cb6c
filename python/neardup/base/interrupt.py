"""Ctrl-C, SIGTERM and SIGHUP: the message and the exit code of an interrupted command.

Imported first, so it imports very little; only the command line installs the handlers. Inside the
body of a command they raise KeyboardInterrupt, so that outputs are removed; outside they end it.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable
from itertools import pairwise
from types import FrameType
from typing import Any, NoReturn

_MESSAGE = b"neardup: interrupted; no output was left half-written.\n"
_NAMES = ("SIGINT", "SIGTERM", "SIGHUP")

_arrived: int | None = None
_before: dict[int, Any] = {}

#: What the command does before `out_of_memory` ends it; None in another program.
last_words: Callable[[], None] | None = None


class CommandInterrupt(KeyboardInterrupt):
    """An interrupt of a command that stores in steps; its text tells what is stored."""


def is_command() -> bool:
    """Return whether this process is the command ``neardup``, or ``python -m neardup``."""
    program = (getattr(sys, "argv", None) or [""])[0]
    words = sys.orig_argv
    if program == "-m":
        # While Python searches for the module, its name is only in the original arguments.
        return any(
            option.startswith("-") and option.endswith("m") and name == "neardup"
            for option, name in pairwise(words)
        )
    # A child of `multiprocessing` has the program's name, but not in its original arguments.
    return program in words and os.path.splitext(os.path.basename(program))[0] == "neardup"


def end_at_once() -> None:
    """From now on, an interrupt ends the process with message and exit code, without cleanup."""
    _install(_end)


def raise_interrupts() -> None:
    """Until `restore` is called, an interrupt raises KeyboardInterrupt in the main thread."""
    global _arrived
    _arrived = None
    _before.update({number: signal.getsignal(number) for number in _find_signals()})
    _install(_raise)


def restore() -> None:
    """Restore the handlers that `raise_interrupts` replaced."""
    while _before:
        number, handler = _before.popitem()
        signal.signal(number, handler)


def has_arrived() -> bool:
    """Return whether an interrupt was raised since `raise_interrupts`."""
    return _arrived is not None


def exit_code() -> int:
    """Return the exit code of an interrupted command: 128 + the number of the signal."""
    return 128 + (_arrived or signal.SIGINT)


def out_of_memory() -> None:
    """End the command: called where the core cannot allocate memory and cannot go on."""
    if last_words is not None:
        try:
            last_words()
        finally:
            os._exit(2)


def _install(handler: Callable[[int, FrameType | None], Any]) -> None:
    for number in _find_signals():
        signal.signal(number, handler)


def _find_signals() -> list[int]:
    """Return the signals that this process handles."""
    if threading.current_thread() is not threading.main_thread():
        # Python lets only the main thread install handlers.
        return []
    numbers = [getattr(signal, name) for name in _NAMES if hasattr(signal, name)]
    # A signal that is ignored from the start, as under nohup, stays ignored.
    return [number for number in numbers if signal.getsignal(number) is not signal.SIG_IGN]


def _raise(number: int, frame: FrameType | None) -> NoReturn:  # noqa: ARG001
    global _arrived
    _arrived = number
    raise KeyboardInterrupt


def _end(number: int, frame: FrameType | None) -> NoReturn:  # noqa: ARG001
    global _arrived
    _arrived = _arrived or number
    try:
        os.write(2, _MESSAGE)
    finally:
        os._exit(exit_code())
