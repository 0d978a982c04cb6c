"""Removals as an editor reviews them: listed, confirmed, and undone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import RowMapping

from neardup.base.messages import Message
from neardup.base.validation import bad, check_choice
from neardup.exceptions import InputError
from neardup.index.engine import Engine
from neardup.index.query import as_documents, as_events
from neardup.index.results import Event, Removal, RemovalFilter
from neardup.index.retention import decide_again, keep
from neardup.index.store.rows import unknown_document
from neardup.index.store.session import Session
from neardup.index.values import DROPPED, stamp
from neardup.readers.batch import show

#: Values of `RemovalFilter.order`.
ORDERS = ("doubt", "newest", "cluster")

#: Actions of a person, each of which can be undone.
BY_HAND = ("kept", "confirmed", "undone")


def removals(engine: Engine, wanted: RemovalFilter | None, after: str) -> Iterator[Removal]:
    """Return the removals of a filter; each page of rows is a snapshot of its own."""
    return _pages(engine, _checked(wanted), _place(after))


def _checked(wanted: RemovalFilter | None) -> RemovalFilter:
    """Return a filter, by default one that lets everything pass."""
    if wanted is None:
        return RemovalFilter()
    if not isinstance(wanted, RemovalFilter):
        raise bad("wanted", "a RemovalFilter or None", wanted)
    check_choice(wanted.order, "order", ORDERS)
    return wanted


def _pages(
    engine: Engine, wanted: RemovalFilter, place: tuple[float, int] | None
) -> Iterator[Removal]:
    words = wanted.search.casefold().split()
    while True:
        with engine.reading() as session:
            rows = session.removals(place, **_bounds(wanted))
            page = list(_read(engine, session, rows))
        if not rows:
            return
        place = (rows[-1]["place"], rows[-1]["number"])
        yield from (removal for removal in page if not words or _has_words(removal, words))


def count_removals(engine: Engine, wanted: RemovalFilter | None) -> int:
    """Return the number of removals of a filter, whatever its `search` is."""
    with engine.reading() as session:
        return session.count_removals(**_bounds(_checked(wanted)))


def count_arrivals(engine: Engine, since: datetime) -> tuple[int, int]:
    """Return how many documents arrived since a moment, and how many of them are not kept."""
    with engine.reading() as session:
        return session.count_arrivals(stamp(since))


def decisions(engine: Engine, before: int | None) -> Iterator[Event]:
    """Yield what people decided, the latest first."""
    while True:
        with engine.reading() as session:
            events = as_events(session, session.latest_events(BY_HAND, before))
        if not events:
            return
        before = events[-1].number
        yield from events


def confirm(engine: Engine, id: str, by: str | None) -> None:
    """Log that a removal is right."""
    with engine.writing() as session:
        row = session.by_ids([id]).get(id)
        if row is None:
            raise unknown_document(engine.location, id)
        if row["state"] != DROPPED:
            raise InputError(
                Message(
                    "{location}: the document '{id}' is not dropped, so there is nothing to "
                    "confirm.",
                    location=engine.location,
                    id=show(id),
                )
            )
        session.log("confirmed", [(None, id, _by(by))])


def undo(engine: Engine, id: str, by: str | None) -> None:
    """Undo what a person decided last about a document; an undone decision is made again."""
    with engine.reading() as session:
        events = as_events(session, session.events_of(id))
    last = events[-1] if events else None
    if last is None or last.action not in BY_HAND:
        raise InputError(
            Message(
                "{location}: there is no decision about the document '{id}' that can be undone.",
                location=engine.location,
                id=show(id),
            )
        )
    again = last.details.get("what") if last.action == "undone" else None
    details = {"what": last.action, **_by(by)}
    if again == "kept":
        keep(engine, id, by)
    elif again == "confirmed":
        confirm(engine, id, by)
    elif last.action == "kept":
        decide_again(engine, id, details)
    else:
        with engine.writing() as session:
            session.log("undone", [(None, id, details)])


def _by(by: str | None) -> dict[str, str]:
    return {} if by is None else {"by": by}


def _bounds(wanted: RemovalFilter) -> dict[str, Any]:
    return {
        "order": wanted.order,
        "source": wanted.source,
        "since": None if wanted.since is None else stamp(wanted.since),
        "until": None if wanted.until is None else stamp(wanted.until),
        "similarity": (wanted.min_similarity, wanted.max_similarity),
        "confirmed": wanted.confirmed,
    }


def _place(after: str) -> tuple[float, int] | None:
    """Return the place of `Removal.position`: the value that rows are ordered by, and a number."""
    if not after:
        return None
    value, _, number = after.partition(":")
    try:
        return float(value), int(number)
    except ValueError:
        raise bad("after", "the 'position' of a removal", after) from None


def _read(engine: Engine, session: Session, rows: Sequence[RowMapping]) -> Iterator[Removal]:
    documents = as_documents(engine, session, rows, texts=True)
    ids = {document.repeats.id for document in documents if document.repeats is not None}
    kept_rows = list(session.by_ids(sorted(ids)).values())
    kept = {
        document.id: document for document in as_documents(engine, session, kept_rows, texts=True)
    }
    for row, document in zip(rows, documents, strict=True):
        assert document.repeats is not None, "a dropped document repeats another"
        position = f"{row['place']!r}:{row['number']}"
        confirmed = row["last_action"] == "confirmed"
        yield Removal(document, kept[document.repeats.id], confirmed, position)


def _has_words(removal: Removal, words: Sequence[str]) -> bool:
    document = removal.document
    parts = (document.id, document.title, document.source, document.text)
    text = "\n".join(part for part in parts if part).casefold()
    return all(word in text for word in words)
