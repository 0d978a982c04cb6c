"""Work folders: the stages of a run, from which another run can resume.

Each stage is complete or absent: its files are written first, and a mark with the name
of the stage and the digests of the files is written last. A file that does not match
its digest is never used.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from neardup.base import __version__
from neardup.base.messages import Message, system_words
from neardup.exceptions import InputError, OutputError, ParameterError
from neardup.writers.sink import replace_file

if TYPE_CHECKING:
    import pyarrow as pa

#: Changes with the contents of a work folder.
_LAYOUT = 8

#: All files of runs, apart from the marks.
_LEFT = (
    *("texts", "shingles", "ids", "sketches.arrow", "kept.arrow"),
    *("candidates.counts", "candidates.lists", "candidates.long"),
)

# Readers of folders also recognize a work folder by this name.
_MANIFEST = "neardup-work.json"
_LOCK = "neardup-work.lock"

#: The mark of outputs that are being written.
_OUTPUTS = "outputs"


class Work:
    """A work folder, used by one run at a time.

    Parameters
    ----------
    folder : Path
        Created if it is missing; otherwise it must be empty or of an earlier run.
    run : dict
        The settings and inputs of the run. Those of an earlier run must be the same.

    Raises
    ------
    InputError
        If the folder has other files, or stages of other settings or inputs, or if
        another run is using it.
    OutputError
        If the folder cannot be written.
    """

    def __init__(self, folder: Path, run: dict[str, Any]) -> None:
        self.folder = folder
        #: Decides the names of temporary files, so that a later run replaces those of a killed one.
        self.token = os.path.realpath(folder)
        self._manifest = manifest(_LAYOUT, run)
        self._lock: int | None = None
        #: Outputs that a killed run completed: path, path of the temporary file, identity.
        self._own_outputs: list[list[Any]] = []
        #: Whether the run is complete, so that the folder is emptied unless an error occurs.
        self.is_over = False

    def __enter__(self) -> Work:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._refuse_others()
            self._take_lock()
            self._check_manifest()
        except OSError as error:
            self._release()
            raise OutputError(
                Message(
                    "runs.work_cannot_be_used", folder=str(self.folder), reason=system_words(error)
                )
            ) from error
        except BaseException:
            self._release()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.is_over = self.is_over and error is None
        try:
            if self.is_over:
                self._clear()
            else:
                # The unfinished outputs have been removed; those that a killed run completed
                # are still there, to be replaced by a later run.
                self._mark(_OUTPUTS).unlink(missing_ok=True)
                if self._own_outputs:
                    self.complete(_OUTPUTS, {"begun": self._own_outputs})
        finally:
            self._release()

    def _refuse_others(self) -> None:
        """Refuse a folder with files of other programs, before writing to it."""
        ours = (_LOCK, _MANIFEST, _MANIFEST + ".part")
        names = sorted(item.name for item in self.folder.iterdir())
        others = [name for name in names if name not in ours]
        if others and _MANIFEST not in names:
            raise InputError(
                Message("runs.work_of_nobody", folder=str(self.folder), found=others[0])
            )

    def _take_lock(self) -> None:
        try:
            import fcntl
        except ImportError:
            # Without such locks, two runs in one folder are not detected.
            return
        path = self.folder / _LOCK
        while True:
            self._lock = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
            try:
                fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise InputError(Message("runs.work_in_use", folder=str(self.folder))) from None
            # A run that ended meanwhile has removed the locked file.
            with contextlib.suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(self._lock), path.stat()):
                    return
            os.close(self._lock)
            self._lock = None

    def _release(self) -> None:
        if self._lock is not None:
            if self.is_over:
                (self.folder / _LOCK).unlink(missing_ok=True)
            # Closing the file releases the lock.
            os.close(self._lock)
            self._lock = None

    def _check_manifest(self) -> None:
        path = self.folder / _MANIFEST
        if not path.exists():
            _write(path, self._manifest)
        else:
            check_manifest(self._read(path), self._manifest, str(self.folder), "work")

    def _mark(self, stage: str) -> Path:
        return self.folder / f"{stage}.done"

    def has(self, stage: str) -> bool:
        """Whether a stage is complete."""
        return self._mark(stage).exists()

    def complete(self, stage: str, said: dict[str, Any], files: Sequence[str] = ()) -> None:
        """Mark a stage as complete, with data about it and the digests of its files.

        The core's files have their own digests.
        """
        digests = {name: _digest(self.folder / name) for name in files}
        _write(self._mark(stage), {"said": said, "files": digests})

    def said(self, stage: str) -> dict[str, Any]:
        """Return the data about a complete stage.

        Raises
        ------
        InputError
            If one of its files changed since it was written.
        """
        mark = self._read(self._mark(stage))
        for name, digest in mark["files"].items():
            path = self.folder / name
            if not path.exists() or _digest(path) != digest:
                raise changed(str(self.folder), str(path))
        said: dict[str, Any] = mark["said"]
        return said

    def leave_table(self, name: str, table: pa.Table) -> None:
        """Write a table as an Arrow IPC file, to be covered by `complete`."""
        import pyarrow as pa

        with pa.ipc.new_file(str(self.folder / name), table.schema) as writer:
            writer.write_table(table)

    def table(self, name: str) -> pa.Table:
        """Return a table of a complete stage, memory-mapped."""
        import pyarrow as pa

        with pa.memory_map(str(self.folder / name)) as file:
            return pa.ipc.open_file(file).read_all()

    def forget(self, stages: Iterable[str]) -> None:
        """Mark stages as incomplete."""
        for stage in stages:
            self._mark(stage).unlink(missing_ok=True)

    @contextlib.contextmanager
    def recalling(self) -> Iterator[None]:
        """Turn errors of the core about stored files into the error of a damaged work folder."""
        try:
            yield
        except (InputError, OutputError, ParameterError) as error:
            raise damaged(str(self.folder), error.args[0]) from error

    def _read(self, path: Path) -> dict[str, Any]:
        """Return the content of a file that `_write` wrote."""
        import orjson  # imported late, for a fast `import neardup`

        try:
            stored = orjson.loads(path.read_bytes())
            content: dict[str, Any] = stored["content"]
            is_whole = stored["digest"] == _digest_of(content)
        except (OSError, ValueError, KeyError, TypeError):
            is_whole = False
        if not is_whole:
            raise changed(str(self.folder), str(path))
        return content

    def began(self, outputs: Iterable[tuple[str, str]]) -> None:
        """Record the paths of outputs to be written, and of their temporary files."""
        states = [(place, part, *(_identity(part) or ())) for place, part in outputs]
        self.complete(_OUTPUTS, {"begun": states})

    def take_back(self) -> set[str]:
        """Remove the temporary files of outputs that a killed run left.

        Returns the paths of the outputs that it had completed, which this run may replace.
        """
        own: set[str] = set()
        if not self.has(_OUTPUTS):
            return own
        for place, part, *identity in self.said(_OUTPUTS)["begun"]:
            if _identity(part) == identity:
                os.unlink(part)
            if _identity(place) == identity:
                own.add(place)
                self._own_outputs.append([place, part, *identity])
        return own

    def _clear(self) -> None:
        """Remove all files of runs, and no other files, at the end of the run."""
        marks = [path.name for path in self.folder.glob("*.done")]
        # The manifest is removed last: it marks the folder as a work folder.
        for name in [*marks, *_LEFT, _MANIFEST]:
            for left in (name, name + ".part"):
                (self.folder / left).unlink(missing_ok=True)


def manifest(layout: int, run: dict[str, Any]) -> dict[str, Any]:
    """Return what a folder of stages says about the run, as it is read back from JSON.

    Parameters
    ----------
    layout : int
        Changes with the contents of the folder.
    run : dict
        The settings and inputs that the stages depend on.
    """
    made_by = {"layout": layout, "version": __version__}
    content: dict[str, Any] = json.loads(json.dumps({"made_by": made_by, "run": run}))
    return content


def check_manifest(found: dict[str, Any], wanted: dict[str, Any], folder: str, option: str) -> None:
    """Raise InputError unless a folder is of this version and of this run.

    Parameters
    ----------
    found, wanted : dict
        Results of `manifest`: of the folder, and of this run.
    folder : str
    option : str
        The option that names the folder.
    """
    if found.get("made_by") != wanted["made_by"]:
        raise InputError(Message("runs.work_of_other_version", folder=folder, option=option))
    run, other = wanted["run"], found.get("run", {})
    names = [name for name in run if other.get(name) != run[name]]
    if names:
        said = Message("runs.work_of_other_run", folder=folder, names=_listed(names), option=option)
        raise InputError(said)


def damaged(folder: str, fact: str) -> InputError:
    """Return the error of a folder from which no run can resume."""
    return InputError(Message("runs.work_damaged", fact=fact, folder=folder))


def changed(folder: str, file: str) -> InputError:
    """Return the error of a folder with a file that is not as a run wrote it."""
    return damaged(folder, Message("runs.work_changed", file=file))


def refuse_outputs(folder: Path, outputs: Iterable[str | Path | None]) -> None:
    """Raise ParameterError if an output is in the work folder, which is emptied."""
    inside = os.path.join(os.path.realpath(folder), "")
    for path in outputs:
        # The folder itself is no place for an output either.
        if path is not None and os.path.join(os.path.realpath(path), "").startswith(inside):
            raise ParameterError(
                Message("runs.output_in_work", parameter="work", folder=str(folder), file=str(path))
            )


def states_of(paths: Sequence[str], format: str | None) -> list[tuple[str, int, int]]:
    """Return name, size and modification time of files, and of the files read in folders.

    Raises
    ------
    InputError
        If one can be read only once, such as standard input, or is missing.
    """
    from neardup.readers.addresses import address_state, is_address
    from neardup.readers.input_files import names_several, select_files

    states = []
    for name in paths:
        path = Path(name)
        try:
            several = names_several(name)
            if is_address(name) and not several:
                states.append(address_state(name))
                continue
            if name == "-" or not (several or path.is_file() or not path.exists()):
                raise InputError(Message("runs.read_only_once", file=name))
            if not several:
                status = path.stat()
                states.append((name, status.st_size, status.st_mtime_ns))
                continue
        except OSError as error:
            raise InputError(
                Message("runs.cannot_be_read", file=name, reason=system_words(error))
            ) from error
        for one in select_files(name, format).files:
            if is_address(one.path):
                states.append(address_state(one.path))
                continue
            file = Path(one.path)
            try:
                status = file.stat()
                states.append((str(file), status.st_size, status.st_mtime_ns))
            except OSError:
                # Reading it reports a problem.
                states.append((str(file), -1, -1))
    return states


def _write(path: Path, content: dict[str, Any]) -> None:
    """Write a file completely or not at all, even after a power failure."""
    data = json.dumps({"content": content, "digest": _digest_of(content)}).encode()
    replace_file(path, data, temporary=f"{path}.part")


def _digest_of(content: Any) -> str:
    return hashlib.blake2b(json.dumps(content).encode(), digest_size=16).hexdigest()


def _digest(path: Path) -> str:
    """Flush a file to disk, and return its digest."""
    with open(path, "r+b") as file:
        digest = hashlib.file_digest(file, "blake2b")
        os.fsync(file.fileno())
    return digest.hexdigest()


def _identity(path: str) -> list[int] | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return [status.st_dev, status.st_ino]


def _listed(names: list[str]) -> str:
    if len(names) == 1:
        return names[0]
    return Message("runs.names_and", names=", ".join(names[:-1]), last=names[-1])
