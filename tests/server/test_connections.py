"""Connections: what is refused before a request begins, or while its body comes."""

import re
import signal
import socket
from contextlib import ExitStack
from pathlib import Path

import pytest

from neardup.server.security.keys import create_key
from tests import needs
from tests.server.conftest import make_index, run_service
from tests.waiting import PATIENCE

pytestmark = pytest.mark.slow


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
    settings = {"index": make_index(folder / "news.db"), "max_body_bytes": 1 << 20}
    service = run_service(settings, folder / "log")
    try:
        service.wait_until_up()
        yield service
    finally:
        service.stop(signal.SIGKILL)


CHUNK = b"40000\r\n" + b"a" * 0x40000 + b"\r\n"
CHUNKED_HEAD = b"Host: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
CHUNKED = (
    b"POST /v1/compare HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    b"Transfer-Encoding: Chunked\r\n\r\n11\r\n" + b'{"a":"x","b":"y"}' + b"\r\n"
)
QUERY = b"POST /v1/query HTTP/1.1\r\nHost: localhost\r\n"
HEALTH = b"GET /healthz HTTP/1.1\r\n"
HEADER = b"X-A: " + b"a" * 1000 + b"\r\n"


@pytest.mark.parametrize(
    ("head", "piece", "most"),
    [
        *(
            (b"POST %s HTTP/1.1\r\n" % path + CHUNKED_HEAD, CHUNK, 200 << 20)
            for path in (b"/v1/documents", b"/v1/check", b"/check", b"/", b"/nowhere")
        ),
        # A head, and trailers, without end.
        (b"GET / HTTP/1.1\r\nHost: localhost\r\n", HEADER, 20 << 20),
        (b"POST /v1/query HTTP/1.1\r\n" + CHUNKED_HEAD + b"0\r\n", HEADER, 20 << 20),
    ],
    ids=range(7),
)
def test_a_gigabyte_without_a_length(running, head, piece, most):
    running.client.get("/v1/stats")
    before = memory(running.process.pid, reset=True)
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
    assert memory(running.process.pid) - before < 40 << 20
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


@pytest.mark.parametrize(
    "sent",
    [
        b"nonsense",
        b"GET / HTTP/9.9\r\nConnection: close",
        b"\x16\x03\x01\x02\x00\x01\x00",
        QUERY + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
        *(
            QUERY.replace(b"1.1", version) + b"\r\n".join(lengths)
            for version, lengths in (
                (b"1.1", (b"Content-Length: 2", b"Transfer-Encoding: chunked")),
                (b"1.1", (b"Transfer-Encoding: chunked", b"Content-Length: 2")),
                (b"1.0", (b"Transfer-Encoding: chunked",)),
            )
        ),
        # A damaged chunk.
        CHUNKED + b"zz\r\n",
        # Hosts that may be read in two ways.
        HEALTH + b"Host: localhost\r\nHost: localhost",
        HEALTH + b"Host: evil.example\r\nHost: localhost",
        HEALTH + b"X-A: b",
    ],
)
def test_invalid_http_is_refused(running, sent):
    with connect(running) as connection:
        connection.sendall(sent + b"\r\n\r\n")
        answer = until_closed(connection)
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert len(re.findall(rb"HTTP/1\.1 \d{3} ", answer)) == 1
    assert b"server:" not in answer.lower()


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
def test_transfer_codings(running, path, coding):
    head = b"POST %s HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: %s\r\n\r\n"
    with connect(running) as connection:
        connection.sendall(head % (path, coding) + b"2\r\n{}\r\n0\r\n\r\n")
        answer = until_closed(connection)
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert answer.count(b"HTTP/1.1 ") == 1


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


def test_three_hundred_connections(running):
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
    def ask_and_go():
        with connect(running) as connection:
            connection.sendall(
                b"POST /v1/documents HTTP/1.1\r\nHost: localhost\r\n"
                b"Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"
            )

    # More than it answers at once.
    for _ in range(300):
        ask_and_go()
    assert running.client.get("/v1/stats").status_code == 200
