"""Browser sessions in a cookie signed by Starlette.

The secret is new at each start, so a restart ends all sessions and invalidates all open forms;
it is never written to disk. Processes of one service share it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.middleware.sessions import SessionMiddleware

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import ASGIApp, Receive, Scope, Send

__all__ = ["Sessions", "session_of"]

_COOKIE = "neardup_session"


class Sessions:
    """ASGI middleware that reads and writes the cookie.

    Scripts cannot read the cookie, and other sites cannot make the browser send it. A cookie
    set over HTTPS is never sent over plain HTTP.

    Parameters
    ----------
    app : ASGI application
    secret : str
        Random, at least 32 bytes.
    max_age : int or None
        Seconds until the cookie expires. None: it lasts until the browser is closed.
    """

    def __init__(self, app: ASGIApp, secret: str, max_age: int | None) -> None:
        self._http, self._https = (
            SessionMiddleware(
                app, secret, _COOKIE, max_age, same_site="strict", https_only=https_only
            )
            for https_only in (False, True)
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        inner = self._https if scope.get("scheme") == "https" else self._http
        await inner(scope, receive, send)


def session_of(request: Request) -> dict[str, Any]:
    """Return the session data of a request, as a mutable dict."""
    session: dict[str, Any] = request.scope.get("session", {})
    return session
