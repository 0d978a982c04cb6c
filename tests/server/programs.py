"""Services as programs, run by forks of a process that has imported all they need."""

import asyncio
import signal
import sys
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from neardup.server import Settings, create_app, running


def serve(given: dict[str, Any], port: int) -> int:
    """Serve as the command does, with one address more.

    ``/v1/slow`` reads a body and answers once there is a file.
    """
    for number in (signal.SIGTERM, signal.SIGHUP):
        # As the command does.
        signal.signal(number, signal.default_int_handler)
    options = {name: given.pop(name) for name in ("proxy", "stop_seconds") if name in given}

    def with_slow(settings: Settings) -> Any:
        app = create_app(settings)
        app.router.routes.insert(0, Route("/v1/slow", _slow, methods=["POST"]))
        return app

    running.create_app = with_slow
    keys = given.get("keys")
    settings = Settings(**{**given, "keys": keys and Path(keys)})
    try:
        served = running.serve(
            settings, port=port, started=lambda url: print(url, flush=True), **options
        )
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    return 0 if served else 2


async def _slow(request: Request) -> PlainTextResponse:
    size = len(await request.body())
    print("begun", file=sys.stderr, flush=True)
    while not Path(request.query_params["until"]).exists():
        await asyncio.sleep(0.01)
    return PlainTextResponse(f"slow {size}")
