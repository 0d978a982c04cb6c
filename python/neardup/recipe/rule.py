"""Rules: the bound that makes two documents duplicates, and the search for candidates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from neardup.base.lazy import _core
from neardup.base.messages import Message
from neardup.base.validation import bad, check_max_distance, check_threshold, check_whole
from neardup.exceptions import ParameterError
from neardup.recipe import CORPUS, Decide, Recipe, Sketch, load_recipe
from neardup.recipe.checks import check_bits
from neardup.recipe.ignored import check_ignored
from neardup.recipe.measures import MEASURES_OF_TEXTS, least_resemblance, least_shared, measure_name

#: Share of the pairs exactly at the threshold that a search of fingerprints must
#: find; pairs above it are found with higher probability. One more bit of distance
#: doubles the pairs to verify.
RECALL = 0.98

#: The same for a search of signatures, where one more band costs little.
BANDS_RECALL = 0.99

#: Below this resemblance, a sample is filed under all of its keys: too few of few keys are shared.
_FEW_KEYS_ENOUGH = 0.15


@dataclass(frozen=True)
class Rule:
    """When two documents are duplicates.

    Parameters
    ----------
    scheme : {"near", "bands", "postings", "prefix"}
        How candidates are found, by the kind of sketch.
    max_distance : int or None
        For fingerprints: largest number of differing bits of a candidate pair,
        inclusive.
    threshold : float or None
        Smallest similarity, inclusive; None if the distance alone decides.
    measured : {"content", "resemblance", "containment", "aligned", "sketch"}
        The similarity that the threshold is for.
    direction : {"contained", "either", "both"}
        For ``containment``: which text must lie in the other.
    common : bool
        Whether the collection's common shingles are counted.
    shingle : int
        Characters per shingle of the similarity.
    min_features : int
        A text with fewer features equals only an identical text; by ``content`` also one with
        the same letters and digits.
    sketch : Sketch
        The settings of the sketches.
    exhaustive : bool, default=False
        Whether posting lists of any length are searched, with documents indexed by all keys.
    """

    scheme: str
    max_distance: int | None
    threshold: float | None
    measured: str
    direction: str
    common: bool
    shingle: int
    min_features: int
    sketch: Sketch
    exhaustive: bool = False

    @property
    def measure(self) -> str:
        """Name of the similarity that every output states."""
        return measure_name(self.measured, self.shingle, self.sketch.kind)

    @property
    def keeps_texts(self) -> bool:
        """Whether texts decide, so that they must be kept until then."""
        return self.measured != "sketch"

    @property
    def least_features(self) -> int:
        """The fewest features of a document that is searched by its sketch."""
        return 1 if self.measured == "content" else max(self.min_features, 1)

    @property
    def spills_to_disk(self) -> bool:
        """Whether look-ups work with sketches in files; other searches need them in memory."""
        return self.scheme in ("postings", "bands") and self.keeps_texts

    @property
    def counted_shingle(self) -> int | None:
        """Length of the shingles to count over the collection, or None."""
        return self.shingle if self.common else None

    @property
    def resemblance(self) -> float:
        """The resemblance that candidates are searched by: the least that the threshold implies.

        It is 0 where a sample must be filed under all of its keys.
        """
        least = least_resemblance(self.measured, self.threshold or 0.0, self.shingle)
        is_counted = self.measured == "aligned" and self.scheme == "postings"
        return 0.0 if is_counted and least < _FEW_KEYS_ENOUGH else least

    @property
    def shared(self) -> float:
        """The share of shingles that two texts of equal length have in common at the threshold."""
        return least_shared(self.measured, self.threshold or 0.0, self.shingle)

    def banding(self, documents: int) -> tuple[int, int, float]:
        """Return bands, rows and the recall at the threshold; 0, 0, 1 without bands."""
        if self.scheme != "bands" or self.threshold is None:
            return 0, 0, 1.0
        return _core.banding(self.resemblance, BANDS_RECALL, self.sketch.num_perm, documents)

    def compiled(self, documents: int) -> _core.Rule:
        """Return the core's rule, for a collection of `documents` documents."""
        bands, rows, _ = self.banding(documents)
        return _core.Rule(
            scheme=self.scheme,
            max_distance=self.max_distance or 0,
            bands=bands,
            rows=rows,
            resemblance=self.resemblance,
            threshold=self.threshold or 0.0,
            measure=self.measured,
            direction=self.direction,
            shingle=self.shingle,
            min_features=self.min_features,
            exhaustive=self.exhaustive,
        )


