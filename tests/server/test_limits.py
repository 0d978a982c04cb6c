"""What is too much is refused, cheaply and with the right status."""

import json
import os
import select
import signal
import socket
import threading
from contextlib import ExitStack
from pathlib import Path

import anyio
import httpx
import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse, StreamingResponse
from starlette.routing import Route

from neardup.server import Settings
from neardup.server.clock import Clock
from neardup.server.security.failed_keys import FailedKeys
from neardup.server.security.keys import Keys, create_key
from neardup.server.security.limits import Limits, is_loopback
from tests import needs
from tests.server import really
from tests.server.clocks import run_virtually
from tests.server.conftest import make_index
from tests.waiting import PATIENCE, until

serve_really = really.serve_really

JSON = {"Content-Type": "application/json"}


class TestHosts:
    @pytest.mark.parametrize(
        "host",
        ["localhost", "LOCALHOST:1", "127.0.0.1:8765", "127.9.9.9", "[::1]", "[::1]:8765"],
    )
    def test_this_machine(self, client, host):
        assert client.get("/healthz", headers={"Host": host}).status_code == 200

    @pytest.mark.parametrize(
        "host",
        [
            "evil.example",
            "evil.example:8765",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "0.0.0.0:8765",
            "10.0.0.1",
            "[::2]",
            "",
        ],
    )
    def test_a_name_that_was_made_to_lead_here(self, client, host):
        answer = client.get("/healthz", headers={"Host": host})
        assert answer.status_code == 421
        assert answer.json()["type"] == "urn:neardup:not-this-host"

    @pytest.mark.parametrize(
        "host",
        [
            "[::1",
            "[::1]evil.example",
            "\u00e9".encode("latin-1"),
            "localhost:80@evil.example",
            "evil.example:80@localhost",
            "localhost/evil.example",
            "localhost:http",
            "localhost:80:80",
            "local host",
            "localhost:123456",
        ],
    )
    def test_what_is_no_host(self, client, host):
        answer = client.get("/healthz", headers={"Host": host})
        assert answer.status_code == 400
        assert answer.json()["detail"].startswith("The header Host must be a host")

    def test_what_loopback_is(self):
        assert not any(map(is_loopback, ("", "localhost.", "0.0.0.0", "::", "2130706433")))


class TestBodies:
    def test_announced(self, serve):
        client = serve(max_body_bytes=1000)
        answer = client.post("/v1/query", content=b" " * 1001, headers=JSON)
        assert answer.status_code == 413
        assert "1000 bytes" in answer.json()["detail"]
        assert answer.headers["connection"] == "close"

    def test_the_largest(self, serve):
        client = serve(max_body_bytes=1000)
        body = json.dumps({"text": "a b c"}).encode().ljust(1000)
        assert client.post("/v1/query", content=body, headers=JSON).status_code == 200

    def test_counted(self, serve):
        client = serve(max_body_bytes=1000)
        body = (b" " * 100 for _ in range(11))
        answer = client.post("/v1/query", content=body, headers=JSON)
        assert answer.status_code == 413

    @pytest.mark.parametrize("length", ["-1", "a", "1e3", "9" * 5000, "+5"])
    def test_odd_lengths(self, serve, length):
        client = serve(max_body_bytes=1000)
        headers = JSON | {"Content-Length": length}
        answer = client.post("/v1/query", content=b"{}", headers=headers)
        assert answer.status_code == (413 if length.isdigit() else 400)

    def test_papers_may_be_larger(self, serve):
        client = serve(max_body_bytes=1000, max_upload_bytes=3000)
        files = {"file": ("a.txt", b"a" * 2000)}
        answer = client.post("/v1/check", files=files, data={"library": "index"})
        assert answer.status_code != 413
        big = b"a" * 100_000
        answer = client.post("/v1/check", files={"file": ("a.txt", big)})
        assert answer.status_code == 413

    @pytest.mark.parametrize("path", ["/login", "/logout"])
    def test_forms_of_signing_in_are_small(self, keyed, path):
        client, _ = keyed()
        form = b"key=" + b"a" * 65_533
        kind = {"Content-Type": "application/x-www-form-urlencoded"}
        assert client.post(path, content=form, headers=kind).status_code == 413
        pieces = (form[at : at + 1000] for at in range(0, len(form), 1000))
        assert client.post(path, content=pieces, headers=kind).status_code == 413
        assert client.post(path, content=form[:-1], headers=kind).status_code == 403

    def test_a_stranger_is_asked_for_a_key_whatever_he_sends(self, keyed):
        client, _ = keyed()
        paper = {"file": ("a.txt", b"a" * 200_000)}
        assert client.post("/check", files=paper).status_code == 401
        assert client.post("/v1/check", files=paper).status_code == 401


