"""The pages ``/login`` and ``/logout``, for services that require keys."""

from __future__ import annotations

from fastapi import APIRouter, Depends, Request, Response

from neardup.server.pages.page import Form, choose_words, limit_path, read_field, redirect
from neardup.server.pages.rendering import render
from neardup.server.security import auth

router = APIRouter(dependencies=[Depends(auth.refuse_other_sites)])


@router.get("/login")
async def show(request: Request, next: str = "/") -> Response:
    """Show the form, or redirect readers who need no key."""
    wanted = limit_path(next)
    if not auth.needs_keys(request) or auth.find_session_key(request) is not None:
        return redirect(wanted)
    return render(request, "login", next=wanted, problem="")


@router.post("/login")
async def sign_in(request: Request, form: Form) -> Response:
    """Begin a session."""
    wanted = limit_path(read_field(form, "next"))
    if not auth.needs_keys(request) or auth.sign_in(request, read_field(form, "key")):
        return redirect(wanted)
    words = choose_words(request, form)
    return render(request, "login", 401, next=wanted, problem=words("This key is not known."))


@router.post("/logout")
async def sign_out(request: Request) -> Response:
    """End the session."""
    auth.sign_out(request)
    return redirect("/login")