def measured_by(recipe: Recipe, measure: str | None) -> Recipe:
    """Return the recipe with another measure, and with the threshold of that measure."""
    if measure is None or measure == recipe.decide.measure:
        return recipe
    threshold = None
    if measure in MEASURES_OF_TEXTS:
        threshold = load_recipe(MEASURES_OF_TEXTS[measure].recipe).decide.threshold
    elif recipe.sketch.kind != "simhash":
        threshold = recipe.decide.threshold
    direction = Decide.direction
    return recipe.replace(
        decide={"measure": measure, "threshold": threshold, "direction": direction}
    )


def chosen_recipe(options: Mapping[str, Any]) -> Recipe:
    """Return the recipe of a call, with the measure and with what else is to be ignored."""
    recipe = measured_by(load_recipe(options["recipe"]), options.get("measure"))
    ignore = options.get("ignore")
    if not ignore:
        return recipe
    return recipe.replace(normalize={"ignore": check_ignored((*recipe.normalize.ignore, *ignore))})


def with_bits(recipe: Recipe, bits: int | None) -> Recipe:
    """Return the recipe with fingerprints of another width, which decide as its own do.

    If the share of equal bits must exceed a bound, the bound stays that share. Any other distance
    stays the same, but is at most one less than the width.
    """
    if bits is None:
        return recipe
    sketch, decide = recipe.sketch, recipe.decide
    if sketch.kind != "simhash":
        raise ParameterError(
            Message(
                "{parameter:named} must be left out, not {value}, since '{recipe}' makes no "
                "fingerprints but '{kind}' sketches. Choose a recipe such as 'characters'.",
                parameter="bits",
                recipe=recipe.name,
                kind=sketch.kind,
                value=bits,
            )
        )
    width, distance = check_bits(bits, sketch.hash, "bits"), decide.max_distance
    if distance is not None and decide.exceeds:
        # The smallest distance that is too large leaves the same share of equal bits.
        distance = -(-(distance + 1) * width // sketch.bits) - 1
    if distance is not None:
        distance = min(distance, width - 1)
    return recipe.replace(sketch={"bits": width}, decide={"max_distance": distance})


def _find_largest_distance(threshold: float, bits: int, exceeds: bool) -> int:
    """Return the largest distance at which the share of equal bits is at least, or above, it."""
    for distance in range(bits, -1, -1):
        equal = (bits - distance) / bits
        if equal > threshold or (equal == threshold and not exceeds):
            return distance
    raise bad("threshold", "below 1, since a share of equal bits must exceed it", threshold)


def rule(
    recipe: Recipe,
    *,
    threshold: float | None = None,
    max_distance: int | None = None,
    exhaustive: bool = False,
) -> Rule:
    """Return the rule of a call, or else of the recipe.

    With a threshold, texts decide, unless the measure compares sketches. For fingerprints, the
    distance is derived from the threshold, unless it is set too. A distance alone decides.
    """
    decide, sketch = recipe.decide, recipe.sketch
    if sketch.kind != "simhash" and max_distance is not None:
        value = check_whole(max_distance, "max_distance", 0)
        raise ParameterError(
            Message(
                "{parameter:named} must be left out, not {value}, since '{recipe}' makes no "
                "fingerprints but '{kind}' sketches. Give a threshold, or a recipe such as "
                "'characters'.",
                parameter="max_distance",
                recipe=recipe.name,
                kind=sketch.kind,
                value=value,
            )
        )
    if threshold is None and max_distance is None:
        threshold, max_distance = decide.threshold, decide.max_distance
    if threshold is None and max_distance is None:
        raise ParameterError(
            Message(
                "The recipe '{recipe}' does not say what a duplicate is. Give a "
                "threshold or a max_distance, or set one under [decide].",
                recipe=recipe.name,
            )
        )
    if threshold is not None:
        threshold = check_threshold(threshold)
        if sketch.kind == "simhash" and decide.measure == "sketch":
            widest = _find_largest_distance(threshold, sketch.bits, decide.exceeds)
            if max_distance is not None:
                widest = min(widest, check_max_distance(max_distance, sketch.bits))
            threshold, max_distance = None, widest
    measured = "sketch" if threshold is None else decide.measure
    scheme = "near"
    if sketch.kind == "minhash":
        scheme = "bands"
    elif sketch.kind == "sample":
        scheme = "postings" if sketch.size else "prefix"
    else:
        if max_distance is None:
            assert threshold is not None
            max_distance = _core.radius(threshold, sketch.bits, RECALL)
        max_distance = check_max_distance(max_distance, sketch.bits)
    return Rule(
        scheme=scheme,
        max_distance=max_distance,
        threshold=threshold,
        measured=measured,
        direction=decide.direction,
        common=measured in ("content", "containment") and decide.common == CORPUS,
        shingle=decide.shingle,
        min_features=decide.min_features,
        sketch=sketch,
        exhaustive=exhaustive,
    )
