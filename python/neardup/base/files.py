"""Small files that are read whole."""

from __future__ import annotations

from pathlib import Path

from neardup.base.messages import Message, system_words
from neardup.exceptions import InputError


def read_whole(path: str | Path) -> bytes:
    """Return the bytes of a file; InputError if it cannot be read."""
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise InputError(
            Message(
                "{file}: cannot be read: {reason}.",
                code="cannot_be_read",
                file=str(path),
                reason=system_words(error),
            )
        ) from error
