"""Queries: look a text up, list the clusters, show sizes and settings."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Depends, Query, Request, Response
from pydantic import BeforeValidator, Field

from neardup.base import __version__
from neardup.base.messages import N_
from neardup.index import Match
from neardup.papers.align import align
from neardup.server.api.body import JsonRoute, json_response, unfit
from neardup.server.api.fields import Line, RequestBody, Span, check_text
from neardup.server.security.auth import require

if TYPE_CHECKING:
    from neardup.index import Index

__all__ = ["clusters_page", "router"]

router = APIRouter(route_class=JsonRoute, tags=["questions"])

_READ = [Depends(require("read"))]

#: Most dropped documents listed per cluster; `explain` lists more.
_MOST_DROPPED = 50


def _number(value: Any) -> Any:
    # 10.0 is a whole number in JSON; "10" and true are not.
    if isinstance(value, (str, bool)):
        raise unfit(N_("{what} must be a whole number."))
    return value


class QueryText(RequestBody):
    """A text that the index is asked for."""

    text: str
    title: Line | None = None
    k: Annotated[int, BeforeValidator(_number)] = Field(
        10, ge=1, le=100, description="The most answers."
    )
    within: Span | None = Field(
        None, description="Documents that arrived longer ago are not looked at."
    )
    passages: bool = Field(
        False, strict=True, description="Whether to mark what the first match has too."
    )


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
    bytes: int
    recipe_id: str
    measure: str
    threshold: float | None
    max_distance: int | None
    scheme: str
    background_texts: int | None
    unlisted: int
    first: datetime | None
    last: datetime | None
    created: datetime
    waiting: int
    version: str


@router.post(
    "/v1/query",
    summary="Does a text repeat one of the index?",
    description="Nothing is stored.",
    dependencies=_READ,
    response_model=QueryAnswer,
)
async def query(request: Request, asked: QueryText) -> Response:
    """Look a text up."""
    state = request.app.state
    check_text(asked.text, "text", state.settings)
    return json_response(await state.store.run(lambda: _answer(state.store.index, asked)))


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
        passages = [
            Passage(part.begin, part.end, part.source_begin, part.source_end, part.similarity)
            for part in align(asked.text, first.text)
        ]
    return QueryAnswer(bool(answers), matches, passages)


@router.get(
    "/v1/clusters",
    summary="Kept documents with those that were dropped for them",
    dependencies=_READ,
    response_model=Clusters,
)
async def clusters(
    request: Request,
    after: Annotated[
        str | None, Query(pattern=r"^[0-9]{1,18}$", description="`next` of the page before.")
    ] = None,
    limit: Annotated[int, Query(ge=1, le=100, description="Clusters of a page.")] = 20,
    search: Annotated[
        str | None,
        Query(max_length=1000, description="Only those with this text in an id or a title."),
    ] = None,
) -> Response:
    """Return a page of clusters."""
    store = request.app.state.store
    number = 0 if after is None else int(after)
    return json_response(
        await store.run(
            lambda: clusters_page(store.index, after=number, limit=limit, search=search or None)
        )
    )


def clusters_page(index: Index, *, after: int, limit: int, search: str | None) -> Clusters:
    """Return the page of clusters after the one with a number."""
    # One more than requested, to see whether there is a next page.
    clusters = list(islice(index.clusters(search=search, after=after), limit + 1))
    named = [
        id
        for cluster in clusters[:limit]
        for id in (cluster.id, *(id for id, _ in cluster.dropped[:_MOST_DROPPED]))
    ]
    documents = index.get_many(named, texts=False)
    page = []
    for cluster in clusters[:limit]:
        keeper = documents.get(cluster.id)
        dropped = []
        for id, match in cluster.dropped[:_MOST_DROPPED]:
            document = documents.get(id)
            title = None if document is None else document.title
            dropped.append(ClusterMember(id, title, match))
        title, time = (None, None) if keeper is None else (keeper.title, keeper.at)
        page.append(Cluster(cluster.id, title, time, dropped, len(cluster.dropped)))
    more = len(clusters) > limit
    return Clusters(page, str(clusters[limit - 1].number) if more else None)


@router.get(
    "/v1/stats",
    summary="Sizes and settings",
    dependencies=_READ,
    response_model=StatsAnswer,
)
async def stats(request: Request) -> Response:
    """Return sizes and settings."""
    state = request.app.state
    stats = await state.store.run(lambda: state.store.index.stats())
    # Clients must not see the location.
    sizes = {name: value for name, value in vars(stats).items() if name != "location"}
    return json_response(StatsAnswer(**sizes, waiting=state.writer.waiting, version=__version__))
