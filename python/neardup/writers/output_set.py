"""Outputs of a run: opened first, written, and committed together; none is left half-written."""

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from neardup.base.files import printable
from neardup.base.messages import Message
from neardup.base.progress import Progress, check_progress
from neardup.exceptions import OutputError, ParameterError
from neardup.writers.address_sink import AddressSink
from neardup.writers.folder import OutputFolder, is_folder
from neardup.writers.output import Output, ignore_interrupts, open_output
from neardup.writers.output_conflicts import refuse_input_as_output
from neardup.writers.sink import StagedSink

# Files of an error that are named.
_NAMED = 3


class OutputSet:
    """Several outputs that appear together or not at all.

    All that a run reads and writes is named at first, and refused unless it is apart; see
    `refuse_input_as_output`. Every file is complete and on the disk before the first one is
    renamed.
    `token` decides the temporary names; see `FileSink`. `progress` gets notes on other files.
    """

    def __init__(
        self,
        inputs: Iterable[str | Path | None],
        outputs: Iterable[str | Path | None],
        *,
        folders: Iterable[str | Path | None] = (),
        token: str | None = None,
        progress: Progress | None = None,
    ) -> None:
        named = list(outputs)
        files = [path for path in named if not is_folder(path)]
        whole = [path for path in named if is_folder(path)]
        refuse_input_as_output(inputs, files, [*folders, *whole])
        #: The outputs that are not yet open.
        self._named = {os.fspath(path or "-") for path in named}
        self._outputs: list[Output] = []
        self._folders: list[OutputFolder] = []
        self._token = token
        self._progress = check_progress(progress)
        #: Called when all files are complete, before the first one is renamed.
        self.on_complete: Callable[[], None] = lambda: None

    def open(
        self,
        path: str | Path | None,
        *,
        force: bool = False,
        format: str | None = None,
    ) -> Output:
        """Open one of the outputs; see `open_output`."""
        name = os.fspath(path or "-")
        assert name in self._named, f"{name} was not compared with the inputs"
        output = open_output(path, force=force, format=format, token=self._token)
        self._outputs.append(output)
        return output

    def open_text(self, path: str | Path, *, force: bool = False) -> Output:
        """Open one of the outputs, of any extension, for bytes, compressed as its name says."""
        return self.open(path, force=force, format="jsonl")

    def open_folder(
        self, path: str | Path, *, force: bool = False, part_size: int | None = None
    ) -> OutputFolder:
        """Open one of the outputs, which is a folder; see `OutputFolder`."""

        def opened(sink: AddressSink | StagedSink, format: str, compression: str | None) -> Output:
            output = Output(sink, format, compression, part_size)
            self._outputs.append(output)
            return output

        folder = OutputFolder(path, opened, force=force, token=self._token, part_size=part_size)
        self._folders.append(folder)
        return folder

    def open_records(
        self, path: str | Path, *, force: bool = False, part_size: int | None = None
    ) -> Output | OutputFolder:
        """Open one of the outputs, a file or a folder."""
        if is_folder(path):
            return self.open_folder(path, force=force, part_size=part_size)
        name = os.fspath(path)
        if name != "-" and not os.path.splitext(name)[1]:
            raise ParameterError(
                Message(
                    "{file}: must have an extension, such as .jsonl. For a folder with one file "
                    "for each input, it must end in a slash.",
                    code="unknown_format",
                    file=printable(name),
                )
            )
        return self.open(path, force=force)

    def parts(self) -> list[tuple[str, str, str | None]]:
        """Return the final path, the temporary path, and the digest so far of each output."""
        files = [(output.part, output.digest) for output in self._outputs]
        folders = [(folder.part, None) for folder in self._folders]
        return [(*part, digest) for part, digest in [*files, *folders] if part is not None]

    def __enter__(self) -> "OutputSet":
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        _commit_or_abort(self._outputs, self._folders, kind, self.on_complete)
        for folder in self._folders:
            for note in folder.notes() if kind is None else ():
                self._progress.note(note)


def _commit_or_abort(
    outputs: list[Output],
    folders: list[OutputFolder],
    failed: type[BaseException] | None,
    on_complete: Callable[[], None],
) -> None:
    here = [output for output in outputs if not output.is_remote]
    remote = [output for output in outputs if output.is_remote]
    try:
        if failed is None:
            for output in outputs:
                output.finish()
            for folder in folders:
                folder.finish()
            on_complete()
            with ignore_interrupts():
                # First where an answer may be missing: a file here hardly ever fails.
                _commit([*remote, *folders, *here])
    finally:
        # After a commit, no file is left to remove. A second Ctrl-C must not leave some
        # of the files; what was sent and has no name is not worth waiting for a lost connection.
        with ignore_interrupts():
            for output in here:
                output.abort()
            for folder in folders:
                folder.abort()
        for output in remote:
            output.abort()


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
                    "{file}: cannot be written: {said}. Written before: {written}. No other "
                    "output was changed.",
                    code="cannot_be_written",
                    file=output.name,
                    said=str(said).rstrip("."),
                    written=_some(done),
                )
            ) from error
        if output.name != "-":
            done.append(output.name)


def _some(names: list[str]) -> str:
    """Return the first of many names for a message, and how many others there are."""
    shown, others = ", ".join(names[:_NAMED]), len(names) - _NAMED
    if others <= 0:
        return shown
    return Message("{names} and {count:,} more", names=shown, count=others)
