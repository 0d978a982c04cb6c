"""Compare two texts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import reduce
from typing import Any, Unpack

from neardup.base.arrays import texts_array
from neardup.base.lazy import _core
from neardup.base.messages import N_, Message
from neardup.base.progress import Clock
from neardup.options.groups import CompareParameters
from neardup.options.signatures import complete_options, takes_options
from neardup.papers.alignment import align_pair, find_differences
from neardup.recipe import Recipe
from neardup.recipe.assets import compiled
from neardup.recipe.measures import measure_name, measure_words
from neardup.recipe.rule import chosen_recipe, rule
from neardup.recipe.text_inputs import check_tagged, checked_text, prepare_text, without_markup
from neardup.tasks.comparison import Comparison, Evidence

#: Code of a verdict that rests on numbers: with equal ones, the texts would be duplicates.
OTHER_NUMBERS = "other_numbers"

_NEGATED = Message("they differ in a word that turns the meaning, such as not")


@takes_options
def compare(a: str, b: str, **options: Unpack[CompareParameters]) -> Comparison:
    """Compare two texts.

    Parameters
    ----------
    a, b : str
    {options}

    Returns
    -------
    Comparison

    Raises
    ------
    InputError
        If a text has a lone surrogate.
    ParameterError
        If there is no such recipe, or a bound is out of bounds or does not apply to
        the recipe's sketches.

    See Also
    --------
    check : the parts of a paper that occur in a library.

    Notes
    -----
    A recipe that counts document frequencies in the corpus uses the bundled table here. Resemblance
    and containment are defined by Broder [1]_, over the sets of character shingles of the
    normalized texts: exact, O(n log n). Two texts do not tell which of their shingles are a
    template that many others share: here ``content(k)`` weighs all alike. The edit similarity is
    exact [2]_ if the product of both lengths is at most 4 * 10^9; for longer texts it is a lower
    bound. If a recipe strips markup, the edit similarity, the passages and the differences ignore
    it. Offsets count in the texts without markup. Passages: see :func:`neardup.papers.align`; if a
    text has at most 200 characters, they need only five Chinese characters or ten letters in
    common.

    References
    ----------
    .. [1] Broder. On the resemblance and containment of documents. 1997.
    .. [2] Myers. A fast bit-vector algorithm for approximate string matching based on
       dynamic programming. Journal of the ACM, 1999.

    Examples
    --------
    >>> import neardup
    >>> a, b = "渡口的新渡轮下周一试航", "渡口的新渡轮下周一试航了"
    >>> found = neardup.compare(a, b)
    >>> found.measure, round(found.similarity, 3), found.duplicate
    ('content(5)', 0.917, True)
    >>> found = neardup.compare(a, b, recipe="characters")
    >>> found.measure, found.similarity
    ('resemblance(5)', 0.875)
    >>> round(found.edit_similarity, 3)
    0.917
    >>> found.verdict
    'Duplicates: similarity 0.8750 by resemblance(5), at least 0.55 needed.'
    >>> neardup.compare(a, b, recipe="characters", max_distance=30).verdict
    'Duplicates: 15 of 128 bits differ, at most 30 allowed.'

    Two reports of one form differ in little but their numbers:

    >>> monday = (
    ...     "Ferry report for Monday: 310 passengers on 8 crossings, 2 of them late by more "
    ...     "than 10 minutes. No crossing was cancelled."
    ... )
    >>> tuesday = monday.replace("310 passengers on 8", "745 passengers on 14")
    >>> found = neardup.compare(monday, tuesday)
    >>> why = found.evidence
    >>> why.numbers_agree, why.numbers_replaced
    (2, 2)
    >>> round(why.weighted_resemblance, 2), round(why.number_penalty, 2), found.duplicate
    (0.72, 0.65, False)
    """
    return compare_texts(a, b, complete_options(compare, options))


def compare_texts(
    a: str, b: str, values: Mapping[str, Any], clock: Clock | None = None
) -> Comparison:
    """Compare two texts by the options of `compare`, all of them given, and time it."""
    # Reading the memory takes as long as comparing two short texts.
    lap = (lambda _: None) if clock is None else clock.lap
    chosen = chosen_recipe(values).for_single_texts()
    threshold, max_distance = values["threshold"], values["max_distance"]
    if threshold is not None or max_distance is not None:
        bounds = rule(chosen, threshold=threshold, max_distance=max_distance)
        # A distance that the rule derives from a threshold is for the search, not a bound.
        by_bits = bounds.measured == "sketch" or max_distance is not None
        limit = bounds.max_distance if by_bits else None
        chosen = chosen.replace(decide={"threshold": bounds.threshold, "max_distance": limit})
    core = compiled(chosen)
    corpus = _core.Corpus(core, keeps_texts=True, shingle=None, workers=1)
    texts = [checked_text(a, "a"), checked_text(b, "b")]
    for name, text in zip("ab", texts, strict=True):
        check_tagged(text, chosen, name)
    # What is printed of the texts is what is compared.
    a, b = (without_markup(text) if chosen.normalize.strip_markup else text for text in texts)
    titles = [
        None if values[name] is None else checked_text(values[name], name)
        for name in ("title_a", "title_b")
    ]
    units = (
        [prepare_text(core, chosen, text)[1] for text in texts] if chosen.callable_name else None
    )
    corpus.push(
        texts_array(texts),
        titles=texts_array(titles),
        units=None if units is None else texts_array(units),
    )
    corpus.finish()
    lap("normalize, segment, weigh, sketch")
    edit_similarity = _core.edit_similarity(a, b)
    lap("align")
    # Two texts are no collection: there is nothing to count by.
    comparison = compare_documents(corpus, 0, 1, chosen, None, edit_similarity)
    comparison = _correct_empty(comparison, a, b)
    lap("verify")
    if values["passages"]:
        passages = align_pair(a, b)
        places = tuple(find_differences(a, b, passages))
        comparison = replace(comparison, passages=tuple(passages), differences=places)
        lap("align")
    return comparison


def _correct_empty(comparison: Comparison, a: str, b: str) -> Comparison:
    """Return a comparison with measures and a verdict that say which texts are empty."""
    if not (a.strip() or b.strip()):
        # The measures are undefined for empty texts: use the verdict.
        same = float(comparison.duplicate)
        comparison = replace(
            comparison,
            similarity=same,
            resemblance=same,
            containment_a=same,
            containment_b=same,
            edit_similarity=same,
            evidence=replace(
                comparison.evidence,
                weighted_resemblance=same,
                aligned=same,
                aligned_similarity=same,
            ),
        )
    empty = [name for name, text in (("A", a), ("B", b)) if not text.strip()]
    if empty and comparison.measure == "identical" and not comparison.duplicate:
        names = ", ".join(empty)
        verdict = Message("Not duplicates: there is no text in {texts}.", texts=names)
        comparison = replace(comparison, verdict=verdict)
    return comparison


def compare_documents(
    corpus: _core.Corpus,
    a: int,
    b: int,
    recipe: Recipe,
    content: dict[str, Any] | None,
    edit_similarity: float,
) -> Comparison:
    """Return the verdict about two documents of a corpus, with its evidence.

    Parameters
    ----------
    corpus : neardup._core.Corpus
        Finished, with texts, and with sketches by `recipe`.
    a, b : int
        Places in it.
    recipe : Recipe
        Its ``decide`` has the bounds.
    content : dict or None
        What ``content(k)`` rests on, as the core gives it; as ``resemblance`` that with common
        text discounted. None for a corpus without counts, in which no text is common.
    edit_similarity : float
    """
    decide, sketch = recipe.decide, recipe.sketch
    by_distance = decide.threshold is None and decide.max_distance is not None
    measured = "sketch" if by_distance else decide.measure
    judged = _core.judge(
        corpus,
        a,
        b,
        measure=measured,
        shingle=decide.shingle,
        threshold=decide.threshold,
        max_distance=decide.max_distance,
        min_features=decide.min_features,
    )
    measure = "identical"
    if judged["features"]:
        measure = measure_name(measured, decide.shingle, sketch.kind)
    duplicate: bool = judged["duplicate"]
    comparison = Comparison(
        similarity=judged["similarity"],
        measure=measure,
        duplicate=duplicate,
        verdict="",
        threshold=decide.threshold,
        max_distance=decide.max_distance,
        resemblance=judged["resemblance"],
        containment_a=judged["containment_a"],
        containment_b=judged["containment_b"],
        edit_similarity=edit_similarity,
        distance=judged["distance"],
        bits=sketch.bits if sketch.kind == "simhash" else None,
        recipe_id=recipe.id,
        evidence=_collect_evidence(content or judged["uncounted"], measured, decide.shingle),
    )
    reason = _explain(recipe, judged, comparison)
    verdict = N_("Duplicates: {reason}.") if duplicate else N_("Not duplicates: {reason}.")
    return replace(comparison, verdict=Message(verdict, code=reason.code, reason=reason))


def _collect_evidence(content: dict[str, Any], measured: str, shingle: int) -> Evidence:
    """Return what the core found, as shares of the texts."""
    aligned = content["aligned"]
    penalty: float = content["penalty"]
    if measured == "containment":
        contained = content["containment"]
        penalty = max(contained["a_in_b"], contained["b_in_a"]) - contained["similarity"]
    units = (aligned["units_a"], aligned["units_b"])
    core_a, core_b = (
        core / of if of else 0.0 for core, of in zip(aligned["core"], units, strict=True)
    )
    return Evidence(
        shingle=shingle,
        weighted_resemblance=content["resemblance"],
        short=content["short"],
        aligned=_compute_aligned(aligned),
        aligned_similarity=aligned["similarity"],
        share=content["alignment"],
        core_a=core_a,
        core_b=core_b,
        numbers_agree=aligned["agree"],
        numbers_differ=aligned["differ"],
        numbers_replaced=aligned["replaced"],
        number_penalty=penalty,
        **{name: aligned[name] for name in ("gaps", "replacements", "recurring", "at_end")},
    )


def _compute_aligned(aligned: dict[str, int]) -> float:
    """Return the share of the shorter text that is aligned."""
    shorter = min(aligned["units_a"], aligned["units_b"])
    if shorter:
        return aligned["equal"] / shorter
    return float(aligned["units_a"] == aligned["units_b"])


def _explain(recipe: Recipe, judged: dict[str, Any], comparison: Comparison) -> Message:
    """Return on what the verdict about two texts rests."""
    decide = recipe.decide
    # Without features a text has no letters either.
    by_content = decide.measure == "content" and judged["features"] > 0
    if judged["few_features"] and judged["identical"]:
        return Message("the normalized texts are identical")
    if judged["few_features"]:
        if judged["duplicate"]:
            return Message("the texts have the same letters and digits")
        least = max(decide.min_features, 1)
        if by_content:
            return Message(
                "a text of fewer than {least} features duplicates only texts with equal letters "
                "and digits",
                least=least,
            )
        return Message(
            "a text of fewer than {least} features duplicates only an identical text", least=least
        )
    if by_content and comparison.evidence.short and not comparison.similarity:
        return _explain_short(comparison, judged)
    reasons = []
    if decide.max_distance is not None and judged["distance"] is not None:
        bounds = {"bits": recipe.sketch.bits, "most": decide.max_distance}
        reasons.append(
            Message.counted(
                "{count} of {bits} bits differs, at most {most} allowed",
                "{count} of {bits} bits differ, at most {most} allowed",
                count=judged["distance"],
                **bounds,
            )
        )
    if decide.threshold is not None:
        reasons.append(
            Message(
                "similarity {similarity} by {measure}, at least {threshold} needed",
                similarity=_format_similarity(judged["similarity"], decide.threshold),
                measure=measure_words(comparison.measure),
                threshold=decide.threshold,
            )
        )
        if by_content:
            reasons += _explain_content(comparison, judged)
        if decide.measure == "containment":
            reasons += _explain_containment(judged["containment"], comparison)
    if not reasons:
        return Message(
            "the recipe '{recipe}' has neither a threshold nor a max_distance", recipe=recipe.name
        )
    if judged["duplicate"] and not judged["within_bounds"]:
        return Message("the normalized texts are identical")
    code = next((reason.code for reason in reasons if reason.code), None)
    return reduce(
        lambda first, then: Message("{first}; {second}", code=code, first=first, second=then),
        reasons,
    )


def describe_differences(a: str, b: str) -> Message:
    """Return where two texts differ by the default recipe, in a few words for a table."""
    evidence = compare(a, b).evidence
    places, numbers = evidence.gaps, evidence.numbers_differ
    if numbers:
        return Message(
            "Places that differ: {places:,}; numbers among them: {numbers:,}",
            places=places,
            numbers=numbers,
        )
    if places:
        return Message("Places that differ: {places:,}", places=places)
    return Message("Same but for the beginning or the end")


def _explain_short(comparison: Comparison, judged: dict[str, Any]) -> Message:
    """Return why a very short text, judged by its letters, is not a duplicate by ``content(k)``."""
    evidence = comparison.evidence
    if judged["aligned"]["negated"]:
        return _NEGATED
    if evidence.numbers_differ and evidence.aligned >= (comparison.threshold or 0.0):
        return Message.counted(
            "a text is short, and a number differs",
            "a text is short, and {count} numbers differ",
            code=OTHER_NUMBERS,
            count=evidence.numbers_differ,
        )
    return Message(
        "{share} of the shorter text agrees; needed: an unbroken three quarters of the other",
        share=f"{evidence.aligned:.0%}",
    )


def _explain_content(comparison: Comparison, judged: dict[str, Any]) -> list[Message]:
    """Return what besides shingles decides by ``content(k)``."""
    threshold, evidence = comparison.threshold or 0.0, comparison.evidence
    if judged["by_unique_text"]:
        return [Message("the shared text is boilerplate, so only the rest was compared")]
    if judged["aligned"]["negated"]:
        return [_NEGATED]
    if evidence.short:
        return [Message("a text is short, so letters and digits decide")]
    if judged["aligned"]["scattered"]:
        reason = Message(
            "{share} of the longer text is aligned, and the differences are small and scattered",
            share=f"{evidence.share:.0%}",
        )
        return [reason, *_explain_numbers(comparison)]
    without_numbers = comparison.similarity + evidence.number_penalty
    if without_numbers < threshold <= evidence.weighted_resemblance:
        return [
            Message(
                "only {share} of the longer text is aligned with the other",
                share=f"{evidence.share:.0%}",
            )
        ]
    return _explain_numbers(comparison)


def _explain_containment(containment: dict[str, float], comparison: Comparison) -> list[Message]:
    """Return which text lies in the other, and what numbers take, by ``containment(k)``."""
    threshold = comparison.threshold or 0.0
    first, second = containment["a_in_b"] >= threshold, containment["b_in_a"] >= threshold
    reasons = []
    if first or second:
        if first and second:
            reasons.append(Message("each contains the other"))
        elif first:
            reasons.append(Message("B contains A"))
        else:
            reasons.append(Message("A contains B"))
    return reasons + _explain_numbers(comparison)


def _explain_numbers(comparison: Comparison) -> list[Message]:
    """Return what replaced numbers take from the similarity, if they do."""
    penalty = comparison.evidence.number_penalty
    if not penalty:
        return []
    before, count = comparison.similarity + penalty, comparison.evidence.numbers_replaced
    reason = Message.counted(
        "{count} number is replaced by another, which lowers the similarity from {resemblance}",
        "{count} numbers are replaced by others, which lowers the similarity from {resemblance}",
        count=count,
        resemblance=f"{before:.4f}",
    )
    if comparison.similarity < (comparison.threshold or 0.0) <= before:
        reason = Message(
            "the same form with other values: {reason}", code=OTHER_NUMBERS, reason=reason
        )
    return [reason]


def _format_similarity(similarity: float, threshold: float) -> str:
    """Return a similarity with enough decimals to show its side of the threshold."""
    for decimals in range(4, 17):
        text = f"{similarity:.{decimals}f}"
        if (float(text) >= threshold) == (similarity >= threshold):
            return text
    return repr(similarity)
