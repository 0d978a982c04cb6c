"""``neardup sketch``: sketches of a collection, for later runs against it."""

from __future__ import annotations

from typing import Annotated, Unpack

from neardup.cli import flags
from neardup.cli import options as o
from neardup.cli.outcome import end_with_problems
from neardup.options.groups import SketchFilesParameters

NAME = "sketch"
NEEDS_ARGUMENTS = True
EXAMPLES = (
    "neardup sketch dump/ -o archive.sketches",
    "neardup sketch articles.jsonl -o articles.sketches --recipe characters",
)


def run(
    *,
    inputs: o.Inputs,
    output: Annotated[
        str,
        flags.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="File for the sketches and the texts of all documents, which --against of dedup "
            "and --with of pairs take.",
            rich_help_panel=o.OUTPUT,
            show_default=False,
        ),
    ],
    strip_markup: o.StripMarkup = False,
    quiet: o.Quiet = False,
    **options: Unpack[SketchFilesParameters],
) -> None:
    """Sketch a collection once, so that later runs against it need not read it again."""
    from neardup.cli.watch import Watch, print_summary
    from neardup.sketch import sketch_files

    options["recipe"] = o.recipe_of(options["recipe"], strip_markup)
    with Watch(quiet=quiet) as watch:
        options["progress"] = watch
        summary = sketch_files(inputs, output, **options)
    if not quiet:
        print_summary(summary, "", None, None)
    if summary.problems:
        end_with_problems()
