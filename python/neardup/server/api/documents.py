"""Documents: add, read, remove and restore them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, cast

from fastapi import APIRouter, Depends, Query, Request, Response
from pydantic import Discriminator, Field, Tag, ValidationError
from starlette.convertors import Convertor, register_url_convertor

from neardup.base.messages import N_, Message
from neardup.exceptions import InputError
from neardup.index import Decision, Document, Event, Match, NewDocument
from neardup.index.values import MAX_ID_BYTES
from neardup.server.api.body import JsonRoute, invalid_field, json_response
from neardup.server.api.fields import (
    Extra,
    Id,
    Line,
    RequestBody,
    Time,
    check_id,
    check_text,
)
from neardup.server.api.openapi import problem_responses
from neardup.server.problems import Problem, ProblemError, problem
from neardup.server.security.auth import identify, require
from neardup.server.settings import Settings

__all__ = ["MOST_DROPPED", "missing", "router"]

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


class BatchDocument(RequestBody):
    """One of several documents; with a value that `PostedDocument` does not take it is refused."""

    id: str
    text: str
    title: str | None = None
    at: str | None = Field(
        None, description="Time of arrival, now by default.", examples=["2026-03-01T08:00:00+08:00"]
    )
    source: str | None = Field(None, description="Where it comes from.")
    extra: dict[str, Any] | None = Field(None, description="Further fields; stored.")


class PostedDocument(BatchDocument):
    """A document that is to be added."""

    id: Id
    title: Line | None = None
    at: Time | None = Field(None, description="Time of arrival, now by default.")
    source: Line | None = Field(None, description="Where it comes from.")
    extra: Extra | None = Field(None, description="Further fields; stored.")


class PostedBatch(RequestBody):
    """Documents that are to be added, in this order."""

    documents: list[BatchDocument] = Field(min_length=1)


def _kind(value: Any) -> str | None:
    if not isinstance(value, dict):
        return None
    return "<batch>" if "documents" in value else "<document>"


Posted = Annotated[
    Annotated[PostedDocument, Tag("<document>")] | Annotated[PostedBatch, Tag("<batch>")],
    Discriminator(
        _kind,
        custom_error_type="posted",
        # Pydantic requires a message; the catalogue has the one that clients see.
        custom_error_message=N_(
            "{what} must be an object: a document, or 'documents' with a list of them.{got}"
        ),
    ),
]


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
class RemovedDocuments:
    """The result of a removal.

    Parameters
    ----------
    decided : list of Decided
        Documents that had been dropped for a removed document, decided again. At most 10,000.
    """

    removed: int
    decided: list[Decided]


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
        },
        201: {"description": "The document is new.", "model": Decided},
        **problem_responses(409),
    },
)
async def add(request: Request, posted: Posted) -> Response:
    """Add the posted documents through the writer's group commit."""
    state = request.app.state
    if isinstance(posted, PostedBatch):
        return json_response(await _add_batch(state, posted.documents))
    check_text(posted.text, "text", state.settings)
    (decision,) = await state.writer.add([_new(posted)])
    state.metrics.decided([decision])
    if decision.problem is not None:
        raise _refused(decision, "id")
    return json_response(_decided(decision), 201 if decision.new else 200)


async def _add_batch(state: Any, given: list[BatchDocument]) -> Decisions:
    """Add the valid documents of a batch, and return a decision or refusal for each document."""
    faults = [
        _fault_of(document, f"documents[{number}]", state.settings)
        for number, document in enumerate(given)
    ]
    valid = [_new(document) for document, fault in zip(given, faults, strict=True) if not fault]
    added = iter(await state.writer.add(valid) if valid else ())
    decisions = [
        Decision(document.id, False, None, fault.detail) if fault else next(added)
        for document, fault in zip(given, faults, strict=True)
    ]
    state.metrics.decided(decisions)
    answers = [
        _decided(decision)
        if decision.problem is None
        else Refusal(
            decision.id,
            cast(Problem, problem(fault or _refused(decision, f"documents[{number}].id"))),
        )
        for number, (decision, fault) in enumerate(zip(decisions, faults, strict=True))
    ]
    refused = sum(decision.problem is not None for decision in decisions)
    dropped = sum(decision.repeats is not None for decision in decisions)
    return Decisions(answers, len(decisions) - refused - dropped, dropped, refused)


