"""The page ``/clusters``: kept documents, and what was dropped for them."""

from __future__ import annotations

from urllib.parse import urlencode

from fastapi import APIRouter, Request, Response

from neardup.server.api.query import clusters_page
from neardup.server.pages.page import page
from neardup.server.pages.rendering import render

__all__ = ["router"]

_LIMIT = 20
_LONGEST_SEARCH = 200
#: No cluster has a number with more digits.
_LONGEST_NUMBER = 18

router = APIRouter()


@router.get("/clusters", include_in_schema=False)
@page("read")
async def show(request: Request) -> Response:
    """Show a page of clusters."""
    store = request.app.state.store
    given = request.query_params.get("search", "")[:_LONGEST_SEARCH]
    search = "".join(one for one in given if one.isprintable()).strip()
    after = request.query_params.get("after", "")
    number = int(after) if after.isdecimal() and len(after) <= _LONGEST_NUMBER else 0
    found = await store.run(
        lambda: clusters_page(store.index, after=number, limit=_LIMIT, search=search or None)
    )
    return render(
        request,
        "clusters",
        here="clusters",
        search=search,
        clusters=found.clusters,
        next_link=_link(search, found.next) if found.next else "",
        first_link=_link(search) if number else "",
    )


def _link(search: str, after: str = "") -> str:
    query = {name: value for name, value in (("search", search), ("after", after)) if value}
    return "/clusters" + (f"?{urlencode(query)}" if query else "")
