"""``neardup dedup``: drop the near-duplicates of a collection."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from neardup.cli import options as o

if TYPE_CHECKING:
    from neardup._engine.summary import Summary

NAME = "dedup"
NEEDS_ARGUMENTS = True


def run(
    inputs: o.Inputs,
    output: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Kept records, unchanged and in input order; format by extension.",
            rich_help_panel="Output",
            show_default=False,
        ),
    ],
    removed: Annotated[
        str | None,
        typer.Option(
            "--removed",
            metavar="FILE",
            help="One record for each dropped one: id, kept_id, similarity, measure, distance.",
            rich_help_panel="Output",
            show_default=False,
        ),
    ] = None,
    threshold: o.Threshold = None,
    max_distance: o.MaxDistance = None,
    priority: Annotated[
        str,
        typer.Option(
            "--priority",
            help="Which of two duplicates stays: first, last, longest, or field:NAME[:desc].",
            rich_help_panel="Candidates to cluster",
        ),
    ] = "first",
    recipe: o.RecipeName = "general",
    strip_markup: o.StripMarkup = False,
    text_field: o.TextField = None,
    id_field: o.IdField = None,
    title_field: o.TitleField = None,
    title_from_first_line: o.FirstLine = False,
    format: o.Format = None,
    on_error: Annotated[
        str,
        typer.Option(
            "--on-error",
            help="Records that cannot be read: keep them in the output, drop them, or stop.",
            rich_help_panel="Input",
        ),
    ] = "keep",
    force: o.Force = False,
    report: o.Report = None,
    fail_on_duplicates: o.FailOnDuplicates = False,
    workers: o.Workers = 0,
    memory: Annotated[
        str | None,
        typer.Option(
            "--memory",
            metavar="SIZE",
            help="Memory limit, at least 512MiB, for example 4GB or 1.5GiB. Data beyond it is "
            "written to temporary files. By default half of what the machine has. Changes no "
            "result.",
            rich_help_panel="Run",
            show_default=False,
        ),
    ] = None,
    work: Annotated[
        Path | None,
        typer.Option(
            "--work",
            metavar="DIR",
            help="Leave each stage in this folder when it is complete; the same command goes on "
            "there if it was ended early.",
            rich_help_panel="Run",
            show_default=False,
        ),
    ] = None,
    engine: Annotated[
        str,
        typer.Option(
            "--engine",
            help="Where to run: single, this machine, or spark, a cluster. Outputs of spark are "
            "folders of part files.",
            rich_help_panel="Run",
        ),
    ] = "single",
    master: Annotated[
        str | None,
        typer.Option(
            "--master",
            metavar="URL",
            help="The cluster: spark://HOST:PORT, yarn, k8s://URL, or local[N]. By default that of "
            "Spark's own settings.",
            rich_help_panel="Run",
            show_default=False,
        ),
    ] = None,
    checkpoint: Annotated[
        str | None,
        typer.Option(
            "--checkpoint",
            metavar="DIR",
            help="A folder that all machines reach; the same command goes on there if it was ended "
            "early. By default beside the output, and removed at the end.",
            rich_help_panel="Run",
            show_default=False,
        ),
    ] = None,
    quiet: o.Quiet = False,
) -> None:
    """Drop the near-duplicates of a collection.

    A document is dropped if it is verified similar to one before it that is
    kept. Texts are read, normalized, segmented, weighed and sketched; candidate
    pairs are searched by their sketches, verified, and clustered; what is kept is
    written unchanged.
    """
    from neardup.cli.on_spark import check_engine, dedup_on_spark
    from neardup.cli.watch import Watch, print_summary
    from neardup.dedup import dedup_files

    if check_engine(engine, {"master": master, "checkpoint": checkpoint}):
        of_cluster = dedup_on_spark(
            inputs,
            output,
            master=master,
            checkpoint=checkpoint,
            removed=removed,
            format=format,
            text=text_field,
            id=id_field,
            threshold=threshold,
            max_distance=max_distance,
            recipe=o.recipe_of(recipe, strip_markup),
            on_error=on_error,
            force=force,
            quiet=quiet,
            others={
                "priority": None if priority == "first" else priority,
                "title-field": title_field,
                "title-from-first-line": title_from_first_line,
                "report": report,
                "workers": workers,
                "memory": memory,
                "work": work,
            },
        )
        _exit(of_cluster, fail_on_duplicates)
        return
    with Watch(quiet=quiet, has_report=True) as watch:
        result = dedup_files(
            inputs,
            output,
            removed=removed,
            report=report,
            format=format,
            text=text_field,
            id=id_field,
            title=title_field,
            threshold=threshold,
            max_distance=max_distance,
            recipe=o.recipe_of(recipe, strip_markup),
            priority=priority,
            on_error=on_error,
            title_from_first_line=title_from_first_line,
            workers=workers,
            memory=memory,
            work=work,
            force=force,
            progress=watch,
        )
    summary = result.summary
    if not quiet:
        print_summary(summary, result.plan.measure, result.plan.threshold, result.plan.max_distance)
    _exit(summary, fail_on_duplicates)


def _exit(summary: Summary, fail_on_duplicates: bool) -> None:
    """End with the code that says what was found."""
    if summary.problems:
        raise typer.Exit(2)
    if fail_on_duplicates and summary.exact_duplicates + summary.near_duplicates:
        raise typer.Exit(1)
