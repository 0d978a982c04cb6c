"""Parses JSON bodies with orjson, and explains why a body is refused.

orjson is several times as fast as the standard library and accepts only what RFC 8259 and
UTF-8 allow. A refused body is parsed again, to name the field at fault.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Coroutine, Iterator
from typing import Any

import orjson
from fastapi import Request, Response
from fastapi.routing import APIRoute

from neardup.base.messages import Message
from neardup.server.problems import ProblemError

__all__ = ["JsonRoute"]

#: Deepest nesting: no field of this service is deeper, and orjson writes at most 254 levels.
_DEEPEST = 200

#: Most fields of an object: in this service only `extra` can have more.
_MOST_FIELDS = 50

_INVALID_FIELD = Message("server.title_invalid_field")


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
                    detail = Message("server.too_many_items", field=name, **counts)
                    raise ProblemError(422, _INVALID_FIELD, detail, name)
                records += inner
    for record in records:
        if isinstance(record, dict) and len(record) > _MOST_FIELDS:
            counts = {"most": _MOST_FIELDS, "count": len(record)}
            detail = Message("server.too_many_fields", **counts)
            raise ProblemError(422, _INVALID_FIELD, detail)


def _check_media_type(given: str | None) -> None:
    kind = "" if given is None else given.partition(";")[0].strip().lower()
    if kind != "application/json":
        detail = Message("server.must_be_json_type_none")
        if kind:
            detail = Message("server.must_be_json_type", found=kind[:60])
        raise ProblemError(415, Message("server.title_unsupported_media_type"), detail)


def _explained(body: bytes, error: orjson.JSONDecodeError) -> ProblemError:
    """Return why a body is refused, with the field at fault if there is one."""
    try:
        value = json.loads(body.decode(), parse_constant=_no_constant)
    except UnicodeDecodeError as fault:
        return _invalid(Message("server.body_not_utf8", byte=fault.start))
    except RecursionError:
        return _invalid(Message("server.body_too_deep"))
    except ValueError:
        return _invalid(Message("server.body_not_json", reason=str(error)))
    for field, code in _faults(value, "", 0):
        return ProblemError(422, _INVALID_FIELD, Message(code, field=field), field or None)
    return _invalid(Message("server.body_not_json", reason=str(error)))


def _invalid(detail: Message) -> ProblemError:
    return ProblemError(400, Message("server.title_invalid_json"), detail)


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _faults(value: Any, field: str, depth: int) -> Iterator[tuple[str, str]]:
    """Yield fields that `json` parses but the index cannot store, with error codes."""
    if depth > _DEEPEST:
        yield field.partition(".")[0].partition("[")[0], "server.too_deep"
    elif isinstance(value, str):
        if not _is_unicode(value):
            yield field, "server.lone_surrogate"
    elif isinstance(value, float) and math.isinf(value):
        yield field, "server.number_too_large"
    elif isinstance(value, dict):
        for name, inner in value.items():
            if not _is_unicode(name):
                yield field, "server.lone_surrogate_in_name"
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
