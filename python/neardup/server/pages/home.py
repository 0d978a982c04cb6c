"""The page ``/``: sizes, the last day, and what waits for a decision."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from fastapi import APIRouter, Request, Response

from neardup.exceptions import NeardupError
from neardup.index import RemovalFilter
from neardup.server.pages.page import READ
from neardup.server.pages.rendering import render

if TYPE_CHECKING:
    from neardup.index import Stats
    from neardup.server.store import Store

router = APIRouter()


@router.get("/", dependencies=READ)
async def show(request: Request) -> Response:
    """Show the state of the index, even if it is unavailable."""
    store = request.app.state.store
    stats, day, waiting = await store.run(_read_counts, store)
    return render(
        request,
        "home",
        200 if stats else 503,
        here="home",
        stats=stats,
        sizes=[]
        if stats is None
        else [
            (name, getattr(stats, name), getattr(stats, name) / max(stats.documents, 1))
            for name in ("documents", "kept", "dropped")
        ],
        day=day,
        waiting=waiting,
    )


def _read_counts(store: Store) -> tuple[Stats | None, tuple[int, int], int]:
    """Return the sizes, what arrived and was dropped on the last day, and what waits."""
    try:
        index = store.index
        day = index.count_arrivals(datetime.now(UTC) - timedelta(days=1))
        return index.stats(), day, index.count_removals(RemovalFilter(confirmed=False))
    except NeardupError:
        return None, (0, 0), 0
