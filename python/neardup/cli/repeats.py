"""``neardup repeats``: sentences and paragraphs that recur across documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Unpack

from neardup.base.display import one_line
from neardup.base.messages import Message
from neardup.cli.options import Inputs, Quiet, declare_file
from neardup.cli.terminal import Row, end_with_problems, print_line, print_run_summary
from neardup.cli.watch import Watch
from neardup.options import options as o
from neardup.options.groups import RepeatsFilesParameters
from neardup.options.options import KeptPlaces

if TYPE_CHECKING:
    from neardup.tasks.repeats import RepeatsSummary


def run(
    *,
    inputs: Inputs,
    output: Annotated[
        str | None,
        declare_file(
            "Record of each repeat: repeat, text, count, documents, id, begin, end; format by "
            "extension. By default on standard output, if no other file is named.",
            "-o",
        ),
    ],
    places: Annotated[
        str | None, declare_file("Record of each place of a repeat: repeat, id, begin, end.")
    ],
    remove: Annotated[
        str | None,
        declare_file(
            "All records without their repeats, otherwise unchanged; format by extension."
        ),
    ],
    keep: Annotated[
        KeptPlaces | None,
        o.Option(
            "With --remove: first (a repeat stays at its first place) or none. By default first.",
            o.OUTPUT,
        ),
    ],
    quiet: Quiet,
    **options: Unpack[RepeatsFilesParameters],
) -> None:
    """Find sentences that recur across documents, and cut them out.

    Two sentences are the same if their letters and digits are.

    Examples:
        neardup repeats articles.jsonl -o repeats.csv
        neardup repeats dump/ --documents 3 --remove clean.jsonl
        neardup repeats articles.jsonl --unit paragraph --remove clean.jsonl --keep none
    """
    from neardup.tasks.repeats import repeats_files

    if output is None and places is None and remove is None:
        output = "-"
    with Watch(quiet=quiet) as watch:
        options["progress"] = watch
        summary = repeats_files(inputs, output, places=places, remove=remove, keep=keep, **options)
    if not quiet:
        _print(summary, removes=remove is not None)
    if summary.problems:
        end_with_problems()


def _print(summary: RepeatsSummary, *, removes: bool) -> None:
    """Print the summary of a search on standard error."""
    documents = Message.counted(
        "in {count:,} document", "in {count:,} documents", count=summary.documents
    )
    rows: list[Row] = [
        (Message("unreadable"), summary.unreadable, ""),
        (
            Message("sentences"),
            summary.units,
            Message("or paragraphs that are long enough to be compared"),
        ),
        (Message("repeats"), summary.repeats, ""),
        (Message("places"), summary.places, documents),
    ]
    if removes:
        emptied = Message.counted(
            "places; {count:,} document has no text left",
            "places; {count:,} documents have no text left",
            count=summary.emptied,
        )
        rows.append((Message("cut out"), summary.removed, emptied))
    print_run_summary(summary, rows)
    if summary.frequent:
        print_line(Message("The most frequent:"))
        for count, text in summary.frequent:
            print_line(f"{count:>14,}  {one_line(text)}")
