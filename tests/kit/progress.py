"""The recorder of what a run reports."""

from collections.abc import Callable
from typing import Any

from neardup.base.progress import Progress


class RecordedProgress(Progress):
    """Remembers the calls of a run: its stages, with the steps of each, its notes and problems."""

    def __init__(self) -> None:
        self.stages: list[tuple[str, int | None]] = []
        self.steps: list[list[int]] = []
        self.shares: list[float] = []
        self.notes: list[str] = []
        self.problems: list[str] = []
        self._share: Callable[[], float] | None = None

    @property
    def done(self) -> list[int]:
        """The number of documents of each stage."""
        return list(map(sum, self.steps))

    def stage(
        self, name: str, documents: int | None, share: Callable[[], float] | None = None
    ) -> None:
        self.stages.append((name, documents))
        self.steps.append([])
        self._share = share

    def advance(self, documents: int, size: int = 0) -> None:  # noqa: ARG002
        self.steps[-1].append(documents)
        if self._share is not None:
            self.shares.append(self._share())

    def note(self, line: str) -> None:
        self.notes.append(line)

    def problem(self, problem: Any) -> None:
        self.problems.append(str(problem))
