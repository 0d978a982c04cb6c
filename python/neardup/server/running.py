"""Runs a service until a signal stops it; it first answers the requests that it has accepted."""

from __future__ import annotations

import ipaddress
import signal
import socket
from collections.abc import Callable
from typing import TYPE_CHECKING

import uvicorn

from neardup.base.messages import Message, system_words
from neardup.base.validation import bad, check_whole
from neardup.exceptions import OutputError, ParameterError
from neardup.server import logs
from neardup.server.app import LOOPBACK, create_app
from neardup.server.security.connections import KEEP_ALIVE_SECONDS, Connection
from neardup.server.security.keys import read_keys

if TYPE_CHECKING:
    from neardup.server.settings import Settings


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
    """Serve until a signal, then finish accepted requests; False if the log says why it cannot.

    An address other than loopback requires keys. X-Forwarded-For and X-Forwarded-Proto are used
    from the addresses in `proxy` only: any program of this machine could forge these headers.
    `started` is called with the address as soon as the service listens there.
    """
    check_whole(port, "port", 0, 65535)
    check_whole(stop_seconds, "stop_seconds", 0)
    _check_proxy(proxy)
    _check_keys(settings, host)
    logs.configure(access=access_log)
    with _listen(host, port) as listener:
        server = uvicorn.Server(
            uvicorn.Config(
                create_app(settings),
                http=Connection,
                ws="none",
                lifespan="on",
                log_config=None,
                # Below, uvicorn logs clients that do not speak HTTP: any client could fill a disk.
                log_level="info" if access_log else "error",
                access_log=access_log,
                server_header=False,
                proxy_headers=proxy is not None,
                forwarded_allow_ips=proxy,
                timeout_keep_alive=KEEP_ALIVE_SECONDS,
                timeout_graceful_shutdown=stop_seconds,
            )
        )
        shown = f"[{host}]" if ":" in host else host
        started(f"http://{shown}:{listener.getsockname()[1]}")
        if hasattr(signal, "SIGHUP"):
            signal.signal(signal.SIGHUP, server.handle_exit)
        try:
            server.run(sockets=[listener])
        except KeyboardInterrupt:
            # Uvicorn raises its signals again after it has stopped. On a second signal it did not
            # wait for requests in progress.
            if not server.should_exit or server.force_exit:
                raise
        return server.started


def _check_keys(settings: Settings, host: str) -> None:
    if settings.keys is None:
        if host in LOOPBACK:
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
    """Return a bound socket, before anything else, so that a port in use is an error at once."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=2048)
    except OSError as error:
        message = Message(
            "{host}:{port}: cannot listen on this port: {reason}. Stop the "
            "program that uses it, or choose another --port.",
            host=host,
            port=port,
            reason=system_words(error),
        )
        raise OutputError(message) from error
