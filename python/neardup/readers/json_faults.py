"""Why a line is not a JSON object."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from typing import Any

from neardup.base.lazy import orjson
from neardup.base.messages import Message
from neardup.readers.encodings import make_invalid_reason

_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
NOT_UTF8 = "invalid_utf8"


def parse(line: bytes) -> dict[str, Any] | Message:
    """Return the object of a line, or a message if it is not a JSON object."""
    try:
        record = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        return _find_fault(line, error)
    return (
        record if isinstance(record, dict) else Message("must be a JSON object", code="no_object")
    )


def _find_fault(line: bytes, error: orjson.JSONDecodeError) -> Message:
    """Return the reason why a line is not JSON; `error` is the parser's."""
    try:
        text = line.decode()
    except UnicodeDecodeError:
        return make_invalid_reason("utf-8", line)
    if _SURROGATE.search(line):
        # The standard library accepts lone surrogates: if it accepts the line, they were the error.
        with suppress(ValueError, RecursionError):
            _LENIENT.decode(text)
            where = Message(" (\\ud800-\\udfff)")
            return Message(
                "must be text without lone surrogates{where}", code="lone_surrogate", where=where
            )
    where = Message(" ({said} at character {at})", said=error.msg, at=error.colno)
    return Message("must be valid JSON{where}", code="invalid_json", where=where)


def _refuse(constant: str) -> None:
    raise ValueError(constant)


#: Made once, since a million lines may need it.
_LENIENT = json.JSONDecoder(parse_constant=_refuse)
