"""Questions to an index that change nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, TypeVar

from neardup._engine.messages import Message
from neardup.index.adding import sketched
from neardup.index.coming import alone
from neardup.index.results import Cluster, Document, Event, Explanation, Match, Stats
from neardup.index.rows import damaged, extra_of, is_stamp, sound_event
from neardup.index.schema import KEPT, STATES
from neardup.index.store import Session, match_of, moment, stamp
from neardup.index.values import earlier

if TYPE_CHECKING:
    from sqlalchemy import RowMapping

    from neardup.index.engine import Engine

T = TypeVar("T")

__all__ = ["clusters", "documents", "explain", "get_many", "query", "stats"]


def query(
    engine: Engine, text: str, k: int, *, title: str | None, at: datetime, within: timedelta | None
) -> list[Match]:
    """Return the kept documents that a text repeats, the most similar first."""
    coming = alone(engine, text, title, at)
    corpus = sketched(engine, coming)
    with engine.reading() as session:
        decider = engine.decider(session)
        not_before = None if within is None else earlier(stamp(at), within)
        among = decider.among(session, corpus, not_before=not_before)
        found = among.keeper.similar(corpus, 0)
    measure = engine.rule.measure
    return [
        Match(among.stored[document - 1]["id"], similarity, measure, distance, identical)
        for document, similarity, distance, identical in found[:k]
    ]


def get_many(engine: Engine, ids: Sequence[str], *, texts: bool) -> dict[str, Document]:
    """Return those documents that are there, by id."""
    with engine.reading() as session:
        rows = list(session.by_ids(ids).values())
        found = _documents(engine, session, rows, texts=texts)
    by_id = {one.id: one for one in found}
    return {id: by_id[id] for id in ids if id in by_id}


def _documents(
    engine: Engine, session: Session, rows: Sequence[RowMapping], *, texts: bool = True
) -> list[Document]:
    """Return rows as documents; texts are fetched where the rows have none, and wanted."""
    repeats = session.matches(rows, engine.rule.measure)
    documents = []
    for row in rows:
        text = None
        if "text" in row:
            if row["text"] is not None:
                text = session.unpacked(row["text"], row["number"])
        elif texts:
            text = session.text(row["number"])
        documents.append(
            Document(
                id=row["id"],
                text=text,
                title=row["title"],
                source=row["source"],
                at=moment(row["at"]),
                extra=extra_of(row, session.location),
                state=STATES[row["state"]],
                repeats=repeats[row["number"]],
            )
        )
    return documents


def explain(engine: Engine, id: str) -> Explanation | None:
    """Return why a document is kept or dropped, None if it was never there."""
    with engine.reading() as session:
        row = session.by_ids([id]).get(id)
        events = [event_of(event, session.location) for event in session.events_of(id)]
        if row is None and not events:
            return None
        dropped: tuple[tuple[str, Match], ...] = ()
        if row is not None:
            dropped = _dropped(engine, session, [row]).get(row["number"], ())
        return Explanation(
            document=None if row is None else _documents(engine, session, [row])[0],
            measure=engine.rule.measure,
            threshold=engine.rule.threshold,
            dropped=dropped,
            events=tuple(events),
        )


def event_of(row: RowMapping, location: str) -> Event:
    """Return a stored event."""
    row, details = sound_event(row, location)
    return Event(moment(row["at"]), row["action"], row["id"], details)


def _dropped(
    engine: Engine, session: Session, kept: Sequence[RowMapping]
) -> dict[int, tuple[tuple[str, Match], ...]]:
    """Return those that were dropped for kept documents, by their numbers."""
    ids = {row["number"]: row["id"] for row in kept}
    found: dict[int, list[tuple[str, Match]]] = {number: [] for number in ids}
    for row in session.dropped_for(list(ids)):
        match = match_of(row, ids[row["kept_number"]], engine.rule.measure)
        found[row["kept_number"]].append((row["id"], match))
    return {number: tuple(dropped) for number, dropped in found.items()}


def clusters(engine: Engine, *, search: str | None = None, after: int = 0) -> Iterator[Cluster]:
    """Give the kept documents for which others were dropped, in the order of decisions."""

    def read(session: Session, rows: Sequence[RowMapping]) -> list[Cluster]:
        dropped = _dropped(engine, session, rows)
        return [Cluster(row["id"], dropped[row["number"]], row["number"]) for row in rows]

    return _paged(engine, read, after=after, state=KEPT, clusters_only=True, search=search)


def documents(engine: Engine, *, state: int | None = None) -> Iterator[Document]:
    """Give documents in the order of decisions."""

    def read(session: Session, rows: Sequence[RowMapping]) -> list[Document]:
        return _documents(engine, session, rows)

    return _paged(engine, read, state=state, with_texts=True)


def _paged(
    engine: Engine,
    read: Callable[[Session, Sequence[RowMapping]], list[T]],
    *,
    after: int = 0,
    **which: Any,
) -> Iterator[T]:
    """Give what is read page by page, each as the index is at that moment."""
    while True:
        with engine.reading() as session:
            rows = session.page(after, **which)
            found = read(session, rows)
        if not rows:
            return
        after = rows[-1]["number"]
        yield from found


def stats(engine: Engine) -> Stats:
    """Return sizes and settings."""
    settings, rule = engine.settings, engine.rule
    with engine.reading() as session:
        counters, meta = session.counters(), session.meta()
        first, last = session.arrivals()
        for at in (first, last):
            if at is not None and not is_stamp(at):
                row, must = Message("index.row_some_document"), Message("index.stamp")
                raise damaged(engine.location, row, "at", must, at)
        created = _created(meta, engine.location)
        background = engine.decider(session, counters["background"]).background
    kept, dropped, freed = (counters[name] for name in STATES)
    return Stats(
        location=engine.location,
        documents=kept + dropped + freed,
        kept=kept,
        dropped=dropped,
        freed=freed,
        bytes=engine.database.size(),
        recipe_id=settings.recipe.id,
        measure=rule.measure,
        threshold=rule.threshold,
        max_distance=rule.max_distance,
        store=settings.store,
        scheme=rule.scheme,
        background=settings.background,
        background_texts=0 if background is None else background.counts()[0],
        first=None if first is None else moment(first),
        last=None if last is None else moment(last),
        created=created,
    )


def _created(meta: dict[str, str], location: str) -> datetime:
    found = meta.get("created")
    try:
        return datetime.fromisoformat(str(found))
    except ValueError as error:
        row, must = Message("index.row_created"), Message("index.stored_time")
        raise damaged(location, row, "value", must, found) from error
