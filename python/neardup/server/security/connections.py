"""Connections that end in time, and requests that can be read in one way only.

An application sees a request only after its head, so both are kept where bytes arrive.
"""

from __future__ import annotations

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

#: Longest time for the head of a request, from its first byte or from the connection on.
HEAD_SECONDS = 10.0
#: Largest part of a head that is kept until the rest comes.
_HEAD_BYTES = 64 << 10

#: Kept idle longer than proxies do, so that no request meets a connection that is closing.
KEEP_ALIVE_SECONDS = 65


class Connection(H11Protocol):
    """A connection of uvicorn, closed if a head does not end or a body is not read."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.conn = _StrictConnection(h11.SERVER, _HEAD_BYTES)
        self._head: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Expect a head."""
        super().connection_made(transport)
        self._time_head()

    def data_received(self, data: bytes) -> None:
        """Take bytes; bytes of a head do not move its end."""
        super().data_received(data)
        self._time_head()

    def on_response_complete(self) -> None:
        """Close the connection if a part of the request is still to come; nobody would read it."""
        is_unread = self.conn.their_state is h11.SEND_BODY
        super().on_response_complete()
        if is_unread:
            self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the time."""
        super().connection_lost(exc)
        self._stop_time()

    def _time_head(self) -> None:
        if self.conn.their_state is not h11.IDLE:
            self._stop_time()
        elif self._head is None:
            self._head = self.loop.call_later(HEAD_SECONDS, self.timeout_keep_alive_handler)

    def _stop_time(self) -> None:
        if self._head is not None:
            self._head.cancel()
            self._head = None


class _StrictConnection(h11.Connection):
    """Refuses a request whose length a proxy may read in another way."""

    def next_event(self) -> Any:
        event = super().next_event()
        if isinstance(event, h11.Request):
            names = {name for name, _ in event.headers}
            is_old = event.http_version < b"1.1"
            if b"transfer-encoding" in names and (is_old or b"content-length" in names):
                raise h11.RemoteProtocolError("a request with two lengths")
        return event
