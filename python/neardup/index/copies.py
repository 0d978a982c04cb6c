"""Backups of an index in SQLite, and what puts one in the place of an index with its log."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from neardup.base.extras import require
from neardup.base.files import printable
from neardup.base.locations import index_files
from neardup.base.messages import N_, Message
from neardup.base.validation import check_flag, check_path
from neardup.exceptions import OutputError, ParameterError
from neardup.writers.output_conflicts import refuse_input_as_output
from neardup.writers.sink import FileSink

if TYPE_CHECKING:
    from neardup.index.engine import Engine


def backup(engine: Engine, copy: str | Path) -> None:
    """Copy an index, which may be in use, to a new file; see `Index.backup`."""
    path = check_path(copy, "copy")
    refuse_input_as_output(engine.files, [path])
    if os.path.lexists(path):
        raise _make_exists_error(path, N_("{file}: exists already. Name a new file."))
    with FileSink(path, force=False) as sink:
        assert sink.part is not None, "a new file has a part"
        engine.database.backup(sink.part[1])


def restore(backup: str | Path, location: str | Path, *, force: bool = False) -> None:
    """Put a backup in the place of an index in SQLite, which loses its log with its documents.

    Parameters
    ----------
    backup : str or Path
        A file that :meth:`Index.backup` wrote, or another copy of an index in SQLite. It stays
        unchanged.
    location : str or Path
        The index to be replaced, or a path without a file.
    force : bool, default=False
        Whether to replace what is there. Writers that have the old index open are refused from
        then on.

    Raises
    ------
    IndexFormatError
        If the backup is not an index of this version, or is damaged.
    IndexUnavailableError
        If the index is locked by another process for too long.
    OutputError
        If there is an index or its log, without `force`, or the file cannot be written. The index
        is unchanged then.

    See Also
    --------
    Index.backup : make a copy.
    """
    require(N_("An index"), "index", "sqlalchemy")
    from neardup.index.backends.copies import copy_backup, locked
    from neardup.index.backends.sqlite import SQLiteFile

    source, target = check_path(backup, "backup"), check_path(location, "location")
    check_flag(force, "force")
    for name, path in (("backup", source), ("location", target)):
        if "://" in path:
            raise ParameterError(
                Message(
                    "{parameter:named} must be a file. Restore an index in PostgreSQL with psql or "
                    "pg_restore.",
                    parameter=name,
                )
            )
    refuse_input_as_output(index_files(source), [target])
    _, *logs = index_files(target)
    for log in logs:
        if not force and os.path.exists(log) and os.path.getsize(log):
            raise _make_exists_error(
                log,
                N_(
                    "{file}: exists already, the log of another index. Move it away, or replace "
                    "it with {given[force=True]}."
                ),
            )
    sink = FileSink(target, force=force)
    try:
        if sink.part is None:
            raise OutputError(Message("{file}: must be a regular file.", file=printable(target)))
        copy_backup(source, sink.part[1])
        sink.finish()
        with locked(target, SQLiteFile.lock_seconds):
            # In this order: a crash in between leaves a log that is refused.
            sink.commit()
            for log in logs:
                Path(log).unlink(missing_ok=True)
    finally:
        sink.abort()


def _make_exists_error(file: str, template: str) -> OutputError:
    return OutputError(Message(template, code="exists", file=printable(file)))
