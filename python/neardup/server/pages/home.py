"""The page ``/``: sizes, the last day, what waits for a decision; rates and limits."""

from __future__ import annotations

import platform
import time
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Request, Response

from neardup.base import __version__
from neardup.exceptions import NeardupError
from neardup.index import RemovalFilter
from neardup.pages.words import Words
from neardup.server.pages.page import page
from neardup.server.pages.rendering import language_of_request, moment, page_words, render

if TYPE_CHECKING:
    from neardup.index import Stats
    from neardup.server.settings import Settings
    from neardup.server.store import Store

__all__ = ["router"]

#: Start of this process.
_STARTED = time.monotonic()

#: Units of durations: from how many seconds on it is used, its seconds, and its word.
_SPANS = ((2 * 86400, 86400, "days"), (2 * 3600, 3600, "hours"), (2 * 60, 60, "minutes"))

router = APIRouter()

Rows = list[tuple[str, Any]]


@router.get("/", include_in_schema=False)
@page("read")
async def show(request: Request) -> Response:
    """Show the state of the service, even if the index is unavailable."""
    state = request.app.state
    words = page_words(language_of_request(request))
    stats, day, waiting = await state.store.run(_counts, state.store)
    return render(
        request,
        "home",
        200 if stats else 503,
        here="home",
        problem=stats is None,
        is_empty=stats is not None and not stats.documents,
        sizes=[] if stats is None else _sizes(stats),
        day=day,
        waiting=waiting,
        index=[] if stats is None else _index(stats),
        service=_service(words, state, state.metrics.totals()),
        limits=_limits(words, state.settings),
    )


def _counts(store: Store) -> tuple[Stats | None, tuple[int, int], int]:
    """Return the sizes, what arrived and was dropped on the last day, and what waits."""
    try:
        index = store.index
        day = index.count_arrivals(datetime.now(UTC) - timedelta(days=1))
        return index.stats(), day, index.count_removals(RemovalFilter(confirmed=False))
    except NeardupError:
        return None, (0, 0), 0


def _sizes(stats: Stats) -> list[tuple[str, int, float]]:
    return [
        (name, count, count / max(stats.documents, 1))
        for name, count in (
            ("documents", stats.documents),
            ("kept", stats.kept),
            ("dropped", stats.dropped),
        )
    ]


def _index(stats: Stats) -> Rows:
    # Readers must not see the location.
    is_server = stats.location.startswith("postgresql")
    return [
        ("kind", "PostgreSQL" if is_server else "SQLite"),
        ("bytes", _bytes(stats.bytes)),
        ("recipe_id", stats.recipe_id),
        ("measure", stats.measure),
        ("threshold", None if stats.threshold is None else f"{stats.threshold:g}"),
        ("max_distance", stats.max_distance),
        ("scheme", stats.scheme),
        ("background_texts", stats.background_texts),
        ("first", moment(stats.first) or None),
        ("last", moment(stats.last) or None),
        ("created", moment(stats.created)),
    ]


def _service(words: Words, state: Any, counted: dict[str, int]) -> Rows:
    up = time.monotonic() - _STARTED
    a_minute = 60 / max(up, 1.0)
    return [
        ("version", __version__),
        ("python", platform.python_version()),
        ("up", _span(words, up)),
        ("requests", counted["requests"]),
        ("request_rate", round(counted["requests"] * a_minute)),
        ("in_flight", counted["in_flight"]),
        ("added", counted["added"]),
        ("added_rate", round(counted["added"] * a_minute)),
        ("waiting", state.writer.waiting),
        ("jobs", state.jobs.unfinished),
    ]


def _limits(words: Words, settings: Settings) -> Rows:
    return [
        ("max_body", _bytes(settings.max_body_bytes)),
        ("max_upload", _bytes(settings.max_upload_bytes)),
        ("max_batch", settings.max_batch),
        ("max_text", settings.max_text_characters),
        ("max_in_flight", settings.max_in_flight),
        ("request_time", _span(words, settings.request_seconds)),
        ("max_jobs", settings.max_jobs),
        ("job_time", _span(words, settings.job_seconds)),
    ]


def _bytes(count: int) -> str:
    """Return a size in binary units.

    Examples
    --------
    >>> _bytes(900), _bytes(16 << 20)
    ('900 B', '16.0 MB')
    """
    size = float(count)
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1024:
            return f"{size:.0f} B" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:.1f} TB"


def _span(words: Words, seconds: float) -> str:
    for least, unit, word in _SPANS:
        if seconds >= least:
            return words(word, count=int(seconds // unit))
    return words("seconds", count=int(seconds))
