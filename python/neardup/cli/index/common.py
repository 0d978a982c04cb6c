"""Opening an index, and printing its answers, for all commands of an index."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

from neardup.base.files import printable
from neardup.base.interrupt import CommandInterrupt
from neardup.base.messages import N_, Message
from neardup.cli.terminal import describe_rule, print_note
from neardup.options import options as o
from neardup.recipe.measures import measure_words

if TYPE_CHECKING:
    from neardup.index import Document, Event, Index, Match, Stats

Location = Annotated[
    str,
    o.Argument(
        "The index: a file, or postgresql://USER@HOST/DATABASE?schema=NAME.", metavar="LOCATION"
    ),
]
Json = Annotated[bool, o.Option("Print as JSON, one object per line.", o.OUTPUT)]


def is_missing(location: str) -> bool:
    """Return whether the location is the name of a file that does not exist, or is empty.

    A kill during the creation of an index leaves an empty file.
    """
    if "://" in location:
        return False
    return not os.path.lexists(location) or (
        os.path.isfile(location) and os.path.getsize(location) == 0
    )


def open_for_command(
    location: str, *, workers: int = 0, quiet: bool = False, may_make: bool = False
) -> Index:
    """Open an index; with `may_make`, make one where there is none, and say so.

    A file that has something else in it is never turned into one.
    """
    from neardup.index import Index

    index = Index(location, must_exist=None if may_make else True, workers=workers)
    if not quiet:
        database = index._engine.database
        if index._engine.is_new:
            recipe = index._engine.settings.recipe.name
            print_note(
                Message(
                    "created the index {index} with the recipe {recipe}. For other "
                    "settings, use `neardup index create`.",
                    index=database.location,
                    recipe=recipe,
                )
            )

        def say_once() -> None:
            database.on_wait = None
            print_note(Message("waiting for another writer."))

        database.on_wait = say_once
    return index


def parse_moment(text: str, name: str) -> datetime:
    """Return a time that the user wrote; a note says so if it has no zone."""
    from neardup.index.values import check_time, lacks_zone

    time = check_time(text, name)
    if lacks_zone(text):
        print_note(
            Message(
                "'{time}' has no zone and is read as UTC. To set it, write for "
                "example +08:00 after the time.",
                time=text,
            )
        )
    return time


@contextmanager
def stopped_with(message: Message) -> Iterator[None]:
    """Say `said` where an interrupt comes between transactions that stay."""
    try:
        yield
    except KeyboardInterrupt:
        raise CommandInterrupt(message) from None


#: What happens to documents.
_ACTIONS = {
    "removed": N_("removed"),
    "replaced": N_("replaced"),
    "expired": N_("expired"),
    "kept": N_("kept by a person"),
    "confirmed": N_("removal confirmed by a person"),
    "undone": N_("decision undone by a person"),
    "recounted": N_("recounted"),
}

#: Characters of a text that are shown.
_SHOWN = 60


def print_json(answer: Any) -> None:
    """Print a result as one line."""
    table = answer if isinstance(answer, dict) else dataclasses.asdict(answer)
    print(json.dumps(table, ensure_ascii=False, default=datetime.isoformat))


def format_line(text: str) -> str:
    """Return a text on one line that no terminal takes for commands."""
    return printable(" ".join(text.split()))


def cut_beginning(document: Document | None) -> str:
    """Return title or text of a document, cut."""
    if document is None:
        return ""
    line = format_line(document.title or (document.text or "")[: 4 * _SHOWN])
    return line if len(line) <= _SHOWN else line[: _SHOWN - 1] + "…"


def describe_match(match: Match) -> Message:
    """Return what a document repeats and how surely, as words."""
    kept = format_line(match.id)
    if match.identical:
        return Message("repeats {id}: the same text", id=kept)
    similarity = Message(
        "{measure} {similarity:.4f}",
        measure=measure_words(match.measure),
        similarity=match.similarity,
    )
    if match.distance is not None:
        similarity = add_distance(similarity, match.distance)
    return Message("repeats {id}: {similarity}", id=kept, similarity=similarity)


def format_similarity(match: Match) -> str:
    """Return how similar two documents are, in a column."""
    return Message("same text") if match.identical else f"{match.similarity:.4f}"


def add_distance(similarity: str, distance: int) -> Message:
    """Return a similarity with the distance of the fingerprints."""
    return Message("{similarity}, distance {distance}", similarity=similarity, distance=distance)


def describe_event(event: Event) -> Message:
    """Return an event and what is known of it."""
    details = event.details
    if event.action == "reconsidered":
        return Message(
            "{reason}: {decision}",
            reason=_describe_reason(details),
            decision=_describe_decision(details),
        )
    if event.action == "renamed":
        return Message("has the id {id} now", id=format_line(details["to"]))
    action = _describe_action(event)
    if "repeats" in details:
        return Message(
            "{action}: it repeats {id}", action=action, id=format_line(details["repeats"])
        )
    return action


def find_decision(events: Sequence[Event]) -> Message | None:
    """Return what a person decided about a document, if that is the last that happened to it."""
    if not events or events[-1].action not in ("kept", "confirmed"):
        return None
    last = events[-1]
    return Message("{action} on {time}", action=_describe_action(last), time=format_time(last.at))


def _describe_action(event: Event) -> Message:
    action, by = Message(_ACTIONS[event.action]), event.details.get("by")
    return Message("{action} ({by})", action=action, by=format_line(by)) if by else action


def _describe_decision(details: dict[str, Any]) -> Message:
    if "repeats" not in details:
        return Message("kept")
    return Message("it repeats {id}", id=format_line(details["repeats"]))


def _describe_reason(details: dict[str, Any]) -> Message:
    """Return why a document was decided again."""
    reasons = {
        "removed": N_("decided again, since {id} was removed"),
        "replaced": N_("decided again, since {id} was replaced"),
        "expired": N_("decided again, since {id} has expired"),
        "undone": N_("decided again, since keeping {id} was undone"),
    }
    if "which" not in details:
        return Message("decided again")
    return Message(reasons[details["which"]], id=format_line(details["repeated"]))


def format_time(time: datetime | None) -> str:
    """Return a time in UTC."""
    return "" if time is None else f"{time:%Y-%m-%d %H:%M:%S} UTC"


def list_stats(stats: Stats) -> list[tuple[str, str]]:
    """Return sizes and settings as names and values."""
    background = Message("none: the rule does not look at it")
    if stats.background_texts is not None:
        background = Message.counted(
            "{count:,} text, counted again as the index grows",
            "{count:,} texts, counted again as the index grows",
            count=stats.background_texts,
        )
    return [
        (Message("index"), stats.location),
        (Message("created"), format_time(stats.created)),
        (Message("documents"), f"{stats.documents:,}"),
        (Message("  kept"), f"{stats.kept:,}"),
        (Message("  dropped"), f"{stats.dropped:,}"),
        (Message("first arrival"), format_time(stats.first)),
        (Message("last arrival"), format_time(stats.last)),
        (Message("size"), f"{stats.bytes / 1e6:,.1f} MB"),
        (Message("recipe"), stats.recipe_id),
        (Message("a duplicate"), describe_rule(stats.measure, stats.threshold, stats.max_distance)),
        (Message("search"), stats.scheme),
        (Message("background"), background),
    ]
