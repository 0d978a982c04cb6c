"""Backups of an index in SQLite, and what puts one in the place of an index with its log."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from neardup.base.extras import require
from neardup.base.files import printable
from neardup.base.messages import N_, Message
from neardup.base.validation import check_flag, check_path, index_files
from neardup.exceptions import IndexFormatError, OutputError, ParameterError
from neardup.writers.output_conflicts import refuse_input_as_output
from neardup.writers.sink import FileSink

if TYPE_CHECKING:
    from neardup.index.engine import Engine


def backup(engine: Engine, copy: str | Path) -> None:
    """Copy an index, which may be in use, to a new file; see `Index.backup`."""
    path = check_path(copy, "copy")
    refuse_input_as_output(engine.files, [path])
    if os.path.lexists(path):
        raise _exists(path, N_("{file}: exists already. Name a new file."))
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
            raise _exists(
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
        _copy(source, sink.part[1])
        sink.finish()
        with _locked(target):
            # In this order: a crash in between leaves a log that is refused.
            sink.commit()
            for log in logs:
                Path(log).unlink(missing_ok=True)
    finally:
        sink.abort()


def _exists(file: str, template: str) -> OutputError:
    return OutputError(Message(template, code="exists", file=printable(file)))


def _copy(source: str, part: str) -> None:
    """Copy an index into a file, and check the copy."""
    from neardup.index.backends.failures import Moment, explain_failure
    from neardup.index.backends.own_log import refuse_foreign_log
    from neardup.index.backends.sqlite import copy_into
    from neardup.index.schema import SCHEMA

    shown = printable(source)
    files = [Path(path) for path in index_files(source)]
    if not files[0].is_file():
        raise IndexFormatError(Message("{location}: must be the file of an index.", location=shown))
    refuse_foreign_log(files, shown)
    has_log = any(log.exists() and log.stat().st_size for log in (files[1], files[3]))
    # Without a log nothing is written next to the backup, which may be on a read-only disk.
    uri = f"{files[0].as_uri()}?mode=ro" + ("" if has_log else "&immutable=1")
    try:
        with closing(sqlite3.connect(uri, uri=True)) as opened:
            version = opened.execute("SELECT value FROM meta WHERE name = 'schema'").fetchone()
            opened.execute("SELECT count(*) FROM documents").fetchone()
            copy_into(opened, part)
        with closing(sqlite3.connect(f"{Path(part).as_uri()}?nolock=1", uri=True)) as copied:
            (line,) = copied.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.Error as error:
        meant = explain_failure(error, shown, Moment.READING)
        raise meant or error from error
    if version != (str(SCHEMA),):
        raise IndexFormatError(
            Message(
                "{location}: must be an index of format {expected}. Restore it with the version of "
                "neardup that made it.",
                code="other_version",
                location=shown,
                expected=SCHEMA,
            )
        )
    if line != "ok":
        raise IndexFormatError(
            Message(
                "{location}: is damaged: {fault}. Name another backup.",
                code="index_damaged",
                location=shown,
                fault=line,
            )
        )


@contextmanager
def _locked(target: str) -> Iterator[None]:
    """Keep others from writing to an index, so that no change is acknowledged and lost."""
    from neardup.index.backends.failures import Moment, explain_failure
    from neardup.index.backends.own_log import foreign_log
    from neardup.index.backends.sqlite import SQLiteFile

    files = [Path(path) for path in index_files(target)]
    if not files[0].exists() or foreign_log(files) is not None:
        yield
        return
    uri = f"{files[0].as_uri()}?mode=rw"
    seconds = SQLiteFile.lock_seconds
    with closing(sqlite3.connect(uri, uri=True, timeout=seconds, isolation_level=None)) as held:
        try:
            held.execute("BEGIN IMMEDIATE")
        except sqlite3.Error as error:
            # A damaged file, or one of another program, is replaced without.
            if error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                meant = explain_failure(error, printable(target), Moment.WRITING)
                raise meant or error from error
        yield
