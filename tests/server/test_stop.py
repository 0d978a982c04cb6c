"""A service that is told to stop finishes what it accepted, and nothing else."""

import os
import signal
import socket
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from tests import needs
from tests.waiting import PATIENCE, until

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.name != "posix", reason=needs.POSIX),
]

TEXT = "第{}号公告：渡口的新渡轮将于{}日试航，票价与旧船相同，老人与孩子免费乘坐。"


def slow(running, file, **options):
    """Ask for an answer that comes once there is a file."""
    return httpx.post(
        f"{running.url}/v1/slow", params={"until": str(file)}, timeout=PATIENCE, **options
    )


def refuses(running):
    try:
        httpx.get(f"{running.url}/healthz", timeout=PATIENCE)
    except httpx.TransportError:
        return True
    return False


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_request_under_way_is_answered(serve_process, tmp_path, number):
    running = serve_process(stop_seconds=1000)
    with ThreadPoolExecutor() as pool:
        asked = pool.submit(slow, running, tmp_path / "go", content=b"abc")
        running.wait_until_logged("begun")
        running.process.send_signal(number)
        # Nobody new is let in.
        until(lambda: refuses(running), "the service to let nobody in")
        assert not asked.done()
        (tmp_path / "go").touch()
        answer = asked.result()
    assert (answer.status_code, answer.text) == (200, "slow 3")
    assert running.process.wait(PATIENCE) == 0
    assert "Traceback" not in running.log()


def test_idle_connections_do_not_hold_it_up(serve_process):
    # No limit of time ends them before this test gives up.
    running = serve_process(stop_seconds=1000)
    port = int(running.url.rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port)) as silent:
        silent.sendall(b"GET / HTT")
        running.client.get("/healthz")
        assert running.stop() == 0


def test_slow_request_is_ended_at_the_limit(serve_process, tmp_path):
    running = serve_process(stop_seconds=1)
    with ThreadPoolExecutor() as pool:
        asked = pool.submit(slow, running, tmp_path / "never")
        running.wait_until_logged("begun")
        # The answer never comes, so that it stops at all is the limit's doing.
        assert running.stop() == 0
        # Not an answer that looks like one.
        error = asked.exception()
        assert error is not None or asked.result().status_code >= 500


def test_the_log_has_no_texts(serve_process):
    running = serve_process()
    secret = "绝密内容不可外传"
    running.client.post("/v1/documents", json={"id": "s", "text": secret * 20})
    running.client.post("/v1/documents", json={"id": "s", "text": secret * 21})
    running.client.post("/v1/query", json={"text": secret, "k": secret})
    running.client.post("/v1/slow", content=secret.encode())
    assert running.client.get("/healthz").status_code == 200
    assert running.stop() == 0
    assert secret not in running.log()
    # An error in it is told, by its place.
    assert "KeyError" in running.log()


def test_a_second_ctrl_c_ends_it_with_the_code_of_an_interrupt(serve_process, tmp_path):
    running = serve_process(stop_seconds=1000)
    with ThreadPoolExecutor() as pool:
        asked = pool.submit(slow, running, tmp_path / "never")
        running.wait_until_logged("begun")
        running.process.send_signal(signal.SIGINT)
        until(lambda: refuses(running), "the service to let nobody in")
        running.process.send_signal(signal.SIGINT)
        # It did not wait for the answer: the interrupt came out of `serve`.
        assert running.process.wait(PATIENCE) == 128 + signal.SIGINT
        assert asked.exception() is not None or asked.result().status_code >= 500
