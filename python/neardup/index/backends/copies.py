"""Copies of SQLite files, and the lock under which one takes the place of an index."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from neardup.base.files import printable
from neardup.base.locations import index_files
from neardup.base.messages import Message
from neardup.exceptions import IndexFormatError
from neardup.index.backends.failures import Moment, make_error
from neardup.index.backends.log_states import find_foreign_log, mark_anew, refuse_foreign_log
from neardup.index.backends.sqlite_failures import find_sqlite_failure
from neardup.index.schema import SCHEMA

#: Pages that a back-up copies at a time, so that Ctrl-C can come in between.
_PAGES = 4096
#: Where the header has the versions for writers and readers: 2 with a log, else 1.
_VERSIONS_AT = 18


def copy_into(source: sqlite3.Connection, path: str) -> None:
    """Copy a database into a new file, which no log of the old one belongs to."""
    # Without SQLite's locks, which some systems mix with the lock of the writer.
    uri = f"{Path(path).as_uri()}?nolock=1"
    with closing(sqlite3.connect(uri, uri=True, isolation_level=None)) as copy:
        source.backup(copy, pages=_PAGES)
    with open(path, "r+b") as file:
        # Not in WAL mode, so that the file is complete by itself; SQLite needs locks for that.
        file.seek(_VERSIONS_AT)
        file.write(b"\1\1")
        mark_anew(file)
        os.fsync(file.fileno())


def copy_backup(source: str, part: str) -> None:
    """Copy an index into a file, and check the copy."""
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
        raise _explain(error, shown, Moment.READING) from error
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
def locked(target: str, seconds: float) -> Iterator[None]:
    """Keep others from writing to an index, so that no change is acknowledged and lost."""
    files = [Path(path) for path in index_files(target)]
    if not files[0].exists() or find_foreign_log(files) is not None:
        yield
        return
    uri = f"{files[0].as_uri()}?mode=rw"
    with closing(sqlite3.connect(uri, uri=True, timeout=seconds, isolation_level=None)) as held:
        try:
            held.execute("BEGIN IMMEDIATE")
        except sqlite3.Error as error:
            # A damaged file, or one of another program, is replaced without.
            if error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                raise _explain(error, printable(target), Moment.WRITING) from error
        yield


def _explain(error: sqlite3.Error, location: str, moment: Moment) -> Exception:
    failure = find_sqlite_failure(error)
    return error if failure is None else make_error(failure, location, moment)
