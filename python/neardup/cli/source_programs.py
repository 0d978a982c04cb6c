"""The output of the original programs about two texts: ``--format source``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from neardup.base.messages import Message
from neardup.exceptions import InputError
from neardup.recipe import Recipe

if TYPE_CHECKING:
    from neardup.tasks.comparison import Comparison


def format_source(
    comparison: Comparison,
    recipe: Recipe,
    texts: Sequence[tuple[str, str]],
    *,
    threshold: float | None,
    answer: float,
) -> list[str]:
    """Return the lines of the program whose method the recipe is.

    Parameters
    ----------
    comparison : Comparison
    recipe : Recipe
        With the hash ``bkdr`` or ``news`` the program of that name; with others the paper check.
    texts : sequence of (str, str)
        The names of the two files, each with its text.
    threshold : float or None
        The share of equal bits that the caller asks for; None for that of the recipe.
    answer : float
        What the paper check prints.
    """
    if recipe.sketch.hash == "bkdr":
        return [_format_bkdr(comparison, texts, threshold)]
    if recipe.sketch.hash == "news":
        return _format_news(comparison, recipe, texts)
    a, b = (name for name, _ in texts)
    # Python writes these numbers as Java does.
    return [f"两篇文章({a} & {b})", f"相似率为：{round(answer, 2)}"]


def _format_bkdr(
    comparison: Comparison, texts: Sequence[tuple[str, str]], threshold: float | None
) -> str:
    bits, distance = _get_distance(comparison, texts)
    if threshold is None:
        bound = comparison.max_distance
        assert bound is not None
        # The program's own, or the largest share of equal bits that is not enough.
        threshold = 0.5 if bound < bits / 2 <= bound + 1 else 1 - (bound + 1) / bits
    values = f"相似度为{(bits - distance) / bits},{{}}阈值{float(threshold)}"
    if comparison.duplicate:
        return f"{values.format('超过')},所以新闻1与新闻2是相似的"
    return f"{values.format('小于')},所以新闻1与新闻2不是相似的"


def _format_news(
    comparison: Comparison, recipe: Recipe, texts: Sequence[tuple[str, str]]
) -> list[str]:
    from neardup.tasks.explain import explain

    _, distance = _get_distance(comparison, texts)
    explained = [explain(text, recipe=recipe).a for _, text in texts]
    prints = [one.fingerprint for one in explained if one.fingerprint is not None]
    lower = recipe.weigh.lowercase_units
    return [
        *("".join(f"{w.lower() if lower else w} " for w, _ in one.words) for one in explained),
        "simhash的二进制表示:",
        *(str(one.written("bits-lowest-first")) for one in prints),
        "simhash的BigInteger表示:",
        *(str(one.value) for one in prints),
        "ns1与ns的汉明距离",
        str(distance),
    ]


def _get_distance(comparison: Comparison, texts: Sequence[tuple[str, str]]) -> tuple[int, int]:
    """Return the width of two fingerprints, and in how many bits they differ."""
    if comparison.bits is None or comparison.distance is None:
        names = ", ".join(name for name, _ in texts)
        raise InputError(
            Message(
                "{files}: a text without words has no fingerprint, so this format has nothing to "
                "print.",
                files=names,
            )
        )
    return comparison.bits, comparison.distance