@pytest.fixture
def keyed(serve, tmp_path):
    """Serve with a file of one key; gives the client and the header with the key."""

    def start(**settings):
        path = tmp_path / "keys.json"
        key, _ = create_key(path, "desk", ["read", "write"])
        return serve(keys=path, **settings), {"Authorization": f"Bearer {key}"}

    return start


def limited(routes, **settings):
    """Return a bare application behind the limits, and the limits."""
    app, given = Starlette(routes=routes), Settings(index="none.db", **settings)
    app.state.keys = None if given.keys is None else Keys(given.keys)
    app.state.failed_keys = FailedKeys(Clock())
    limits = Limits(app, given)

    async def ask(method="GET", path="/", body=(b"",), pause=0.0, headers=(), client=None):
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
            "client": client and (client, 1),
            "method": method,
            "path": path,
            "raw_path": path.encode(),
            "query_string": b"",
            "headers": [
                (b"host", b"localhost"),
                *([(b"transfer-encoding", b"chunked")] if method == "POST" else []),
                *headers,
            ],
            "root_path": "",
            "scheme": "http",
        }
        await limits(scope, receive, send)
        return answer[0]["status"], dict(answer[0]["headers"])

    return limits, ask


class TestTime:
    def test_a_long_answer(self):
        cancelled = []

        async def slow(_):
            begun = anyio.current_time()
            try:
                await anyio.sleep(30.1)
            finally:
                cancelled.append(anyio.current_time() - begun)

        limits, ask = limited([Route("/", slow)], request_seconds=30)
        status, _ = run_virtually(ask)
        assert (status, cancelled, limits.in_flight) == (504, [pytest.approx(30)], 0)

    def test_an_answer_in_time(self):
        async def slow(_):
            await anyio.sleep(29.9)
            return PlainTextResponse("done")

        _, ask = limited([Route("/", slow)], request_seconds=30)
        assert run_virtually(ask)[0] == 200

    def test_a_body_that_does_not_come(self):
        async def read(request):
            await request.body()

        _, ask = limited([Route("/", read, methods=["POST"])], request_seconds=30)

        async def timed():
            begun = anyio.current_time()
            answer = await ask("POST", body=[b"a", b"b"], pause=100)
            return answer, anyio.current_time() - begun

        (status, headers), took = run_virtually(timed)
        assert (status, headers[b"connection"]) == (408, b"close")
        # The answer lingers for two seconds, for a client that still sends.
        assert took == pytest.approx(30 + 2)

    @pytest.mark.parametrize("path", ["/login", "/logout", "/"])
    def test_strangers_have_little(self, tmp_path, path):
        async def read(request):
            await request.body()

        keys = tmp_path / "keys.json"
        create_key(keys, "desk", ["read"])
        _, ask = limited([Route(path, read, methods=["POST"])], request_seconds=30, keys=keys)

        async def timed():
            begun = anyio.current_time()
            answer = await ask("POST", path, body=[b"a", b"b"], pause=100)
            return answer, anyio.current_time() - begun

        (status, _), took = run_virtually(timed)
        assert (status, took) == (408, pytest.approx(5 + 2))

    def test_a_large_body_has_time_and_its_answer_again(self):
        async def read(request):
            size = len(await request.body())
            await anyio.sleep(0.9 * 2)
            return PlainTextResponse(str(size))

        _, ask = limited([Route("/", read, methods=["POST"])], request_seconds=2)
        # As fast as it must be: it takes longer in all than a request may.
        body = [b"a" * 16_384] * 6
        assert run_virtually(ask, "POST", "/", body, 1.0)[0] == 200
        # And not if it is any slower.
        assert run_virtually(ask, "POST", "/", body, 1.5)[0] == 408

    def test_half_an_answer_is_not_mended(self):
        async def stream(_):
            async def pieces():
                yield b"a"
                await anyio.sleep(31)

            return StreamingResponse(pieces())

        limits, ask = limited([Route("/", stream)], request_seconds=30)
        status, _ = run_virtually(ask)
        assert (status, limits.in_flight) == (200, 0)


