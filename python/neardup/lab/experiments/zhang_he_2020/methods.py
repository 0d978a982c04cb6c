"""The methods that are compared, and one run of one of them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

import neardup
from neardup.base.messages import Message
from neardup.base.validation import bad, check_string, check_threshold
from neardup.exceptions import ParameterError
from neardup.lab.datasets.collection import Places, places_of
from neardup.lab.metrics import Flags, Floats
from neardup.recipe import Recipe, load_recipe

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "METHODS",
    "Matches",
    "Method",
    "find",
    "find_timed",
    "paper_methods",
    "select_methods",
]

#: How often a run is timed.
_REPEATS = 5
#: Documents of the run before the first timed one, which loads word lists.
_WARM_UP = 20

_DISTANCES = tuple(range(25))
_THRESHOLDS = tuple(percent / 100 for percent in range(30, 100, 5))


@dataclass(frozen=True)
class Method:
    """A method: a recipe, and the cut-offs it is tried at.

    Parameters
    ----------
    name : str
        What tables and figures call it.
    recipe : str or Recipe
        See :func:`neardup.load_recipe`.
    measure : {"max_distance", "threshold"}
        What a cut-off is: a largest distance in bits, or a smallest similarity;
        both inclusive. It must be what the recipe decides by.
    cut_offs : tuple of int or float
        Those that are tried, in any order; at least one.

    Raises
    ------
    ParameterError
        If a parameter is out of bounds.

    Examples
    --------
    >>> Method("wide", "classic", "max_distance", (3, 6, 9)).default
    3
    """

    name: str
    recipe: str | Recipe
    measure: str
    cut_offs: tuple[float, ...]

    def __post_init__(self) -> None:
        check_string(self.name, "name")
        if self.measure not in ("max_distance", "threshold"):
            raise bad("measure", "max_distance or threshold", self.measure)
        if not self.cut_offs:
            raise bad("cut_offs", "at least one number", self.cut_offs)
        if self.by_threshold:
            for cut_off in self.cut_offs:
                check_threshold(cut_off, "cut_offs")

    @property
    def by_threshold(self) -> bool:
        """Whether more is more similar."""
        return self.measure == "threshold"

    @property
    def default(self) -> float:
        """The cut-off of the recipe itself."""
        decide = load_recipe(self.recipe).decide
        cut_off = decide.threshold if self.by_threshold else decide.max_distance
        if cut_off is None:
            raise ParameterError(
                Message(
                    "{parameter:named} of method '{method}' must decide by {measure}. Got "
                    "a recipe without one instead.",
                    parameter="recipe",
                    method=self.name,
                    measure=self.measure,
                )
            )
        return cut_off

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


#: Methods of the published comparison, and later recipes.
METHODS = (
    Method("classic", "classic", "max_distance", _DISTANCES),
    Method("keywords", "keywords", "max_distance", _DISTANCES),
    Method("improved", "improved", "max_distance", _DISTANCES),
    Method("shingle-sample", "shingle-sample", "threshold", _THRESHOLDS),
    Method("shingle", "shingle", "threshold", _THRESHOLDS),
    Method("characters", "characters", "threshold", _THRESHOLDS),
    Method("minhash", "minhash", "threshold", _THRESHOLDS),
    Method("general", "general", "threshold", _THRESHOLDS),
)


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
    inside = load_recipe("improved").replace(weigh={"marker_match": "contains"})
    return (
        Method("MinHash", "minhash", "threshold", (0.5,)),
        Method("Shingle, sample of 8", few, "threshold", (0.5,)),
        Method("Shingle, sample of 64", sample, "threshold", (0.5,)),
        Method("traditional, stop words kept", with_stop_words, "max_distance", (3,)),
        Method("traditional, stop words out", classic, "max_distance", (3,)),
        Method("improved, markers inside words", inside, "max_distance", (3,)),
        Method("improved", "improved", "max_distance", (3,)),
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
    recipe = load_recipe(method.recipe)
    bound: dict[str, Any] = {"max_distance": int(cut_off)}
    if method.by_threshold:
        bound = {"threshold": cut_off}
    begin = time.perf_counter()
    result = neardup.pairs(table, recipe=recipe, workers=workers, **bound)
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


def select_methods(methods: Sequence[str | Method] | None) -> tuple[Method, ...]:
    """Return methods by name or as they are; None are all of `METHODS`."""
    if methods is None:
        return METHODS
    if isinstance(methods, str):
        raise bad("methods", "a list of names or Methods", methods)
    known = {method.name: method for method in METHODS}
    chosen = []
    for method in methods:
        if not isinstance(method, Method):
            if method not in known:
                raise bad(
                    "methods", "some of {choices}, or Methods", method, choices=", ".join(known)
                )
            method = known[method]
        chosen.append(method)
    names = [method.name for method in chosen]
    if not names or len(set(names)) < len(names):
        raise bad("methods", "at least one method, all with different names", names)
    return tuple(chosen)
