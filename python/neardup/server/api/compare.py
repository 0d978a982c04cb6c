"""Two texts side by side."""

from __future__ import annotations

from typing import Literal

from fastapi import APIRouter, Depends, Request
from pydantic import Field

from neardup.recipe import NAMES
from neardup.recipe.ignored import IGNORED
from neardup.server.api.body import JsonRoute, Line, RequestBody, check_text
from neardup.server.security.auth import require
from neardup.tasks import compare as task
from neardup.tasks.comparison import Comparison

router = APIRouter(route_class=JsonRoute, tags=["comparing"])


class ComparedTexts(RequestBody):
    """Two texts."""

    a: str
    b: str
    title_a: Line | None = None
    title_b: Line | None = None
    recipe: Literal[NAMES] = "general"  # type: ignore[valid-type]
    ignore: list[Literal[IGNORED]] = Field(  # type: ignore[valid-type]
        [], description="What does not count. Regular expressions are not accepted here."
    )
    passages: bool = Field(
        False, strict=True, description="Whether to look for passages and differences."
    )


@router.post(
    "/v1/compare",
    summary="How similar are two texts?",
    description="The index is not asked.",
    dependencies=[Depends(require("read"))],
)
async def compare(request: Request, texts: ComparedTexts) -> Comparison:
    """Compare two texts."""
    state = request.app.state
    check_text(texts.a, "a", state.settings)
    check_text(texts.b, "b", state.settings)
    result: Comparison = await state.store.compute(task.compare, **vars(texts))
    return result
