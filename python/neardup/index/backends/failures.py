"""Converts errors of the drivers to errors that say what happened and what to do.

The drivers' error codes decide, not their texts, which depend on version and language.
"""

from __future__ import annotations

import enum
import sqlite3
from typing import NamedTuple

from neardup.base.messages import N_, Message
from neardup.exceptions import IndexFormatError, IndexUnavailableError, NeardupError


class Moment(enum.Enum):
    """The phase of a transaction in which it failed, as the sentence about it."""

    READING = N_("{location}: {happened}. {remedy}")
    WRITING = N_("{location}: {happened}, and nothing of this change was stored. {remedy}")
    COMMITTING = N_(
        "{location}: {happened}, so this change may or may not be stored. Adding the same "
        "documents again is safe."
    )


class _Failure(NamedTuple):
    """The sentences about a failure and its remedy: made early, since it may hide the catalogue."""

    happened: Message
    remedy: Message
    kind: type[IndexUnavailableError | IndexFormatError] = IndexUnavailableError
    lost: bool = False


_LOCKED = _Failure(
    Message("locked by another process for too long", code="index_in_use"),
    Message("Try again, or end the process that holds it."),
)
_READ_ONLY = _Failure(
    Message("cannot be written"), Message("The file and its folder must be writable.")
)
_CLOSED = _Failure(
    Message("cannot be opened"),
    Message(
        "The file and its folder must be readable and writable: SQLite keeps two more files there."
    ),
)
_DAMAGED = _Failure(
    Message("is damaged", code="index_damaged"),
    Message("Restore a backup, or make a new index from its sources or an export."),
    IndexFormatError,
)
_NO_TABLES = _Failure(
    Message("does not have the tables of an index"),
    Message("Restore the index from a backup, since another program has changed it."),
    IndexFormatError,
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
    sqlite3.SQLITE_IOERR: _Failure(
        Message("cannot be read or written"),
        Message("Check the disk, its free space and the limit on file sizes."),
    ),
    sqlite3.SQLITE_CORRUPT: _DAMAGED,
    sqlite3.SQLITE_FULL: _Failure(
        Message("the disk is full", code="disk_full"), Message("Make room and try again.")
    ),
    sqlite3.SQLITE_CANTOPEN: _CLOSED,
    sqlite3.SQLITE_AUTH: _CLOSED,
    sqlite3.SQLITE_NOTADB: _Failure(
        Message("must be an index", code="not_an_index"),
        Message("Give the path of an index, or of a new file."),
        IndexFormatError,
    ),
}

_LOST = _Failure(
    Message("the connection to the server was lost", code="connection_lost"),
    Message("The next call connects again."),
    lost=True,
)
_NO_SERVER = _Failure(
    Message("cannot connect", code="connection_lost"),
    Message("Check that the server runs, and the host, port, database, user and password."),
)
_DENIED = _Failure(
    Message("the server denies access", code="access_denied"),
    Message("The user must be allowed to create the schema once, and to write its tables."),
)
_FULL = _Failure(
    Message("the server is out of space", code="disk_full"),
    Message("Make room there and try again."),
)
_BUSY = _Failure(
    Message("the server could not do this now"), Message("Try again when it is less busy.")
)
_DAMAGED_THERE = _Failure(
    Message("is damaged on the server", code="index_damaged"),
    Message("Restore the database from a backup."),
    IndexFormatError,
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
        Message("the server is read-only"),
        Message("Give the address of the server that accepts changes."),
    ),
    "53100": _FULL,
    "53": _BUSY,
    "55P03": _LOCKED,
    "57014": _BUSY,
    "40": _BUSY,
    "58": _Failure(Message("the server cannot read or write its files"), Message("Check its log.")),
    "XX001": _DAMAGED_THERE,
    "XX002": _DAMAGED_THERE,
    "42P01": _NO_TABLES,
    "42703": _NO_TABLES,
    "3F000": _NO_TABLES,
}


def _find_sqlite_failure(error: sqlite3.Error) -> _Failure | None:
    code = getattr(error, "sqlite_errorcode", None)
    if code is None:
        return None
    # A missing table and a syntax error share one code; only the text differs.
    if code == sqlite3.SQLITE_ERROR and str(error).startswith(("no such table", "no such column")):
        return _NO_TABLES
    return _SQLITE.get(code) or _SQLITE.get(code & 0xFF)


def _find_postgresql_failure(error: BaseException, connected: bool) -> _Failure | None:
    state = getattr(error, "sqlstate", None)
    if state is not None:
        return _POSTGRESQL.get(state) or _POSTGRESQL.get(state[:2])
    # An error without a code comes from the client library: no server was there to give one.
    if type(error).__name__ in ("OperationalError", "ConnectionTimeout"):
        return _LOST if connected else _NO_SERVER
    return None


def _read_words(error: BaseException) -> str:
    primary = getattr(getattr(error, "diag", None), "message_primary", None)
    return " ".join(str(primary or error).split()).rstrip(".?! ")


def explain_failure(
    error: Exception, location: str, moment: Moment, *, connected: bool = True
) -> NeardupError | None:
    """Return the error to show for a driver's error; None if the cause is a bug of neardup.

    `location` is the index as shown to users; `connected` is false if connecting failed.
    """
    # SQLAlchemy's errors wrap the driver's.
    cause: BaseException = getattr(error, "orig", None) or error
    if isinstance(cause, sqlite3.Error):
        failure = _find_sqlite_failure(cause)
    else:
        failure = _find_postgresql_failure(cause, connected)
    if failure is None:
        return None
    # Both databases roll back a failed commit. Only after a lost connection is it unknown.
    if moment is Moment.COMMITTING and not failure.lost:
        moment = Moment.WRITING
    happened = failure.happened
    if not isinstance(cause, sqlite3.Error):
        # A server has more to say, such as which host refuses; SQLite repeats its code in English.
        happened = Message("{happened} ({reason})", happened=happened, reason=_read_words(cause))
    return failure.kind(
        Message(
            moment.value,
            code=failure.happened.code,
            location=location,
            happened=happened,
            remedy=failure.remedy,
        )
    )
