"""Compare two texts."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from neardup.plan import measure_name
from neardup.recipe import Recipe, load_recipe
from neardup.resources import compiled
from neardup.sketch import checked_text, prepared


@dataclass(frozen=True)
class Comparison:
    """How similar two texts are.

    Parameters
    ----------
    similarity : float
        In [0, 1]: by `measure`.
    measure : str
        ``resemblance(k)`` for a recipe that verifies, ``equal_bits`` for one
        that decides by distance, ``identical`` where a text has no fingerprint
        and only equality can be told.
    resemblance : float
        Shingles in common over all shingles of both texts, in [0, 1].
    containment_a, containment_b : float
        Share of the first text's shingles that stand in the second, and the
        other way round, in [0, 1].
    distance : int or None
        Differing bits of the fingerprints; None where a text has none.
    bits : int
        Width of the fingerprints.
    shingle : int
        Characters in a shingle.
    recipe_id : str
        Id of the recipe.
    """

    similarity: float
    measure: str
    resemblance: float
    containment_a: float
    containment_b: float
    distance: int | None
    bits: int
    shingle: int
    recipe_id: str


def compare(
    a: str,
    b: str,
    *,
    title_a: str | None = None,
    title_b: str | None = None,
    recipe: str | Path | Recipe = "general",
) -> Comparison:
    """Compare two texts.

    Parameters
    ----------
    a, b : str
    title_a, title_b : str or None, default=None
        Titles, for a recipe that weighs words of the title.
    recipe : str, Path or Recipe, default="general"
        See :func:`neardup.load_recipe`. A recipe that counts document
        frequencies in the corpus uses the bundled table here.

    Returns
    -------
    Comparison

    Raises
    ------
    InputError
        If a text has a lone surrogate.
    ParameterError
        If there is no such recipe.

    Notes
    -----
    Resemblance and containment are those of Broder [1]_, over the sets of
    character shingles of the normalized texts: exact, O(n log n).

    References
    ----------
    .. [1] Broder. On the resemblance and containment of documents. 1997.

    Examples
    --------
    >>> import neardup
    >>> neardup.compare("近似文本检测引擎", "近似文本检测引擎！").similarity
    0.8
    """
    from neardup import _core

    chosen = load_recipe(recipe).for_single_texts()
    core = compiled(chosen)
    sketches, texts = [], []
    for name, text, title in (("a", a, title_a), ("b", b, title_b)):
        normalized, units = prepared(core, chosen, checked_text(text, name))
        if title is not None:
            checked_text(title, f"title_{name}")
        sketches.append(core.sketch(units, title))
        texts.append(normalized)
    in_a, in_b, common = _core.overlap(*texts, shingle=chosen.decide.shingle)
    union = in_a + in_b - common
    resemblance = common / union if union else 1.0
    distance = None
    if all(features for features, _ in sketches):
        distance = sum(
            (x ^ y).bit_count() for x, y in zip(sketches[0][1], sketches[1][1], strict=True)
        )
    verified = chosen.decide.threshold is not None or chosen.decide.max_distance is None
    measure = measure_name(verified, chosen.decide.shingle)
    if distance is None:
        # No features: a text equals only an identical one.
        similarity, measure = float(a == b), "identical"
    elif verified:
        similarity = resemblance
    else:
        similarity = 1 - distance / chosen.sketch.bits
    return Comparison(
        similarity=similarity,
        measure=measure,
        resemblance=resemblance,
        containment_a=common / in_a if in_a else float(not in_b),
        containment_b=common / in_b if in_b else float(not in_a),
        distance=distance,
        bits=chosen.sketch.bits,
        shingle=chosen.decide.shingle,
        recipe_id=chosen.id,
    )
