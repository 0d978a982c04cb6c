"""Reading within some folders: what was opened is checked, so that no link can be put in between.

A path that was checked may lead elsewhere when it is opened. Only the descriptor tells what was
opened, so each file and folder is checked there, and read from there.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import Any, BinaryIO

_folders: ContextVar[Sequence[Path] | None] = ContextVar("folders", default=None)

#: A FIFO that nobody writes to is opened, and refused, rather than waited for.
_FLAGS = getattr(os, "O_NONBLOCK", 0)
#: Where the system lists what a process has open.
_OPEN = "/proc/self/fd"
_SQLITE = b"SQLite format 3\0"


@contextmanager
def confined_to(folders: Sequence[Path]) -> Iterator[None]:
    """In this block and its threads, only open regular files below some resolved folders."""
    token = _folders.set(folders)
    try:
        yield
    finally:
        _folders.reset(token)


def open_file(path: str | os.PathLike[str]) -> BinaryIO:
    """Open the bytes of a file; PermissionError if it is not below the folders."""
    if _folders.get() is None:
        return open(path, "rb")
    return open(path, "rb", opener=_open_inside)


def walk(
    path: str, onerror: Callable[[OSError], Any]
) -> Iterator[tuple[str, list[str], list[str]]]:
    """Yield what `os.walk` yields; a folder that is not below the folders is an error of it."""
    if _folders.get() is None or not hasattr(os, "fwalk"):
        yield from os.walk(path, onerror=onerror)
        return
    for folder, inner, names, descriptor in os.fwalk(path, onerror=onerror):
        try:
            _check(descriptor, folder)
        except PermissionError as error:
            onerror(error)
            inner.clear()
            continue
        yield folder, inner, names


def watch_databases(path: str | os.PathLike[str]) -> Callable[[], None]:
    """Return a check of the SQLite databases opened since; SQLite opens them by name."""
    before = None if _folders.get() is None else _list_descriptors()

    def check() -> None:
        if before is None:
            return
        for descriptor in {number for number, _ in _list_descriptors() - before}:
            try:
                is_database = os.pread(descriptor, len(_SQLITE), 0) == _SQLITE
            except OSError:
                # Another thread has closed it, or it is not a file.
                continue
            if is_database:
                _check(descriptor, path)

    return check


def _open_inside(path: str, flags: int) -> int:
    descriptor = os.open(path, flags | _FLAGS)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise _refusal_error(path)
        _check(descriptor, path)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _check(descriptor: int, path: str | os.PathLike[str]) -> None:
    """Raise PermissionError if a descriptor is of something that is not below the folders."""
    folders = _folders.get()
    assert folders is not None
    if os.path.isdir(_OPEN):
        place = os.readlink(f"{_OPEN}/{descriptor}")
    else:
        # Without such a list: what the name leads to now must be what was opened.
        place = os.path.realpath(path)
        if not os.path.samestat(os.fstat(descriptor), os.stat(place)):
            raise _refusal_error(path)
    if not any(Path(place).is_relative_to(folder) for folder in folders):
        raise _refusal_error(path)


def _refusal_error(path: str | os.PathLike[str]) -> PermissionError:
    return PermissionError(errno.EACCES, os.strerror(errno.EACCES), os.fspath(path))


def _list_descriptors() -> set[tuple[int, str]]:
    """Return the descriptors of this process with their files; numbers are used again."""
    found = set()
    for number in os.listdir(_OPEN) if os.path.isdir(_OPEN) else ():
        with suppress(OSError):
            found.add((int(number), os.readlink(f"{_OPEN}/{number}")))
    return found
