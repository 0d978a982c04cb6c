"""The persistent index: has this been seen before?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, Unpack

from neardup.base.extras import require
from neardup.base.messages import N_, Message
from neardup.base.validation import bad, check_path
from neardup.exceptions import InputError
from neardup.index import copies, integrity
from neardup.index.background import recount
from neardup.index.browsing import Browsing
from neardup.index.decisions import Decisions
from neardup.index.export import write_records
from neardup.index.ingest import transaction
from neardup.index.ingest.incoming import IncomingBatch
from neardup.index.query import Queries
from neardup.index.results import AddResult, Decision, Match, NewDocument
from neardup.index.retention import Retention
from neardup.options.index_groups import (
    AddFilesParameters,
    AddManyParameters,
    AddParameters,
    ExportParameters,
    IndexParameters,
)
from neardup.options.shared_groups import ProgressParameters
from neardup.options.signatures import complete_options, takes_options
from neardup.writers import OutputSet

if TYPE_CHECKING:
    from neardup.index.engine import Engine

#: Options that become settings, or are compared with the settings of an existing index.
_WANTED = ("recipe", "ignore", "measure", "threshold", "max_distance", "expected")


@takes_options
class Index(Queries, Browsing, Decisions, Retention):
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
    The rule is the same as in :func:`neardup.dedup`: a document is dropped if and only if it is
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

        values = complete_options(Index, options)
        must_exist = values["must_exist"]
        self._engine: Engine = open_index(
            location,
            {name: values[name] for name in _WANTED},
            workers=values["workers"],
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
        values = complete_options(Index.add, options)
        document = NewDocument(id, text, title, at, source, extra, values["replace"])
        batch = IncomingBatch.from_documents(self._engine, [document], values["at_zone"])
        batch.check()
        decision = transaction.add_batch(self._engine, batch, values["within"])[0]
        assert decision is not None
        if decision.problem is not None:
            raise InputError(
                Message(
                    "{location}: a document {reason}. Replace it with {given[replace=True]}, or "
                    "choose another id.",
                    location=self._engine.location,
                    reason=decision.problem,
                )
            )
        return decision.repeats

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
        Each document is decided against those before it, as if :meth:`add` were called for one
        after the other. There is one durable commit.
        """
        is_list = isinstance(documents, Sequence) and not isinstance(documents, (str, bytes))
        if not is_list or not all(isinstance(document, NewDocument) for document in documents):
            raise bad("documents", "a list of NewDocument", documents)
        answers: list[Decision] = []
        for begin in range(0, len(documents), transaction.BATCH):
            part = documents[begin : begin + transaction.BATCH]
            batch = IncomingBatch.from_documents(self._engine, part)
            problems = batch.explain_refusals(part)
            can_add = len(problems) < len(part)
            decisions = (
                transaction.add_batch(self._engine, batch) if can_add else [None] * len(part)
            )
            for row, decision in enumerate(decisions):
                if decision is None:
                    decision = Decision(part[row].id, False, None, problems[row])
                elif decision.problem is not None:
                    reason = Message("A document {reason}.", reason=decision.problem)
                    decision = replace(decision, problem=reason)
                answers.append(decision)
        return answers

    @takes_options
    def add_many(self, data: Any, **options: Unpack[AddManyParameters]) -> AddResult:
        """Add the documents of a collection, in order.

        Parameters
        ----------
        data : Arrow table, pandas or polars DataFrame, list of dict
            The same types as for :func:`neardup.dedup`. Each record needs an id.
        {options}

        Returns
        -------
        AddResult
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
        :func:`neardup.dedup` does. It stores them in transactions of some 20,000, and each is
        durable when it ends; with `within` they are only counted together. A later addition has
        the results of :meth:`add` called for each document. A transaction has up to 1,024
        documents, with `within` one; a document that replaces another begins a new one.
        If an id is repeated with `replace`, its last document stays. The result has each decision
        as it was made; a later replacement may have changed it. An `at` that is not a valid time is
        reported as a problem of its document.
        """
        from neardup.index.ingest.reading import add_table

        return add_table(self._engine, data, complete_options(Index.add_many, options))

    @takes_options
    def add_files(
        self,
        inputs: Sequence[str | Path],
        *,
        removed: str | Path | None = None,
        report: str | Path | None = None,
        **options: Unpack[AddFilesParameters],
    ) -> AddResult:
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
        AddResult

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
        # Loads readers of all formats, which take longer than a query.
        from neardup.index.ingest.reading import add_files

        engine, outputs = self._engine, {"removed": removed, "report": report}
        return add_files(engine.files, lambda: engine, inputs, outputs, Index.add_files, options)

    def recount(self) -> int:
        """Recompute the background statistics; return how many texts were read.

        The newest texts are read. Later decisions use the new statistics; earlier ones do not
        change. Does nothing and returns 0 if the rule of the index does not use them.

        Returns
        -------
        int
        """
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
        documents; with `include_removed`, the dropped ones too.
        """
        values = complete_options(Index.export, options)
        wanted = {"output": check_path(output, "output"), "decisions": decisions}
        with OutputSet(self._engine.files, rows=wanted, force=values["force"]) as outputs:
            everything, progress = values["include_removed"], values["progress"]
            return write_records(self._engine, outputs.files, progress, include_removed=everything)

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
        copies.backup(self._engine, copy)

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
        integrity.check(self._engine, complete_options(Index.check, options)["progress"])

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

    def close(self) -> None:
        """Close all connections. Closing again does nothing."""
        self._engine.database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()
