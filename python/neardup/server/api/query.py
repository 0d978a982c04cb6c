"""Queries: look a text up, list the clusters, show sizes and settings."""

from __future__ import annotations

from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Depends, Query, Request
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, Strict

from neardup.base import __version__
from neardup.base.validation import check_span
from neardup.index import Match
from neardup.papers.alignment import align
from neardup.server.api.body import JsonRoute, Line, RequestBody, check_text
from neardup.server.security.auth import require

if TYPE_CHECKING:
    from neardup.index import Index

router = APIRouter(route_class=JsonRoute, tags=["questions"])

_READ = [Depends(require("read"))]

#: Most dropped documents listed per cluster; `explain` lists more.
_MOST_DROPPED = 50


def _validate_span(value: str) -> str:
    check_span(value, "within")
    return value


class QueryText(RequestBody):
    """A text that the index is asked for."""

    text: str
    title: Line | None = None
    k: Annotated[int, Strict()] = Field(10, ge=1, le=100, description="The most answers.")
    within: Annotated[str, AfterValidator(_validate_span)] | None = Field(
        None,
        description="Documents that arrived longer ago are not looked at: a number with s, m, h, d"
        " or w.",
        examples=["30d"],
    )
    passages: bool = Field(
        False, strict=True, description="Whether to mark what the first match has too."
    )


class FoundMatch(BaseModel):
    """A kept document that the text repeats."""

    id: str
    similarity: float
    measure: str
    distance: int | None
    identical: bool
    title: str | None
    at: datetime | None


class Passage(BaseModel):
    """A span of one text that occurs in another; half-open, in code points."""

    model_config = ConfigDict(from_attributes=True)

    begin: int
    end: int
    source_begin: int
    source_end: int
    similarity: float


class QueryAnswer(BaseModel):
    """Whether the index has a text."""

    duplicate: bool
    matches: list[FoundMatch] = Field(description="The most similar first.")
    passages: list[Passage] | None = Field(
        description="Passages shared with the first match; null if not requested, or without a"
        " match."
    )


class ClusterMember(BaseModel):
    """A dropped document with its title."""

    id: str
    title: str | None
    match: Match


class Cluster(BaseModel):
    """A kept document and the documents dropped for it."""

    id: str
    title: str | None
    at: datetime | None
    dropped: list[ClusterMember] = Field(description="The first 50, in the order of arrival.")
    dropped_count: int = Field(description="All of them.")


class Clusters(BaseModel):
    """A page of clusters, in the order of decisions."""

    clusters: list[Cluster]
    next: str | None = Field(description="`after` of the next page; null at the end.")


class ClustersPage(RequestBody):
    """Which clusters are asked for."""

    after: str | None = Field(
        None, pattern=r"^[0-9]{1,18}$", description="`next` of the page before."
    )
    limit: int = Field(20, ge=1, le=100, description="Clusters of a page.")
    search: str | None = Field(
        None, max_length=1000, description="Only those with this text in an id or a title."
    )


class StatsAnswer(BaseModel):
    """Sizes and settings of the index."""

    documents: int
    kept: int
    dropped: int
    bytes: int = Field(description="Total size on disk.")
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
    waiting: int = Field(description="Documents that this process has accepted but not yet stored.")
    version: str = Field(description="Version of neardup.")


@router.post(
    "/v1/query",
    summary="Does a text repeat one of the index?",
    description="Nothing is stored.",
    dependencies=_READ,
)
async def query(request: Request, asked: QueryText) -> QueryAnswer:
    """Look a text up."""
    state = request.app.state
    check_text(asked.text, "text", state.settings)
    answer: QueryAnswer = await state.store.run(lambda: _answer(state.store.index, asked))
    return answer


def _answer(index: Index, asked: QueryText) -> QueryAnswer:
    answers = index.query(asked.text, asked.k, title=asked.title, within=asked.within)
    # A document may be removed between the two queries; then it has no title.
    documents = index.get_many([match.id for match in answers], texts=False)
    matches = []
    for match in answers:
        document = documents.get(match.id)
        title, time = (None, None) if document is None else (document.title, document.at)
        matches.append(FoundMatch(**vars(match), title=title, at=time))
    passages = None
    first = index.get(answers[0].id) if asked.passages and answers else None
    if first is not None and first.text is not None:
        passages = [Passage.model_validate(part) for part in align(asked.text, first.text)]
    return QueryAnswer(duplicate=bool(answers), matches=matches, passages=passages)


@router.get(
    "/v1/clusters",
    summary="Kept documents with those that were dropped for them",
    dependencies=_READ,
)
async def clusters(request: Request, asked: Annotated[ClustersPage, Query()]) -> Clusters:
    """Return a page of clusters."""
    store = request.app.state.store
    page: Clusters = await store.run(lambda: _read_page(store.index, asked))
    return page


def _read_page(index: Index, asked: ClustersPage) -> Clusters:
    # One more than requested, to see whether there is a next page.
    matching = index.clusters(search=asked.search or None, after=int(asked.after or 0))
    clusters = list(islice(matching, asked.limit + 1))
    more = len(clusters) > asked.limit
    del clusters[asked.limit :]
    named = [
        id
        for cluster in clusters
        for id in (cluster.id, *(id for id, _ in cluster.dropped[:_MOST_DROPPED]))
    ]
    documents = index.get_many(named, texts=False)
    page = []
    for cluster in clusters:
        keeper = documents.get(cluster.id)
        members = []
        for id, match in cluster.dropped[:_MOST_DROPPED]:
            document = documents.get(id)
            title = None if document is None else document.title
            members.append(ClusterMember(id=id, title=title, match=match))
        page.append(
            Cluster(
                id=cluster.id,
                title=None if keeper is None else keeper.title,
                at=None if keeper is None else keeper.at,
                dropped=members,
                dropped_count=len(cluster.dropped),
            )
        )
    return Clusters(clusters=page, next=str(clusters[-1].number) if more else None)


@router.get("/v1/stats", summary="Sizes and settings", dependencies=_READ)
async def stats(request: Request) -> StatsAnswer:
    """Return sizes and settings."""
    state = request.app.state
    stats = await state.store.run(lambda: state.store.index.stats())
    # Clients must not see the location.
    sizes = {name: value for name, value in vars(stats).items() if name != "location"}
    return StatsAnswer(**sizes, waiting=state.writer.waiting, version=__version__)
