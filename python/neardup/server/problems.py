"""What a client is told when something went wrong: one shape for all, of RFC 9457.

``application/problem+json`` with ``type``, ``title``, ``status``, ``detail`` and, where one
field of the request is at fault, ``field``. No answer shows how the service looks inside:
what is not the client's doing is logged, and the log has no values, which may be texts.
"""

from __future__ import annotations

import logging
import re
import traceback
from collections.abc import Iterator, Mapping, Sequence
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

import orjson
from fastapi import FastAPI, HTTPException, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException as AnyHTTPException
from starlette.routing import Match

from neardup.exceptions import (
    IndexFormatError,
    IndexMismatchError,
    IndexUnavailableError,
    InputError,
    MissingDependencyError,
    ParameterError,
)
from neardup.server.answers import Problem

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = [
    "MEDIA_TYPE",
    "ProblemError",
    "answers",
    "complete",
    "install",
    "invalid_field",
    "problem",
    "response",
]

MEDIA_TYPE = "application/problem+json"

#: Seconds after which a client may ask again when the index is away.
RETRY_SECONDS = 5

_LOG = logging.getLogger("neardup.server")

#: Errors whose message has no text of a document.
_TELLING = (IndexFormatError, IndexMismatchError, MissingDependencyError)

#: How the package's own messages name a parameter.
_NAMED = re.compile(r"The '(\w+)' parameter |(\w+): expected ")

#: How Pydantic begins a sentence.
_SHOULD = re.compile(r"^\w+ should")

#: What a status means here, for the description of the service.
_MEANINGS = {
    400: "The request is not HTTP or JSON as it must be.",
    401: "A key is needed.",
    403: "The key does not allow this.",
    404: "There is nothing under this address.",
    405: "There is no such method here; the header `Allow` names those that there are.",
    409: "What is stored does not allow this.",
    413: "The body is too large.",
    415: "The body is of another media type.",
    421: "The request is meant for another host.",
    422: "A field is not as it must be; `field` names it.",
    429: "Too many requests at once; the header `Retry-After` says when to come again.",
    500: "The service failed. The log has more.",
    503: "The index is away, or the service is too busy; the header `Retry-After` says when to"
    " come again.",
    504: "The request took too long.",
}

#: Those that any operation can answer: before it is found, or while it runs.
_ALWAYS = (400, 405, 421, 429, 500, 503, 504)
_WITH_BODY = (413, 415, 422)

#: Their header ``Retry-After``, for the description.
_LATER = (429, 503)
_RETRY_AFTER = {
    "Retry-After": {
        "description": "Seconds after which to send the request again.",
        "schema": {"type": "integer", "minimum": 1},
    }
}

_METHODS = ("DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT")