class TestAtOnce:
    def run(self, requests, path="/", **settings):
        async def held(_):
            await anyio.sleep(1)
            return PlainTextResponse("done")

        limits, ask = limited([Route("/", held), Route("/healthz", held)], **settings)
        found = []

        async def one(path):
            found.append(await ask(path=path))

        async def all_of_them():
            async with anyio.create_task_group() as group:
                for _ in range(requests):
                    group.start_soon(one, "/")
                await anyio.wait_all_tasks_blocked()
                group.start_soon(one, path)
            return found

        run_virtually(all_of_them)
        assert limits.in_flight == 0
        return found

    def test_too_many(self):
        found = self.run(5, max_in_flight=3)
        refused = [headers for status, headers in found if status == 429]
        assert (len(found), len(refused)) == (6, 3)
        assert {headers[b"retry-after"] for headers in refused} == {b"1"}

    def test_who_watches_is_answered(self):
        found = self.run(5, path="/healthz", max_in_flight=3)
        assert sorted(status for status, _ in found) == [200] * 4 + [429] * 2

    def test_too_much(self):
        async def read(request):
            await request.body()
            await anyio.sleep(1)
            return PlainTextResponse("read")

        limits, ask = limited(
            [Route("/", read, methods=["POST"])], max_body_bytes=1000, max_upload_bytes=1000
        )
        found = []

        async def one():
            found.append(await ask("POST", body=[b"a" * 900]))

        async def all_of_them():
            async with anyio.create_task_group() as group:
                for _ in range(8):
                    group.start_soon(one)
            # All of it is given back.
            found.append(await ask("POST", body=[b"a" * 900]))

        run_virtually(all_of_them)
        assert sorted(status for status, _ in found) == [200] * 5 + [503] * 4
        assert found[-1][0] == 200
        assert limits.in_flight == 0


class TestByClient:
    """One client takes a share, however much it asks for."""

    ONE, OTHER = "192.0.2.1", "192.0.2.2"

    def ask_together(self, asked, **settings):
        """Return the statuses of requests at once, given the client and the key of each."""

        async def held(request):
            await request.body()
            await anyio.sleep(1)
            return PlainTextResponse("done")

        limits, ask = limited([Route("/", held, methods=["GET", "POST"])], **settings)
        found = {}

        async def one(number, client, headers, body):
            method = "POST" if body else "GET"
            answer = await ask(method, body=[body], client=client, headers=headers)
            found[number] = answer[0]

        async def all_of_them():
            async with anyio.create_task_group() as group:
                for number, (client, headers, body) in enumerate(asked):
                    group.start_soon(one, number, client, headers, body)
                    await anyio.wait_all_tasks_blocked()

        run_virtually(all_of_them)
        assert (limits.in_flight, limits._clients) == (0, {})
        return [found[number] for number in range(len(asked))]

    @pytest.mark.parametrize(("share", "places"), [(0.5, 4), (0.1, 1), (0.3, 3), (1.0, 8)])
    def test_requests_of_an_address(self, share, places):
        asked = [(self.ONE, (), b"")] * 10
        found = self.ask_together(asked, max_in_flight=8, client_share=share)
        assert found == [200] * places + [429] * (10 - places)

    def test_others_are_answered(self):
        asked = [(self.ONE, (), b"")] * 10 + [(self.OTHER, (), b"")] * 3
        found = self.ask_together(asked, max_in_flight=8)
        assert found == [200] * 4 + [429] * 6 + [200] * 3

    def test_networks_of_ipv6(self):
        asked = [(f"2001:db8::{number:x}", (), b"") for number in range(10)]
        found = self.ask_together([*asked, ("2001:db8:1::", (), b"")], max_in_flight=8)
        assert found == [200] * 4 + [429] * 6 + [200]

    @pytest.mark.parametrize("local", [None, "127.0.0.1", "::1", "::ffff:127.0.0.1"])
    def test_this_machine_has_no_share(self, local):
        found = self.ask_together([(local, (), b"")] * 10, max_in_flight=8)
        assert found == [200] * 8 + [429] * 2

    def test_a_key_is_a_client_wherever_it_is_used(self, tmp_path):
        path = tmp_path / "keys.json"
        keys = [
            ((b"authorization", f"Bearer {create_key(path, name, ['read'])[0]}".encode()),)
            for name in ("one", "other")
        ]
        asked = [(f"192.0.2.{number}", keys[0], b"") for number in range(6)]
        # The same address with another key is another client.
        asked += [("192.0.2.0", keys[1], b"")] * 5
        found = self.ask_together(asked, max_in_flight=8, keys=path)
        assert found == [200] * 4 + [429] * 2 + [200] * 4 + [429]

    def test_strangers_of_one_address(self, tmp_path):
        path = tmp_path / "keys.json"
        create_key(path, "desk", ["read"])
        asked = [(self.ONE, (), b"")] * 6 + [(self.OTHER, (), b"")]
        found = self.ask_together(asked, max_in_flight=64, keys=path)
        assert found == [200] * 4 + [429] * 2 + [200]

    def test_bodies(self):
        # Room for four bodies of the largest; a client has the share, and one paper at least.
        asked = [(self.ONE, (), b"a" * 100_000)] * 5 + [(self.OTHER, (), b"a" * 100_000)]
        found = self.ask_together(asked, max_body_bytes=100_000, max_upload_bytes=1000)
        assert found == [200, 200, 503, 503, 503, 200]

    def test_one_paper_of_the_largest(self):
        async def read(request):
            await request.body()
            return PlainTextResponse("read")

        _, ask = limited(
            [Route("/v1/check", read, methods=["POST"])], max_upload_bytes=1 << 20, client_share=0.1
        )
        body = [b"a" * (1 << 16)] * 16
        assert run_virtually(ask, "POST", "/v1/check", body, 0.0, (), self.ONE)[0] == 200


