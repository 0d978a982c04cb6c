"""What is too much is refused, cheaply and with the right status."""

import asyncio
import json

import anyio
import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse, StreamingResponse
from starlette.routing import Route
from uvicorn.server import ServerState

from neardup.server import Settings
from neardup.server.security.connections import HEAD_SECONDS, KEEP_ALIVE_SECONDS, Connection
from neardup.server.security.limits import SLOWEST, Limits
from tests.server.clocks import run_virtually

JSON = {"Content-Type": "application/json"}


@pytest.mark.parametrize(
    ("hosts", "status"),
    [
        (("localhost", "LOCALHOST:1", "127.0.0.1:8765", "[::1]", "[::1]:8765"), 200),
        # Names that were made to lead here.
        (("evil.example", "evil.example:8765", "localhost.evil.example"), 400),
        (("127.0.0.1.evil.example", "0.0.0.0:8765", "10.0.0.1", "[::2]", ""), 400),
        # What is no host.
        (("[::1", "[::1]evil.example", "localhost:80@evil.example"), 400),
        (("localhost/evil.example", "evil.example:80@localhost", "localhost:http"), 400),
        (("localhost:80:80", "local host"), 400),
    ],
)
def test_only_hosts_of_this_machine_are_answered(client, hosts, status):
    for host in hosts:
        assert client.get("/healthz", headers={"Host": host}).status_code == status, host


class TestBodies:
    @pytest.fixture
    def small(self, serve):
        return serve(max_body_bytes=1000)

    def test_announced(self, small):
        answer = small.post("/v1/query", content=b" " * 1001, headers=JSON)
        assert (answer.status_code, answer.json()["code"]) == (413, "body_too_large")
        assert answer.headers["connection"] == "close"

    def test_counted(self, small):
        largest = json.dumps({"text": "a b c"}).encode().ljust(1000)
        for content, status in ((largest, 200), ((b" " * 100 for _ in range(11)), 413)):
            answer = small.post("/v1/query", content=content, headers=JSON)
            assert answer.status_code == status

    @pytest.mark.parametrize("path", ["/v1/check", "/check"])
    def test_papers_may_be_larger(self, serve, path):
        client = serve(max_body_bytes=1000, max_upload_bytes=3000)
        files = {"file": ("a.txt", b"a" * 2000)}
        answer = client.post(path, files=files, data={"library": "index"})
        assert answer.status_code != 413
        for size in (3001, 100_000):
            files = {"file": ("a.txt", b"a" * size)}
            assert client.post(path, files=files, data={"library": "index"}).status_code == 413

    def test_the_form_of_signing_in_is_small(self, guarded):
        form = b"key=" + b"a" * 65_533
        kind = {"Content-Type": "application/x-www-form-urlencoded"}
        pieces = (form[at : at + 1000] for at in range(0, len(form), 1000))
        for content, status in ((form, 413), (pieces, 413), (form[:-1], 401)):
            assert guarded.post("/login", content=content, headers=kind).status_code == status

    def test_an_anonymous_client_is_asked_for_a_key_whatever_he_sends(self, guarded):
        paper = {"file": ("a.txt", b"a" * 200_000)}
        for path in ("/check", "/v1/check"):
            assert guarded.post(path, files=paper).status_code == 401


def limited(routes, **settings):
    """Return a bare application behind the limits, and the limits."""
    app, given = Starlette(routes=routes), Settings(index="none.db", **settings)
    app.state.keys, app.state.settings = None, given
    limits = Limits(app, given)

    async def ask(method="GET", path="/", body=(b"",), pause=0.0, size=None):
        sent, answer = list(body), []

        async def receive():
            if not sent:
                await anyio.sleep_forever()
            if pause:
                await anyio.sleep(pause)
            piece = sent.pop(0)
            return {"type": "http.request", "body": piece, "more_body": bool(sent)}

        async def send(message):
            answer.append(message)

        scope = {
            "type": "http",
            "app": app,
            "method": method,
            "path": path,
            "raw_path": path.encode(),
            "query_string": b"",
            "headers": [
                (b"host", b"localhost"),
                *([(b"content-length", str(size).encode())] if size is not None else []),
                *([(b"transfer-encoding", b"chunked")] if method == "POST" and not size else []),
            ],
            "root_path": "",
            "scheme": "http",
        }
        await limits(scope, receive, send)
        return answer[0]["status"], dict(answer[0]["headers"])

    return limits, ask