class ProblemError(HTTPException):
    """A problem that becomes the answer.

    Parameters
    ----------
    status : int
        Of HTTP.
    title : str
        The kind of problem, the same words for all of a kind.
    detail : str
        What happened this time, and a way out.
    field : str or None, default=None
        The field at fault, such as ``documents[3].text``.
    headers : mapping or None, default=None
        Further headers of the answer.

    Examples
    --------
    >>> problem(ProblemError(404, "No such document", "No document has the id 'a1'."))["type"]
    'urn:neardup:no-such-document'
    """

    def __init__(
        self,
        status: int,
        title: str,
        detail: str,
        field: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(status, detail, headers)
        self.title = title
        self.field = field

    def __str__(self) -> str:
        """Return title and detail."""
        return f"{self.title}: {self.detail}"


def problem(error: ProblemError) -> dict[str, Any]:
    """Return the members of a problem."""
    kind = re.sub(r"[^a-z0-9]+", "-", error.title.lower()).strip("-")
    members: dict[str, Any] = {
        "type": f"urn:neardup:{kind}",
        "title": error.title,
        "status": error.status_code,
        "detail": error.detail,
    }
    if error.field is not None:
        members["field"] = error.field
    return members


def response(error: ProblemError) -> Response:
    """Return a problem as the answer to a request."""
    headers = dict(error.headers or {})
    return Response(orjson.dumps(problem(error)), error.status_code, headers, MEDIA_TYPE)


def answers(
    *statuses: int, body: bool = False, key: bool = True
) -> dict[int | str, dict[str, Any]]:
    """Describe the problems that an operation can answer, for OpenAPI.

    Parameters
    ----------
    *statuses : int
        Those of its own.
    body : bool, default=False
        Whether it takes a body.
    key : bool, default=True
        Whether it can ask for a key.
    """
    wanted = {*statuses, *_ALWAYS, *(_WITH_BODY if body else ()), *((401, 403) if key else ())}
    schema = {"$ref": "#/components/schemas/Problem"}
    return {
        status: {
            "description": _MEANINGS[status],
            "content": {MEDIA_TYPE: {"schema": schema}},
            **({"headers": _RETRY_AFTER} if status in _LATER else {}),
        }
        for status in sorted(wanted)
    }


def complete(schema: dict[str, Any]) -> None:
    """Describe in an OpenAPI description the problems that any operation can answer.

    Parameters
    ----------
    schema : dict
        What FastAPI made; changed in place.
    """
    for methods in schema["paths"].values():
        for operation in methods.values():
            described = operation["responses"]
            wanted = answers(key=False)
            if "HTTPValidationError" in str(described.get("422")):
                wanted |= answers(422, key=False)
                del described["422"]
            for status, answer in wanted.items():
                described.setdefault(str(status), answer)
            operation["responses"] = dict(sorted(described.items()))
    schemas = schema["components"]["schemas"]
    schemas["Problem"] = Problem.model_json_schema()
    for name in ("HTTPValidationError", "ValidationError"):
        schemas.pop(name, None)


def install(app: FastAPI) -> None:
    """Make every error of an app a problem.

    Call it before other middleware is added, so that this goes around the answer too.
    """
    app.add_exception_handler(AnyHTTPException, _of_http)
    app.add_exception_handler(RequestValidationError, _of_validation)
    app.add_exception_handler(ParameterError, _of_input)
    app.add_exception_handler(InputError, _of_input)
    app.add_exception_handler(IndexUnavailableError, _of_index)
    # Of middleware that fails itself; the server logs that once more.
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
        detail = f"{request.method} is not possible here. Possible are: {allowed}."
    elif error.status_code == HTTPStatus.NOT_FOUND:
        detail = "There is nothing under this address. /openapi.json lists all there is."
    else:
        detail = str(error.detail)
    title = HTTPStatus(error.status_code).phrase
    return response(ProblemError(error.status_code, title, detail, headers=headers))


def _methods(request: Request) -> list[str]:
    """Return all methods of an address; the route that was found has but its own."""
    asked = {"type": "http", "path": request.scope["path"], "root_path": "", "headers": []}
    found = [
        method
        for method in _METHODS
        if any(
            route.matches({**asked, "method": method})[0] is Match.FULL
            for route in request.app.router.routes
        )
    ]
    return found + (["HEAD"] if "GET" in found and "HEAD" not in found else [])


async def _of_validation(_: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    return response(_invalid(first, _field(first["loc"])))


def invalid_field(error: Mapping[str, Any], place: str) -> ProblemError:
    """Return the problem for what Pydantic found in a part of a request.

    Parameters
    ----------
    error : mapping
        One of ``ValidationError.errors()``.
    place : str
        Where the part stands in the request, such as ``documents[3]``.
    """
    return _invalid(error, f"{place}.{_field(('part', *error['loc']))}")


def _invalid(error: Mapping[str, Any], field: str) -> ProblemError:
    reason = _reason(error)
    detail = f"The field '{field}' {reason}" if field else f"The body {reason}"
    return ProblemError(422, "Invalid field", detail, field or None)


def _field(place: Sequence[int | str]) -> str:
    """Return ``documents[3].text`` for the place that Pydantic gives."""
    # The first says body, query or path; the second of a body may say which model was meant.
    named = [*place[1:]]
    if place[0] == "body" and named and str(named[0]).startswith("<"):
        del named[0]
    field = ""
    for step in named:
        if isinstance(step, int):
            field += f"[{step}]"
        else:
            field += f".{step}" if field else step
    return field


def _reason(error: Mapping[str, Any]) -> str:
    kind, found = error["type"], error.get("input")
    if kind == "missing":
        return "is missing."
    if kind == "extra_forbidden":
        return "is not known here. Further fields of a document go into 'extra'."
    if kind == "too_short" and isinstance(found, list):
        return "must have at least one item."
    message = _SHOULD.sub("must", str(error["msg"]).removeprefix("Value error, "))
    message = message.replace("a valid dictionary", "an object")
    message = message.partition(" after validation")[0].removesuffix(".")
    return f"{message}. Got {_shown(found)} instead." if _tells(kind, found) else f"{message}."


def _tells(kind: str, found: object) -> bool:
    """Return whether the value helps: texts are too long, and our own checks show it."""
    return kind != "value_error" and not isinstance(found, str) and found is not None


def _shown(value: object) -> str:
    """Return a number as it is, of other values the kind."""
    if isinstance(value, (bool, int, float)):
        return repr(value)[:30]
    if isinstance(value, dict):
        return "an object"
    return "a list" if isinstance(value, list) else "something else"


async def _of_input(_: Request, error: Exception) -> Response:
    detail = str(error)
    named = _NAMED.match(detail)
    field = None if named is None else named[1] or named[2]
    return response(ProblemError(422, "Invalid field", detail, field))


async def _of_index(_: Request, error: Exception) -> Response:
    # The message tells where the index is, which is not the client's concern.
    _LOG.warning("the index is away: %s", error)
    return response(
        ProblemError(
            503,
            "Index unavailable",
            "The index cannot be read or written now. Send the request again: a document that"
            " was stored meanwhile is known by its id and is not added twice.",
            headers={"Retry-After": str(RETRY_SECONDS)},
        )
    )


async def _of_bug(request: Request, error: Exception) -> Response:
    _log(request.scope, error)
    return response(_bug())


def _bug() -> ProblemError:
    return ProblemError(500, "Internal error", "The service failed. The log has more.")


def _log(scope: Scope, error: BaseException) -> None:
    """Log where a bug is: kinds and places, as messages may have texts of documents."""
    route = getattr(scope.get("route"), "path_format", "an unknown address")
    _LOG.error("%s %s failed\n%s", scope.get("method"), route, "".join(_places(error)))


def _places(error: BaseException) -> Iterator[str]:
    before = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if before is not None:
        yield from _places(before)
        yield "and then\n"
    yield from traceback.format_tb(error.__traceback__)
    # Our own messages about an index say where it is and what is wrong with it.
    message = f": {error}" if isinstance(error, _TELLING) else ""
    yield f"{type(error).__module__}.{type(error).__qualname__}{message}\n"


class _Caught:
    """Answers for a bug inside all other middleware, so that its headers are there too."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun = False

        async def noted(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self._app(scope, receive, noted)
        except Exception as error:
            # Half an answer cannot be mended: the server closes the connection.
            if begun:
                raise
            _log(scope, error)
            await response(_bug())(scope, receive, send)
