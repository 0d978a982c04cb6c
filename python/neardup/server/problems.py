"""Errors as clients see them: RFC 9457, with the ``code`` and ``field`` at fault."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from fastapi import HTTPException, Response
from pydantic import BaseModel, Field

_MEDIA_TYPE = "application/problem+json"


class ProblemError(HTTPException):
    """An error that becomes a problem response, or a page for people.

    The title is the kind, whose words in other letters are the type and the code; the detail says
    what happened, and what to do; the field is the one at fault, such as ``documents[3].text``.

    Examples
    --------
    >>> make_problem(ProblemError(404, "No such document", "There is no document 'a1'.")).code
    'no_such_document'
    """

    def __init__(
        self,
        status: int,
        title: str,
        detail: str,
        field: str | None = None,
        *,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(status, detail, headers)
        self.title = title
        self.field = field

    @property
    def message(self) -> str:
        """The message of the problem, as other errors have it."""
        return self.detail

    def __str__(self) -> str:
        """Return title and detail."""
        return f"{self.title}: {self.detail}"


class Problem(BaseModel):
    """A problem (RFC 9457)."""

    type: str = Field(examples=["urn:neardup:invalid-field"])
    title: str = Field(examples=["Invalid field"])
    status: int = Field(examples=[422])
    detail: str = Field(examples=["documents[3].text: Field required."])
    code: str = Field(description="What happened, for programs.", examples=["invalid_field"])
    field: str | None = Field(None, description="The field at fault, if it is one.")


#: The answers of every operation to a request that is refused, for OpenAPI.
PROBLEMS: dict[int | str, dict[str, Any]] = {
    "default": {
        "description": "A problem (RFC 9457).",
        "content": {_MEDIA_TYPE: {"schema": Problem.model_json_schema()}},
    }
}


def make_problem(error: ProblemError) -> Problem:
    """Return an error as a problem."""
    kind = re.sub(r"[^a-z0-9]+", "-", error.title.lower()).strip("-")
    return Problem(
        type=f"urn:neardup:{kind}",
        title=error.title,
        status=error.status_code,
        detail=error.detail,
        code=getattr(error.detail, "code", None) or kind.replace("-", "_"),
        field=error.field,
    )


def make_response(error: ProblemError) -> Response:
    """Return a problem as a response."""
    content = make_problem(error).model_dump_json(exclude_none=True)
    return Response(content, error.status_code, dict(error.headers or {}), _MEDIA_TYPE)