def memory(pid, *, reset=False):
    """Return the largest memory that a process had, in bytes; `reset` begins with what it has."""
    status = Path(f"/proc/{pid}/status")
    if not status.exists():
        pytest.skip(needs.LINUX)
    if reset:
        (status.parent / "clear_refs").write_text("5")
    line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) << 10


def connect(running):
    port = int(running.url.rpartition(":")[2])
    return socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)


def until_closed(connection):
    """Return what comes until the service closes the connection."""
    parts = []
    try:
        while part := connection.recv(65536):
            parts.append(part)
    except ConnectionResetError:
        pass
    return b"".join(parts)


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    """One service for all tests that change nothing in it."""
    folder = tmp_path_factory.mktemp("running")
    settings = {"index": make_index(folder / "news.db"), "workers": 1, "max_body_bytes": 1 << 20}
    service = really.start_really(folder / "log", settings)
    try:
        service.wait_until_up()
        yield service
    finally:
        service.stop(signal.SIGKILL)


@pytest.mark.slow
class TestStrangers:
    FORM = (
        b"POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n"
        b"Content-Type: application/x-www-form-urlencoded\r\n\r\na"
    )

    def test_they_take_no_place_of_those_with_keys(self, serve_really, tmp_path):
        path = tmp_path / "keys.json"
        key, _ = create_key(path, "desk", ["read"])
        # Their time is tested by `TestTime`; here they stay as long as the test looks.
        running = serve_really(keys=str(path), max_in_flight=4, stranger_seconds=1000)
        known = {"Authorization": f"Bearer {key}"}
        with ExitStack() as open_ones:
            strangers = [open_ones.enter_context(connect(running)) for _ in range(40)]
            for one in strangers:
                one.sendall(self.FORM)
            # Who is refused is told so before any other ends.
            waiting = list(strangers)
            answers = []
            while len(waiting) > 8:
                ready, _, _ = select.select(waiting, [], [], PATIENCE)
                assert ready, f"{len(waiting)} of 40 strangers were let in"
                waiting = [one for one in waiting if one not in ready]
                answers += map(until_closed, ready)
            assert running.client.get("/v1/stats", headers=known).status_code == 200
            assert running.client.get("/v1/stats").status_code == 401
            assert running.client.get("/login").status_code == 429
            assert running.client.get("/healthz").status_code == 200
            assert {answer.split(b" ", 2)[1] for answer in answers} == {b"429"}
            assert len(waiting) == 8
            assert not select.select(waiting, [], [], 0)[0]
        until(lambda: running.client.get("/login").status_code == 200, "their places to be free")


