"""Documents out of an index, and decisions made again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from neardup.base.messages import Message
from neardup.cli.index import common
from neardup.cli.terminal import end_with_problems, say, tell, tell_line, tell_note
from neardup.options import options as o

if TYPE_CHECKING:
    from neardup.index import Index, Match, Removed

_LISTED = 20


def remove(
    *,
    location: common.Location,
    ids: Annotated[list[str], o.Argument("Ids of the documents.", metavar="ID...")],
    reconsider: common.Reconsider,
) -> None:
    """Remove documents by their ids.

    Those that were dropped for one of them are freed: they stay out until they
    are decided again.

    Examples:
        neardup index remove news.db bridge ferry
        neardup index remove news.db bridge --reconsider
    """
    from neardup.exceptions import InputError

    missing = False
    freed: list[str] = []
    with common.opened(location) as index:
        removed = 0
        with common.stopped_with(Message("The documents that were removed so far stay removed.")):
            for id in ids:
                try:
                    change = index.remove(id)
                except InputError as error:
                    tell(error)
                    missing = True
                    continue
                removed += change.removed
                freed += change.freed
        # One of those freed may have been removed after it.
        freed = [id for id in freed if id in index]
        _say(index, removed, freed, len(freed), reconsider=reconsider)
    if missing:
        end_with_problems()


def keep(
    *,
    location: common.Location,
    ids: Annotated[list[str], o.Argument("Ids of the documents.", metavar="ID...")],
) -> None:
    """Keep dropped documents, even if they repeat others.

    Undoes their removal. From now on others may be dropped for them.

    Examples:
        neardup index keep news.db bridge-repost
    """
    from neardup.exceptions import InputError

    failed = False
    with (
        common.opened(location) as index,
        common.stopped_with(Message("The documents kept so far stay kept.")),
    ):
        for id in ids:
            try:
                index.keep(id)
            except InputError as error:
                tell(error)
                failed = True
    if failed:
        end_with_problems()


def expire(
    *,
    location: common.Location,
    before: Annotated[
        str | None,
        o.Option(
            "Remove what arrived before this moment, exclusive: 2024-03-09 or "
            "2024-03-09T08:00:00+08:00.",
            metavar="TIME",
        ),
    ],
    older_than: Annotated[
        str | None, o.Option("The same as a span before now, such as 90d.", metavar="SPAN")
    ],
    reconsider: common.Reconsider,
) -> None:
    """Remove the documents that arrived before a moment.

    Examples:
        neardup index expire news.db --older-than 90d
        neardup index expire news.db --before 2024-03-01 --reconsider
    """
    from neardup.exceptions import ParameterError

    if (before is None) == (older_than is None):
        raise ParameterError(Message("Give either --before or --older-than."))
    until = None if before is None else common.moment(before, "before")
    again = Message(
        "The expired documents that were found so far are removed; the same command continues."
    )
    with common.opened(location) as index:
        with common.stopped_with(again):
            expired: Removed = index.expire(before=until, older_than=older_than)
        freed = list(expired.freed)
        _say(index, expired.removed, freed, expired.freed_count, reconsider=reconsider)


def reconsider(
    *,
    location: common.Location,
    ids: Annotated[
        list[str] | None,
        o.Argument(
            "Only these documents, freed or dropped; by default all freed ones.", metavar="[ID...]"
        ),
    ],
    dropped: Annotated[bool, o.Option("All dropped documents too, after a recount for example.")],
) -> None:
    """Decide documents again, as if they came now: the freed ones, or those named.

    One line for each: its id, and what it repeats or that it is kept. A document
    that is kept already is passed over.

    Examples:
        neardup index reconsider news.db
        neardup index reconsider news.db bridge-repost
        neardup index reconsider news.db --dropped
    """
    from neardup.exceptions import ParameterError
    from neardup.readers.batch import show as shown

    if ids and dropped:
        raise ParameterError(
            Message("The option --dropped takes all dropped documents. Leave the ids out.")
        )
    with common.opened(location) as index:
        # Needs what an index needs, so it is imported once there is one.
        from neardup.index.store.rows import unknown_document

        if not ids:
            _decide_again(index, None, dropped=dropped)
            return
        known = {id: index.get(id) for id in dict.fromkeys(ids)}
        for id, document in known.items():
            if document is None:
                tell(unknown_document(index.stats().location, id))
            elif document.state == "kept":
                tell_note(Message("'{id}' is already kept; skipped.", id=shown(id)))
        again = [id for id, document in known.items() if document and document.state != "kept"]
        if again:
            _decide_again(index, again)
    if None in known.values():
        end_with_problems()


def _say(index: Index, removed: int, freed: list[str], count: int, *, reconsider: bool) -> None:
    tell_line(say(Message("{removed:,} removed, {freed:,} freed", removed=removed, freed=count)))
    if reconsider:
        if count:
            # Those that were freed before are left as they are.
            _decide_again(index, freed if count == len(freed) else None)
        return
    for id in freed[:_LISTED]:
        print(say(Message("{id} freed", id=common.plain(id))))
    if count > _LISTED:
        tell_note(Message("and {more:,} more are freed.", more=count - _LISTED))
    if count:
        tell_note(Message("`neardup index reconsider` decides them again."))


def _decide_again(index: Index, ids: list[str] | None, *, dropped: bool = False) -> None:
    with common.stopped_with(
        Message("The decisions made so far stay; `neardup index reconsider` continues.")
    ):
        decided: list[tuple[str, Match | None]] = index.reconsider(ids or None, dropped=dropped)
    for id, match in decided:
        words = Message("kept") if match is None else common.match_words(match)
        print(f"{common.plain(id)} {say(words)}")
    kept = sum(match is None for _, match in decided)
    again = len(decided) - kept
    counts = Message(
        "{decided:,} decided again: {kept:,} kept, {dropped:,} dropped",
        decided=len(decided),
        kept=kept,
        dropped=again,
    )
    tell_line(say(counts))
