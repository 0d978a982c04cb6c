"""Recipes: how a text becomes a sketch, and what a duplicate is by default."""

from neardup.recipe.recipe import NAMES, AnyRecipe, BuiltIn, Recipe, load_recipe, recipe_from_table
from neardup.recipe.stages import (
    BUNDLED,
    CORPUS,
    EXTENDED,
    FILES,
    NONE,
    Decide,
    Normalize,
    Segment,
    Sketch,
    Weigh,
)

__all__ = [
    "BUNDLED",
    "CORPUS",
    "EXTENDED",
    "FILES",
    "NAMES",
    "NONE",
    "AnyRecipe",
    "BuiltIn",
    "Decide",
    "Normalize",
    "Recipe",
    "Segment",
    "Sketch",
    "Weigh",
    "load_recipe",
    "recipe_from_table",
]
