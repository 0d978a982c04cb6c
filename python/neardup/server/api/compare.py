"""Two texts side by side."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Body, Depends, Request, Response

import neardup
from neardup.compare import Comparison
from neardup.server.api.json_body import JsonRoute
from neardup.server.api.openapi import problem_responses
from neardup.server.api.request_models import ComparedTexts, check_text
from neardup.server.api.schemas import json_response
from neardup.server.security.auth import require

__all__ = ["router"]

router = APIRouter(route_class=JsonRoute, tags=["comparing"])


@router.post(
    "/v1/compare",
    summary="How similar are two texts?",
    description="The index is not asked.",
    dependencies=[Depends(require("read"))],
    responses={
        200: {
            "model": Comparison,
            "content": {
                "application/json": {
                    "example": {
                        "similarity": 1.0,
                        "measure": "content(5)",
                        "duplicate": True,
                        "verdict": "Duplicates: similarity 1.0000 by content(5), at least 0.45 "
                        "needed; a text is short, so letters and digits decide.",
                        "threshold": 0.45,
                        "max_distance": None,
                        "resemblance": 0.875,
                        "containment_a": 1.0,
                        "containment_b": 0.875,
                        "weighted_resemblance": 0.875,
                        "aligned": 1.0,
                        "aligned_similarity": 1.0,
                        "numbers_agree": 1,
                        "numbers_differ": 0,
                        "numbers_replaced": 0,
                        "number_penalty": 0.0,
                        "short": True,
                        "edit_similarity": 0.92,
                        "distance": None,
                        "bits": None,
                        "shingle": 5,
                        "recipe_id": "general-5d41402a",
                        "passages": None,
                        "differences": None,
                    }
                }
            },
        },
        **problem_responses(body=True),
    },
)
async def compare(
    request: Request,
    texts: Annotated[
        ComparedTexts,
        Body(
            openapi_examples={
                "texts": {
                    "summary": "Two texts",
                    "value": {"a": "渡口的新渡轮下周一试航", "b": "渡口的新渡轮下周一试航！"},
                }
            }
        ),
    ],
) -> Response:
    """Compare two texts."""
    state = request.app.state
    check_text(texts.a, "a", state.settings)
    check_text(texts.b, "b", state.settings)
    return json_response(
        await state.store.compute(
            neardup.compare,
            texts.a,
            texts.b,
            title_a=texts.title_a,
            title_b=texts.title_b,
            recipe=texts.recipe,
            passages=texts.passages,
        )
    )
