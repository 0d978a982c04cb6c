"""Upkeep of an index: counting again, giving space back, looking for damage."""

from __future__ import annotations

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


def check(location: io.Location) -> None:
    """Read the whole index and print what is damaged; exit with 2 if anything is.

    PostgreSQL checks its pages as it reads them, so there is nothing to do there.
    """
    with io.opened(location) as index:
        found = index.check()
        where = index.stats().location if not found else ""
    for line in found:
        typer.echo(line)
    if found:
        raise typer.Exit(2)
    if where.startswith("postgresql:"):
        typer.echo("nothing read: PostgreSQL checks its pages as it reads them", err=True)
    else:
        typer.echo("no damage found", err=True)
