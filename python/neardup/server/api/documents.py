"""Documents: add, read, remove and restore them."""

from __future__ import annotations

from typing import Annotated, Any

import orjson
from fastapi import APIRouter, Depends, Query, Request, Response
from pydantic import AfterValidator, BaseModel, Discriminator, FailFast, Field, Tag
from starlette.convertors import Convertor, register_url_convertor

from neardup.base.messages import Message
from neardup.exceptions import InputError
from neardup.index import Decision, Document, Event, Match, NewDocument
from neardup.index.values import MAX_ID_BYTES, check_time, find_id_fault
from neardup.server.api.body import JsonRoute, Line, RequestBody, check_text
from neardup.server.problems import Problem, ProblemError, make_problem
from neardup.server.security.auth import identify, require

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

_ID = Query(
    min_length=1,
    max_length=MAX_ID_BYTES,
    description="The document. For ids that end in `/explain` or `/keep`, or that a proxy"
    " changes in a path, such as `a//b` and `../a`.",
    examples=["wire/2026-03-01/17"],
)


def _validate_id(value: str) -> str:
    fault = find_id_fault(value)
    if fault is not None:
        raise ValueError(fault)
    return value


def _validate_time(value: str) -> str:
    # The index parses it again; checking here names the field.
    check_time(value, "at")
    return value


def _validate_extra(value: dict[str, Any]) -> dict[str, Any]:
    try:
        orjson.dumps(value)
    except TypeError as error:
        raise ValueError(str(error)) from None
    return value


class PostedDocument(RequestBody):
    """A document that is to be added."""

    id: Annotated[
        str, AfterValidator(_validate_id), Field(description="At most 2,000 bytes in UTF-8.")
    ]
    text: str
    title: Line | None = None
    at: Annotated[str, AfterValidator(_validate_time)] | None = Field(
        None,
        description="Time of arrival, now by default: RFC 3339, or such as 2024-3-9 8:00; UTC if"
        " it names no zone.",
        examples=["2026-03-01T08:00:00+08:00"],
    )
    source: Line | None = Field(None, description="Where it comes from.")
    extra: Annotated[dict[str, Any], AfterValidator(_validate_extra)] | None = Field(
        None, description="Further fields; stored."
    )
    replace: bool = Field(
        False,
        description="Whether it replaces a stored document with its id. neardup decides its "
        "duplicates again.",
    )


class PostedBatch(RequestBody):
    """Documents that are to be added, in this order."""

    # To collect the faults of a million documents would block the service.
    documents: Annotated[list[PostedDocument], FailFast()] = Field(min_length=1)


Posted = Annotated[
    Annotated[PostedDocument, Tag("<document>")] | Annotated[PostedBatch, Tag("<batch>")],
    Discriminator(
        lambda body: "<batch>" if isinstance(body, dict) and "documents" in body else "<document>"
    ),
]


class DecisionAnswer(BaseModel):
    """The decision on a document."""

    id: str
    new: bool = Field(description="False if it was already stored with the same text.")
    kept: bool
    repeats: Match | None = Field(description="The kept document that it repeats.")


class Refusal(BaseModel):
    """A document of a batch that was not stored: another text is stored under its id."""

    id: str
    problem: Problem


class Decisions(BaseModel):
    """The decisions on the documents of a batch, in their order."""

    decisions: list[DecisionAnswer | Refusal]
    kept: int
    dropped: int
    refused: int


class RemovedDocuments(BaseModel):
    """The result of a removal."""

    removed: int
    decided: list[DecisionAnswer] = Field(
        description="Documents that had been dropped for a removed document, decided again."
        " At most 10,000."
    )


class DroppedDocument(BaseModel):
    """A dropped document, with the document that it repeats."""

    id: str
    match: Match


class ExplainedDocument(BaseModel):
    """Why a document is kept or dropped."""

    document: Document | None = Field(description="null if it was removed.")
    measure: str
    threshold: float | None
    dropped: list[DroppedDocument] = Field(description="Documents dropped for it, at most 1,000.")
    dropped_count: int = Field(description="All of them.")
    events: tuple[Event, ...]


@router.post(
    "/v1/documents",
    summary="Add a document, or several",
    description="The answer is the decision: kept, or dropped for the kept document that it"
    " repeats. It comes when the document is durably stored. To add one again is safe.\n\n"
    "Of a batch a document under whose id another text is stored is refused alone, with a problem"
    " in place of its decision. A field that is not valid refuses the batch, and nothing of it is"
    " stored.",
    dependencies=_WRITE,
    responses={
        200: {"description": "It was there with this text; or the decisions on a batch."},
        201: {"description": "The document is new.", "model": DecisionAnswer},
    },
)
async def add(request: Request, response: Response, posted: Posted) -> DecisionAnswer | Decisions:
    """Add the posted documents through the writer's group commit."""
    state = request.app.state
    if isinstance(posted, PostedBatch):
        return await _add_batch(state, posted.documents)
    check_text(posted.text, "text", state.settings)
    (decision,) = await state.writer.add([NewDocument(**vars(posted))])
    state.metrics.count_decisions([decision])
    if decision.problem is not None:
        raise _make_refusal(decision, "id")
    response.status_code = 201 if decision.new else 200
    return _make_answer(decision)


