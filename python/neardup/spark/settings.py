"""What a job is about: recipe, rule and fields, as every task needs them.

Settings go to the tasks by pickle. The core's objects are made once in each process.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from neardup.exceptions import ParameterError
from neardup.plan import Rule, rule
from neardup.readers.fields import Fields
from neardup.recipe import CORPUS, Recipe

if TYPE_CHECKING:
    from neardup import _core

#: Searches whose keys can be dealt to buckets.
EXCHANGED = ("postings", "bands")

_ADVICE = (
    "Choose a recipe such as 'general' or 'minhash', or leave the engine out to run on one machine."
)


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
        If the recipe's search is none that can be spread, if its texts do not decide, or
        if it needs what a single document does not tell.
    """
    wanted = rule(recipe, threshold=threshold, max_distance=max_distance)
    if wanted.scheme not in EXCHANGED:
        raise _refused(
            recipe,
            f"search by keys that can be exchanged ({', '.join(EXCHANGED)})",
            f"the search '{wanted.scheme}'",
        )
    if not wanted.keeps_texts:
        raise _refused(recipe, "verify its candidates on the texts", "the measure 'sketch'")
    if recipe.weigh.idf == CORPUS:
        raise _refused(recipe, "weigh each text by itself", "idf = 'corpus'")
    if recipe.weigh.scheme == "improved":
        raise _refused(recipe, "sketch equal texts equally", "weights that depend on titles")
    return Settings(recipe, wanted, fields, lines)


def _refused(recipe: Recipe, expected: str, found: str) -> ParameterError:
    return ParameterError(
        f"The 'recipe' parameter must, on Spark, name one that would {expected}. "
        f"Got '{recipe.name}' with {found} instead. {_ADVICE}"
    )


def core_recipe(settings: Settings) -> _core.Recipe:
    """Return the core's recipe; it is made once in each process."""
    from neardup.resources import compiled

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
    from neardup.resources import digest

    decide = settings.rule
    return {
        "recipe": f"{settings.recipe.name}-{digest(settings.recipe)}",
        "scheme": decide.scheme,
        "threshold": decide.threshold,
        "measure": decide.measure,
        "common": decide.common,
        "min_features": decide.min_features,
        "fields": [settings.fields.text, settings.fields.id],
        "lines": settings.lines,
        **others,
    }
