"""Limits of requests: size, time, number, and the host that they name, before everything else.

They hold for all clients together; a proxy in front limits each of them.
"""

from __future__ import annotations

import asyncio
import ipaddress
import re
from typing import TYPE_CHECKING

from starlette.requests import Request

from neardup.base.messages import Message
from neardup.server.problems import ProblemError, response
from neardup.server.security.auth import identify

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send
    from starlette.types import Message as AsgiMessage

    from neardup.server.settings import Settings

__all__ = ["Limits", "is_loopback"]

#: Addresses that accept papers.
UPLOADS = frozenset(("/v1/check", "/check"))
_API = "/v1/"
#: Addresses with short forms that anonymous clients may send.
_SIGNING = frozenset(("/login", "/logout"))
#: A registered name or an IPv4 address, or an IPv6 address in brackets (RFC 3986).
_HOST = re.compile(r"(?:[0-9A-Za-z._~%!$&'()*+,;=-]*|\[[0-9A-Fa-f:.]+\])(?::[0-9]{0,5})?")
#: Largest short form, in bytes; also the allowance for the parts around an uploaded file.
_FORM_BYTES = 64 << 10
#: Longest time, in seconds, for requests without a needed key and for the sign-in forms.
_ANONYMOUS_SECONDS = 5.0
#: Answered even under full load, when monitoring needs them most.
_ALWAYS = frozenset(("/healthz", "/readyz", "/metrics"))
#: Slowest allowed transfer of a body, in bytes per second.
_SLOWEST = 16 << 10
#: Bytes of all bodies at once: this many of the largest bodies or papers, whichever is more.
_BODIES, _PAPERS = 4, 2
_RETRY_SECONDS = 1
_CLOSE = (b"connection", b"close")


