"""Documents out of an index, and decisions made again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from neardup.base.messages import Message
from neardup.cli import flags
from neardup.cli.index import options as io
from neardup.cli.outcome import end_with_problems
from neardup.cli.terminal import say, tell, tell_note

if TYPE_CHECKING:
    from neardup.index import Index, Match, Removed

_LISTED = 20


def remove(
    location: io.Location,
    ids: Annotated[
        list[str],
        flags.Argument(metavar="ID...", help="Ids of the documents.", show_default=False),
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
        with io.stopped_with(Message("cli.removed_so_far")):
            for id in ids:
                try:
                    found = index.remove(id)
                except InputError as error:
                    tell(error)
                    missing = True
                    continue
                removed += found.removed
                freed += found.freed
        # One of those freed may have been removed after it.
        freed = [id for id in freed if id in index]
        _say(index, removed, freed, len(freed), reconsider=reconsider)
    if missing:
        end_with_problems()


def keep(
    location: io.Location,
    ids: Annotated[
        list[str],
        flags.Argument(metavar="ID...", help="Ids of the documents.", show_default=False),
    ],
) -> None:
    """Keep dropped documents, even if they repeat others.

    Undoes their removal. From now on others may be dropped for them.
    """
    from neardup.exceptions import InputError

    failed = False
    with io.opened(location) as index, io.stopped_with(Message("cli.kept_so_far")):
        for id in ids:
            try:
                index.keep(id)
            except InputError as error:
                tell(error)
                failed = True
    if failed:
        end_with_problems()


def expire(
    location: io.Location,
    before: Annotated[
        str | None,
        flags.Option(
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
        flags.Option(
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
        raise ParameterError(Message("cli.before_or_older"))
    until = None if before is None else io.moment(before, "before")
    again = Message("cli.expired_so_far")
    with io.opened(location) as index:
        with io.stopped_with(again):
            found: Removed = index.expire(before=until, older_than=older_than)
        freed = list(found.freed)
        _say(index, found.removed, freed, found.freed_count, reconsider=reconsider)


def reconsider(
    location: io.Location,
    ids: Annotated[
        list[str] | None,
        flags.Argument(
            metavar="[ID...]",
            help="Only these documents, freed or dropped; by default all freed ones.",
            show_default=False,
        ),
    ] = None,
    dropped: Annotated[
        bool,
        flags.Option(
            "--dropped",
            help="All dropped documents too, after a recount for example.",
            rich_help_panel="Run",
        ),
    ] = False,
) -> None:
    """Decide documents again, as if they came now: the freed ones, or those named.

    One line for each: its id, and what it repeats or that it is kept. A document
    that is kept already is passed over.
    """
    from neardup.exceptions import ParameterError
    from neardup.index.store.rows import unknown_document
    from neardup.readers.batch import show as shown

    if ids and dropped:
        raise ParameterError(Message("cli.ids_with_dropped"))
    with io.opened(location) as index:
        if not ids:
            _decide_again(index, None, dropped=dropped)
            return
        known = {id: index.get(id) for id in dict.fromkeys(ids)}
        for id, document in known.items():
            if document is None:
                tell(unknown_document(index.stats().location, id))
            elif document.state == "kept":
                tell_note(Message("cli.is_kept", id=shown(id)))
        again = [id for id, found in known.items() if found and found.state != "kept"]
        if again:
            _decide_again(index, again)
    if None in known.values():
        end_with_problems()


def _say(index: Index, removed: int, freed: list[str], count: int, *, reconsider: bool) -> None:
    from neardup.cli.index import show

    typer.echo(say(Message("cli.removed_and_freed", removed=removed, freed=count)), err=True)
    if reconsider:
        if count:
            # Those that were freed before are left as they are.
            _decide_again(index, freed if count == len(freed) else None)
        return
    for id in freed[:_LISTED]:
        typer.echo(f"{show.plain(id)} freed")
    if count > _LISTED:
        tell_note(Message("cli.more_freed", more=count - _LISTED))
    if count:
        tell_note(Message("cli.reconsider_decides"))


def _decide_again(index: Index, ids: list[str] | None, *, dropped: bool = False) -> None:
    from neardup.cli.index import show

    with io.stopped_with(Message("cli.decided_so_far")):
        decided: list[tuple[str, Match | None]] = index.reconsider(ids or None, dropped=dropped)
    for id, match in decided:
        words = "kept" if match is None else show.match_words(match)
        typer.echo(f"{show.plain(id)} {words}")
    kept = sum(match is None for _, match in decided)
    again = len(decided) - kept
    said = Message("cli.decided_again", decided=len(decided), kept=kept, dropped=again)
    typer.echo(say(said), err=True)
