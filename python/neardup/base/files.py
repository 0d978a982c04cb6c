"""Small files that are read whole, temporary files, and names of files in messages."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from neardup.base.messages import Message, system_words
from neardup.exceptions import InputError, OutputError

_LINE_END = re.compile("\r\n?|\n")
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")


def printable(path: str) -> str:
    """Return a path as valid Unicode on one line, for ids and messages."""
    name = os.fsencode(path).decode("utf-8", "backslashreplace")
    return _CONTROL.sub(lambda match: ascii(match[0])[1:-1], name)


def lines_of(text: str) -> list[str]:
    r"""Return the lines of a text, which end at ``\r``, ``\n`` or ``\r\n``.

    Unlike for `str.splitlines`, any other separator is part of its line.

    Examples
    --------
    >>> lines_of("one\u2028two\r\nthree")
    ['one\u2028two', 'three']
    """
    return _LINE_END.split(text)


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


def make_folder(path: Path) -> None:
    """Make a folder and its parents; OutputError if that is impossible."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(
            Message(
                "{folder}: cannot be created: {reason}.",
                folder=str(path),
                reason=system_words(error),
            )
        ) from error


@contextmanager
def writing_temporary_files(remedy: str, **values: str) -> Iterator[None]:
    """Raise OutputError, which ends with a remedy, if there is no room for temporary files."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        if isinstance(error, OutputError):
            fact = error.args[0]
        else:
            fact = Message("While writing temporary files: {reason}.", reason=system_words(error))
        raise OutputError(Message(remedy, fact=fact, **values)) from error
