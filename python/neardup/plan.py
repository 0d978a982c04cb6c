"""How sketches are searched: the plan derived from a similarity or a distance."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Unpack

from neardup._engine.options import MatchParameters, completed, takes_options
from neardup._engine.rule import Rule, rule
from neardup._engine.validation import check_flag, check_whole
from neardup.recipe import NONE, Recipe, load_recipe

#: Seconds to verify a pair of unrelated news texts whose shingles are at hand,
#: measured on the machine of the search's cost model.
_VERIFY = 3e-7

#: Bytes for each band of a document: its number, its entry in a list, and its
#: part of the list's head.
_BAND_BYTES = 16.0

#: Bytes for each key of a sample at the peak: the key, its number, and the sort
#: that numbers it, whose room the lists take over. Between 13 and 17 were measured,
#: on 280,000 to 10^6 short pieces of news.
_SAMPLED_BYTES = 15.0

#: Points of the printed curve of a banding.
_POINTS = 21


@dataclass(frozen=True)
class Plan:
    """What a search will do, and what it costs.

    Parameters
    ----------
    recipe_id : str
        Id of the recipe whose sketches are searched.
    documents : int
        Number of documents that the plan is for.
    kind : {"simhash", "minhash", "sample"}
        Kind of sketch.
    threshold : float or None
        Smallest similarity, inclusive; None if the distance decides.
    measure : str
        The similarity that outputs state.
    scheme : {"scan", "blocks", "bands", "postings", "prefix"}
        SIMD brute force or block-permutation keys for fingerprints, bands for
        signatures, shared keys for samples: of a few that a document is filed
        under, or all that a resemblance cannot do without.
    predicted_recall : float or None
        Estimated share of pairs with a resemblance exactly at the threshold
        that become candidates; for ``postings``, of pairs of equal length. 1.0
        where the search is exact, None where it is by other features than the
        shingles that are compared.
    bytes_per_document : float or None
        Memory of sketches and search; None where it depends on how long the
        texts are.
    bits : int or None
        Width of a fingerprint; None for other sketches.
    max_distance : int or None
        Largest number of differing bits of a candidate pair, inclusive.
    blocks, tables, key_bits : int
        For ``blocks``: pieces a fingerprint is cut into, tables of keys, bits
        of a key; else 0.
    comparisons : float
        For fingerprints: expected number compared bit by bit.
    random_pairs : float
        For fingerprints: pairs that random ones would have within the
        distance, handed on to verification although nothing is alike. Real
        texts have more.
    verify_seconds : float
        Estimated time of verifying those on one core; 0 where nothing is
        verified.
    seconds : float
        For fingerprints: estimated time of finding all candidate pairs on one
        core.
    num_perm, bands, rows : int
        For ``bands``: values of a signature, bands and rows; else 0.
    s_curve : tuple of (float, float)
        For ``bands``: similarities from 0 to 1 and the share of such pairs that
        become candidates.
    keys : int
        Keys that a document is filed under, at most; 0 for fingerprints and
        ``prefix``.
    """

    recipe_id: str
    documents: int
    kind: str
    threshold: float | None
    measure: str
    scheme: str
    predicted_recall: float | None
    bytes_per_document: float | None
    bits: int | None = None
    max_distance: int | None = None
    blocks: int = 0
    tables: int = 0
    key_bits: int = 0
    comparisons: float = 0.0
    random_pairs: float = 0.0
    verify_seconds: float = 0.0
    seconds: float = 0.0
    num_perm: int = 0
    bands: int = 0
    rows: int = 0
    s_curve: tuple[tuple[float, float], ...] = ()
    keys: int = 0


@takes_options
def plan(
    documents: int = 1_000_000, *, look_ups: bool = False, **options: Unpack[MatchParameters]
) -> Plan:
    """Return the search plan for a number of documents.

    Parameters
    ----------
    documents : int, default=1_000_000
        At least 0, below 2**32.
    look_ups : bool, default=False
        Plan for one look-up after the other, as de-duplication does, and not
        for all pairs at once.
    {options}

    Returns
    -------
    Plan

    Raises
    ------
    ParameterError
        If a parameter is out of bounds.

    Notes
    -----
    For fingerprints the scheme decides time and memory only: all give the same
    exact pairs. Times are those of one core of the machine on which the cost
    model was measured. For signatures the share found of pairs with similarity
    s is 1 - (1 - s ** rows) ** bands [1]_.

    References
    ----------
    .. [1] Leskovec, Rajaraman and Ullman. Mining of Massive Datasets, ch. 3.

    Examples
    --------
    >>> from neardup import plan
    >>> plan(1_000_000, recipe="news").scheme
    'blocks'
    >>> chosen = plan(1_000_000, recipe="minhash", threshold=0.8)
    >>> chosen.scheme, chosen.bands * chosen.rows <= chosen.num_perm
    ('bands', True)
    """
    documents = check_whole(documents, "documents", 0, 2**32 - 1)
    check_flag(look_ups, "look_ups")
    given = completed(plan, options)
    chosen = load_recipe(given.pop("recipe"))
    return plan_of(chosen, rule(chosen, **given), documents, look_ups=look_ups)


def plan_of(recipe: Recipe, wanted: Rule, documents: int, *, look_ups: bool) -> Plan:
    """Return the plan for a rule that is known already."""
    from neardup import _core

    sketch = wanted.sketch
    details: dict[str, Any]
    if sketch.kind == "simhash":
        assert wanted.max_distance is not None
        distance = wanted.max_distance
        costs = _core.plan(documents, sketch.bits, distance, look_ups=look_ups)
        recall = 1.0
        if wanted.threshold is not None:
            recall = _core.predicted_recall(wanted.threshold, sketch.bits, distance)
        details = {
            "predicted_recall": recall,
            "bits": sketch.bits,
            "max_distance": distance,
            "verify_seconds": costs["random_pairs"] * _VERIFY if wanted.keeps_texts else 0.0,
            **costs,
        }
    elif sketch.kind == "minhash":
        bands, rows, recall = wanted.banding(documents)
        details = {
            "scheme": "bands",
            "predicted_recall": recall,
            "bytes_per_document": 4.0 * sketch.num_perm + bands * _BAND_BYTES,
            "num_perm": sketch.num_perm,
            "bands": bands,
            "rows": rows,
            "s_curve": tuple(_core.s_curve(bands, rows, _POINTS)),
            "keys": bands,
        }
    else:
        sampled = sketch.size * 3 // 2
        details = {
            "scheme": wanted.scheme,
            "predicted_recall": _sample_recall(sketch.size, wanted.threshold or 1.0),
            "bytes_per_document": sampled * _SAMPLED_BYTES if sampled else None,
            "keys": min(sampled, _core.RARE_KEYS + _core.COMMON_KEYS),
        }
    is_of_sets = sketch.kind != "simhash" and wanted.keeps_texts
    if is_of_sets and not _searches_what_it_compares(recipe, wanted):
        # Of other features than the texts' shingles nothing is known.
        details["predicted_recall"] = None
    return Plan(
        recipe_id=recipe.id,
        documents=documents,
        kind=sketch.kind,
        threshold=wanted.threshold,
        measure=wanted.measure,
        **details,
    )


def _sample_recall(size: int, threshold: float) -> float:
    """Return the share of pairs of equal length that share enough of the keys filed.

    Two sets of equal size and resemblance t have 2t/(1+t) of each in common, so
    that is the probability of each key. All keys are taken for rare.
    """
    from neardup import _core

    if not size:
        return 1.0
    keys = min(size, _core.RARE_KEYS)
    shared = 2 * threshold / (1 + threshold)
    enough = max(1, int(keys * threshold / 3))
    missed = math.fsum(
        math.comb(keys, few) * shared**few * (1 - shared) ** (keys - few) for few in range(enough)
    )
    return max(0.0, 1 - missed)


def _searches_what_it_compares(recipe: Recipe, wanted: Rule) -> bool:
    """Say whether the features are the shingles that resemblance is about."""
    weigh, segment = recipe.weigh, recipe.segment
    return (
        segment.units == "shingles"
        and segment.k == wanted.shingle
        and weigh.stop_words == NONE
        and not weigh.drop_punctuation
        and not weigh.lowercase_units
    )