@pytest.mark.slow
class TestSlowReaders:
    """Who asks and does not read."""

    @pytest.mark.parametrize("end", [b"", b"Connection: close\r\n"])
    def test_they_are_cut(self, serve_really, end):
        running = serve_really(request_seconds=1)

        def whole():
            page = running.client.get("/openapi.json")
            return page.content if page.status_code == 200 else None

        # It is made once, which may take longer on a busy machine than a request may.
        size = len(until(whole, "the description"))
        files = Path(f"/proc/{running.process.pid}/fd")
        if not files.exists():
            pytest.skip(needs.LINUX)
        before = len(os.listdir(files))
        with ExitStack() as open_ones:
            cut = []
            for _ in range(6):
                slow = open_ones.enter_context(socket.socket())
                slow.settimeout(PATIENCE)
                slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
                slow.connect(("127.0.0.1", int(running.url.rpartition(":")[2])))
                ask = b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n"
                slow.sendall((ask + b"\r\n") * 60 + ask + end + b"\r\n")
                cut.append(slow)
            for slow in cut:
                # An answer was begun, so the connection had been made.
                assert slow.recv(1, socket.MSG_PEEK) == b"H"
            until(lambda: len(os.listdir(files)) <= before, "connections to be cut")
            assert all(len(until_closed(slow)) < 60 * size for slow in cut)
        assert running.client.get("/healthz").status_code == 200
        assert running.stop() == 0
        # Nor may they fill the log.
        assert "Traceback" not in running.log()
        assert "ASGI" not in running.log()


