"""``neardup sketch``: sketches of a collection, for later runs against it."""

from __future__ import annotations

from typing import Annotated, Unpack

from neardup.cli.options import (
    Bits,
    Inputs,
    Quiet,
    Settings,
    StripMarkup,
    choose_recipe,
    declare_file,
)
from neardup.cli.terminal import end_with_problems
from neardup.cli.watch import Watch, print_summary
from neardup.options.groups import SketchFilesParameters


def run(
    *,
    inputs: Inputs,
    output: Annotated[
        str,
        declare_file(
            "File for the sketches and texts of all documents, for --against of dedup and pairs.",
            "-o",
        ),
    ],
    strip_markup: StripMarkup,
    bits: Bits,
    settings: Settings,
    quiet: Quiet,
    **options: Unpack[SketchFilesParameters],
) -> None:
    """Sketch a collection once, so that later runs against it need not read it again.

    Examples:
        neardup sketch dump/ -o archive.sketches
        neardup sketch articles.jsonl -o articles.sketches --recipe characters
    """
    from neardup.tasks.sketch import sketch_files

    options["recipe"] = choose_recipe(
        options["recipe"], strip_markup=strip_markup, bits=bits, settings=settings
    )
    with Watch(quiet=quiet) as watch:
        options["progress"] = watch
        summary = sketch_files(inputs, output, **options)
    if not quiet:
        print_summary(summary, "", None, None)
    if summary.problems:
        end_with_problems()
