"""The part of `Index` that asks and changes nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from neardup._engine.text_inputs import checked_text
from neardup._engine.validation import bad, check_flag, check_string, check_whole
from neardup.index.values import check_span, check_time, plain_text

if TYPE_CHECKING:
    from neardup.index.engine import Engine
    from neardup.index.results import Cluster, Document, Explanation, Match, Stats

__all__ = ["Questions"]


class Questions:
    """Methods of :class:`neardup.Index`."""

    _engine: Engine

    def query(
        self,
        text: str,
        k: int = 10,
        *,
        title: str | None = None,
        at: datetime | str | None = None,
        within: timedelta | str | None = None,
    ) -> list[Match]:
        """Return the kept documents that a text repeats; nothing is stored.

        Parameters
        ----------
        text : str
        k : int, default=10
            The most answers; at least 1.
        title : str or None, default=None
            For recipes that weigh titles.
        at : datetime, str or None, default=None
            The moment that `within` ends at, now by default.
        within : timedelta, str or None, default=None
            Documents that arrived longer than this before `at` are not looked at.

        Returns
        -------
        list of Match
            The most similar first; of two that tie, the earlier.

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
        from neardup.index import asking
        from neardup.index.coming import checked_title, given_text

        return asking.query(
            self._engine,
            given_text(text, "text"),
            check_whole(k, "k", 1),
            title=checked_title(title),
            at=_moment(at),
            within=None if within is None else check_span(within, "within"),
        )

    def get(self, id: str) -> Document | None:
        """Return a document as it is stored, None if it is not there.

        Parameters
        ----------
        id : str
        """
        from neardup.index import asking

        wanted = check_string(id, "id")
        return asking.get_many(self._engine, [wanted], texts=True).get(wanted)

    def get_many(self, ids: Sequence[str], *, texts: bool = True) -> dict[str, Document]:
        """Return documents as they are stored, by id.

        Parameters
        ----------
        ids : sequence of str
        texts : bool, default=True
            Whether texts are fetched; else they are None.

        Returns
        -------
        dict of str to Document
            In the order of `ids`, without those that are not there.
        """
        from neardup.index import asking

        if isinstance(ids, str) or not isinstance(ids, Sequence):
            raise bad("ids", "index.list_of_text", ids)
        wanted = [check_string(id, "ids") for id in ids]
        return asking.get_many(self._engine, wanted, texts=check_flag(texts, "texts"))

    def explain(self, id: str) -> Explanation | None:
        """Return why a document is kept or dropped, and what happened to it since.

        Parameters
        ----------
        id : str

        Returns
        -------
        Explanation or None
            None if nothing is known of such a document.
        """
        from neardup.index import asking

        return asking.explain(self._engine, check_string(id, "id"))

    def clusters(self, *, search: str | None = None, after: int = 0) -> Iterator[Cluster]:
        """Give the kept documents for which others were dropped, by arrival.

        Parameters
        ----------
        search : str or None, default=None
            Only clusters in which the id or the title of a document contains this text;
            upper and lower case of ASCII letters are one.
        after : int, default=0
            Only those behind the cluster with this `number`.

        Yields
        ------
        Cluster
            Documents that arrive or go meanwhile may be missing or not.

        Notes
        -----
        A search reads all documents in the worst case.
        """
        from neardup.index import asking

        if search is not None:
            search = plain_text(checked_text(check_string(search, "search"), "search"))
        check_whole(after, "after", 0)
        return asking.clusters(self._engine, search=search, after=after)

    def documents(self, state: str | None = None) -> Iterator[Document]:
        """Give all documents, by arrival.

        Parameters
        ----------
        state : {"kept", "dropped", "freed"} or None, default=None
            Only those.

        Yields
        ------
        Document
        """
        from neardup.index import asking
        from neardup.index.schema import STATES

        if state is not None and state not in STATES:
            raise bad("state", "index.choice_or_none", state, choices=", ".join(STATES))
        wanted = None if state is None else STATES.index(state)
        return asking.documents(self._engine, state=wanted)

    def stats(self) -> Stats:
        """Return sizes and settings."""
        from neardup.index import asking

        return asking.stats(self._engine)

    def __len__(self) -> int:
        """Return the number of documents, kept or not."""
        with self._engine.reading() as session:
            counters = session.counters()
        return counters["kept"] + counters["dropped"] + counters["freed"]

    def __contains__(self, id: object) -> bool:
        """Return whether a document with this id is there, kept or not."""
        if not isinstance(id, str):
            return False
        with self._engine.reading() as session:
            return bool(session.by_ids([id]))


def _moment(at: datetime | str | None) -> datetime:
    return datetime.now(UTC) if at is None else check_time(at, "at")
