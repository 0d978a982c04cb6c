"""The style and script of the pages, under names that change with the contents."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from importlib import resources

from fastapi import Request, Response

from neardup.base.messages import Message
from neardup.server.problems import ProblemError

__all__ = ["asset", "serve"]

#: Location of each file; pages share the style of the report and add their own.
_FILES = {
    "report.css": ("neardup.papers.report", "templates"),
    "sides.css": ("neardup.papers.report", "templates"),
    "pages.css": ("neardup.server.pages", "static"),
    "pages.js": ("neardup.server.pages", "static"),
}
_TYPES = {"css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8"}
_DIGITS = 12


@lru_cache
def _content(name: str) -> bytes:
    package, folder = _FILES[name]
    return resources.files(package).joinpath(folder, name).read_bytes()


@lru_cache
def asset(name: str) -> str:
    """Return the path under which a file is served.

    Examples
    --------
    >>> asset("pages.css").startswith("/static/pages.")
    True
    """
    stem, _, kind = name.rpartition(".")
    digest = hashlib.sha256(_content(name)).hexdigest()[:_DIGITS]
    return f"/static/{stem}.{digest}.{kind}"


async def serve(request: Request) -> Response:
    """Return a file. Its name changes with its contents, so browsers may cache it forever."""
    path = f"/static/{request.path_params['name']}"
    for name in _FILES:
        if asset(name) == path:
            return Response(
                _content(name),
                headers={"Cache-Control": "public, max-age=31536000, immutable"},
                media_type=_TYPES[name.rpartition(".")[2]],
            )
    raise ProblemError(404, Message("server.title_no_such_file"), Message("server.no_such_file"))
