"""The persistent index: has this been seen before?"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, Unpack

from neardup.base.extras import require
from neardup.base.messages import N_, Message
from neardup.base.validation import (
    bad,
    check_flag,
    check_path,
    check_span,
    check_string,
    check_whole,
)
from neardup.exceptions import OutputError, ParameterError
from neardup.index.results import NewDocument
from neardup.index.values import STATES, check_time, earlier, stamp
from neardup.options.groups import (
    AddFilesParameters,
    AddManyParameters,
    AddParameters,
    CheckParameters,
    IndexParameters,
    LoadParameters,
    OutputParameters,
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
_WANTED = ("recipe", "measure", "threshold", "max_distance", "store", "expected")


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
    verified similar to an earlier document that is kept. With the same `background` (and the
    same bands), the same documents are kept however they are divided into batches. A recipe
    that weighs words by document frequency (`improved`, `keywords`) uses the bundled table
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
    ...     index.check(full=True)
    'a1'
    ['a1']
    'kept'
    []
    >>> folder.cleanup()
    """

    def __init__(self, location: str | Path, **options: Unpack[IndexParameters]) -> None:
        require(N_("An index"), "index", "sqlalchemy")
        from neardup.index.engine import open_index
        from neardup.readers import Sources, open_table

        given = completed(Index, options)
        background, must_exist = given["background"], given["must_exist"]
        if background is not None and not isinstance(background, Sources):
            try:
                background = open_table(background)
            except ParameterError:
                raise bad("background", "a table, or a list of text or dict", background) from None
        self._engine: Engine = open_index(
            location,
            {name: given[name] for name in _WANTED},
            background=None if background is None else background.batches(),
            workers=given["workers"],
            make_new=None if must_exist is None else not must_exist,
            progress=given["progress"],
        )

    @classmethod
    @takes_options
    def load(
        cls, location: str | Path, source: str | Path, **options: Unpack[LoadParameters]
    ) -> Self:
        """Create an index from a file that :meth:`dump` wrote, and open it.

        Parameters
        ----------
        location : str or Path
            A location without an index; see :class:`Index`.
        source : str or Path
            The file, also compressed; or ``-`` for standard input.
        {options}

        Returns
        -------
        Index
            It gives the same answers as the original would from then on.

        Raises
        ------
        InputError
            If the file is not a dump, or is truncated or modified. No index is created then.
        IndexFormatError
            If the dump has another format version.
        IndexMismatchError
            If the recipe would make different sketches here.
        IndexUnavailableError
            If an index already exists at the location, or cannot be written.
        """
        require(N_("An index"), "index", "sqlalchemy")
        from neardup.index.dump import load

        given = completed(Index.load, options)
        load(location, source, given["progress"])
        return cls(location, must_exist=True, workers=given["workers"])

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
            again.
        text : str
        title : str or None, default=None
            Stored; part of the sketch if the recipe weighs titles.
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
            If the id already has another text, or the document cannot be stored.
        """
        from neardup.index.ingest.transaction import add

        given = completed(Index.add, options)
        document = NewDocument(id, text, title, at, source, extra)
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
            more than that, the first ones may be stored.

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
        The results equal those of :meth:`add` called for each document. A transaction has up
        to 1024 documents; with `within`, one. An `at` that is no valid time is reported as a
        problem of its document.
        """
        from neardup.index.ingest.reading import add_table

        return add_table(self._engine, data, completed(Index.add_many, options))

    @takes_options
    def add_files(
        self,
        inputs: Sequence[str | Path],
        **options: Unpack[AddFilesParameters],
    ) -> Added:
        """Add the documents of files, in order.

        Parameters
        ----------
        inputs : sequence of str or Path
            Files, folders, patterns, or ``-``; see
            :func:`neardup.readers.open_sources`. Without an id field, a document's id is
            ``FILE:RECORD``.
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

        Notes
        -----
        If the index has no documents and counts its own background, it first reads all files and
        counts them. So it keeps the documents that :func:`neardup.dedup_files` keeps.
        """
        from neardup.index.ingest.reading import add_files

        return add_files(self._engine, inputs, completed(Index.add_files, options))

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
            The most similar first. Empty if no document shares a rare passage with the text, for
            an index that stores no texts, and for a rule that searches without keys.
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
        return clusters(self._engine, search=search, after=check_whole(after, "after", 0))

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
        from neardup.index.removals import count_arrivals

        return count_arrivals(self._engine, check_time(since, "since"))

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
            check_whole(before, "before", 1)
        return decisions(self._engine, before)

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
        from neardup.index.query import all_documents

        if state is not None and state not in STATES:
            raise bad("state", "one of {choices} or None", state, choices=", ".join(STATES))
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
        """Remove a document.

        Parameters
        ----------
        id : str

        Returns
        -------
        Removed
            ``freed`` lists the documents that were dropped for it. They stay dropped until
            :meth:`reconsider`.

        Raises
        ------
        InputError
            If there is no such document.
        """
        from neardup.index.retention import remove

        return remove(self._engine, check_string(id, "id"))

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

        keep(self._engine, check_string(id, "id"), _check_by(by))

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

        confirm(self._engine, check_string(id, "id"), _check_by(by))

    def undo(self, id: str, *, by: str | None = None, event: int | None = None) -> None:
        """Undo the last :meth:`keep`, :meth:`confirm` or :meth:`undo` of a document.

        A document that was kept is decided as if it were added now, and then those that were
        dropped for it.

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
            check_whole(event, "event", 1)
        undo(self._engine, check_string(id, "id"), _check_by(by), event)

    def reconsider(
        self, ids: Sequence[str] | None = None, *, dropped: bool = False
    ) -> list[tuple[str, Match | None]]:
        """Decide documents again, with the current background statistics.

        Parameters
        ----------
        ids : sequence of str or None, default=None
            Dropped or freed documents; ids of kept or unknown documents are ignored. None
            means all freed documents: those dropped for a document that has been removed.
        dropped : bool, default=False
            Whether all dropped documents are decided again too; not with `ids`.

        Returns
        -------
        list of (str, Match or None)
            In the order of arrival. Each is decided as if it were added now; None means that
            it is kept.
        """
        from neardup.index.retention import reconsider

        if check_flag(dropped, "dropped") and ids is not None:
            raise bad("dropped", "false if 'ids' is given", dropped)
        if ids is not None:
            if isinstance(ids, str) or not isinstance(ids, Sequence):
                raise bad("ids", "a list of ids or None", ids)
            ids = [check_string(id, "ids") for id in ids]
        return reconsider(self._engine, ids, dropped=dropped)

    def expire(
        self, *, before: datetime | str | None = None, older_than: timedelta | str | None = None
    ) -> Removed:
        """Remove all documents that arrived before a moment.

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
        change. Does nothing and returns 0 if the rule of the index does not use them or the
        background was given.

        Returns
        -------
        int
        """
        from neardup.index.background import recount

        engine = self._engine
        if engine.settings.background != "own":
            return 0
        with engine.writing() as session:
            return recount(session, engine.settings, workers=engine.workers)

    @takes_options
    def export(
        self,
        kept: str | Path,
        *,
        decisions: str | Path | None = None,
        **options: Unpack[OutputParameters],
    ) -> int:
        """Write the kept documents, and on request the decisions on the others.

        Parameters
        ----------
        kept : str or Path
            Output for the kept documents, in the order of arrival: ``id``, ``text``,
            ``title``, ``source``, ``at`` and the further fields. The extension sets the format.
        decisions : str, Path or None, default=None
            Output for the others: ``id``, ``kept_id``, ``similarity``, ``measure``,
            ``distance``, ``reason`` (``identical``, ``similar``, or ``freed`` if the kept
            document is gone) and ``at``.
        {options}

        Returns
        -------
        int
            Number of kept documents.

        Raises
        ------
        OutputError
            If an output exists, cannot be written, or is a file of the index itself. No
            output is left behind then.

        Notes
        -----
        Both outputs show the same snapshot. Memory does not grow with the index.
        """
        from neardup.index.export import write_records
        from neardup.writers import OutputSet

        given = completed(Index.export, options)
        force = given["force"]
        with OutputSet(self._engine.database.files, [kept, decisions]) as outputs:
            first = outputs.open(kept, force=force)
            second = None if decisions is None else outputs.open(decisions, force=force)
            return write_records(self._engine, first, second, given["progress"])

    @takes_options
    def dump(self, output: str | Path, **options: Unpack[OutputParameters]) -> None:
        """Write the whole index to a file from which :meth:`load` can recreate it.

        Parameters
        ----------
        output : str or Path
            A file of any name; ``.gz`` and ``.zst`` compress it. ``-`` is standard output.
        {options}

        Raises
        ------
        OutputError
            If the output exists, cannot be written, or is a file of the index itself.

        Notes
        -----
        The dump is one snapshot. Two indexes with the same content give the same bytes, in
        SQLite and in PostgreSQL. Memory does not grow with the index.
        """
        from neardup.index.dump import dump
        from neardup.writers import OutputSet

        given = completed(Index.dump, options)
        with OutputSet(self._engine.database.files, [output]) as outputs:
            opened = outputs.open_text(output, force=given["force"])
            dump(self._engine, opened.write, given["progress"])

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
        """
        from neardup.writers.separate import check_separate
        from neardup.writers.sink import FileSink

        path = check_path(copy, "copy")
        check_separate(self._engine.database.files, [path])
        if os.path.lexists(path):
            raise OutputError(
                Message("{file}: exists already. Name a new file.", code="exists", file=str(path))
            )
        sink = FileSink(path, force=False)
        try:
            assert sink.part is not None, "a new file has a part"
            self._engine.database.backup(sink.part[1])
            sink.finish()
            sink.commit()
        except BaseException:
            sink.abort()
            raise

    def compact(self) -> None:
        """Return the space of removed documents to the file system."""
        self._engine.database.compact()

    @takes_options
    def check(self, **options: Unpack[CheckParameters]) -> list[str]:
        """Check the index for damage.

        Parameters
        ----------
        {options}

        Returns
        -------
        list of str
            One line for each fault, at most about 1,000; empty if there is none. A line has a
            `code` and `values` for programs.

        Raises
        ------
        ParameterError
            If `full` is not a bool.

        Notes
        -----
        The counters are compared with the rows, and some 1,000 documents, spread evenly, are
        sketched again and their keys looked up. SQLite also checks all pages of the file. With
        `full` all documents, keys and events are checked, which takes about as long as adding
        them. The check reads one snapshot, so others may write meanwhile.
        """
        from neardup.index.integrity import check

        given = completed(Index.check, options)
        return check(self._engine, full=given["full"], progress=given["progress"])

    @takes_options
    def rebuild(self, location: str | Path, **options: Unpack[ProgressParameters]) -> list[str]:
        """Copy what can be read of a damaged index into a new one.

        Sketches, keys and counters are made again from the texts. This index is not changed.

        Parameters
        ----------
        location : str or Path
            A location without an index; see :class:`Index`.
        {options}

        Returns
        -------
        list of str
            One line for each loss, as in :meth:`check`; empty if everything was read. A document
            whose text, id or time is lost is left out. The documents that were dropped for it,
            and one whose decision is lost, are freed: see :meth:`reconsider`.

        Raises
        ------
        IndexFormatError
            If a table is missing, or no document can be read.
        IndexUnavailableError
            If an index already exists at the location, or cannot be written.

        Notes
        -----
        The new index appears when it is complete. Shingles of paper checks are not copied: they
        are made again when they are first needed.
        """
        from neardup.index.rebuild import rebuild

        return rebuild(self._engine, location, completed(Index.rebuild, options)["progress"])

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

    def _open_stored_texts(self, parameter: str) -> StoredTexts:
        """Return the kept documents as the other collection of a run; readers call it."""
        from neardup.index.query import StoredTexts

        return StoredTexts(self._engine, parameter)

    def close(self) -> None:
        """Close all connections. Closing again does nothing."""
        self._engine.database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def _check_by(by: str | None) -> str | None:
    return None if by is None else checked_text(check_string(by, "by"), "by")
