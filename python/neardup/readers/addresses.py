"""Files at addresses, such as ``s3://bucket/news.jsonl``, by fsspec and what it finds installed.

When an input is opened, it is copied to an unnamed temporary file: a run reads it more than once.
The library of the address finds the credentials.
"""

from __future__ import annotations

import contextlib
import re
import zlib
from collections.abc import Iterator
from typing import Any

from neardup.base.files import printable, without_secrets
from neardup.base.messages import Message
from neardup.exceptions import InputError, MissingDependencyError, NeardupError, ParameterError

_ADDRESS = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]+://")
_USER = re.compile(r"(?<=://)[^/@\s]+(?=@)")
_MAGIC = re.compile(r"[*?\[]")

#: Bytes that are asked for at a time.
_BLOCK = 8 << 20


def is_address(path: str) -> bool:
    """Return whether a path names a file elsewhere.

    Examples
    --------
    >>> is_address("s3://bucket/a.jsonl"), is_address("a.jsonl"), is_address("c:/a.jsonl")
    (True, False, False)
    """
    return _ADDRESS.match(path) is not None


def has_magic(name: str) -> bool:
    """Return whether a name has characters of patterns."""
    return _MAGIC.search(name) is not None


def is_web(address: str) -> bool:
    """Return whether an address is of a web server, which has neither folders nor patterns."""
    return address.lower().startswith(("http://", "https://"))


def find_file_system(address: str) -> tuple[Any, str]:
    """Return the file system of an address, and the path there."""
    try:
        from fsspec.core import url_to_fs
    except ImportError:
        raise MissingDependencyError(
            Message(
                "{file}: fsspec is not installed, which reads addresses. Install it "
                "with: pip install 'neardup[remote]'",
                file=printable(address),
            )
        ) from None
    try:
        system_and_path: tuple[Any, str] = url_to_fs(address)
    except ImportError as error:
        raise MissingDependencyError(
            Message(
                "{file}: the library for such addresses is not installed: {said}",
                file=printable(address),
                said=describe_error(error, address),
            )
        ) from None
    except ValueError as error:
        raise ParameterError(
            Message(
                "{file}: there is no library for such addresses: {said}",
                file=printable(address),
                said=describe_error(error, address),
            )
        ) from None
    return system_and_path


def names_several_at(address: str) -> bool:
    """Return whether an address is a folder or a pattern."""
    if is_web(address):
        return False
    if has_magic(address):
        return True
    system, path = find_file_system(address)
    with _refuse_errors(address):
        return bool(system.isdir(path))


def list_files_at(address: str) -> list[tuple[str, str, bool]]:
    """Return the files of a folder or of a pattern.

    Each is its address, its path in the folder or its whole address, and a flag. The flag tells
    whether the pattern names the file itself.
    """
    system, path = find_file_system(address)
    files: dict[str, tuple[str, str, bool]] = {}
    with _refuse_errors(address):
        is_pattern = has_magic(address)
        for name in system.glob(path) if is_pattern else [path]:
            inside = system.find(name)
            chosen = inside == [name]
            for file in inside:
                full = str(system.unstrip_protocol(file))
                short = full if is_pattern else file[len(path) :].lstrip("/")
                files.setdefault(full, (full, short, chosen and is_pattern))
    return sorted(files.values())


class _Reader:
    """The bytes of a file; an error of the transfer is not an error of the output."""

    def __init__(self, address: str, file: Any) -> None:
        self._address, self._file = address, file

    def read(self, size: int) -> bytes:
        with _refuse_errors(self._address):
            data: bytes = self._file.read(size)
            return data


@contextlib.contextmanager
def open_address(address: str) -> Iterator[tuple[Any, int | None]]:
    """Open a file; yield it, and its size, None if the server does not tell it."""
    system, path = find_file_system(address)
    with _refuse_errors(address):
        size = system.info(path).get("size")
        with system.open(path, "rb", block_size=_BLOCK) as file:
            yield _Reader(address, file), size


def read_address_state(address: str) -> tuple[str, int, int]:
    """Return the name, the size, and a number that changes when the file does."""
    system, path = find_file_system(address)
    with _refuse_errors(address):
        size = system.info(path).get("size") or 0
        return printable(address), int(size), zlib.crc32(str(system.ukey(path)).encode())


@contextlib.contextmanager
def _refuse_errors(address: str) -> Iterator[None]:
    """Turn errors of the library, which may be of any kind, into an InputError."""
    try:
        yield
    except NeardupError:
        raise
    except Exception as error:
        cause: BaseException = error
        is_missing = isinstance(error, FileNotFoundError)
        if is_missing and is_web(address) and error.__cause__ is not None:
            # The library says this of a server that does not answer, too.
            cause = error.__cause__
            is_missing = getattr(cause, "status", 0) == 404
        file = printable(address)
        if is_missing:
            raise InputError(
                Message("{file}: no such file or directory.", code="no_such_file", file=file)
            ) from error
        raise InputError(
            Message(
                "{file}: cannot be fetched: {said}",
                code="transfer_failed",
                file=file,
                said=describe_error(cause, address),
            )
        ) from error


def describe_error(error: BaseException, address: str) -> str:
    """Return what an error of a library says about an address, on one line, without its secrets."""
    text = " ".join(str(error).split())
    if user := _USER.search(address):
        text = text.replace(user[0], "***")
    return without_secrets(text) or type(error).__name__
