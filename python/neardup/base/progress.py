"""The callbacks of a run that lasts, and its costs: seconds of each stage, and the memory."""

from __future__ import annotations

import inspect
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from neardup.base.validation import bad

_CALLBACKS = ("stage", "advance", "note", "problem")


class Progress:
    """Progress callbacks of a run; the defaults do nothing."""

    def stage(
        self, name: str, documents: int | None, share: Callable[[], float] | None = None
    ) -> None:
        """Begin a stage over this many documents; None if the number is unknown.

        While files are read, `share` returns how much of their stored bytes was read, from 0 to 1.
        """

    def advance(self, documents: int, size: int = 0) -> None:
        """Report progress by this many documents, of `size` bytes."""

    def note(self, line: str) -> None:
        """Report a note, which is not a problem."""

    def problem(self, problem: Any) -> None:
        """Report a `Problem` in the input, of `problem.count` records."""


def share_of(*sources: Any) -> Callable[[], float] | None:
    """Return what says how much of the sources was read; None if none of them are files."""
    files = [source for source in sources if hasattr(source, "done")]
    size = max(1, sum(source.size for source in files))
    return (lambda: sum(source.done for source in files) / size) if files else None


def check_progress(value: Any) -> Progress:
    """Return callbacks; None stands for those that ignore everything."""
    if value is None:
        return Progress()
    has_all = all(callable(getattr(value, name, None)) for name in _CALLBACKS)
    if isinstance(value, type) or not has_all or not _accepts(value.stage, "read", None, None):
        raise bad(
            "progress",
            "an object with the methods stage(name, documents, share), "
            "advance(documents, size), note(line) and problem(problem), or None",
            value,
        )
    callbacks: Progress = value
    return callbacks


def _accepts(function: Callable[..., Any], *arguments: Any) -> bool:
    try:
        inspect.signature(function).bind(*arguments)
    except TypeError:
        return False
    except ValueError:
        # Of a compiled function, nothing is known.
        return True
    return True


class Clock:
    """Seconds since the start, and of each stage the seconds and the memory at its end."""

    def __init__(self) -> None:
        self._start = self._last = time.perf_counter()
        self.stages: dict[str, float] = {}
        self.stage_memory: dict[str, int] = {}

    def lap(self, name: str) -> None:
        """End a stage."""
        now = time.perf_counter()
        self.stages[name] = self.stages.get(name, 0.0) + now - self._last
        self.stage_memory[name] = peak_memory()
        self._last = now

    def seconds(self) -> float:
        """Return the seconds since the start."""
        return time.perf_counter() - self._start


def peak_memory() -> int:
    """Return the largest resident size of this process so far, in bytes; 0 if unknown."""
    try:
        # `getrusage` includes the size of a large parent at the fork.
        status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
        peak = re.search(r"^VmHWM:\s+([0-9]+) kB$", status, re.MULTILINE)
        if peak is not None:
            return int(peak[1]) * 1024
    except OSError:
        pass
    try:
        import resource
    except ImportError:
        return 0
    usage = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return usage if sys.platform == "darwin" else usage * 1024
