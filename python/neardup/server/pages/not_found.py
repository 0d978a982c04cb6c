"""The page for addresses without a page, for people and not for programs."""

from __future__ import annotations

from fastapi import Request, Response
from starlette.routing import Match, Route
from starlette.types import Scope

from neardup.server.pages.page import error_page

__all__ = ["UnknownPage"]

#: Addresses for programs, which get errors as JSON problems.
_OF_PROGRAMS = ("/v1", "/healthz", "/readyz", "/metrics", "/openapi.json")


class UnknownPage(Route):
    """The last route: a page for every address except those for programs."""

    def __init__(self) -> None:
        super().__init__("/{path:path}", _unknown, methods=["GET"], include_in_schema=False)

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Return whether this route handles a request."""
        if scope["type"] != "http" or scope["method"] not in ("GET", "HEAD"):
            return Match.NONE, {}
        path = scope["path"]
        if any(path == one or path.startswith(f"{one}/") for one in _OF_PROGRAMS):
            return Match.NONE, {}
        return super().matches(scope)


async def _unknown(request: Request) -> Response:
    return error_page(request, 404)
