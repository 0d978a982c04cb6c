"""The failures of SQLite, by its result codes."""

from __future__ import annotations

import sqlite3

from neardup.base.messages import Message
from neardup.exceptions import IndexFormatError
from neardup.index.backends.failures import LOCKED, NO_TABLES, Failure

_READ_ONLY = Failure(
    Message("cannot be written"), Message("The file and its folder must be writable.")
)
_CLOSED = Failure(
    Message("cannot be opened"),
    Message(
        "The file and its folder must be readable and writable: SQLite keeps two more files there."
    ),
)
_DAMAGED = Failure(
    Message("is damaged", code="index_damaged"),
    Message("Restore a backup, or make a new index from its sources or an export."),
    IndexFormatError,
)
#: By SQLite's result code: the extended code, or the primary code in its lowest byte.
_FAILURES = {
    # A reader also needs the two files of the log, because one of them has the log's index.
    sqlite3.SQLITE_READONLY_CANTINIT: _CLOSED,
    sqlite3.SQLITE_READONLY_DIRECTORY: _CLOSED,
    sqlite3.SQLITE_READONLY_RECOVERY: _CLOSED,
    sqlite3.SQLITE_PERM: _CLOSED,
    sqlite3.SQLITE_BUSY: LOCKED,
    sqlite3.SQLITE_LOCKED: LOCKED,
    sqlite3.SQLITE_PROTOCOL: LOCKED,
    sqlite3.SQLITE_READONLY: _READ_ONLY,
    sqlite3.SQLITE_IOERR: Failure(
        Message("cannot be read or written"),
        Message("Check the disk, its free space and the limit on file sizes."),
    ),
    sqlite3.SQLITE_CORRUPT: _DAMAGED,
    sqlite3.SQLITE_FULL: Failure(
        Message("the disk is full", code="disk_full"), Message("Make room and try again.")
    ),
    sqlite3.SQLITE_CANTOPEN: _CLOSED,
    sqlite3.SQLITE_AUTH: _CLOSED,
    sqlite3.SQLITE_NOTADB: Failure(
        Message("must be an index", code="not_an_index"),
        Message("Give the path of an index, or of a new file."),
        IndexFormatError,
    ),
}


def find_sqlite_failure(error: BaseException) -> Failure | None:
    """Return the failure that an error stands for; None if its cause is a bug of neardup."""
    code = getattr(error, "sqlite_errorcode", None)
    if code is None:
        return None
    # A missing table and a syntax error share one code; only the text differs.
    if code == sqlite3.SQLITE_ERROR and str(error).startswith(("no such table", "no such column")):
        return NO_TABLES
    return _FAILURES.get(code) or _FAILURES.get(code & 0xFF)
