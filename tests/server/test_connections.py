"""How long a connection may keep the service waiting, by a clock that skips waiting."""

import asyncio

import anyio
import pytest
import uvicorn
from uvicorn.server import ServerState

from neardup.server.connections import Connection
from tests.server.clocks import run_virtually

GET = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
#: Longer than what a transport takes before it asks to wait.
ANSWER = b"a" * 200_000


class Wire(asyncio.Transport):
    """A transport to a client that takes an answer when the test says so."""

    def __init__(self):
        super().__init__()
        self.lying = self.taken = b""
        self.cut = False
        self._closing = self._paused = self._lost = False
        self.protocol = None

    def take(self):
        """Take all that lies there."""
        while self.lying:
            self.taken, self.lying = self.taken + self.lying, b""
            if self._paused:
                self._paused = False
                self.protocol.resume_writing()
        if self._closing:
            self._lose()

    def write(self, data):
        if self._closing:
            return
        self.lying += data
        if len(self.lying) > 65536 and not self._paused:
            self._paused = True
            self.protocol.pause_writing()

    def get_write_buffer_size(self):
        return len(self.lying)

    def close(self):
        self._closing = True
        if not self.lying:
            self._lose()

    def abort(self):
        self.cut = self._closing = True
        self.lying = b""
        self._lose()

    def _lose(self):
        if self._lost:
            return
        self._lost = True
        asyncio.get_running_loop().call_soon(self.protocol.connection_lost, None)

    def is_closing(self):
        return self._closing

    def pause_reading(self):
        pass

    def resume_reading(self):
        pass


async def answer(_scope, _receive, send):
    head = [(b"content-length", b"%d" % len(ANSWER))]
    await send({"type": "http.response.start", "status": 200, "headers": head})
    await send({"type": "http.response.body", "body": ANSWER})


def connect(answer_seconds=30):
    """Connect to an application that answers with `ANSWER`."""
    config = uvicorn.Config(
        answer, log_config=None, ws="none", lifespan="off", timeout_keep_alive=65
    )
    wire = Wire()
    wire.protocol = Connection(config, ServerState(), {}, answer_seconds=answer_seconds)
    wire.protocol.connection_made(wire)
    return wire


@pytest.mark.parametrize(
    "sent", [b"", b"\r\n", b"GET / HTT", b"GET / HTTP/1.1\r\nHost: localhost\r\nX-A: b"]
)
def test_a_head_that_does_not_come(sent):
    async def run():
        wire = connect()
        if sent:
            wire.protocol.data_received(sent)
        await anyio.sleep(9.9)
        wire.take()
        assert wire.taken == b""
        assert not wire.is_closing()
        await anyio.sleep(0.2)
        assert wire.is_closing()
        wire.take()
        assert wire.taken.startswith(b"HTTP/1.1 408 ")

    run_virtually(run)


def test_a_head_that_comes_in_time():
    async def run():
        wire = connect()
        for at in range(len(GET)):
            wire.protocol.data_received(GET[at : at + 1])
            await anyio.sleep(9.5 / len(GET))
        wire.take()
        assert wire.taken.startswith(b"HTTP/1.1 200 ")
        # Nor does the time of the head count for what follows.
        await anyio.sleep(9.5)
        assert not wire.is_closing()

    run_virtually(run)


@pytest.mark.parametrize("end", [b"", b"Connection: close\r\n"])
def test_who_does_not_read_is_cut(end):
    async def run():
        wire = connect()
        wire.protocol.data_received(GET * 60 + GET[:-2] + end + b"\r\n")
        await anyio.sleep(29.9)
        assert wire.lying
        assert not wire.cut
        await anyio.sleep(0.2)
        assert wire.cut

    run_virtually(run)


def test_who_reads_and_rests_is_not():
    async def run():
        wire = connect()
        for _ in range(3):
            wire.protocol.data_received(GET)
            await anyio.sleep(29.9)
            wire.take()
            await anyio.sleep(0)
            assert wire.taken.endswith(b"\r\n\r\n" + ANSWER)
            wire.taken = b""
            await anyio.sleep(30)
            assert not wire.is_closing()

    run_virtually(run)
