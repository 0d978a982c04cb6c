"""``neardup fingerprint``: the fingerprint of each document."""

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
from neardup.cli.watch import Watch
from neardup.options.groups import FingerprintFilesParameters


def run(
    *,
    inputs: Inputs,
    output: Annotated[
        str,
        declare_file(
            "Records id, fingerprint (null without features), features, recipe; format by "
            "extension, - for standard output.",
            "-o",
            default="-",
        ),
    ],
    strip_markup: StripMarkup,
    bits: Bits,
    settings: Settings,
    quiet: Quiet,
    **options: Unpack[FingerprintFilesParameters],
) -> None:
    """Write the SimHash fingerprint of each document.

    Examples:
        neardup fingerprint articles.jsonl -o fingerprints.csv
        neardup fingerprint articles.jsonl --recipe classic --quiet
        neardup fingerprint articles.jsonl --recipe news --form signed --blocks 3 -o news.csv
    """
    from neardup.tasks.sketch import fingerprint_files

    options["recipe"] = choose_recipe(
        options["recipe"], strip_markup=strip_markup, bits=bits, settings=settings
    )
    with Watch(quiet=quiet) as watch:
        options["progress"] = watch
        problems = fingerprint_files(inputs, output, **options)
    if problems:
        end_with_problems()
