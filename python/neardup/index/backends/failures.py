"""Converts errors of the drivers to errors that say what happened and what to do.

A message has up to four parts: the index, what happened with the driver's own text, whether the
change was stored, and what to do. The drivers' error codes decide, not their texts, which depend
on version and language; one exception is marked below.
"""

from __future__ import annotations

import enum
import sqlite3
from typing import NamedTuple

from neardup.base.messages import Message
from neardup.exceptions import IndexFormatError, IndexUnavailableError, NeardupError

__all__ = ["Moment", "explained"]


class Moment(enum.Enum):
    """The phase of a transaction in which it failed, as a message code."""

    READING = "index.failed_reading"
    WRITING = "index.failed_writing"
    COMMITTING = "index.failed_committing"


class _Failure(NamedTuple):
    """What happened, and what to do.

    The messages are made when this module is imported: after a failure, the process may be unable
    to open the file of the message catalogue.
    """

    happened: Message
    remedy: Message
    kind: type[IndexUnavailableError | IndexFormatError] = IndexUnavailableError
    lost: bool = False


_LOCKED = _Failure(Message("index.locked"), Message("index.locked_remedy"))
_READ_ONLY = _Failure(Message("index.cannot_be_written"), Message("index.cannot_be_written_remedy"))
_CLOSED = _Failure(Message("index.cannot_be_opened"), Message("index.cannot_be_opened_remedy"))
_DAMAGED = _Failure(
    Message("index.file_is_damaged"), Message("index.file_is_damaged_remedy"), IndexFormatError
)
_NO_TABLES = _Failure(
    Message("index.no_tables"), Message("index.no_tables_remedy"), IndexFormatError
)

#: By SQLite's result code: the extended code, or the primary code in its lowest byte.
_SQLITE = {
    # A reader also needs the two files of the log, because one of them has the log's index.
    sqlite3.SQLITE_READONLY_CANTINIT: _CLOSED,
    sqlite3.SQLITE_READONLY_DIRECTORY: _CLOSED,
    sqlite3.SQLITE_READONLY_RECOVERY: _CLOSED,
    sqlite3.SQLITE_PERM: _CLOSED,
    sqlite3.SQLITE_BUSY: _LOCKED,
    sqlite3.SQLITE_LOCKED: _LOCKED,
    sqlite3.SQLITE_PROTOCOL: _LOCKED,
    sqlite3.SQLITE_READONLY: _READ_ONLY,
    sqlite3.SQLITE_IOERR: _Failure(Message("index.disk_fails"), Message("index.disk_fails_remedy")),
    sqlite3.SQLITE_CORRUPT: _DAMAGED,
    sqlite3.SQLITE_FULL: _Failure(
        Message("index.disk_is_full"), Message("index.disk_is_full_remedy")
    ),
    sqlite3.SQLITE_CANTOPEN: _CLOSED,
    sqlite3.SQLITE_AUTH: _CLOSED,
    sqlite3.SQLITE_NOTADB: _Failure(
        Message("index.is_no_index"), Message("index.elsewhere_file"), IndexFormatError
    ),
}

_LOST = _Failure(
    Message("index.connection_lost"),
    Message("index.connection_lost_remedy"),
    lost=True,
)
_NO_SERVER = _Failure(Message("index.no_server"), Message("index.no_server_remedy"))
_DENIED = _Failure(Message("index.access_denied"), Message("index.access_denied_remedy"))
_FULL = _Failure(Message("index.server_is_full"), Message("index.server_is_full_remedy"))
_BUSY = _Failure(Message("index.server_is_busy"), Message("index.server_is_busy_remedy"))
_DAMAGED_THERE = _Failure(
    Message("index.damaged_on_server"), Message("index.damaged_on_server_remedy"), IndexFormatError
)

#: By SQLSTATE, or its first two characters.
_POSTGRESQL = {
    "08": _LOST,
    "57P01": _LOST,
    "57P02": _LOST,
    "57P03": _NO_SERVER,
    "57P05": _LOST,
    "25P03": _LOST,
    "25P04": _LOST,
    "40003": _LOST,
    "28": _NO_SERVER,
    "3D000": _NO_SERVER,
    "42501": _DENIED,
    "25006": _Failure(
        Message("index.server_is_read_only"), Message("index.server_is_read_only_remedy")
    ),
    "53100": _FULL,
    "53": _BUSY,
    "55P03": _LOCKED,
    "57014": _BUSY,
    "40": _BUSY,
    "58": _Failure(Message("index.server_files_fail"), Message("index.server_files_fail_remedy")),
    "XX001": _DAMAGED_THERE,
    "XX002": _DAMAGED_THERE,
    "42P01": _NO_TABLES,
    "42703": _NO_TABLES,
    "3F000": _NO_TABLES,
}


def _of_sqlite(error: sqlite3.Error) -> _Failure | None:
    code = getattr(error, "sqlite_errorcode", None)
    if code is None:
        return None
    # A missing table and a syntax error share one code; only the text differs.
    if code == sqlite3.SQLITE_ERROR and str(error).startswith(("no such table", "no such column")):
        return _NO_TABLES
    return _SQLITE.get(code) or _SQLITE.get(code & 0xFF)


def _of_postgresql(error: BaseException, connected: bool) -> _Failure | None:
    state = getattr(error, "sqlstate", None)
    if state is not None:
        return _POSTGRESQL.get(state) or _POSTGRESQL.get(state[:2])
    # An error without a code comes from the client library: no server was there to give one.
    if type(error).__name__ in ("OperationalError", "ConnectionTimeout"):
        return _LOST if connected else _NO_SERVER
    return None


def _words(error: BaseException) -> str:
    primary = getattr(getattr(error, "diag", None), "message_primary", None)
    return " ".join(str(primary or error).split()).rstrip(".?! ")


def explained(
    error: Exception, location: str, moment: Moment, *, connected: bool = True
) -> NeardupError | None:
    """Return the error to show for a driver's error; None if the cause is a bug of neardup.

    `location` is the index as shown to users; `connected` is false if connecting failed.
    """
    # SQLAlchemy's errors wrap the driver's.
    cause: BaseException = getattr(error, "orig", None) or error
    if isinstance(cause, sqlite3.Error):
        failure = _of_sqlite(cause)
    else:
        failure = _of_postgresql(cause, connected)
    if failure is None:
        return None
    # Both databases roll back a failed commit. Only after a lost connection is it unknown.
    if moment is Moment.COMMITTING and not failure.lost:
        moment = Moment.WRITING
    return failure.kind(
        Message(
            moment.value,
            location=location,
            happened=failure.happened,
            reason=_words(cause),
            remedy=failure.remedy,
        )
    )
