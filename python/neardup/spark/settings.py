"""What a job is about: recipe, rule and fields, as every task needs them.

Settings go to the tasks by pickle. The core's objects are made once in each process.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from neardup._engine.messages import Message
from neardup._engine.rule import Rule, rule
from neardup.exceptions import ParameterError
from neardup.readers.fields import Fields
from neardup.recipe import CORPUS, Recipe

if TYPE_CHECKING:
    from neardup import _core


@dataclass(frozen=True)
class Settings:
    """Recipe, rule and fields of a job.

    Parameters
    ----------
    recipe : Recipe
    rule : Rule
    fields : Fields
        Which fields are text and id.
    lines : bool
        Whether records are JSON lines, and not rows of a table.
    """

    recipe: Recipe
    rule: Rule
    fields: Fields
    lines: bool

    @property
    def compares_sketches(self) -> bool:
        """Whether sketches have a say in which candidates are duplicates, or what is told of it."""
        return self.rule.scheme in ("near", "prefix") or not self.rule.keeps_texts


def settings_of(
    recipe: Recipe,
    *,
    threshold: float | None,
    max_distance: int | None = None,
    fields: Fields,
    lines: bool,
) -> Settings:
    """Return the settings of a job.

    Raises
    ------
    ParameterError
        If the search has no keys that could be dealt out, or if the recipe needs what the
        text of a single document does not tell.
    """
    wanted = rule(recipe, threshold=threshold, max_distance=max_distance)
    if recipe.weigh.idf == CORPUS:
        raise _refused(recipe, "spark.recipe_counts_corpus")
    if recipe.weigh.scheme == "improved":
        raise _refused(recipe, "spark.recipe_weighs_titles")
    settings = Settings(recipe, wanted, fields, lines)
    if wanted.scheme == "near" and not _has_keys(settings):
        bounds = {"bits": recipe.sketch.bits, "distance": wanted.max_distance}
        raise _refused(recipe, "spark.distance_without_keys", **bounds)
    return settings


def _has_keys(settings: Settings) -> bool:
    """Say whether the core has keys for a distance; a large one is found by looking at all."""
    try:
        exchange(settings, 1, 1)
    except ParameterError:
        return False
    return True


def _refused(recipe: Recipe, code: str, **values: Any) -> ParameterError:
    return ParameterError(Message(code, parameter="recipe", value=recipe.name, **values))


def core_recipe(settings: Settings) -> _core.Recipe:
    """Return the core's recipe; it is made once in each process."""
    from neardup.recipe.assets import compiled

    # Each task has a core to itself; a pool of threads would take its neighbours'.
    os.environ.setdefault("RAYON_NUM_THREADS", "1")
    return compiled(settings.recipe)


@lru_cache(maxsize=8)
def core_rule(settings: Settings, documents: int) -> _core.Rule:
    """Return the core's rule for a collection of so many documents."""
    return settings.rule.compiled(documents)


def exchange(settings: Settings, documents: int, buckets: int) -> _core.Exchange:
    """Return the core's steps of the search, with keys dealt to so many buckets."""
    from neardup import _core

    wanted = core_rule(settings, documents)
    return _core.Exchange(wanted, core_recipe(settings), buckets=buckets)


def described(settings: Settings, **others: Any) -> dict[str, Any]:
    """Return what decides the result, for a checkpoint to be told from another's."""
    from neardup import _core
    from neardup.recipe.assets import digest

    decide = settings.rule
    return {
        "version": _core.__version__,
        "recipe": f"{settings.recipe.name}-{digest(settings.recipe)}",
        "scheme": decide.scheme,
        "threshold": decide.threshold,
        "max_distance": decide.max_distance,
        "measure": decide.measure,
        "common": decide.common,
        "min_features": decide.min_features,
        "fields": [settings.fields.text, settings.fields.id],
        "lines": settings.lines,
        **others,
    }