@pytest.mark.slow
class TestRealConnections:
    @pytest.mark.parametrize("path", ["/v1/documents", "/v1/check", "/check", "/", "/nowhere"])
    def test_a_gigabyte_without_a_length(self, running, path):
        running.client.get("/v1/stats")
        before = memory(running.process.pid, reset=True)
        sent = 0
        with connect(running) as connection:
            head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            connection.sendall(head.encode() + b"Transfer-Encoding: chunked\r\n\r\n")
            piece = b"40000\r\n" + b"a" * 0x40000 + b"\r\n"
            try:
                while sent < 1 << 30:
                    connection.sendall(piece)
                    sent += 0x40000
            except (BrokenPipeError, ConnectionResetError):
                pass
            answer = until_closed(connection)
        assert sent < 200 << 20
        assert memory(running.process.pid) - before < 40 << 20
        assert not answer or answer.startswith(b"HTTP/1.1 4")
        assert running.client.get("/healthz").status_code == 200

    def test_a_gigabyte_that_is_announced(self, running):
        with connect(running) as connection:
            connection.sendall(
                b"POST /v1/documents HTTP/1.1\r\nHost: localhost\r\n"
                b"Content-Type: application/json\r\nExpect: 100-continue\r\n"
                b"Content-Length: 1073741824\r\n\r\n"
            )
            answer = until_closed(connection)
        assert answer.startswith(b"HTTP/1.1 413 ")
        assert b"100 Continue" not in answer
        assert b'"status":413' in answer

    def test_the_answer_reaches_who_still_sends(self, running):
        with connect(running) as connection:
            connection.sendall(
                b"POST /v1/documents HTTP/1.1\r\nHost: localhost\r\n"
                b"Content-Type: application/json\r\nContent-Length: 30000000\r\n\r\n"
            )
            connection.sendall(b"a" * 30_000_000)
            answer = until_closed(connection)
        assert answer.startswith(b"HTTP/1.1 413 ")

    def test_a_head_without_end(self, running):
        before = memory(running.process.pid, reset=True)
        with connect(running) as connection:
            connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n")
            try:
                for number in range(100_000):
                    connection.sendall(b"X-%d: " % number + b"a" * 1000 + b"\r\n")
            except (BrokenPipeError, ConnectionResetError):
                pass
            until_closed(connection)
            assert number < 20_000
        assert memory(running.process.pid) - before < 20 << 20

    def test_a_head_that_is_too_long_is_told_so(self, running):
        with connect(running) as connection:
            connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * 70_000)
            answer = until_closed(connection)
        assert answer.startswith(b"HTTP/1.1 431 ")
        assert b'"status":431' in answer

    def test_trailers_without_end(self, running):
        before = memory(running.process.pid, reset=True)
        with connect(running) as connection:
            connection.sendall(
                b"POST /v1/query HTTP/1.1\r\nHost: localhost\r\n"
                b"Transfer-Encoding: chunked\r\n\r\n0\r\n"
            )
            try:
                for number in range(100_000):
                    connection.sendall(b"X-%d: " % number + b"a" * 1000 + b"\r\n")
            except (BrokenPipeError, ConnectionResetError):
                pass
            assert number < 20_000
        assert memory(running.process.pid) - before < 20 << 20

    @pytest.mark.parametrize(
        "sent", [b"", b"\r\n", b"GET / HTT", b"GET / HTTP/1.1\r\nHost: localhost\r\nX-A: b"]
    )
    def test_a_head_that_does_not_come(self, serve_really, sent):
        running = serve_really(head_seconds=0.5)
        with connect(running) as connection:
            connection.sendall(sent)
            answer = until_closed(connection)
        assert answer.startswith(b"HTTP/1.1 408 ")
        assert running.client.get("/healthz").status_code == 200

    @pytest.mark.parametrize(
        "sent",
        [
            b"nonsense\r\n\r\n",
            b"GET / HTTP/9.9\r\n\r\n",
            b"\x16\x03\x01\x02\x00\x01\x00",
            b"POST /v1/query HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n"
            b"Content-Length: 3\r\n\r\n{}",
            b"POST /v1/query HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n"
            b"Transfer-Encoding: chunked\r\n\r\n{}",
        ],
    )
    def test_what_is_not_http(self, running, sent):
        with connect(running) as connection:
            connection.sendall(sent)
            answer = until_closed(connection)
        assert answer.startswith(b"HTTP/1.1 400 ")
        assert b"application/problem+json" in answer
        assert b"server:" not in answer.lower()

    @pytest.mark.parametrize(
        ("sent", "detail"),
        [
            (b"Host: localhost\r\nHost: localhost", b"one Host header. Got 2"),
            (b"Host: evil.example\r\nHost: localhost", b"one Host header. Got 2"),
            (b"X-A: b", b"one Host header. Got 0"),
            (b"Host: localhost:80@evil.example", b"Host must be a host"),
            (b"Host: evil.example:80@localhost", b"Host must be a host"),
        ],
    )
    def test_hosts_that_may_be_read_in_two_ways(self, running, sent, detail):
        with connect(running) as connection:
            connection.sendall(b"GET /healthz HTTP/1.1\r\n" + sent + b"\r\n\r\n")
            answer = until_closed(connection)
        assert answer.startswith(b"HTTP/1.1 400 ")
        assert detail in answer
        assert answer.count(b"HTTP/1.1 ") == 1

    @pytest.mark.parametrize(
        "coding",
        [
            b"gzip",
            b"gzip, chunked",
            b"chunked, gzip",
            b"chunked, chunked",
            b"identity",
            b"chunked;q=1",
            b"xchunked",
            b"chunked,",
            b"\x0bchunked",
            b"",
            b"chunked\r\nTransfer-Encoding: chunked",
            b"gzip\r\nTransfer-Encoding: chunked",
        ],
    )
    @pytest.mark.parametrize("path", [b"/v1/compare", b"/check", b"/nowhere"])
    def test_transfer_codings(self, running, path, coding):
        head = b"POST %s HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: %s\r\n\r\n"
        with connect(running) as connection:
            connection.sendall(head % (path, coding) + b"2\r\n{}\r\n0\r\n\r\n")
            answer = until_closed(connection)
        assert answer.startswith(b"HTTP/1.1 400 ")
        assert b"application/problem+json" in answer
        assert answer.count(b"HTTP/1.1 ") == 1

    def test_a_transfer_coding_of_an_older_version(self, running):
        with connect(running) as connection:
            connection.sendall(self.CHUNKED.replace(b"HTTP/1.1", b"HTTP/1.0") + b"\r\n")
            answer = until_closed(connection)
        assert answer.startswith(b"HTTP/1.1 400 ")
        assert b"needs HTTP/1.1" in answer

    CHUNKED = (
        b"POST /v1/compare HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        b"Transfer-Encoding: Chunked\r\n\r\n11\r\n" + b'{"a":"x","b":"y"}' + b"\r\n0\r\n"
    )

    @pytest.mark.parametrize(
        "trailer", [b"X-A: b", b"Authorization: Bearer b", b"Host: evil.example", b"X A"]
    )
    def test_trailers(self, running, trailer):
        with connect(running) as connection:
            connection.sendall(self.CHUNKED + trailer + b"\r\n\r\n")
            answer = until_closed(connection)
        assert answer.startswith(b"HTTP/1.1 400 ")
        assert b"trailer" in answer or trailer == b"X A"
        assert answer.count(b"HTTP/1.1 ") == 1
        # Without a trailer it is answered, and so is the next request.
        with connect(running) as connection:
            ask = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
            connection.sendall(self.CHUNKED + b"\r\n" + ask)
            answer = until_closed(connection)
        assert answer.count(b"HTTP/1.1 200 ") == 2

    def test_a_damaged_chunk(self, running):
        with connect(running) as connection:
            connection.sendall(self.CHUNKED.replace(b"\r\n0\r\n", b"\r\nzz\r\n"))
            answer = until_closed(connection)
        assert answer.startswith(b"HTTP/1.1 400 ")

    def test_a_damaged_request_does_not_answer_the_one_before(self, serve_really, tmp_path):
        running = serve_really()
        with connect(running) as connection:
            ask = "POST /v1/slow?until={} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n"
            connection.sendall(ask.format(tmp_path / "go").encode())
            running.wait_until_logged("begun")
            connection.sendall(b"nonsense\r\n\r\n")
            assert b"400" not in until_closed(connection)
        (tmp_path / "go").touch()

    def test_three_hundred_connections(self, running):
        with ExitStack() as open_ones:
            connections = [open_ones.enter_context(connect(running)) for _ in range(300)]
            for connection in connections:
                connection.sendall(b"GET /v1/stats HTTP/1.1\r\nHost: localhost\r\n\r\n")
            answers = [connection.recv(65536) for connection in connections]
        statuses = [int(answer.split()[1]) for answer in answers]
        assert len(statuses) == 300
        assert set(statuses) <= {200, 429}
        assert statuses.count(200) >= 200
        assert all(b"retry-after: 1" in one for one in answers if one.split()[1] == b"429")
        assert running.client.get("/v1/stats").status_code == 200

    def test_more_connections_than_it_may_have(self, serve_really):
        running = serve_really(files=200)
        with ExitStack() as open_ones:
            connections = [open_ones.enter_context(connect(running)) for _ in range(300)]
            # Those before stay; what is too many is closed.
            connections[0].sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert connections[0].recv(65536).startswith(b"HTTP/1.1 200 ")
            assert until_closed(connections[-1]) == b""

        def answers():
            try:
                return running.client.get("/healthz").status_code == 200
            except httpx.TransportError:
                # As long as the service has not seen that they went.
                return False

        until(answers, "the service to have room again")

    def test_more_connections_than_one_address_may_have(self, serve_really):
        # A proxy has connections for many; who is none has the share.
        running = serve_really(files=200, client_share=0.2, proxy="10.0.0.7")
        with ExitStack() as open_ones:
            # Of 100 connections, one may be the client's of this test.
            connections = [open_ones.enter_context(connect(running)) for _ in range(21)]
            assert until_closed(connections[-1]) == b""
            connections[0].sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert connections[0].recv(65536).startswith(b"HTTP/1.1 200 ")

        def answers():
            try:
                return running.client.get("/healthz").status_code == 200
            except httpx.TransportError:
                return False

        until(answers, "the address to have room again")

    def test_a_proxy_has_connections_for_many(self, serve_really):
        running = serve_really(files=200, client_share=0.2)
        with ExitStack() as open_ones:
            connections = [open_ones.enter_context(connect(running)) for _ in range(60)]
            connections[-1].sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert connections[-1].recv(65536).startswith(b"HTTP/1.1 200 ")

    def test_the_forwarded_address_counts(self, serve_really, tmp_path):
        path = tmp_path / "keys.json"
        create_key(path, "desk", ["read"])
        running = serve_really(keys=str(path), stranger_seconds=1000)
        wrong = {"Authorization": "Bearer wrong"}

        def status(address):
            headers = wrong | {"X-Forwarded-For": address}
            return running.client.get("/v1/stats", headers=headers).status_code

        # The first address may be anybody's invention; the proxy wrote the last one.
        found = [status(f"198.51.100.{number}, 192.0.2.1") for number in range(6)]
        assert found == [401] * 5 + [429]
        assert status("192.0.2.2") == 401

    def test_whoever_goes_leaves_nothing(self, running):
        def ask_and_go():
            with connect(running) as connection:
                connection.sendall(
                    b"POST /v1/documents HTTP/1.1\r\nHost: localhost\r\n"
                    b"Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"
                )

        threads = [threading.Thread(target=ask_and_go) for _ in range(50)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        figure = "neardup_requests_in_flight 1.0"
        until(lambda: figure in running.client.get("/metrics").text, figure)
