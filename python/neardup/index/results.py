"""The types that the methods of an index return."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from neardup.base.display import ReprMixin, rule_of
from neardup.base.lazy import NDArray, np, pa
from neardup.readers import Problem


@dataclass(frozen=True)
class Match:
    """A kept document that a text repeats.

    Parameters
    ----------
    id : str
        Id of the kept document.
    similarity : float
        In [0, 1]; 1 if the normalized texts are the same.
    measure : str
        The name of the similarity measure, for example ``content(5)``.
    distance : int or None
        Number of bits in which the two fingerprints differ; None for other sketches.
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
    """A document to be added: the arguments of :meth:`neardup.Index.add`.

    Parameters
    ----------
    id, text : str
    title : str or None, default=None
    at : datetime, str or None, default=None
    source : str or None, default=None
    extra : dict or None, default=None
    replace : bool, default=False
        Whether it replaces a stored document with its id.
    """

    id: str
    text: str
    title: str | None = None
    at: datetime | str | None = None
    source: str | None = None
    extra: dict[str, Any] | None = None
    replace: bool = False


@dataclass(frozen=True)
class Decision:
    """The result for one of several added documents.

    Parameters
    ----------
    id : str
    new : bool
        Whether this call stored it; False if it was there with the same text, or has a problem.
    repeats : Match or None
        The kept document that it repeats; None if it is itself kept.
    problem : str or None
        Why it was not stored.
    replaced : bool
        Whether another document with this id was stored before.
    """

    id: str
    new: bool
    repeats: Match | None
    problem: str | None
    replaced: bool = False


@dataclass(frozen=True)
class Document:
    """A stored document.

    Parameters
    ----------
    id : str
    text : str or None
        As it was added; None if it was not asked for.
    title, source : str or None
    at : datetime
        Time of arrival, in UTC.
    extra : dict
        Further fields, as JSON values.
    state : {"kept", "dropped"}
    repeats : Match or None
        What a dropped document repeats; None otherwise.
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
    number : int
        Position in the log.
    at : datetime
        In UTC.
    action : str
        ``removed``, ``expired``, ``replaced``, ``renamed``, ``reconsidered``, ``kept``,
        ``confirmed``, ``undone`` or ``recounted``.
    id : str or None
        The document that the event is about; None if it is about the whole index.
    details : dict
        For a decision of a person ``by``, if it was given; for ``undone`` the action as ``what``.
        For ``reconsidered`` the kept document that it ``repeats`` now, and the one that it
        ``repeated`` with what happened to it as ``which``. For ``renamed`` the new id as ``to``.
    is_last : bool
        Whether nothing else has happened to the document since.
    """

    number: int
    at: datetime
    action: str
    id: str | None
    details: dict[str, Any]
    is_last: bool


@dataclass(frozen=True)
class Explanation:
    """Why a document is kept or dropped.

    Parameters
    ----------
    document : Document or None
        None if it was removed or has expired.
    measure : str
        The similarity measure of this index.
    threshold : float or None
        The lowest similarity of a duplicate, inclusive.
    dropped : tuple of (str, Match)
        Ids of the documents dropped for it, if it is kept, in the order of arrival.
    events : tuple of Event
        Later events of the document, the oldest first.
    """

    document: Document | None
    measure: str
    threshold: float | None
    dropped: tuple[tuple[str, Match], ...]
    events: tuple[Event, ...]


@dataclass(frozen=True)
class RemovalFilter:
    """Which dropped documents :meth:`Index.removals` yields, and in which order.

    Parameters
    ----------
    search : str, default=""
        Words that its id, title, source and text contain, each somewhere; the case is ignored.
    source : str, default=""
        Its source; empty for any.
    since, until : datetime, str or None, default=None
        Time of arrival: inclusive, exclusive. Without a zone it is in UTC.
    min_similarity, max_similarity : float, default=0, 1
        Inclusive.
    confirmed : bool or None, default=None
        Whether somebody confirmed the removal; None for both.
    order : {"doubt", "newest", "cluster"}, default="doubt"
        The least similar first, the latest arrival first, or by the kept document.
    """

    search: str = ""
    source: str = ""
    since: datetime | str | None = None
    until: datetime | str | None = None
    min_similarity: float = 0.0
    max_similarity: float = 1.0
    confirmed: bool | None = None
    order: str = "doubt"


