"""Liveness, readiness and metrics of the service."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from fastapi import APIRouter, Depends, Request, Response

from neardup.server.api.body import json_response
from neardup.server.metrics import CONTENT_TYPE
from neardup.server.security.auth import require

__all__ = ["router"]

router = APIRouter(tags=["health"])


@dataclass(frozen=True)
class Health:
    """State of the service."""

    status: Literal["ok"]


@router.get(
    "/healthz",
    summary="The process is up",
    response_model=Health,
)
async def healthz() -> Response:
    """Respond without using any other part of the service."""
    return json_response(Health("ok"))


@router.get(
    "/readyz",
    summary="The index answers",
    description="503 while it does not.",
    response_model=Health,
)
async def readyz(request: Request) -> Response:
    """Respond once the index has responded."""
    store = request.app.state.store
    await store.watch(lambda: len(store.index))
    return json_response(Health("ok"))


@router.get(
    "/metrics",
    summary="Figures for Prometheus",
    dependencies=[Depends(require("read"))],
    response_class=Response,
    responses={
        200: {
            "description": "In Prometheus' text format.",
            "content": {"text/plain": {"schema": {"type": "string"}}},
        }
    },
)
async def metrics(request: Request) -> Response:
    """Return all metrics."""
    return Response(await request.app.state.metrics.text(), media_type=CONTENT_TYPE)