async def _add_batch(state: Any, posted: list[PostedDocument]) -> Decisions:
    limit = state.settings.max_batch
    if len(posted) > limit:
        detail = Message(
            "The field '{field}' must have at most {most:,} items. Got {count:,} instead.",
            field="documents",
            most=limit,
            count=len(posted),
        )
        raise ProblemError(422, "Invalid field", detail, "documents")
    for number, document in enumerate(posted):
        check_text(document.text, f"documents[{number}].text", state.settings)
    decisions = await state.writer.add([NewDocument(**vars(document)) for document in posted])
    state.metrics.count_decisions(decisions)
    refused = sum(decision.problem is not None for decision in decisions)
    dropped = sum(decision.repeats is not None for decision in decisions)
    return Decisions(
        decisions=[
            _make_answer(decision)
            if decision.problem is None
            else Refusal(
                id=decision.id,
                problem=make_problem(_make_refusal(decision, f"documents[{number}].id")),
            )
            for number, decision in enumerate(decisions)
        ],
        kept=len(decisions) - refused - dropped,
        dropped=dropped,
        refused=refused,
    )


def _make_answer(made: Decision) -> DecisionAnswer:
    kept = made.repeats is None
    return DecisionAnswer(id=made.id, new=made.new, kept=kept, repeats=made.repeats)


def _make_refusal(made: Decision, field: str) -> ProblemError:
    # The fields were checked before, so the id must already be in the index.
    return ProblemError(
        409,
        "Another text",
        Message(
            "The index has another text under the id '{id}'. Add replace: true to replace it, or "
            "choose another id.",
            id=made.id,
        ),
        field,
    )


@router.get("/v1/documents", summary="Read a document, its id in the query", dependencies=_READ)
async def read_by_query(request: Request, id: Annotated[str, _ID]) -> Document:
    """Answer with a document."""
    return await read(request, id)


@router.delete(
    "/v1/documents", summary="Remove a document, its id in the query", dependencies=_WRITE
)
async def remove_by_query(request: Request, id: Annotated[str, _ID]) -> RemovedDocuments:
    """Remove a document."""
    return await remove(request, id)


# These routes precede the route of the document itself, whose id may have any form.
@router.get(
    "/v1/documents/{id:id}/explain", summary="Why is it kept or dropped?", dependencies=_READ
)
async def explain(request: Request, id: str) -> ExplainedDocument:
    """Return an explanation, also for a removed document."""
    _check_whole(request)
    check_id(id)
    store = request.app.state.store
    try:
        explanation = await store.run(lambda: store.index.explain(id))
    except InputError:
        raise make_missing_error(id) from None
    return ExplainedDocument(
        document=explanation.document,
        measure=explanation.measure,
        threshold=explanation.threshold,
        dropped=[
            DroppedDocument(id=id, match=match) for id, match in explanation.dropped[:MOST_DROPPED]
        ],
        dropped_count=len(explanation.dropped),
        events=explanation.events,
    )


@router.post(
    "/v1/documents/{id:id}/keep",
    summary="Keep a dropped document after all",
    description="From now on the document is kept, whatever it repeats, and others may be"
    " dropped for it. Its history names the key that decided so.",
    dependencies=_WRITE,
)
async def keep(request: Request, id: str) -> DecisionAnswer:
    """Undo a removal."""
    _check_whole(request)
    check_id(id)
    store, key = request.app.state.store, identify(request)
    by = None if key is None else key.name
    try:
        await store.run(lambda: store.index.keep(id, by=by))
    except InputError:
        # Either it does not exist, which the next line reports, or it is not dropped.
        await read(request, id)
        detail = Message("The document '{id}' is kept already.", id=id)
        raise ProblemError(409, "Not dropped", detail, "id") from None
    return DecisionAnswer(id=id, new=False, kept=True, repeats=None)


@router.get("/v1/documents/{id:id}", summary="Read a document", dependencies=_READ)
async def read(request: Request, id: str) -> Document:
    """Answer with a document."""
    check_id(id)
    store = request.app.state.store
    document: Document | None = await store.run(lambda: store.index.get(id))
    if document is None:
        raise make_missing_error(id)
    return document


@router.delete(
    "/v1/documents/{id:id}",
    summary="Remove a document",
    description="neardup decides its duplicates again.",
    dependencies=_WRITE,
)
async def remove(request: Request, id: str) -> RemovedDocuments:
    """Remove a document."""
    check_id(id)
    store = request.app.state.store
    try:
        gone = await store.run(lambda: store.index.remove(id))
    except InputError:
        raise make_missing_error(id) from None
    decided = [
        DecisionAnswer(id=id, new=False, kept=match is None, repeats=match)
        for id, match in gone.decided
    ]
    return RemovedDocuments(removed=gone.removed, decided=decided)


def check_id(id: str) -> None:
    """Raise if no document can have an id."""
    fault = find_id_fault(id)
    if fault is not None:
        raise ProblemError(422, "Invalid field", Message("The id {reason}.", reason=fault), "id")


def _check_whole(request: Request) -> None:
    """Refuse an address with a trailing line break, which a route's ``$`` ignores."""
    path = request.scope["path"]
    if path.endswith("\n"):
        raise make_missing_error(path.removeprefix("/v1/documents/"))


def make_missing_error(id: str) -> ProblemError:
    """Return the problem for an id that no document has."""
    detail = Message("No document has the id '{id}'.", id=id)
    return ProblemError(404, "No such document", detail, "id")
