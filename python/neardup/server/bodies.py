"""JSON bodies, read by orjson, and what it refuses explained.

orjson is several times as fast as the standard library and takes only what RFC 8259
and UTF-8 allow. What it refuses is read once more, to tell the client which field it is.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Coroutine, Iterator
from typing import Any

import orjson
from fastapi import Request, Response
from fastapi.routing import APIRoute

from neardup.server.problems import ProblemError

__all__ = ["JsonRoute"]

#: No field of this service is deeper; orjson writes no more than 254.
_DEEPEST = 200

#: No object of this service has as many fields, but for `extra`.
_MOST_FIELDS = 50


class JsonRoute(APIRoute):
    """A route whose body is JSON; another media type is refused."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the handler, with another way of reading the body."""
        handler = super().get_route_handler()
        if self.body_field is None:
            return handler

        async def handle(request: Request) -> Response:
            _check_media_type(request.headers.get("content-type"))
            return await handler(_JsonRequest(request.scope, request.receive))

        return handle


class _JsonRequest(Request):
    async def json(self) -> Any:
        """Return the body."""
        body = await self.body()
        try:
            value = orjson.loads(body)
        except orjson.JSONDecodeError as error:
            raise _explained(body, error) from None
        _check_counts(value, self.app.state.settings.max_batch)
        return value


def _check_counts(value: Any, most: int) -> None:
    """Refuse what has so many parts that telling the fault of each would take minutes.

    Validation collects all faults before any is told, and nobody else is answered meanwhile.
    """
    records = [value]
    if isinstance(value, dict):
        for name, inner in list(value.items())[:_MOST_FIELDS]:
            if isinstance(inner, list):
                if len(inner) > most:
                    raise ProblemError(
                        422,
                        "Invalid field",
                        f"The field '{name}' must have at most {most:,} items. Got {len(inner):,}"
                        " instead.",
                        name,
                    )
                records += inner
    for record in records:
        if isinstance(record, dict) and len(record) > _MOST_FIELDS:
            raise ProblemError(
                422,
                "Invalid field",
                f"An object must have at most {_MOST_FIELDS} fields. Got {len(record):,} instead;"
                " further fields of a document go into 'extra'.",
            )


def _check_media_type(given: str | None) -> None:
    kind = "" if given is None else given.partition(";")[0].strip().lower()
    if kind != "application/json":
        raise ProblemError(
            415,
            "Unsupported media type",
            "The header 'Content-Type' must be application/json."
            f" Got {kind[:60] or 'none'} instead.",
        )


def _explained(body: bytes, error: orjson.JSONDecodeError) -> ProblemError:
    """Return why a body is refused, with the field if there is one."""
    try:
        value = json.loads(body.decode(), parse_constant=_no_constant)
    except UnicodeDecodeError as fault:
        return _invalid(f"The body must be UTF-8. Byte {fault.start} is not.")
    except RecursionError:
        return _invalid("The body must not be nested so deeply.")
    except ValueError:
        return _invalid(f"The body must be JSON: {error}.")
    for field, reason in _faults(value, "", 0):
        return ProblemError(422, "Invalid field", f"The field '{field}' {reason}", field or None)
    return _invalid(f"The body must be JSON: {error}.")


def _invalid(detail: str) -> ProblemError:
    return ProblemError(400, "Invalid JSON", detail)


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _faults(value: Any, field: str, depth: int) -> Iterator[tuple[str, str]]:
    """Give the fields that the standard library reads and nobody can store."""
    if depth > _DEEPEST:
        yield field.partition(".")[0].partition("[")[0], "must not be nested so deeply."
    elif isinstance(value, str):
        if not _is_unicode(value):
            yield field, "must be Unicode text, without lone surrogates."
    elif isinstance(value, float) and math.isinf(value):
        yield field, "must be a number that a 64-bit float holds."
    elif isinstance(value, dict):
        for name, inner in value.items():
            if not _is_unicode(name):
                yield field, "must have names in Unicode, without lone surrogates."
            else:
                yield from _faults(inner, f"{field}.{name}" if field else name, depth + 1)
    elif isinstance(value, list):
        for at, inner in enumerate(value):
            yield from _faults(inner, f"{field}[{at}]", depth + 1)


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
