"""The OpenAPI description: FastAPI's, completed with problems, limits, keys and fields."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from fastapi.routing import iter_route_contexts

from neardup.server.api.schemas import Problem
from neardup.server.problems import MEDIA_TYPE

if TYPE_CHECKING:
    from starlette.routing import BaseRoute

    from neardup.server.settings import Settings

__all__ = ["complete", "problem_responses"]

#: Meaning of each status code in this service.
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

#: Status codes that any operation may return, before its handler or from it.
_ALWAYS = (400, 405, 421, 429, 500, 503, 504)
_WITH_BODY = (413, 415, 422)

#: Description of the header ``Retry-After``.
_LATER = (429, 503)
_RETRY_AFTER = {
    "Retry-After": {
        "description": "Seconds after which to send the request again.",
        "schema": {"type": "integer", "minimum": 1},
    }
}

#: Limits that come from the settings, by model and field.
_BY_SETTINGS = {
    ("PostedDocument", "text"): ("maxLength", "max_text_characters"),
    ("QueryText", "text"): ("maxLength", "max_text_characters"),
    ("ComparedTexts", "a"): ("maxLength", "max_text_characters"),
    ("ComparedTexts", "b"): ("maxLength", "max_text_characters"),
    ("PostedBatch", "documents"): ("maxItems", "max_batch"),
}

_SECTION = re.compile(r"\n\nParameters\n-{10}\n(.*)", re.DOTALL)
_ENTRY = re.compile(r"^(\w[\w, ]*?) : [^\n]*\n((?:    [^\n]*\n?)+)", re.MULTILINE)


def problem_responses(
    *statuses: int, body: bool = False, key: bool = True
) -> dict[int | str, dict[str, Any]]:
    """Return the OpenAPI descriptions of the problems that an operation may return.

    Parameters
    ----------
    *statuses : int
        Status codes of this operation.
    body : bool, default=False
        Whether it has a request body.
    key : bool, default=True
        Whether it may require a key.
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


def complete(schema: dict[str, Any], routes: Sequence[BaseRoute], settings: Settings) -> None:
    """Add to a description what FastAPI cannot know.

    Parameters
    ----------
    schema : dict
        The description by FastAPI; changed in place.
    routes : sequence of routes
        Routes of the application.
    settings : Settings
        Provide the limits, and whether keys are required.
    """
    _describe_problems(schema)
    _restore_examples(schema, routes)
    schemas = schema["components"]["schemas"]
    _describe_fields(schemas)
    for (model, field), (keyword, limit) in _BY_SETTINGS.items():
        schemas[model]["properties"][field][keyword] = getattr(settings, limit)
    if settings.keys is None:
        # The service requires no keys.
        schema["components"].pop("securitySchemes", None)
        for path in schema["paths"].values():
            for operation in path.values():
                operation.pop("security", None)


def _describe_problems(schema: dict[str, Any]) -> None:
    """Add the problems that any operation may return."""
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


def _restore_examples(schema: dict[str, Any], routes: Sequence[BaseRoute]) -> None:
    """Restore the examples of responses: FastAPI removes null values from them."""
    for route in iter_route_contexts(routes):
        operations = schema["paths"].get(route.path_format, {})
        for method in (route.methods or ()) if operations else ():
            described = operations[method.lower()]["responses"]
            for status, answer in route.responses.items():
                for kind, content in answer.get("content", {}).items():
                    if "example" in content:
                        there = described[str(status)]["content"][kind]
                        there["example"] = content["example"]


def _describe_fields(schemas: dict[str, Any]) -> None:
    """Describe the fields of dataclasses by the parameter sections of their docstrings."""
    for schema in schemas.values():
        found = _SECTION.search(schema.get("description", ""))
        if found is None:
            continue
        schema["description"] = schema["description"][: found.start()]
        for names, text in _ENTRY.findall(found[1] + "\n"):
            for name in names.split(", "):
                schema["properties"][name].setdefault("description", " ".join(text.split()))
