"""The application: its middlewares, its routes, and what runs as long as it does."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from fastapi import FastAPI
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware

from neardup.base import __version__
from neardup.base.messages import N_
from neardup.base.validation import check_kind
from neardup.server import pages
from neardup.server.api import check, compare, documents, health, query
from neardup.server.errors import HANDLERS
from neardup.server.jobs.queue import Jobs
from neardup.server.metrics import Metrics
from neardup.server.problems import PROBLEMS
from neardup.server.security.auth import Sessions
from neardup.server.security.headers import SecurityHeaders
from neardup.server.security.keys import Keys
from neardup.server.security.limits import Limits
from neardup.server.settings import Settings
from neardup.server.store import Store
from neardup.server.writer import Writer

if TYPE_CHECKING:
    from fastapi.routing import APIRoute
    from starlette.types import ASGIApp, Receive, Scope, Send

#: Names of this machine. Without keys no other is served: another site could point its own name at
#: this machine, and its page would share an origin with the service.
LOOPBACK = ("localhost", "127.0.0.1", "::1")

_DESCRIPTION = """
Is this text stored already? Documents are compared with all that are stored; each answer
names the kept document that a text repeats, with the similarity and the measure.

Errors are `application/problem+json` (RFC 9457): `code` says for programs what happened,
`field` names the field at fault. Where the service has keys, send one as
`Authorization: Bearer KEY`.
"""


def create_app(settings: Settings) -> FastAPI:
    """Return the application of a service.

    Parameters
    ----------
    settings : Settings

    Returns
    -------
    FastAPI
        ``state`` has ``settings``, ``store``, ``writer``, ``jobs``, ``keys`` (None if the service
        requires no keys), ``ended_sessions`` and ``metrics``.
        The index is opened on first use, so the application can start while the database is
        unavailable.

    Examples
    --------
    >>> from neardup.server import Settings, create_app
    >>> app = create_app(Settings(index="news.db"))
    >>> "/v1/documents" in app.openapi()["paths"]
    True
    """
    check_kind(settings, "settings", Settings, N_("Settings of a service"))
    hosts = [f"[{host}]" if ":" in host else host for host in LOOPBACK]
    app = FastAPI(
        title="neardup",
        version=__version__,
        description=_DESCRIPTION,
        lifespan=_run_tasks,
        # FastAPI's own pages load scripts from other sites; `neardup.server.pages.docs` does not.
        docs_url=None,
        redoc_url=None,
        # A path with one more slash names another document.
        redirect_slashes=False,
        generate_unique_id_function=_name_operation,
        # Only /metrics publishes anything about requests.
        telemetry={"tracing": False, "metrics": False, "logs": False, "auto_configure": False},
        exception_handlers=HANDLERS,
        # From the outside in. `Metrics.install` adds one around them.
        middleware=[
            Middleware(_HeadAsGet),
            Middleware(SecurityHeaders),
            Middleware(
                TrustedHostMiddleware,
                allowed_hosts=hosts if settings.keys is None else ["*"],
                www_redirect=False,
            ),
            Middleware(Sessions),
            Middleware(Limits, settings=settings),
        ],
    )
    app.state.settings = settings
    app.state.store = Store(settings)
    app.state.writer = Writer(app.state.store)
    app.state.keys = None if settings.keys is None else Keys(settings.keys)
    app.state.ended_sessions = {}
    app.state.metrics = Metrics(app.state.store)
    app.state.metrics.install(app)
    app.state.jobs = Jobs(settings, app.state.metrics)
    for part in (documents, query, compare, check, health):
        app.include_router(part.router, responses=PROBLEMS)
    app.include_router(pages.router, include_in_schema=False)
    return app


@asynccontextmanager
async def _run_tasks(app: FastAPI) -> AsyncIterator[None]:
    """Run the background tasks; on shutdown, finish accepted work first."""
    state = app.state
    try:
        state.writer.start()
        state.jobs.start()
        yield
    finally:
        try:
            await state.writer.stop()
        finally:
            await state.jobs.stop()
            state.store.close()


def _name_operation(route: APIRoute) -> str:
    """Return the name of an operation in generated clients, such as ``documents_add``."""
    return "_".join([*map(str, route.tags[:1]), route.name])


class _HeadAsGet:
    """Answers HEAD like GET; the server, which reads its own scope, leaves out the body."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] == "HEAD":
            scope = {**scope, "method": "GET"}
        await self._app(scope, receive, send)
