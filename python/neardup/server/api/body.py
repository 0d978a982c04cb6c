"""Request bodies: parsed by orjson, validated by Pydantic, refused in our own words.

orjson is several times as fast as the standard library and accepts only what RFC 8259 and
UTF-8 allow. A refused body is parsed again, to name the field at fault.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from typing import Any

import orjson
from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic_core import PydanticCustomError

from neardup.base.messages import N_, Message
from neardup.server.problems import ProblemError, response

__all__ = [
    "JsonRoute",
    "answer_validation_error",
    "invalid_field",
    "json_response",
    "refuse_unknown_parameters",
    "unfit",
]

#: Deepest nesting: no field of this service is deeper, and orjson writes at most 254 levels.
_DEEPEST = 200

#: Most fields of an object: in this service only `extra` can have more.
_MOST_FIELDS = 50

#: By Pydantic's error type: the message, and which of the error's values it shows.
_FAULTS: dict[str, tuple[str, dict[str, str]]] = {
    "bool_type": (N_("{what} must be a valid boolean.{got}"), {}),
    "dict_type": (N_("{what} must be an object.{got}"), {}),
    "extra_forbidden": (
        N_("{what} is not known here. Further fields of a document go into 'extra'."),
        {},
    ),
    "greater_than_equal": (
        N_("{what} must be greater than or equal to {bound}.{got}"),
        {"ge": "bound"},
    ),
    "int_from_float": (
        N_("{what} must be a valid integer, got a number with a fractional part.{got}"),
        {},
    ),
    "int_parsing": (
        N_("{what} must be a valid integer, unable to parse string as an integer.{got}"),
        {},
    ),
    "int_parsing_size": (N_("{what} must be a valid integer of moderate size.{got}"), {}),
    "int_type": (N_("{what} must be a valid integer.{got}"), {}),
    "less_than_equal": (N_("{what} must be less than or equal to {bound}.{got}"), {"le": "bound"}),
    "list_type": (N_("{what} must be a valid list.{got}"), {}),
    "literal_error": (N_("{what} must be {expected}.{got}"), {"expected": "expected"}),
    "missing": (N_("{what} is missing."), {}),
    "model_attributes_type": (
        N_("{what} must be an object or object to extract fields from.{got}"),
        {},
    ),
    "posted": (
        N_("{what} must be an object: a document, or 'documents' with a list of them.{got}"),
        {},
    ),
    "string_pattern_mismatch": (
        N_("{what} must match pattern '{pattern}'.{got}"),
        {"pattern": "pattern"},
    ),
    "string_type": (N_("{what} must be a valid string.{got}"), {}),
    "too_short": (N_("{what} must have at least one item."), {}),
}

#: Error type of our own checks.
_UNFIT = "neardup"


def json_response(content: Any, status: int = 200) -> Response:
    """Return a JSON response; dataclasses become objects, times RFC 3339 strings."""
    return Response(
        orjson.dumps(content, option=orjson.OPT_UTC_Z), status, media_type="application/json"
    )


class JsonRoute(APIRoute):
    """A route with a JSON body; it refuses other media types."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the handler, with a different parser for the body."""
        handler = super().get_route_handler()
        if self.body_field is None:
            return handler

        async def handle(request: Request) -> Response:
            _check_media_type(request.headers.get("content-type"))
            return await handler(_JsonRequest(request.scope, request.receive))

        return handle


class _JsonRequest(Request):
    async def json(self) -> Any:
        """Return the parsed body."""
        body = await self.body()
        try:
            value = orjson.loads(body)
        except orjson.JSONDecodeError as error:
            raise _explained(body, error) from None
        _check_counts(value, self.app.state.settings.max_batch)
        return value


def _check_counts(value: Any, most: int) -> None:
    """Refuse a body with so many parts that reporting a fault in each would take minutes.

    Validation collects all faults before it reports one, and blocks the event loop meanwhile.
    """
    records = [value]
    if isinstance(value, dict):
        for name, inner in list(value.items())[:_MOST_FIELDS]:
            if isinstance(inner, list):
                if len(inner) > most:
                    counts = {"most": most, "count": len(inner)}
                    detail = Message(
                        "The field '{field}' must have at most {most:,} items. "
                        "Got {count:,} instead.",
                        field=name,
                        **counts,
                    )
                    raise ProblemError("Invalid field", detail, name)
                records += inner
    for record in records:
        if isinstance(record, dict) and len(record) > _MOST_FIELDS:
            counts = {"most": _MOST_FIELDS, "count": len(record)}
            detail = Message(
                "An object must have at most {most} fields. Got {count:,} instead; "
                "further fields of a document go into 'extra'.",
                **counts,
            )
            raise ProblemError("Invalid field", detail)


def _check_media_type(given: str | None) -> None:
    kind = "" if given is None else given.partition(";")[0].strip().lower()
    if kind != "application/json":
        detail = Message("The header 'Content-Type' must be application/json. Got none instead.")
        if kind:
            detail = Message(
                "The header 'Content-Type' must be application/json. Got {found} instead.",
                found=kind[:60],
            )
        raise ProblemError("Unsupported media type", detail)


