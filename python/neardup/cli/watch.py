"""Output of a run for its user: progress, problems, the closing summary."""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import timedelta
from types import TracebackType
from typing import TYPE_CHECKING, Any

from neardup.base.messages import Message
from neardup.base.progress import Progress
from neardup.base.reprs import one_line
from neardup.cli.terminal import Row, say, tell, tell_line, tell_summary
from neardup.readers.batch import REMEMBERED

if TYPE_CHECKING:
    from neardup.readers import Problem
    from neardup.readers.grouped_problems import GroupedProblems
    from neardup.run.summary import Summary

#: Kinds of problems that are printed; problems of further kinds are only counted.
_PRINTED = 100


#: Messages for the names of stages.
_STAGES = {
    "read and sketch": "cli.stage_read_and_sketch",
    "join keys": "cli.stage_join_keys",
    "candidates, verify": "cli.stage_candidates_verify",
    "candidates, verify, cluster": "cli.stage_candidates_verify_cluster",
    "write": "cli.stage_write",
    "read tests": "cli.stage_read_tests",
    "find tests": "cli.stage_find_tests",
    "read units": "cli.stage_read_units",
    "find repeats": "cli.stage_find_repeats",
    "add": "cli.stage_add",
    "export": "cli.stage_export",
    "load": "cli.stage_load",
    "check": "cli.stage_check",
}


class Watch(Progress):
    """Progress on a terminal, and problems on standard error, one line for each kind.

    Use it as a context manager: leaving it removes the bars and prints the problems.
    `has_report` tells whether the command has an option ``--report``.
    """

    def __init__(self, *, quiet: bool, has_report: bool = False) -> None:
        self._grouped: GroupedProblems | None = None
        self._bars: Any = None
        self._task: Any = None
        self._size = 0
        self._share: Callable[[], float] | None = None
        self.problems = 0
        #: The first problems as lines, for a report.
        self.lines: list[str] = []
        self._has_report = has_report
        #: Documents of the current stage that are done.
        self.done = 0
        self._quiet = quiet
        self._show = not quiet and sys.stderr.isatty()

    def __enter__(self) -> Watch:
        if self._show:
            from rich.console import Console
            from rich.progress import BarColumn, TaskProgressColumn, TextColumn
            from rich.progress import Progress as Bars

            self._bars = Bars(
                TextColumn("{task.description}"),
                BarColumn(bar_width=24),
                # Blank while neither the size nor the number of documents is known.
                TaskProgressColumn(),
                TextColumn("{task.fields[done]}{task.fields[rate]}"),
                TextColumn("{task.fields[clock]}"),
                console=Console(stderr=True),
                transient=True,
            )
            self._bars.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._bars is not None:
            self._bars.stop()
        lines = [] if self._grouped is None else list(self._grouped.lines())
        for line, _ in lines[:_PRINTED]:
            tell(line)
        rest = sum(count for _, count in lines[_PRINTED:])
        if rest:
            name = "cli.more_problems_in_report" if self._has_report else "cli.more_problems"
            tell(Message(name, count=rest))

    def stage(
        self, name: str, documents: int | None, share: Callable[[], float] | None = None
    ) -> None:
        """Start a bar for a stage; it shows the share if there is one, else the documents."""
        self.done, self._share = 0, share
        if self._bars is not None:
            if self._task is not None:
                self._bars.remove_task(self._task)
            total = documents if share is None else 1
            self._task = self._bars.add_task(
                say(Message(_STAGES[name])) if name in _STAGES else name,
                total=total,
                done=_done(0),
                rate="",
                clock="",
            )
            self._size = 0

    def advance(self, documents: int, size: int = 0) -> None:
        """Advance the bar."""
        self.done += documents
        if self._bars is None:
            return
        self._size += size
        elapsed = self._bars.tasks[-1].elapsed or 0
        rate = f", {self._size / elapsed / 1e6:,.0f} MB/s" if elapsed and self._size else ""
        left = self._bars.tasks[-1].time_remaining
        clock = str(timedelta(seconds=int(elapsed)))
        if left is not None:
            clock = say(Message("cli.time_left", time=str(timedelta(seconds=int(left)))))
        fields = {"done": _done(self.done), "rate": rate, "clock": clock}
        if self._share is not None:
            self._bars.update(self._task, completed=self._share(), **fields)
        else:
            self._bars.update(self._task, advance=documents, **fields)

    def note(self, line: str) -> None:
        """Print a note, unless the command is quiet."""
        if not self._quiet:
            self._say(f"neardup: {say(Message('cli.note', note=line))}")

    def problem(self, problem: Problem | str) -> None:
        """Count a problem; it is printed at the end with others of its kind."""
        self.problems += 1 if isinstance(problem, str) else problem.count
        if self._has_report and len(self.lines) < REMEMBERED:
            self.lines.append(str(problem))
        if self._grouped is None:
            from neardup.readers.grouped_problems import GroupedProblems

            self._grouped = GroupedProblems()
        self._grouped.add(problem)

    def _say(self, line: str) -> None:
        if self._bars is not None:
            self._bars.console.print(line, markup=False, highlight=False, soft_wrap=True)
        else:
            print(line, file=sys.stderr)


def _done(documents: int) -> str:
    return say(Message("cli.documents_done", count=documents))


def print_summary(
    summary: Summary, measure: str, threshold: float | None, bits: int | None
) -> None:
    """Print the summary of a run on standard error."""
    rule = Message("cli.rule_distance", count=bits)
    if threshold is not None:
        rule = Message("cli.rule_measure", measure=measure, threshold=threshold)
    rows: list[Row] = []
    if summary.against:
        rows.append((Message("cli.summary_against"), summary.against, ""))
    rows.append((Message("cli.summary_unreadable"), summary.unreadable, ""))
    if summary.task == "dedup":
        same = Message("cli.same_text")
        rows.append((Message("cli.summary_exact_duplicates"), summary.exact_duplicates, same))
        rows.append((Message("cli.summary_near_duplicates"), summary.near_duplicates, rule))
        rows.append((Message("cli.summary_kept"), summary.kept, ""))
        if summary.left_out:
            why = Message("cli.left_out_says")
            rows.append((Message("cli.summary_left_out"), summary.left_out, why))
    elif summary.task == "pairs":
        rows.append((Message("cli.summary_pairs"), summary.pairs, rule))
    tell_summary(summary, rows)


def print_doubtful(rows: list[dict[str, Any]]) -> None:
    """Name the least similar removals on standard error."""
    if rows:
        tell_line(say(Message("cli.doubtful_says")))
    for row in rows:
        told = {name: one_line(row[name]) for name in ("id", "kept_id")}
        line = Message("cli.doubtful_row", similarity=f"{row['similarity']:.3f}", **told)
        tell_line(f"         {say(line)}")
