"""Runs a service until a signal stops it; it first answers the requests that it has accepted.

The socket is bound before anything else, so that a port in use is an error at once.
"""

from __future__ import annotations

import contextlib
import ipaddress
import signal
import socket
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import uvicorn

from neardup.base.messages import Message, system_words
from neardup.base.validation import bad, check_whole
from neardup.exceptions import OutputError, ParameterError
from neardup.server.app import create_app
from neardup.server.logs import log_config
from neardup.server.security.keys import read_keys
from neardup.server.security.limits import is_loopback

if TYPE_CHECKING:
    from neardup.server.settings import Settings

__all__ = ["serve"]

_BACKLOG = 2048
#: Longer than proxies keep idle connections, so that no request meets a connection that is closing.
_KEEP_ALIVE_SECONDS = 65
#: Largest head of a request, in bytes.
_HEAD_BYTES = 64 << 10
#: Open files of a process, if the system allows it; half of them are for connections.
_FILES = 16384


def serve(
    settings: Settings,
    *,
    host: str = "127.0.0.1",
    port: int = 8765,
    stop_seconds: int = 30,
    proxy: str | None = None,
    access_log: bool = False,
    started: Callable[[str], None] = print,
) -> bool:
    """Serve until SIGTERM or SIGINT, then finish the accepted requests.

    Parameters
    ----------
    settings : Settings
    host : str, default='127.0.0.1'
        Address to listen on. Any address other than loopback requires ``settings.keys``.
    port : int, default=8765
        0 chooses a free port.
    stop_seconds : int, default=30
        How long requests may take to finish after a stop signal.
    proxy : str or None, default=None
        Addresses or networks of trusted proxies, separated by commas: their headers
        X-Forwarded-For and X-Forwarded-Proto are used. None trusts no address, not even
        loopback: any program of this machine could forge the headers.
    access_log : bool, default=False
        Whether each request is logged.
    started : callable, default=print
        Called with the address as soon as the service answers there.

    Returns
    -------
    bool
        False if the service could not start; the log says why.

    Raises
    ------
    ParameterError
        If the host requires keys and there are none, or a parameter is out of bounds.
    InputError
        If the key file cannot be used.
    OutputError
        If the service cannot listen at this address.
    """
    check_whole(port, "port", 0, 65535)
    check_whole(stop_seconds, "stop_seconds", 0)
    _check_proxy(proxy)
    _check_keys(settings, host)
    listener = _listen(host, port)
    with listener:
        config = uvicorn.Config(
            create_app(settings),
            # Strict: it refuses a request that can be parsed in two ways.
            http="h11",
            h11_max_incomplete_event_size=_HEAD_BYTES,
            limit_concurrency=_raise_file_limit() // 2,
            ws="none",
            lifespan="on",
            log_config=log_config(access=access_log),
            access_log=access_log,
            server_header=False,
            proxy_headers=proxy is not None,
            forwarded_allow_ips=proxy,
            backlog=_BACKLOG,
            timeout_keep_alive=_KEEP_ALIVE_SECONDS,
            timeout_graceful_shutdown=stop_seconds,
        )
        return _run(_Server(config, partial(started, _address(listener, host))), listener)


class _Server(uvicorn.Server):
    """Calls back once it has started."""

    def __init__(self, config: uvicorn.Config, announce: Callable[[], None]) -> None:
        super().__init__(config)
        self._announce = announce

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._announce()


def _run(server: _Server, listener: socket.socket) -> bool:
    if hasattr(signal, "SIGHUP"):
        signal.signal(signal.SIGHUP, server.handle_exit)
    try:
        server.run(sockets=[listener])
    except KeyboardInterrupt:
        # Uvicorn raises its signals again after it has stopped. On a second signal it did not wait
        # for requests in progress.
        if not server.should_exit or server.force_exit:
            raise
    except SystemExit:
        return False
    return server.started


def _raise_file_limit() -> int:
    """Raise this process's limit of open files as far as the system allows; return the limit."""
    try:
        import resource
    except ImportError:
        return _FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = _FILES if hard == resource.RLIM_INFINITY else min(hard, _FILES)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    return most


def _check_keys(settings: Settings, host: str) -> None:
    if settings.keys is None:
        if is_loopback(host):
            return
        raise ParameterError(
            Message(
                "A service at {host} can be reached from other machines, so it needs "
                "API keys. Create one with `neardup serve key create NAME --keys "
                "FILE`, and serve with --keys FILE; or leave --host out.",
                host=host,
            )
        )
    if not read_keys(settings.keys):
        raise ParameterError(
            Message(
                "{file}: has no key, so nobody could use the service. Create one "
                "with: neardup serve key create NAME --keys {file}",
                file=str(settings.keys),
            )
        )


def _check_proxy(proxy: str | None) -> None:
    for address in [] if proxy is None else proxy.split(","):
        try:
            ipaddress.ip_network(address.strip())
        except ValueError:
            raise bad("proxy", "IP addresses or networks, separated by commas", address) from None


def _listen(host: str, port: int) -> socket.socket:
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, kind, protocol)
    except OSError as error:
        reason = system_words(error)
        raise OutputError(
            Message(
                "{host}: is not an address of this machine: {reason}.", host=host, reason=reason
            )
        ) from error
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        # From here on, a second service cannot bind this port.
        listener.listen(_BACKLOG)
        listener.setblocking(False)
    except OSError as error:
        listener.close()
        message = Message(
            "{host}:{port}: cannot listen on this port: {reason}. Stop the "
            "program that uses it, or choose another --port.",
            host=host,
            port=port,
            reason=system_words(error),
        )
        raise OutputError(message) from error
    return listener


def _address(listener: socket.socket, host: str) -> str:
    port = listener.getsockname()[1]
    with contextlib.suppress(ValueError):
        if ipaddress.ip_address(host).version == 6:
            host = f"[{host}]"
    return f"http://{host}:{port}"
