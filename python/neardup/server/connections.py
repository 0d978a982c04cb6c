"""Connections: what uvicorn does not bound.

A client may send a request so slowly, or a head so long, that the request never begins:
no middleware sees it. So a head must be there in time, what is not yet of use is bounded,
and so is the number of connections. Refusals have the shape of all problems. Nor may it
leave its answer lying: a connection is closed only when all of it was taken, so one that
is not taken in time is cut.

The parser accepts what a proxy may read in another way, and what uvicorn would mix up: transfer
codings other than ``chunked``, and trailers, which uvicorn would append to the headers. Such
a request gets 400.
"""

from __future__ import annotations

import asyncio
import math
from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NoReturn

from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from neardup._engine.messages import Message
from neardup.server.problems import ProblemError, response
from neardup.server.security.clients import network_of

if TYPE_CHECKING:
    from asyncio import TimerHandle

    from uvicorn._types import ASGI3Application
    from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

__all__ = ["Addresses", "Connection", "raise_file_limit"]

#: From the first byte to the end of the head, and how long a new connection may be silent.
_HEAD_SECONDS = 10.0
#: Bytes that bring nothing forward: of a head that does not end, of trailers.
_HEAD_BYTES = 64 << 10
#: What is read of a body after its answer.
_IGNORED_BYTES = 1 << 20
#: Files that a process may have open, if the system lets it.
_FILES = 16384


class Addresses:
    """How many connections each address has, in one process.

    Parameters
    ----------
    share : float
        Largest share of all connections that one address may have.
    proxies : str
        Addresses or networks of trusted proxies, separated by commas. They have connections for
        many clients, and so no share.
    """

    def __init__(self, share: float, proxies: str) -> None:
        self._share = share
        self._proxies = proxies
        self._counts: Counter[str] = Counter()

    def admit(self, host: str) -> bool:
        """Count a connection; False if its address has too many."""
        address = network_of(host)
        self._counts[address] += 1
        most = max(1, math.ceil(_most_connections() * self._share))
        return self._counts[address] <= most or host in _trusted(self._proxies).trusted_hosts

    def release(self, host: str) -> None:
        """Give a connection back."""
        address = network_of(host)
        self._counts[address] -= 1
        if self._counts[address] <= 0:
            del self._counts[address]


