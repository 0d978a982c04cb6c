"""``neardup pairs``: every verified pair of a collection."""

from __future__ import annotations

from typing import Annotated, Unpack

from neardup.cli import flags
from neardup.cli import options as o
from neardup.cli.outcome import end_with_problems
from neardup.options.groups import PairsFilesParameters

NAME = "pairs"
NEEDS_ARGUMENTS = True
EXAMPLES = (
    "neardup pairs articles.jsonl -o pairs.csv",
    "neardup pairs articles.jsonl --threshold 0.7 --quiet",
    "neardup pairs articles.jsonl --with dump/ -o known.csv",
)


def run(
    inputs: o.Inputs,
    output: Annotated[
        str,
        flags.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Records id_a, id_b, similarity, measure, distance; format by extension, "
            "- for standard output.",
            rich_help_panel=o.OUTPUT,
        ),
    ] = "-",
    with_: Annotated[
        list[str] | None,
        flags.Option(
            "--with",
            metavar="INPUT",
            help="Another collection: only pairs of a document of INPUT and one of its documents "
            "are searched. Files as INPUT, which may be given several times, or an index.",
            rich_help_panel=o.MATCHING,
            show_default=False,
        ),
    ] = None,
    strip_markup: o.StripMarkup = False,
    fail_on_duplicates: o.FailOnDuplicates = False,
    quiet: o.Quiet = False,
    **options: Unpack[PairsFilesParameters],
) -> None:
    """List all pairs of documents that are verified similar."""
    from neardup.cli.watch import Watch, print_summary
    from neardup.pairs import pairs_files

    options["recipe"] = o.recipe_of(options["recipe"], strip_markup)
    with Watch(quiet=quiet, has_report=True) as watch:
        options["progress"] = watch
        result = pairs_files(inputs, output, with_=with_ or None, **options)
    if not quiet:
        plan = result.plan
        print_summary(result.summary, plan.measure, plan.threshold, plan.max_distance)
    if result.summary.problems:
        end_with_problems()
    if fail_on_duplicates and result.summary.pairs:
        raise SystemExit(1)
