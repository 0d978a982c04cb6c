"""Small files that are read whole, temporary files, and names of files in messages."""

from __future__ import annotations

import os
import re
import stat
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import BinaryIO

from neardup.base import messages
from neardup.base.confinement import open_file
from neardup.base.messages import Message, system_words
from neardup.exceptions import InputError, OutputError

_LINE_END = re.compile("\r\n?|\n")
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
#: In an address: a user with a password, and the value of a parameter that signs it.
_SECRET = re.compile(
    r"(?<=://)[^/@\s?#]+(?=@)"
    r"|(?<=[?&])([^=&\s]*(?:sig|token|key|secret|passw|credential|auth)[^=&\s]*=)[^&#\s]+",
    re.IGNORECASE,
)


def printable(path: str) -> str:
    """Return a path as valid Unicode on one line, for ids and messages.

    An address is shown without its password and its signature.
    """
    name = os.fsencode(path).decode("utf-8", "backslashreplace")
    return _CONTROL.sub(lambda match: ascii(match[0])[1:-1], without_secrets(name))


def without_secrets(text: str) -> str:
    """Return a text with ``***`` for the passwords and signatures of addresses in it."""
    if "://" not in text:
        return text
    return _SECRET.sub(lambda match: f"{match[1] or ''}***", text)


def lines_of(text: str) -> list[str]:
    r"""Return the lines of a text, which end at ``\r``, ``\n`` or ``\r\n``.

    Unlike for `str.splitlines`, any other separator is part of its line.

    Examples
    --------
    >>> lines_of("one\u2028two\r\nthree")
    ['one\u2028two', 'three']
    """
    return _LINE_END.split(text)


def open_input(path: str | Path) -> BinaryIO:
    """Open a file or a pipe, and tell who waits for the writer of a pipe; OSError as of `open`.

    A device is refused, since it may never end; a terminal and the empty device are not.
    """
    status = os.stat(path)
    if stat.S_ISREG(status.st_mode):
        return open_file(path)
    name = printable(os.fspath(path))
    waiting = Message("{file}: waiting until another program writes to this pipe.", file=name)
    with announce_wait(waiting):
        file = open_file(path)
    is_null = status.st_rdev == os.stat(os.devnull).st_rdev
    if stat.S_ISBLK(status.st_mode) or (
        stat.S_ISCHR(status.st_mode) and not is_null and not file.isatty()
    ):
        file.close()
        found = Message("a device")
        # In the parts of every refused file; see `readers.batch.make_refusal`.
        raise InputError(
            Message(
                "{file}: {reason}.{got}{way_out}",
                code="cannot_be_read",
                file=name,
                reason=Message("must be a file or a pipe"),
                found=found,
                got=Message(" Got {found} instead.", found=found),
                way_out="",
            )
        )
    return file


def announce_wait(message: Message) -> AbstractContextManager[None]:
    """Tell a user of the command what is waited for, if the body takes more than a second."""
    announce = messages.announce
    return call_after(1, announce and partial(announce, message))


@contextmanager
def call_after(seconds: float, tell: Callable[[], object] | None) -> Iterator[None]:
    """Call `tell`, if there is one, once the body has taken so many seconds."""
    if tell is None:
        yield
        return
    timer = threading.Timer(seconds, tell)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def read_whole(path: str | Path) -> bytes:
    """Return the bytes of a file; InputError if it cannot be read."""
    try:
        with open_input(path) as file:
            return file.read()
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