@dataclass(frozen=True)
class Removal:
    """A dropped document, and the kept one that it repeats.

    Parameters
    ----------
    document, kept : Document
    confirmed : bool
        Whether somebody confirmed the removal.
    position : str
        Pass it as `after` to continue from here.
    """

    document: Document
    kept: Document
    confirmed: bool
    position: str


@dataclass(frozen=True)
class Cluster:
    """A kept document and the documents dropped for it.

    Parameters
    ----------
    id : str
        The kept document.
    dropped : tuple of (str, Match)
        In the order of arrival.
    number : int
        Position in the order of decisions; pass it as `after` to continue from here.
    """

    id: str
    dropped: tuple[tuple[str, Match], ...]
    number: int


@dataclass(frozen=True, repr=False, eq=False)
class AddResult(ReprMixin):
    """The result of adding several documents.

    Parameters
    ----------
    keep : ndarray of shape (n_documents,), dtype bool
        Whether each document is kept, in input order, or was there already and is kept; False
        for a record without a readable text or id.
    removed : pyarrow.Table
        One row per dropped document, in input order: ``id`` and ``kept_id`` (large_string),
        ``similarity`` (float64, in [0, 1]), ``measure`` (string), ``distance`` (int32, bits;
        null if the sketch is not a fingerprint).
    new, already : int
        Documents that were added, and that were already there with the same text.
    problem_count : int
    problems : list of Problem
        Records that could not be added; at most 10,000.
    replaced : int
        Documents among `new` that replaced one with the same id.
    """

    keep: NDArray[np.bool_]
    removed: pa.Table
    new: int
    already: int
    problem_count: int
    problems: list[Problem]
    replaced: int = 0

    def _summary_rows(self) -> Iterator[tuple[str, Any]]:
        yield "new", self.new
        yield "already there", self.already
        yield "kept", int(self.keep.sum())
        yield "dropped", self.removed.num_rows


@dataclass(frozen=True)
class RemoveResult:
    """The result of a removal or an expiry.

    Parameters
    ----------
    removed, decided_count : int
        Number of documents: removed, and decided again.
    decided : tuple of (str, Match or None)
        The documents that had been dropped for a removed one, in the order of arrival, each with
        what it repeats now; None means that it is kept. At most 10,000.
    """

    removed: int
    decided: tuple[tuple[str, Match | None], ...]
    decided_count: int


@dataclass(frozen=True, repr=False)
class Stats(ReprMixin):
    """The size and the settings of an index.

    Parameters
    ----------
    location : str
        Without a password.
    documents, kept, dropped : int
        ``documents`` is the sum of the other two.
    bytes : int
        Total size on disk.
    recipe_id : str
    measure : str
    threshold : float or None
    max_distance : int or None
    scheme : str
        The scheme of candidate search.
    background_texts : int or None
        Number of documents in the latest count of the background statistics; 0 before the first
        one, None if the rule does not use them.
    skipped_documents : int
        Documents that a capped list left out when they were added: of two that share
        nothing rarer both are kept.
    first, last : datetime or None
        Arrival of the first and the last document, in UTC.
    created : datetime
    """

    location: str
    documents: int
    kept: int
    dropped: int
    bytes: int
    recipe_id: str
    measure: str
    threshold: float | None
    max_distance: int | None
    scheme: str
    background_texts: int | None
    skipped_documents: int
    first: datetime | None
    last: datetime | None
    created: datetime

    def _summary_rows(self) -> Iterator[tuple[str, Any]]:
        yield "rule", rule_of(self.measure, self.threshold, self.max_distance)
        for name, value in vars(self).items():
            if name not in ("measure", "threshold", "max_distance") and value is not None:
                yield name, value
