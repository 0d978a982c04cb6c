"""``neardup fingerprint``: the fingerprint of each document."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from neardup.cli import options as o

NAME = "fingerprint"
NEEDS_ARGUMENTS = True


def run(
    inputs: o.Inputs,
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Records id, fingerprint (hexadecimal; null without features), features, recipe; "
            "format by extension, - for standard output.",
            rich_help_panel="Output",
        ),
    ] = Path("-"),
    recipe: o.RecipeName = "characters",
    strip_markup: o.StripMarkup = False,
    text_field: o.TextField = None,
    id_field: o.IdField = None,
    title_field: o.TitleField = None,
    title_from_first_line: o.FirstLine = False,
    format: o.Format = None,
    force: o.Force = False,
    workers: o.Workers = 0,
    quiet: o.Quiet = False,
) -> None:
    """Write the SimHash fingerprint of each document."""
    from neardup.cli.watch import Watch
    from neardup.sketch import fingerprint_files

    with Watch(quiet=quiet) as watch:
        problems = fingerprint_files(
            inputs,
            output,
            recipe=o.recipe_of(recipe, strip_markup),
            text=text_field,
            id=id_field,
            title=title_field,
            title_from_first_line=title_from_first_line,
            format=format,
            force=force,
            workers=workers,
            progress=watch,
        )
    if problems:
        raise typer.Exit(2)
