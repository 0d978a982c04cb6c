"""The part of `Index` that takes documents out, and decides again."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from neardup._engine.messages import Message
from neardup._engine.validation import bad, check_string
from neardup.exceptions import InputError
from neardup.index.values import check_span, check_time, earlier

if TYPE_CHECKING:
    from neardup.index.engine import Engine
    from neardup.index.results import Match, Removed

__all__ = ["Removals"]


class Removals:
    """Methods of :class:`neardup.Index`."""

    _engine: Engine

    def remove(self, id: str) -> Removed:
        """Remove a document.

        Parameters
        ----------
        id : str

        Returns
        -------
        Removed
            ``freed`` lists those that were dropped for it. They stay dropped until
            :meth:`reconsider`.

        Raises
        ------
        InputError
            If it is not there.
        """
        from neardup.index import removing
        from neardup.readers.batch import show

        removed = removing.remove(self._engine, check_string(id, "id"))
        if removed is None:
            raise InputError(
                Message("index.no_such_document", location=self._engine.location, id=show(id))
            )
        return removed

    def keep(self, id: str) -> None:
        """Keep a document that was dropped, whatever it repeats.

        Undoes a removal: from now on others may be dropped for this document. What
        happened is in :meth:`explain`.

        Parameters
        ----------
        id : str

        Raises
        ------
        InputError
            If there is no such document, or it is kept already.
        IndexUnavailableError
            If the index cannot be written.

        Examples
        --------
        >>> import neardup, tempfile
        >>> folder = tempfile.TemporaryDirectory()
        >>> with neardup.Index(f"{folder.name}/news.db") as index:
        ...     index.add("a1", "The council will open the new bridge on Sunday morning.")
        ...     _ = index.add("a2", "The council will open the new bridge on Sunday morning!")
        ...     index.keep("a2")
        ...     index.get("a2").state
        'kept'
        >>> folder.cleanup()
        """
        from neardup.index import removing

        removing.keep(self._engine, check_string(id, "id"))

    def reconsider(self, ids: Sequence[str] | None = None) -> list[tuple[str, Match | None]]:
        """Decide documents again, by what is known to be common now.

        Parameters
        ----------
        ids : sequence of str or None, default=None
            Dropped or freed documents; ids of kept ones and of none are passed over.
            None means all freed ones: those dropped for a document that is gone.

        Returns
        -------
        list of (str, Match or None)
            In the order of arrival, each as if it came now; None for those that are
            kept.
        """
        from neardup.index import removing

        if ids is not None:
            if isinstance(ids, str) or not isinstance(ids, Sequence):
                raise bad("ids", "index.list_of_ids", ids)
            ids = [check_string(id, "ids") for id in ids]
        return removing.reconsider(self._engine, ids)

    def expire(
        self,
        *,
        before: datetime | str | None = None,
        older_than: timedelta | str | None = None,
    ) -> Removed:
        """Remove all documents that arrived before a moment.

        Parameters
        ----------
        before : datetime, str or None, default=None
            The moment, exclusive.
        older_than : timedelta, str or None, default=None
            The same as a span before now, such as ``90d``. One of the two is needed.

        Returns
        -------
        Removed
        """
        from neardup.index import removing
        from neardup.index.store import stamp

        if before is None and older_than is None:
            raise bad("before", "index.before_or_older_than", before)
        if before is not None and older_than is not None:
            raise bad("before", "index.not_with_older_than", before)
        if before is not None:
            moment = stamp(check_time(before, "before"))
        else:
            moment = earlier(stamp(datetime.now(UTC)), check_span(older_than, "older_than"))
        return removing.expire(self._engine, moment)
