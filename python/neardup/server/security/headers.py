"""Security headers of every response.

A page of the service loads only its own style and script; no other site can frame it, read it
or make it send a form elsewhere. A header that the response already has is kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.datastructures import MutableHeaders

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send
    from starlette.types import Message as AsgiMessage

CONTENT_POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)

_HEADERS = {
    "content-security-policy": CONTENT_POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    # Not `no-referrer`: with it, browsers send `Origin: null` for forms of our own pages.
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": (
        "camera=(), geolocation=(), microphone=(), payment=(), usb=(), "
        "display-capture=(), publickey-credentials-get=(), serial=()"
    ),
    "cache-control": "no-store",
}

#: The policy of a check's report, in addition to the one that the page has in itself: that one
#: allows its own style and script by their digests. The page has no origin, so that no script in it
#: can act on behalf of the service.
REPORT_POLICY = "frame-ancestors 'none'; sandbox allow-scripts allow-modals allow-downloads"


class SecurityHeaders:
    """ASGI middleware that adds the headers to each response; it wraps all that may refuse one."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""

        async def send_with_headers(message: AsgiMessage) -> None:
            if message["type"] == "http.response.start":
                add_headers(MutableHeaders(scope=message))
            await send(message)

        await self._app(scope, receive, send_with_headers)


def add_headers(headers: MutableHeaders) -> None:
    """Add the headers to a response."""
    for name, value in _HEADERS.items():
        headers.setdefault(name, value)
