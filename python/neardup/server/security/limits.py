"""Limits of size, time and number, and the key that a request needs, before its body is read.

They hold for all clients together; a proxy in front limits each of them.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from starlette.datastructures import MutableHeaders
from starlette.requests import Request

from neardup.base.messages import Message
from neardup.server.errors import answer_error
from neardup.server.problems import ProblemError
from neardup.server.security.auth import identify

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send
    from starlette.types import Message as AsgiMessage

    from neardup.server.settings import Settings

#: Answered even under full load, when monitoring needs them most.
_ALWAYS = frozenset(("/healthz", "/readyz", "/metrics"))

#: Addresses with short forms that clients without a key may send.
_SIGNING = frozenset(("/login", "/logout"))
#: Addresses that accept papers, and the bytes of a short form, or around papers in theirs.
_UPLOADS, _FORM_BYTES = frozenset(("/v1/check", "/check")), 64 << 10

#: Least bytes a second of a body, after the time that a short body may take.
SLOWEST = 50_000


class Limits:
    """ASGI middleware that refuses requests beyond the limits."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app = app
        self._settings = settings
        self.in_flight = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request, or refuse it; its body must end in time, and then its answer begin."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request, largest, received = Request(scope, receive), self._choose_limit(scope), 0
        loop, seconds = asyncio.get_running_loop(), self._settings.request_seconds
        announced = request.headers.get("content-length")
        is_unread = "transfer-encoding" in request.headers or (announced or "0") != "0"
        # Parts of a body do not move its end, or one byte at a time could hold a place for ever.
        body_seconds = seconds
        if is_unread:
            body_seconds += min(largest, int(announced or largest)) / SLOWEST

        async def receive_in_time() -> AsgiMessage:
            nonlocal is_unread, received
            message = await receive()
            if message["type"] == "http.request":
                is_unread = message.get("more_body", False)
                received += len(message.get("body", b""))
                if received > largest:
                    raise _make_size_error(largest)
                # A response that has begun has no limit: the export of many rows takes long.
                if not is_unread and limit.when() is not None:
                    limit.reschedule(loop.time() + seconds)
            return message

        async def send_and_close(message: AsgiMessage) -> None:
            if message["type"] == "http.response.start" and is_unread:
                # The server would receive the rest of the body, however large it is.
                MutableHeaders(scope=message)["connection"] = "close"
            await send(message)

        async def send_in_time(message: AsgiMessage) -> None:
            if message["type"] == "http.response.start":
                limit.reschedule(None)
            await send_and_close(message)

        self.in_flight += 1
        try:
            async with asyncio.timeout(body_seconds) as limit:
                self._check(request, largest)
                await self._app(scope, receive_in_time, send_in_time)
        except ProblemError as refusal:
            await (await answer_error(request, refusal))(scope, receive, send_and_close)
        except TimeoutError:
            if not limit.expired():
                raise
            error = _make_slow_error(body_seconds) if is_unread else _make_long_error(seconds)
            await (await answer_error(request, error))(scope, receive, send_and_close)
        finally:
            self.in_flight -= 1

    def _choose_limit(self, scope: Scope) -> int:
        if scope["path"] in _UPLOADS:
            return self._settings.max_upload_bytes + _FORM_BYTES
        if scope["path"] in _SIGNING:
            return min(self._settings.max_body_bytes, _FORM_BYTES)
        return self._settings.max_body_bytes

    def _check(self, request: Request, largest: int) -> None:
        path = request.url.path
        if self.in_flight > self._settings.max_in_flight and path not in _ALWAYS:
            detail = Message.counted(
                "{count} request is being answered. Try again in a moment.",
                "{count} requests are being answered. Try again in a moment.",
                count=self._settings.max_in_flight,
            )
            raise ProblemError(429, "Too busy", detail, headers={"Retry-After": "1"})
        if request.method != "GET" and path not in _SIGNING:
            identify(request)
        if int(request.headers.get("content-length", 0)) > largest:
            raise _make_size_error(largest)


def _make_size_error(limit: int) -> ProblemError:
    detail = Message("The body must have at most {most} bytes. Send it in parts.", most=limit)
    return ProblemError(413, "Body too large", detail)


def _make_slow_error(seconds: float) -> ProblemError:
    detail = Message(
        "The request must arrive within {seconds:.0f} seconds. Send less, or send it faster.",
        seconds=seconds,
    )
    return ProblemError(408, "Too slow", detail)


def _make_long_error(seconds: float) -> ProblemError:
    detail = Message(
        "The answer took longer than {seconds:g} seconds. Documents of the "
        "request may have been stored; sending them again is safe.",
        seconds=seconds,
    )
    return ProblemError(504, "Too long", detail)
