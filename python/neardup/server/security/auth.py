"""Authentication: programs by API key, people by a browser session.

Without a key file, only the machine that runs the service can use it. With a key file, a request
needs a key that has the scope, as ``Authorization: Bearer KEY`` or through a session cookie issued
for a key. Starlette signs the cookie, with the time of its making and a secret. The secret is new
at each start and never on disk, so a restart ends all sessions. A session identifies its key by
digest, so it ends when the key is revoked. It has an id, so that signing out also ends copies of
its cookie.

The scopes of a key decide what it may see, in the API and on the pages. Only ``read`` shows what
is stored: texts, titles, other fields, removals, decisions, reports. ``write`` stores and decides,
and its answers name documents by their ids. A page that changes something also shows something, so
it requires both.
"""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal

from fastapi import Depends
from fastapi.security import HTTPBearer
from starlette.middleware.sessions import SessionMiddleware
from starlette.requests import Request

from neardup.base.messages import N_, Message
from neardup.server.problems import ProblemError

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Send
    from starlette.types import Scope as AsgiScope

    from neardup.server.security.keys import Key, Keys

Scope = Literal["read", "write"]

#: Seconds: a working day.
SESSION_SECONDS = 12 * 3600

_COOKIE = "neardup_session"
_ID_BYTES = 16
#: Most ids of ended sessions; only who has a key can end one.
_MOST_ENDED = 10_000
_SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
_CHALLENGE = {"WWW-Authenticate": 'Bearer realm="neardup"'}

_bearer = HTTPBearer(
    scheme_name="key",
    description="A key made by `neardup serve key create`.",
    auto_error=False,
)


class Sessions:
    """ASGI middleware that reads and writes the session cookie.

    Scripts cannot read the cookie, and other sites cannot make the browser send it. A cookie
    set over HTTPS is never sent over plain HTTP.
    """

    def __init__(self, app: ASGIApp) -> None:
        secret = secrets.token_hex()
        self._http, self._https = (
            SessionMiddleware(
                app, secret, _COOKIE, SESSION_SECONDS, same_site="strict", https_only=https_only
            )
            for https_only in (False, True)
        )

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        inner = self._https if scope.get("scheme") == "https" else self._http
        await inner(scope, receive, send)


def require(*scopes: Scope) -> Callable[..., Awaitable[None]]:
    """Return a FastAPI dependency that requires scopes.

    It raises `ProblemError`: 401 without a valid key, 403 if the key lacks a scope or another
    site caused the request.
    """

    async def check(request: Request, _: Annotated[Any, Depends(_bearer)]) -> None:
        for scope in scopes:
            _check(request, scope)

    return check


def is_allowed(request: Request, scope: Scope) -> bool:
    """Return whether a request has a scope, so that pages show only permitted actions."""
    try:
        _check(request, scope)
    except ProblemError:
        return False
    return True


def needs_keys(request: Request) -> bool:
    """Return whether the service requires keys."""
    return _get_keys(request) is not None


def find_session_key(request: Request) -> Key | None:
    """Return the key of the request's session, or None if there is no session or it ended."""
    keys, session = _get_keys(request), _get_session(request)
    if keys is None or "id" not in session or session["id"] in request.app.state.ended_sessions:
        return None
    return keys.find_digest(session["key"])


def sign_in(request: Request, key: str) -> Key | None:
    """Begin a session for a key, and return it; None, and no session, if it is wrong."""
    known = _find(request, key)
    if known is not None:
        _get_session(request).update(key=known.digest, id=secrets.token_urlsafe(_ID_BYTES))
    return known


def sign_out(request: Request) -> None:
    """End the session, for copies of its cookie too; the response deletes the cookie."""
    session, ended = _get_session(request), request.app.state.ended_sessions
    if "id" in session:
        ended[session["id"]] = None
        while len(ended) > _MOST_ENDED:
            del ended[next(iter(ended))]
    session.clear()


def identify(request: Request) -> Key | None:
    """Return the key of a request by its head; None if the service requires none; raise 401."""
    return None if _get_keys(request) is None else _require_key(request)


def refuse_other_sites(request: Request) -> None:
    """Raise 403 for a request that a page of another site caused (CSRF).

    Browsers say where a request comes from. Other programs send no such headers, and no site can
    make them send a request.
    """
    if request.method not in _SAFE_METHODS and _comes_from_elsewhere(request.headers):
        raise ProblemError(
            403, "Forbidden", Message("The request comes from a page of another site.")
        )


def _comes_from_elsewhere(headers: Mapping[str, str]) -> bool:
    site = headers.get("sec-fetch-site")
    if site is not None:
        return site not in ("same-origin", "none")
    origin = headers.get("origin")
    if origin is None:
        return False
    # The scheme is not compared: a proxy in front may terminate HTTPS.
    return origin.partition("://")[2] != headers.get("host", "")


def _check(request: Request, scope: Scope) -> None:
    # Only a program can put a key into this header, never a page of another site.
    if not needs_keys(request) or "authorization" not in request.headers:
        refuse_other_sites(request)
    known = identify(request)
    if known is not None and scope not in known.scopes:
        raise ProblemError(
            403,
            "Forbidden",
            Message(
                "The key '{name}' does not have the scope '{scope}', which this request needs.",
                name=known.name,
                scope=scope,
            ),
        )


def _require_key(request: Request) -> Key:
    header = request.headers.get("authorization")
    if header is None:
        known = find_session_key(request)
    else:
        kind, _, value = header.partition(" ")
        known = _find(request, value if kind.lower() == "bearer" else "")
    if known is None:
        detail = Message(
            N_("The request needs a key: Authorization: Bearer KEY.")
            if header is None
            else N_("The request needs a valid key: Authorization: Bearer KEY.")
        )
        raise ProblemError(401, "A key is needed", detail, headers=_CHALLENGE)
    return known


def _find(request: Request, value: str) -> Key | None:
    keys = _get_keys(request)
    return None if keys is None else keys.find(value.strip())


def _get_keys(request: Request) -> Keys | None:
    keys: Keys | None = request.app.state.keys
    return keys


def _get_session(request: Request) -> dict[str, Any]:
    session: dict[str, Any] = request.scope.get("session", {})
    return session
