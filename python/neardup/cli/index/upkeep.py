"""Upkeep of an index: counting again, giving space back, looking for damage."""

from __future__ import annotations

from typing import Annotated

import typer

from neardup.cli import options as o
from neardup.cli.index import options as io


def recount(location: io.Location, workers: o.Workers = 0) -> None:
    """Count anew what the newest documents have in common.

    Decisions from now on are made by it. The index does so by itself as it grows.
    """
    with io.opened(location, workers=workers) as index:
        counted = index.recount()
        background = index.stats().background
    if background == "own":
        typer.echo(f"{counted:,} texts counted", err=True)
    else:
        why = {"given": "it was given when the index was made", "none": "the rule does not look"}
        typer.echo(f"nothing counted: {why[background]}", err=True)


def compact(location: io.Location) -> None:
    """Give the space of removed documents back."""
    with io.opened(location) as index:
        before = index.stats().bytes
        index.compact()
        after = index.stats().bytes
    typer.echo(f"{before / 1e6:,.1f} MB before, {after / 1e6:,.1f} MB now", err=True)


def check(
    location: io.Location,
    full: Annotated[
        bool,
        typer.Option(
            "--full",
            help="Sketch every text again and look at every key. By default 1,000 documents.",
            rich_help_panel="Run",
        ),
    ] = False,
    repair: Annotated[
        bool,
        typer.Option(
            "--repair",
            help="Make sketches, keys, states and counters again from the texts, and check with "
            "--full. A document whose text is lost is removed. Copy the index first.",
            rich_help_panel="Run",
        ),
    ] = False,
    workers: o.Workers = 0,
    quiet: o.Quiet = False,
) -> None:
    """Print what is damaged, a line each; exit with 2 if anything is.

    Compares rows, texts, sketches, keys and counters; in SQLite also all pages of the file.
    """
    from neardup.cli.index import show
    from neardup.cli.watch import Watch

    with io.opened(location, workers=workers) as index, Watch(quiet=quiet) as watch:
        done = index.repair(progress=watch) if repair else []
        found = index.check(full=full or repair, progress=watch)
    for line in done:
        typer.echo(f"repaired: {show.plain(line)}")
    for line in found:
        typer.echo(show.plain(line))
    if found:
        if not repair:
            typer.echo(
                f"neardup: {len(found):,} lines of damage. Restore a backup; or copy the index,"
                f" then: neardup index check {show.plain(location)} --repair",
                err=True,
            )
        raise typer.Exit(2)
    typer.echo("no damage found" if not done else "no damage is left", err=True)