def _fault_of(document: BatchDocument, place: str, settings: Settings) -> ProblemError | None:
    """Return why a document of a batch, at a place such as ``documents[3]``, cannot be stored."""
    try:
        PostedDocument.model_validate(document.__dict__)
        check_text(document.text, f"{place}.text", settings)
    except ValidationError as error:
        return invalid_field(error.errors()[0], place)
    except ProblemError as problem:
        return problem
    return None


def _new(document: BatchDocument) -> NewDocument:
    return NewDocument(**vars(document))


def _decided(made: Decision) -> Decided:
    return Decided(made.id, made.new, made.repeats is None, made.repeats)


def _refused(made: Decision, field: str) -> ProblemError:
    # The fields were checked before, so the id must already be in the index.
    return ProblemError(
        "Another text",
        Message(
            "The index has another text under the id '{id}'. Remove that document "
            "first, or choose another id.",
            id=made.id,
        ),
        field,
    )


@router.get(
    "/v1/documents",
    summary="Read a document, its id in the query",
    dependencies=_READ,
    responses={
        200: {"model": Document},
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
        200: {"model": RemovedDocuments},
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
        explanation = await store.run(lambda: store.index.explain(id))
    except InputError:
        raise missing(id) from None
    dropped = [DroppedDocument(id, match) for id, match in explanation.dropped[:MOST_DROPPED]]
    return json_response(
        ExplainedDocument(
            explanation.document,
            explanation.measure,
            explanation.threshold,
            dropped,
            len(explanation.dropped),
            explanation.events,
        )
    )


@router.post(
    "/v1/documents/{id:id}/keep",
    summary="Keep a dropped document after all",
    description="From now on the document is kept, whatever it repeats, and others may be"
    " dropped for it. Its history names the key that decided so.",
    dependencies=_WRITE,
    responses={
        200: {"model": Decided},
        **problem_responses(404, 409),
    },
)
async def keep(request: Request, id: str) -> Response:
    """Undo a removal."""
    _check_whole(request)
    check_id(id)
    store, key = request.app.state.store, identify(request)
    by = None if key is None else key.name
    try:
        await store.run(lambda: store.index.keep(id, by=by))
    except InputError:
        # Either it does not exist, which the next line reports, or it is not dropped.
        await _document(request, id)
        detail = Message("The document '{id}' is kept already.", id=id)
        raise ProblemError("Not dropped", detail, "id") from None
    return json_response(Decided(id, new=False, kept=True, repeats=None))


@router.get(
    "/v1/documents/{id:id}",
    summary="Read a document",
    dependencies=_READ,
    responses={
        200: {"model": Document},
        **problem_responses(404),
    },
)
async def read(request: Request, id: str) -> Response:
    """Answer with a document."""
    return json_response(await _document(request, id))


@router.delete(
    "/v1/documents/{id:id}",
    summary="Remove a document",
    description="Those that were dropped for it are decided again.",
    dependencies=_WRITE,
    responses={
        200: {"model": RemovedDocuments},
        **problem_responses(404),
    },
)
async def remove(request: Request, id: str) -> Response:
    """Remove a document."""
    return await _remove(request, id)


async def _document(request: Request, id: str) -> Document:
    check_id(id)
    store = request.app.state.store
    document: Document | None = await store.run(lambda: store.index.get(id))
    if document is None:
        raise missing(id)
    return document


async def _remove(request: Request, id: str) -> Response:
    check_id(id)
    store = request.app.state.store
    try:
        gone = await store.run(lambda: store.index.remove(id))
    except InputError:
        raise missing(id) from None
    decided = [Decided(id, False, match is None, match) for id, match in gone.decided]
    return json_response(RemovedDocuments(gone.removed, decided))


def _check_whole(request: Request) -> None:
    """Refuse an address with a trailing line break, which a route's ``$`` ignores."""
    path = request.scope["path"]
    if path.endswith("\n"):
        raise missing(path.removeprefix("/v1/documents/"))


def missing(id: str) -> ProblemError:
    """Return the problem for an id that no document has."""
    detail = Message("No document has the id '{id}'.", id=id)
    return ProblemError("No such document", detail, "id")
