"""A service as the command runs it, in a process of its own.

It has an address more, `/v1/slow`, which reads a body and answers once there is a file.
"""

import signal

import pytest

from tests.forks import Fork
from tests.server import programs
from tests.server.conftest import Process, free_port


@pytest.fixture
def serve_for_real(index, tmp_path):
    """Start a service: ``serve_for_real(max_batch=3)``.

    Keywords are those of `Settings`, and ``proxy``, ``stop_seconds`` and ``files``, how
    many files the process may open.
    """
    started = []

    def start(**settings):
        log = tmp_path / f"really-{len(started)}.log"
        process = start_for_real(log, {"index": index, "workers": 1, **settings})
        started.append(process)
        process.wait_until_up()
        return process

    yield start
    for process in started:
        process.stop(signal.SIGKILL)


def start_for_real(log, settings):
    """Start a service with these settings, which writes to a log."""
    port = free_port()
    return Process(Fork(programs.serve_for_real, settings, port, stdout=log, stderr=log), port, log)
