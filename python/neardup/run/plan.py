"""Search plans, derived from a similarity or a distance."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from neardup.base.lazy import _core
from neardup.recipe import NONE, Recipe
from neardup.recipe.rule import Rule

#: Seconds to verify a pair of unrelated news texts whose shingles are in memory,
#: measured on the machine of the search's cost model.
_VERIFY = 3e-7

#: Bytes per band of a document: its number, its entry in a posting list, and its
#: part of the list's header.
_BAND_BYTES = 16.0

#: Bytes per key of a sample at the peak: the key, its number, and the sort that
#: numbers it, whose memory the lists reuse. Measured: 13 to 17, on 280,000 to 10^6
#: short news texts.
_SAMPLED_BYTES = 15.0

#: Points of the curve of a banding.
_POINTS = 21


@dataclass(frozen=True)
class Plan:
    """The scheme of a search, and its cost.

    Parameters
    ----------
    recipe_id : str
        Id of the recipe whose sketches are searched.
    documents : int
        Number of documents.
    kind : {"simhash", "minhash", "sample"}
        Kind of sketch.
    threshold : float or None
        Smallest similarity, inclusive; None if the distance decides.
    measure : str
        The measure of similarity in outputs.
    scheme : {"scan", "blocks", "bands", "postings", "prefix"}
        Fingerprints: a SIMD scan, or tables of block-permutation keys.
        Signatures: bands. Samples: an inverted index of a few keys per document
        (``postings``), or of all keys that the resemblance needs (``prefix``). For fingerprints,
        it affects only time and memory: both find the same pairs, exactly.
    predicted_recall : float or None
        Estimated share of pairs with a resemblance exactly at the threshold
        that become candidates; for ``postings``, of pairs of equal length. 1.0
        if the search is exact, None if it uses other features than the
        compared shingles. For ``aligned``, of pairs whose edits are spread evenly;
        None for ``containment``, where it depends on the lengths of both texts.
    bytes_per_document : float or None
        Memory of sketches and search; None if it depends on the lengths of the
        texts.
    bits : int or None
        Width of a fingerprint; None for other sketches.
    max_distance : int or None
        Largest number of differing bits of a candidate pair, inclusive.
    blocks, tables, key_bits : int
        For ``blocks``: number of blocks, number of tables, bits of a key;
        else 0.
    comparisons : float
        For fingerprints: expected number of bitwise comparisons.
    random_pairs : float
        For fingerprints: number of pairs of random fingerprints within the
        distance, which are verified in vain. Real texts have more.
    verify_seconds : float
        Estimated time of verifying these pairs on one core; 0 without
        verification.
    seconds : float
        For fingerprints: estimated time of finding all candidate pairs on one
        core of the machine on which the cost model was measured.
    num_perm, bands, rows : int
        For ``bands``: values of a signature, bands and rows; else 0.
    s_curve : tuple of (float, float)
        For ``bands``: similarities s from 0 to 1 and the share of such pairs that become
        candidates, 1 - (1 - s ** rows) ** bands.
    keys : int
        Largest number of keys that a document is indexed by; 0 for fingerprints
        and ``prefix``.
    max_list_len : int or None
        Most documents in the list of a key, so that a look-up meets at most as
        many for each of its keys; None if lists have no cap.
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
    max_list_len: int | None = None


def plan_of(recipe: Recipe, wanted: Rule, documents: int, *, look_ups: bool) -> Plan:
    """Return the plan for a rule, and for a number of documents of at most 2**32 - 1.

    With `look_ups`, for one look-up after another, as in de-duplication, instead of for all pairs
    at once.
    """
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
        # A search without a least resemblance files a document under all of its keys.
        uses_all = wanted.exhaustive or not look_ups or not wanted.resemblance
        rare = sketch.size if uses_all else min(sketch.size, _core.RARE_KEYS)
        details = {
            "scheme": wanted.scheme,
            "predicted_recall": _sample_recall(wanted, rare),
            "bytes_per_document": sampled * _SAMPLED_BYTES if sampled else None,
            "keys": sampled if uses_all else min(sampled, _core.RARE_KEYS + _core.COMMON_KEYS),
        }
    is_of_sets = sketch.kind != "simhash" and wanted.keeps_texts
    depends_on_lengths = wanted.measured == "containment"
    if is_of_sets and (depends_on_lengths or not _searches_what_it_compares(recipe, wanted)):
        # The recall is unknown for features other than the texts' shingles.
        details["predicted_recall"] = None
    return Plan(
        recipe_id=recipe.id,
        documents=documents,
        kind=sketch.kind,
        threshold=wanted.threshold,
        measure=wanted.measure,
        max_list_len=wanted.compiled(documents).max_list_len(filing_all=not look_ups),
        **details,
    )


def _sample_recall(wanted: Rule, keys: int) -> float:
    """Return the share of pairs of equal length that share enough of so many indexed keys.

    The share of shingles that two sets have in common is the probability of each key. All keys
    are assumed to be rare.
    """
    if not keys:
        return 1.0
    enough = 2
    if wanted.resemblance:
        enough = max(1, int(keys * wanted.resemblance / 3))
    missed = math.fsum(
        math.comb(keys, few) * wanted.shared**few * (1 - wanted.shared) ** (keys - few)
        for few in range(enough)
    )
    return max(0.0, 1 - missed)


def _searches_what_it_compares(recipe: Recipe, wanted: Rule) -> bool:
    """Return whether the features are the shingles that the measure compares."""
    weigh, segment = recipe.weigh, recipe.segment
    return (
        segment.units == ("script-shingles" if wanted.measured == "content" else "shingles")
        and segment.k == wanted.shingle
        and weigh.stop_words == NONE
        and not weigh.drop_punctuation
        and not weigh.lowercase_units
    )
