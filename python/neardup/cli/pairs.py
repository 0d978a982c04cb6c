"""``neardup pairs``: every verified pair of a collection."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from neardup.cli import options as o

NAME = "pairs"
NEEDS_ARGUMENTS = True


def run(
    inputs: o.Inputs,
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Records id_a, id_b, similarity, measure, distance; format by extension, "
            "- for standard output.",
            rich_help_panel="Output",
        ),
    ] = Path("-"),
    threshold: o.Threshold = None,
    max_distance: o.MaxDistance = None,
    recipe: o.RecipeName = "general",
    strip_markup: o.StripMarkup = False,
    text_field: o.TextField = None,
    id_field: o.IdField = None,
    title_field: o.TitleField = None,
    title_from_first_line: o.FirstLine = False,
    format: o.Format = None,
    force: o.Force = False,
    report: o.Report = None,
    fail_on_duplicates: o.FailOnDuplicates = False,
    workers: o.Workers = 0,
    quiet: o.Quiet = False,
) -> None:
    """List every pair of documents that are verified similar."""
    from neardup.cli.watch import Watch, print_summary
    from neardup.pairs import pairs_files

    with Watch(quiet=quiet, has_report=True) as watch:
        result = pairs_files(
            inputs,
            output,
            report=report,
            format=format,
            text=text_field,
            id=id_field,
            title=title_field,
            force=force,
            threshold=threshold,
            max_distance=max_distance,
            recipe=o.recipe_of(recipe, strip_markup),
            title_from_first_line=title_from_first_line,
            workers=workers,
            progress=watch,
        )
    if not quiet:
        plan = result.plan
        print_summary(result.summary, plan.measure, plan.threshold, plan.max_distance)
    if result.summary.problems:
        raise typer.Exit(2)
    if fail_on_duplicates and result.summary.pairs:
        raise typer.Exit(1)
