"""Upkeep of an index: counting again, giving space back, looking for damage."""

from __future__ import annotations

from typing import Annotated

from neardup.base.messages import Message
from neardup.cli.index import common
from neardup.cli.options import Quiet
from neardup.cli.terminal import say, tell, tell_line
from neardup.options import options as o


def recount(*, location: common.Location, workers: o.Workers) -> None:
    """Count anew what the newest documents have in common.

    Decisions from now on are made by it. The index does so by itself as it grows.

    Examples:
        neardup index recount news.db
    """
    with common.opened(location, workers=workers) as index:
        counted = index.recount()
        background = index.stats().background
    if background == "own":
        tell_line(
            say(Message.counted("{count:,} text counted", "{count:,} texts counted", count=counted))
        )
    elif background == "given":
        tell_line(
            say(Message("nothing counted: the statistics were given when the index was created"))
        )
    else:
        tell_line(say(Message("nothing counted: the rule does not use statistics")))


def compact(*, location: common.Location) -> None:
    """Give the space of removed documents back.

    Examples:
        neardup index compact news.db
    """
    with common.opened(location) as index:
        before = index.stats().bytes
        index.compact()
        after = index.stats().bytes
    sizes = Message(
        "{before:,.1f} MB before, {after:,.1f} MB now", before=before / 1e6, after=after / 1e6
    )
    tell_line(say(sizes))


def backup(
    *, location: common.Location, copy: Annotated[str, o.Argument("A new file.", metavar="COPY")]
) -> None:
    """Copy an index in SQLite to a new file, while others use it.

    The copy is complete, and an index itself. For PostgreSQL use pg_dump.

    Examples:
        neardup index backup news.db news-2025-03-09.db
    """
    with common.opened(location) as index:
        index.backup(copy)
    tell_line(say(Message("copied {index} to {copy}", index=location, copy=copy)))


def check(
    *,
    location: common.Location,
    full: o.Full,
    workers: o.Workers,
    quiet: Quiet,
) -> None:
    """Print what is damaged, a line each; exit with 2 if anything is.

    Compares counters, and rows, texts, sketches and keys of a sample; in SQLite also all pages.

    Examples:
        neardup index check news.db
        neardup index check news.db --full
    """
    from neardup.cli.watch import Watch

    with common.opened(location, workers=workers) as index, Watch(quiet=quiet) as watch:
        damage = index.check(full=full, progress=watch)
    for line in damage:
        print(common.plain(say(line)))
    if damage:
        tell(
            Message.counted(
                "{count:,} line of damage. Restore a backup, or copy what can be read "
                "into a new index: neardup index rebuild {index} NEW",
                "{count:,} lines of damage. Restore a backup, or copy what can be "
                "read into a new index: neardup index rebuild {index} NEW",
                count=len(damage),
                index=common.plain(location),
            )
        )
        raise SystemExit(2)
    tell_line(say(Message("no damage found")))


def rebuild(
    *,
    location: common.Location,
    new: Annotated[str, o.Argument("A location without an index.", metavar="NEW")],
    workers: o.Workers,
    quiet: Quiet,
) -> None:
    """Copy what can be read of a damaged index into a new one.

    Sketches, keys and counters are made again from the texts. Prints a line for each loss; exits
    with 2 if there is any. The damaged index is not changed.

    Examples:
        neardup index rebuild news.db rescued.db
    """
    from neardup.cli.watch import Watch

    with common.opened(location, workers=workers) as index, Watch(quiet=quiet) as watch:
        lost = index.rebuild(new, progress=watch)
    for line in lost:
        print(common.plain(say(line)))
    with common.opened(new) as index:
        tell(Message("documents in the new index: {documents:,}", documents=len(index)))
    if lost:
        raise SystemExit(2)
