"""Errors as clients see them, in the format of RFC 9457, with the ``code`` and ``field`` at fault.

No response reveals internals: errors that the client did not cause are logged, without values.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

import orjson
from fastapi import FastAPI, HTTPException, Request, Response
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException as AnyHTTPException
from starlette.routing import Match

from neardup.base.messages import Message
from neardup.exceptions import IndexUnavailableError, InputError, NeardupError, ParameterError
from neardup.server.logs import places

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send
    from starlette.types import Message as AsgiMessage

__all__ = [
    "MEDIA_TYPE",
    "Problem",
    "ProblemError",
    "install",
    "problem",
    "response",
]

MEDIA_TYPE = "application/problem+json"

#: Retry-After, in seconds, while the index is unavailable.
RETRY_SECONDS = 5

_LOG = logging.getLogger("neardup.server")

_METHODS = ("DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT")


#: The kinds of problems: title and status. The title in other letters is the type and the code.
_STATUSES = {
    "A key is needed": 401,
    "Another text": 409,
    "Bad request": 400,
    "Body too large": 413,
    "Damaged form": 400,
    "Empty paper": 422,
    "Forbidden": 403,
    "Index unavailable": 503,
    "Internal error": 500,
    "Invalid JSON": 400,
    "Invalid field": 422,
    "Library unavailable": 503,
    "Method Not Allowed": 405,
    "No paper": 422,
    "No report": 409,
    "No such check": 404,
    "No such document": 404,
    "No such file": 404,
    "No such library": 404,
    "Not Found": 404,
    "Not dropped": 409,
    "Not this host": 421,
    "Paper too large": 413,
    "Report too large": 422,
    "Request too slow": 408,
    "Text too long": 422,
    "The check took too long": 422,
    "The paper cannot be read": 422,
    "The service stopped": 503,
    "Too busy": 503,
    "Too long": 504,
    "Too many papers": 429,
    "Unsupported media type": 415,
    "Wrong form": 422,
    "Wrong media type": 415,
}


class ProblemError(HTTPException):
    """An error that becomes a problem response.

    The title is the kind, which has a status; the detail says what happened, and what to do; the
    field is the one at fault, such as ``documents[3].text``.

    Examples
    --------
    >>> detail = Message("There is no document '{id}'.", id="a1")
    >>> problem(ProblemError("No such document", detail))["code"]
    'no_such_document'
    """

    def __init__(
        self,
        title: str,
        detail: str,
        field: str | None = None,
        *,
        status: int | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(status or _STATUSES[title], detail, headers)
        self.title = title
        self.field = field

    def __str__(self) -> str:
        """Return title and detail."""
        return f"{self.title}: {self.detail}"


class Problem(BaseModel):
    """What went wrong (RFC 9457)."""

    type: str = Field(examples=["urn:neardup:invalid-field"])
    title: str = Field(examples=["Invalid field"])
    status: int = Field(examples=[422])
    detail: str = Field(examples=["The field 'documents[3].text' is missing."])
    code: str = Field(
        "",
        description="What happened, for programs: the same for all details that differ in values"
        " only. There is none for what other software found.",
        examples=["invalid_field"],
    )
    field: str = Field("", description="The field at fault, if it is one.")


def problem(error: ProblemError) -> dict[str, Any]:
    """Return the members of a problem."""
    kind = re.sub(r"[^a-z0-9]+", "-", error.title.lower()).strip("-")
    members: dict[str, Any] = {
        "type": f"urn:neardup:{kind}",
        "title": error.title,
        "status": error.status_code,
        "detail": error.detail,
    }
    if isinstance(error.detail, Message):
        members["code"] = error.detail.code or kind.replace("-", "_")
    if error.field is not None:
        members["field"] = error.field
    return members


def response(error: ProblemError) -> Response:
    """Return a problem as a response."""
    headers = dict(error.headers or {})
    return Response(orjson.dumps(problem(error)), error.status_code, headers, MEDIA_TYPE)


def install(app: FastAPI) -> None:
    """Turn every error of an app into a problem response.

    Call it before other middleware is added, so that the other middleware wraps these
    responses too.
    """
    app.add_exception_handler(AnyHTTPException, _of_http)
    app.add_exception_handler(ParameterError, _of_input)
    app.add_exception_handler(InputError, _of_input)
    app.add_exception_handler(IndexUnavailableError, _of_index)
    # For a middleware that itself fails; the server logs that again.
    app.add_exception_handler(Exception, _of_bug)
    app.add_middleware(_Caught)


async def _of_http(request: Request, error: Exception) -> Response:
    if isinstance(error, ProblemError):
        return response(error)
    assert isinstance(error, AnyHTTPException)
    headers = dict(error.headers or {})
    if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        allowed = ", ".join(_methods(request)) or headers.get("allow", "")
        headers = {"Allow": allowed}
        title = "Method Not Allowed"
        detail = Message(
            "{method} is not allowed here. Allowed: {allowed}.",
            method=request.method,
            allowed=allowed,
        )
    elif error.status_code == HTTPStatus.NOT_FOUND:
        title = "Not Found"
        detail = Message("There is nothing at this address. /openapi.json lists all addresses.")
    else:
        title = HTTPStatus(error.status_code).phrase
        detail = Message("{said}", said=str(error.detail))
    return response(ProblemError(title, detail, status=error.status_code, headers=headers))


def _methods(request: Request) -> list[str]:
    """Return all methods of an address; the route that was found has but its own."""
    asked = {"type": "http", "path": request.scope["path"], "root_path": "", "headers": []}
    methods = [
        method
        for method in _METHODS
        if any(
            route.matches({**asked, "method": method})[0] is Match.FULL
            for route in request.app.router.routes
        )
    ]
    return methods + (["HEAD"] if "GET" in methods and "HEAD" not in methods else [])


async def _of_input(_: Request, error: Exception) -> Response:
    assert isinstance(error, NeardupError)
    field = error.values.get("parameter", error.values.get("field"))
    return response(ProblemError("Invalid field", error.message, field))


async def _of_index(_: Request, error: Exception) -> Response:
    # The message names the location of the index, which clients must not see.
    _LOG.warning("the index is unavailable: %s", error)
    return response(
        ProblemError(
            "Index unavailable",
            Message(
                "The index cannot be read or written now. Send the request again: a "
                "document that was stored meanwhile is recognized by its id and is "
                "not added twice."
            ),
            headers={"Retry-After": str(RETRY_SECONDS)},
        )
    )


async def _of_bug(request: Request, error: Exception) -> Response:
    _log(request.scope, error)
    return response(_bug())


def _bug() -> ProblemError:
    return ProblemError("Internal error", Message("The service failed. The log has the details."))


def _log(scope: Scope, error: BaseException) -> None:
    """Log the types and places of an error, not its message, which may quote a document."""
    route = getattr(scope.get("route"), "path_format", "an unknown address")
    _LOG.error("%s %s failed\n%s", scope.get("method"), route, places(error))


class _Caught:
    """Handles unexpected errors inside all other middleware, which add their headers."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun = False

        async def noted(message: AsgiMessage) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self._app(scope, receive, noted)
        except Exception as error:
            # A response that has begun cannot be replaced: the server closes the connection.
            if begun:
                raise
            _log(scope, error)
            await response(_bug())(scope, receive, send)
