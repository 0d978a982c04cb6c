"""``neardup recipes``: the built-in recipes, or one of them as TOML."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from neardup.cli import flags
from neardup.recipe import BuiltIn

if TYPE_CHECKING:
    from neardup.recipe import Sketch

NAME = "recipes"
NEEDS_ARGUMENTS = False
EXAMPLES = ("neardup recipes", "neardup recipes news > my-news.toml")


def run(
    recipe: Annotated[
        BuiltIn | str | None,
        flags.Argument(
            metavar="[NAME]",
            help="Print this recipe as TOML: a built-in one, or a .toml file.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """List the recipes, or print one as TOML, as a start for your own."""
    from neardup.recipe import NAMES, load_recipe

    if recipe is not None:
        chosen = load_recipe(recipe)
        print(f"# id {chosen.id}\n{chosen.to_toml()}", end="")
        return
    for name in NAMES:
        known = load_recipe(name)
        default = " (default)" if name == NAMES[0] else ""
        print(f"{name:<16}{_sketch(known.sketch):<14}{known.description}{default}")


def _sketch(sketch: Sketch) -> str:
    if sketch.kind == "simhash":
        return f"{sketch.bits} bits"
    if sketch.kind == "minhash":
        return f"{sketch.num_perm} values"
    return f"sample of {sketch.size}" if sketch.size else "all shingles"
