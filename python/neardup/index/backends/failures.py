"""Failures of a database, as errors that say what happened and what to do.

A backend finds the failure by the code of its driver's error, since the texts of drivers depend on
version and language.
"""

from __future__ import annotations

import enum
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


class Failure(NamedTuple):
    """The sentences about a failure and its remedy: made early, since it may hide the catalogue."""

    happened: Message
    remedy: Message
    kind: type[IndexUnavailableError | IndexFormatError] = IndexUnavailableError
    lost: bool = False


LOCKED = Failure(
    Message("locked by another process for too long", code="index_in_use"),
    Message("Try again, or end the process that holds it."),
)
NO_TABLES = Failure(
    Message("does not have the tables of an index"),
    Message("Restore the index from a backup, since another program has changed it."),
    IndexFormatError,
)


def make_error(failure: Failure, location: str, moment: Moment) -> NeardupError:
    """Return the error to show for a failure; `location` is the index as shown to users."""
    # Databases roll back a failed commit. Only after a lost connection is it unknown.
    if moment is Moment.COMMITTING and not failure.lost:
        moment = Moment.WRITING
    return failure.kind(
        Message(
            moment.value,
            code=failure.happened.code,
            location=location,
            happened=failure.happened,
            remedy=failure.remedy,
        )
    )
