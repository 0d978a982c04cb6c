"""``neardup contamination``: which items of a test occur in training documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Unpack

from neardup.base.messages import Message
from neardup.cli import flags
from neardup.cli import options as o
from neardup.cli.outcome import end_with_problems
from neardup.contamination import Action
from neardup.options.groups import ContaminationFilesParameters

if TYPE_CHECKING:
    from neardup.contamination import ContaminationSummary

NAME = "contamination"
NEEDS_ARGUMENTS = True
EXAMPLES = (
    "neardup contamination articles.jsonl --tests questions.jsonl --report found.csv",
    "neardup contamination dump/ --tests questions.jsonl -o clean.jsonl --report found.jsonl",
    "neardup contamination articles.jsonl --tests questions.jsonl -o clean.jsonl --do mask",
)


def run(
    *,
    inputs: o.Inputs,
    tests: Annotated[
        list[str],
        flags.Option(
            "--tests",
            metavar="INPUT",
            help="Test items, such as questions, one for each record. Files as INPUT; may be "
            "given several times.",
            rich_help_panel=o.INPUT,
            show_default=False,
        ),
    ],
    output: Annotated[
        str | None,
        flags.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="The documents without test items, in input order and otherwise unchanged; "
            "format by extension.",
            rich_help_panel=o.OUTPUT,
            show_default=False,
        ),
    ] = None,
    report: Annotated[
        str | None,
        flags.Option(
            "--report",
            metavar="FILE",
            help="Record of each finding: id, test_id, cover, begin, end, test_begin, test_end, "
            "text. By default on standard output, if there is no --output.",
            rich_help_panel=o.OUTPUT,
            show_default=False,
        ),
    ] = None,
    do: Annotated[
        Action | None,
        flags.Option(
            "--do",
            help="What happens to a document with an item: report (nothing), drop, or mask "
            "([...] replaces the item). By default drop with --output, else report.",
            rich_help_panel=o.OUTPUT,
            show_default=False,
        ),
    ] = None,
    quiet: o.Quiet = False,
    **options: Unpack[ContaminationFilesParameters],
) -> None:
    """Find the items of a test in training documents, and drop or mask them.

    A document is contaminated if it has most of an item: verbatim, re-wrapped, in
    a paragraph, in markup, or with small edits.
    """
    from neardup.cli.watch import Watch
    from neardup.contamination import contamination_files

    if output is None and report is None:
        report = "-"
    with Watch(quiet=quiet) as watch:
        options["progress"] = watch
        result = contamination_files(inputs, tests, output, report=report, do=do, **options)
    if not quiet:
        _print(result.summary, options["cover"], writes=output is not None)
    if result.summary.problems:
        end_with_problems()


def _print(summary: ContaminationSummary, cover: float, *, writes: bool) -> None:
    """Print the summary of a search on standard error."""
    from neardup import _core
    from neardup.cli.terminal import Row, tell_rows

    least = _core.SHORTEST_ITEM
    short = Message("cli.short_says", least=least, letters=2 * least)
    rows: list[Row] = [
        ("read", summary.read, f"{summary.bytes_read / 1e6:,.1f} MB"),
        ("unreadable", summary.unreadable, ""),
        ("tests", summary.tests, ""),
        *([("short", summary.short, short)] if summary.short else []),
        *([("common", summary.common, Message("cli.common_says"))] if summary.common else []),
        ("tests_found", summary.tests_found, ""),
        ("findings", summary.findings, ""),
        ("contaminated", summary.contaminated, Message("cli.contaminated_says", share=cover)),
    ]
    if writes:
        rows.append(("kept", summary.kept, ""))
    rows.append(("seconds", f"{summary.seconds:,.2f}", ""))
    rows.append(("peak_memory", f"{summary.peak_memory / 1e6:,.0f}", "MB"))
    tell_rows(rows)
