"""Lists for people: pages of documents, clusters and removals, with filters and counts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from numbers import Real
from typing import TYPE_CHECKING, Any, TypeVar

from neardup.base.validation import bad, check_choice, check_string, check_whole
from neardup.index.query import as_documents, find_dropped
from neardup.index.results import Cluster, Document, Removal, RemovalFilter
from neardup.index.values import DROPPED, MAX_NUMBER, STATES, check_time, replace_nul, stamp
from neardup.recipe.text_inputs import checked_text

if TYPE_CHECKING:
    from sqlalchemy import RowMapping

    from neardup.index.engine import Engine
    from neardup.index.store.browsing import Pages
    from neardup.index.store.session import Session

#: Values of `RemovalFilter.order`.
ORDERS = ("doubt", "newest", "cluster")

#: Removals that are read together, and the most places that a query returns.
_TOGETHER, _MOST_PLACES = 50, 50_000

T = TypeVar("T")


class Browsing:
    """The methods of `Index` that list documents; each page of a list is one snapshot."""

    _engine: Engine

    def documents(self, state: str | None = None) -> Iterator[Document]:
        """Yield all documents in the order of arrival.

        Parameters
        ----------
        state : {"kept", "dropped"} or None, default=None
            Only documents in this state.

        Yields
        ------
        Document
        """
        if state is not None:
            check_choice(state, "state", STATES)
        wanted = None if state is None else STATES.index(state)

        def read(session: Session, rows: Sequence[RowMapping]) -> list[Document]:
            return as_documents(self._engine, session, rows, texts=True)

        return self._iterate_pages(lambda pages, after: pages.list_documents(after, wanted), read)

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
            search = replace_nul(checked_text(check_string(search, "search"), "search"))

        def read(session: Session, rows: Sequence[RowMapping]) -> list[Cluster]:
            dropped = find_dropped(self._engine, session, rows)
            return [Cluster(row["id"], dropped[row["number"]], row["number"]) for row in rows]

        after = check_whole(after, "after", 0, MAX_NUMBER)
        return self._iterate_pages(
            lambda pages, after: pages.list_clusters(after, search), read, after
        )

    def _iterate_pages(
        self,
        page: Callable[[Pages, int], Sequence[RowMapping]],
        read: Callable[[Session, Sequence[RowMapping]], list[T]],
        after: int = 0,
    ) -> Iterator[T]:
        while True:
            with self._engine.reading() as session:
                rows = page(session.pages, after)
                items = read(session, rows)
            if not rows:
                return
            after = rows[-1]["number"]
            yield from items

    def removals(
        self, wanted: RemovalFilter | None = None, *, after: str = ""
    ) -> Iterator[Removal]:
        """Yield dropped documents, each with the kept one that it repeats, for review.

        Parameters
        ----------
        wanted : RemovalFilter or None, default=None
            Which of them, and their order; by default all, the least similar first.
        after : str, default=""
            Only those after the one with this `position`.

        Yields
        ------
        Removal
            Documents decided during the iteration may or may not appear.

        Notes
        -----
        Reads all documents in the worst case, and with `search` their texts.

        Examples
        --------
        >>> import neardup, tempfile
        >>> from neardup.index import RemovalFilter
        >>> folder = tempfile.TemporaryDirectory()
        >>> with neardup.Index(f"{folder.name}/news.db") as index:
        ...     for id, end in (("a1", "."), ("a2", "!")):
        ...         _ = index.add(id, f"The council will open the new bridge on Sunday{end}")
        ...     for removal in index.removals():
        ...         removal.document.id, removal.kept.id, removal.confirmed
        ...     index.confirm("a2", by="Li")
        ...     unconfirmed = RemovalFilter(confirmed=False)
        ...     index.count_removals(unconfirmed)
        ...     index.undo("a2", by="Li")
        ...     [(event.action, event.details["by"]) for event in index.decisions()]
        ('a2', 'a1', False)
        0
        [('undone', 'Li'), ('confirmed', 'Li')]
        >>> folder.cleanup()
        """
        wanted, place = _check_filter(wanted), _parse_place(check_string(after, "after"))
        return self._iterate_removals(wanted, place)

    def _iterate_removals(
        self, wanted: RemovalFilter, place: tuple[float, int] | None
    ) -> Iterator[Removal]:
        words = wanted.search.casefold().split()
        limit = _TOGETHER
        while True:
            with self._engine.reading() as session:
                places = session.pages.list_removal_places(place, limit, **_make_bounds(wanted))
            for begin in range(0, len(places), _TOGETHER):
                part = places[begin : begin + _TOGETHER]
                with self._engine.reading() as session:
                    removals = list(_read_removals(self._engine, session, part, words))
                yield from removals
            if len(places) < limit:
                return
            # Each query for places sorts all of them, so a reader of many needs few queries.
            place, limit = places[-1], min(4 * limit, _MOST_PLACES)

    def count_removals(self, wanted: RemovalFilter | None = None) -> int:
        """Return how many removals a filter has, whatever its `search` is.

        Parameters
        ----------
        wanted : RemovalFilter or None, default=None

        Returns
        -------
        int
        """
        with self._engine.reading() as session:
            return session.pages.count_removals(**_make_bounds(_check_filter(wanted)))

    def count_arrivals(self, since: datetime | str) -> tuple[int, int]:
        """Return how many documents arrived since a moment, and how many of them are not kept.

        Parameters
        ----------
        since : datetime or str
            Inclusive.

        Returns
        -------
        arrived, dropped : int
        """
        with self._engine.reading() as session:
            return session.pages.count_arrivals(stamp(check_time(since, "since")))


def _check_filter(wanted: RemovalFilter | None) -> RemovalFilter:
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
    _make_bounds(wanted)
    return wanted


def _make_bounds(wanted: RemovalFilter) -> dict[str, Any]:
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


def _parse_place(after: str) -> tuple[float, int] | None:
    """Return the place of `Removal.position`: the value that rows are ordered by, and a number."""
    if not after:
        return None
    value, _, number = after.partition(":")
    try:
        return float(value), int(number)
    except ValueError:
        raise bad("after", "the 'position' of a removal", after) from None


def _read_removals(
    engine: Engine, session: Session, places: Sequence[tuple[float, int]], words: Sequence[str]
) -> Iterator[Removal]:
    """Yield the removals with some places that have all words."""
    by_number = session.pages.find_by_numbers([number for _, number in places])
    rows = [by_number[number] for _, number in places if number in by_number]
    rows = [
        row
        for row in rows
        # Another process may have decided it meanwhile.
        if row["state"] == DROPPED and (not words or _has_words(session, row, words))
    ]
    kept_rows = session.pages.find_by_numbers({row["kept_number"] for row in rows}).values()
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
    parts = (row["id"], row["title"], row["source"], session.texts.read(row))
    text = "\n".join(part for part in parts if part).casefold()
    return all(word in text for word in words)
