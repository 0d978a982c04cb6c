"""A service inside the test's process, and one in another process."""

import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from fastapi import FastAPI

import neardup
from neardup.readers import sandbox, sandboxed_reader
from neardup.server import Settings, create_app
from neardup.server.jobs import queue
from neardup.server.security.keys import create_key
from tests import forks, needs
from tests.cli.conftest import environment
from tests.forks import Fork
from tests.server import programs
from tests.server.answers import check_answer
from tests.waiting import PATIENCE, until

#: What a client on the same machine asks for; the service looks at the host.
BASE = "http://127.0.0.1:8765"

BRIDGE = "The council will open the new bridge over the river on Sunday morning at nine."
FERRY = "渡口的新渡轮下周一试航，票价与旧船相同，老人与孩子免费乘坐。"
LIBRARY = "市图书馆将于周六上午九点重新开放，读者凭身份证入馆，借书证照常使用。"


class Inside(httpx.BaseTransport):
    """Hands requests to an app that lives in the event loop of another thread.

    Starlette's `TestClient` unquotes a path twice, so that some ids are never reached.
    """

    def __init__(self, app: FastAPI, portal: BlockingPortal) -> None:
        # An error is to become an answer, as it does for any client.
        self._transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        self._portal = portal

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request and wait for all of the answer."""
        request.read()

        async def send() -> httpx.Response:
            answer = await self._transport.handle_async_request(request)
            content = await answer.aread()
            return httpx.Response(answer.status_code, headers=answer.headers, content=content)

        return self._portal.call(send)


@contextmanager
def client_of(app: FastAPI) -> Iterator[httpx.Client]:
    """Run an app from start to stop and give a client, all whose answers are checked."""
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(app.router.lifespan_context(app)),
        httpx.Client(transport=Inside(app, portal), base_url=BASE) as client,
    ):
        client.event_hooks["response"].append(check_answer)
        client.app = app  # type: ignore[attr-defined]
        yield client


class Process:
    """A service in another process, on a free port of 127.0.0.1.

    Attributes
    ----------
    url : str
    client : httpx.Client
    process : subprocess.Popen
    """

    def __init__(self, process: subprocess.Popen[bytes] | Fork, port: int, log: Path) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self.client = httpx.Client(base_url=self.url, timeout=PATIENCE)
        self.process = process
        self._log = log

    def log(self) -> str:
        """Return what it has printed so far."""
        return self._log.read_text(errors="replace")

    def wait_until_up(self) -> None:
        """Return when it answers."""
        until(self._answers, "the service to answer")

    def _answers(self) -> bool:
        assert self.process.poll() is None, f"the service has ended:\n{self.log()}"
        try:
            self.client.get("/healthz")
        except httpx.TransportError:
            return False
        return True

    def wait_until_logged(self, words: str) -> None:
        """Return when it has printed some words."""
        until(lambda: words in self.log(), f"the service to print {words!r}")

    def stop(self, number: int = signal.SIGTERM, seconds: float = PATIENCE) -> int:
        """Send a signal, wait for the end and return the exit code."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise AssertionError(f"the service does not stop:\n{self.log()}") from None
        finally:
            self.client.close()


def free_port() -> int:
    """Return a port of 127.0.0.1 that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def run_service(settings: dict[str, Any], log: Path) -> Process:
    """Run a service with settings, and with those of `programs.serve`."""
    port = free_port()
    settings = {"workers": 1, **settings}
    return Process(Fork(programs.serve, settings, port, stdout=log, stderr=log), port, log)


def peak_memory(pid: int, *, reset: bool = False) -> int:
    """Return the largest memory of a process, in bytes; `reset` begins with the present one."""
    status = Path(f"/proc/{pid}/status")
    if not status.exists():
        pytest.skip(needs.LINUX)
    if reset:
        (status.parent / "clear_refs").write_text("5")
    return int(status.read_text().partition("VmHWM:")[2].split()[0]) << 10


def make_index(location: Path) -> str:
    """Make an index of three documents: `a/1` and `b 2` are kept, `a/2` repeats `a/1`."""
    with neardup.Index(location, must_exist=False, workers=1) as made:
        made.add("a/1", BRIDGE, title="The bridge", at="2026-03-01T08:00:00Z", source="paper")
        made.add("a/2", BRIDGE + "!", title="Bridge opens", at="2026-03-02T08:00:00Z")
        made.add("b 2", FERRY, title="新渡轮", at="2026-03-03T08:00:00Z", extra={"page": 3})
    return str(location)


@pytest.fixture(autouse=True)
def forked_readers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let services inside this process read papers and make reports in forks."""
    monkeypatch.setattr(sandboxed_reader, "run_in_sandbox", forks.run_in_sandbox)
    monkeypatch.setattr(queue, "Exchange", forks.Exchange)


