"""The OpenAPI description: FastAPI's, completed with problems, examples, limits and fields."""

from __future__ import annotations

import re
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

import orjson

from neardup.server.problems import MEDIA_TYPE, Problem

if TYPE_CHECKING:
    from neardup.server.settings import Settings

__all__ = ["complete", "problem_responses"]

#: Meaning of each status code in this service.
_MEANINGS = {
    400: "The request is not valid HTTP or JSON.",
    401: "The request needs a key.",
    403: "The key does not allow this.",
    404: "There is nothing under this address.",
    405: "The method is not allowed here; the header `Allow` lists the allowed methods.",
    409: "The request conflicts with what is stored.",
    413: "The body is too large.",
    415: "The media type of the body is not accepted.",
    421: "The request names another host.",
    422: "A field is invalid; `field` names it, `code` says what kind of error it is.",
    429: "Too many requests at once; the header `Retry-After` says when to try again.",
    500: "The service failed. The log has the details.",
    503: "The index is unavailable, or the service is too busy; the header `Retry-After` says when"
    " to try again.",
    504: "The request took too long.",
}

#: Status codes that any operation may return, before its handler or from it.
_ALWAYS = (400, 405, 421, 429, 500, 503, 504)
_WITH_KEY = (401, 403)
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


def problem_responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the OpenAPI descriptions of problems, by status code.

    An operation names only those of its own: `complete` adds the others.
    """
    schema = {"$ref": "#/components/schemas/Problem"}
    return {
        status: {
            "description": _MEANINGS[status],
            "content": {MEDIA_TYPE: {"schema": schema}},
            **({"headers": _RETRY_AFTER} if status in _LATER else {}),
        }
        for status in statuses
    }


def complete(schema: dict[str, Any], settings: Settings) -> None:
    """Add to FastAPI's description what FastAPI cannot know, in place.

    The settings provide the limits, and whether keys are required.
    """
    schemas = schema["components"]["schemas"]
    schemas["Problem"] = Problem.model_json_schema()
    for name in ("HTTPValidationError", "ValidationError"):
        schemas.pop(name, None)
    for path, methods in schema["paths"].items():
        for operation in methods.values():
            _add_problems(operation, is_checked=path.startswith("/v1/"))
            _add_examples(operation)
            if settings.keys is None:
                operation.pop("security", None)
    if settings.keys is None:
        schema["components"].pop("securitySchemes", None)
    _describe_fields(schemas)
    for (model, field), (keyword, limit) in _BY_SETTINGS.items():
        schemas[model]["properties"][field][keyword] = getattr(settings, limit)


def _add_problems(operation: dict[str, Any], *, is_checked: bool) -> None:
    """Add the problems that an operation may return besides its own."""
    statuses = [*_ALWAYS, *([422] if is_checked else [])]
    statuses += _WITH_BODY if "requestBody" in operation else ()
    statuses += _WITH_KEY if "security" in operation else ()
    problems = {str(status): response for status, response in problem_responses(*statuses).items()}
    operation["responses"] = dict(sorted((operation["responses"] | problems).items()))


def _add_examples(operation: dict[str, Any]) -> None:
    """Add the examples of bodies and answers; FastAPI would remove null values from them."""
    for place, example in _examples().get(operation["operationId"], {}).items():
        if place == "request":
            operation["requestBody"]["content"]["application/json"]["examples"] = example
        else:
            operation["responses"][place]["content"]["application/json"]["example"] = example


@cache
def _examples() -> dict[str, dict[str, Any]]:
    """Return the examples: by operation, of the request or of the answer with a status code."""
    data = resources.files(__package__).joinpath("examples.json").read_bytes()
    examples: dict[str, dict[str, Any]] = orjson.loads(data)
    return examples


def _describe_fields(schemas: dict[str, Any]) -> None:
    """Describe the fields of dataclasses by the parameter sections of their docstrings."""
    for schema in schemas.values():
        section = _SECTION.search(schema.get("description", ""))
        if section is None:
            continue
        schema["description"] = schema["description"][: section.start()]
        for names, text in _ENTRY.findall(section[1] + "\n"):
            for name in names.split(", "):
                schema["properties"][name].setdefault("description", " ".join(text.split()))
