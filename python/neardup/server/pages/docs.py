"""The page ``/docs``: two examples of the API, and where its description is."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from neardup.server.pages.rendering import render
from neardup.server.security import auth

router = APIRouter()


@router.get("/docs")
async def show(request: Request) -> Response:
    """Show how to add a document and how to look a text up."""
    service = f"{request.url.scheme}://{request.url.netloc}"
    return render(
        request, "docs", here="docs", service=service, needs_keys=auth.needs_keys(request)
    )
