"""The whole command line, declared with Typer: help, completion, usage errors, groups."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Annotated

import typer

from neardup.cli.outcome import reported, typer_command
from neardup.cli.terminal import choose_language, tell
from neardup.cli.usage import Command, Group, UsageError, epilog_of, explained, is_help

#: All commands and groups of commands, in the order of the help.
NAMES = (
    "dedup",
    "pairs",
    "sketch",
    "contamination",
    "repeats",
    "compare",
    "explain",
    "check",
    "fingerprint",
    "plan",
    "recipes",
    "idf",
    "index",
    "serve",
    "evaluate",
)


def _version(wanted: bool) -> None:
    if wanted:
        from neardup.base import __version__

        typer.echo(f"neardup {__version__}")
        raise typer.Exit


@reported
def _language(wanted: str | None) -> None:
    choose_language(wanted)


def _options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version."),
    ] = False,
    language: Annotated[
        str | None,
        typer.Option(
            "--language",
            metavar="zh|en",
            callback=_language,
            help="Language of errors, notes and summaries. By default from LC_ALL, LC_MESSAGES "
            "or LANG. Results do not depend on it.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Find near-duplicate texts, and say why. Chinese first, any language."""


def _no_options() -> None:
    """Take no options before the command."""


def _listed() -> None:
    """Stand for a command in the list of all."""


def declared(only: str | None = None, *, is_list: bool = False) -> typer.Typer:
    """Return the command line, or as much of it as is needed.

    Parameters
    ----------
    only : str, optional
        The command or group that a command line begins with; no other is declared.
    is_list : bool, default=False
        Whether the commands are only listed with their help, without their options.
    """
    app = typer.Typer(
        name="neardup",
        cls=Group,
        callback=_options if only is None else _no_options,
        help="Find near-duplicate texts, and say why. Chinese first, any language.",
        no_args_is_help=True,
        # An option of the program itself would be converted, for which Typer loads pydantic.
        add_completion=only is None,
        add_help_option=only is None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    for name in NAMES if only is None else (only,):
        command = import_module(f"neardup.cli.{name}")
        if is_list:
            is_run = hasattr(command, "run")
            help = command.run.__doc__ if is_run else command.app.info.help
            app.command(name=command.NAME, help=help)(_listed)
            continue
        if hasattr(command, "app"):
            app.add_typer(command.app, name=command.NAME)
            continue
        app.command(
            name=command.NAME,
            cls=Command,
            no_args_is_help=command.NEEDS_ARGUMENTS,
            epilog=epilog_of(command.EXAMPLES),
        )(typer_command(command.run))
    return app


def run() -> int:
    """Run the command line, and return the exit code."""
    first = sys.argv[1] if len(sys.argv) > 1 else None
    is_list = sys.argv[1:] in (["--help"], ["-h"])
    app = declared(first if first in NAMES else None, is_list=is_list)
    try:
        code: int = app(standalone_mode=False)
    except UsageError as error:
        if not is_help(error):
            tell(explained(error))
        code = error.exit_code
    return code
