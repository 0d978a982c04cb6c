"""``neardup serve``: the index over HTTP, for programs and for people."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Unpack

from neardup.base.messages import Language, Message
from neardup.base.validation import bad
from neardup.cli import serve_keys
from neardup.cli.index.common import open_for_command
from neardup.cli.options import Quiet
from neardup.cli.terminal import print_message
from neardup.exceptions import IndexUnavailableError, ParameterError
from neardup.options import options as o
from neardup.options.groups import LimitParameters

_SERVICE = "Service"


def run(
    *,
    index: Annotated[
        str | None,
        o.Option(
            "The index: a file, or postgresql://USER@HOST/DATABASE?schema=NAME. Created "
            "if it does not exist.",
            _SERVICE,
            short="-i",
            metavar="LOCATION",
        ),
    ],
    host: Annotated[
        str,
        o.Option(
            "Where to listen. Any address but this machine's own needs --keys.",
            _SERVICE,
            default="127.0.0.1",
        ),
    ],
    port: Annotated[int, o.Option("0 takes a free one.", _SERVICE, default=8765)],
    keys: Annotated[
        Path | None,
        o.Option(
            "API keys, made by `neardup serve key create`. Without it, no key is required.",
            _SERVICE,
            metavar="FILE",
        ),
    ],
    library: Annotated[
        list[str] | None,
        o.Option(
            "A library to compare papers with: a folder, a file or an index. "
            "May be repeated. The index itself is the library `index`.",
            _SERVICE,
            short="-l",
            metavar="NAME=PATH",
        ),
    ],
    language: Annotated[
        Language,
        o.Option(
            "Language of the page if the browser asks for no language that it has: zh or en.",
            _SERVICE,
            default="zh",
        ),
    ],
    proxy: Annotated[
        str | None,
        o.Option(
            "Addresses of trusted proxies: their X-Forwarded-For and X-Forwarded-Proto "
            "headers are used. Without it, no proxy is trusted, not even on this machine.",
            _SERVICE,
            metavar="ADDRESS,...",
        ),
    ],
    stop_seconds: Annotated[
        int, o.Option("Time to finish accepted requests after a stop signal.", "Limits", default=30)
    ],
    access_log: Annotated[
        bool, o.Option("Log each request and decision. Logged URLs contain ids and searches.")
    ],
    quiet: Quiet,
    **limits: Unpack[LimitParameters],
) -> None:
    """Serve an index over HTTP: an API for programs, and a page for people.

    Examples:
        neardup serve --index news.db
        neardup serve --index news.db --library theses=essays/ --language en
        neardup serve --index news.db --host 0.0.0.0 --keys keys.json
    """
    if index is None:
        raise ParameterError(
            Message(
                "--index is missing. Name the index to serve: --index news.db.",
                code="index_missing",
            )
        )
    serve_keys.require_server()
    from neardup.server import Settings
    from neardup.server.running import serve

    settings = Settings(index, _parse_libraries(library or []), keys, language, **limits)
    _try_index(index, quiet=quiet)

    def announce(address: str) -> None:
        if not quiet:
            print_message(
                Message(
                    "serving {index} at {address}", index=_hide_password(index), address=address
                )
            )

    served = serve(
        settings,
        host=host,
        port=port,
        stop_seconds=stop_seconds,
        proxy=proxy,
        access_log=access_log,
        started=announce,
    )
    if not served:
        raise SystemExit(2)


def _parse_libraries(given: list[str]) -> dict[str, str]:
    libraries: dict[str, str] = {}
    for option in given:
        name, equals, path = option.partition("=")
        if not equals or not path or not name.isprintable() or not name.strip():
            raise bad("library", "NAME=PATH", option)
        if name == "index" or name in libraries:
            raise bad("library", "an unused name", name)
        if "://" not in path and not Path(path).exists():
            raise bad("library", "an existing path for the library '{library}'", path, library=name)
        libraries[name] = path
    return libraries


def _try_index(location: str, *, quiet: bool) -> None:
    """Open the index once, or make it where there is none."""
    try:
        open_for_command(location, workers=1, quiet=quiet, may_make=True).close()
    except IndexUnavailableError as error:
        if "://" not in location:
            raise
        # A server may come up after this machine; until then nobody gets a wrong answer.
        print_message(
            Message("{error} Until the index answers, every request gets 503.", error=error.message)
        )


def _hide_password(location: str) -> str:
    """Return a location without a password."""
    scheme, separator, rest = location.partition("://")
    if not separator:
        return location
    user, sign, place = rest.rpartition("@")
    return f"{scheme}://{user.partition(':')[0]}{sign}{place}"
