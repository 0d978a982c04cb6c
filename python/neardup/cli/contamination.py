"""``neardup contamination``: which items of a test occur in training documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Unpack, get_args

from neardup.base.messages import Message
from neardup.base.validation import bad
from neardup.cli.options import FailOnDuplicates, Inputs, Quiet, declare_file
from neardup.cli.terminal import Row, end_with_problems, print_run_summary, print_table
from neardup.cli.watch import Watch
from neardup.exceptions import ParameterError
from neardup.options import options as o
from neardup.options.groups import ContaminationFilesParameters

if TYPE_CHECKING:
    from neardup.tasks.contamination_result import ContaminationSummary


def run(
    *,
    inputs: Annotated[list[str] | None, get_args(Inputs)[1]],
    tests: Annotated[
        list[str] | None,
        o.Option(
            "Test items, such as questions, one for each record. Files as INPUT; may be "
            "given several times.",
            o.INPUT,
            metavar="INPUT",
        ),
    ],
    splits: Annotated[
        list[str] | None,
        o.Option(
            "The splits of a data set, each as NAME=FILE, instead of documents and items: which "
            "items of each split occur in which other split. The first one follows the option.",
            o.INPUT,
            metavar="NAME=FILE...",
        ),
    ],
    output: Annotated[
        str | None,
        declare_file(
            "The documents without test items, in input order and otherwise unchanged; "
            "format by extension.",
            "-o",
        ),
    ],
    report: Annotated[
        str | None,
        declare_file(
            "Record of each finding: id, test_id, cover, begin, end, test_begin, test_end, "
            "text. By default on standard output, if there is no --output."
        ),
    ],
    fail_on_duplicates: FailOnDuplicates,
    quiet: Quiet,
    **options: Unpack[ContaminationFilesParameters],
) -> None:
    """Find the items of a test in training documents, and drop what has one.

    A document is contaminated if it has most of an item: verbatim, re-wrapped, in
    a paragraph, in markup, or with small edits.

    Examples:
        neardup contamination articles.jsonl --tests questions.jsonl --report found.csv
        neardup contamination dump/ --tests questions.jsonl -o clean.jsonl --report found.jsonl
        neardup contamination --splits train=train.jsonl dev=dev.jsonl test=test.jsonl
    """
    from neardup.tasks.contamination import contamination_files

    documents: Sequence[str] | Mapping[str, Sequence[str]] = inputs or []
    if splits:
        documents = _parse_splits([*splits, *documents])
    else:
        for name, value in (("inputs", inputs), ("tests", tests)):
            if not value:
                raise ParameterError(
                    Message("{parameter:named} must name a file. Got none.", parameter=name)
                )
        if output is None and report is None:
            report = "-"
    with Watch(quiet=quiet) as watch:
        options["progress"] = watch
        result = contamination_files(documents, tests, output, report=report, **options)
    if splits:
        _print_splits(result.splits)
    elif not quiet:
        _print(
            result.summary,
            options["min_share"],
            options["min_item_length"],
            writes=output is not None,
        )
    if result.summary.problems:
        end_with_problems()
    if fail_on_duplicates and result.summary.findings:
        raise SystemExit(1)


def _parse_splits(words: list[str]) -> dict[str, list[str]]:
    """Return the files of each split."""
    splits: dict[str, list[str]] = {}
    for word in words:
        name, equals, path = word.partition("=")
        if not (name and equals and path):
            raise bad("splits", "splits as NAME=FILE, such as train=train.jsonl", word)
        splits.setdefault(name, []).append(path)
    return splits


def _print_splits(pairs: list[dict[str, Any]]) -> None:
    """Print how many items of each split occur in each other split."""
    columns = [Message("split"), Message("occurs in"), Message("items"), Message("found"), ""]
    rows = [
        (
            pair["split"],
            pair["other"],
            f"{pair['items']:,}",
            f"{pair['found']:,}",
            f"{pair['found'] / max(pair['items'], 1):.2%}",
        )
        for pair in pairs
    ]
    print_table(columns, rows, left=(0, 1))


def _print(summary: ContaminationSummary, cover: float, least: int, *, writes: bool) -> None:
    """Print the summary of a search on standard error."""
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
    print_run_summary(summary, rows)