def _explained(body: bytes, error: orjson.JSONDecodeError) -> ProblemError:
    """Return why a body is refused, with the field at fault if there is one."""
    try:
        value = json.loads(body.decode(), parse_constant=_no_constant)
    except UnicodeDecodeError as fault:
        return _invalid_json(
            Message("The body must be UTF-8. Byte {byte} is not.", byte=fault.start)
        )
    except RecursionError:
        return _invalid_json(Message("The body must not be nested so deeply."))
    except ValueError:
        return _invalid_json(Message("The body must be JSON: {reason}.", reason=str(error)))
    for field, template in _faults(value, "", 0):
        return ProblemError("Invalid field", Message(template, field=field), field or None)
    return _invalid_json(Message("The body must be JSON: {reason}.", reason=str(error)))


def _invalid_json(detail: Message) -> ProblemError:
    return ProblemError("Invalid JSON", detail)


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _faults(value: Any, field: str, depth: int) -> Iterator[tuple[str, str]]:
    """Yield fields that `json` parses but the index cannot store, with error codes."""
    if depth > _DEEPEST:
        yield (
            field.partition(".")[0].partition("[")[0],
            N_("The field '{field}' must not be nested so deeply."),
        )
    elif isinstance(value, str):
        if not _is_unicode(value):
            yield field, N_("The field '{field}' must be Unicode text, without lone surrogates.")
    elif isinstance(value, float) and math.isinf(value):
        yield field, N_("The field '{field}' must be a number that a 64-bit float holds.")
    elif isinstance(value, dict):
        for name, inner in value.items():
            if not _is_unicode(name):
                yield (
                    field,
                    N_("The field '{field}' must have names in Unicode, without lone surrogates."),
                )
            else:
                yield from _faults(inner, f"{field}.{name}" if field else name, depth + 1)
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _faults(inner, f"{field}[{number}]", depth + 1)


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


async def answer_validation_error(_: Request, error: Exception) -> Response:
    """Return the first fault that Pydantic found as a problem; an exception handler."""
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    return response(_invalid(first, _field(first["loc"])))


async def refuse_unknown_parameters(request: Request) -> None:
    """Refuse a query parameter that the operation does not have; a FastAPI dependency."""
    known = [parameter.alias for parameter in request.scope["route"].dependant.query_params]
    for name in request.query_params:
        if name not in known:
            names = ", ".join(f"'{name}'" for name in known) or Message("none")
            detail = Message(
                "There is no query parameter '{name}' here. Query parameters of this "
                "address: {names}.",
                name=name[:100],
                names=names,
            )
            raise ProblemError("Invalid field", detail, name[:100])


def invalid_field(error: Mapping[str, Any], place: str) -> ProblemError:
    """Return the problem for an error in a part of a request, such as ``documents[3]``."""
    return _invalid(error, f"{place}.{_field(('part', *error['loc']))}")


def unfit(template: str, **values: Any) -> PydanticCustomError:
    """Return the error of a validator: a message about ``what``, the field, and its values."""
    return PydanticCustomError(_UNFIT, "{template}", {"template": template, "values": values})


def _invalid(error: Mapping[str, Any], field: str) -> ProblemError:
    what = Message("The field '{field}'", field=field) if field else Message("The body")
    return ProblemError("Invalid field", _detail(error, what), field or None)


def _field(place: Sequence[int | str]) -> str:
    """Return a Pydantic location as a path such as ``documents[3].text``."""
    # The first item is body, query or path; after body, the second may be the name of a model.
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
    """Return what Pydantic or one of our own checks found about a field or the body."""
    kind, given = error["type"], error.get("input")
    context = error.get("ctx", {})
    if kind == _UNFIT:
        template = context["template"]
        return Message(template, what=what, **context["values"])
    values = {"what": what, "got": _got(given)}
    if kind == "string_too_long":
        return Message.counted(
            "{what} must have at most 1 character.{got}",
            "{what} must have at most {count} characters.{got}",
            count=context["max_length"],
            **values,
        )
    if kind == "string_too_short":
        return Message.counted(
            "{what} must have at least 1 character.{got}",
            "{what} must have at least {count} characters.{got}",
            count=context["min_length"],
            **values,
        )
    if kind not in _FAULTS:
        return Message("{what} is not valid: {said}.{got}", said=error["msg"], **values)
    template, names = _FAULTS[kind]
    values |= {name: context[key] for key, name in names.items()}
    return Message(template, **values)


def _got(given: object) -> Message | str:
    """Return a number itself, or the type of another value: texts are too long to show."""
    if given is None or isinstance(given, str):
        return ""
    if isinstance(given, (bool, int, float)):
        return Message(" Got {found} instead.", found=repr(given)[:30])
    if isinstance(given, dict):
        kind = N_("an object")
    else:
        kind = N_("a list") if isinstance(given, list) else N_("something else")
    return Message(" Got {found} instead.", found=Message(kind))
