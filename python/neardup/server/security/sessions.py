"""What a browser brings back: a cookie that Starlette signs.

The secret is new with each start, so a restart ends all sessions and makes all open forms
stale; nothing of it is ever written anywhere. Processes of one service share it.
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

    No script can read it and no other site can make the browser send it; over HTTPS it never
    travels in the clear.

    Parameters
    ----------
    app : ASGI application
    secret : str
        Random, of 32 bytes at least.
    max_age : int or None
        Seconds after which the cookie is worth nothing. None: it lasts until the browser is closed.
    """

    def __init__(self, app: ASGIApp, secret: str, max_age: int | None) -> None:
        self._http, self._https = (
            SessionMiddleware(
                app, secret, _COOKIE, max_age, same_site="strict", https_only=https_only
            )
            for https_only in (False, True)
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        inner = self._https if scope.get("scheme") == "https" else self._http
        await inner(scope, receive, send)


def session_of(request: Request) -> dict[str, Any]:
    """Return what the cookie of a request has, to be read and changed."""
    session: dict[str, Any] = request.scope.get("session", {})
    return session
