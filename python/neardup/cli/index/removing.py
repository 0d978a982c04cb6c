"""Documents out of an index, and decisions made again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from neardup.cli.index import options as io

if TYPE_CHECKING:
    from neardup.index import Index, Match, Removed

_LISTED = 20


def remove(
    location: io.Location,
    ids: Annotated[
        list[str],
        typer.Argument(metavar="ID...", help="Ids of the documents.", show_default=False),
    ],
    reconsider: io.Reconsider = False,
) -> None:
    """Remove documents by their ids.

    Those that were dropped for one of them are freed: they stay out until they
    are decided again.
    """
    from neardup.exceptions import InputError

    missing = False
    freed: list[str] = []
    with io.opened(location) as index:
        removed = 0
        with io.stopped_with("What was removed so far stays removed."):
            for id in ids:
                try:
                    found = index.remove(id)
                except InputError as error:
                    typer.echo(f"neardup: {error}", err=True)
                    missing = True
                    continue
                removed += found.removed
                freed += found.freed
        # One of those freed may have been removed after it.
        freed = [id for id in freed if id in index]
        _say(index, removed, freed, len(freed), reconsider=reconsider)
    if missing:
        raise typer.Exit(2)


def keep(
    location: io.Location,
    ids: Annotated[
        list[str],
        typer.Argument(metavar="ID...", help="Ids of the documents.", show_default=False),
    ],
) -> None:
    """Keep documents that were dropped, whatever they repeat.

    Undoes their removal. From now on others may be dropped for them.
    """
    from neardup.exceptions import InputError

    failed = False
    with io.opened(location) as index, io.stopped_with("What was kept so far stays kept."):
        for id in ids:
            try:
                index.keep(id)
            except InputError as error:
                typer.echo(f"neardup: {error}", err=True)
                failed = True
    if failed:
        raise typer.Exit(2)


def expire(
    location: io.Location,
    before: Annotated[
        str | None,
        typer.Option(
            "--before",
            metavar="TIME",
            help="Remove what arrived before this moment, exclusive: 2024-03-09 or "
            "2024-03-09T08:00:00+08:00.",
            rich_help_panel="Run",
            show_default=False,
        ),
    ] = None,
    older_than: Annotated[
        str | None,
        typer.Option(
            "--older-than",
            metavar="SPAN",
            help="The same as a span before now, such as 90d.",
            rich_help_panel="Run",
            show_default=False,
        ),
    ] = None,
    reconsider: io.Reconsider = False,
) -> None:
    """Remove the documents that arrived before a moment."""
    from neardup.exceptions import ParameterError

    if (before is None) == (older_than is None):
        raise ParameterError("Give one of --before and --older-than.")
    again = "What has expired so far is gone; the same command goes on."
    with io.opened(location) as index:
        with io.stopped_with(again):
            found: Removed = index.expire(before=before, older_than=older_than)
        freed = list(found.freed)
        _say(index, found.removed, freed, found.freed_count, reconsider=reconsider)


def reconsider(
    location: io.Location,
    ids: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[ID...]",
            help="Only these, freed or dropped; by default all that are freed.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Decide documents again, as if they came now: all that are freed, or those named.

    One line for each: its id, and what it repeats or that it is kept. A document
    that is kept already is passed over.
    """
    from neardup.readers.batch import show as shown

    with io.opened(location) as index:
        if not ids:
            _decide_again(index, None)
            return
        known = {id: index.get(id) for id in dict.fromkeys(ids)}
        for id, document in known.items():
            if document is None:
                where = index.stats().location
                typer.echo(f"neardup: {where}: there is no document '{shown(id)}'.", err=True)
            elif document.state == "kept":
                typer.echo(f"neardup: note: '{shown(id)}' is kept; passed over.", err=True)
        again = [id for id, found in known.items() if found and found.state != "kept"]
        if again:
            _decide_again(index, again)
    if None in known.values():
        raise typer.Exit(2)


def _say(index: Index, removed: int, freed: list[str], count: int, *, reconsider: bool) -> None:
    from neardup.cli.index import show

    typer.echo(f"{removed:,} removed, {count:,} freed", err=True)
    if reconsider:
        if count:
            # Those that were freed before are left as they are.
            _decide_again(index, freed if count == len(freed) else None)
        return
    for id in freed[:_LISTED]:
        typer.echo(f"{show.plain(id)} freed")
    if count > _LISTED:
        typer.echo(f"neardup: note: and {count - _LISTED:,} more are freed.", err=True)
    if count:
        typer.echo("neardup: note: `neardup index reconsider` decides them again.", err=True)


def _decide_again(index: Index, ids: list[str] | None) -> None:
    from neardup.cli.index import show

    with io.stopped_with("What was decided so far stays; `neardup index reconsider` goes on."):
        decided: list[tuple[str, Match | None]] = index.reconsider(ids or None)
    for id, match in decided:
        words = "kept" if match is None else show.match_words(match)
        typer.echo(f"{show.plain(id)} {words}")
    kept = sum(match is None for _, match in decided)
    again = len(decided) - kept
    typer.echo(f"{len(decided):,} decided again: {kept:,} kept, {again:,} dropped", err=True)
