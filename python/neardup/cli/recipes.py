"""``neardup recipes``: the built-in recipes, or one of them as TOML."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from neardup.options import options as o
from neardup.recipe import BuiltIn

if TYPE_CHECKING:
    from neardup.recipe import Sketch


def run(
    *,
    recipe: Annotated[
        BuiltIn | str | None,
        o.Argument("Print this recipe as TOML: a built-in one, or a .toml file.", metavar="[NAME]"),
    ],
) -> None:
    """List the recipes, or print one as TOML, as a start for your own.

    Examples:
        neardup recipes
        neardup recipes news > my-news.toml
    """
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