class Connection(HttpToolsProtocol):
    """One connection, HTTP/1.1, by httptools.

    Parameters
    ----------
    answer_seconds : float
        How long what was answered may lie there before the client has taken it.
    addresses : Addresses or None, default=None
        Counts the connections of each address, for all connections together.
    arguments, options
        What uvicorn gives to each connection.
    """

    def __init__(
        self,
        *arguments: Any,
        answer_seconds: float,
        addresses: Addresses | None = None,
        **options: Any,
    ) -> None:
        super().__init__(*arguments, **options)
        self._addresses = addresses
        self._host: str | None = None
        self._answer_seconds = answer_seconds
        self._timer: TimerHandle | None = None
        self._reader_timer: TimerHandle | None = None
        self._answering: RequestResponseCycle | None = None
        self._useless = 0
        self._ignored = 0
        self._in_head = True
        self._fault: Message | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin, unless there are too many, in all or from one address."""
        super().connection_made(transport)
        admitted = True
        if self._addresses is not None and self.client is not None:
            self._host = self.client[0]
            admitted = self._addresses.admit(self._host)
        if not admitted or len(self.connections) > _most_connections():
            transport.abort()
            return
        self._expect_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """End."""
        self._head_is_there()
        self._stop_reader_timer()
        if self._addresses is not None and self._host is not None:
            self._addresses.release(self._host)
            self._host = None
        super().connection_lost(exc)
        # uvicorn tells only the last request that came; those before it may still be answered.
        self.pipeline.clear()
        if self._answering is not None and not self._answering.response_complete:
            self._answering.disconnected = True
            self._answering.message_event.set()

    def data_received(self, data: bytes) -> None:
        """Take what came."""
        self._expect_reader()
        self._useless += len(data)
        super().data_received(data)
        if self.transport.is_closing():
            return
        if self._useless > _HEAD_BYTES:
            detail = Message("server.head_too_large", most=_HEAD_BYTES)
            self._refuse(431, Message("server.title_head_too_large"), detail)
        elif self._timer is None and (self.cycle is None or self.cycle.response_complete):
            self._expect_head()

    def on_message_begin(self) -> None:
        """Begin with the next head."""
        self._in_head = True
        super().on_message_begin()

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header; refuse a trailer."""
        if not self._in_head:
            self._fail(Message("server.trailers"))
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Begin to answer."""
        self._in_head = False
        self._useless = self._ignored = 0
        self._head_is_there()
        self._check_coding()
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Hand a piece of the body on, or let it go if nobody waits for it any more."""
        self._useless = 0
        super().on_body(body)
        if self.cycle.response_complete:
            self._ignored += len(body)
            if self._ignored > _IGNORED_BYTES:
                self.transport.close()

    def on_response_complete(self) -> None:
        """Wait for the next request, or begin to answer it if it is there."""
        super().on_response_complete()
        self._expect_reader()

    def pause_writing(self) -> None:
        """Let an answer wait until the client has taken more of it."""
        super().pause_writing()
        self._expect_reader()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is not HTTP."""
        detail = self._fault or Message("server.not_http", said=msg)
        self._refuse(400, Message("server.title_bad_request"), detail)

    def _check_coding(self) -> None:
        codings = [value for name, value in self.headers if name == b"transfer-encoding"]
        if not codings:
            return
        if self.parser.get_http_version() != "1.1":
            self._fail(Message("server.coding_needs_http_1_1"))
        if [coding.strip(b" \t").lower() for coding in codings] != [b"chunked"]:
            self._fail(Message("server.coding_not_chunked"))

    def _fail(self, fault: Message) -> NoReturn:
        # The parser stops, and uvicorn calls `send_400_response`.
        self._fault = fault
        raise ValueError(fault)

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: ASGI3Application) -> None:
        self._answering = cycle
        super()._start_asgi_task(cycle, app)

    def _expect_reader(self) -> None:
        if self.transport.get_write_buffer_size() == 0:
            self._stop_reader_timer()
        elif self._reader_timer is None:
            self._reader_timer = self.loop.call_later(self._answer_seconds, self._reader_is_late)

    def _stop_reader_timer(self) -> None:
        if self._reader_timer is not None:
            self._reader_timer.cancel()
            self._reader_timer = None

    def _reader_is_late(self) -> None:
        self._reader_timer = None
        if self.transport.get_write_buffer_size() > 0:
            self.transport.abort()

    def _expect_head(self) -> None:
        self._timer = self.loop.call_later(_HEAD_SECONDS, self._head_is_late)

    def _head_is_there(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _head_is_late(self) -> None:
        self._timer = None
        if not self.transport.is_closing():
            self._refuse(408, Message("server.title_too_slow"), Message("server.head_slow"))

    def _refuse(self, status: int, title: Message, detail: Message) -> None:
        cycle = self.cycle
        if (
            cycle is not None
            and cycle is self._answering
            and cycle.more_body
            and not cycle.response_started
        ):
            # It is this request's body that is refused. The application reads that its client
            # is gone.
            cycle.disconnected = cycle.response_complete = True
            cycle.message_event.set()
        # In the middle of an answer another one would be taken for a part of it.
        if cycle is None or cycle.response_complete:
            answer = response(ProblemError(status, title, detail))
            head = [b"HTTP/1.1 %d %s" % (status, title.encode())]
            head += [name + b": " + value for name, value in answer.raw_headers]
            head += [b"connection: close", b"x-content-type-options: nosniff"]
            self.transport.write(b"\r\n".join(head) + b"\r\n\r\n" + bytes(answer.body))
        self.transport.close()
        self._expect_reader()


def raise_file_limit() -> None:
    """Let this process have many connections: as many files as the system allows it."""
    try:
        import resource
    except ImportError:
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _FILES if hard == resource.RLIM_INFINITY else min(hard, _FILES)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


@lru_cache
def _trusted(proxies: str) -> ProxyHeadersMiddleware:
    """Return what knows the proxies, as uvicorn understands them."""
    return ProxyHeadersMiddleware(_no_application, proxies)


async def _no_application(*_: Any) -> None:
    """Stand in for an application that is never called."""


@lru_cache
def _most_connections() -> int:
    """Half of the files, so that databases and papers can always be opened."""
    try:
        import resource
    except ImportError:
        return _FILES // 2
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return _FILES // 2 if soft == resource.RLIM_INFINITY else max(soft // 2, 1)
