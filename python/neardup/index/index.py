"""The persistent index: has this been seen before?"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, Unpack

from neardup.base.extras import require
from neardup.base.messages import Message
from neardup.base.validation import bad, check_path
from neardup.exceptions import OutputError, ParameterError
from neardup.index.ingest.methods import Ingest
from neardup.index.query import Query
from neardup.index.retention import Retention
from neardup.options.groups import (
    CheckParameters,
    IndexParameters,
    LoadParameters,
    OutputParameters,
    ProgressParameters,
)
from neardup.options.signatures import completed, takes_options

if TYPE_CHECKING:
    from neardup.index.engine import Engine
    from neardup.index.stored_texts import StoredTexts

__all__ = ["Index"]

#: Options that become settings, or are compared with the settings of an existing index.
_WANTED = ("recipe", "measure", "threshold", "max_distance", "store", "expected")


@takes_options
class Index(Ingest, Query, Retention):
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
    kept. When a method returns, its result is on disk. An addition looks up some tens of keys;
    its cost grows with the logarithm of the number of documents.

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

    def __init__(self, location: str | Path, **options: Unpack[IndexParameters]) -> None:
        require("readers.an_index", "index", "sqlalchemy")
        from neardup.index.engine import open_index
        from neardup.readers import Sources, open_table

        given = completed(Index, options)
        background, must_exist = given["background"], given["must_exist"]
        if background is not None and not isinstance(background, Sources):
            try:
                background = open_table(background)
            except ParameterError:
                raise bad("background", "index.background_data", background) from None
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
        require("readers.an_index", "index", "sqlalchemy")
        from neardup.index.restore import load

        given = completed(Index.load, options)
        load(location, source, given["progress"])
        return cls(location, must_exist=True, workers=given["workers"])

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
        self._engine.database.refuse_outputs([kept, decisions])
        with OutputSet() as outputs:
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
        from neardup.index.export import dump
        from neardup.writers import OutputSet

        given = completed(Index.dump, options)
        self._engine.database.refuse_outputs([output])
        with OutputSet() as outputs:
            opened = outputs.open_text(output, force=given["force"])
            dump(self._engine, opened.write, given["progress"])

    def __repr__(self) -> str:
        """Return class and location, without a password."""
        return f"{type(self).__name__}({self._engine.location!r})"

    def __reduce__(self) -> Any:
        """Raise: connections and locks belong to one process."""
        raise TypeError(Message("index.cannot_be_pickled", location=repr(self._engine.location)))

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

        Examples
        --------
        >>> import neardup, tempfile
        >>> folder = tempfile.TemporaryDirectory()
        >>> with neardup.Index(f"{folder.name}/news.db") as index:
        ...     index.add("a1", "The council will open the new bridge on Sunday morning.")
        ...     index.backup(f"{folder.name}/copy.db")
        >>> with neardup.Index(f"{folder.name}/copy.db") as copy:
        ...     "a1" in copy
        True
        >>> folder.cleanup()
        """
        from neardup.writers.sink import FileSink

        path = check_path(copy, "copy")
        self._engine.database.refuse_outputs([path])
        if os.path.lexists(path):
            raise OutputError(Message("index.copy_exists", file=str(path)))
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
        Without `full`, some 1,000 documents, spread evenly, are sketched again; all other rows
        and counters are always checked. SQLite also checks all pages of the file. The check
        reads one snapshot, so others may write meanwhile. With `full` it takes about as long as
        adding all documents.

        Examples
        --------
        >>> import neardup, tempfile
        >>> folder = tempfile.TemporaryDirectory()
        >>> with neardup.Index(f"{folder.name}/news.db") as index:
        ...     index.add("a1", "The council will open the new bridge on Sunday morning.")
        ...     index.check(full=True)
        []
        >>> folder.cleanup()
        """
        from neardup.index.integrity import check

        given = completed(Index.check, options)
        return check(self._engine, full=given["full"], progress=given["progress"])

    @takes_options
    def repair(self, **options: Unpack[ProgressParameters]) -> list[str]:
        """Rebuild sketches, keys, states and counters from the texts.

        A document whose text is lost is removed. Back up the files of the index first.

        Parameters
        ----------
        {options}

        Returns
        -------
        list of str
            What was changed and what is lost, one line each as in :meth:`check`; empty if nothing
            was damaged.

        Raises
        ------
        IndexFormatError
            If pages or tables of the database are damaged, which cannot be repaired.
        IndexUnavailableError
            If the index cannot be written.

        Notes
        -----
        The repair runs in many small transactions. If it is interrupted, call it again.
        """
        from neardup.index.repair import repair

        return repair(self._engine, progress=completed(Index.repair, options)["progress"])

    def _open_stored_texts(self, parameter: str) -> StoredTexts:
        """Return the kept documents as the other collection of a run; readers call it."""
        from neardup.index.stored_texts import StoredTexts

        return StoredTexts(self._engine, parameter)

    def close(self) -> None:
        """Close all connections. Closing again does nothing."""
        self._engine.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()