class TestTime:
    @pytest.mark.parametrize(("seconds", "status"), [(29.9, 200), (30.1, 504)])
    def test_a_long_answer(self, seconds, status):
        took = []

        async def slow(_):
            begun = anyio.current_time()
            try:
                await anyio.sleep(seconds)
            finally:
                took.append(anyio.current_time() - begun)
            return PlainTextResponse("done")

        limits, ask = limited([Route("/", slow)], request_seconds=30)
        assert run_virtually(ask)[0] == status
        assert (took, limits.in_flight) == ([pytest.approx(min(seconds, 30))], 0)

    @pytest.mark.parametrize(
        ("path", "size", "pieces", "pause", "status", "seconds"),
        [
            # A byte every twelve seconds does not hold a place.
            ("/login", 60, 60, 12, 408, 30),
            ("/login", None, 60, 12, 408, 30 + (64 << 10) / SLOWEST),
            # A client that sends 50 kB a second is served, however large its paper is.
            ("/v1/check", 64 << 20, 1024, 65536 / SLOWEST, 200, (64 << 20) / SLOWEST),
            ("/v1/check", 64 << 20, 1024, 2 * 65536 / SLOWEST, 408, 30 + (64 << 20) / SLOWEST),
            # The answer has its own time.
            ("/v1/compare", 100, 1, 29, 200, 29 + 29),
        ],
    )
    def test_body_has_one_deadline(self, path, size, pieces, pause, status, seconds):
        async def read(request):
            await request.body()
            await anyio.sleep(29 if path == "/v1/compare" else 0)
            return PlainTextResponse("done")

        limits, ask = limited([Route(path, read, methods=["POST"])], request_seconds=30)

        async def timed():
            begun = anyio.current_time()
            piece = b"a" * ((size or pieces) // pieces)
            (found, _) = await ask("POST", path, [piece] * pieces, pause, size=size)
            return found, anyio.current_time() - begun

        assert run_virtually(timed) == (status, pytest.approx(seconds, abs=0.01))
        assert limits.in_flight == 0

    def test_an_answer_before_the_end_of_the_body_closes_the_connection(self):
        async def answer(_):
            return PlainTextResponse("done")

        _, ask = limited([Route("/", answer, methods=["POST"])])
        for body, is_closed in (([b"a" * 1000] * 10, True), ([], False)):
            method = "POST" if body else "GET"
            _, headers = run_virtually(ask, method, "/", body or [b""])
            assert (headers.get(b"connection") == b"close") == is_closed

    def test_begun_answer_has_no_time_limit(self):
        ended = []

        async def stream(_):
            async def pieces():
                yield b"a"
                await anyio.sleep(31)
                ended.append(True)

            return StreamingResponse(pieces())

        limits, ask = limited([Route("/", stream)], request_seconds=30)
        status, _ = run_virtually(ask)
        assert (status, limits.in_flight, ended) == (200, 0, [True])


class TestAtOnce:
    def run(self, requests, path="/", **settings):
        async def held(_):
            await anyio.sleep(1)
            return PlainTextResponse("done")

        limits, ask = limited([Route("/", held), Route("/healthz", held)], **settings)
        answers = []

        async def one(path):
            answers.append(await ask(path=path))

        async def all_of_them():
            async with anyio.create_task_group() as group:
                for _ in range(requests):
                    group.start_soon(one, "/")
                await anyio.wait_all_tasks_blocked()
                group.start_soon(one, path)
            return answers

        run_virtually(all_of_them)
        assert limits.in_flight == 0
        return answers

    def test_too_many(self):
        result = self.run(5, max_in_flight=3)
        refused = [headers for status, headers in result if status == 429]
        assert (len(result), len(refused)) == (6, 3)
        assert {headers[b"retry-after"] for headers in refused} == {b"1"}

    def test_health_check_is_answered_under_load(self):
        result = self.run(5, path="/healthz", max_in_flight=3)
        assert sorted(status for status, _ in result) == [200] * 4 + [429] * 2


class Transport(asyncio.Transport):
    """A connection without a network."""

    closed = False

    def __init__(self):
        super().__init__()
        self.sent = b""

    def write(self, data):
        self.sent += data

    def close(self):
        self.closed = True

    def is_closing(self):
        return self.closed

    def pause_reading(self):
        pass

    def resume_reading(self):
        pass


HEAD = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n"


@pytest.mark.parametrize(
    ("parts", "seconds"),
    [
        ([], HEAD_SECONDS),
        ([HEAD], HEAD_SECONDS),
        # No byte moves the end, in the first request or a later one.
        ([HEAD, *[b"X: y\r\n"] * 30], HEAD_SECONDS),
        ([HEAD + b"\r\n", HEAD, *[b"X: y\r\n"] * 30], HEAD_SECONDS + 1),
        # A proxy may keep a connection that has been used.
        ([HEAD + b"\r\n"], 65),
        # Nobody reads the rest of a body after the answer.
        ([HEAD + b"Content-Length: 99\r\n\r\n", *[b"a"] * 30], 0),
    ],
    ids=range(6),
)
def test_endless_head_closes_the_connection(parts, seconds):
    async def app(_scope, _receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"ok"})

    async def closed():
        config = uvicorn.Config(app, timeout_keep_alive=KEEP_ALIVE_SECONDS, log_config=None)
        config.load()
        connection = Connection(config, ServerState(), {})
        begun, transport = anyio.current_time(), Transport()
        connection.connection_made(transport)
        for part in parts:
            if not transport.closed:
                connection.data_received(part)
                await anyio.sleep(1)
        while not transport.closed:
            await anyio.sleep(1)
        connection.connection_lost(None)
        return anyio.current_time() - begun

    assert run_virtually(closed) == pytest.approx(seconds, abs=1)
