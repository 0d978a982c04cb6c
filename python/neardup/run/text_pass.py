"""Passes over the texts of documents that are neither sketched nor compared with each other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing
from typing import TYPE_CHECKING, Any

from neardup.base.progress import Clock, Progress, peak_memory

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from neardup.readers import Batch, Problem, Sources
    from neardup.writers import Output
    from neardup.writers.edits import Cuts

__all__ = ["TextPass", "read_ahead"]


class TextPass:
    """What searches through texts share: reading, problems, writing and costs."""

    def __init__(self, summary: Any, progress: Progress) -> None:
        self.clock = Clock()
        self.progress = progress
        self.summary = summary
        self.problems: list[Problem] = []

    def note_problems(self, problems: Iterable[Problem]) -> None:
        """Count and report problems, and remember the first 10,000."""
        from neardup.readers.batch import REMEMBERED

        for problem in problems:
            self.summary.problems += problem.count
            self.progress.problem(problem)
            if len(self.problems) < REMEMBERED:
                self.problems.append(problem)

    def documents(self, source: Any) -> Iterator[Batch]:
        """Yield each batch; afterwards it counts as read."""
        summary = self.summary
        for batch in read_ahead(source):
            self.note_problems(batch.problems)
            yield batch
            summary.read += len(batch)
            summary.unreadable += batch.texts.null_count
            summary.bytes_read += batch.bytes_read
            self.progress.advance(len(batch), batch.bytes_read)

    def write_records(
        self, sources: Sources, keep: NDArray[Any], output: Output, cuts: Cuts | None
    ) -> int:
        """Write records; return how many could not be written."""
        from neardup.writers import write_kept

        written = write_kept(sources, keep, output, cuts, self.progress)
        self.summary.problems += written.unwritable
        self.problems.extend(written.problems)
        for problem in written.problems:
            self.progress.problem(problem)
        for note in written.notes:
            self.progress.note(note)
        return written.unwritable

    def measure(self) -> None:
        """Fill in the costs so far."""
        summary = self.summary
        summary.seconds, summary.stages = self.clock.seconds(), self.clock.stages
        summary.peak_memory = peak_memory()


def read_ahead(source: Any) -> Iterator[Batch]:
    """Yield the batches of a source, which a thread reads ahead."""
    from neardup.base.prefetch import prefetch

    # Closing ends the reading thread also if an error leaves the loop.
    with closing(prefetch(source.batches())) as coming:
        yield from coming
