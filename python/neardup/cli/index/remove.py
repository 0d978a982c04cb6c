"""Documents out of an index, and decisions made again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from neardup.base.messages import Message
from neardup.cli.index import common
from neardup.cli.terminal import end_with_problems, print_line, print_message, print_note, translate
from neardup.exceptions import InputError, ParameterError
from neardup.options import options as o
from neardup.readers.batch import show as shown

if TYPE_CHECKING:
    from neardup.index import Match, RemoveResult


def remove(
    *,
    location: common.Location,
    ids: Annotated[list[str], o.Argument("Ids of the documents.", metavar="ID...")],
) -> None:
    """Remove documents by their ids.

    neardup decides their duplicates again, as if they came now.

    Examples:
        neardup index remove news.db bridge ferry
    """
    missing = False
    decided: dict[str, Match | None] = {}
    with common.open_for_command(location) as index:
        removed = more = 0
        with common.stopped_with(Message("The documents that were removed so far stay removed.")):
            for id in ids:
                try:
                    change = index.remove(id)
                except InputError as error:
                    print_message(error)
                    missing = True
                    continue
                removed += change.removed
                more += change.decided_count - len(change.decided)
                decided.update(change.decided)
                decided.pop(id, None)
    _say(removed, decided, more)
    if missing:
        end_with_problems()


def rename(
    *,
    location: common.Location,
    old: Annotated[str, o.Argument("Id of a document.", metavar="OLD")],
    new: Annotated[str, o.Argument("Its new id, which no document has.", metavar="NEW")],
) -> None:
    """Change the id of a document.

    Its duplicates and its history follow.

    Examples:
        neardup index rename news.db bridge wire/bridge
    """
    with common.open_for_command(location) as index:
        index.rename(old, new)


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
    failed = False
    with (
        common.open_for_command(location) as index,
        common.stopped_with(Message("The documents kept so far stay kept.")),
    ):
        for id in ids:
            try:
                index.keep(id)
            except InputError as error:
                print_message(error)
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
) -> None:
    """Remove the documents that arrived before a moment.

    Later ones that were dropped for one of them are decided again.

    Examples:
        neardup index expire news.db --older-than 90d
        neardup index expire news.db --before 2024-03-01
    """
    if (before is None) == (older_than is None):
        raise ParameterError(Message("Give either --before or --older-than."))
    until = None if before is None else common.parse_moment(before, "before")
    again = Message(
        "The expired documents that were found so far are removed; the same command continues."
    )
    with common.open_for_command(location) as index, common.stopped_with(again):
        expired: RemoveResult = index.expire(before=until, older_than=older_than)
    more = expired.decided_count - len(expired.decided)
    _say(expired.removed, dict(expired.decided), more)


def reconsider(
    *,
    location: common.Location,
    ids: Annotated[
        list[str] | None,
        o.Argument("Only these documents; by default all dropped ones.", metavar="[ID...]"),
    ],
) -> None:
    """Decide dropped documents again, as if they came now, after a recount for example.

    One line for each: its id, and what it repeats or that it is kept. A document
    that is kept already is passed over.

    Examples:
        neardup index reconsider news.db
        neardup index reconsider news.db bridge-repost
    """
    unknown = False
    with common.open_for_command(location) as index:
        # Needs what an index needs, so it is imported once there is one.
        from neardup.index.store.rows import make_unknown_error

        for id in dict.fromkeys(ids or ()):
            document = index.get(id)
            if document is None:
                print_message(make_unknown_error(index.stats().location, id))
                unknown = True
            elif document.state == "kept":
                print_note(Message("'{id}' is already kept; skipped.", id=shown(id)))
        with common.stopped_with(Message("The decisions made so far stay.")):
            decided = index.reconsider(ids or None)
    _say_decided(dict(decided), 0)
    if unknown:
        end_with_problems()


def _say(removed: int, decided: dict[str, Match | None], more: int) -> None:
    """Say how many documents were removed, and what became of those dropped for them."""
    words = Message.counted(
        "{count:,} document removed", "{count:,} documents removed", count=removed
    )
    print_line(words)
    if decided:
        _say_decided(decided, more)


def _say_decided(decided: dict[str, Match | None], more: int) -> None:
    for id, match in decided.items():
        words = Message("kept") if match is None else common.describe_match(match)
        print(f"{common.format_line(id)} {translate(words)}")
    if more:
        print_note(Message("and {more:,} more were decided again.", more=more))
    kept = sum(match is None for match in decided.values())
    again = len(decided) - kept
    counts = Message(
        "{decided:,} decided again: {kept:,} kept, {dropped:,} dropped",
        decided=len(decided),
        kept=kept,
        dropped=again,
    )
    print_line(counts)
