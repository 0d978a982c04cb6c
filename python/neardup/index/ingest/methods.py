"""The methods of `Index` that add documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from neardup.base.messages import Message
from neardup.base.validation import bad, check_path
from neardup.exceptions import InputError, ParameterError
from neardup.options.groups import AddFilesParameters, AddManyParameters, AddParameters
from neardup.options.signatures import completed, takes_options

if TYPE_CHECKING:
    from neardup.index.engine import Engine
    from neardup.index.results import Added, Decision, Match, NewDocument

__all__ = ["Ingest"]


class Ingest:
    """Methods of :class:`neardup.Index`."""

    _engine: Engine

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
        IndexUnavailableError
            If the index cannot be written. Then nothing was stored, unless the message says
            otherwise.
        """
        from neardup.index.ingest.incoming import check_document, make_batch
        from neardup.index.ingest.transaction import add_batch
        from neardup.index.results import NewDocument as New

        given = completed(Ingest.add, options)
        document = check_document(New(id, text, title, at, source, extra), given["at_zone"])
        batch = make_batch(self._engine, [document])
        if batch.problems:
            raise InputError(replace(batch.problems[0], record=None).message)
        decision = add_batch(self._engine, batch, given["within"])[0]
        assert decision is not None
        if decision.problem is not None:
            location, reason = self._engine.location, decision.problem
            raise InputError(
                Message("index.document_refused_here", location=location, reason=reason)
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
            more than that, the first ones may be stored.

        See Also
        --------
        add_many : a table or list of records, with one result for all.

        Notes
        -----
        The documents are decided in their order, each against those before it, as if by
        :meth:`add` one after the other, but with one durable commit.

        Examples
        --------
        >>> import neardup, tempfile
        >>> from neardup.index import NewDocument
        >>> folder = tempfile.TemporaryDirectory()
        >>> with neardup.Index(f"{folder.name}/news.db") as index:
        ...     text = "The council will open the new bridge on Sunday morning."
        ...     found = index.add_together([NewDocument("a1", text), NewDocument("a2", text)])
        >>> [(one.id, one.new, one.repeats.id if one.repeats else None) for one in found]
        [('a1', True, None), ('a2', True, 'a1')]
        >>> folder.cleanup()
        """
        from neardup.index.ingest.incoming import check_document, make_batch
        from neardup.index.ingest.transaction import add_batch, batch_size
        from neardup.index.results import Decision as Made
        from neardup.index.results import NewDocument as New
        from neardup.readers.batch import show

        is_list = isinstance(documents, Sequence) and not isinstance(documents, (str, bytes))
        if not is_list or not all(isinstance(one, New) for one in documents):
            raise bad("documents", "index.list_of_documents", documents)
        problems: dict[int, str] = {}
        checked: dict[int, Any] = {}
        for row, document in enumerate(documents):
            try:
                checked[row] = check_document(document)
            except (InputError, ParameterError) as error:
                problems[row] = error.args[0]
        rows = list(checked)
        answers: dict[int, Decision] = {}
        for begin in range(0, len(rows), batch_size(None)):
            some = rows[begin : begin + batch_size(None)]
            batch = make_batch(self._engine, [checked[row] for row in some])
            for unread in batch.problems:
                row = some[(unread.record or 1) - 1]
                named = Message("index.given_document", id=show(documents[row].id))
                problems[row] = replace(unread, source=named, record=None).message
            for row, decision in zip(some, add_batch(self._engine, batch), strict=True):
                if decision is None:
                    continue
                answers[row] = decision
                if decision.problem is not None:
                    problems[row] = Message("index.document_refused", reason=decision.problem)
        for row, problem in problems.items():
            answers[row] = Made(documents[row].id, False, None, problem)
        return [answers[row] for row in range(len(documents))]

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
        from neardup.index.ingest.reading import Fields, add_source
        from neardup.readers import open_table

        given = completed(Ingest.add_many, options)
        fields = Fields.of(given, needs_ids=True)
        return add_source(self._engine, open_table(data, **fields.read()), fields, given)

    @takes_options
    def add_files(
        self,
        inputs: Sequence[str | Path],
        *,
        output_paths: Sequence[str | Path | None] = (),
        **options: Unpack[AddFilesParameters],
    ) -> Added:
        """Add the documents of files, in order.

        Parameters
        ----------
        inputs : sequence of str or Path
            Files, folders, patterns, or ``-``; see
            :func:`neardup.readers.open_sources`. Without an id field, a document's id is
            ``FILE:RECORD``.
        output_paths : sequence of str, Path or None, default=()
            Files that the caller will write; None and ``-`` are standard output. They must be
            neither inputs nor files of the index.
        {options}

        Returns
        -------
        Added

        Raises
        ------
        InputError
            If a file cannot be read, or is also one of `output_paths`.
        OutputError
            If one of `output_paths` is a file of the index.
        IndexUnavailableError
            As in :meth:`add_many`: adding the same files again continues where this call stopped.

        Notes
        -----
        If the index has no documents and counts its own background, it first reads all files and
        counts them. So it keeps the documents that :func:`neardup.dedup_files` keeps.
        """
        from neardup.index.background import count_input
        from neardup.index.ingest.reading import Fields, add_source
        from neardup.readers import open_sources

        given = completed(Ingest.add_files, options)
        fields = Fields.of(given)
        if isinstance(output_paths, str) or not isinstance(output_paths, Sequence):
            raise bad("output_paths", "index.list_of_paths", output_paths)
        outputs = [None if one is None else check_path(one, "output_paths") for one in output_paths]
        self._engine.database.refuse_outputs(outputs)
        format = given["format"]
        sources = open_sources(inputs, format=format, output_paths=outputs, **fields.read())
        count_input(self._engine, sources, given["progress"])
        added = add_source(self._engine, sources, fields, given)
        of_sources = sources.report_to(given["progress"])
        return replace(added, problem_count=added.problem_count + of_sources)
