"""What is too much is refused, cheaply and with the right status."""

import json

import anyio
import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse, StreamingResponse
from starlette.routing import Route

from neardup.server import Settings
from neardup.server.clock import Clock
from neardup.server.security.headers import CONTENT_POLICY
from neardup.server.security.keys import Keys, create_key
from neardup.server.security.limits import Limits, is_loopback
from tests.server.clocks import run_virtually

JSON = {"Content-Type": "application/json"}


class TestHosts:
    @pytest.mark.parametrize(
        "host",
        ["localhost", "LOCALHOST:1", "127.0.0.1:8765", "127.9.9.9", "[::1]", "[::1]:8765"],
    )
    def test_this_machine(self, shared, host):
        assert shared.get("/healthz", headers={"Host": host}).status_code == 200

    @pytest.mark.parametrize(
        ("host", "status", "code"),
        [
            # Names that were made to lead here.
            ("evil.example", 421, "not_this_host"),
            ("evil.example:8765", 421, "not_this_host"),
            ("localhost.evil.example", 421, "not_this_host"),
            ("127.0.0.1.evil.example", 421, "not_this_host"),
            ("0.0.0.0:8765", 421, "not_this_host"),
            ("10.0.0.1", 421, "not_this_host"),
            ("[::2]", 421, "not_this_host"),
            ("", 421, "not_this_host"),
            # What is no host.
            ("[::1", 400, "bad_request"),
            ("[::1]evil.example", 400, "bad_request"),
            ("\u00e9".encode("latin-1"), 400, "bad_request"),
            ("localhost:80@evil.example", 400, "bad_request"),
            ("evil.example:80@localhost", 400, "bad_request"),
            ("localhost/evil.example", 400, "bad_request"),
            ("localhost:http", 400, "bad_request"),
            ("localhost:80:80", 400, "bad_request"),
            ("local host", 400, "bad_request"),
            ("localhost:123456", 400, "bad_request"),
        ],
    )
    def test_other_hosts(self, shared, host, status, code):
        answer = shared.get("/healthz", headers={"Host": host})
        assert (answer.status_code, answer.json()["code"]) == (status, code)
        assert answer.headers["content-security-policy"] == CONTENT_POLICY

    def test_what_loopback_is(self):
        assert not any(map(is_loopback, ("", "localhost.", "0.0.0.0", "::", "2130706433")))


class TestBodies:
    @pytest.fixture
    def small(self, serve):
        return serve(max_body_bytes=1000)

    def test_announced(self, small):
        answer = small.post("/v1/query", content=b" " * 1001, headers=JSON)
        assert (answer.status_code, answer.json()["code"]) == (413, "body_too_large")
        assert answer.headers["connection"] == "close"
        assert answer.headers["content-security-policy"] == CONTENT_POLICY

    def test_counted(self, small):
        largest = json.dumps({"text": "a b c"}).encode().ljust(1000)
        for content, status in ((largest, 200), ((b" " * 100 for _ in range(11)), 413)):
            answer = small.post("/v1/query", content=content, headers=JSON)
            assert answer.status_code == status

    @pytest.mark.parametrize("length", ["-1", "a", "1e3", "9" * 5000, "+5"])
    def test_odd_lengths(self, small, length):
        headers = JSON | {"Content-Length": length}
        answer = small.post("/v1/query", content=b"{}", headers=headers)
        assert answer.status_code == (413 if length.isdigit() else 400)

    def test_papers_may_be_larger(self, serve):
        client = serve(max_body_bytes=1000, max_upload_bytes=3000)
        files = {"file": ("a.txt", b"a" * 2000)}
        answer = client.post("/v1/check", files=files, data={"library": "index"})
        assert answer.status_code != 413
        for size in (3001, 100_000):
            answer = client.post("/v1/check", files={"file": ("a.txt", b"a" * size)})
            assert answer.status_code == 413

    @pytest.mark.parametrize("path", ["/login", "/logout"])
    def test_forms_of_signing_in_are_small(self, keyed, path):
        client, _ = keyed()
        form = b"key=" + b"a" * 65_533
        kind = {"Content-Type": "application/x-www-form-urlencoded"}
        assert client.post(path, content=form, headers=kind).status_code == 413
        pieces = (form[at : at + 1000] for at in range(0, len(form), 1000))
        assert client.post(path, content=pieces, headers=kind).status_code == 413
        assert client.post(path, content=form[:-1], headers=kind).status_code in (303, 401)

    def test_an_anonymous_client_is_asked_for_a_key_whatever_he_sends(self, keyed):
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
    app.state.clock = Clock()
    limits = Limits(app, given)

    async def ask(method="GET", path="/", body=(b"",), pause=0.0):
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
                *([(b"transfer-encoding", b"chunked")] if method == "POST" else []),
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
        ("path", "has_keys", "seconds"),
        [("/", False, 30), ("/", True, 5), ("/login", True, 5), ("/logout", True, 5)],
    )
    def test_a_body_that_does_not_come(self, tmp_path, path, has_keys, seconds):
        """Who has no key has little time."""

        async def read(request):
            await request.body()

        keys = tmp_path / "keys.json" if has_keys else None
        if has_keys:
            create_key(keys, "desk", ["read"])
        _, ask = limited([Route(path, read, methods=["POST"])], request_seconds=30, keys=keys)

        async def timed():
            begun = anyio.current_time()
            answer = await ask("POST", path, body=[b"a", b"b"], pause=100)
            return answer, anyio.current_time() - begun

        (status, headers), took = run_virtually(timed)
        assert (status, headers[b"connection"]) == (408, b"close")
        assert took == pytest.approx(seconds)

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

    def test_an_answer_before_the_body_closes_the_connection(self):
        async def answer(_):
            return PlainTextResponse("done")

        limits, ask = limited([Route("/", answer, methods=["POST"])])
        status, headers = run_virtually(ask, "POST", "/", [b"a" * 1000] * 10)
        assert (status, headers[b"connection"]) == (200, b"close")
        assert (limits.in_flight, limits._bytes) == (0, 0)

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

    def test_who_watches_is_answered(self):
        result = self.run(5, path="/healthz", max_in_flight=3)
        assert sorted(status for status, _ in result) == [200] * 4 + [429] * 2

    def test_too_much(self):
        async def read(request):
            await request.body()
            await anyio.sleep(1)
            return PlainTextResponse("read")

        limits, ask = limited(
            [Route("/", read, methods=["POST"])], max_body_bytes=1000, max_upload_bytes=1000
        )
        answers = []

        async def one():
            answers.append(await ask("POST", body=[b"a" * 900]))

        async def all_of_them():
            async with anyio.create_task_group() as group:
                for _ in range(8):
                    group.start_soon(one)
            # All of it is given back.
            answers.append(await ask("POST", body=[b"a" * 900]))

        run_virtually(all_of_them)
        assert sorted(status for status, _ in answers) == [200] * 5 + [503] * 4
        assert answers[-1][0] == 200
        assert (limits.in_flight, limits._bytes) == (0, 0)
