"""Why a line is not a JSON object."""

from __future__ import annotations

import json
import re
from typing import Any

from neardup.base.lazy import orjson
from neardup.base.messages import Message
from neardup.readers.encodings import invalid

_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
#: Why a line is not a JSON object, as the code of the message.
NOT_UTF8, _NOT_JSON, _NO_OBJECT, _SURROGATE_FOUND = (
    "invalid_utf8",
    "invalid_json",
    "no_object",
    "lone_surrogate",
)


def parse(line: bytes) -> dict[str, Any] | Message:
    """Return the object of a line, or a message if it is not a JSON object."""
    try:
        record = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        return _reason(line, error)
    return record if isinstance(record, dict) else _reason(line, None)


def fault_of(line: bytes, error: orjson.JSONDecodeError | None) -> str:
    """Return the code of the reason why a line is no JSON object; `error` is the parser's."""
    if error is None:
        return _NO_OBJECT
    try:
        line.decode()
    except UnicodeDecodeError:
        return NOT_UTF8
    if _SURROGATE.search(line):
        try:
            # The standard library accepts lone surrogates: if it accepts the
            # line, they were the error.
            _LENIENT.decode(line.decode())
        except (ValueError, RecursionError):
            pass
        else:
            return _SURROGATE_FOUND
    return _NOT_JSON


def _reason(line: bytes, error: orjson.JSONDecodeError | None) -> Message:
    code = fault_of(line, error)
    if error is None or code == _NO_OBJECT:
        return Message("must be a JSON object", code=_NO_OBJECT)
    if code == NOT_UTF8:
        return invalid("utf-8", line)
    if code == _NOT_JSON:
        where = Message(" ({said} at character {at})", said=error.msg, at=error.colno)
        return Message("must be valid JSON{where}", code=code, where=where)
    where = Message(" (\\ud800-\\udfff)")
    return Message("must be text without lone surrogates{where}", code=code, where=where)


def _refuse(constant: str) -> None:
    raise ValueError(constant)


#: Made once, since a million lines may need it.
_LENIENT = json.JSONDecoder(parse_constant=_refuse)
