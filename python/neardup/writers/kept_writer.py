"""Writing of the kept records of one source after the other, in the format of the output."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from neardup.base.messages import Message
from neardup.exceptions import InputError
from neardup.readers.batch import REMEMBERED, Problem, make_refusal
from neardup.readers.fields import list_names
from neardup.readers.source import KeepMask, Source
from neardup.writers.cells import write_jsonl
from neardup.writers.edits import Edits
from neardup.writers.output import Output


@dataclass(slots=True)
class KeptReport:
    """How many records were written, and how many cannot be converted to the output's format.

    `problems` has the first 10,000 of the latter; `notes`, the columns that became text.
    """

    written: int = 0
    unwritable: int = 0
    problems: list[Problem] = field(default_factory=list)
    notes: list[Message] = field(default_factory=list)


class Writer(ABC):
    """Writes the kept records of one source after the other in one format.

    `at` returns the file for the next records; a new one begins with a head.
    """

    def __init__(
        self,
        sources: list[Source],
        at: Callable[[], Output],
        edits: Edits | None,
        report: KeptReport,
    ) -> None:
        self.report = report
        self._at = at
        self._output = at()
        self._sources, self._edits = sources, edits
        self._added = [] if edits is None else list(edits.schema)
        self._mark = b""
        if sources and sources[0].format == self._output.format:
            self._mark = sources[0].mark
        self._plan_head(sources)
        self._write_head()

    def _write_head(self) -> None:
        self._output.write(self._mark)
        self._write_start()

    def _change_file(self) -> None:
        """Begin a new file if the last one is full; called between records."""
        output = self._at()
        if output is not self._output:
            self._output = output
            self._write_head()

    def _plan_head(self, sources: list[Source]) -> None:  # noqa: B027
        """Find out what comes before the records of a file, if anything does."""

    def _write_start(self) -> None:  # noqa: B027
        """Write what comes before the records of a file."""

    @abstractmethod
    def write(self, source: Source, keep: KeepMask) -> None:
        """Write the kept records of a source."""

    def _kept_rows(self, source: Source, keep: KeepMask) -> Iterator[list[dict[str, Any]]]:
        """Yield kept records to convert; count and report those that cannot be converted."""
        check_names(source)
        for rows in source.read_rows():
            flags = keep.take(len(rows)).tolist()
            wanted = [row for row, is_kept in zip(rows, flags, strict=True) if is_kept]
            if self._edits is not None:
                wanted = self._edits.edit_rows(wanted)
            kept: list[dict[str, Any]] = []
            for row in wanted:
                if isinstance(row, Problem):
                    self._leave_out(row)
                else:
                    kept.append(row)
            if kept:
                self._change_file()
                yield kept

    def _leave_out(self, problem: Problem) -> None:
        self.report.unwritable += 1
        if len(self.report.problems) < REMEMBERED:
            name = self._output.name
            output = Message("standard output") if name == "-" else name
            reason = Message(
                "left out of {output}: {reason}",
                code="left_out",
                output=output,
                reason=problem.reason,
            )
            self.report.problems.append(replace(problem, reason=reason))

    def _copy(self, source: Source, keep: KeepMask) -> None:
        """Write raw records."""
        for data in source.copy_kept(keep):
            self._change_file()
            if isinstance(data, bytes):
                self._output.write(data if self._edits is None else self._edits.edit_lines(data))
                continue
            if self._edits is not None:
                # A line too long to be read is written as it is.
                self._edits.edit_rows([{}])
            for part in data:
                self._output.write(part)


class Lines(Writer):
    """Writes JSON Lines, without a schema."""

    def write(self, source: Source, keep: KeepMask) -> None:
        if source.format == "jsonl":
            self._copy(source, keep)
            return
        for rows in self._kept_rows(source, keep):
            self._output.write(write_jsonl(rows))


def check_names(source: Source) -> None:
    names = source.list_fields() or []
    if len(set(names)) < len(names):
        reason = Message("must have distinct column names to be converted")
        raise InputError(make_refusal(source.name, reason, list_names(names)))
