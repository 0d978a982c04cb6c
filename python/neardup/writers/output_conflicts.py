"""The one check that a run writes nothing that it reads, and that its outputs are apart."""

from __future__ import annotations

import os
import posixpath
import re
import stat
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path

from neardup.base.files import printable
from neardup.base.messages import Message
from neardup.exceptions import OutputError, ParameterError
from neardup.readers.addresses import has_magic, is_address, list_files_at
from neardup.readers.archives import find_archive
from neardup.readers.input_files import find_matches

_Paths = Iterable[str | Path | None]

#: Addresses of files here, as fsspec and Hadoop write them.
_LOCAL = re.compile(r"(?:file|local):(?://(?=/))?(?=/)")
#: Names of schemes that lead to the same store.
_SCHEMES = {"s3a": "s3", "s3n": "s3", "gcs": "gs"}


def refuse_input_as_output(inputs: _Paths, files: _Paths, folders: _Paths = ()) -> None:
    """Raise an error unless no output is, contains or is inside an input or another output.

    Called with all inputs and outputs of a run before anything is opened for writing. Real paths
    are compared, hard links and addresses. Nothing is opened: closing a file would release the
    locks that this process has on it, if it is an index.

    Parameters
    ----------
    inputs : iterable of str, Path or None
        Files, folders, patterns and addresses. ``-`` is a standard stream, None is nothing.
    files, folders : iterable of str, Path or None
        The outputs. A folder is one that the run fills, replaces or empties.

    Raises
    ------
    OutputError
        If an output and an input are not apart.
    ParameterError
        If two outputs are not.
    """
    files = list(files)
    if files.count("-") > 1:
        raise _make_repeat_error("-")
    inputs = list(inputs)
    outputs = [*map(_Place, _list_named(files)), *(_find_standard(1) if "-" in files else [])]
    whole = [_Place(path) for path in _list_named(folders)]
    read = [
        place for path in _list_named(inputs) for place in _find_places(path, [*outputs, *whole])
    ]
    read += _find_standard(0) if "-" in inputs else []
    for output in (*outputs, *whole):
        for place in read:
            if output.keys & place.keys:
                raise _make_conflict(place.name, output.name)
            if output.above & place.keys:
                message = Message(
                    "{output}: must not be inside {file}, which this run reads. Name a place "
                    "outside of it.",
                    code="not_separate",
                    file=place.name,
                    output=output.name,
                )
                raise OutputError(message)
    for folder in whole:
        for place in read:
            if place.above & folder.keys:
                message = Message(
                    "{output}: must not contain {file}, which this run reads. Name another folder.",
                    code="not_separate",
                    file=place.name,
                    output=folder.name,
                )
                raise OutputError(message)
    _check_outputs(outputs, whole)
    _check_links([place for place in read if place.is_folder], outputs, whole)


def _make_conflict(file: str, output: str) -> OutputError:
    return OutputError(
        Message(
            "{file}: must not be both input and output of one run, but is the output {output}. "
            "Name another output.",
            code="not_separate",
            file=file,
            output=output,
        )
    )


def _make_repeat_error(file: str) -> ParameterError:
    return ParameterError(
        Message("{file}: must be one output only. Got it for two outputs instead.", file=file)
    )


class _Place:
    """A path or an address by what identifies it, and what identifies the folders above it."""

    def __init__(self, path: str) -> None:
        self.path = _LOCAL.sub("", path, count=1)
        self.name = printable(self.path)
        self.is_folder = False
        #: Several, since a file has a path and a number; none for a device or a pipe.
        self.keys: set[object] = set()
        self.root = ""
        #: The folders above it, the nearest first.
        self._folders: Sequence[str] = ()
        if is_address(self.path):
            self._identify_address(self.path)
        else:
            self._identify_path(os.path.realpath(self.path))

    def _identify_address(self, address: str) -> None:
        scheme, _, rest = address.partition("://")
        scheme = _SCHEMES.get(scheme.lower(), scheme.lower())
        # Some stores tell "a//b" from "a/b"; that both are refused harms nobody.
        parts = posixpath.normpath("/" + rest.lstrip("/")).split("/")[1:]
        paths = [f"{scheme}://{'/'.join(parts[:count])}" for count in range(1, len(parts) + 1)]
        self.root = f"{scheme}://"
        self.keys.add(paths[-1])
        self._folders = paths[:-1]

    def _identify_path(self, path: str) -> None:
        status = _read_status(path)
        if status is not None and not (
            stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)
        ):
            return
        self.is_folder = status is not None and stat.S_ISDIR(status.st_mode)
        self.keys.add(path)
        if status is not None:
            self.keys.add(_identify(status))
        self._folders = list(map(str, Path(path).parents))

    @cached_property
    def above(self) -> set[object]:
        """The identities of the folders above it; asked for few of many inputs."""
        statuses = [] if self.root else map(_read_status, self._folders)
        return {*self._folders, *(_identify(status) for status in statuses if status is not None)}


def _find_standard(number: int) -> list[_Place]:
    """Return the file that the shell made a standard stream, if it is one."""
    try:
        status = os.fstat(number)
    except OSError:
        return []
    place = _Place("-")
    place.keys = {_identify(status)}
    return [place] if stat.S_ISREG(status.st_mode) else []


def _list_named(paths: _Paths) -> Iterator[str]:
    """Yield the paths that are names; the readers and writers refuse other values."""
    for path in paths:
        name = "-" if path is None else os.fspath(path)
        if name not in ("-", "") and "\0" not in name:
            yield name


def _find_places(path: str, outputs: list[_Place]) -> Iterator[_Place]:
    """Yield the places of an input; for a pattern, the files that match."""
    place = _Place(path)
    if not place.root:
        for match in find_matches(place.path):
            yield _Place(find_archive(match) or match)
    elif has_magic(path) and any(output.root == place.root for output in outputs):
        for address, _, _ in list_files_at(path):
            yield _Place(address)
    else:
        yield place


def _check_outputs(outputs: list[_Place], folders: list[_Place]) -> None:
    """Refuse two outputs that are the same, or one inside of a folder that is replaced."""
    every = [*outputs, *folders]
    for number, output in enumerate(every):
        for other in every[number + 1 :]:
            if output.keys & other.keys:
                raise _make_repeat_error(other.name)
        for folder in folders:
            if output.above & folder.keys:
                raise ParameterError(
                    Message(
                        "{folder}: must be a folder without other outputs, but has {file}. Name "
                        "another folder.",
                        folder=folder.name,
                        file=output.name,
                    )
                )


def _check_links(folders: list[_Place], outputs: list[_Place], whole: list[_Place]) -> None:
    """Refuse an output to which a link in a folder of inputs leads, symbolic or hard."""
    every = [*outputs, *whole]
    linked = {key: output for output in every for key in output.keys if isinstance(key, tuple)}
    for filled in whole:
        if filled.is_folder:
            linked |= {number: filled for _, number in _walk_files(filled.path)}
    if not linked:
        return
    for folder in folders:
        for path, number in _walk_files(folder.path):
            if number in linked:
                raise _make_conflict(printable(path), linked[number].name)


def _walk_files(folder: str) -> Iterator[tuple[str, tuple[int, int]]]:
    """Yield the files of a folder, each with what identifies it."""
    for inside, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(inside, name)
            status = _read_status(path)
            if status is not None:
                yield path, _identify(status)


def _read_status(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)
    except (OSError, ValueError):
        return None


def _identify(status: os.stat_result) -> tuple[int, int]:
    """Return what a file has under all of its names."""
    return status.st_dev, status.st_ino
