"""Upkeep of an index: counting again, giving space back, looking for damage."""

from __future__ import annotations

from typing import Annotated

import typer

from neardup.base.messages import Message
from neardup.cli import flags
from neardup.cli import options as o
from neardup.cli.index import options as io
from neardup.cli.terminal import say, tell


def recount(location: io.Location, workers: o.Workers) -> None:
    """Count anew what the newest documents have in common.

    Decisions from now on are made by it. The index does so by itself as it grows.
    """
    with io.opened(location, workers=workers) as index:
        counted = index.recount()
        background = index.stats().background
    if background == "own":
        typer.echo(say(Message("cli.texts_counted", count=counted)), err=True)
    else:
        typer.echo(say(Message(f"cli.nothing_counted_{background}")), err=True)


def compact(location: io.Location) -> None:
    """Give the space of removed documents back."""
    with io.opened(location) as index:
        before = index.stats().bytes
        index.compact()
        after = index.stats().bytes
    said = Message("cli.compacted", before=before / 1e6, after=after / 1e6)
    typer.echo(say(said), err=True)


def backup(
    location: io.Location,
    copy: Annotated[str, flags.Argument(metavar="COPY", help="A new file.", show_default=False)],
) -> None:
    """Copy an index in SQLite to a new file, while others use it.

    The copy is complete, and an index itself. For PostgreSQL use pg_dump.
    """
    with io.opened(location) as index:
        index.backup(copy)
    typer.echo(say(Message("cli.backed_up", index=location, copy=copy)), err=True)


def check(
    *,
    location: io.Location,
    full: o.Full,
    workers: o.Workers,
    quiet: o.Quiet = False,
) -> None:
    """Print what is damaged, a line each; exit with 2 if anything is.

    Compares counters, and rows, texts, sketches and keys of a sample; in SQLite also all pages.
    """
    from neardup.cli.index import show
    from neardup.cli.watch import Watch

    with io.opened(location, workers=workers) as index, Watch(quiet=quiet) as watch:
        found = index.check(full=full, progress=watch)
    for line in found:
        typer.echo(show.plain(say(line)))
    if found:
        tell(Message("cli.damage_found", count=len(found), index=show.plain(location)))
        raise SystemExit(2)
    typer.echo(say(Message("cli.no_damage")), err=True)


def rebuild(
    *,
    location: io.Location,
    new: Annotated[
        str,
        flags.Argument(metavar="NEW", help="A location without an index.", show_default=False),
    ],
    workers: o.Workers,
    quiet: o.Quiet = False,
) -> None:
    """Copy what can be read of a damaged index into a new one.

    Sketches, keys and counters are made again from the texts. Prints a line for each loss; exits
    with 2 if there is any. The damaged index is not changed.
    """
    from neardup.cli.index import show
    from neardup.cli.watch import Watch

    with io.opened(location, workers=workers) as index, Watch(quiet=quiet) as watch:
        lost = index.rebuild(new, progress=watch)
    for line in lost:
        typer.echo(show.plain(say(line)))
    with io.opened(new) as index:
        tell(Message("cli.rebuilt", documents=len(index)))
    if lost:
        raise SystemExit(2)
