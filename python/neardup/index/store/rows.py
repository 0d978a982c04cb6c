"""The meaning of the rows of an index, and the errors about them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from sqlalchemy import RowMapping

from neardup.base.messages import Message
from neardup.exceptions import IndexFormatError, InputError
from neardup.readers.batch import show

#: Number of documents that at least one capped list left out when they were added, by its name in
#: stored indexes.
SKIPPED_DOCUMENTS = "unlisted"

#: Number of postings in the table of recent keys.
RECENT = "recent"

#: Counters that every index has.
COUNTERS = (
    *("next", "kept", "dropped", "arrived", "counted_at", "background"),
    *(SKIPPED_DOCUMENTS, RECENT),
)


def remedy(location: str) -> Message:
    """Return a message that says how to deal with damage."""
    return Message(
        "Restore a backup of {location}, or make a new index from its sources or an export.",
        location=location,
    )


def damage(template: str, location: str, **values: Any) -> IndexFormatError:
    """Return the error that a part of an index is damaged, with the remedy."""
    return IndexFormatError(
        Message(
            template, code="index_damaged", location=location, remedy=remedy(location), **values
        )
    )


def unknown_document(location: str, id: str) -> InputError:
    """Return the error that an index has no document with this id."""
    return InputError(
        Message(
            "{location}: there is no document '{id}'.",
            code="no_such_document",
            location=location,
            id=show(id),
        )
    )


def extra_of(row: Mapping[str, Any] | RowMapping) -> dict[str, Any]:
    """Return the further fields of a document."""
    return {} if row["extra"] is None else json.loads(row["extra"])
