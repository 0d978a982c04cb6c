"""The command line: one file per command, without algorithms.

A command maps its arguments to the public functions and their errors to exit
codes: 0 done, 1 done and duplicates were found (only with ``--fail-on-duplicates``),
2 an error, also a partial one, 128 + the signal's number after an interrupt. Results
go to standard output or to the named files, everything else to standard error.
"""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from neardup.cli import (
    check,
    compare,
    dedup,
    evaluate,
    fingerprint,
    idf,
    index,
    pairs,
    plan,
    recipes,
    serve,
)
from neardup.cli.outcome import reported
from neardup.cli.terminal import choose_language, tell
from neardup.cli.usage import Command, Group, UsageError, explained, is_help

app = typer.Typer(
    name="neardup",
    cls=Group,
    help="Find near-duplicate texts, and say why. Chinese first, any language.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

for _command in (dedup, pairs, compare, check, fingerprint, plan, recipes, idf):
    app.command(
        name=_command.NAME,
        cls=Command,
        no_args_is_help=_command.NEEDS_ARGUMENTS,
        # A blank line between two lines keeps them apart in the help.
        epilog="\n\n".join(("Examples:", *_command.EXAMPLES)),
    )(reported(_command.run))
for _group in (index, serve, evaluate):
    app.add_typer(_group.app, name=_group.NAME)


def _version(wanted: bool) -> None:
    if wanted:
        from neardup._engine import __version__

        typer.echo(f"neardup {__version__}")
        raise typer.Exit


@reported
def _language(wanted: str | None) -> None:
    choose_language(wanted)


@app.callback()
def options(
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


def main() -> None:
    """Run the command line and exit with its code."""
    try:
        code = app(standalone_mode=False)
    except UsageError as error:
        if not is_help(error):
            tell(explained(error))
        code = error.exit_code
    sys.exit(code)
