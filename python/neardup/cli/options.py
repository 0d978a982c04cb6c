"""Options that several commands share, defined once and grouped by stage."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from neardup.recipe import Recipe

_INPUT, _SKETCH, _DECIDE = "Input", "Normalize to sketch", "Candidates to cluster"
_OUTPUT, _RUN = "Output", "Run"

Inputs = Annotated[
    list[str],
    typer.Argument(
        metavar="INPUT...",
        help="Files (.jsonl .parquet .csv .tsv .txt .md .html .docx .pdf, each also .gz or "
        ".zst), folders of such files, patterns in quotes ('dump/**/*.jsonl*'), or - for "
        "standard input.",
        show_default=False,
    ),
]
Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        help="Format of the inputs: jsonl, parquet, csv, tsv or text. By default told from "
        "each name and content. Of a folder, only files of this format are read.",
        rich_help_panel=_INPUT,
        show_default=False,
    ),
]
TextField = Annotated[
    str | None,
    typer.Option(
        "--text-field",
        help="Field of the text. By default text, else content, else body.",
        rich_help_panel=_INPUT,
        show_default=False,
    ),
]
IdField = Annotated[
    str | None,
    typer.Option(
        "--id-field",
        help="Field of the id. By default id, else FILE:RECORD.",
        rich_help_panel=_INPUT,
        show_default=False,
    ),
]
TitleField = Annotated[
    str | None,
    typer.Option(
        "--title-field",
        help="Field of the title, for recipes that weigh its words. By default title.",
        rich_help_panel=_INPUT,
        show_default=False,
    ),
]
FirstLine = Annotated[
    bool,
    typer.Option(
        "--title-from-first-line",
        help="Where there is no title field, take the first line of the text.",
        rich_help_panel=_INPUT,
    ),
]
RecipeName = Annotated[
    str,
    typer.Option(
        "--recipe",
        "-r",
        help="How a text becomes a sketch, and what a duplicate is: a name from "
        "`neardup recipes`, or a .toml file.",
        rich_help_panel=_SKETCH,
    ),
]
StripMarkup = Annotated[
    bool,
    typer.Option(
        "--strip-markup",
        help="Drop HTML tags and decode entities before anything is compared.",
        rich_help_panel=_SKETCH,
    ),
]
Threshold = Annotated[
    float | None,
    typer.Option(
        "--threshold",
        "-t",
        help="Smallest similarity of a duplicate, inclusive, above 0 and at most 1, by the "
        "recipe's measure. By default the recipe's own.",
        rich_help_panel=_DECIDE,
        show_default=False,
    ),
]
MaxDistance = Annotated[
    int | None,
    typer.Option(
        "--max-distance",
        "-d",
        help="Largest distance of two fingerprints, inclusive, in bits. Alone it decides, "
        "unverified; with --threshold it bounds the candidates.",
        rich_help_panel=_DECIDE,
        show_default=False,
    ),
]
Force = Annotated[
    bool,
    typer.Option("--force", "-f", help="Replace outputs that exist.", rich_help_panel=_OUTPUT),
]
Report = Annotated[
    Path | None,
    typer.Option(
        "--report",
        metavar="FILE",
        help="Write counts, settings, recipe, plan, problems and versions as JSON.",
        rich_help_panel=_OUTPUT,
        show_default=False,
    ),
]
FailOnDuplicates = Annotated[
    bool,
    typer.Option(
        "--fail-on-duplicates",
        help="Exit with 1 if duplicates were found.",
        rich_help_panel=_RUN,
    ),
]
Workers = Annotated[
    int,
    typer.Option(
        "--workers",
        "-j",
        help="Threads; 0 means one for each processor. Changes no result.",
        rich_help_panel=_RUN,
    ),
]
Quiet = Annotated[
    bool,
    typer.Option(
        "--quiet", "-q", help="No progress and no summary; errors only.", rich_help_panel=_RUN
    ),
]


def recipe_of(name: str, strip_markup: bool = False) -> Recipe:
    """Return the recipe that the options name."""
    from neardup.recipe import load_recipe

    recipe = load_recipe(name)
    return recipe.replace(normalize={"strip_markup": True}) if strip_markup else recipe
