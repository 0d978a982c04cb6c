"""The failures of PostgreSQL, by SQLSTATE."""

from __future__ import annotations

from neardup.base.messages import Message
from neardup.exceptions import IndexFormatError
from neardup.index.backends.failures import LOCKED, NO_TABLES, Failure

_LOST = Failure(
    Message("the connection to the server was lost", code="connection_lost"),
    Message("The next call connects again."),
    lost=True,
)
_NO_SERVER = Failure(
    Message("cannot connect", code="connection_lost"),
    Message("Check that the server runs, and the host, port, database, user and password."),
)
_DENIED = Failure(
    Message("the server denies access", code="access_denied"),
    Message("The user must be allowed to create the schema once, and to write its tables."),
)
_FULL = Failure(
    Message("the server is out of space", code="disk_full"),
    Message("Make room there and try again."),
)
_BUSY = Failure(
    Message("the server could not do this now"), Message("Try again when it is less busy.")
)
_DAMAGED_THERE = Failure(
    Message("is damaged on the server", code="index_damaged"),
    Message("Restore the database from a backup."),
    IndexFormatError,
)

#: By the code, or its first two characters.
_FAILURES = {
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
    "25006": Failure(
        Message("the server is read-only"),
        Message("Give the address of the server that accepts changes."),
    ),
    "53100": _FULL,
    "53": _BUSY,
    "55P03": LOCKED,
    "57014": _BUSY,
    "40": _BUSY,
    "58": Failure(Message("the server cannot read or write its files"), Message("Check its log.")),
    "XX001": _DAMAGED_THERE,
    "XX002": _DAMAGED_THERE,
    "42P01": NO_TABLES,
    "42703": NO_TABLES,
    "3F000": NO_TABLES,
}


def find_postgresql_failure(error: BaseException, *, connected: bool) -> Failure | None:
    """Return the failure that an error stands for; None if its cause is a bug of neardup.

    `connected` is false if connecting failed.
    """
    state = getattr(error, "sqlstate", None)
    failure = None
    if state is not None:
        failure = _FAILURES.get(state) or _FAILURES.get(state[:2])
    elif type(error).__name__ in ("OperationalError", "ConnectionTimeout"):
        # An error without a code comes from the client library: no server was there to give one.
        failure = _LOST if connected else _NO_SERVER
    if failure is None:
        return None
    # The server has more to say, such as which host refuses.
    happened = Message(
        "{happened} ({reason})",
        code=failure.happened.code,
        happened=failure.happened,
        reason=_read_words(error),
    )
    return failure._replace(happened=happened)


def _read_words(error: BaseException) -> str:
    primary = getattr(getattr(error, "diag", None), "message_primary", None)
    return " ".join(str(primary or error).split()).rstrip(".?! ")
