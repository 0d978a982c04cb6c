"""The experiments of the lab, one package each; both compare recipes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from neardup.base.validation import bad
from neardup.recipe import Recipe, load_recipe


def check_recipes(
    recipes: Sequence[str | Path | Recipe] | None, usual: Sequence[str]
) -> Sequence[str | Path | Recipe]:
    """Return the recipes to compare as they were given, by default the usual ones."""
    if recipes is None:
        return usual
    is_list = isinstance(recipes, Sequence) and not isinstance(recipes, (str, bytes))
    if not is_list or not recipes:
        raise bad("recipes", "a list of recipes, at least one", recipes)
    names = [load_recipe(recipe).name for recipe in recipes]
    if len(set(names)) < len(names):
        raise bad("recipes", "recipes with different names", names)
    return recipes


def format_bound(cut_off: float, *, by_distance: bool) -> str:
    """Return a cut-off, for people: ``≤ 3`` bits, or ``≥ 0.55``; both are inclusive."""
    return f"{'≤' if by_distance else '≥'} {cut_off:.4g}"
