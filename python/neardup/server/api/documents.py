"""Documents: add, read, remove and restore them."""

from __future__ import annotations

from typing import Annotated, Any, cast

from fastapi import APIRouter, Body, Depends, Query, Request, Response
from starlette.convertors import Convertor, register_url_convertor

from neardup.base.messages import Message
from neardup.exceptions import InputError
from neardup.index import Decision, Document, NewDocument
from neardup.index.values import MAX_ID_BYTES
from neardup.server.api.json_body import JsonRoute
from neardup.server.api.openapi import problem_responses
from neardup.server.api.request_models import (
    BatchDocument,
    Posted,
    PostedBatch,
    PostedDocument,
    check_batch,
    check_id,
    check_text,
    fault_of,
)
from neardup.server.api.schemas import (
    Decided,
    Decisions,
    DroppedDocument,
    ExplainedDocument,
    Problem,
    Refusal,
    RemovedDocuments,
    json_response,
)
from neardup.server.problems import ProblemError, problem
from neardup.server.security.auth import require

__all__ = ["MOST_DROPPED", "router"]

#: Most dropped documents in one response; a text may have been posted a million times.
MOST_DROPPED = 1000


class _AnyId(Convertor[str]):
    """Matches the rest of an address. Starlette's own ``path`` stops at a line break."""

    regex = r"[\s\S]*"

    def convert(self, value: str) -> str:
        return value

    def to_string(self, value: str) -> str:
        return value


register_url_convertor("id", _AnyId())

router = APIRouter(route_class=JsonRoute, tags=["documents"])

_READ, _WRITE = [Depends(require("read"))], [Depends(require("write"))]

_BRIDGE = {
    "id": "wire/2026-03-01/17",
    "text": "The council will open the new bridge over the river on Sunday morning at nine.",
    "title": "New bridge opens",
    "at": "2026-03-01T08:00:00+08:00",
    "source": "wire",
    "extra": {"page": 3},
}
_NOTICE = {"id": "a3", "text": "市图书馆将于周六上午九点重新开放，读者凭身份证入馆。"}
_REPEATS = {
    "id": "wire/2026-03-01/17",
    "similarity": 0.93,
    "measure": "content(5)",
    "distance": None,
    "identical": False,
}
_NEW = {"id": "wire/2026-03-01/17", "new": True, "kept": True, "repeats": None}
_DROPPED = {"id": "b4", "new": True, "kept": False, "repeats": _REPEATS}
_REFUSED = {
    "id": "a3",
    "problem": {
        "type": "urn:neardup:another-text",
        "title": "Another text",
        "status": 409,
        "detail": "The index has another text under the id 'a3'. Remove that document first, or"
        " choose another id.",
        "code": "server.another_text",
        "field": "documents[1].id",
    },
}
_STORED = {
    **_BRIDGE,
    "at": "2026-03-01T00:00:00Z",
    "state": "kept",
    "repeats": None,
}

_BODY = Body(
    openapi_examples={
        "document": {"summary": "One document", "value": _BRIDGE},
        "batch": {"summary": "Several", "value": {"documents": [_BRIDGE, _NOTICE]}},
    }
)
_ID = Query(
    min_length=1,
    max_length=MAX_ID_BYTES,
    description="The document. For ids that end in `/explain` or `/keep`, or that a proxy"
    " changes in a path, such as `a//b` and `../a`.",
    examples=["wire/2026-03-01/17"],
)


def _example(value: Any) -> dict[str, Any]:
    return {"content": {"application/json": {"example": value}}}


@router.post(
    "/v1/documents",
    summary="Add a document, or several",
    description="The answer is the decision: kept, or dropped for the kept document that it"
    " repeats. It comes when the document is durably stored. To add one again is safe.\n\n"
    "Of a batch a document is refused alone, with a problem in place of its decision, where"
    " another text is stored under its id or one of its values cannot be taken, such as a text"
    " that is too long. A field that is missing, unknown or of another type refuses the batch,"
    " and nothing of it is stored.",
    dependencies=_WRITE,
    status_code=200,
    responses={
        200: {
            "description": "The document was there with this text; or the decisions on a batch.",
            "model": Decided | Decisions,
            **_example(
                {
                    "decisions": [_NEW, _DROPPED, _REFUSED],
                    "kept": 1,
                    "dropped": 1,
                    "refused": 1,
                }
            ),
        },
        201: {"description": "The document is new.", "model": Decided, **_example(_DROPPED)},
        **problem_responses(409, body=True),
    },
)
async def add(request: Request, posted: Annotated[Posted, _BODY]) -> Response:
    """Add the posted documents through the writer's group commit."""
    state = request.app.state
    if isinstance(posted, PostedBatch):
        check_batch(posted.documents, state.settings)
        return json_response(await _add_batch(state, posted.documents))
    check_text(posted.text, "text", state.settings)
    made = await state.writer.add([_new(posted)])
    state.metrics.decided(made)
    if made[0].problem is not None:
        raise _refused(made[0], "id")
    return json_response(_decided(made[0]), 201 if made[0].new else 200)


async def _add_batch(state: Any, given: list[BatchDocument]) -> Decisions:
    """Add the valid documents of a batch, and return a decision or refusal for each document."""
    faults = [fault_of(one, f"documents[{at}]", state.settings) for at, one in enumerate(given)]
    sound = [_new(one) for one, fault in zip(given, faults, strict=True) if fault is None]
    added = iter(await state.writer.add(sound) if sound else ())
    made = [
        next(added) if fault is None else Decision(one.id, False, None, fault.detail)
        for one, fault in zip(given, faults, strict=True)
    ]
    state.metrics.decided(made)
    return _decisions(made, faults)


