"""Queries: look a text up, list the clusters, show sizes and settings."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Body, Depends, Query, Request, Response

from neardup.base import __version__
from neardup.papers.align import align
from neardup.server.api.json_body import JsonRoute
from neardup.server.api.openapi import problem_responses
from neardup.server.api.request_models import QueryText, check_text
from neardup.server.api.schemas import (
    Cluster,
    ClusterMember,
    Clusters,
    FoundMatch,
    Passage,
    QueryAnswer,
    StatsAnswer,
    json_response,
)
from neardup.server.security.auth import require

if TYPE_CHECKING:
    from neardup.index import Index

__all__ = ["clusters_page", "router"]

router = APIRouter(route_class=JsonRoute, tags=["questions"])

_READ = [Depends(require("read"))]

#: Most dropped documents listed per cluster; `explain` lists more.
_MOST_DROPPED = 50

_MATCH = {
    "id": "wire/2026-03-01/17",
    "similarity": 0.93,
    "measure": "content(5)",
    "distance": None,
    "identical": False,
}
_TITLED = {**_MATCH, "title": "New bridge opens", "at": "2026-03-01T00:00:00Z"}
_PASSAGE = {"begin": 10, "end": 84, "source_begin": 0, "source_end": 74, "similarity": 0.96}


@router.post(
    "/v1/query",
    summary="Does a text repeat one of the index?",
    description="Nothing is stored.",
    dependencies=_READ,
    responses={
        200: {
            "model": QueryAnswer,
            "content": {
                "application/json": {
                    "example": {"duplicate": True, "matches": [_TITLED], "passages": [_PASSAGE]}
                }
            },
        },
        **problem_responses(body=True),
    },
)
async def query(
    request: Request,
    asked: Annotated[
        QueryText,
        Body(
            openapi_examples={
                "text": {
                    "summary": "A text",
                    "value": {
                        "text": "(Update) The council will open the new bridge on Sunday at nine.",
                        "passages": True,
                    },
                }
            }
        ),
    ],
) -> Response:
    """Look a text up."""
    state = request.app.state
    check_text(asked.text, "text", state.settings)
    return json_response(await state.store.run(lambda: _answer(state.store.index, asked)))


def _answer(index: Index, asked: QueryText) -> QueryAnswer:
    found = index.query(asked.text, asked.k, title=asked.title, within=asked.within)
    # A document may be removed between the two queries; then it has no title.
    there = index.get_many([match.id for match in found], texts=False)
    matches = []
    for match in found:
        document = there.get(match.id)
        title, at = (None, None) if document is None else (document.title, document.at)
        matches.append(FoundMatch(**vars(match), title=title, at=at))
    passages = None
    first = index.get(found[0].id) if asked.passages and found else None
    if first is not None and first.text is not None:
        passages = [
            Passage(one.begin, one.end, one.source_begin, one.source_end, one.similarity)
            for one in align(asked.text, first.text)
        ]
    return QueryAnswer(bool(found), matches, passages)


@router.get(
    "/v1/clusters",
    summary="Kept documents with those that were dropped for them",
    dependencies=_READ,
    responses={
        200: {
            "model": Clusters,
            "content": {
                "application/json": {
                    "example": {
                        "clusters": [
                            {
                                "id": "wire/2026-03-01/17",
                                "title": "New bridge opens",
                                "at": "2026-03-01T00:00:00Z",
                                "dropped": [
                                    {"id": "b4", "title": "Bridge to open", "match": _MATCH}
                                ],
                                "dropped_count": 1,
                            }
                        ],
                        "next": "4711",
                    }
                }
            },
        },
        **problem_responses(),
    },
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
    """Return a page of clusters in the form of the API's response.

    Parameters
    ----------
    index : Index
    after : int
        Number of the last cluster of the previous page; 0 for the first page.
    limit : int
        Most clusters, at least 1.
    search : str or None
        Text that an id or a title must contain.
    """
    # One more than requested, to see whether there is a next page.
    found = list(islice(index.clusters(search=search, after=after), limit + 1))
    named = [
        id
        for cluster in found[:limit]
        for id in (cluster.id, *(id for id, _ in cluster.dropped[:_MOST_DROPPED]))
    ]
    there = index.get_many(named, texts=False)
    page = []
    for cluster in found[:limit]:
        keeper = there.get(cluster.id)
        dropped = []
        for id, match in cluster.dropped[:_MOST_DROPPED]:
            document = there.get(id)
            title = None if document is None else document.title
            dropped.append(ClusterMember(id, title, match))
        title, at = (None, None) if keeper is None else (keeper.title, keeper.at)
        page.append(Cluster(cluster.id, title, at, dropped, len(cluster.dropped)))
    more = len(found) > limit
    return Clusters(page, str(found[limit - 1].number) if more else None)


@router.get(
    "/v1/stats",
    summary="Sizes and settings",
    dependencies=_READ,
    responses={200: {"model": StatsAnswer}, **problem_responses()},
)
async def stats(request: Request) -> Response:
    """Return sizes and settings."""
    state = request.app.state
    found = await state.store.run(lambda: state.store.index.stats())
    # Clients must not see the location.
    sizes = {name: value for name, value in vars(found).items() if name != "location"}
    return json_response(StatsAnswer(**sizes, waiting=state.writer.waiting, version=__version__))
