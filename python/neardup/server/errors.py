"""The one handler of all errors: a problem for programs, a page for people.

No response reveals internals: errors that the client did not cause are logged, without values.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from http import HTTPStatus
from typing import Any
from urllib.parse import quote

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.datastructures import FormData
from starlette.exceptions import HTTPException

from neardup.base.messages import Message
from neardup.exceptions import IndexUnavailableError, InputError, ParameterError
from neardup.options.signatures import suggestions
from neardup.server.jobs.submission import CheckFields
from neardup.server.pages.page import redirect, render_error
from neardup.server.problems import ProblemError, make_response
from neardup.server.security.headers import add_headers

#: Addresses for programs, which get errors as problems.
_OF_PROGRAMS = ("/v1", "/healthz", "/readyz", "/metrics", "/openapi.json")

#: Retry-After, in seconds, while the index is unavailable.
_RETRY_SECONDS = 5

_log = logging.getLogger("neardup.server")


async def answer_error(request: Request, error: Exception) -> Response:
    """Return the response to a request that an error ended."""
    problem, path = _convert_error(error), request.url.path
    if any(path == prefix or path.startswith(f"{prefix}/") for prefix in _OF_PROGRAMS):
        answer = make_response(problem)
    elif problem.status_code == HTTPStatus.UNAUTHORIZED and request.method == "GET":
        query = f"?{request.url.query}" if request.url.query else ""
        answer = redirect(f"/login?next={quote(path + query, safe='')}")
    else:
        answer = render_error(request, problem)
    # An unexpected error is answered outside of all middleware.
    add_headers(answer.headers)
    return answer


HANDLERS: dict[Any, Any] = dict.fromkeys(
    (
        HTTPException,
        RequestValidationError,
        ParameterError,
        InputError,
        IndexUnavailableError,
        Exception,
    ),
    answer_error,
)


def _convert_error(error: Exception) -> ProblemError:
    match error:
        case ProblemError():
            return error
        case RequestValidationError():
            return _convert_fault(error.errors()[0], error.body)
        case ParameterError() | InputError():
            field = error.values.get("parameter", error.values.get("field"))
            return ProblemError(422, "Invalid field", error.message, field)
        case IndexUnavailableError():
            # The message names the location of the index, which clients must not see.
            _log.warning("the index is unavailable: %s", error)
            detail = Message(
                "The index cannot be read or written now. Send the request again: a document that "
                "was stored meanwhile is recognized by its id."
            )
            headers = {"Retry-After": str(_RETRY_SECONDS)}
            return ProblemError(503, "Index unavailable", detail, headers=headers)
        case HTTPException():
            status, title = error.status_code, HTTPStatus(error.status_code).phrase
            return ProblemError(status, title, str(error.detail), headers=error.headers)
    # The server logs it, and closes the connection.
    detail = Message("The service failed. The log has the details.")
    return ProblemError(500, "Internal error", detail, headers={"Connection": "close"})


def _convert_fault(fault: dict[str, Any], body: Any) -> ProblemError:
    """Return the problem for a fault that Pydantic or FastAPI found in a request."""
    if fault["type"] == "json_invalid":
        return ProblemError(400, "Invalid JSON", f"{fault['msg']}: {fault['ctx']['error']}.")
    field = _format_path(fault["loc"])
    detail = f"{field}: {fault['msg']}." if field else f"{fault['msg']}."
    if fault["type"] == "extra_forbidden" and isinstance(body, FormData):
        near = suggestions(field, CheckFields.model_fields)
        detail += f" Did you mean '{near[0]}'?" if near else ""
    return ProblemError(422, "Invalid field", detail, field or None)


def _format_path(place: Sequence[int | str]) -> str:
    """Return a location of Pydantic as a path, without the part of the request and tags of unions.

    Examples
    --------
    >>> _format_path(("body", "<batch>", "documents", 3, "text"))
    'documents[3].text'
    """
    path = ""
    for step in place[1:]:
        if isinstance(step, int):
            path += f"[{step}]"
        elif not step.startswith("<"):
            path += f".{step}" if path else step
    return path