def _new(one: PostedDocument | BatchDocument) -> NewDocument:
    return NewDocument(one.id, one.text, one.title, one.at, one.source, one.extra)


def _decisions(made: list[Decision], faults: list[ProblemError | None]) -> Decisions:
    decided = [
        _decided(one)
        if one.problem is None
        else Refusal(one.id, cast(Problem, problem(fault or _refused(one, f"documents[{at}].id"))))
        for at, (one, fault) in enumerate(zip(made, faults, strict=True))
    ]
    refused = sum(one.problem is not None for one in made)
    dropped = sum(one.repeats is not None for one in made)
    return Decisions(decided, len(made) - refused - dropped, dropped, refused)


def _decided(made: Decision) -> Decided:
    return Decided(made.id, made.new, made.repeats is None, made.repeats)


def _refused(made: Decision, field: str) -> ProblemError:
    # The fields were checked before, so the id must already be in the index.
    return ProblemError(
        409,
        Message("server.title_another_text"),
        Message("server.another_text", id=made.id),
        field,
    )


@router.get(
    "/v1/documents",
    summary="Read a document, its id in the query",
    dependencies=_READ,
    responses={
        200: {"model": Document, **_example(_STORED)},
        **problem_responses(404),
    },
)
async def read_by_query(request: Request, id: Annotated[str, _ID]) -> Response:
    """Answer with a document."""
    return json_response(await _document(request, id))


@router.delete(
    "/v1/documents",
    summary="Remove a document, its id in the query",
    dependencies=_WRITE,
    responses={
        200: {"model": RemovedDocuments, **_example({"removed": 1, "freed": ["b4"]})},
        **problem_responses(404),
    },
)
async def remove_by_query(request: Request, id: Annotated[str, _ID]) -> Response:
    """Remove a document."""
    return await _remove(request, id)


# These routes precede that of the document itself, whose id may have any form.
@router.get(
    "/v1/documents/{id:id}/explain",
    summary="Why is it kept or dropped?",
    dependencies=_READ,
    responses={
        200: {
            "model": ExplainedDocument,
            **_example(
                {
                    "document": _STORED,
                    "measure": "content(5)",
                    "threshold": 0.8,
                    "dropped": [{"id": "b4", "match": _REPEATS}],
                    "dropped_count": 1,
                    "events": [],
                }
            ),
        },
        **problem_responses(404),
    },
)
async def explain(request: Request, id: str) -> Response:
    """Return an explanation, also for a removed document."""
    _check_whole(request)
    check_id(id)
    store = request.app.state.store
    try:
        found = await store.run(lambda: store.index.explain(id))
    except InputError:
        raise _missing(id) from None
    dropped = [DroppedDocument(id, match) for id, match in found.dropped[:MOST_DROPPED]]
    return json_response(
        ExplainedDocument(
            found.document,
            found.measure,
            found.threshold,
            dropped,
            len(found.dropped),
            found.events,
        )
    )


@router.post(
    "/v1/documents/{id:id}/keep",
    summary="Keep a dropped document after all",
    description="From now on the document is kept, whatever it repeats, and others may be"
    " dropped for it.",
    dependencies=_WRITE,
    responses={
        200: {"model": Document, **_example(_STORED)},
        **problem_responses(404, 409),
    },
)
async def keep(request: Request, id: str) -> Response:
    """Undo a removal."""
    _check_whole(request)
    check_id(id)
    store = request.app.state.store
    try:
        await store.run(lambda: store.index.keep(id))
    except InputError:
        # Either it does not exist, which the next line reports, or it is not dropped.
        await _document(request, id)
        detail = Message("server.not_dropped", id=id)
        raise ProblemError(409, Message("server.title_not_dropped"), detail, "id") from None
    return json_response(await _document(request, id))


@router.get(
    "/v1/documents/{id:id}",
    summary="Read a document",
    dependencies=_READ,
    responses={
        200: {"model": Document, **_example(_STORED)},
        **problem_responses(404),
    },
)
async def read(request: Request, id: str) -> Response:
    """Answer with a document."""
    return json_response(await _document(request, id))


@router.delete(
    "/v1/documents/{id:id}",
    summary="Remove a document",
    description="Those that were dropped for it stay dropped, and are listed as freed.",
    dependencies=_WRITE,
    responses={
        200: {"model": RemovedDocuments, **_example({"removed": 1, "freed": ["b4"]})},
        **problem_responses(404),
    },
)
async def remove(request: Request, id: str) -> Response:
    """Remove a document."""
    return await _remove(request, id)


async def _document(request: Request, id: str) -> Document:
    check_id(id)
    store = request.app.state.store
    found: Document | None = await store.run(lambda: store.index.get(id))
    if found is None:
        raise _missing(id)
    return found


async def _remove(request: Request, id: str) -> Response:
    check_id(id)
    store = request.app.state.store
    try:
        gone = await store.run(lambda: store.index.remove(id))
    except InputError:
        raise _missing(id) from None
    return json_response(RemovedDocuments(gone.removed, gone.freed))


def _check_whole(request: Request) -> None:
    """Refuse an address with a trailing line break, which a route's ``$`` ignores."""
    path = request.scope["path"]
    if path.endswith("\n"):
        raise _missing(path.removeprefix("/v1/documents/"))


def _missing(id: str) -> ProblemError:
    detail = Message("server.no_such_document", id=id)
    return ProblemError(404, Message("server.title_no_such_document"), detail, "id")
