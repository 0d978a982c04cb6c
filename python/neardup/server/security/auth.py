"""Authentication: programs by API key, people by a browser session.

Without a key file, only the machine that runs the service can use it
(`neardup.server.security.limits` refuses other host names). With a key file, a request needs a
key that has the scope, as ``Authorization: Bearer KEY`` or through a session cookie issued for
a key. A session identifies its key by digest, so it ends when the key is revoked, and has an id,
so that signing out also ends copies of its cookie. Each wrong
key makes its sender wait longer (`neardup.server.security.failed_keys`).
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Annotated, Any, Literal

from fastapi import Depends
from fastapi.security import HTTPBearer
from starlette.requests import Request

from neardup.base.messages import Message
from neardup.server.problems import ProblemError
from neardup.server.security.clients import address_of
from neardup.server.security.csrf import comes_from_elsewhere
from neardup.server.security.failed_keys import remember
from neardup.server.security.sessions import session_of

if TYPE_CHECKING:
    from neardup.server.security.failed_keys import FailedKeys
    from neardup.server.security.keys import Key, Keys

__all__ = [
    "SESSION_SECONDS",
    "Scope",
    "identify",
    "is_allowed",
    "needs_keys",
    "require",
    "sign_in",
    "sign_out",
    "signed_in",
]

Scope = Literal["read", "write"]

#: Seconds: a working day.
SESSION_SECONDS = 12 * 3600

_ID_BYTES = 16
_SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
_SCHEME = "key"

_bearer = HTTPBearer(
    scheme_name=_SCHEME,
    description="A key made by `neardup serve key create`.",
    auto_error=False,
)


def require(scope: Scope) -> Callable[..., Awaitable[None]]:
    """Return a FastAPI dependency that requires a scope.

    Parameters
    ----------
    scope : {'read', 'write'}

    Returns
    -------
    callable
        For ``Depends``. Raises `ProblemError`: 401 without a valid key, 403 if the key lacks
        the scope or the browser reports that another site caused the request.

    Examples
    --------
    >>> from fastapi import APIRouter, Depends
    >>> from neardup.server.security.auth import require
    >>> router = APIRouter()
    >>> @router.get("/v1/stats", dependencies=[Depends(require("read"))])
    ... async def stats() -> dict[str, int]:
    ...     return {}
    """

    async def check(request: Request, _: Annotated[Any, Depends(_bearer)]) -> None:
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
    return _keys(request) is not None


def signed_in(request: Request) -> Key | None:
    """Return the key of the request's session, or None if there is no session or it ended."""
    keys, session = _keys(request), session_of(request)
    if keys is None or request.app.state.clock.time() >= session.get("ends", 0):
        return None
    if session["id"] in request.app.state.ended_sessions:
        return None
    return keys.of_digest(session["key"])


def sign_in(request: Request, key: str) -> Key | None:
    """Begin a session for a key; the response carries its cookie.

    `csrf.check` protects the sign-in form like any other.

    Returns
    -------
    Key or None
        None if the key is wrong; then no session begins.

    Raises
    ------
    ProblemError
        429 after too many wrong keys from this address.
    """
    known = _find(request, key)
    if known is None:
        return None
    session, now = session_of(request), int(request.app.state.clock.time())
    # Form tokens from before the sign-in become invalid.
    session.clear()
    session.update(
        key=known.digest, ends=now + SESSION_SECONDS, id=secrets.token_urlsafe(_ID_BYTES)
    )
    return known


def sign_out(request: Request) -> None:
    """End the session, for copies of its cookie too; the response deletes the cookie."""
    session = session_of(request)
    if "id" in session:
        # A restart needs no list: its new secret ends all sessions.
        remember(request.app.state.ended_sessions, session["id"], None)
    session.clear()


def identify(request: Request) -> Key | None:
    """Return the key of a request; None if the service requires no keys.

    Reads only the head of the request, so that the bodies of anonymous clients need not be read.

    Raises
    ------
    ProblemError
        401 if the request has neither a valid key nor a session; 429 after too many wrong
        keys from its address.
    """
    return None if _keys(request) is None else _known(request)


def _check(request: Request, scope: Scope) -> None:
    # Only a program can put a key into this header, never a page of another site.
    by_key = needs_keys(request) and "authorization" in request.headers
    if not by_key and request.method not in _SAFE_METHODS and comes_from_elsewhere(request.headers):
        raise ProblemError(403, Message("server.title_forbidden"), Message("server.other_site"))
    if not needs_keys(request):
        return
    known = _known(request)
    if scope not in known.scopes:
        raise ProblemError(
            403,
            Message("server.title_forbidden"),
            Message("server.scope_missing", name=known.name, scope=scope),
        )


def _known(request: Request) -> Key:
    # Looked up once per request; otherwise one wrong key would count several times.
    found: Key | ProblemError | None = getattr(request.state, "known", None)
    if found is None:
        try:
            found = _identified(request)
        except ProblemError as problem:
            found = problem
        request.state.known = found
    if isinstance(found, ProblemError):
        raise found
    return found


def _identified(request: Request) -> Key:
    header = request.headers.get("authorization")
    if header is None:
        known = signed_in(request)
    else:
        kind, _, value = header.partition(" ")
        known = _find(request, value if kind.lower() == "bearer" else "")
    if known is None:
        detail = "server.key_needed" if header is None else "server.valid_key_needed"
        raise ProblemError(401, Message("server.title_key_needed"), Message(detail))
    return known


def _find(request: Request, value: str) -> Key | None:
    """Return the key with this value, None if it is wrong; raise 429 during back-off."""
    keys = _keys(request)
    if keys is None:
        return None
    failed: FailedKeys = request.app.state.failed_keys
    address, known = address_of(request.scope), keys.find(value.strip())
    rest = failed.rest(address)
    if rest > 0 and (known is None or not failed.was_used(address, known.digest)):
        seconds = math.ceil(rest)
        raise ProblemError(
            429,
            Message("server.title_wrong_keys"),
            Message("server.wrong_keys", seconds=seconds),
            headers={"Retry-After": str(seconds)},
        )
    if known is None:
        failed.failed(address)
    else:
        failed.used(address, known.digest)
    return known


def _keys(request: Request) -> Keys | None:
    keys: Keys | None = request.app.state.keys
    return keys
