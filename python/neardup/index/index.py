"""The persistent index: has this been seen before?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, Unpack

from neardup.base.extras import require
from neardup.base.messages import N_, Message
from neardup.base.validation import (
    bad,
    check_choice,
    check_flag,
    check_path,
    check_span,
    check_string,
    check_whole,
)
from neardup.index.results import NewDocument
from neardup.index.values import MAX_NUMBER, STATES, check_id, check_time, earlier, stamp
from neardup.options.groups import (
    AddFilesParameters,
    AddManyParameters,
    AddParameters,
    ExportParameters,
    IndexParameters,
    ProgressParameters,
    QueryParameters,
)
from neardup.options.signatures import completed, takes_options
from neardup.recipe.text_inputs import checked_text

if TYPE_CHECKING:
    from neardup.index.engine import Engine
    from neardup.index.query import StoredTexts
    from neardup.index.results import (
        Added,
        Cluster,
        Decision,
        Document,
        Event,
        Explanation,
        Match,
        Removal,
        RemovalFilter,
        Removed,
        Stats,
    )

#: Options that become settings, or are compared with the settings of an existing index.
_WANTED = ("recipe", "ignore", "measure", "threshold", "max_distance", "expected")


@takes_options
class Index:
    """A store of documents that answers whether a text has been seen before.

    Opens the index at a location, or creates one there. Several threads may share one object;
    several processes and, with PostgreSQL, several machines may use the same location. For an
    existing index, None means the value it was created with.

    Parameters
    ----------
    location : str or Path
        A file (SQLite), or ``postgresql://user:password@host/database?schema=name``.
    {options}

    Raises
    ------
    ParameterError
        If a parameter is out of bounds.
    IndexMismatchError
        If the index was created with other settings.
    IndexFormatError
        If the location holds something else, or the index is damaged.
    IndexUnavailableError
        If the location cannot be reached, read or written.
    MissingDependencyError
        If SQLAlchemy or psycopg is not installed.

    See Also
    --------
    dedup : the same rule over a collection at once.

    Notes
    -----
    The rule is that of :func:`neardup.dedup`: a document is dropped if and only if it is
    verified similar to an earlier document that is kept. The first table or the first files that
    are added to an empty index are decided as :func:`neardup.dedup` decides them; later documents
    with statistics of those before them, however they are divided into batches. A recipe that
    weighs words by document frequency (`improved`, `keywords`) uses the bundled table
    unless it names another. Banding is tuned for `expected` documents, where
    :func:`neardup.dedup` uses the actual number; other bands find other pairs. Decisions are
    made one after the other, so if two processes add two similar documents at once, one is
    kept. When a method returns, its result is on disk; every method may raise
    IndexUnavailableError, and then nothing was stored, unless the message says otherwise. An
    addition looks up some tens of keys; its cost grows with the logarithm of the number of
    documents.

    Examples
    --------
    >>> import neardup, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> with neardup.Index(f"{folder.name}/news.db") as index:
    ...     index.add("a1", "The council will open the new bridge on Sunday morning.")
    ...     index.add("a2", "The council will open the new bridge on Sunday morning!").id
    ...     [match.id for match in index.query("The council will open the new bridge on Sunday.")]
    ...     index.keep("a2")
    ...     index.get("a2").state
    ...     index.check()
    'a1'
    ['a1']
    'kept'
    >>> folder.cleanup()
    """

    def __init__(self, location: str | Path, **options: Unpack[IndexParameters]) -> None:
        require(N_("An index"), "index", "sqlalchemy")
        from neardup.index.engine import open_index

        given = completed(Index, options)
        must_exist = given["must_exist"]
        self._engine: Engine = open_index(
            location,
            {name: given[name] for name in _WANTED},
            workers=given["workers"],
            make_new=None if must_exist is None else not must_exist,
        )

    @takes_options
    def add(
        self,
        id: str,
        text: str,
        *,
        title: str | None = None,
        at: datetime | str | None = None,
        source: str | None = None,
        extra: dict[str, Any] | None = None,
        **options: Unpack[AddParameters],
    ) -> Match | None:
        """Add a document, and return the kept document that it repeats.

        Parameters
        ----------
        id : str
            Unique in the index, at most 2,000 bytes. If a document with this id and the same
            normalized text already exists, nothing is added and the first result is returned
            again, unless it is replaced.
        text : str
        title : str or None, default=None
            Stored; part of the sketch if the recipe weighs titles. A document without text is a
            duplicate only of one with the same title.
        at : datetime, str or None, default=None
            Time of arrival, and end of the `within` window. Text is ISO 8601 or of the form
            ``2024-3-9 8:00:00``. Now by default.
        source : str or None, default=None
            Origin of the document; stored.
        extra : dict or None, default=None
            Further fields, as JSON values; stored.
        {options}

        Returns
        -------
        Match or None
            None if the document is kept.

        Raises
        ------
        InputError
            If the id already has another text and `replace` is off, or the document cannot be
            stored.

        Notes
        -----
        A replaced document is removed, as :meth:`remove` does, and the new one is added, in one
        transaction.
        """
        from neardup.index.ingest.transaction import add

        given = completed(Index.add, options)
        document = NewDocument(id, text, title, at, source, extra, given["replace"])
        return add(self._engine, document, given["at_zone"], given["within"])

    def add_together(self, documents: Sequence[NewDocument]) -> list[Decision]:
        """Add documents of several callers, with a separate result for each.

        Parameters
        ----------
        documents : sequence of NewDocument

        Returns
        -------
        list of Decision
            In the order of the documents. A document that cannot be stored has a problem; the
            others are stored.

        Raises
        ------
        IndexUnavailableError
            If the index cannot be written. Up to 1,024 documents are stored all or none; of
            more than that, or if some replace others, the first ones may be stored.

        See Also
        --------
        add_many : a table or list of records, with one result for all.

        Notes
        -----
        The documents are decided in their order, each against those before it, as if by
        :meth:`add` one after the other, but with one durable commit.
        """
        from neardup.index.ingest.transaction import add_together

        is_list = isinstance(documents, Sequence) and not isinstance(documents, (str, bytes))
        if not is_list or not all(isinstance(document, NewDocument) for document in documents):
            raise bad("documents", "a list of NewDocument", documents)
        return add_together(self._engine, documents)

    @takes_options
    def add_many(self, data: Any, **options: Unpack[AddManyParameters]) -> Added:
        """Add the documents of a collection, in order.

        Parameters
        ----------
        data : Arrow table, pandas or polars DataFrame, list of dict
            The same types as for :func:`neardup.dedup`. Each record needs an id.
        {options}

        Returns
        -------
        Added
            Which documents are kept, which are dropped and why, and which were not added.

        Raises
        ------
        InputError
            If there is no text or no id column.
        IndexUnavailableError
            If the index cannot be written. Transactions already committed remain; adding the
            same documents again is safe and skips them.

        Notes
        -----
        The first addition to an empty index counts and decides all documents together, as
        :func:`neardup.dedup` does, and stores them in transactions of some 20,000, each of which
        is durable when it ends; with `within` they are only counted together. The results of a
        later addition equal those of :meth:`add` called for each document; a transaction has up
        to 1,024 documents, with `within` one; a document that replaces another begins a new one.
        If an id is repeated with `replace`, its last document stays. The result has each decision
        as it was made; a later replacement may have changed it. An `at` that is not a valid time is
        reported as a problem of its document.
        """
        from neardup.index.ingest.reading import add_table

        return add_table(self._engine, data, completed(Index.add_many, options))

    @takes_options
    def add_files(
        self,
        inputs: Sequence[str | Path],
        *,
        removed: str | Path | None = None,
        report: str | Path | None = None,
        **options: Unpack[AddFilesParameters],
    ) -> Added:
        """Add the documents of files, in order.

        Parameters
        ----------
        inputs : sequence of str or Path
            Files, folders, patterns, or ``-``; see
            :func:`neardup.readers.open_sources`. Without an id field, a document's id is
            ``FILE:RECORD``.
        removed : str, Path or None, default=None
            File for the dropped documents of the input, as in `Added`; format by extension.
        report : str, Path or None, default=None
            File for counts, settings, problems and versions, as JSON.
        {options}

        Returns
        -------
        Added

        Raises
        ------
        InputError
            If a file cannot be read.
        IndexUnavailableError
            As in :meth:`add_many`: adding the same files again continues where this call stopped.
        OutputError
            If an output exists or cannot be written. None is left behind; what is added stays.

        Notes
        -----
        The first files of an empty index are decided together, as in :meth:`add_many`: the index
        keeps the documents that :func:`neardup.dedup_files` keeps.
        """
        from neardup.index.ingest.files import add_files

        engine, outputs = self._engine, {"removed": removed, "report": report}
        return add_files(engine.files, lambda: engine, inputs, outputs, Index.add_files, options)

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
        """
        from neardup.index.query import query

        within = completed(Index.query, options)["within"]
        return query(self._engine, text, k, title=title, at=at, within=within)

    def near_misses(self, text: str, k: int = 3, *, title: str | None = None) -> list[Match]:
        """Return the kept documents that are most similar to a text without being duplicates.

        Parameters
        ----------
        text : str
        k : int, default=3
            The most documents to return; at least 1.
        title : str or None, default=None
            Used by recipes that weigh titles.

        Returns
        -------
        list of Match
            The most similar first. Empty if no document shares a rare passage with the text, and
            for a rule that searches without keys.
        """
        from neardup.index.query import near_misses

        return near_misses(self._engine, text, k, title=title)

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
        from neardup.index.query import get_many

        if isinstance(ids, str) or not isinstance(ids, Sequence):
            raise bad("ids", "a list of text", ids)
        wanted = [check_string(id, "ids") for id in ids]
        return get_many(self._engine, wanted, texts=check_flag(texts, "texts"))

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
        from neardup.index.query import explain

        return explain(self._engine, check_string(id, "id"))

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
        from neardup.index.query import clusters

        if search is not None:
            search = checked_text(check_string(search, "search"), "search")
        return clusters(
            self._engine, search=search, after=check_whole(after, "after", 0, MAX_NUMBER)
        )

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
        from neardup.index.removals import removals

        return removals(self._engine, wanted, check_string(after, "after"))

    def count_removals(self, wanted: RemovalFilter | None = None) -> int:
        """Return how many removals a filter has, whatever its `search` is.

        Parameters
        ----------
        wanted : RemovalFilter or None, default=None

        Returns
        -------
        int
        """
        from neardup.index.removals import count_removals

        return count_removals(self._engine, wanted)

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
            return session.count_arrivals(stamp(check_time(since, "since")))

    def decisions(self, *, before: int | None = None) -> Iterator[Event]:
        """Yield what :meth:`keep`, :meth:`confirm` and :meth:`undo` did, the latest first.

        Parameters
        ----------
        before : int or None, default=None
            Only events before the one with this `number`.

        Yields
        ------
        Event
        """
        from neardup.index.removals import decisions

        if before is not None:
            before = check_whole(before, "before", 1, MAX_NUMBER)
        return decisions(self._engine, before)

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
        from neardup.index.query import all_documents

        if state is not None:
            check_choice(state, "state", STATES)
        return all_documents(self._engine, state)

    def stats(self) -> Stats:
        """Return the size and the settings of the index."""
        from neardup.index.query import stats

        return stats(self._engine)

    def __len__(self) -> int:
        """Return the number of documents in any state."""
        with self._engine.reading() as session:
            counters = session.counters()
        return sum(counters[state] for state in STATES)

    def __contains__(self, id: object) -> bool:
        """Return whether the index has a document with this id, in any state."""
        if not isinstance(id, str):
            return False
        with self._engine.reading() as session:
            return bool(session.by_ids([id]))

    def remove(self, id: str) -> Removed:
        """Remove a document, and decide those that were dropped for it as if they were added now.

        Parameters
        ----------
        id : str

        Returns
        -------
        Removed

        Raises
        ------
        InputError
            If there is no such document.
        """
        from neardup.index.retention import remove

        return remove(self._engine, check_string(id, "id"))

    def rename(self, old: str, new: str) -> None:
        """Change the id of a document.

        Those that were dropped for it, and its events, follow. :meth:`explain` of the old id shows
        the new one.

        Parameters
        ----------
        old : str
        new : str
            An id that no document has.

        Raises
        ------
        InputError
            If there is no document with the old id, or one with the new id.
        """
        from neardup.index.retention import rename

        rename(self._engine, check_string(old, "old"), check_id(new, "new"))

    def keep(self, id: str, *, by: str | None = None) -> None:
        """Keep a dropped document, whatever it repeats.

        This reverses the decision: from now on others may be dropped for this document.
        :meth:`explain` shows the event, and :meth:`undo` undoes it.

        Parameters
        ----------
        id : str
        by : str or None, default=None
            Who decided it.

        Raises
        ------
        InputError
            If there is no such document, or it is kept already.
        """
        from neardup.index.retention import keep

        keep(self._engine, check_string(id, "id"), _details(by))

    def confirm(self, id: str, *, by: str | None = None) -> None:
        """Log that a removal is right; see :meth:`removals`.

        Parameters
        ----------
        id : str
        by : str or None, default=None
            Who decided it.

        Raises
        ------
        InputError
            If there is no such document, or it is not dropped.
        """
        from neardup.index.removals import confirm

        confirm(self._engine, check_string(id, "id"), _details(by))

    def undo(self, id: str, *, by: str | None = None, event: int | None = None) -> None:
        """Undo the last :meth:`keep`, :meth:`confirm` or :meth:`undo` of a document.

        A document that was kept is decided as if it were added now, and then those that were
        dropped for it, in one transaction.

        Parameters
        ----------
        id : str
        by : str or None, default=None
            Who decided it.
        event : int or None, default=None
            The `number` of the decision, such as one of :meth:`decisions`; None means the last
            one.

        Raises
        ------
        InputError
            If there is no such decision, or something else has happened to the document since.
        """
        from neardup.index.removals import undo

        if event is not None:
            event = check_whole(event, "event", 1, MAX_NUMBER)
        undo(self._engine, check_string(id, "id"), _details(by), event)

    def reconsider(self, ids: Sequence[str] | None = None) -> list[tuple[str, Match | None]]:
        """Decide dropped documents again, with the current background statistics.

        Parameters
        ----------
        ids : sequence of str or None, default=None
            Ids of kept or unknown documents are ignored. None means all dropped documents.

        Returns
        -------
        list of (str, Match or None)
            In the order of arrival. Each is decided as if it were added now; None means that
            it is kept.
        """
        from neardup.index.retention import reconsider

        if ids is not None:
            if isinstance(ids, str) or not isinstance(ids, Sequence):
                raise bad("ids", "a list of ids or None", ids)
            ids = [check_string(id, "ids") for id in ids]
        return reconsider(self._engine, ids)

    def expire(
        self, *, before: datetime | str | None = None, older_than: timedelta | str | None = None
    ) -> Removed:
        """Remove all documents that arrived before a moment.

        Later ones that were dropped for them are decided as if they were added now.

        Parameters
        ----------
        before : datetime, str or None, default=None
            The moment, exclusive.
        older_than : timedelta, str or None, default=None
            A time span before now, such as ``90d``. Give exactly one of the two.

        Returns
        -------
        Removed
        """
        from neardup.index.retention import expire

        if before is None and older_than is None:
            raise bad("before", "given, unless 'older_than' is", before)
        if before is not None and older_than is not None:
            raise bad("before", "left out if 'older_than' is given", before)
        if before is not None:
            until = stamp(check_time(before, "before"))
        else:
            until = earlier(stamp(datetime.now(UTC)), check_span(older_than, "older_than"))
        return expire(self._engine, until)

    def recount(self) -> int:
        """Recompute the background statistics; return how many texts were read.

        The newest texts are read. Later decisions use the new statistics; earlier ones do not
        change. Does nothing and returns 0 if the rule of the index does not use them.

        Returns
        -------
        int
        """
        from neardup.index.background import recount

        engine = self._engine
        if not engine.settings.counts:
            return 0
        with engine.writing() as session:
            return recount(session, engine.settings, workers=engine.workers)

    @takes_options
    def export(
        self,
        output: str | Path,
        *,
        decisions: str | Path | None = None,
        **options: Unpack[ExportParameters],
    ) -> int:
        """Write the kept documents, and on request the others and the decisions on them.

        Parameters
        ----------
        output : str or Path
            Output for the documents, in the order of their decisions: ``id``, ``text``,
            ``title``, ``source``, ``at`` and the further fields. The extension sets the format.
        decisions : str, Path or None, default=None
            Output for the decisions on the dropped documents: ``id``, ``kept_id``,
            ``similarity``, ``measure``, ``distance``, ``reason`` (``identical`` or ``similar``)
            and ``at``.
        {options}

        Returns
        -------
        int
            Number of documents written to `output`.

        Raises
        ------
        OutputError
            If an output exists, cannot be written, or is a file of the index itself. No
            output is left behind then.

        Notes
        -----
        Both outputs show the same snapshot. Memory does not grow with the index.
        :meth:`add_files` reads the output: with the same recipe it makes an index with the same
        documents, and of a `whole` one with dropped documents too.
        """
        from neardup.index.export import write_records
        from neardup.writers import OutputSet

        given = completed(Index.export, options)
        wanted = {"output": check_path(output, "output"), "decisions": decisions}
        with OutputSet(self._engine.files, rows=wanted, force=given["force"]) as outputs:
            return write_records(
                self._engine, outputs.files, given["progress"], whole=given["whole"]
            )

    def backup(self, copy: str | Path) -> None:
        """Copy an index in SQLite, which may be in use, to a new file.

        Parameters
        ----------
        copy : str or Path
            A path where there is no file. The copy is an index, which needs no other file.

        Raises
        ------
        ParameterError
            If the index is in PostgreSQL: use ``pg_dump``.
        OutputError
            If the file exists or cannot be written. No file is left behind then.

        See Also
        --------
        neardup.index.restore : put a copy in the place of an index.
        """
        from neardup.index.copies import backup

        backup(self._engine, copy)

    def compact(self) -> None:
        """Return the space of removed documents to the file system."""
        self._engine.database.compact()

    @takes_options
    def check(self, **options: Unpack[ProgressParameters]) -> None:
        """Raise if the index is damaged.

        Parameters
        ----------
        {options}

        Raises
        ------
        IndexFormatError
            At the first damage that is found.

        Notes
        -----
        SQLite checks all pages of the file. The counters are compared with the rows, and some
        1,000 documents, spread evenly, are sketched again. The check reads one snapshot, so
        others may write meanwhile.
        """
        from neardup.index.integrity import check

        check(self._engine, completed(Index.check, options)["progress"])

    def __repr__(self) -> str:
        """Return class and location, without a password."""
        return f"{type(self).__name__}({self._engine.location!r})"

    def __reduce__(self) -> Any:
        """Raise: connections and locks belong to one process."""
        raise TypeError(
            Message(
                "An index cannot be pickled. Open it in each process by its path: "
                "neardup.Index({location})",
                location=repr(self._engine.location),
            )
        )

    def _open_stored_texts(self) -> StoredTexts:
        """Return the kept documents as the other collection of a run; readers call it."""
        from neardup.index.query import StoredTexts

        return StoredTexts(self._engine)

    def close(self) -> None:
        """Close all connections. Closing again does nothing."""
        self._engine.database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def _details(by: str | None) -> dict[str, str]:
    """Return what the log says of a person's decision, beside the document."""
    return {} if by is None else {"by": checked_text(check_string(by, "by"), "by")}
