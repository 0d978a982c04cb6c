"""Connections: what is refused before a request begins, or while its body comes."""

import re
import signal
import socket
from contextlib import ExitStack

import pytest

from neardup.server.security.keys import create_key
from tests.server.conftest import make_index, peak_memory, run_service
from tests.waiting import PATIENCE

pytestmark = pytest.mark.slow


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
    settings = {"index": make_index(folder / "news.db"), "max_body_bytes": 1 << 20}
    service = run_service(settings, folder / "log")
    try:
        service.wait_until_up()
        yield service
    finally:
        service.stop(signal.SIGKILL)


CHUNK = b"40000\r\n" + b"a" * 0x40000 + b"\r\n"
HOST = b"Host: localhost\r\n"
CODED = b"%s HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: %s\r\n\r\n"
CHUNKED = (
    b"POST /v1/compare HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    b"Transfer-Encoding: Chunked\r\n\r\n11\r\n" + b'{"a":"x","b":"y"}' + b"\r\n"
)
QUERY, HEALTH = b"POST /v1/query HTTP/1.1\r\n" + HOST, b"GET /healthz HTTP/1.1\r\n"
HEADER = b"X-A: " + b"a" * 1000 + b"\r\n"


@pytest.mark.parametrize(
    ("head", "piece", "most"),
    [
        *(
            (CODED % (b"POST " + path, b"chunked"), CHUNK, 200 << 20)
            for path in (b"/v1/documents", b"/v1/check", b"/check", b"/", b"/nowhere")
        ),
        # A head, and trailers, without end.
        (b"GET / HTTP/1.1\r\n" + HOST, HEADER, 20 << 20),
        (CODED % (b"POST /v1/query", b"chunked") + b"0\r\n", HEADER, 20 << 20),
    ],
    ids=range(7),
)
def test_a_gigabyte_without_a_length(running, head, piece, most):
    running.client.get("/v1/stats")
    before = peak_memory(running.process.pid, reset=True)
    sent = 0
    with connect(running) as connection:
        connection.sendall(head)
        try:
            while sent < 1 << 30:
                connection.sendall(piece)
                sent += len(piece)
        except (BrokenPipeError, ConnectionResetError):
            pass
        answer = until_closed(connection)
    assert sent < most
    assert peak_memory(running.process.pid) - before < 40 << 20
    assert not answer or answer.startswith(b"HTTP/1.1 4")
    assert running.client.get("/healthz").status_code == 200


def test_announced_gigabyte_is_refused_unread(running):
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


def test_a_long_head(running):
    head = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX: "
    with connect(running) as connection:
        connection.sendall(head + b"a" * 12_000 + b"\r\n\r\n")
        assert until_closed(connection).startswith(b"HTTP/1.1 200 ")
    with connect(running) as connection:
        connection.sendall(head + b"a" * 140_000)
        answer = until_closed(connection)
    # An answer may be lost on the way to who still sends.
    assert not answer or answer.startswith(b"HTTP/1.1 400 ")


CODINGS = [
    *(
        b"gzip",
        b"gzip, chunked",
        b"chunked, gzip",
        b"chunked, chunked",
        b"identity",
        b"",
        b"chunked,",
    ),
    *(b"chunked;q=1", b"xchunked", b"\x0bchunked"),
    *(one + b"\r\nTransfer-Encoding: chunked" for one in (b"chunked", b"gzip")),
]


@pytest.mark.parametrize(
    "sent",
    [
        b"nonsense",
        b"GET / HTTP/9.9\r\nConnection: close",
        b"\x16\x03\x01\x02\x00\x01\x00",
        QUERY + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
        # Two lengths, which a proxy may read in another way, and one that old versions lack.
        QUERY + b"Content-Length: 2\r\nTransfer-Encoding: chunked",
        QUERY + b"Transfer-Encoding: chunked\r\nContent-Length: 2",
        QUERY.replace(b"1.1", b"1.0") + b"Transfer-Encoding: chunked",
        # A damaged chunk.
        CHUNKED + b"zz\r\n",
        # Hosts that may be read in two ways.
        *(HEALTH + hosts for hosts in (HOST + HOST, b"Host: evil.example\r\n" + HOST, b"X-A: b")),
        *(
            CODED % (path, coding) + b"2\r\n{}\r\n0"
            for path in (b"POST /v1/compare", b"POST /check", b"POST /nowhere")
            for coding in CODINGS
        ),
    ],
)
def test_invalid_http_is_refused_once(running, sent):
    with connect(running) as connection:
        connection.sendall(sent + b"\r\n\r\n")
        answer = until_closed(connection)
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert len(re.findall(rb"HTTP/1\.1 \d{3} ", answer)) == 1
    assert b"server:" not in answer.lower()


@pytest.mark.parametrize("trailer", [b"", b"Host: evil.example\r\n", b"Content-Type: a/b\r\n"])
def test_trailers_are_no_headers(running, trailer):
    with connect(running) as connection:
        ask = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        connection.sendall(CHUNKED + b"0\r\n" + trailer + b"\r\n" + ask)
        answer = until_closed(connection)
    assert answer.count(b"HTTP/1.1 200 ") == 2


def test_a_damaged_request_does_not_answer_the_one_before(serve_process, tmp_path):
    running = serve_process()
    with connect(running) as connection:
        ask = "POST /v1/slow?until={} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n"
        connection.sendall(ask.format(tmp_path / "go").encode())
        running.wait_until_logged("begun")
        connection.sendall(b"nonsense\r\n\r\n")
        (tmp_path / "go").touch()
        answer = until_closed(connection)
    assert answer.startswith(b"HTTP/1.1 200 ")
    assert answer.index(b"slow 0") < answer.index(b"HTTP/1.1 400 ")


def test_head_over_a_real_connection(running):
    for path, status in (("/v1/stats", 200), ("/v1/none", 404), ("/v1/query", 405)):
        # A body too much would be taken for the next answer.
        assert running.client.head(path).status_code == status
        assert running.client.get("/healthz").json() == {"status": "ok"}


def test_three_hundred_connections(running):
    with ExitStack() as open_ones:
        connections = [open_ones.enter_context(connect(running)) for _ in range(300)]
        for connection in connections:
            connection.sendall(b"GET /v1/stats HTTP/1.1\r\nHost: localhost\r\n\r\n")
        answers = [connection.recv(65536) for connection in connections]
    statuses = [int(answer.split()[1]) for answer in answers]
    assert statuses.count(200) + statuses.count(429) == 300
    assert statuses.count(200) >= 200
    assert all(b"retry-after: 1" in one for one in answers if one.split()[1] == b"429")
    assert running.client.get("/v1/stats").status_code == 200


@pytest.mark.parametrize("proxy", [None, "127.0.0.1"])
def test_a_forwarded_scheme_counts_if_the_proxy_is_trusted(serve_process, tmp_path, proxy):
    path = tmp_path / "keys.json"
    key, _ = create_key(path, "desk", ["read"])
    running = serve_process(keys=str(path), proxy=proxy)
    headers = {"X-Forwarded-For": "192.0.2.1", "X-Forwarded-Proto": "https"}
    answer = running.client.post("/login", data={"key": key}, headers=headers)
    assert answer.status_code == 303
    assert ("secure" in answer.headers["set-cookie"].lower()) == (proxy is not None)


def test_closed_connection_leaves_nothing(running):
    # More than it answers at once.
    for _ in range(300):
        with connect(running) as connection:
            connection.sendall(
                b"POST /v1/documents HTTP/1.1\r\nHost: localhost\r\n"
                b"Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"
            )
    assert running.client.get("/v1/stats").status_code == 200
