"""Response bodies: dataclasses, described by Pydantic and serialized by orjson.

A response that is a result of the package uses the package's own dataclass; the others are
here. The docstrings describe the fields (`neardup.server.api.openapi`).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

import orjson
from fastapi import Response
from pydantic import BaseModel, Field

from neardup.index import Document, Event, Match

__all__ = [
    "Accepted",
    "Cluster",
    "ClusterMember",
    "Clusters",
    "Decided",
    "Decisions",
    "DroppedDocument",
    "ExplainedDocument",
    "FoundMatch",
    "Health",
    "JobAnswer",
    "Libraries",
    "Library",
    "Passage",
    "Problem",
    "QueryAnswer",
    "Rates",
    "Refusal",
    "RemovedDocuments",
    "StatsAnswer",
    "json_response",
]


class Problem(BaseModel):
    """What went wrong (RFC 9457)."""

    type: str = Field(examples=["urn:neardup:invalid-field"])
    title: str = Field(examples=["Invalid field"])
    status: int = Field(examples=[422])
    detail: str = Field(examples=["The field 'documents[3].text' is missing."])
    code: str = Field(
        "",
        description="What happened, for programs: the same for all details that differ in values"
        " only. There is none for what other software found.",
        examples=["server.missing"],
    )
    field: str = Field("", description="The field at fault, if it is one.")


@dataclass(frozen=True)
class Decided:
    """The decision on a document.

    Parameters
    ----------
    new : bool
        False if the document was already stored with the same text.
    repeats : Match or None
        The kept document that it repeats.
    """

    id: str
    new: bool
    kept: bool
    repeats: Match | None


@dataclass(frozen=True)
class Refusal:
    """A document of a batch that was not stored."""

    id: str
    problem: Problem


@dataclass(frozen=True)
class Decisions:
    """The decisions on the documents of a batch, in their order."""

    decisions: list[Decided | Refusal]
    kept: int
    dropped: int
    refused: int


@dataclass(frozen=True)
class FoundMatch(Match):
    """A kept document that the text repeats."""

    title: str | None
    at: datetime | None


@dataclass(frozen=True)
class Passage:
    """A span of one text that occurs in another; half-open, in code points."""

    begin: int
    end: int
    source_begin: int
    source_end: int
    similarity: float


@dataclass(frozen=True)
class QueryAnswer:
    """Whether the index has a text.

    Parameters
    ----------
    matches : list of FoundMatch
        The most similar first.
    passages : list of Passage or None
        Passages shared with the first match; null if not requested, or without a match.
    """

    duplicate: bool
    matches: list[FoundMatch]
    passages: list[Passage] | None


@dataclass(frozen=True)
class RemovedDocuments:
    """The result of a removal.

    Parameters
    ----------
    freed : sequence of str
        Documents that had been dropped for a removed document; they stay dropped. At most 10,000.
    """

    removed: int
    freed: tuple[str, ...]


@dataclass(frozen=True)
class DroppedDocument:
    """A dropped document, with the document that it repeats."""

    id: str
    match: Match


@dataclass(frozen=True)
class ExplainedDocument:
    """Why a document is kept or dropped.

    Parameters
    ----------
    document : Document or None
        null if it was removed.
    dropped : list of DroppedDocument
        Documents dropped for it, at most 1,000.
    dropped_count : int
        All of them.
    """

    document: Document | None
    measure: str
    threshold: float | None
    dropped: list[DroppedDocument]
    dropped_count: int
    events: tuple[Event, ...]


@dataclass(frozen=True)
class ClusterMember:
    """A dropped document with its title."""

    id: str
    title: str | None
    match: Match


@dataclass(frozen=True)
class Cluster:
    """A kept document and the documents dropped for it.

    Parameters
    ----------
    dropped : list of ClusterMember
        The first 50, in the order of arrival.
    dropped_count : int
        All of them.
    """

    id: str
    title: str | None
    at: datetime | None
    dropped: list[ClusterMember]
    dropped_count: int


@dataclass(frozen=True)
class Clusters:
    """A page of clusters, in the order of decisions.

    Parameters
    ----------
    next : str or None
        `after` of the next page; null at the end.
    """

    clusters: list[Cluster]
    next: str | None


@dataclass(frozen=True)
class StatsAnswer:
    """Sizes and settings of the index.

    Parameters
    ----------
    bytes : int
        Total size on disk.
    waiting : int
        Documents that this process has accepted but not yet stored.
    version : str
        Version of neardup.
    """

    documents: int
    kept: int
    dropped: int
    freed: int
    bytes: int
    recipe_id: str
    measure: str
    threshold: float | None
    max_distance: int | None
    store: Literal["text", "sketch"]
    scheme: str
    background: str
    background_texts: int
    unlisted: int | None
    first: datetime | None
    last: datetime | None
    created: datetime
    waiting: int
    version: str


@dataclass(frozen=True)
class Health:
    """State of the service."""

    status: Literal["ok"]


@dataclass(frozen=True)
class Accepted:
    """An accepted check.

    Parameters
    ----------
    job : str
        Id of the check. Anyone who knows it can read the check.
    status, report, report_json : str
        Addresses.
    """

    job: str
    state: str
    status: str
    report: str
    report_json: str


@dataclass(frozen=True)
class Rates:
    """Shares of the paper's characters, in [0, 1]."""

    total: float
    without_quotations: float
    largest_source: float


@dataclass(frozen=True)
class JobAnswer:
    """State and progress of a check.

    Parameters
    ----------
    paper : str
        The client's name for the paper.
    progress : float
        In [0, 1].
    rates : Rates or None
        Rates of a finished check.
    problem : Problem or None
        Error of a failed check.
    """

    job: str
    paper: str
    state: Literal["queued", "running", "done", "failed"]
    progress: float
    stage: Literal["waiting", "library", "reading", "comparing", "report", "done"]
    rates: Rates | None
    problem: Problem | None


@dataclass(frozen=True)
class Library:
    """A library that papers can be checked against.

    Parameters
    ----------
    documents : int or None
        Null if the library is not open yet.
    """

    name: str
    documents: int | None


@dataclass(frozen=True)
class Libraries:
    """All libraries."""

    libraries: list[Library]


def json_response(content: Any, status: int = 200) -> Response:
    """Return a JSON response; dataclasses become objects, times RFC 3339 strings."""
    return Response(
        orjson.dumps(content, option=orjson.OPT_UTC_Z), status, media_type="application/json"
    )
