"""Options that only commands have."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from typing import Annotated, Any

from neardup.base.messages import Language
from neardup.base.validation import bad
from neardup.options import options as o
from neardup.readers.formats import SHOWN_EXTENSIONS
from neardup.recipe import AnyRecipe, Recipe, load_recipe
from neardup.recipe.rule import with_bits
from neardup.recipe.stages import STAGES


def declare_file(help: str, short: str | None = None, default: str | None = None) -> o.Option:
    """Return the option for a file to write."""
    return o.Option(help, o.OUTPUT, default, short, metavar="FILE")


Inputs = Annotated[
    list[str],
    o.Argument(
        f"Files ({SHOWN_EXTENSIONS}); the same with .gz, .zst, .xz or .bz2; folders or archives "
        "(.zip, .tar, .tar.gz) of such files; patterns in "
        "quotes ('dump/**/*.jsonl*'); or - for standard input.",
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
Settings = Annotated[
    list[str],
    o.Option(
        "Change a setting of the recipe, such as weigh.top=5; `neardup recipes NAME` prints the "
        "settings of each stage. May be repeated.",
        o.TEXT,
        default=(),
        flag="--set",
        metavar="STAGE.SETTING=VALUE",
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


def choose_recipe(
    recipe: AnyRecipe,
    *,
    strip_markup: bool = False,
    bits: int | None = None,
    settings: Sequence[str] = (),
) -> Recipe:
    """Return the recipe that the options name, with the changes that they ask for."""
    chosen = load_recipe(recipe)
    changes = _parse_changes(settings)
    if strip_markup:
        changes.setdefault("normalize", {})["strip_markup"] = True
    # Another width keeps the share of equal bits, unless a distance is set as well.
    width = changes.get("sketch", {}).pop("bits", None)
    return with_bits(chosen, width if bits is None else bits).replace(**changes)


def _parse_changes(settings: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return the values of settings by stage and name."""
    changes: dict[str, dict[str, Any]] = {}
    for setting in settings:
        path, equals, text = setting.partition("=")
        stage, dot, name = path.strip().partition(".")
        if not equals or not dot:
            raise bad("settings", "STAGE.SETTING=VALUE, such as weigh.top=5", setting)
        default = getattr(STAGES.get(stage), name, None)
        changes.setdefault(stage, {})[name] = _parse_value(text, default)
    return changes


def _parse_value(text: str, default: object) -> Any:
    """Return a value as a recipe file would have it; text needs no quotes."""
    if default is None and text == "none":
        return None
    if not isinstance(default, str) or text[:1] in ("'", '"'):
        try:
            value = tomllib.loads(f"value = {text}")["value"]
            return tuple(value) if isinstance(value, list) else value
        except tomllib.TOMLDecodeError:
            pass
    return text
