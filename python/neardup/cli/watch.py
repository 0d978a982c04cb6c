"""Output of a run for its user: progress, problems, the closing summary."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from datetime import timedelta
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

from neardup.base.display import id_with_title
from neardup.base.messages import N_, Message
from neardup.base.progress import Progress
from neardup.cli.terminal import (
    Row,
    describe_rule,
    format_megabytes,
    print_line,
    print_message,
    print_run_summary,
    translate,
)
from neardup.readers import Problem
from neardup.readers.batch import REMEMBERED
from neardup.readers.problem_groups import ProblemGroups

if TYPE_CHECKING:
    from neardup.run.summary import Summary

#: The threshold of the default recipe.
_USUAL = 0.4

#: Kinds of problems that are printed; problems of further kinds are only counted.
_PRINTED = 100


#: Seconds between the lines on progress where standard error is no terminal.
_EVERY = 30.0

#: Messages for the names of stages.
_STAGES = {
    "read and sketch": N_("read and sketch"),
    "join keys": N_("join keys"),
    "candidates, verify": N_("candidates, verify"),
    "candidates, verify, cluster": N_("candidates, verify, cluster"),
    "write": N_("write"),
    "read tests": N_("read tests"),
    "find tests": N_("find tests"),
    "read units": N_("read units"),
    "find repeats": N_("find repeats"),
    "add": N_("add"),
    "export": N_("export"),
    "check": N_("check"),
    "library": N_("read the library"),
    "papers": N_("check the papers"),
    "documents": N_("read the documents"),
    "copies": N_("make copies"),
    "texts": N_("compare texts"),
    "cut-offs": N_("find cut-offs"),
    "evidence": N_("collect evidence"),
    "figures and report": N_("write the report"),
}


class Watch(Progress):
    """Progress and problems on standard error, of problems one line for each kind.

    On a terminal progress is a bar, elsewhere a line each half minute. Use it as a context manager:
    leaving it removes the bars and prints the problems. `has_report` tells whether the command has
    an option ``--report``.
    """

    def __init__(self, *, quiet: bool, has_report: bool = False) -> None:
        self._grouped: ProblemGroups | None = None
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
        self._stage: str | None = None
        self._documents: int | None = None
        self._began = 0.0
        self._ended = Event()
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
        elif not self._quiet:
            # A thread, since some stages report nothing for minutes.
            Thread(target=self._report_regularly, daemon=True).start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._ended.set()
        if self._bars is not None:
            self._bars.stop()
        lines = [] if self._grouped is None else list(self._grouped.lines())
        for line, _ in lines[:_PRINTED]:
            print_message(line)
        rest = sum(count for _, count in lines[_PRINTED:])
        if rest:
            if self._has_report:
                message = Message.counted(
                    "and 1 more problem of other kinds; --report lists all.",
                    "and {count:,} more problems of other kinds; --report lists all.",
                    count=rest,
                )
            else:
                message = Message.counted(
                    "and 1 more problem of other kinds.",
                    "and {count:,} more problems of other kinds.",
                    count=rest,
                )
            print_message(message)

    def stage(
        self, name: str, documents: int | None, share: Callable[[], float] | None = None
    ) -> None:
        """Start a bar for a stage; it shows the share if there is one, else the documents."""
        self.done, self._share, self._documents = 0, share, documents
        self._stage, self._began = (
            translate(Message(_STAGES[name]) if name in _STAGES else name),
            time.monotonic(),
        )
        if self._bars is not None:
            if self._task is not None:
                self._bars.remove_task(self._task)
            total = documents if share is None else 1
            self._task = self._bars.add_task(
                self._stage,
                total=total,
                done="",
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
            clock = translate(Message("{time} left", time=str(timedelta(seconds=int(left)))))
        fields = {"done": _format_done(self.done), "rate": rate, "clock": clock}
        if self._share is not None:
            self._bars.update(self._task, completed=self._share(), **fields)
        else:
            self._bars.update(self._task, advance=documents, **fields)

    def _report_regularly(self) -> None:
        while not self._ended.wait(_EVERY):
            if self._stage is not None:
                print_message(self._describe_stage(self._stage))

    def _describe_stage(self, stage: str) -> Message:
        """Return what is known of the current stage: documents, share and time left."""
        done = _format_done(self.done)
        share = self.done / self._documents if self._documents else 0.0
        if self._share is not None:
            share = self._share()
        if 0 < share <= 1:
            elapsed = time.monotonic() - self._began
            left = timedelta(seconds=int(elapsed * (1 - share) / share))
            time_left = Message("{time} left", time=str(left))
            return Message(
                "{stage}: {documents}, {share:.0%}, {time_left}.",
                stage=stage,
                documents=done,
                share=share,
                time_left=time_left,
            )
        if not self.done:
            # Some stages count no documents.
            return Message("{stage}.", stage=stage)
        return Message("{stage}: {documents}.", stage=stage, documents=done)

    def note(self, line: str) -> None:
        """Print a note, unless the command is quiet."""
        if not self._quiet:
            self._say(f"neardup: {translate(Message('note: {note}', note=line))}")

    def problem(self, problem: Problem | str) -> None:
        """Count a problem; it is printed at the end with others of its kind."""
        self.problems += 1 if isinstance(problem, str) else problem.count
        if self._has_report and len(self.lines) < REMEMBERED:
            self.lines.append(str(problem))
        if self._grouped is None:
            self._grouped = ProblemGroups()
        self._grouped.add(problem)

    def _say(self, line: str) -> None:
        if self._bars is not None:
            self._bars.console.print(line, markup=False, highlight=False, soft_wrap=True)
        else:
            print(line, file=sys.stderr)


def _format_done(documents: int) -> str:
    return translate(Message.counted("{count:,} document", "{count:,} documents", count=documents))


def print_summary(
    summary: Summary, measure: str, threshold: float | None, bits: int | None
) -> None:
    """Print the summary of a run on standard error."""
    rows: list[Row] = []
    if summary.against:
        # Sketches are not read as documents are.
        size = format_megabytes(summary.bytes_against) if summary.bytes_against else ""
        rows.append((Message("compared with"), summary.against, size))
    rows.append((Message("unreadable"), summary.unreadable, ""))
    if summary.task == "dedup":
        same = Message("same text")
        rows.append((Message("exact duplicates"), summary.exact_duplicates, same))
        rule = describe_rule(measure, threshold, bits)
        rows.append((Message("near-duplicates"), summary.near_duplicates, rule))
        rows.append((Message("kept"), summary.kept, ""))
        for name, count in (
            (Message("too short"), summary.too_short),
            (Message("too long"), summary.too_long),
        ):
            if count:
                rows.append((name, count, Message("kept, and not compared")))
        if summary.left_out:
            why = Message("cannot be written in this format")
            rows.append((Message("left out"), summary.left_out, why))
    elif summary.task == "pairs":
        rows.append((Message("pairs"), summary.pairs, describe_rule(measure, threshold, bits)))
    print_run_summary(summary, rows)


def print_doubtful(rows: list[dict[str, Any]], measure: str, threshold: float | None) -> None:
    """Name the least similar removals on standard error, and when to use another recipe."""
    if rows:
        print_line(Message("The most doubtful removals (--review shows their texts):"))
    for row in rows:
        line = Message(
            "{similarity}  {id} repeats {kept_id}",
            similarity=f"{row['similarity']:.3f}",
            id=id_with_title(row, ""),
            kept_id=id_with_title(row, "kept_"),
        )
        print_line(f"         {translate(line)}")
    if rows and measure.startswith("content(") and threshold == _USUAL:
        advice = Message(
            "For laws and other texts that differ little, try --recipe strict. Label 50 pairs, and "
            "neardup evaluate pairs finds the best threshold."
        )
        print_line(advice)
