"""Liveness and readiness of the service."""

from __future__ import annotations

from typing import Literal

from fastapi import APIRouter, Request
from pydantic import BaseModel

router = APIRouter(tags=["health"])


class Health(BaseModel):
    """State of the service."""

    status: Literal["ok"] = "ok"


@router.get("/healthz", summary="The process is up")
async def healthz() -> Health:
    """Respond without using any other part of the service."""
    return Health()


@router.get("/readyz", summary="The index answers", description="503 while it does not.")
async def readyz(request: Request) -> Health:
    """Respond once the index has responded."""
    store = request.app.state.store
    await store.watch(lambda: len(store.index))
    return Health()
