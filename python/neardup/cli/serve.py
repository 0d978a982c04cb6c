"""``neardup serve``: the index over HTTP, for programs and for people."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from neardup.base.messages import Language, Message
from neardup.cli import flags, serve_keys
from neardup.cli.index.options import opened
from neardup.cli.options import Quiet
from neardup.cli.outcome import typer_command
from neardup.cli.terminal import tell
from neardup.cli.usage import Group, epilog_of

NAME = "serve"

_SERVICE, _LIMITS, _RUN = "Service", "Limits", "Run"


def run(
    context: typer.Context,
    index: Annotated[
        str | None,
        flags.Option(
            "--index",
            "-i",
            metavar="LOCATION",
            help="The index: a file, or postgresql://USER@HOST/DATABASE?schema=NAME. Created "
            "if it does not exist.",
            rich_help_panel=_SERVICE,
            show_default=False,
        ),
    ] = None,
    host: Annotated[
        str,
        flags.Option(
            "--host",
            help="Where to listen. Any address but this machine's own needs --keys.",
            rich_help_panel=_SERVICE,
        ),
    ] = "127.0.0.1",
    port: Annotated[
        int, flags.Option("--port", help="0 takes a free one.", rich_help_panel=_SERVICE)
    ] = 8765,
    keys: Annotated[
        Path | None,
        flags.Option(
            "--keys",
            metavar="FILE",
            help="API keys, made by `neardup serve key create`. Without it, no key is required.",
            rich_help_panel=_SERVICE,
            show_default=False,
        ),
    ] = None,
    library: Annotated[
        list[str] | None,
        flags.Option(
            "--library",
            "-l",
            metavar="NAME=PATH",
            help="A library to compare papers with: a folder, a file or an index. "
            "May be repeated. The index itself is the library `index`.",
            rich_help_panel=_SERVICE,
            show_default=False,
        ),
    ] = None,
    language: Annotated[
        Language,
        flags.Option(
            "--language",
            help="Language of the page if the browser asks for no language that it has: zh or en.",
            rich_help_panel=_SERVICE,
        ),
    ] = "zh",
    proxy: Annotated[
        str | None,
        flags.Option(
            "--proxy",
            metavar="ADDRESS,...",
            help="Addresses of trusted proxies: their X-Forwarded-For and X-Forwarded-Proto "
            "headers are used. Without it, no proxy is trusted, not even on this machine.",
            rich_help_panel=_SERVICE,
            show_default=False,
        ),
    ] = None,
    max_body_bytes: Annotated[
        int,
        flags.Option(
            "--max-body-bytes",
            help="Largest body of a request, but for papers.",
            rich_help_panel=_LIMITS,
        ),
    ] = 16 << 20,
    max_upload_bytes: Annotated[
        int, flags.Option("--max-upload-bytes", help="Largest paper.", rich_help_panel=_LIMITS)
    ] = 64 << 20,
    max_batch: Annotated[
        int,
        flags.Option("--max-batch", help="Most documents in one request.", rich_help_panel=_LIMITS),
    ] = 1000,
    max_text_characters: Annotated[
        int,
        flags.Option(
            "--max-text-characters", help="Longest text, in code points.", rich_help_panel=_LIMITS
        ),
    ] = 1_000_000,
    max_in_flight: Annotated[
        int,
        flags.Option(
            "--max-in-flight",
            help="Most requests at once; further ones get 429 with Retry-After.",
            rich_help_panel=_LIMITS,
        ),
    ] = 256,
    request_seconds: Annotated[
        float,
        flags.Option(
            "--request-seconds", help="Longest time for one request.", rich_help_panel=_LIMITS
        ),
    ] = 30.0,
    max_jobs: Annotated[
        int,
        flags.Option(
            "--max-jobs", help="Most checks of papers that wait.", rich_help_panel=_LIMITS
        ),
    ] = 32,
    job_seconds: Annotated[
        float,
        flags.Option("--job-seconds", help="How long a report is kept.", rich_help_panel=_LIMITS),
    ] = 3600.0,
    max_report_bytes: Annotated[
        int,
        flags.Option(
            "--max-report-bytes",
            help="Stored reports of all checks, after which the oldest are removed.",
            rich_help_panel=_LIMITS,
        ),
    ] = 1 << 30,
    stop_seconds: Annotated[
        int,
        flags.Option(
            "--stop-seconds",
            help="Time to finish accepted requests after a stop signal.",
            rich_help_panel=_LIMITS,
        ),
    ] = 30,
    access_log: Annotated[
        bool,
        flags.Option(
            "--access-log",
            help="Log each request and decision. Logged URLs contain ids and searches.",
            rich_help_panel=_RUN,
        ),
    ] = False,
    quiet: Quiet = False,
) -> None:
    """Serve an index over HTTP: an API for programs, and a page for people."""
    if context.invoked_subcommand is not None:
        return
    from neardup.exceptions import ParameterError

    if index is None:
        raise ParameterError(Message("cli.index_missing"))
    serve_keys.require_server()
    from neardup.base.validation import check_whole
    from neardup.papers.report.words import load_words
    from neardup.server import Settings
    from neardup.server.running import serve

    load_words(language)
    settings = Settings(
        index=index,
        libraries=_libraries(library or []),
        keys=keys,
        language=language,
        max_body_bytes=check_whole(max_body_bytes, "max_body_bytes", 1),
        max_upload_bytes=check_whole(max_upload_bytes, "max_upload_bytes", 1),
        max_batch=check_whole(max_batch, "max_batch", 1),
        max_text_characters=check_whole(max_text_characters, "max_text_characters", 1),
        max_in_flight=check_whole(max_in_flight, "max_in_flight", 1),
        request_seconds=_seconds(request_seconds, "request_seconds"),
        max_jobs=check_whole(max_jobs, "max_jobs", 1),
        job_seconds=_seconds(job_seconds, "job_seconds"),
        max_report_bytes=check_whole(max_report_bytes, "max_report_bytes", 1),
    )
    _try_index(index, quiet=quiet)

    def started(address: str) -> None:
        if not quiet:
            tell(Message("cli.serving", index=_shown(index), address=address))

    served = serve(
        settings,
        host=host,
        port=port,
        stop_seconds=stop_seconds,
        proxy=proxy,
        access_log=access_log,
        started=started,
    )
    if not served:
        raise SystemExit(2)


app = typer.Typer(
    name=NAME,
    cls=Group,
    invoke_without_command=True,
    no_args_is_help=True,
    callback=typer_command(run),
    epilog=epilog_of(
        (
            "neardup serve --index news.db",
            "neardup serve --index news.db --library theses=essays/ --language en",
            "neardup serve --index news.db --host 0.0.0.0 --keys keys.json",
        )
    ),
)
app.add_typer(serve_keys.app, name="key")


def _libraries(given: list[str]) -> dict[str, str]:
    from neardup.base.validation import bad

    libraries: dict[str, str] = {}
    for one in given:
        name, equals, path = one.partition("=")
        if not equals or not path or not name.isprintable() or not name.strip():
            raise bad("library", "cli.name_and_path", one)
        if name == "index" or name in libraries:
            raise bad("library", "cli.name_not_taken", name)
        if "://" not in path and not Path(path).exists():
            raise bad("library", "cli.place_that_is_there", path, library=name)
        libraries[name] = path
    return libraries


def _try_index(location: str, *, quiet: bool) -> None:
    """Open the index once, or make it where there is none."""
    from neardup.exceptions import IndexUnavailableError

    try:
        opened(location, workers=1, quiet=quiet, may_make=True).close()
    except IndexUnavailableError as error:
        if "://" not in location:
            raise
        # A server may come up after this machine; until then nobody gets a wrong answer.
        tell(Message("cli.until_it_answers", error=error.message))


def _seconds(value: float, name: str) -> float:
    from neardup.base.validation import bad

    if not 0 < value < float("inf"):
        raise bad(name, "cli.seconds_above_0", value)
    return value


def _shown(location: str) -> str:
    """Return a location without a password."""
    scheme, separator, rest = location.partition("://")
    if not separator:
        return location
    user, at, place = rest.rpartition("@")
    return f"{scheme}://{user.partition(':')[0]}{at}{place}"