class Limits:
    """ASGI middleware that refuses requests beyond the limits."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app = app
        self._settings = settings
        self._room = max(_BODIES * settings.max_body_bytes, _PAPERS * settings.max_upload_bytes)
        self._bytes = 0
        self.in_flight = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        most = self._most(scope)
        missing_key = self._missing_key(scope)
        request = _Request(scope, most, receive, send)
        refusal = self._refusal(scope, most, missing_key)
        if refusal is not None:
            await request.refuse(scope, refusal)
            return
        seconds = self._settings.request_seconds
        if missing_key is not None or scope["path"] in _SIGNING:
            seconds = min(seconds, _ANONYMOUS_SECONDS)
            # Lowered only now: a client without a key should be told about the key, not the size.
            request.most = min(most, _FORM_BYTES)
        self.in_flight += 1
        try:
            await self._answer(scope, request, seconds)
        finally:
            self.in_flight -= 1
            self._bytes -= request.received

    async def _answer(self, scope: Scope, request: _Request, seconds: float) -> None:
        loop = asyncio.get_running_loop()
        began = loop.time()
        try:
            async with asyncio.timeout_at(began + seconds) as limit:

                async def receive() -> AsgiMessage:
                    message = await request.receive()
                    self._bytes += len(message.get("body", b""))
                    if request.has_begun:
                        # Too late to refuse: the handler only waits for a disconnect.
                        return message
                    if request.received > request.most:
                        raise _Refused(_too_large(request.most))
                    if self._bytes > self._room:
                        raise _Refused(
                            _busy(
                                503,
                                Message(
                                    "The service is receiving too much data. Try again in a moment."
                                ),
                            )
                        )
                    # A large body may take longer if it keeps arriving; its processing then has
                    # the full time limit again.
                    if message["type"] == "http.request":
                        limit.reschedule(
                            loop.time() + seconds
                            if request.complete
                            else began + seconds + request.received / _SLOWEST
                        )
                    return message

                await self._app(scope, receive, request.send)
        except _Refused as refused:
            await request.refuse(scope, refused.problem)
        except TimeoutError:
            if not limit.expired():
                raise
            await request.refuse(scope, _too_long(seconds, complete=request.complete))

    def _most(self, scope: Scope) -> int:
        if scope["path"] in UPLOADS and scope["method"] == "POST":
            return self._settings.max_upload_bytes + _FORM_BYTES
        if scope["path"] in _SIGNING:
            return min(self._settings.max_body_bytes, _FORM_BYTES)
        return self._settings.max_body_bytes

    def _missing_key(self, scope: Scope) -> ProblemError | None:
        """Return the refusal of a request without a needed key."""
        try:
            identify(Request(scope))
        except ProblemError as refusal:
            return refusal
        return None

    def _refusal(
        self, scope: Scope, most: int, missing_key: ProblemError | None
    ) -> ProblemError | None:
        fault = _host_fault(scope) or _length_fault(scope)
        if fault is not None:
            return ProblemError("Bad request", fault)
        headers = dict(scope["headers"])
        if self._settings.keys is None and not _names_loopback(headers.get(b"host", b"")):
            return ProblemError(
                "Not this host",
                Message(
                    "Without API keys the service accepts requests to localhost only. Use "
                    "that name, or start the service with keys: neardup serve --keys "
                    "FILE."
                ),
            )
        length = headers.get(b"content-length", b"0")
        if not length.isdigit():
            return ProblemError(
                "Bad request", Message("The header Content-Length is not a number.")
            )
        # Python refuses to parse a number of thousands of digits.
        if len(length) > 18 or int(length) > most:
            return _too_large(most)
        if missing_key is not None and scope["path"].startswith(_API):
            return missing_key
        if scope["path"] not in _ALWAYS and self.in_flight >= self._settings.max_in_flight:
            return _busy(
                429,
                Message.counted(
                    "{count} request is being answered. Try again in a moment.",
                    "{count} requests are being answered. Try again in a moment.",
                    count=self.in_flight,
                ),
            )
        return None


def is_loopback(host: str) -> bool:
    """Return whether a host, without a port, can only be this machine.

    Examples
    --------
    >>> from neardup.server.security.limits import is_loopback
    >>> [is_loopback(host) for host in ("localhost", "127.0.0.2", "::1", "0.0.0.0")]
    [True, True, True, False]
    """
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _host_fault(scope: Scope) -> Message | None:
    """Return what is wrong with the Host header: a later reader might see another host."""
    hosts = [value for name, value in scope["headers"] if name == b"host"]
    if len(hosts) > 1 or (not hosts and scope.get("http_version") != "1.0"):
        return Message(
            "The request must have one Host header. Got {hosts} instead.", hosts=len(hosts)
        )
    if hosts and not _HOST.fullmatch(hosts[0].decode("latin-1")):
        return Message("The header Host must be a host, and a port after a colon if there is one.")
    return None


def _length_fault(scope: Scope) -> Message | None:
    """Return why a proxy might see a different end of the body, None if it cannot."""
    names = {name for name, _ in scope["headers"]}
    if b"transfer-encoding" not in names:
        return None
    if scope.get("http_version") == "1.0":
        return Message("The header Transfer-Encoding needs HTTP/1.1.")
    return (
        Message(
            "The request must have one of the headers Content-Length and "
            "Transfer-Encoding, not both."
        )
        if b"content-length" in names
        else None
    )


def _names_loopback(host: bytes) -> bool:
    """Return whether a Host header names this machine.

    After its page has loaded, another site can point its own name at this machine (DNS
    rebinding); the page would then share an origin with the service. The Host header still
    shows that name.
    """
    name = host.decode("latin-1")
    if name.startswith("["):
        name, bracket, port = name[1:].partition("]")
        if not bracket or (port and not port.startswith(":")):
            return False
    else:
        name = name.partition(":")[0]
    return is_loopback(name)


class _Refused(BaseException):
    # Not an Exception: code that reads the body may catch those and send its own response.
    def __init__(self, problem: ProblemError) -> None:
        super().__init__()
        self.problem = problem


class _Request:
    """One request: the bytes received so far, and whether its response has begun."""

    def __init__(self, scope: Scope, most: int, receive: Receive, send: Send) -> None:
        self.most = most
        self.received = 0
        #: Whether the whole body was received; it may be empty.
        self.complete = not any(
            name == b"transfer-encoding" or (name == b"content-length" and value != b"0")
            for name, value in scope["headers"]
        )
        #: Whether the response has begun.
        self.has_begun = False
        self._is_refused = False
        self._receive = receive
        self._send = send

    async def receive(self) -> AsgiMessage:
        message = await self._receive()
        self.received += len(message.get("body", b""))
        self.complete = self.complete or not message.get("more_body", False)
        return message

    async def send(self, message: AsgiMessage) -> None:
        """Send a part of the response; before the end of the body, also close the connection."""
        if message["type"] == "http.response.start":
            self.has_begun = True
            if self._is_refused or not self.complete:
                message = {**message, "headers": [*message.get("headers", ()), _CLOSE]}
        await self._send(message)

    async def refuse(self, scope: Scope, problem: ProblemError) -> None:
        """Send a problem and close the connection, unless a response has begun."""
        if not self.has_begun:
            self._is_refused = True
            await response(problem)(scope, self._receive, self.send)


def _too_large(most: int) -> ProblemError:
    return ProblemError(
        "Body too large",
        Message("The body must have at most {most} bytes. Send it in parts.", most=most),
    )


def _too_long(seconds: float, *, complete: bool) -> ProblemError:
    if not complete:
        return ProblemError(
            "Request too slow", Message("The body did not arrive in time. Try again.")
        )
    return ProblemError(
        "Too long",
        Message(
            "The answer took longer than {seconds:g} seconds. Documents of the "
            "request may have been stored; sending them again is safe.",
            seconds=seconds,
        ),
    )


def _busy(status: int, detail: Message) -> ProblemError:
    headers = {"Retry-After": str(_RETRY_SECONDS)}
    return ProblemError("Too busy", detail, status=status, headers=headers)
