"""A run over documents: its progress, problems, notes and costs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing
from typing import Any

from neardup.base.messages import Message
from neardup.base.prefetch import prefetch
from neardup.base.progress import Clock, Progress, check_progress, peak_memory
from neardup.readers import Batch, Problem, Sources
from neardup.readers.batch import REMEMBERED
from neardup.readers.collection import Collection
from neardup.writers import Output, OutputFolder, write_kept
from neardup.writers.edits import Edits


class Run:
    """The common part of all runs over documents."""

    def __init__(self, progress: Progress | None) -> None:
        self.clock = Clock()
        self.progress = check_progress(progress)
        #: The first problems; all are counted.
        self.problems: list[Problem] = []
        self.problem_count = 0
        self.notes: list[Message] = []
        self.bytes_read = self.bytes_against = 0

    def note_problems(self, problems: Iterable[Problem]) -> None:
        """Count and report problems, and remember the first 10,000."""
        for problem in problems:
            self.problem_count += problem.count
            self.progress.problem(problem)
            if len(self.problems) < REMEMBERED:
                self.problems.append(problem)

    def report_sources(self, *sources: Any) -> None:
        """Count and report problems and notes that are not of records."""
        for source in sources:
            if isinstance(source, Sources):
                self.problem_count += source.report_to(self.progress)

    def prefetch(self, batches: Iterable[Batch]) -> Iterator[Batch]:
        """Yield batches, which a thread reads ahead."""
        # Closing ends the reading thread also if an error leaves the loop.
        with closing(prefetch(batches)) as unread:
            for batch in unread:
                yield batch
                self.progress.advance(len(batch), batch.bytes_read)

    def documents(self, source: Collection, summary: Any) -> Iterator[Batch]:
        """Yield the batches of a source; afterwards each counts as read."""
        for batch in self.prefetch(source.batches()):
            self.note_problems(batch.problems)
            yield batch
            summary.read += len(batch)
            summary.unreadable += batch.texts.null_count
            self.bytes_read += batch.bytes_read

    def write_kept(
        self, sources: Sources, keep: Any, output: Output | OutputFolder, edits: Edits | None
    ) -> int:
        """Write the kept records; return how many could not be written."""
        written = write_kept(sources, keep, output, edits, self.progress)
        self.problem_count += written.unwritable
        self.problems += written.problems
        for problem in written.problems:
            self.progress.problem(problem)
        self.notes += written.notes
        for note in written.notes:
            self.progress.note(note)
        return written.unwritable

    def measure(self, summary: Any) -> None:
        """Fill in the problems and the costs so far."""
        summary.problems, summary.bytes_read = self.problem_count, self.bytes_read
        summary.bytes_against = self.bytes_against
        summary.seconds = self.clock.seconds()
        summary.stages, summary.stage_memory = self.clock.stages, self.clock.stage_memory
        summary.peak_memory = peak_memory()
