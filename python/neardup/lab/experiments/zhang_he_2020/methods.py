"""The methods that are compared, and one run of one of them."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import neardup
from neardup.base.validation import bad
from neardup.lab.datasets.collection import Places, places_of
from neardup.lab.metrics import Flags, Floats
from neardup.recipe import Recipe, load_recipe

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "RECIPES",
    "Matches",
    "Method",
    "find",
    "find_timed",
    "paper_methods",
]

#: How often a run is timed.
_REPEATS = 5
#: Documents of the run before the first timed one, which loads word lists.
_WARM_UP = 20

_DISTANCES = tuple(range(25))
_THRESHOLDS = tuple(percent / 100 for percent in range(30, 100, 5))

#: Recipes of the published comparison, and later ones.
RECIPES = (
    *("classic", "keywords", "improved", "shingle-sample", "shingle"),
    *("characters", "minhash", "general"),
)


@dataclass(frozen=True)
class Method:
    """A recipe, what tables and figures call it, and the cut-offs that it is tried at.

    A cut-off is a largest distance in bits or a smallest similarity, both inclusive, as the recipe
    decides.
    """

    name: str
    recipe: Recipe
    cut_offs: tuple[float, ...]

    @classmethod
    def of(cls, recipe: str | Path | Recipe) -> Method:
        """Return a recipe with the usual cut-offs."""
        loaded = load_recipe(recipe)
        decide = loaded.decide
        if decide.threshold is None and decide.max_distance is None:
            raise bad("recipes", "recipes that say what a duplicate is", loaded.name)
        return cls(loaded.name, loaded, _DISTANCES if decide.threshold is None else _THRESHOLDS)

    @property
    def by_threshold(self) -> bool:
        """Whether more is more similar."""
        return self.recipe.decide.threshold is not None

    @property
    def default(self) -> float:
        """The cut-off of the recipe itself."""
        decide = self.recipe.decide
        return decide.threshold if decide.threshold is not None else decide.max_distance or 0

    @property
    def loosest(self) -> float:
        """The cut-off that finds most."""
        return min(self.cut_offs) if self.by_threshold else max(self.cut_offs)

    def bound(self, cut_off: float) -> str:
        """Return a cut-off for people: ``≤ 3`` bits, or ``≥ 0.55``."""
        return f"{'≥' if self.by_threshold else '≤'} {cut_off:g}"

    def passes(self, value: Floats, cut_off: float) -> Flags:
        """Return which similarities or distances are within a cut-off."""
        return value >= cut_off if self.by_threshold else value <= cut_off


def paper_methods() -> tuple[Method, ...]:
    """Return MinHash and the paper's methods in its order, each with one cut-off.

    Shingle and traditional SimHash come in two readings each, since the paper does not give
    the sample size and the stop words; `improved` matches short markers as whole words, and as
    the paper does, inside words. A name is the paper's, then the reading. The paper names no
    distance; 3 of 64 bits is the usual one.
    """
    sample, classic = load_recipe("shingle-sample"), load_recipe("classic")
    with_stop_words = classic.replace(weigh={"stop_words": "none"})
    few = sample.replace(sketch={"size": 8})
    improved = load_recipe("improved")
    inside = improved.replace(weigh={"marker_match": "contains"})
    return (
        Method("MinHash", load_recipe("minhash"), (0.5,)),
        Method("Shingle, sample of 8", few, (0.5,)),
        Method("Shingle, sample of 64", sample, (0.5,)),
        Method("traditional, stop words kept", with_stop_words, (3,)),
        Method("traditional, stop words out", classic, (3,)),
        Method("improved, markers inside words", inside, (3,)),
        Method("improved", improved, (3,)),
    )


@dataclass(frozen=True)
class Matches:
    """What a method found: pairs `a` and `b` by place, and their distance or similarity.

    The distance is 0 where two identical texts have no fingerprint. `times` are the seconds of
    each run.
    """

    a: Places
    b: Places
    value: Floats
    times: tuple[float, ...]


def find(method: Method, table: pa.Table, cut_off: float, *, workers: int = 0) -> Matches:
    """Run a method over documents, once."""
    bound: dict[str, Any] = {"max_distance": int(cut_off)}
    if method.by_threshold:
        bound = {"threshold": cut_off}
    begin = time.perf_counter()
    result = neardup.pairs(table, recipe=method.recipe, workers=workers, **bound)
    seconds = time.perf_counter() - begin
    pairs = result.table
    value = pairs["similarity" if method.by_threshold else "distance"].to_numpy()
    return Matches(
        a=places_of(pairs["id_a"]),
        b=places_of(pairs["id_b"]),
        # Texts without a fingerprint are a pair only if they are identical.
        value=np.nan_to_num(value.astype(np.float64)),
        times=(seconds,),
    )


def find_timed(method: Method, table: pa.Table, cut_off: float, *, workers: int = 0) -> Matches:
    """Run a method five times, which finds the same each time."""
    find(method, table.slice(0, _WARM_UP), cut_off, workers=workers)
    runs = [find(method, table, cut_off, workers=workers) for _ in range(_REPEATS)]
    return replace(runs[0], times=tuple(run.times[0] for run in runs))
