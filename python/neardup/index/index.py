"""The persistent index: has this been seen before?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from neardup.exceptions import InputError
from neardup.index.values import check_span, check_time, earlier
from neardup.parameters import bad, check_string, check_whole, check_workers

if TYPE_CHECKING:
    from neardup.collect import Progress
    from neardup.index.handle import Handle
    from neardup.index.results import (
        Added,
        Cluster,
        Document,
        Explanation,
        Match,
        Removed,
        Stats,
    )
    from neardup.recipe import Recipe

__all__ = ["Index"]


class Index:
    """A store of documents that answers whether a text has been seen before.

    Opens the index at a location, or makes one there. Several threads may use it at
    once, and any number of processes and, with PostgreSQL, machines the same location.

    Parameters
    ----------
    location : str or Path
        A file (SQLite), or ``postgresql://user:password@host/database?schema=name``.
    recipe : str, Path, Recipe or None, default=None
        How a text becomes a sketch, and what a duplicate is; for a new index
        ``general`` by default. For an index that is there already, None takes what
        it was made with; so for all that follows.
    threshold : float or None, default=None
        Smallest similarity of a duplicate, inclusive, in (0, 1]; see
        :func:`neardup.dedup`.
    max_distance : int or None, default=None
        Largest distance of two fingerprints, inclusive, in bits.
    store : {"text", "sketch"} or None, default=None
        ``text`` keeps the texts, packed, and verifies on them. ``sketch`` keeps none,
        and the sketches alone decide: an estimate, with more wrong verdicts.
        :meth:`stats` states the measure.
    expected : int or None, default=None
        Documents that a search by bands is laid out for, 1,000,000 by default; other
        searches do not look at it.
    background : table, list or None, default=None
        For a new index: a collection, as :func:`neardup.dedup` takes it. What its
        texts have in common is counted once and holds for good. Without it, the
        index counts its own newest texts, again and again as it grows. Files, too,
        as :func:`neardup.readers.open_sources` opens them.
    must_exist : bool or None, default=None
        True if a new index must not be made, False if one must not be there yet.
    workers : int, default=0
        Threads; 0 means one for each processor. Changes no result.
    progress : Progress or None, default=None
        Is told how the background is read.

    Raises
    ------
    ParameterError
        If a parameter is out of bounds.
    IndexMismatchError
        If the index was made with other settings.
    IndexFormatError
        If there is something else at the location, or it is damaged.
    IndexUnavailableError
        If the location cannot be reached, read or written.
    MissingDependencyError
        If SQLAlchemy or psycopg is not installed.

    See Also
    --------
    dedup : the same rule over a collection at once.

    Notes
    -----
    One rule, that of :func:`neardup.dedup`: a document is dropped if and only if it is
    verified similar to one before it that is kept. With the same `background`, the
    same documents are kept however they come in. Decisions are made one after the
    other, so of two similar documents that two processes add at once one is kept. What a
    method has returned is on the disk. An addition looks some tens of keys up: its
    cost grows with the logarithm of the number of documents.

    Examples
    --------
    >>> import neardup, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> with neardup.Index(f"{folder.name}/news.db") as index:
    ...     index.add("a1", "The council will open the new bridge on Sunday morning.")
    ...     index.add("a2", "The council will open the new bridge on Sunday morning!").id
    ...     len(index)
    'a1'
    2
    >>> folder.cleanup()
    """

    def __init__(
        self,
        location: str | Path,
        *,
        recipe: str | Path | Recipe | None = None,
        threshold: float | None = None,
        max_distance: int | None = None,
        store: str | None = None,
        expected: int | None = None,
        background: Any = None,
        must_exist: bool | None = None,
        workers: int = 0,
        progress: Progress | None = None,
    ) -> None:
        from neardup.index.handle import open_index
        from neardup.readers import Sources, open_table

        if must_exist is not None and not isinstance(must_exist, bool):
            raise bad("must_exist", "True, False or None", must_exist)
        if background is not None and not isinstance(background, Sources):
            background = open_table(background)
        self._handle: Handle = open_index(
            location,
            recipe=recipe,
            threshold=threshold,
            max_distance=max_distance,
            store=store,
            expected=expected,
            background=None if background is None else background.batches(),
            workers=check_workers(workers),
            make_new=None if must_exist is None else not must_exist,
            progress=progress,
        )

    # Adding

    def add(
        self,
        id: str,
        text: str,
        *,
        title: str | None = None,
        at: datetime | str | None = None,
        source: str | None = None,
        extra: dict[str, Any] | None = None,
        within: timedelta | str | None = None,
    ) -> Match | None:
        """Add a document, and return the kept document that it repeats.

        Parameters
        ----------
        id : str
            Unique in the index, at most 2,000 bytes. A document that is there already,
            with the same text but for what normalizing evens out, is not added again:
            the answer is the one of the first time.
        text : str
        title : str or None, default=None
            Stored; part of the sketch where the recipe weighs titles.
        at : datetime, str or None, default=None
            Time of arrival; as text in ISO 8601, in UTC if it names no zone. Now by
            default.
        source : str or None, default=None
            Where it comes from; stored.
        extra : dict or None, default=None
            Further fields, as JSON holds them; stored.
        within : timedelta, str or None, default=None
            Documents that arrived longer than this before `at`, such as ``14d``, are
            not looked at.

        Returns
        -------
        Match or None
            None if the document is kept.

        Raises
        ------
        InputError
            If another text is there under the same id, or it cannot be stored.
        IndexUnavailableError
            If the index cannot be written. Nothing was stored then, or the message says
            otherwise.
        """
        from neardup.index.coming import one_document

        span = None if within is None else check_span(within, "within")
        return one_document(self._handle, id, text, title, at, source, extra, span)

    def add_many(
        self,
        data: Any,
        *,
        text: str | None = None,
        id: str | None = None,
        title: str | None = None,
        at: str | None = None,
        source: str | None = None,
        extra: Sequence[str] = (),
        within: timedelta | str | None = None,
        title_from_first_line: bool = False,
        progress: Progress | None = None,
    ) -> Added:
        """Add the documents of a collection, in order.

        Parameters
        ----------
        data : Arrow table, pandas or polars DataFrame, list of dict
            As :func:`neardup.dedup` takes it.
        text, id, title, at, source : str or None, default=None
            Fields of the text (``text``, else ``content``, else ``body``), of the id
            (``id``; needed), the title (``title``), the time of arrival and the source
            (none).
        extra : sequence of str, default=()
            Further fields to be stored.
        within : timedelta, str or None, default=None
            As in :meth:`add`. It costs a transaction for each document.
        title_from_first_line : bool, default=False
            Take the first line of the text where there is no title field.
        progress : Progress or None, default=None
            Is told what is done.

        Returns
        -------
        Added
            Which are kept; which are dropped, and for what; what could not be added.

        Raises
        ------
        InputError
            If there is no text or no id column.
        IndexUnavailableError
            If the index cannot be written. What was stored before stays; to add the
            same documents again is safe, and passes over them.

        Notes
        -----
        The answers are those of :meth:`add` one by one. A transaction takes 1024
        documents.
        """
        from neardup.index.coming import Fields
        from neardup.index.loading import add_batches
        from neardup.readers import open_table

        fields = Fields.checked(text, id, title, at, source, extra, needs_ids=True)
        source_of = open_table(
            data,
            text_field=fields.text,
            id_field=fields.id,
            title_field=fields.title,
            extra_fields=fields.extras,
        )
        return add_batches(
            self._handle,
            source_of,
            fields,
            within=None if within is None else check_span(within, "within"),
            title_from_first_line=title_from_first_line,
            progress=progress,
        )

    def add_files(
        self,
        inputs: Sequence[str | Path],
        *,
        format: str | None = None,
        text: str | None = None,
        id: str | None = None,
        title: str | None = None,
        at: str | None = None,
        source: str | None = None,
        extra: Sequence[str] = (),
        within: timedelta | str | None = None,
        title_from_first_line: bool = False,
        progress: Progress | None = None,
    ) -> Added:
        """Add the documents of files, in order.

        Parameters
        ----------
        inputs : sequence of str or Path
            Files, folders of text files, or ``-``; see
            :func:`neardup.readers.open_sources`. Without an id field, a document's id is
            ``FILE:RECORD``.
        format : str or None, default=None
            Format of the inputs, by default told from their names and contents.
        text, id, title, at, source, extra, within, title_from_first_line, progress
            As in :meth:`add_many`.

        Returns
        -------
        Added

        Raises
        ------
        InputError
            If a file cannot be read.
        IndexUnavailableError
            As in :meth:`add_many`: to add the same files again goes on where it ended.
        """
        import dataclasses

        from neardup.index.coming import Fields
        from neardup.index.loading import add_batches
        from neardup.readers import open_sources

        fields = Fields.checked(text, id, title, at, source, extra)
        sources = open_sources(
            inputs,
            format=format,
            text_field=fields.text,
            id_field=fields.id,
            title_field=fields.title,
            extra_fields=fields.extras,
        )
        added = add_batches(
            self._handle,
            sources,
            fields,
            within=None if within is None else check_span(within, "within"),
            title_from_first_line=title_from_first_line,
            progress=progress,
        )
        notes = sources.notes
        if progress is not None:
            for note in notes:
                progress.problem(note)
        return dataclasses.replace(added, problem_count=added.problem_count + len(notes))

    # Asking

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
        from neardup.given import checked_text
        from neardup.index import asking
        from neardup.index.coming import checked_title

        return asking.query(
            self._handle,
            checked_text(text, "text"),
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

        return asking.get(self._handle, check_string(id, "id"))

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

        return asking.explain(self._handle, check_string(id, "id"))

    def clusters(self) -> Iterator[Cluster]:
        """Give the kept documents for which others were dropped, by arrival.

        Yields
        ------
        Cluster
            Documents that arrive or go meanwhile may be missing or not.
        """
        from neardup.index import asking

        return asking.clusters(self._handle)

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
        from neardup.index.store import STATES

        if state is not None and state not in STATES:
            raise bad("state", f"one of {', '.join(STATES)} or None", state)
        wanted = None if state is None else STATES.index(state)
        return chain.from_iterable(asking.pages(self._handle, state=wanted))

    def stats(self) -> Stats:
        """Return sizes and settings."""
        from neardup.index import asking

        return asking.stats(self._handle)

    def __len__(self) -> int:
        """Return the number of documents, kept or not."""
        with self._handle.reading() as session:
            counters = session.counters()
        return counters["kept"] + counters["dropped"] + counters["freed"]

    def __contains__(self, id: object) -> bool:
        """Return whether a document with this id is there, kept or not."""
        if not isinstance(id, str):
            return False
        with self._handle.reading() as session:
            return bool(session.by_ids([id]))

    # Removing

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

        removed = removing.remove(self._handle, check_string(id, "id"))
        if removed is None:
            raise InputError(f"{self._handle.location}: there is no document '{show(id)}'.")
        return removed

    def reconsider(self, ids: Sequence[str] | None = None) -> list[tuple[str, Match | None]]:
        """Decide documents again that were dropped for one that is gone.

        Parameters
        ----------
        ids : sequence of str or None, default=None
            Only those; ids of others are passed over.

        Returns
        -------
        list of (str, Match or None)
            In the order of arrival, each as if it came now; None for those that are
            kept.
        """
        from neardup.index import removing

        if ids is not None:
            if isinstance(ids, str) or not isinstance(ids, Sequence):
                raise bad("ids", "a list of ids or None", ids)
            ids = [check_string(id, "ids") for id in ids]
        return removing.reconsider(self._handle, ids)

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

        if (before is None) == (older_than is None):
            raise bad("before", "given, or else 'older_than'", before)
        if before is not None:
            moment = stamp(check_time(before, "before"))
        else:
            moment = earlier(stamp(datetime.now(UTC)), check_span(older_than, "older_than"))
        return removing.expire(self._handle, moment)

    # Out of the index, and into another one

    def export(
        self,
        kept: str | Path,
        *,
        decisions: str | Path | None = None,
        force: bool = False,
        progress: Progress | None = None,
    ) -> int:
        """Write the kept documents, and why the others are dropped.

        Parameters
        ----------
        kept : str or Path
            Where the kept documents go, in the order of arrival: ``id``, ``text``,
            ``title``, ``source``, ``at`` and the further fields. Format by extension.
        decisions : str, Path or None, default=None
            Where the others go: ``id``, ``kept_id``, ``similarity``, ``measure``,
            ``distance``, ``reason`` (``identical``, ``similar``, or ``freed`` where no
            decision holds) and ``at``.
        force : bool, default=False
            Replace outputs that exist.
        progress : Progress or None, default=None
            Is told what is done.

        Returns
        -------
        int
            Kept documents.

        Raises
        ------
        OutputError
            If an output exists, or cannot be written. Then none is left behind.

        Notes
        -----
        Both show the index at one moment. Memory does not grow with the index.
        """
        from neardup.collect import Progress
        from neardup.index.export import exported
        from neardup.writers import OutputSet

        with OutputSet() as outputs:
            first = outputs.open(kept, force=force)
            second = None if decisions is None else outputs.open(decisions, force=force)
            return exported(self._handle, first, second, progress or Progress())[0]

    def dump(
        self, output: str | Path, *, force: bool = False, progress: Progress | None = None
    ) -> None:
        """Write the whole index, so that :meth:`load` can make it anew.

        Parameters
        ----------
        output : str or Path
            A file of any name, ``.gz`` and ``.zst`` compress; or ``-``.
        force : bool, default=False
            Replace a file that exists.
        progress : Progress or None, default=None
            Is told what is done.

        Raises
        ------
        OutputError
            If the output exists, or cannot be written.

        Notes
        -----
        The index at one moment. Two indexes that hold the same give the same bytes,
        in whichever database they are. Memory does not grow with the index.
        """
        from contextlib import closing

        from neardup.collect import Progress
        from neardup.index.dump import dumped
        from neardup.writers import OutputSet

        with OutputSet() as outputs:
            opened = outputs.open_text(output, force=force)
            with closing(dumped(self._handle.database, progress or Progress())) as parts:
                for part in parts:
                    opened.write(part)

    @classmethod
    def load(
        cls,
        location: str | Path,
        source: str | Path,
        *,
        workers: int = 0,
        progress: Progress | None = None,
    ) -> Self:
        """Make an index of what :meth:`dump` wrote, and open it.

        Parameters
        ----------
        location : str or Path
            Where no index is yet; see :class:`Index`.
        source : str or Path
            The file, also compressed; or ``-`` for standard input.
        workers : int, default=0
            Threads; 0 means one for each processor.
        progress : Progress or None, default=None
            Is told what is done.

        Returns
        -------
        Index
            It answers as the first one would from then on.

        Raises
        ------
        InputError
            If the file is not what was written, or cut off. No index is made then.
        IndexFormatError
            If it is of another version.
        IndexMismatchError
            If its recipe would make other sketches here.
        IndexUnavailableError
            If there is an index already, or it cannot be written.

        Examples
        --------
        >>> import neardup, tempfile
        >>> folder = tempfile.TemporaryDirectory()
        >>> with neardup.Index(f"{folder.name}/news.db") as index:
        ...     index.add("a1", "The council will open the new bridge on Sunday morning.")
        ...     index.dump(f"{folder.name}/news.jsonl.zst")
        >>> with neardup.Index.load(f"{folder.name}/b.db", f"{folder.name}/news.jsonl.zst") as copy:
        ...     "a1" in copy
        True
        >>> folder.cleanup()
        """
        from neardup.collect import Progress
        from neardup.index.restoring import load

        load(location, source, progress or Progress())
        return cls(location, must_exist=True, workers=check_workers(workers))

    # Upkeep

    def recount(self) -> int:
        """Count anew what the newest texts have in common, and return their number.

        Decisions from now on are made by it; those made before stand. Without effect,
        and 0, for an index whose rule does not look at it or whose background was
        given.

        Returns
        -------
        int
        """
        return self._handle.recount()

    def compact(self) -> None:
        """Give the space of removed documents back to the system."""
        self._handle.database.compact()

    def check(self) -> list[str]:
        """Return what is damaged, a line each; none if all is sound.

        Reads everything.
        """
        return self._handle.database.check()

    def close(self) -> None:
        """Close all connections. Closing again does nothing."""
        self._handle.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def _moment(at: datetime | str | None) -> datetime:
    return datetime.now(UTC) if at is None else check_time(at, "at")
