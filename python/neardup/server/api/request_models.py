"""Request bodies, validated field by field.

Limits that depend on the settings are checked by `check_batch` and `check_text`, and
`add_limits` writes them into the description.

In a batch, an invalid value (`fault_of`) refuses only its own document. A malformed document
(a field that is missing, unknown or of the wrong type) is a bug in the client, and refuses the
whole batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

import orjson
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    ValidationError,
)

from neardup.base.messages import Message
from neardup.base.validation import check_span
from neardup.exceptions import ParameterError
from neardup.index.values import MAX_ID_BYTES, NUL, check_time, id_fault
from neardup.recipe import NAMES
from neardup.server.api.validation import invalid_field, unfit
from neardup.server.problems import ProblemError
from neardup.server.settings import Settings

__all__ = [
    "BatchDocument",
    "ComparedTexts",
    "Posted",
    "PostedBatch",
    "PostedDocument",
    "QueryText",
    "check_batch",
    "check_id",
    "check_text",
    "fault_of",
]

#: Longest title, source, search term and the like: a line, not a text.
_LINE = 10_000


def _id(value: str) -> str:
    fault = _id_fault(value)
    if fault is not None:
        raise unfit(fault, most=MAX_ID_BYTES)
    return value


def _id_fault(value: str) -> str | None:
    """Return the error code of an invalid id, None for a valid one."""
    if id_fault(value) is None:
        return None
    if not value or NUL in value:
        return "server.id_empty"
    try:
        value.encode()
    except UnicodeEncodeError:
        return "server.id_not_unicode"
    return "server.id_too_long"


def _time(value: str) -> str:
    # The index parses it again; checking here lets the error name the field.
    try:
        check_time(value, "at")
    except ParameterError as error:
        said = {name: error.values[name] for name in ("expected", "value")}
        raise unfit("server.must_be", **said) from None
    return value


def _span(value: str) -> str:
    try:
        check_span(value, "within")
    except ParameterError:
        raise unfit("server.must_be_span") from None
    return value


def _number(value: Any) -> Any:
    # 10.0 is a whole number in JSON; "10" and true are not.
    if isinstance(value, (str, bool)):
        raise unfit("server.must_be_whole")
    return value


def _extra(value: dict[str, Any]) -> dict[str, Any]:
    try:
        orjson.dumps(value)
    except TypeError as error:
        raise unfit("server.cannot_be_stored", reason=str(error)) from None
    return value


Id = Annotated[
    str,
    Field(min_length=1, max_length=MAX_ID_BYTES, description="At most 2,000 bytes in UTF-8."),
    AfterValidator(_id),
]
Line = Annotated[str, Field(max_length=_LINE)]
Time = Annotated[
    str,
    Field(
        max_length=60,
        description="RFC 3339, or such as 2024-3-9 8:00; UTC if it names no zone.",
        examples=["2026-03-01T08:00:00+08:00"],
        json_schema_extra={"format": "date-time"},
    ),
    AfterValidator(_time),
]
Span = Annotated[
    str,
    Field(
        description="A number with s, m, h, d or w.",
        examples=["30d"],
        json_schema_extra={"pattern": "^[1-9][0-9]{0,8}[smhdw]$"},
    ),
    AfterValidator(_span),
]


class _Request(BaseModel):
    model_config = ConfigDict(extra="forbid")


class PostedDocument(_Request):
    """A document that is to be added."""

    id: Id
    text: str
    title: Line | None = None
    at: Time | None = Field(None, description="Time of arrival, now by default.")
    source: Line | None = Field(None, description="Where it comes from.")
    extra: Annotated[dict[str, Any], AfterValidator(_extra)] | None = Field(
        None, description="Further fields; stored."
    )


class BatchDocument(_Request):
    """One of several documents; with a value that `PostedDocument` does not take it is refused."""

    id: str
    text: str
    title: str | None = None
    at: str | None = Field(
        None, description="Time of arrival, now by default.", examples=["2026-03-01T08:00:00+08:00"]
    )
    source: str | None = Field(None, description="Where it comes from.")
    extra: dict[str, Any] | None = Field(None, description="Further fields; stored.")


class PostedBatch(_Request):
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
        custom_error_message="server.must_be_posted",
    ),
]


class QueryText(_Request):
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


class ComparedTexts(_Request):
    """Two texts."""

    a: str
    b: str
    title_a: Line | None = None
    title_b: Line | None = None
    recipe: Literal[NAMES] = "general"  # type: ignore[valid-type]
    passages: bool = Field(
        False, strict=True, description="Whether to look for passages and differences."
    )


def check_id(id: str) -> None:
    """Raise if the id in an address is invalid."""
    fault = _id_fault(id)
    if fault is not None:
        what = Message("server.the_field", field="id")
        detail = Message(fault, what=what, most=MAX_ID_BYTES)
        raise ProblemError(422, Message("server.title_invalid_field"), detail, "id")


def check_text(text: str, field: str, settings: Settings) -> None:
    """Raise if a text is too long for this service."""
    if len(text) > settings.max_text_characters:
        counts = {"most": settings.max_text_characters, "count": len(text)}
        detail = Message("server.text_too_long", field=field, **counts)
        raise ProblemError(422, Message("server.title_text_too_long"), detail, field)


def check_batch(documents: Sequence[BatchDocument], settings: Settings) -> None:
    """Raise if a batch is too large for this service."""
    if len(documents) > settings.max_batch:
        counts = {"most": settings.max_batch, "count": len(documents)}
        detail = Message("server.batch_too_large", **counts)
        raise ProblemError(422, Message("server.title_batch_too_large"), detail, "documents")


def fault_of(document: BatchDocument, place: str, settings: Settings) -> ProblemError | None:
    """Return why a document of a batch cannot be stored, None if it can.

    Parameters
    ----------
    document : BatchDocument
    place : str
        Position of the document in the request, such as ``documents[3]``.
    settings : Settings
    """
    try:
        PostedDocument.model_validate(document.__dict__)
        check_text(document.text, f"{place}.text", settings)
    except ValidationError as error:
        return invalid_field(error.errors()[0], place)
    except ProblemError as problem:
        return problem
    return None
