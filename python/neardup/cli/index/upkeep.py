"""Upkeep of an index: counting again, giving space back, copies, checks."""

from __future__ import annotations

from typing import Annotated

from neardup.base.messages import Message
from neardup.cli.index import common
from neardup.cli.options import Quiet
from neardup.cli.terminal import print_line, translate
from neardup.cli.watch import Watch
from neardup.options import options as o


def recount(*, location: common.Location, workers: o.Workers) -> None:
    """Count anew what the newest documents have in common.

    Decisions from now on are made by it. The index does so by itself as it grows.

    Examples:
        neardup index recount news.db
    """
    with common.open_for_command(location, workers=workers) as index:
        counted = index.recount()
        uses = index.stats().background_texts is not None
    if uses:
        print_line(
            Message.counted("{count:,} text counted", "{count:,} texts counted", count=counted)
        )
    else:
        print_line(Message("nothing counted: the rule does not use statistics"))


def compact(*, location: common.Location) -> None:
    """Give the space of removed documents back.

    Examples:
        neardup index compact news.db
    """
    with common.open_for_command(location) as index:
        before = index.stats().bytes
        index.compact()
        after = index.stats().bytes
    sizes = Message(
        "{before:,.1f} MB before, {after:,.1f} MB now", before=before / 1e6, after=after / 1e6
    )
    print_line(translate(sizes))


def backup(
    *, location: common.Location, copy: Annotated[str, o.Argument("A new file.", metavar="COPY")]
) -> None:
    """Copy an index in SQLite to a new file, while others use it.

    The copy is complete, and an index itself. For PostgreSQL use pg_dump.

    Examples:
        neardup index backup news.db news-2025-03-09.db
    """
    with common.open_for_command(location) as index:
        index.backup(copy)
    print_line(translate(Message("copied {index} to {copy}", index=location, copy=copy)))


def restore(
    *,
    backup: Annotated[str, o.Argument("A copy of an index in SQLite.", metavar="BACKUP")],
    location: common.Location,
    force: o.Force,
) -> None:
    """Replace an index in SQLite, with its documents and its log, by a backup.

    Writers that still have the old index open are refused from then on.

    Examples:
        neardup index restore news-2025-03-09.db news.db --force
    """
    from neardup.index import restore as put_back

    put_back(backup, location, force=force)
    print_line(translate(Message("restored {index} from {backup}", index=location, backup=backup)))


def check(
    *,
    location: common.Location,
    workers: o.Workers,
    quiet: Quiet,
) -> None:
    """Look for damage; print the first that is found, and exit with 2.

    Compares the counters, and sketches a sample of texts again; in SQLite it also checks all pages.
    If an index is damaged, make a new one from its sources or a backup.

    Examples:
        neardup index check news.db
    """
    with common.open_for_command(location, workers=workers) as index, Watch(quiet=quiet) as watch:
        index.check(progress=watch)
    print_line(translate(Message("no damage found")))
