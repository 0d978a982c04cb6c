"""A service as the command runs it, with its own connections, in a process of its own.

It has an address more, `/v1/slow`, which reads a body and answers once there is a file.
"""

import json
import signal
import sys

import pytest

from tests.server.conftest import Process, free_port

_PROGRAM = """
import asyncio, json, resource, signal, sys
from pathlib import Path

for name in ("SIGTERM", "SIGHUP"):
    # As the command does.
    signal.signal(getattr(signal, name), signal.default_int_handler)

from neardup.server import Settings, connections, limits, running

given = json.loads(sys.argv[1])
options = {name: given.pop(name) for name in ("host", "proxy", "stop_seconds") if name in given}
if "head_seconds" in given:
    connections._HEAD_SECONDS = given.pop("head_seconds")
if "stranger_seconds" in given:
    limits._STRANGER_SECONDS = given.pop("stranger_seconds")
if "files" in given:
    files = given.pop("files")
    resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))
given["keys"] = given.get("keys") and Path(given["keys"])
make = running.create_app

def with_slow(settings, **options):
    app = make(settings, **options)

    async def slow(request):
        size = len(await request.body())
        print("begun", file=sys.stderr, flush=True)
        while not Path(request.query_params["until"]).exists():
            await asyncio.sleep(0.01)
        return running_response(f"slow {size}")

    from starlette.responses import PlainTextResponse as running_response
    from starlette.routing import Route
    app.router.routes.insert(0, Route("/v1/slow", slow, methods=["POST"]))
    return app

running.create_app = with_slow
served = running.serve(
    Settings(**given), port=int(sys.argv[2]), started=lambda url: print(url, flush=True), **options
)
sys.exit(0 if served else 2)
"""


@pytest.fixture
def serve_really(index, tmp_path):
    """Start a service: ``serve_really(max_batch=3)``.

    Keywords are those of `Settings`, and ``proxy``, ``stop_seconds``, ``head_seconds``,
    ``stranger_seconds``, and ``files``, how many files the process may open.
    """
    started = []

    def start(**settings):
        log = tmp_path / f"really-{len(started)}.log"
        process = start_really(log, {"index": index, "workers": 1, **settings})
        started.append(process)
        process.wait_until_up()
        return process

    yield start
    for process in started:
        process.stop(signal.SIGKILL)


def start_really(log, settings):
    """Start a service with these settings, which writes to a log."""
    port = free_port()
    command = [sys.executable, "-c", _PROGRAM, json.dumps(settings, default=str), str(port)]
    return Process(command, port, log)
