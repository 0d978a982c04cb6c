"""How sketches are searched: the plan derived from a similarity or a distance."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from neardup.exceptions import ParameterError
from neardup.parameters import check_flag, check_max_distance, check_threshold, check_whole
from neardup.recipe import Recipe, load_recipe

#: Seconds to verify a pair of unrelated news texts whose shingles are at hand,
#: measured on the machine of the search's cost model.
_VERIFY = 3e-7

#: Wanted share of the pairs exactly at the threshold that the search finds. A
#: bit more of distance doubles the pairs to verify; pairs above the threshold
#: are found more surely.
RECALL = 0.98


@dataclass(frozen=True)
class Rule:
    """When two documents are duplicates.

    Parameters
    ----------
    max_distance : int
        Largest number of differing bits of a candidate pair, inclusive.
    threshold : float or None
        Smallest resemblance, inclusive; None if the distance alone decides.
    shingle : int
        Characters in a shingle of the resemblance.
    min_features : int
        A text with fewer features equals only an identical text.
    bits : int
        Width of the fingerprints.
    """

    max_distance: int
    threshold: float | None
    shingle: int
    min_features: int
    bits: int

    @property
    def measure(self) -> str:
        """Name of the similarity that every output states."""
        return measure_name(self.threshold is not None, self.shingle)


def measure_name(verified: bool, shingle: int) -> str:
    """Return ``resemblance(k)`` for verified pairs, else ``equal_bits``."""
    return f"resemblance({shingle})" if verified else "equal_bits"


def rule(
    recipe: Recipe,
    *,
    threshold: float | None = None,
    max_distance: int | None = None,
    recall: float = RECALL,
) -> Rule:
    """Return what counts as a duplicate, from the call or else from the recipe.

    A threshold means verified resemblance, and the distance is derived unless
    it is given too; a distance alone decides by itself.
    """
    from neardup import _core

    if threshold is None and max_distance is None:
        threshold, max_distance = recipe.decide.threshold, recipe.decide.max_distance
    if threshold is None and max_distance is None:
        raise ParameterError(
            f"The recipe '{recipe.name}' does not say what a duplicate is. "
            "Give a threshold or a max_distance, or set one under [decide]."
        )
    bits = recipe.sketch.bits
    if threshold is not None:
        threshold = check_threshold(threshold)
        if max_distance is None:
            max_distance = _core.radius(threshold, bits, recall)
    assert max_distance is not None
    return Rule(
        max_distance=check_max_distance(max_distance, bits),
        threshold=threshold,
        shingle=recipe.decide.shingle,
        min_features=recipe.decide.min_features,
        bits=bits,
    )


@dataclass(frozen=True)
class Plan:
    """What a search will do, and what it costs.

    Parameters
    ----------
    recipe_id : str
        Id of the recipe whose sketches are searched.
    documents : int
        Number of documents that the plan is for.
    bits : int
        Width of a fingerprint.
    max_distance : int
        Largest number of differing bits of a candidate pair, inclusive.
    threshold : float or None
        Smallest similarity, inclusive; None if the distance decides.
    measure : str
        The similarity that outputs state.
    predicted_recall : float
        Estimated share of pairs exactly at the threshold that become
        candidates; 1.0 where the distance decides.
    scheme : {"scan", "blocks"}
        SIMD brute force, or block-permutation keys.
    blocks, tables, key_bits : int
        For ``blocks``: pieces a fingerprint is cut into, tables of keys, bits
        of a key; 0 for ``scan``.
    comparisons : float
        Expected number of fingerprints compared bit by bit.
    random_pairs : float
        Pairs that random fingerprints would have within the distance: handed
        on to verification although nothing is alike. Real texts have more.
    verify_seconds : float
        Estimated time of verifying those on one core; real texts, above all
        those of one form, bring more. 0 where the distance decides.
    seconds : float
        Estimated time of finding all candidate pairs on one core.
    bytes_per_document : float
        Memory of the search.
    """

    recipe_id: str
    documents: int
    bits: int
    max_distance: int
    threshold: float | None
    measure: str
    predicted_recall: float
    scheme: str
    blocks: int
    tables: int
    key_bits: int
    comparisons: float
    random_pairs: float
    verify_seconds: float
    seconds: float
    bytes_per_document: float


def plan(
    documents: int = 1_000_000,
    *,
    recipe: str | Path | Recipe = "general",
    threshold: float | None = None,
    max_distance: int | None = None,
    look_ups: bool = False,
) -> Plan:
    """Return the search plan for a number of documents.

    Parameters
    ----------
    documents : int, default=1_000_000
        At least 0, below 2**32.
    recipe : str, Path or Recipe, default="general"
        See :func:`neardup.load_recipe`.
    threshold : float or None, default=None
        Smallest similarity, inclusive, in (0, 1].
    max_distance : int or None, default=None
        Largest number of differing bits, inclusive. Without either the recipe's
        own are taken.
    look_ups : bool, default=False
        Plan for one look-up after the other, as de-duplication does, and not
        for all pairs at once.

    Returns
    -------
    Plan

    Raises
    ------
    ParameterError
        If a parameter is out of bounds.

    Notes
    -----
    The scheme decides time and memory only: all give the same exact pairs.
    Times are those of one core of the machine on which the cost model was
    measured.

    Examples
    --------
    >>> from neardup import plan
    >>> plan(1_000_000, recipe="news").scheme
    'blocks'
    >>> plan(1_000, recipe="general").scheme
    'scan'
    """
    from neardup import _core

    documents = check_whole(documents, "documents", 0, 2**32 - 1)
    check_flag(look_ups, "look_ups")
    chosen = load_recipe(recipe)
    wanted = rule(chosen, threshold=threshold, max_distance=max_distance)
    recall = 1.0
    if wanted.threshold is not None:
        recall = _core.predicted_recall(wanted.threshold, wanted.bits, wanted.max_distance)
    costs = _core.plan(documents, wanted.bits, wanted.max_distance, look_ups=look_ups)
    verified = wanted.threshold is not None
    return Plan(
        recipe_id=chosen.id,
        documents=documents,
        bits=wanted.bits,
        max_distance=wanted.max_distance,
        threshold=wanted.threshold,
        measure=wanted.measure,
        predicted_recall=recall,
        verify_seconds=costs["random_pairs"] * _VERIFY if verified else 0.0,
        **costs,
    )
