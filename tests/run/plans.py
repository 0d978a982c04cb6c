"""The plan of a search by a recipe."""

from neardup import load_recipe
from neardup.recipe.rule import measured_by, rule
from neardup.run.plan import plan_of


def plan(documents=1000, *, recipe, measure=None, look_ups=False, **bounds):
    chosen = measured_by(load_recipe(recipe), measure)
    return plan_of(chosen, rule(chosen, **bounds), documents, look_ups=look_ups)
