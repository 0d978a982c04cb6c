"""Services as programs, run by forks of a process that has imported all they need."""

import asyncio
import resource
import signal
import sys
from pathlib import Path
from typing import Any

import uvicorn
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from neardup.server import Settings, create_app, running


def serve_settings(settings: dict[str, Any], port: int) -> None:
    """Serve where the command line has no option for a setting."""
    uvicorn.run(create_app(_settings(settings)), port=port, log_level="warning")


def serve_for_real(given: dict[str, Any], port: int) -> int:
    """Serve as the command does, with one address more.

    ``/v1/slow`` reads a body and answers once there is a file.
    """
    for number in (signal.SIGTERM, signal.SIGHUP):
        # As the command does.
        signal.signal(number, signal.default_int_handler)
    options = {name: given.pop(name) for name in ("host", "proxy", "stop_seconds") if name in given}
    if "files" in given:
        files = given.pop("files")
        resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))

    def with_slow(settings: Settings, **options: Any) -> Any:
        app = create_app(settings, **options)
        app.router.routes.insert(0, Route("/v1/slow", _slow, methods=["POST"]))
        return app

    running.create_app = with_slow
    try:
        served = running.serve(
            _settings(given), port=port, started=lambda url: print(url, flush=True), **options
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


def _settings(given: dict[str, Any]) -> Settings:
    keys = given.get("keys")
    return Settings(**{**given, "keys": keys and Path(keys)})
