"""A folder of outputs: one file for each input, or parts of a size."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import PurePath
from typing import TYPE_CHECKING

from neardup.base.files import printable
from neardup.base.messages import Message
from neardup.exceptions import InputError, OutputError, ParameterError
from neardup.readers.addresses import find_file_system, is_address
from neardup.readers.batch import make_refusal
from neardup.readers.formats import make_extensions
from neardup.readers.source import Source
from neardup.readers.sources import Sources, is_of_texts
from neardup.writers.address_sink import AddressSink, check_writable, refuse_address_errors
from neardup.writers.output import Output
from neardup.writers.sink import (
    StagedSink,
    StagingFolder,
    check_folder,
    refuse_output_errors,
    remove_left,
)

if TYPE_CHECKING:
    from pathlib import Path

    from neardup.readers.text_files import TextFiles

#: Formats of records; the rows of other inputs are written as JSON Lines.
_TABLES = ("jsonl", "parquet", "arrow", "csv", "tsv")
#: Files that are flushed to the disk together.
_SYNCED = 16


def is_folder(path: str | Path | None) -> bool:
    """Return whether an output is a folder: it exists as one, or its name ends in a slash."""
    name = os.fspath(path or "-")
    if is_address(name):
        return name.endswith("/")
    return name.endswith(("/", os.sep)) or os.path.isdir(name)


def check_is_for_folder(part_size: int | None, outputs: Iterable[str | Path | None]) -> None:
    """Refuse a size of parts if no output is a folder."""
    if part_size is not None and not any(map(is_folder, outputs)):
        raise ParameterError(
            Message(
                "{parameter:named} must be left out for files. Name a folder for the output, such "
                "as parts/.",
                parameter="part_size",
            )
        )


class OutputFolder:
    """A folder that gets a file for each input, with its path, format and compression.

    With `part_size` it gets numbered parts of about that many bytes, in the format of the first
    input. Each file goes to `opened`, and appears with the run's other outputs. `take` is called
    before the first file is opened. For `token`, see `FileSink`.
    """

    def __init__(
        self,
        path: str | Path,
        opened: Callable[[AddressSink | StagedSink, str, str | None], Output],
        *,
        force: bool = False,
        token: str | None = None,
        part_size: int | None = None,
    ) -> None:
        self.name = printable(os.fspath(path))
        self.part_size = part_size
        #: Records of each input; known after they were read.
        self.counts: Callable[[], list[int] | None] = lambda: None
        #: Paths in the folder of the files that are open or complete.
        self.files: list[str] = []
        self._opened = opened
        self._sources: list[Source] = []
        self._current: Output | None = None
        self._number = -1
        self._force, self._token = force, token
        self._address = os.fspath(path) if is_address(os.fspath(path)) else None
        self._path = os.path.realpath(path)
        self._staging: StagingFolder | None = None
        self._sinks: list[StagedSink] = []
        if self._address is None:
            self._prepare()
        else:
            check_writable(self._address)
        self._check_empty()
        #: The files that were there, which matter only for `force`.
        self._before = set(self._list_present()) if force else set()
        if self._address is None:
            with refuse_output_errors(self.name):
                self._staging = StagingFolder(self._path, token)

    def _prepare(self) -> None:
        check_folder(self.name, os.path.dirname(self._path))
        if os.path.lexists(self._path) and not os.path.isdir(self._path):
            raise OutputError(
                Message("{file}: must be a folder. Got a file instead.", file=self.name)
            )
        # The rests of a killed run in a folder that cannot be replaced are not somebody's files.
        remove_left(self._path, self._path)

    def _check_empty(self) -> None:
        """Refuse a folder with files, unless these may be replaced."""
        if not self._force and next(self._list_present(), None) is not None:
            raise OutputError(
                Message(
                    "{folder}: must be an empty folder or a new one. Name another one, or write "
                    "into it with {given[force=True]}.",
                    code="exists",
                    folder=self.name,
                )
            )

    def _list_present(self) -> Iterator[str]:
        """Yield the paths of the files that are in the folder, but for temporary ones."""
        if self._address is None:
            hidden = "" if self._staging is None else os.path.basename(self._staging.path)
            for name in list_files(self._path):
                if name.split(os.sep)[0] != hidden:
                    yield name
            return
        system, path = find_file_system(self._address)
        root = path.rstrip("/") + "/"
        with refuse_address_errors(self._address):
            names = system.find(root) if system.exists(root.rstrip("/")) else []
        for name in names:
            hidden = os.path.basename(name)
            is_sent = hidden.startswith(".") and hidden.endswith(".tmp")
            if not is_sent and name.rstrip("/") + "/" != root:
                yield name[len(root) :]

    @property
    def part(self) -> tuple[str, str] | None:
        """The final path and the temporary path of the folder; None at an address."""
        return None if self._staging is None else (self._path, self._staging.path)

    def take(self, sources: Sources, *, copies: bool, edits: bool = False) -> None:
        """Name the files after the inputs, and refuse two of one name.

        `copies` tells whether records of the inputs are written, with `edits` changed ones; else
        rows about them.
        """
        self._sources = sources.sources
        self.counts = lambda: sources.counts
        if self.part_size is not None:
            return
        names: dict[str, str] = {}
        for source in self._sources:
            files = [(source.inside, source.name)]
            if is_of_texts(source):
                if edits or not copies:
                    self._refuse_texts(source)
                files = [(text.inside, text.id) for text in source.texts]
            for inside, name in files:
                if inside is None:
                    raise ParameterError(
                        Message(
                            "{folder}: must be a file for standard input, which has no name. Name "
                            "one, such as kept.jsonl, or name the size of numbered parts with "
                            "{given[part_size]}.",
                            folder=self.name,
                        )
                    )
                if inside in names:
                    raise self._make_conflict(names[inside], name, inside)
                names[inside] = name
        for inside, name in names.items():
            for folder in map(str, PurePath(inside).parents):
                if folder in names:
                    raise self._make_conflict(names[folder], name, folder)

    def _make_conflict(self, file: str, other: str, inside: str) -> ParameterError:
        return ParameterError(
            Message(
                "{file} and {other}: would both be written to {inside} in {folder}. "
                "Rename one, or name a file for the output.",
                file=file,
                other=other,
                inside=printable(inside),
                folder=self.name,
            )
        )

    def _refuse_texts(self, source: TextFiles) -> None:
        reason = Message("must be a file of records for an output in {folder}", folder=self.name)
        content = Message("a text, which is one record")
        remedy = Message("Name a file for the output, such as kept.jsonl")
        raise InputError(make_refusal(source.name, reason, content, remedy))

    def at(self, number: int) -> Output:
        """Return the file for the next records of an input, which may be a new one."""
        current = self._current
        if self.part_size is None:
            is_over = number != self._number
        else:
            is_over = current is None or current.written >= self.part_size
        if current is not None and not is_over:
            return current
        self._number = number
        source = self._sources[0 if self.part_size is not None else number]
        format, compression = "jsonl", None
        if source.format in _TABLES:
            format, compression = source.format, source.compression
        inside = source.inside or ""
        if self.part_size is not None:
            extension = make_extensions(format, compression)
            inside = f"part-{len(self.files):05}{extension}"
        return self.open(inside, format, compression)

    def open(self, inside: str, format: str, compression: str | None) -> Output:
        """Open the file of a path in the folder, and complete the one before."""
        self.close_file()
        sink: AddressSink | StagedSink
        if self._staging is None:
            assert self._address is not None
            sink = AddressSink(f"{self._address}{inside.replace(os.sep, '/')}", force=True)
        else:
            path = os.path.join(self._path, inside)
            name = printable(os.path.join(self.name, inside))
            if os.path.realpath(path) != path:
                raise OutputError(
                    Message(
                        "{file}: must not be a link, or in a folder that is one. Name another "
                        "folder.",
                        file=name,
                    )
                )
            if os.path.lexists(path) and not os.path.isfile(path):
                raise OutputError(
                    Message("{file}: must be a file. Got a folder or a pipe instead.", file=name)
                )
            staged = os.path.join(self._staging.path, inside)
            sink = StagedSink(path, staged, self._force, self._token)
            sink.name = name
            self._sinks.append(sink)
        self.files.append(inside)
        self._current = self._opened(sink, format, compression)
        return self._current

    def close_file(self) -> None:
        """Complete the open file."""
        if self._current is not None:
            self._current.finish()
        self._current = None

    def notes(self) -> list[Message]:
        """Return a note on files of the folder that no file of this run replaces."""
        others = sorted(self._before.difference(self.files))
        if not others:
            return []
        return [
            Message.counted(
                "{folder} has {count:,} other file, which stays as it is: {file}.",
                "{folder} has {count:,} other files, which stay as they are; the first is {file}.",
                count=len(others),
                folder=self.name,
                file=printable(others[0]),
            )
        ]

    def finish(self) -> None:
        """Flush the complete files to the disk, and refuse a folder that others have filled."""
        from concurrent.futures import ThreadPoolExecutor

        self._check_empty()
        # Each file waits for the disk; together they wait a quarter of the time.
        with ThreadPoolExecutor(_SYNCED) as pool:
            for _ in pool.map(StagedSink.sync, self._sinks):
                pass

    def commit(self) -> bool:
        """Give all files their names at once, if the folder is new or empty; tell whether."""
        if self._staging is None:
            return False
        with refuse_output_errors(self.name):
            is_whole = self._staging.replace_empty()
        if not is_whole:
            self._check_empty()
            return False
        for sink in self._sinks:
            sink.note_move()
        return True

    def abort(self) -> None:
        """Remove the hidden folder."""
        if self._staging is not None:
            self._staging.close()


def list_files(folder: str) -> Iterator[str]:
    """Yield the paths of all files in a folder, relative to it."""
    for inside, _, names in os.walk(folder):
        for name in names:
            yield os.path.relpath(os.path.join(inside, name), folder)
