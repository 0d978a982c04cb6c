"""Outputs of a run: opened first, written, and committed together; none is left half-written."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Self

from neardup.base.files import printable
from neardup.base.messages import Message
from neardup.base.progress import Progress, check_progress
from neardup.base.validation import check_path
from neardup.exceptions import OutputError, ParameterError
from neardup.readers import Sources
from neardup.writers.address_sink import AddressSink
from neardup.writers.folder import OutputFolder, check_is_for_folder, is_folder
from neardup.writers.output import Output, ignore_interrupts, open_output
from neardup.writers.output_conflicts import refuse_input_as_output
from neardup.writers.sink import StagedSink

#: Paths of outputs by the names of their parameters; None for one that is not wanted.
Named = Mapping[str, str | Path | None]
NOTHING: Named = MappingProxyType({})

# Files of an error that are named.
_NAMED = 3


class OutputSet:
    """The outputs of a task, which appear together or not at all.

    All that a task reads and writes is named at first, and refused unless it is apart; see
    `refuse_input_as_output`. Entering the set opens the outputs. Leaving it gives them their
    names, once every file is on the disk.

    Parameters
    ----------
    inputs : iterable of str, Path or None
        All that the task reads.
    records : dict of str to str, Path or None
        Outputs that may be a folder, by the names of their parameters. None is no output.
    rows, texts : dict of str to str, Path or None
        Files of rows, whose extension sets the format; and files of any extension, for bytes,
        compressed as their names say.
    force : bool or callable, default=False
        Whether an output may replace a file; or what tells so for a path.
    part_size : int, optional
        Bytes of the parts of a folder; see `OutputFolder`.
    folders : iterable of str, Path or None
        Other folders that the task fills.
    token : str, optional
        Decides the temporary names; see `FileSink`.
    progress : Progress, optional
        Gets notes on other files.
    """

    def __init__(
        self,
        inputs: Iterable[str | Path | None],
        records: Named = NOTHING,
        *,
        rows: Named = NOTHING,
        texts: Named = NOTHING,
        force: bool | Callable[[str], bool] = False,
        part_size: int | None = None,
        folders: Iterable[str | Path | None] = (),
        token: str | None = None,
        progress: Progress | None = None,
    ) -> None:
        self._paths, self._rows, self._texts = map(_check_given, (records, rows, texts))
        check_is_for_folder(part_size, self._paths.values())
        named = [*self._paths.values(), *self._rows.values(), *self._texts.values()]
        files = [path for path in named if not is_folder(path)]
        whole = [path for path in named if is_folder(path)]
        refuse_input_as_output(inputs, files, [*folders, *whole])
        #: The open outputs of records, and the others, by the names of their parameters.
        self.records: dict[str, Output | OutputFolder] = {}
        self.files: dict[str, Output] = {}
        self._outputs: list[Output] = []
        self._folders: list[OutputFolder] = []
        self._may_replace = force if callable(force) else lambda _: force
        self._part_size = part_size
        self._token = token
        self._progress = check_progress(progress)
        #: Called when all files are complete, before the first one is renamed.
        self.on_complete: Callable[[], None] = lambda: None

    def __enter__(self) -> Self:
        try:
            for name, path in self._paths.items():
                self.records[name] = self._open_records(path)
            for name, path in self._rows.items():
                self.files[name] = self._open(path)
            for name, path in self._texts.items():
                self.files[name] = self._open(path, "jsonl")
        except BaseException as error:
            self.__exit__(type(error))
            raise
        return self

    def _open(self, path: str, format: str | None = None) -> Output:
        force = self._may_replace(path)
        output = open_output(path, force=force, format=format, token=self._token)
        self._outputs.append(output)
        return output

    def _open_records(self, path: str) -> Output | OutputFolder:
        if is_folder(path):
            return self._open_folder(path)
        if path != "-" and not os.path.splitext(path)[1]:
            raise ParameterError(
                Message(
                    "{file}: must have an extension, such as .jsonl, or end in a slash for a "
                    "folder. Got neither.",
                    code="unknown_format",
                    file=printable(path),
                )
            )
        return self._open(path)

    def _open_folder(self, path: str) -> OutputFolder:
        part_size = self._part_size

        def opened(sink: AddressSink | StagedSink, format: str, compression: str | None) -> Output:
            output = Output(sink, format, compression, part_size)
            self._outputs.append(output)
            return output

        force = self._may_replace(path)
        folder = OutputFolder(path, opened, force=force, token=self._token, part_size=part_size)
        self._folders.append(folder)
        return folder

    def take(self, sources: Sources, *, copies: str | None = None, edits: bool = False) -> None:
        """Name the files of folders after the inputs; see `OutputFolder.take`.

        `copies` names the output that gets records of the inputs; the others get rows about them.
        """
        for name, output in self.records.items():
            if isinstance(output, OutputFolder):
                output.take(sources, copies=name == copies, edits=edits)

    def parts(self) -> list[tuple[str, str, str | None]]:
        """Return the final path, the temporary path, and the digest so far of each output."""
        files = [(output.part, output.digest) for output in self._outputs]
        folders = [(folder.part, None) for folder in self._folders]
        return [(*part, digest) for part, digest in [*files, *folders] if part is not None]

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        remote = [output for output in self._outputs if output.is_remote]
        here = [output for output in self._outputs if not output.is_remote]
        try:
            if kind is None:
                for output in self._outputs:
                    output.finish()
                for folder in self._folders:
                    folder.finish()
                self.on_complete()
                with ignore_interrupts():
                    # First where an answer may be missing: a file here hardly ever fails.
                    _commit([*remote, *self._folders, *here])
        finally:
            # After a commit, no file is left to remove. A second Ctrl-C must not leave some of
            # the files. It may leave what was sent and has no name, if the connection is lost.
            with ignore_interrupts():
                for output in here:
                    output.abort()
                for folder in self._folders:
                    folder.abort()
            for output in remote:
                output.abort()
        for folder in self._folders:
            for note in folder.notes() if kind is None else ():
                self._progress.note(note)


def _check_given(outputs: Named) -> dict[str, str]:
    """Return the paths of the outputs that are wanted."""
    return {n: check_path(path, n) for n, path in outputs.items() if path is not None}


def _commit(outputs: Sequence[Output | OutputFolder]) -> None:
    """Give all outputs their names; an error says which of them have them by then."""
    done: list[str] = []
    for output in outputs:
        try:
            if isinstance(output, OutputFolder) and not output.commit():
                # Its files follow, one after the other.
                continue
            if isinstance(output, Output):
                output.commit()
        except OutputError as error:
            if not done:
                raise
            said = error.values.get("said", error.message)
            raise OutputError(
                Message(
                    "{file}: cannot be written: {said}. Only these outputs are complete: "
                    "{written}.",
                    code="cannot_be_written",
                    file=output.name,
                    said=str(said).rstrip("."),
                    written=_list_some(done),
                )
            ) from error
        if output.name != "-":
            done.append(output.name)


def _list_some(names: list[str]) -> str:
    """Return the first of many names for a message, and how many others there are."""
    shown, others = ", ".join(names[:_NAMED]), len(names) - _NAMED
    if others <= 0:
        return shown
    return Message("{names} and {count:,} more", names=shown, count=others)
