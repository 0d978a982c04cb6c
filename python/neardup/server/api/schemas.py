"""What clients are told, described.

Answers are written by orjson from the package's own results, which is faster than by
models; these serve the description, and tests hold each answer against it.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

__all__ = [
    "Clusters",
    "Comparison",
    "Decision",
    "Decisions",
    "Explanation",
    "Health",
    "Problem",
    "QueryAnswer",
    "Removed",
    "Stats",
    "StoredDocument",
]

Share = Annotated[float, Field(ge=0, le=1)]


class _Answer(BaseModel):
    # Every field is always there: one without a value is null.
    model_config = ConfigDict(json_schema_serialization_defaults_required=True)


class Problem(_Answer):
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

    model_config = ConfigDict(json_schema_serialization_defaults_required=False)


class Match(_Answer):
    """A kept document that a text repeats."""

    id: str
    similarity: Share
    measure: str = Field(examples=["content(5)"])
    distance: int | None = Field(ge=0, description="Differing bits of the fingerprints.")
    identical: bool = Field(description="Whether the normalized texts are the same.")


class Decision(_Answer):
    """What became of a document."""

    id: str
    new: bool = Field(description="False if it was there before, with the same text.")
    kept: bool
    repeats: Match | None = Field(description="The kept document that it repeats.")


class Refusal(_Answer):
    """A document of a batch that was not stored."""

    id: str
    problem: Problem


class Decisions(_Answer):
    """What became of the documents of a batch, in their order."""

    decisions: list[Decision | Refusal]
    kept: int
    dropped: int
    refused: int


class FoundMatch(Match):
    """A kept document that the text repeats."""

    title: str | None
    at: datetime | None


class SharedPassage(_Answer):
    """A stretch of one text that stands in another; half-open, in code points."""

    begin: int
    end: int
    source_begin: int
    source_end: int
    similarity: Share


class QueryAnswer(_Answer):
    """Whether the index has a text."""

    duplicate: bool
    matches: list[FoundMatch] = Field(description="The most similar first.")
    passages: list[SharedPassage] | None = Field(
        description="Shared with the first match; null if not asked for, or without a match."
    )


class StoredDocument(_Answer):
    """A document as it is stored."""

    id: str
    text: str | None = Field(description="null where the index keeps no texts.")
    title: str | None
    source: str | None
    at: datetime
    extra: dict[str, Any]
    state: Literal["kept", "dropped", "freed"]
    repeats: Match | None


class Removed(_Answer):
    """What a removal took away."""

    removed: int
    freed: list[str] = Field(
        description="Documents that had been dropped for it; they stay dropped. At most 10,000."
    )


class DroppedDocument(_Answer):
    """A document that was dropped, and for what."""

    id: str
    match: Match


class Event(_Answer):
    """What happened to a document after it was added."""

    at: datetime
    action: str
    id: str | None
    details: dict[str, Any]


class Explanation(_Answer):
    """Why a document is kept or dropped."""

    document: StoredDocument | None = Field(description="null if it is gone.")
    measure: str
    threshold: Share | None
    dropped: list[DroppedDocument] = Field(description="Dropped for it, at most 1,000.")
    dropped_count: int = Field(description="All of them.")
    events: list[Event]


class Piece(_Answer):
    """A stretch of a passage without anything put in or moved."""

    begin: int
    end: int
    source_begin: int
    source_end: int


class PassageInPieces(SharedPassage):
    """A stretch of the first text that stands in the second."""

    pieces: list[Piece]


class Comparison(_Answer):
    """How similar two texts are."""

    similarity: Share
    measure: str
    duplicate: bool
    verdict: str
    threshold: float | None
    max_distance: int | None
    resemblance: Share
    containment_a: Share
    containment_b: Share
    numbers_agree: int
    numbers_differ: int
    contradict: bool
    edit_similarity: Share
    distance: int | None
    bits: int | None
    shingle: int
    recipe_id: str
    passages: list[PassageInPieces] | None


class ClusterMember(_Answer):
    """A document that was dropped, with its title."""

    id: str
    title: str | None
    match: Match


class Cluster(_Answer):
    """A kept document and those that were dropped for it."""

    id: str
    title: str | None
    at: datetime | None
    dropped: list[ClusterMember] = Field(description="The first 50, in the order of arrival.")
    dropped_count: int = Field(description="All of them.")


class Clusters(_Answer):
    """A page of clusters, in the order of decisions."""

    clusters: list[Cluster]
    next: str | None = Field(description="`after` of the next page; null at the end.")


class Stats(_Answer):
    """Sizes and settings of the index."""

    documents: int
    kept: int
    dropped: int
    freed: int
    bytes: int = Field(description="On disk, all in all.")
    recipe_id: str
    measure: str
    threshold: Share | None
    max_distance: int | None
    store: Literal["text", "sketch"]
    scheme: str
    background: str
    background_texts: int
    first: datetime | None
    last: datetime | None
    created: datetime
    waiting: int = Field(description="Documents that this process has taken and not yet stored.")
    version: str = Field(description="Of neardup.")


class Health(_Answer):
    """A sign of life."""

    status: Literal["ok"]
