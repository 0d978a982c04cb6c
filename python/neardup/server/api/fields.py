"""Fields that several request bodies have, and the checks that Pydantic cannot make."""

from __future__ import annotations

from typing import Annotated, Any

import orjson
from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from neardup.base.messages import N_, Message
from neardup.base.validation import check_span
from neardup.exceptions import ParameterError
from neardup.index.values import MAX_ID_BYTES, NUL, check_time, id_fault
from neardup.server.api.body import unfit
from neardup.server.problems import ProblemError
from neardup.server.settings import Settings

__all__ = ["Extra", "Id", "Line", "RequestBody", "Span", "Time", "check_id", "check_text"]

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
        return N_("{what} must be text of at least one character, none of them NUL.")
    try:
        value.encode()
    except UnicodeEncodeError:
        return N_("{what} must be Unicode text, without lone surrogates.")
    return N_("{what} must have at most {most:,} bytes in UTF-8.")


def _time(value: str) -> str:
    # The index parses it again; checking here lets the error name the field.
    try:
        check_time(value, "at")
    except ParameterError as error:
        values = {name: error.values[name] for name in ("expected", "value")}
        raise unfit(N_("{what} must be {expected}. Got {value} instead."), **values) from None
    return value


def _span(value: str) -> str:
    try:
        check_span(value, "within")
    except ParameterError:
        raise unfit(N_("{what} must be a number with s, m, h, d or w, such as 30d.")) from None
    return value


def _extra(value: dict[str, Any]) -> dict[str, Any]:
    try:
        orjson.dumps(value)
    except TypeError as error:
        raise unfit(N_("{what} cannot be stored: {reason}."), reason=str(error)) from None
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
Extra = Annotated[dict[str, Any], AfterValidator(_extra)]


class RequestBody(BaseModel):
    """A body with no fields but its own."""

    model_config = ConfigDict(extra="forbid")


def check_id(id: str) -> None:
    """Raise if the id in an address is invalid."""
    fault = _id_fault(id)
    if fault is not None:
        what = Message("The field '{field}'", field="id")
        detail = Message(fault, what=what, most=MAX_ID_BYTES)
        raise ProblemError("Invalid field", detail, "id")


def check_text(text: str, field: str, settings: Settings) -> None:
    """Raise if a text is too long for this service."""
    if len(text) > settings.max_text_characters:
        counts = {"most": settings.max_text_characters, "count": len(text)}
        detail = Message(
            "The field '{field}' must have at most {most:,} characters. Got {count:,} instead.",
            field=field,
            **counts,
        )
        raise ProblemError("Text too long", detail, field)
