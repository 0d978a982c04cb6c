"""Runs a service in one process or several, until a signal stops it.

The socket is bound here, before anything else, so that a port in use is an error at once and
several processes can share it. Each process has its own application and receives the settings
and the session secret through the pipe that starts it, never through the environment or a
file. A process that is stopped first answers the requests that it has accepted.
"""

from __future__ import annotations

import contextlib
import ipaddress
import multiprocessing
import os
import secrets
import shutil
import signal
import socket
import sqlite3
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

import uvicorn
from prometheus_client.multiprocess import mark_process_dead
from uvicorn.supervisors import Multiprocess

from neardup.base.messages import Message, system_words
from neardup.base.validation import bad, check_whole
from neardup.exceptions import OutputError, ParameterError
from neardup.server.app import create_app
from neardup.server.jobs.job_table import JOBS_FILE, fail_jobs_of
from neardup.server.logs import log_config
from neardup.server.security.keys import read_keys
from neardup.server.security.limits import is_loopback

if TYPE_CHECKING:
    from fastapi import FastAPI

    from neardup.server.settings import Settings

__all__ = ["serve"]

_MAX_PROCESSES = 64
_BACKLOG = 2048
#: Longer than proxies keep idle connections, so that no request meets a connection that is closing.
_KEEP_ALIVE_SECONDS = 65
#: A process that does not answer its parent for this many seconds is replaced.
_DEAD_SECONDS = 30
_START_SECONDS = 60.0
#: Largest head of a request, in bytes.
_HEAD_BYTES = 64 << 10
#: Open files of a process, if the system allows it; half of them are for connections.
_FILES = 16384
_METRICS = "PROMETHEUS_MULTIPROC_DIR"
_FOLDER = "neardup-service-"
#: Seconds within which a running service has locked its new folder.
_LOCKED_AFTER = 60.0


