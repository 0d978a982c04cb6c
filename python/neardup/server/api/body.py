"""Request bodies: parsed by orjson, which accepts only what RFC 8259 and UTF-8 allow."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Annotated, Any

import orjson
from fastapi import Request, Response
from fastapi.routing import APIRoute
from pydantic import BaseModel, ConfigDict, Field

from neardup.base.messages import Message
from neardup.server.problems import ProblemError
from neardup.server.settings import Settings

#: Most characters of a title, or of a name of a source.
MAX_LINE = 1000

Line = Annotated[str, Field(max_length=MAX_LINE)]


class RequestBody(BaseModel):
    """A body with no fields but its own."""

    model_config = ConfigDict(extra="forbid")


class JsonRoute(APIRoute):
    """A route whose body is JSON; it refuses other media types."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the handler, with a different parser for the body."""
        handler = super().get_route_handler()

        async def handle(request: Request) -> Response:
            if self.body_field is not None:
                kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
                if kind != "application/json":
                    detail = Message("The header 'Content-Type' must be application/json.")
                    raise ProblemError(415, "Unsupported media type", detail)
            return await handler(_JsonRequest(request.scope, request.receive))

        return handle


class _JsonRequest(Request):
    async def json(self) -> Any:
        """Return the parsed body."""
        return orjson.loads(await self.body())


def check_text(text: str, field: str, settings: Settings) -> None:
    """Raise if a text is too long for this service."""
    check_length(text, field, settings.max_text_characters)


def check_length(text: str, field: str, limit: int) -> None:
    """Raise if a field is too long."""
    if len(text) > limit:
        detail = Message(
            "The field '{field}' must have at most {most:,} characters. Got {count:,} instead.",
            field=field,
            most=limit,
            count=len(text),
        )
        raise ProblemError(422, "Text too long", detail, field)
