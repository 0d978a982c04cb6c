"""Removals as an editor reviews them: listed, confirmed, and undone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from numbers import Real
from typing import Any

from sqlalchemy import RowMapping

from neardup.base.messages import Message
from neardup.base.validation import bad, check_choice, check_string
from neardup.exceptions import InputError
from neardup.index.engine import Engine
from neardup.index.query import as_documents
from neardup.index.results import Event, Removal, RemovalFilter
from neardup.index.retention import decide_again, keep_in
from neardup.index.store.session import Session
from neardup.index.values import DROPPED, check_time, stamp
from neardup.readers.batch import show

#: Values of `RemovalFilter.order`.
ORDERS = ("doubt", "newest", "cluster")

#: Actions of a person, each of which can be undone.
BY_HAND = ("kept", "confirmed", "undone")

#: Removals that are read together, and the most places that a query returns.
_TOGETHER, _MOST_PLACES = 50, 50_000


def removals(engine: Engine, wanted: RemovalFilter | None, after: str) -> Iterator[Removal]:
    """Return the removals of a filter; each part of them is a snapshot of its own."""
    return _pages(engine, _checked(wanted), _place(after))


def _checked(wanted: RemovalFilter | None) -> RemovalFilter:
    """Return a filter, by default one that lets everything pass."""
    if wanted is None:
        return RemovalFilter()
    if not isinstance(wanted, RemovalFilter):
        raise bad("wanted", "a RemovalFilter or None", wanted)
    check_choice(wanted.order, "order", ORDERS)
    for name in ("search", "source"):
        check_string(getattr(wanted, name), name)
    for name in ("min_similarity", "max_similarity"):
        value: Any = getattr(wanted, name)
        is_number = isinstance(value, Real) and not isinstance(value, bool)
        if not is_number or not 0 <= value <= 1:
            raise bad(name, "a number from 0 to 1", value)
    if wanted.confirmed is not None and not isinstance(wanted.confirmed, bool):
        raise bad("confirmed", "True, False or None", wanted.confirmed)
    _bounds(wanted)
    return wanted


def _pages(
    engine: Engine, wanted: RemovalFilter, place: tuple[float, int] | None
) -> Iterator[Removal]:
    words = wanted.search.casefold().split()
    limit = _TOGETHER
    while True:
        with engine.reading() as session:
            places = session.pages.removal_places(place, limit, **_bounds(wanted))
        for begin in range(0, len(places), _TOGETHER):
            with engine.reading() as session:
                part = list(_read(engine, session, places[begin : begin + _TOGETHER], words))
            yield from part
        if len(places) < limit:
            return
        # Each query for places sorts all of them, so a reader of many needs few queries.
        place, limit = places[-1], min(4 * limit, _MOST_PLACES)


def count_removals(engine: Engine, wanted: RemovalFilter | None) -> int:
    """Return the number of removals of a filter, whatever its `search` is."""
    with engine.reading() as session:
        return session.pages.count_removals(**_bounds(_checked(wanted)))


def decisions(engine: Engine, before: int | None) -> Iterator[Event]:
    """Yield what people decided, the latest first."""
    while True:
        with engine.reading() as session:
            events = session.events.latest(BY_HAND, before)
        if not events:
            return
        before = events[-1].number
        yield from events


def confirm(engine: Engine, id: str, details: dict[str, str]) -> None:
    """Log that a removal is right."""
    with engine.writing() as session:
        _confirm(session, id, details)


def _confirm(session: Session, id: str, details: dict[str, str]) -> None:
    if session.documents.existing(id)["state"] != DROPPED:
        raise InputError(
            Message(
                "{location}: the document '{id}' is not dropped, so there is nothing to confirm.",
                location=session.location,
                id=show(id),
            )
        )
    session.events.log("confirmed", [(None, id, details)])


def undo(engine: Engine, id: str, by: dict[str, str], event: int | None) -> None:
    """Undo what a person decided last about a document; an undone decision is made again."""
    # One transaction: between two, another editor may decide.
    with engine.writing() as session:
        events = session.events.of(id)
        last = events[-1] if events else None
        if last is None or last.action not in BY_HAND or event not in (None, last.number):
            raise InputError(
                Message(
                    "{location}: there is no decision about the document '{id}' that can be "
                    "undone.",
                    location=engine.location,
                    id=show(id),
                )
            )
        again = last.details.get("what") if last.action == "undone" else None
        details = {"what": last.action, **by}
        if again == "kept":
            keep_in(engine, session, id, by)
        elif again == "confirmed":
            _confirm(session, id, by)
        elif last.action == "kept":
            decide_again(engine, session, id, details)
        else:
            session.events.log("undone", [(None, id, details)])


def _bounds(wanted: RemovalFilter) -> dict[str, Any]:
    return {
        "order": wanted.order,
        "source": wanted.source,
        "since": _stamp(wanted.since, "since"),
        "until": _stamp(wanted.until, "until"),
        "similarity": (float(wanted.min_similarity), float(wanted.max_similarity)),
        "confirmed": wanted.confirmed,
    }


def _stamp(time: datetime | str | None, name: str) -> int | None:
    return None if time is None else stamp(check_time(time, name))


def _place(after: str) -> tuple[float, int] | None:
    """Return the place of `Removal.position`: the value that rows are ordered by, and a number."""
    if not after:
        return None
    value, _, number = after.partition(":")
    try:
        return float(value), int(number)
    except ValueError:
        raise bad("after", "the 'position' of a removal", after) from None


def _read(
    engine: Engine, session: Session, places: Sequence[tuple[float, int]], words: Sequence[str]
) -> Iterator[Removal]:
    """Yield the removals with some places that have all words."""
    found = session.pages.by_numbers([number for _, number in places])
    rows = [found[number] for _, number in places if number in found]
    rows = [
        row
        for row in rows
        # Another process may have decided it meanwhile.
        if row["state"] == DROPPED and (not words or _has_words(session, row, words))
    ]
    kept_rows = session.pages.by_numbers({row["kept_number"] for row in rows}).values()
    kept = {
        document.id: document
        for document in as_documents(engine, session, list(kept_rows), texts=True)
    }
    values = {number: value for value, number in places}
    for row, document in zip(rows, as_documents(engine, session, rows, texts=True), strict=True):
        assert document.repeats is not None, "a dropped document repeats another"
        number, confirmed = row["number"], row["last_action"] == "confirmed"
        position = f"{values[number]!r}:{number}"
        yield Removal(document, kept[document.repeats.id], confirmed, position)


def _has_words(session: Session, row: RowMapping, words: Sequence[str]) -> bool:
    parts = (row["id"], row["title"], row["source"], session.texts.of(row))
    text = "\n".join(part for part in parts if part).casefold()
    return all(word in text for word in words)