def serve(
    settings: Settings,
    *,
    host: str = "127.0.0.1",
    port: int = 8765,
    workers: int = 1,
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
    workers : int, default=1
        Processes.
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
    check_whole(workers, "workers", 1, _MAX_PROCESSES)
    check_whole(stop_seconds, "stop_seconds", 0)
    _check_proxy(proxy)
    _check_keys(settings, host)
    listener = _listen(host, port)
    address = _address(listener, host)
    with listener, _shared_folder(workers) as shared:
        config = uvicorn.Config(
            partial(_application, settings, secrets.token_hex(), shared),
            factory=True,
            workers=workers,
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
            timeout_worker_healthcheck=_DEAD_SECONDS,
        )
        announce = partial(started, address)
        if workers == 1:
            return _serve_here(_Server(config, announce), listener)
        processes = _Processes(config, [listener], announce, cast(Path, shared) / JOBS_FILE)
        processes.run()
        return not processes.failed


class _Server(uvicorn.Server):
    """Calls back once it has started."""

    def __init__(self, config: uvicorn.Config, announce: Callable[[], None]) -> None:
        super().__init__(config)
        self._announce = announce

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._announce()


class _Processes(Multiprocess):
    """Several processes, and a parent that replaces those that die."""

    def __init__(
        self,
        config: uvicorn.Config,
        sockets: list[socket.socket],
        announce: Callable[[], None],
        jobs: Path,
    ) -> None:
        super().__init__(config, sockets)
        self._announce = announce
        self._jobs = jobs
        #: Dead processes whose jobs are not yet marked as failed.
        self._dead: set[int] = set()
        self._up = False

    @property
    def failed(self) -> bool:
        """Whether some process has never started."""
        return not self._up

    def init_processes(self) -> None:
        super().init_processes()
        self._up = all(process.wait_until_ready(_START_SECONDS) for process in self.processes)
        if self._up:
            self._announce()
        else:
            self.should_exit.set()

    def keep_subprocess_alive(self) -> None:
        before = {process.pid for process in self.processes}
        super().keep_subprocess_alive()
        for pid in before - {process.pid for process in self.processes} - {None}:
            # Its requests are no longer in flight, and its checks have ended.
            mark_process_dead(pid)  # type: ignore[no-untyped-call]
            if pid is not None:
                self._dead.add(pid)
        for pid in tuple(self._dead):
            # The table may be locked; then the next call retries.
            with contextlib.suppress(sqlite3.Error):
                fail_jobs_of(pid, self._jobs)
                self._dead.remove(pid)

    def handle_hup(self) -> None:
        # Sent when the terminal closes. No reload is needed: keys are re-read whenever the file
        # changes.
        self.should_exit.set()


def _serve_here(server: _Server, listener: socket.socket) -> bool:
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


def _application(settings: Settings, secret: str, shared: Path | None) -> FastAPI:
    if shared is not None:
        threading.Thread(target=_stop_with_parent, daemon=True).start()
        if hasattr(signal, "SIGHUP"):
            # The parent receives the signal too, and stops its processes.
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
    return create_app(settings, shared=shared, secret=secret)


def _stop_with_parent() -> None:
    """Stop this process when its parent has died, which may happen without notice."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        signal.raise_signal(signal.SIGTERM)


@contextlib.contextmanager
def _shared_folder(workers: int) -> Iterator[Path | None]:
    """Make a private folder that the processes of a service share; None for a single process."""
    if workers == 1:
        yield None
        return
    _remove_abandoned()
    folder = Path(tempfile.mkdtemp(prefix=_FOLDER))
    lock = _lock(folder)
    try:
        # The folder that `neardup.server.metrics` sums up; prometheus_client accepts it only this
        # way.
        os.environ[_METRICS] = str(folder / "metrics")
        os.mkdir(folder / "metrics", 0o700)
        yield folder
    finally:
        del os.environ[_METRICS]
        lock.close()
        shutil.rmtree(folder, ignore_errors=True)


def _lock(folder: Path) -> sqlite3.Connection:
    """Lock a folder for the lifetime of this process; raise if another process holds the lock."""
    database = sqlite3.connect(folder / "running.db", timeout=0.0, isolation_level=None)
    try:
        database.execute("BEGIN EXCLUSIVE")
    except sqlite3.Error:
        database.close()
        raise
    return database


def _remove_abandoned() -> None:
    """Remove folders left by killed services: their reports are private."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_FOLDER}*"):
        with contextlib.suppress(OSError, sqlite3.Error):
            found = folder.lstat()
            # A folder of another user cannot be removed; a new one may not be locked yet.
            mine = os.name != "posix" or found.st_uid == os.getuid()
            if mine and time.time() - found.st_mtime > _LOCKED_AFTER:
                _lock(folder).close()
                shutil.rmtree(folder)


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
        raise ParameterError(Message("server.host_needs_keys", host=host))
    if not read_keys(settings.keys):
        raise ParameterError(Message("server.no_keys", file=str(settings.keys)))


def _check_proxy(proxy: str | None) -> None:
    for address in [] if proxy is None else proxy.split(","):
        try:
            ipaddress.ip_network(address.strip())
        except ValueError:
            raise bad("proxy", "server.proxy_addresses", address) from None


def _listen(host: str, port: int) -> socket.socket:
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, kind, protocol)
    except OSError as error:
        said = Message("server.no_such_address", host=host, reason=system_words(error))
        raise OutputError(said) from error
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        # From here on, a second service cannot bind this port.
        listener.listen(_BACKLOG)
        listener.setblocking(False)
        listener.set_inheritable(True)
    except OSError as error:
        listener.close()
        said = Message("server.cannot_listen", host=host, port=port, reason=system_words(error))
        raise OutputError(said) from error
    return listener


def _address(listener: socket.socket, host: str) -> str:
    port = listener.getsockname()[1]
    with contextlib.suppress(ValueError):
        if ipaddress.ip_address(host).version == 6:
            host = f"[{host}]"
    return f"http://{host}:{port}"
