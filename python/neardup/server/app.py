"""Builds the application from its parts, and starts and stops them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from fastapi import Depends, FastAPI
from fastapi.exceptions import RequestValidationError

from neardup import __version__
from neardup.server import problems
from neardup.server.api import body, check, compare, documents, health, openapi, query
from neardup.server.clock import Clock
from neardup.server.jobs.queue import Jobs
from neardup.server.metrics import Measured, Metrics
from neardup.server.pages import router as pages
from neardup.server.security import auth
from neardup.server.security.headers import SecurityHeaders
from neardup.server.security.keys import Keys
from neardup.server.security.limits import Limits
from neardup.server.store import Store
from neardup.server.writer import Writer

if TYPE_CHECKING:
    from fastapi.routing import APIRoute
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from neardup.server.settings import Settings

__all__ = ["create_app"]

_DESCRIPTION = """
Is this text stored already? Documents are compared with all that are stored; each answer
names the kept document that a text repeats, with the similarity and the measure.

Errors are `application/problem+json` (RFC 9457): `code` says for programs what happened,
`field` names the field at fault. Where the service has keys, send one as
`Authorization: Bearer KEY`.
"""


def create_app(settings: Settings, *, clock: Clock | None = None) -> FastAPI:
    """Return the application of a service.

    Parameters
    ----------
    settings : Settings
    clock : Clock or None, default=None
        Source of time. None uses the system clock.

    Returns
    -------
    FastAPI
        ``state`` has ``settings``, ``clock``, ``store``, ``writer``, ``jobs``, ``keys`` (None
        if the service requires no keys), ``ended_sessions`` and ``metrics``.
        The index is opened on first use, so the application can start while the database is
        unavailable.

    Examples
    --------
    >>> from neardup.server import Settings, create_app
    >>> app = create_app(Settings(index="news.db"))
    >>> "/v1/documents" in app.openapi()["paths"]
    True
    """
    app = _Described(
        title="neardup",
        version=__version__,
        description=_DESCRIPTION,
        lifespan=_running,
        # FastAPI's own pages load scripts from other sites; `neardup.server.pages.docs` does not.
        docs_url=None,
        redoc_url=None,
        # A path with one more slash names another document.
        redirect_slashes=False,
        generate_unique_id_function=_operation_id,
        # Only /metrics publishes anything about requests.
        telemetry={"tracing": False, "metrics": False, "logs": False, "auto_configure": False},
    )
    store = Store(settings)
    app.state.settings = settings
    app.state.store = store
    app.state.writer = Writer(store)
    app.state.keys = None if settings.keys is None else Keys(settings.keys)
    app.state.metrics = Metrics(store)
    app.state.clock = clock or Clock()
    app.state.ended_sessions = {}
    app.state.jobs = Jobs(settings, app.state.metrics, app.state.clock)
    for router in (documents.router, query.router, compare.router, check.router):
        app.include_router(
            router,
            dependencies=[Depends(body.refuse_unknown_parameters)],
        )
    # Monitors may add parameters of their own.
    app.include_router(health.router)
    # Appended instead of included: `include_router` would rebuild the routes, and the last one
    # matches every remaining address by a rule of its own.
    app.router.routes.extend(pages.routes)
    # From the inside out: each middleware wraps those added before it.
    problems.install(app)
    app.add_exception_handler(RequestValidationError, body.answer_validation_error)
    app.add_middleware(Limits, settings=settings)
    app.add_middleware(auth.Sessions)
    app.add_middleware(SecurityHeaders)
    app.add_middleware(Measured, metrics=app.state.metrics)
    app.add_middleware(_Heads)
    return app


@asynccontextmanager
async def _running(app: FastAPI) -> AsyncIterator[None]:
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


def _operation_id(route: APIRoute) -> str:
    """Return the name of an operation in generated clients, such as ``documents_add``."""
    return "_".join([*map(str, route.tags[:1]), route.name])


class _Described(FastAPI):
    """An application whose OpenAPI description includes the problems and the limits."""

    def openapi(self) -> dict[str, Any]:
        """Return the OpenAPI description."""
        if self.openapi_schema is None:
            openapi.complete(super().openapi(), self.state.settings)
        return super().openapi()


class _Heads:
    """Answers HEAD like GET, without the body; outermost, so that the others see only GET."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self._app(scope, receive, send)
            return

        async def without_body(message: Message) -> None:
            if message["type"] == "http.response.body":
                message = {**message, "body": b""}
            await send(message)

        # The server reads its own scope, where the method stays HEAD.
        await self._app({**scope, "method": "GET"}, receive, without_body)
