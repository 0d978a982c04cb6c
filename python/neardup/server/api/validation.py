"""Turns Pydantic's validation errors into problems with our own messages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic_core import PydanticCustomError

from neardup.base.messages import Message
from neardup.server.problems import ProblemError, response

__all__ = ["answer_validation_error", "invalid_field", "refuse_unknown_parameters", "unfit"]

_INVALID_FIELD = Message("server.title_invalid_field")

#: By Pydantic's error type: the message, and which of the error's values it shows.
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

#: Error type of our own checks.
_UNFIT = "neardup"


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
            names = ", ".join(f"'{name}'" for name in known) or Message("server.none")
            detail = Message("server.unknown_parameter", name=name[:100], names=names)
            raise ProblemError(422, _INVALID_FIELD, detail, name[:100])


def invalid_field(error: Mapping[str, Any], place: str) -> ProblemError:
    """Return the problem for a validation error in a part of a request.

    Parameters
    ----------
    error : mapping
        One of ``ValidationError.errors()``.
    place : str
        Position of the part in the request, such as ``documents[3]``.
    """
    return _invalid(error, f"{place}.{_field(('part', *error['loc']))}")


def unfit(code: str, **values: Any) -> PydanticCustomError:
    """Return the error that a model's validator raises for an invalid value.

    Parameters
    ----------
    code : str
        Code of a message about ``what``, the field.
    **values : object
        Other values of the message.
    """
    return PydanticCustomError(_UNFIT, "{code}", {"code": code, "values": values})


def _invalid(error: Mapping[str, Any], field: str) -> ProblemError:
    what = Message("server.the_field", field=field) if field else Message("server.the_body")
    return ProblemError(422, _INVALID_FIELD, _detail(error, what), field or None)


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
    """Return a number itself, or the type of another value: texts are too long to show."""
    if found is None or isinstance(found, str):
        return ""
    if isinstance(found, (bool, int, float)):
        return Message("server.got", found=repr(found)[:30])
    if isinstance(found, dict):
        kind = "server.an_object"
    else:
        kind = "server.a_list" if isinstance(found, list) else "server.something_else"
    return Message("server.got_kind", found=Message(kind))
