"""What a client is told when something went wrong: one shape for all, of RFC 9457.

``application/problem+json`` with ``type``, ``title``, ``status``, ``detail``, ``code`` and, where
one field of the request is at fault, ``field``. No answer shows how the service looks inside:
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
from pydantic_core import PydanticCustomError
from starlette.exceptions import HTTPException as AnyHTTPException
from starlette.routing import Match

from neardup._engine.messages import Message
from neardup.exceptions import (
    IndexFormatError,
    IndexMismatchError,
    IndexUnavailableError,
    InputError,
    MissingDependencyError,
    NeardupError,
    ParameterError,
)
from neardup.server.api.schemas import Problem

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send
    from starlette.types import Message as AsgiMessage

__all__ = [
    "MEDIA_TYPE",
    "ProblemError",
    "complete",
    "install",
    "invalid_field",
    "problem",
    "problem_responses",
    "response",
    "unfit",
]

MEDIA_TYPE = "application/problem+json"

#: Seconds after which a client may ask again when the index is away.
RETRY_SECONDS = 5

_LOG = logging.getLogger("neardup.server")

#: Errors whose message has no text of a document.
_TELLING = (IndexFormatError, IndexMismatchError, MissingDependencyError)

_INVALID_FIELD = Message("server.title_invalid_field")

#: What Pydantic finds, by its kinds: the sentence for it, and what of its values is in it.
_FAULTS: dict[str, tuple[str, dict[str, str]]] = {
    "bool_type": ("server.must_be_flag", {}),
    "dict_type": ("server.must_be_object", {}),
    "extra_forbidden": ("server.unknown_field", {}),
    "greater_than_equal": ("server.must_be_at_least", {"ge": "bound"}),
    "int_from_float": ("server.must_be_integer_whole", {}),
    "int_parsing": ("server.must_be_integer_text", {}),
    "int_parsing_size": ("server.must_be_integer_small", {}),
    "int_type": ("server.must_be_integer", {}),
    "less_than_equal": ("server.must_be_at_most", {"le": "bound"}),
    "list_type": ("server.must_be_list", {}),
    "literal_error": ("server.must_be_choice", {"expected": "expected"}),
    "missing": ("server.missing", {}),
    "model_attributes_type": ("server.must_be_object_of_fields", {}),
    "posted": ("server.must_be_posted", {}),
    "string_pattern_mismatch": ("server.must_match", {"pattern": "pattern"}),
    "string_too_long": ("server.too_long", {"max_length": "count"}),
    "string_too_short": ("server.too_short", {"min_length": "count"}),
    "string_type": ("server.must_be_string", {}),
    "too_short": ("server.empty_list", {}),
}

#: The kind of what our own checks find.
_UNFIT = "neardup"

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
    422: "A field is not as it must be; `field` names it, `code` says what it is.",
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
    title : Message
        The kind of problem, the same words for all of a kind.
    detail : Message
        What happened this time, and a way out.
    field : str or None, default=None
        The field at fault, such as ``documents[3].text``.
    headers : mapping or None, default=None
        Further headers of the answer.

    Examples
    --------
    >>> title = Message("server.title_no_such_document")
    >>> error = ProblemError(404, title, Message("server.no_such_document", id="a1"))
    >>> problem(error)["type"], problem(error)["code"]
    ('urn:neardup:no-such-document', 'server.no_such_document')
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
    if isinstance(error.detail, Message):
        members["code"] = error.detail.code
    if error.field is not None:
        members["field"] = error.field
    return members


def response(error: ProblemError) -> Response:
    """Return a problem as the answer to a request."""
    headers = dict(error.headers or {})
    return Response(orjson.dumps(problem(error)), error.status_code, headers, MEDIA_TYPE)


def problem_responses(
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
            wanted = problem_responses(key=False)
            if "HTTPValidationError" in str(described.get("422")):
                wanted |= problem_responses(422, key=False)
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
        title = Message("server.title_method_not_allowed")
        detail = Message("server.method_not_allowed", method=request.method, allowed=allowed)
    elif error.status_code == HTTPStatus.NOT_FOUND:
        title, detail = Message("server.title_not_found"), Message("server.nothing_here")
    else:
        title = Message("server.title_of_http", phrase=HTTPStatus(error.status_code).phrase)
        detail = Message("server.of_http", said=str(error.detail))
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


def unfit(code: str, **values: Any) -> PydanticCustomError:
    """Return the error that a check of a model raises where a value is not as it must be.

    Parameters
    ----------
    code : str
        Of a sentence about ``what``, the field.
    **values : object
        What else is in the sentence.
    """
    return PydanticCustomError(_UNFIT, "{code}", {"code": code, "values": values})


def _invalid(error: Mapping[str, Any], field: str) -> ProblemError:
    what = Message("server.the_field", field=field) if field else Message("server.the_body")
    return ProblemError(422, _INVALID_FIELD, _detail(error, what), field or None)


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


def _detail(error: Mapping[str, Any], what: Message) -> Message:
    """Return what Pydantic found, or one of our own checks, about a field or the body."""
    kind, found = error["type"], error.get("input")
    context = error.get("ctx", {})
    if kind == _UNFIT:
        return Message(context["code"], what=what, **context["values"])
    values = {"what": what, "got": _got(found)}
    if kind not in _FAULTS:
        return Message("server.invalid", said=error["msg"], **values)
    code, names = _FAULTS[kind]
    return Message(code, **values, **{name: context[key] for key, name in names.items()})


def _got(found: object) -> Message | str:
    """Return a number as it is, of other values the kind; nothing of texts, which are too long."""
    if found is None or isinstance(found, str):
        return ""
    if isinstance(found, (bool, int, float)):
        return Message("server.got", found=repr(found)[:30])
    if isinstance(found, dict):
        kind = "server.an_object"
    else:
        kind = "server.a_list" if isinstance(found, list) else "server.something_else"
    return Message("server.got_kind", found=Message(kind))


async def _of_input(_: Request, error: Exception) -> Response:
    assert isinstance(error, NeardupError)
    detail = error.message
    field = error.values.get("parameter", error.values.get("field"))
    return response(ProblemError(422, _INVALID_FIELD, detail, field))


async def _of_index(_: Request, error: Exception) -> Response:
    # The message tells where the index is, which is not the client's concern.
    _LOG.warning("the index is away: %s", error)
    return response(
        ProblemError(
            503,
            Message("server.title_index_unavailable"),
            Message("server.index_away"),
            headers={"Retry-After": str(RETRY_SECONDS)},
        )
    )


async def _of_bug(request: Request, error: Exception) -> Response:
    _log(request.scope, error)
    return response(_bug())


def _bug() -> ProblemError:
    return ProblemError(500, Message("server.title_internal_error"), Message("server.failed"))


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

        async def noted(message: AsgiMessage) -> None:
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
