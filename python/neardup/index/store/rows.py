"""The meaning of the rows of an index, and the errors about them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import zstandard
from numpy.typing import NDArray

from neardup.base.messages import Message
from neardup.exceptions import IndexFormatError, InputError
from neardup.index.results import Match
from neardup.index.values import IDENTICAL
from neardup.readers.batch import show

if TYPE_CHECKING:
    from sqlalchemy import RowMapping

#: Number of documents that at least one full posting list left out when they were added.
SKIPPED_DOCUMENTS = "skipped_documents"

#: Number of postings in the table of recent keys.
RECENT = "recent"

#: Counters that every index has.
COUNTERS = (
    *("next", "kept", "dropped", "arrived", "counted_at", "background"),
    *(SKIPPED_DOCUMENTS, RECENT),
)


@dataclass(frozen=True)
class Postings:
    """Rows of the table of keys, by column; keys are signed as in the store."""

    keys: NDArray[np.int64]
    numbers: NDArray[np.int64]
    shares: NDArray[np.int64]

    @classmethod
    def make_empty(cls) -> Postings:
        """Return no rows."""
        return cls(*(np.zeros(0, np.int64) for _ in range(3)))


def make_packer() -> zstandard.ZstdCompressor:
    """Return a compressor for texts and background statistics; not shared between threads."""
    return zstandard.ZstdCompressor(level=3)


def make_damage_error(template: str, location: str, **values: Any) -> IndexFormatError:
    """Return the error that a part of an index is damaged, with the remedy."""
    remedy = Message(
        "Restore a backup of {location}, or make a new index from its sources.",
        location=location,
    )
    return IndexFormatError(
        Message(template, code="index_damaged", location=location, remedy=remedy, **values)
    )


def make_unknown_error(location: str, id: str) -> InputError:
    """Return the error that an index has no document with this id."""
    return InputError(
        Message(
            "{location}: there is no document '{id}'.",
            code="no_such_document",
            location=location,
            id=show(id),
        )
    )


def parse_extra(row: Mapping[str, Any] | RowMapping) -> dict[str, Any]:
    """Return the further fields of a document."""
    return {} if row["extra"] is None else json.loads(row["extra"])


def match_from_row(row: RowMapping, kept_id: str, measure: str) -> Match:
    """Return the match that the row of a dropped document holds."""
    return Match(kept_id, row["similarity"], measure, row["distance"], row["reason"] == IDENTICAL)
