"""The page ``/docs``: the API, made from its OpenAPI description without files of other sites."""

from __future__ import annotations

import re
from typing import Any

import orjson
from fastapi import APIRouter, Request, Response
from markupsafe import Markup, escape

from neardup.server.pages.page import page
from neardup.server.pages.rendering import render

__all__ = ["router"]

#: Keywords of JSON Schema that are shown beside a type.
_LIMITS = ("minimum", "maximum", "minLength", "maxLength", "maxItems", "pattern", "default")

router = APIRouter()


@router.get("/docs", include_in_schema=False)
@page()
async def show(request: Request) -> Response:
    """Show all operations, and the fields of bodies and answers."""
    described = request.app.openapi()
    operations = [
        (method.upper(), path, operation)
        for path, methods in described["paths"].items()
        for method, operation in methods.items()
    ]
    return render(
        request,
        "docs",
        here="docs",
        about=described["info"]["description"],
        operations=operations,
        models=described["components"]["schemas"],
        errors=_errors(operations),
        type_of=_type,
        limits_of=_limits,
        marked=_marked,
        indented=lambda value: orjson.dumps(value, option=orjson.OPT_INDENT_2).decode(),
    )


def _errors(operations: list[tuple[str, str, Any]]) -> list[tuple[str, str]]:
    """Return the status codes of problems, each with its meaning."""
    answers = [item for _, _, operation in operations for item in operation["responses"].items()]
    return sorted({(code, answer["description"]) for code, answer in answers if code >= "400"})


def _type(schema: dict[str, Any]) -> Markup:
    """Return the type of a field, with links to models."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return Markup('<a href="#{0}">{0}</a>').format(name)
    choices = schema.get("anyOf") or schema.get("oneOf")
    if choices:
        return Markup(" | ").join(dict.fromkeys(map(_type, choices)))
    if "enum" in schema:
        return Markup(" | ").join(map(str, schema["enum"]))
    if schema.get("type") == "array":
        return Markup("array<{}>").format(_type(schema["items"]))
    return escape(schema.get("format") or schema.get("type", "any"))


def _limits(schema: dict[str, Any]) -> str:
    """Return the limits of a field in the words of JSON Schema."""
    limits = {
        name: part[name]
        for part in (schema, *schema.get("anyOf", ()))
        for name in _LIMITS
        if part.get(name) is not None
    }
    return ", ".join(f"{name} {value}" for name, value in limits.items())


def _marked(text: str) -> Markup:
    """Return a description as HTML: of Markdown it has only code."""
    return Markup(re.sub("`([^`]*)`", r"<code>\1</code>", str(escape(text))))
