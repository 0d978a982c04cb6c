"""How similar two texts are, and the evidence for it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from neardup.base.display import ReprMixin
from neardup.papers.alignment import Difference, SharedPassage


@dataclass(frozen=True)
class Evidence:
    """The evidence of the verdict on two texts, next to the shingles that they share.

    The texts are aligned by words, or by characters of scripts without spaces between words: runs
    of at least three that both texts have in the same order. The *core* of the pair reaches from
    the first of these runs to the last one.

    Parameters
    ----------
    shingle : int
        Characters in a shingle.
    weighted_resemblance : float
        As `Comparison.resemblance`, with text that many documents share discounted, in [0, 1]. Two
        texts alone do not show what many share, so nothing is discounted here; but
        in scripts with spaces between words, shingles of 8/7 as many characters count.
    short : bool
        Whether a text has fewer than 40 letters and digits. By ``content(k)`` the similarity
        then is the share of letters and digits that the two have in common, in one
        piece, and 0 if that is less than 3/4 or any number differs.
    aligned : float
        Share of the shorter text that is aligned with the other text, in [0, 1].
    aligned_similarity : float
        1 - edits / length of the longer text, in [0, 1], counted by words or characters as above:
        what the measure ``aligned`` decides by.
    share : float
        Share of the longer text that is aligned, in [0, 1]; of words, edits inside the shorter
        text count against it too. ``content(k)`` needs it beside `weighted_resemblance`.
    core_a, core_b : float
        Share of the core in the first and in the second text, in [0, 1].
    gaps : int
        Places of the core where the texts differ.
    replacements : int
        Those of the gaps in which both texts have something.
    recurring : int
        Those of the replacements that were made before: the same in the place of the same.
    at_end : bool
        Whether the core is the end of both texts, and neither begins with it: a signature or a
        footer.
    numbers_agree, numbers_differ : int
        Numbers that both texts have, and those in whose place the other text has another
        number. 13, 十三 and *thirteen* are the same number.
    numbers_replaced : int
        Those of the differing numbers that have the same words before and after them in both
        texts.
    number_penalty : float
        What the replaced numbers take from the similarity, in [0, 1]; by ``content(k)`` 0 if a
        text is short, and by ``containment(k)`` it is taken from the share of one text that lies
        in the other. Other measures ignore numbers; for them it is what ``content(k)`` takes.
    """

    shingle: int
    weighted_resemblance: float
    short: bool
    aligned: float
    aligned_similarity: float
    share: float
    core_a: float
    core_b: float
    gaps: int
    replacements: int
    recurring: int
    at_end: bool
    numbers_agree: int
    numbers_differ: int
    numbers_replaced: int
    number_penalty: float


@dataclass(frozen=True, repr=False)
class Comparison(ReprMixin):
    """How similar two texts are.

    Parameters
    ----------
    similarity : float
        In [0, 1], by `measure`.
    measure : str
        ``content(k)``, ``containment(k)``, ``resemblance(k)`` or ``aligned`` for a
        recipe that verifies,
        ``equal_bits``, ``equal_values`` or ``sampled_resemblance`` for one whose
        sketches decide, ``identical`` if a text has no features, so that only
        identity can be checked.
    duplicate : bool
        Whether the two are duplicates by the recipe. A text of fewer features than
        its ``min_features`` duplicates only an identical text; by ``content(k)`` also one with the
        same letters and digits.
    verdict : str
        The same as a sentence that names the bound, such as ``Duplicates: 8 of 32 bits differ,
        at most 15 allowed.``
    threshold : float or None
        Smallest similarity of duplicates, inclusive; None without such a bound.
    max_distance : int or None
        Most differing bits of duplicates, inclusive; None without such a bound.
    resemblance : float
        Shingles in common over all shingles of both texts, in [0, 1].
    containment_a, containment_b : float
        Share of the first text's shingles that occur in the second, and the
        reverse, in [0, 1].
    edit_similarity : float
        1 - edits / longer length, in [0, 1]: insertions, deletions and substitutions
        of single characters; white space does not count. For two texts that are empty or
        only white space it is 1 if they are identical and else 0, as are all similarities.
    distance : int or None
        Differing bits of the fingerprints; None if a text has none.
    bits : int or None
        Width of the fingerprints, for a recipe that makes them.
    recipe_id : str
        Id of the recipe.
    evidence : Evidence
        Where the two texts are the same, and what their numbers say.
    passages : tuple of SharedPassage or None
        The passages of the first text that occur in the second, in text order; None
        if they were not requested.
    differences : tuple of Difference or None
        The places where the two texts differ, by words, in the order of the first text; None if
        passages were not requested.
    """

    similarity: float
    measure: str
    duplicate: bool
    verdict: str
    threshold: float | None
    max_distance: int | None
    resemblance: float
    containment_a: float
    containment_b: float
    edit_similarity: float
    distance: int | None
    bits: int | None
    recipe_id: str
    evidence: Evidence
    passages: tuple[SharedPassage, ...] | None = None
    differences: tuple[Difference, ...] | None = None

    def _summary_rows(self) -> Iterator[tuple[str, Any]]:
        names = ("verdict", "similarity", "measure", "duplicate", "resemblance", "containment_a")
        for name in (*names, "containment_b", "edit_similarity", "distance"):
            if getattr(self, name) is not None:
                yield name, getattr(self, name)
        if self.passages is not None:
            yield "passages", len(self.passages)
        if self.differences is not None:
            yield "differences", len(self.differences)
