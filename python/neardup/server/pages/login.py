"""The pages ``/login`` and ``/logout``, for services that require keys."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from neardup.server.pages.page import field, own_path, page, see, words_of
from neardup.server.pages.rendering import render
from neardup.server.security import auth

__all__ = ["router"]

router = APIRouter()


@router.get("/login", include_in_schema=False)
@page()
async def show(request: Request) -> Response:
    """Show the form, or redirect readers who need no key."""
    wanted = own_path(request.query_params.get("next", "/"))
    if not auth.needs_keys(request) or auth.signed_in(request) is not None:
        return see(wanted)
    return render(request, "login", next=wanted, problem="")


@router.post("/login", include_in_schema=False)
@page()
async def sign_in(request: Request) -> Response:
    """Begin a session."""
    form = await request.form()
    wanted = own_path(field(form, "next"))
    if not auth.needs_keys(request) or auth.sign_in(request, field(form, "key")):
        return see(wanted)
    problem = words_of(request, form)("login_wrong")
    return render(request, "login", 401, next=wanted, problem=problem)


@router.post("/logout", include_in_schema=False)
@page()
async def sign_out(request: Request) -> Response:
    """End the session."""
    auth.sign_out(request)
    return see("/login")
