"""Options that only commands have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from neardup.base.messages import Language
from neardup.options import options as o

if TYPE_CHECKING:
    from neardup.recipe import AnyRecipe, Recipe


def file(help: str, short: str | None = None, default: str | None = None) -> o.Option:
    """Return the option for a file to write."""
    return o.Option(help, o.OUTPUT, default, short, metavar="FILE")


Inputs = Annotated[
    list[str],
    o.Argument(
        "Files (.jsonl .parquet .csv .tsv .txt .md .html .docx .pdf, each also .gz, .zst, .xz or "
        ".bz2), folders or archives (.zip, .tar, .tar.gz) of such files, patterns in quotes "
        "('dump/**/*.jsonl*'), or - for standard input.",
        metavar="INPUT...",
    ),
]
StripMarkup = Annotated[
    bool, o.Option("Drop HTML tags and decode entities before texts are compared.", o.TEXT)
]
Bits = Annotated[
    int | None,
    o.Option(
        "Width of fingerprints in bits, for recipes that make them: 32, 64, 128 or 256; with the "
        "recipe news 1 to 256, with bkdr 1 to 64. By default the recipe's own.",
        o.TEXT,
    ),
]
ReportLanguage = Annotated[
    Language | None,
    o.Option(
        "Language of the report and of messages: zh or en. By default as for all commands, from "
        "LC_ALL, LC_MESSAGES or LANG.",
        o.OUTPUT,
    ),
]
FailOnDuplicates = Annotated[bool, o.Option("Exit with 1 if duplicates were found.")]
Quiet = Annotated[bool, o.Option("Print errors only: no progress, no summary.", short="-q")]


def recipe_of(recipe: AnyRecipe, *, strip_markup: bool = False, bits: int | None = None) -> Recipe:
    """Return the recipe that the options name."""
    from neardup.recipe import load_recipe
    from neardup.recipe.rule import with_bits

    chosen = with_bits(load_recipe(recipe), bits)
    return chosen.replace(normalize={"strip_markup": True}) if strip_markup else chosen
