"""``neardup contamination``: which items of a test occur in training documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Unpack

from neardup.base.messages import Message
from neardup.cli.options import Inputs, Quiet, file
from neardup.cli.terminal import end_with_problems
from neardup.contamination import Action
from neardup.options import options as o
from neardup.options.groups import ContaminationFilesParameters

if TYPE_CHECKING:
    from neardup.contamination import ContaminationSummary


def run(
    *,
    inputs: Inputs,
    tests: Annotated[
        list[str],
        o.Option(
            "Test items, such as questions, one for each record. Files as INPUT; may be "
            "given several times.",
            o.INPUT,
            metavar="INPUT",
        ),
    ],
    output: Annotated[
        str | None,
        file(
            "The documents without test items, in input order and otherwise unchanged; "
            "format by extension.",
            "-o",
        ),
    ],
    report: Annotated[
        str | None,
        file(
            "Record of each finding: id, test_id, cover, begin, end, test_begin, test_end, "
            "text. By default on standard output, if there is no --output."
        ),
    ],
    do: Annotated[
        Action | None,
        o.Option(
            "What happens to a document with an item: report (nothing), drop, or mask "
            "([...] replaces the item). By default drop with --output, else report.",
            o.OUTPUT,
        ),
    ],
    quiet: Quiet,
    **options: Unpack[ContaminationFilesParameters],
) -> None:
    """Find the items of a test in training documents, and drop or mask them.

    A document is contaminated if it has most of an item: verbatim, re-wrapped, in
    a paragraph, in markup, or with small edits.

    Examples:
        neardup contamination articles.jsonl --tests questions.jsonl --report found.csv
        neardup contamination dump/ --tests questions.jsonl -o clean.jsonl --report found.jsonl
        neardup contamination articles.jsonl --tests questions.jsonl -o clean.jsonl --do mask
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
    from neardup.cli.terminal import Row, tell_summary

    least = _core.SHORTEST_ITEM
    short = Message(
        "of fewer than {least} Chinese characters or {letters} letters, not looked for",
        least=least,
        letters=2 * least,
    )
    rows: list[Row] = [
        (Message("unreadable"), summary.unreadable, ""),
        (Message("test items"), summary.tests, ""),
    ]
    if summary.short:
        rows.append((Message("too short"), summary.short, short))
    if summary.common:
        common = Message("items that many documents share, not counted")
        rows.append((Message("common wording"), summary.common, common))
    rows.append((Message("items found"), summary.tests_found, ""))
    rows.append((Message("findings"), summary.findings, ""))
    contaminated = Message("documents with {share:.0%} of an item or more", share=cover)
    rows.append((Message("contaminated"), summary.contaminated, contaminated))
    if writes:
        rows.append((Message("kept"), summary.kept, ""))
    tell_summary(summary, rows)
