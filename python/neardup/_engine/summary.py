"""The report of a run: its progress, and the numbers of the closing summary."""

from __future__ import annotations

import dataclasses
import inspect
import re
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neardup._engine import __version__
from neardup._engine.messages import Message
from neardup._engine.validation import bad

if TYPE_CHECKING:
    from neardup.readers import Problem

#: Fewer documents are not worth a note.
_WORTH_TELLING = 10_000


@dataclass
class Summary:
    """Counts and costs of one run.

    Parameters
    ----------
    task : str
        ``dedup``, ``pairs`` or ``sketch``.
    read : int
        Records of the input.
    against : int
        Records of the other collection, which are not counted in `read`.
    unreadable : int
        Records without a usable text.
    exact_duplicates, near_duplicates : int
        Records dropped because the text is identical, or similar.
    kept : int
        Kept records, with unreadable ones if they were kept.
    left_out : int
        Kept records that cannot be written in the output's format.
    pairs : int
        Pairs reported, for ``pairs``.
    problems : int
        Problems in the input.
    visited : int
        Entries of posting lists met in all look-ups.
    candidates : int
        Pairs whose similarity was computed.
    verified : int
        Candidate pairs found similar.
    without_features : int
        Readable records whose text has no features, such as empty ones.
    largest_cluster : int
        Size of the largest cluster, with its kept document; 0 for `pairs`.
    closed_lists : int
        Posting lists that were full and left documents out.
    unlisted : int
        Documents that at least one full list left out.
    unlisted_pairs : int
        At most how many pairs of documents the same full list left out: they are compared only
        if they share other keys.
    largest_form : int
        Documents with the most frequent key of a sample: how many share a template.
    bytes_read : int
        Uncompressed bytes of input.
    seconds : float
    peak_memory : int
        Largest resident size of the process so far, in bytes.
    stages : dict of str to float
        Seconds of each part of the run.
    """

    task: str
    read: int = 0
    against: int = 0
    unreadable: int = 0
    exact_duplicates: int = 0
    near_duplicates: int = 0
    kept: int = 0
    left_out: int = 0
    pairs: int = 0
    problems: int = 0
    visited: int = 0
    candidates: int = 0
    verified: int = 0
    without_features: int = 0
    largest_cluster: int = 0
    closed_lists: int = 0
    unlisted: int = 0
    unlisted_pairs: int = 0
    largest_form: int = 0
    bytes_read: int = 0
    seconds: float = 0.0
    peak_memory: int = 0
    stages: dict[str, float] = field(default_factory=dict)

    def report(
        self,
        *,
        recipe: Any,
        recipe_id: str,
        plan: Any,
        problems: list[Any],
        notes: list[str],
        **settings: Any,
    ) -> str:
        """Return the run as JSON: counts, settings, recipe, plan, versions."""
        import json

        return json.dumps(
            {
                "summary": dataclasses.asdict(self),
                "settings": settings,
                "recipe": {"id": recipe_id, **dataclasses.asdict(recipe)},
                "plan": dataclasses.asdict(plan),
                "problems": [str(problem) for problem in problems],
                "notes": notes,
                "versions": versions(),
            },
            ensure_ascii=False,
            indent=2,
        )


def crowd_notes(summary: Summary) -> list[Message]:
    """Return notes on very many similar documents, and on what they keep from being found.

    Examples
    --------
    >>> crowd_notes(Summary("dedup", without_features=5))
    []
    """
    notes = []
    if summary.without_features >= _WORTH_TELLING:
        notes.append(Message("runs.nothing_to_compare", count=summary.without_features))
    if summary.largest_cluster >= _WORTH_TELLING:
        notes.append(Message("runs.large_cluster", count=summary.largest_cluster - 1))
    if summary.unlisted_pairs:
        notes.append(Message("runs.not_all_compared", count=summary.unlisted))
    return notes


def versions() -> dict[str, str]:
    """Return the versions of the software that results may depend on."""
    import platform

    import numpy
    import pyarrow

    return {
        "neardup": __version__,
        "python": platform.python_version(),
        "numpy": numpy.__version__,
        "pyarrow": pyarrow.__version__,
        "platform": platform.platform(),
    }


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

    def problem(self, problem: Problem | str) -> None:
        """Report a problem in the input, of `problem.count` records."""


def share_of(*sources: Any) -> Callable[[], float] | None:
    """Return what says how much of the sources was read; None if none of them are files."""
    files = [source for source in sources if hasattr(source, "done")]
    size = max(1, sum(source.size for source in files))
    return (lambda: sum(source.done for source in files) / size) if files else None


def check_progress(value: Any) -> Progress:
    """Return callbacks; None stands for those that ignore everything.

    Raises
    ------
    ParameterError
        If a method is missing.
    """
    if value is None:
        return Progress()
    has_all = all(callable(getattr(value, name, None)) for name in _CALLBACKS)
    if isinstance(value, type) or not has_all or not _takes(value.stage, "read", None, None):
        raise bad("progress", "expected.progress", value)
    callbacks: Progress = value
    return callbacks


def _takes(function: Callable[..., Any], *arguments: Any) -> bool:
    try:
        inspect.signature(function).bind(*arguments)
    except TypeError:
        return False
    except ValueError:
        # Of a compiled function, nothing is known.
        return True
    return True


class Clock:
    """Seconds since the start, and seconds of each stage."""

    def __init__(self) -> None:
        self._start = self._last = time.perf_counter()
        self.stages: dict[str, float] = {}

    def lap(self, name: str) -> None:
        """End a stage."""
        now = time.perf_counter()
        self.stages[name] = self.stages.get(name, 0.0) + now - self._last
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
