"""``neardup fingerprint``: the fingerprint of each document."""

from __future__ import annotations

from typing import Annotated, Unpack

from neardup.cli import flags
from neardup.cli import options as o
from neardup.cli.outcome import end_with_problems
from neardup.options.groups import FingerprintFilesParameters

NAME = "fingerprint"
NEEDS_ARGUMENTS = True
EXAMPLES = (
    "neardup fingerprint articles.jsonl -o fingerprints.csv",
    "neardup fingerprint articles.jsonl --recipe classic --quiet",
    "neardup fingerprint articles.jsonl --recipe news --form signed --blocks 3 -o news.csv",
)


def run(
    inputs: o.Inputs,
    output: Annotated[
        str,
        flags.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Records id, fingerprint (null without features), features, recipe; format by "
            "extension, - for standard output.",
            rich_help_panel=o.OUTPUT,
        ),
    ] = "-",
    strip_markup: o.StripMarkup = False,
    quiet: o.Quiet = False,
    **options: Unpack[FingerprintFilesParameters],
) -> None:
    """Write the SimHash fingerprint of each document."""
    from neardup.cli.watch import Watch
    from neardup.sketch import fingerprint_files

    options["recipe"] = o.recipe_of(options["recipe"], strip_markup)
    with Watch(quiet=quiet) as watch:
        options["progress"] = watch
        problems = fingerprint_files(inputs, output, **options)
    if problems:
        end_with_problems()
