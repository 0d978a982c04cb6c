"""Headers of every answer: what a browser may do with it.

A page of the service loads its own style and script and nothing else from anywhere;
no other site can frame it, read it or make it send a form elsewhere. A header that an
answer has itself stands.
"""

from __future__ import annotations

import re
from html import unescape
from typing import TYPE_CHECKING

from neardup._engine.messages import Message
from neardup.exceptions import ParameterError

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send
    from starlette.types import Message as AsgiMessage

__all__ = ["CONTENT_POLICY", "SecurityHeaders", "report_policy"]

CONTENT_POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)

_HEADERS = {
    "content-security-policy": CONTENT_POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    # Not `no-referrer`: with it browsers send `Origin: null` with forms of our own pages.
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": (
        "camera=(), geolocation=(), microphone=(), payment=(), usb=(), "
        "display-capture=(), publickey-credentials-get=(), serial=()"
    ),
    "cache-control": "no-store",
}
_ENCODED = tuple((name.encode(), value.encode()) for name, value in _HEADERS.items())

_META = re.compile(r'<meta http-equiv="Content-Security-Policy" content="([^"<>]*)">')
# What a report's own policy may consist of: nothing but digests.
_DIGESTS = re.compile(
    r"default-src 'none'(?:; (?:style|script)-src(?: 'sha256-[A-Za-z0-9+/=]{44}')+)*"
    r"; base-uri 'none'; form-action 'none'"
)
_HEAD_CHARACTERS = 2000


class SecurityHeaders:
    """ASGI middleware that adds the headers to each answer; outside of all that may refuse."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: AsgiMessage) -> None:
            if message["type"] == "http.response.start":
                headers = list(message.get("headers", ()))
                there = {name.lower() for name, _ in headers}
                headers += [pair for pair in _ENCODED if pair[0] not in there]
                if message["status"] == 401 and b"www-authenticate" not in there:
                    headers.append((b"www-authenticate", b'Bearer realm="neardup"'))
                message = {**message, "headers": headers}
            await send(message)

        await self._app(scope, receive, send_with_headers)


def report_policy(html: str) -> str:
    """Return the content policy with which the report of a check is served.

    The report allows its own style and script by their digests, which were made of our
    files before any text came into the page. The same goes into the header, and a
    sandbox: the page is of no origin, so that nothing in it could act as the service's own.

    Parameters
    ----------
    html : str
        Made by :func:`neardup.papers.report.html.html_report`.

    Raises
    ------
    ParameterError
        If the page has no such policy at its head.

    Examples
    --------
    >>> from neardup.server.security.headers import report_policy
    >>> policy = "default-src 'none'; base-uri 'none'; form-action 'none'"
    >>> page = f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
    >>> report_policy(page).removeprefix(policy)
    "; frame-ancestors 'none'; sandbox allow-scripts allow-modals"
    """
    found = _META.search(html, 0, _HEAD_CHARACTERS)
    policy = "" if found is None else unescape(found[1])
    if not _DIGESTS.fullmatch(policy):
        raise ParameterError(Message("server.must_be_report"))
    return f"{policy}; frame-ancestors 'none'; sandbox allow-scripts allow-modals"
