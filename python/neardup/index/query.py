"""The methods of `Index` that only read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar, Unpack

from neardup.base.messages import Message
from neardup.base.validation import bad, check_flag, check_string, check_whole
from neardup.index.results import Cluster, Document, Event, Explanation, Match, Stats
from neardup.index.store.rows import (
    UNLISTED,
    damaged,
    extra_of,
    is_stamp,
    sound_event,
    unknown_document,
)
from neardup.index.values import (
    KEPT,
    STATES,
    check_time,
    earlier,
    moment,
    plain_text,
    stamp,
)
from neardup.options.groups import QueryParameters
from neardup.options.signatures import completed, takes_options
from neardup.recipe.text_inputs import checked_text

if TYPE_CHECKING:
    from sqlalchemy import RowMapping

    from neardup.index.engine import Engine
    from neardup.index.store.session import Session

T = TypeVar("T")

__all__ = ["Query"]


class Query:
    """Methods of :class:`neardup.Index`."""

    _engine: Engine

    @takes_options
    def query(
        self,
        text: str,
        k: int = 10,
        *,
        title: str | None = None,
        at: datetime | str | None = None,
        **options: Unpack[QueryParameters],
    ) -> list[Match]:
        """Return the kept documents that a text repeats; stores nothing.

        Parameters
        ----------
        text : str
        k : int, default=10
            The most documents to return; at least 1.
        title : str or None, default=None
            Used by recipes that weigh titles.
        at : datetime, str or None, default=None
            The end of the `within` window; now by default.
        {options}

        Returns
        -------
        list of Match
            The most similar first; ties in the order of arrival.

        Examples
        --------
        >>> import neardup, tempfile
        >>> folder = tempfile.TemporaryDirectory()
        >>> with neardup.Index(f"{folder.name}/news.db") as index:
        ...     index.add("a1", "The council will open the new bridge on Sunday morning.")
        ...     found = index.query("The council will open the new bridge on Sunday evening.")
        ...     [match.id for match in found]
        ['a1']
        >>> folder.cleanup()
        """
        from neardup.index.ingest.incoming import check_optional, check_text, sketch_text

        engine = self._engine
        check_text(text, "text")
        check_whole(k, "k", 1)
        title = check_optional(title, "title")
        until = datetime.now(UTC) if at is None else check_time(at, "at")
        within = completed(Query.query, options)["within"]
        not_before = None if within is None else earlier(stamp(until), within)
        corpus = sketch_text(engine, text, title)
        with engine.reading() as session:
            context = engine.decider(session).context(session, corpus, not_before=not_before)
            found = context.clusterer.similar(corpus, 0)
        measure = engine.rule.measure
        return [
            Match(context.stored[at - 1]["id"], similarity, measure, distance, identical)
            for at, similarity, distance, identical in found[:k]
        ]

    def get(self, id: str) -> Document | None:
        """Return a stored document; None if there is none with this id.

        Parameters
        ----------
        id : str
        """
        return self.get_many([check_string(id, "id")]).get(id)

    def get_many(self, ids: Sequence[str], *, texts: bool = True) -> dict[str, Document]:
        """Return stored documents by id.

        Parameters
        ----------
        ids : sequence of str
        texts : bool, default=True
            Whether to fetch texts; otherwise `text` is None.

        Returns
        -------
        dict of str to Document
            In the order of `ids`; ids that do not exist are left out.
        """
        if isinstance(ids, str) or not isinstance(ids, Sequence):
            raise bad("ids", "index.list_of_text", ids)
        wanted = [check_string(id, "ids") for id in ids]
        check_flag(texts, "texts")
        with self._engine.reading() as session:
            rows = list(session.by_ids(wanted).values())
            found = _documents(self._engine, session, rows, texts=texts)
        by_id = {one.id: one for one in found}
        return {id: by_id[id] for id in wanted if id in by_id}

    def explain(self, id: str) -> Explanation:
        """Return why a document is kept or dropped, and its later events.

        Parameters
        ----------
        id : str

        Returns
        -------
        Explanation

        Raises
        ------
        InputError
            If the index has neither the document nor events of it.
        """
        engine = self._engine
        check_string(id, "id")
        with engine.reading() as session:
            row = session.by_ids([id]).get(id)
            events = tuple(_event(event, session.location) for event in session.events_of(id))
            if row is None and not events:
                raise unknown_document(engine.location, id)
            rows = [] if row is None else [row]
            documents = _documents(engine, session, rows, texts=True)
            dropped = _dropped(engine, session, rows)
            return Explanation(
                document=documents[0] if documents else None,
                measure=engine.rule.measure,
                threshold=engine.rule.threshold,
                dropped=next(iter(dropped.values()), ()),
                events=events,
            )

    def clusters(self, *, search: str | None = None, after: int = 0) -> Iterator[Cluster]:
        """Yield each kept document for which others were dropped, oldest first.

        Parameters
        ----------
        search : str or None, default=None
            Only clusters in which the id or the title of a document contains this text;
            the case of ASCII letters is ignored.
        after : int, default=0
            Only clusters after the one with this `number`.

        Yields
        ------
        Cluster
            Documents added or removed during the iteration may or may not appear.

        Notes
        -----
        A search reads all documents in the worst case.
        """
        if search is not None:
            search = plain_text(checked_text(check_string(search, "search"), "search"))
        check_whole(after, "after", 0)

        def read(session: Session, rows: Sequence[RowMapping]) -> list[Cluster]:
            dropped = _dropped(self._engine, session, rows)
            return [Cluster(row["id"], dropped[row["number"]], row["number"]) for row in rows]

        wanted = {"state": KEPT, "clusters_only": True, "search": search}
        return _paged(self._engine, read, after=after, **wanted)

    def documents(self, state: str | None = None) -> Iterator[Document]:
        """Yield all documents in the order of arrival.

        Parameters
        ----------
        state : {"kept", "dropped", "freed"} or None, default=None
            Only documents in this state.

        Yields
        ------
        Document
        """
        if state is not None and state not in STATES:
            raise bad("state", "index.choice_or_none", state, choices=", ".join(STATES))
        wanted = None if state is None else STATES.index(state)

        def read(session: Session, rows: Sequence[RowMapping]) -> list[Document]:
            return _documents(self._engine, session, rows, texts=True)

        return _paged(self._engine, read, state=wanted, with_texts=True)

    def stats(self) -> Stats:
        """Return the size and the settings of the index."""
        engine = self._engine
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
            unlisted=counters.get(UNLISTED),
            first=None if first is None else moment(first),
            last=None if last is None else moment(last),
            created=created,
        )

    def __len__(self) -> int:
        """Return the number of documents in any state."""
        with self._engine.reading() as session:
            counters = session.counters()
        return counters["kept"] + counters["dropped"] + counters["freed"]

    def __contains__(self, id: object) -> bool:
        """Return whether the index has a document with this id, in any state."""
        if not isinstance(id, str):
            return False
        with self._engine.reading() as session:
            return bool(session.by_ids([id]))


def _documents(
    engine: Engine, session: Session, rows: Sequence[RowMapping], *, texts: bool
) -> list[Document]:
    repeats = session.matches(rows, engine.rule.measure)
    return [
        Document(
            id=row["id"],
            text=session.text(row) if texts else None,
            title=row["title"],
            source=row["source"],
            at=moment(row["at"]),
            extra=extra_of(row, session.location),
            state=STATES[row["state"]],
            repeats=repeats[row["number"]],
        )
        for row in rows
    ]


def _event(row: RowMapping, location: str) -> Event:
    row, details = sound_event(row, location)
    return Event(moment(row["at"]), row["action"], row["id"], details)


def _dropped(
    engine: Engine, session: Session, kept: Sequence[RowMapping]
) -> dict[int, tuple[tuple[str, Match], ...]]:
    """Return the documents dropped for each of some kept documents, by their numbers."""
    ids = {row["number"]: row["id"] for row in kept}
    found: dict[int, list[tuple[str, Match]]] = {number: [] for number in ids}
    for number, id, match in session.dropped_for(ids, engine.rule.measure):
        found[number].append((id, match))
    return {number: tuple(dropped) for number, dropped in found.items()}


def _paged(
    engine: Engine,
    read: Callable[[Session, Sequence[RowMapping]], list[T]],
    *,
    after: int = 0,
    **which: Any,
) -> Iterator[T]:
    """Yield rows page by page; each page is a snapshot of its own."""
    while True:
        with engine.reading() as session:
            rows = session.page(after, **which)
            found = read(session, rows)
        if not rows:
            return
        after = rows[-1]["number"]
        yield from found


def _created(meta: dict[str, str], location: str) -> datetime:
    found = meta.get("created")
    try:
        return datetime.fromisoformat(str(found))
    except ValueError as error:
        row, must = Message("index.row_created"), Message("index.stored_time")
        raise damaged(location, row, "value", must, found) from error
