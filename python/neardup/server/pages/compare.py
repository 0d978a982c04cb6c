"""The page ``/compare``: compare two texts."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response

from neardup.base.messages import in_language
from neardup.exceptions import InputError
from neardup.pages.sides import Sides
from neardup.pages.words import Words, format_percent
from neardup.papers.alignment import align_sides
from neardup.readers.batch import find_code
from neardup.recipe import NAMES, load_recipe
from neardup.server.pages.page import READ, Form, choose_words, read_field, read_text
from neardup.server.pages.rendering import render
from neardup.server.problems import ProblemError
from neardup.tasks import compare as task
from neardup.tasks.comparison import Comparison, Evidence

#: Below this many characters, a single edit changes most of the shingles.
_SHORT = 20

router = APIRouter(dependencies=READ)


@router.get("/compare")
async def show(request: Request) -> Response:
    """Show the form."""
    return _answer(request, {"a": "", "b": "", "recipe": NAMES[0]})


@router.post("/compare")
async def compare(request: Request, form: Form) -> Response:
    """Compare the texts of the form."""
    recipe = read_field(form, "recipe")
    fields = {
        "a": read_field(form, "a", lines=True),
        "b": read_field(form, "b", lines=True),
        # Only the name of a built-in recipe, never a path.
        "recipe": recipe if recipe in NAMES else NAMES[0],
    }
    language = form.get("language")
    words = choose_words(request, form)
    try:
        for name in ("a", "b"):
            fields[name] = await read_text(request, form, name)
        comparison, sides = await request.app.state.store.compute(_compare, **fields)
    except (InputError, ProblemError) as error:
        problem = in_language(error, words.language)
        return _answer(request, fields, 422, language=language, problem=problem)
    # Rendering two long texts takes long, too.
    answer: Response = await request.app.state.store.compute(
        _answer,
        request,
        fields,
        language=language,
        found=comparison,
        sides=sides,
        verdict=_choose_verdict(comparison, fields["a"] == fields["b"]),
        reason=in_language(comparison.verdict, words.language),
        figures=_list_figures(comparison, sides),
        rules=_describe_rules(words, fields["recipe"]),
        short=_SHORT if min(len(fields["a"]), len(fields["b"])) < _SHORT else None,
    )
    return answer


def _compare(a: str, b: str, recipe: str) -> tuple[Comparison, Sides]:
    return task.compare(a, b, recipe=recipe), align_sides(a, b)


def _answer(request: Request, fields: dict[str, str], status: int = 200, **values: Any) -> Response:
    again = request.method == "POST"
    limit = request.app.state.settings.max_body_bytes
    values = {"found": None, "problem": "", "again": again, "limit": limit, **values}
    return render(request, "compare", status, here="compare", given=fields, recipes=NAMES, **values)


def _choose_verdict(comparison: Comparison, same: bool) -> str:
    if same:
        return "same"
    if comparison.duplicate:
        return "duplicate"
    return "numbers" if find_code(comparison.verdict) == task.OTHER_NUMBERS else "different"


def _describe_rules(words: Words, recipe: str) -> list[str]:
    """Return sentences on when a recipe calls two texts duplicates."""
    decide = load_recipe(recipe).for_single_texts().decide
    rules = []
    if decide.threshold is not None:
        rules.append(
            words(
                "Duplicates by this recipe have a similarity of at least {threshold}.",
                threshold=format_percent(decide.threshold),
            )
        )
    if decide.max_distance is not None:
        rules.append(
            words(
                "Duplicates by this recipe have fingerprints that differ in at most {bits} bits.",
                bits=decide.max_distance,
            )
        )
    if decide.measure == "content":
        rules.append(
            words(
                "An index may decide otherwise: it discounts text that many of its documents "
                "share, which two texts alone do not show."
            )
        )
    return rules


def _format_core(evidence: Evidence) -> str:
    """Return the shares of the core in both texts, and in how many places it differs."""
    shares = (format_percent(evidence.core_a), format_percent(evidence.core_b))
    return " / ".join((*shares, f"{evidence.gaps:,}"))


def _list_figures(comparison: Comparison, sides: Sides) -> list[tuple[str, str]]:
    """Return the rows of the table that apply."""
    evidence = comparison.evidence
    rows = [
        ("edit", format_percent(comparison.edit_similarity)),
        ("word_edit", format_percent(evidence.aligned_similarity)),
        ("resemblance", format_percent(comparison.resemblance)),
        ("containment_a", format_percent(comparison.containment_a)),
        ("containment_b", format_percent(comparison.containment_b)),
        ("aligned", format_percent(evidence.aligned)),
        ("core", _format_core(evidence)),
    ]
    if evidence.numbers_agree or evidence.numbers_differ:
        numbers = (evidence.numbers_agree, evidence.numbers_differ, evidence.numbers_replaced)
        rows.append(("numbers", " / ".join(f"{count:,}" for count in numbers)))
    if evidence.number_penalty and comparison.measure.startswith(("content(", "containment(")):
        rows.append(("weighted", format_percent(comparison.similarity + evidence.number_penalty)))
        rows.append(("penalty", format_percent(evidence.number_penalty)))
    if comparison.distance is not None:
        of_bits = f" / {comparison.bits}" if comparison.bits else ""
        rows.append(("distance", f"{comparison.distance}{of_bits}"))
    rows.append(("pieces", f"{len(sides.pieces):,}"))
    return rows
