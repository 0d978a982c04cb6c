"""What an index answers."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from neardup.readers import Problem

__all__ = [
    "Added",
    "Cluster",
    "Decision",
    "Document",
    "Event",
    "Explanation",
    "Match",
    "NewDocument",
    "Removed",
    "Stats",
]


@dataclass(frozen=True)
class Match:
    """A kept document that a text repeats.

    Parameters
    ----------
    id : str
        Id of the kept document.
    similarity : float
        In [0, 1]; 1 for the same text.
    measure : str
        What the similarity is, for example ``content(5)``.
    distance : int or None
        Differing bits of the two fingerprints; None where there are none.
    identical : bool
        Whether the normalized texts are the same.
    """

    id: str
    similarity: float
    measure: str
    distance: int | None
    identical: bool


@dataclass(frozen=True)
class NewDocument:
    """A document that is to be added: the arguments of :meth:`neardup.Index.add`.

    Parameters
    ----------
    id, text : str
    title : str or None, default=None
    at : datetime, str or None, default=None
    source : str or None, default=None
    extra : dict or None, default=None
    """

    id: str
    text: str
    title: str | None = None
    at: datetime | str | None = None
    source: str | None = None
    extra: dict[str, Any] | None = None


@dataclass(frozen=True)
class Decision:
    """What became of one of several documents.

    Parameters
    ----------
    id : str
    new : bool
        Whether it was stored now. False if it was there with the same text, and if
        there is a problem.
    repeats : Match or None
        The kept document that it repeats; None if it is kept.
    problem : str or None
        Why it was not stored.
    """

    id: str
    new: bool
    repeats: Match | None
    problem: str | None


@dataclass(frozen=True)
class Document:
    """A document as it is stored.

    Parameters
    ----------
    id : str
    text : str or None
        As it came; None where the index keeps no texts.
    title, source : str or None
    at : datetime
        Time of arrival, in UTC.
    extra : dict
        Further fields, as JSON holds them.
    state : {"kept", "dropped", "freed"}
        ``freed``: it was dropped, and the document that it repeats is gone since;
        :meth:`Index.reconsider` decides it again.
    repeats : Match or None
        For a dropped document what it repeats.
    """

    id: str
    text: str | None
    title: str | None
    source: str | None
    at: datetime
    extra: dict[str, Any]
    state: str
    repeats: Match | None


@dataclass(frozen=True)
class Event:
    """Something that happened after a document was added.

    Parameters
    ----------
    at : datetime
        In UTC.
    action : {"removed", "expired", "freed", "reconsidered", "kept", "recounted"}
    id : str or None
        The document that it happened to.
    details : dict
    """

    at: datetime
    action: str
    id: str | None
    details: dict[str, Any]


@dataclass(frozen=True)
class Explanation:
    """Why a document is kept or dropped.

    Parameters
    ----------
    document : Document or None
        None if it was removed or has expired.
    measure : str
        What similarities of this index are.
    threshold : float or None
        The smallest one of a duplicate, inclusive.
    dropped : tuple of (str, Match)
        For a kept document those that were dropped for it, each with its id, in the
        order of arrival.
    events : tuple of Event
        What happened to it since, the oldest first.
    """

    document: Document | None
    measure: str
    threshold: float | None
    dropped: tuple[tuple[str, Match], ...]
    events: tuple[Event, ...]


@dataclass(frozen=True)
class Cluster:
    """A kept document and those that were dropped for it.

    Parameters
    ----------
    id : str
        The kept document.
    dropped : tuple of (str, Match)
        In the order of arrival.
    number : int
        Place of the kept document in the order of decisions: where to go on reading.
    """

    id: str
    dropped: tuple[tuple[str, Match], ...]
    number: int


@dataclass(frozen=True)
class Added:
    """What became of documents that were added together.

    Parameters
    ----------
    keep : ndarray of shape (n_documents,), dtype bool
        For each document, in input order, whether it is kept: also one that was
        there already and is kept. A record without a readable text or id is not.
    removed : pyarrow.Table
        One row a dropped document, in input order: ``id`` and ``kept_id``
        (large_string), ``similarity`` (float64, in [0, 1]), ``measure`` (string),
        ``distance`` (int32, bits; null where there is no fingerprint).
    new : int
        Documents that were not there before.
    already : int
        Documents that were there before with the same text.
    problem_count : int
        Records that could not be added.
    problems : list of Problem
        At most 10,000 of them.
    """

    keep: NDArray[np.bool_]
    removed: pa.Table
    new: int
    already: int
    problem_count: int
    problems: list[Problem]


@dataclass(frozen=True)
class Removed:
    """What a removal or an expiry took away.

    Parameters
    ----------
    removed : int
        Documents that are gone.
    freed : tuple of str
        Ids of documents that are still there and were dropped for one of those; at
        most 10,000 of them, in the order of arrival.
    freed_count : int
        All of them.
    """

    removed: int
    freed: tuple[str, ...]
    freed_count: int


@dataclass(frozen=True)
class Stats:
    """The size and the settings of an index.

    Parameters
    ----------
    location : str
        Without a password.
    documents, kept, dropped, freed : int
        ``documents`` is the sum of the other three.
    bytes : int
        On disk, all in all.
    recipe_id : str
    measure : str
    threshold : float or None
    max_distance : int or None
    store : {"text", "sketch"}
    scheme : str
        How candidates are found.
    background : str
        Where is known from what many texts have in common: ``own``, ``given`` or
        ``none``.
    background_texts : int
        Documents that were counted for that the last time; 0 if none were yet.
    first, last : datetime or None
        Arrival of the oldest and the newest document, in UTC.
    created : datetime
    """

    location: str
    documents: int
    kept: int
    dropped: int
    freed: int
    bytes: int
    recipe_id: str
    measure: str
    threshold: float | None
    max_distance: int | None
    store: str
    scheme: str
    background: str
    background_texts: int
    first: datetime | None
    last: datetime | None
    created: datetime
