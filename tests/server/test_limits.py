"""What is too much is refused, cheaply and with the right status."""

import json

import anyio
import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse, StreamingResponse
from starlette.routing import Route

from neardup.server import Settings
from neardup.server.security.headers import CONTENT_POLICY
from neardup.server.security.keys import create_key
from neardup.server.security.limits import Limits
from tests.server.clocks import run_virtually

JSON = {"Content-Type": "application/json"}


class TestHosts:
    @pytest.mark.parametrize(
        "host", ["localhost", "LOCALHOST:1", "127.0.0.1:8765", "[::1]", "[::1]:8765"]
    )
    def test_this_machine(self, shared, host):
        assert shared.get("/healthz", headers={"Host": host}).status_code == 200

    @pytest.mark.parametrize(
        "host",
        [
            # Names that were made to lead here.
            *("evil.example", "evil.example:8765", "localhost.evil.example"),
            *("127.0.0.1.evil.example", "0.0.0.0:8765", "10.0.0.1", "[::2]", ""),
            # What is no host.
            *("[::1", "[::1]evil.example", "localhost:80@evil.example", "localhost/evil.example"),
            *("evil.example:80@localhost", "localhost:http", "localhost:80:80", "local host"),
        ],
    )
    def test_other_hosts(self, client, host):
        answer = client.get("/healthz", headers={"Host": host})
        assert answer.status_code == 400
        assert answer.headers["content-security-policy"] == CONTENT_POLICY


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

    @pytest.mark.parametrize("path", ["/v1/check", "/check"])
    def test_papers_may_be_larger(self, serve, path):
        client = serve(max_body_bytes=1000, max_upload_bytes=3000)
        files = {"file": ("a.txt", b"a" * 2000)}
        answer = client.post(path, files=files, data={"library": "index"})
        assert answer.status_code != 413
        for size in (3001, 100_000):
            files = {"file": ("a.txt", b"a" * size)}
            assert client.post(path, files=files, data={"library": "index"}).status_code == 413

    def test_the_form_of_signing_in_is_small(self, keyed):
        client, _ = keyed()
        form = b"key=" + b"a" * 65_533
        kind = {"Content-Type": "application/x-www-form-urlencoded"}
        assert client.post("/login", content=form, headers=kind).status_code == 413
        pieces = (form[at : at + 1000] for at in range(0, len(form), 1000))
        assert client.post("/login", content=pieces, headers=kind).status_code == 413
        assert client.post("/login", content=form[:-1], headers=kind).status_code == 401

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
    app.state.keys, app.state.settings = None, given
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

    def test_a_body_that_does_not_come(self):
        async def read(request):
            await request.body()

        _, ask = limited([Route("/v1/a", read, methods=["POST"])], request_seconds=30)

        async def timed():
            begun = anyio.current_time()
            answer = await ask("POST", "/v1/a", body=[b"a", b"b"], pause=100)
            return answer, anyio.current_time() - begun

        (status, _), took = run_virtually(timed)
        assert (status, took) == (504, pytest.approx(30))

    def test_a_body_that_keeps_coming_has_time_and_its_answer_again(self):
        async def read(request):
            size = len(await request.body())
            await anyio.sleep(0.9 * 2)
            return PlainTextResponse(str(size))

        _, ask = limited([Route("/", read, methods=["POST"])], request_seconds=2)
        # It takes longer in all than a request may.
        assert run_virtually(ask, "POST", "/", [b"a"] * 6, 1.0)[0] == 200

    def test_an_answer_before_the_end_of_the_body_closes_the_connection(self):
        async def answer(_):
            return PlainTextResponse("done")

        _, ask = limited([Route("/", answer, methods=["POST"])])
        for body, is_closed in (([b"a" * 1000] * 10, True), ([], False)):
            method = "POST" if body else "GET"
            _, headers = run_virtually(ask, method, "/", body or [b""])
            assert (headers.get(b"connection") == b"close") == is_closed

    def test_an_answer_that_has_begun_has_no_limit(self):
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

    def test_who_watches_is_answered(self):
        result = self.run(5, path="/healthz", max_in_flight=3)
        assert sorted(status for status, _ in result) == [200] * 4 + [429] * 2