@pytest.fixture
def new_interpreters(forked_readers: None, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: ARG001
    """Let them do so in new interpreters, as they do for their users."""
    monkeypatch.setattr(sandboxed_reader, "run_in_sandbox", sandbox.run_in_sandbox)
    monkeypatch.setattr(queue, "Exchange", sandbox.Exchange)


@pytest.fixture(scope="session")
def index_file(tmp_path_factory: pytest.TempPathFactory) -> str:
    """An index of three documents that no test changes; see `make_index`."""
    return make_index(tmp_path_factory.mktemp("index") / "news.db")


@pytest.fixture
def index(index_file: str, tmp_path: Path) -> str:
    """An index of three documents; see `make_index`."""
    return str(shutil.copy(index_file, tmp_path / "news.db"))


@pytest.fixture
def serve(index: str) -> Iterator[Callable[..., httpx.Client]]:
    """Serve an app inside this process: ``serve(max_batch=3)`` gives a client.

    Keywords are those of `Settings`; the index is that of the fixture of that name. ``app`` of the
    client is the app. Use ``serve.running(app)`` for an app of your own.
    """
    with ExitStack() as open_ones:

        def start(**settings: Any) -> httpx.Client:
            given = {"index": index, "workers": 1, **settings}
            return open_ones.enter_context(client_of(create_app(Settings(**given))))

        start.running = lambda app: open_ones.enter_context(client_of(app))  # type: ignore[attr-defined]
        yield start


def bearer(key: str) -> dict[str, str]:
    """Return the header of a program with a key."""
    return {"Authorization": f"Bearer {key}"}


@pytest.fixture
def keys(tmp_path: Path) -> dict[str, Any]:
    """A file, ``path``, of a key for each set of scopes, whose name is the scopes."""
    path = tmp_path / "keys.json"
    secrets = {}
    for name in ("read", "write", "read+write"):
        secrets[name], _ = create_key(path, name, name.split("+"))
    return {"path": path, **secrets}


@pytest.fixture
def guarded(serve: Callable[..., httpx.Client], keys: dict[str, Any]) -> httpx.Client:
    """A client of a service with these keys."""
    return serve(keys=keys["path"])


@pytest.fixture
def client(serve: Callable[..., httpx.Client]) -> httpx.Client:
    """A client of a service with the default settings, without keys."""
    return serve()


@pytest.fixture(scope="module")
def shared(index_file: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """A service like that of `client`, for all tests of a file that leave it as it is."""
    index = shutil.copy(index_file, tmp_path_factory.mktemp("shared") / "news.db")
    with client_of(create_app(Settings(index=str(index), workers=1))) as client:
        yield client


@pytest.fixture
def serve_process(index: str, tmp_path: Path) -> Iterator[Callable[..., Process]]:
    """Start a service in another process: ``serve_process(max_batch=3)``.

    Keywords are those of `Settings`, and ``proxy`` and ``stop_seconds``; ``command`` is a list of
    arguments of `neardup`, to which a port is added, in place of settings; ``new_interpreter``
    starts it as a shell would.
    """
    started: list[Process] = []

    def start(
        *, command: Sequence[str] | None = None, new_interpreter: bool = False, **settings: Any
    ) -> Process:
        log, port = tmp_path / f"service-{len(started)}.log", free_port()
        if command is None:
            process = run_service({"index": index, **settings}, log)
        elif new_interpreter:
            words = [sys.executable, "-m", "neardup", *command, "--port", str(port)]
            with log.open("ab") as output:
                program = subprocess.Popen(words, stdout=output, stderr=output, env=environment())
            process = Process(program, port, log)
        else:
            words = [*command, "--port", str(port)]
            fork = Fork(forks.run_command, *words, stdout=log, stderr=log)
            process = Process(fork, port, log)
        started.append(process)
        process.wait_until_up()
        return process

    yield start
    for process in started:
        process.stop(signal.SIGKILL)
