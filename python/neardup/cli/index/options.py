"""Options of several commands of an index, and how it is opened."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

from neardup.base.interrupt import Interrupted
from neardup.base.messages import Message
from neardup.cli import flags
from neardup.cli.terminal import tell_note

if TYPE_CHECKING:
    from neardup.index import Index

Location = Annotated[
    str,
    flags.Argument(
        metavar="LOCATION",
        help="The index: a file, or postgresql://USER@HOST/DATABASE?schema=NAME.",
        show_default=False,
    ),
]
Json = Annotated[
    bool,
    flags.Option("--json", help="Print as JSON, one object per line.", rich_help_panel="Output"),
]
Reconsider = Annotated[
    bool,
    flags.Option(
        "--reconsider",
        help="Decide again the documents that were dropped for the removed ones.",
        rich_help_panel="Run",
    ),
]


def is_missing(location: str) -> bool:
    """Return whether the location is the name of a file that does not exist."""
    return "://" not in location and not os.path.lexists(location)


def opened(
    location: str, *, workers: int = 0, quiet: bool = False, may_make: bool = False
) -> Index:
    """Open an index; with `may_make`, make one where there is none, and say so.

    A file that exists and is no index is never turned into one.
    """
    from neardup import Index
    from neardup.index.schema import SCHEMA

    makes = may_make and ("://" in location or is_missing(location))
    index = Index(location, must_exist=None if makes else True, workers=workers)
    if not quiet:
        database = index._engine.database
        if index._engine.is_new:
            recipe = index._engine.settings.recipe.name
            tell_note(Message("cli.made_index", index=database.location, recipe=recipe))

        def say_once() -> None:
            database.on_wait = None
            tell_note(Message("cli.waiting_for_writer"))

        database.on_wait = say_once
        if database.upgraded_from is not None:
            before = database.upgraded_from
            tell_note(
                Message("cli.upgraded", index=database.location, before=before, schema=SCHEMA)
            )
    return index


def moment(text: str, name: str) -> datetime:
    """Return a time that the user wrote; a note says so if it has no zone."""
    from neardup.index.values import check_time, lacks_zone

    time = check_time(text, name)
    if lacks_zone(text):
        tell_note(Message("cli.time_is_utc", time=text))
    return time


def check_outputs(index: Index, *paths: str | None) -> None:
    """Raise if a file of the index would be overwritten."""
    index._engine.database.refuse_outputs(paths)


@contextmanager
def stopped_with(said: Message) -> Iterator[None]:
    """Say `said` where an interrupt comes between transactions that stay."""
    try:
        yield
    except KeyboardInterrupt:
        raise Interrupted(said) from None
