"""A folder in which a run leaves what it has done, for another run to go on with.

Each stage is complete or absent: its files are written beside their names and given
them at the end, and a mark that names the stage is written last of all.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from neardup.exceptions import InputError, OutputError

#: Changes whenever what a run leaves does.
_FORMAT = 1

#: All that runs leave, beside their marks.
_LEFT = (
    *("texts", "sketches", "documents", "shingles", "ids.arrow", "order.npy"),
    *("counts", "counts.ends", "lists", "lists.ends", "long-lists", "decisions.npz"),
)

_MANIFEST = "neardup-work.json"
_LOCK = "neardup-work.lock"


class Work:
    """A folder of one run at a time.

    Parameters
    ----------
    folder : Path
        Made if it is not there; otherwise empty, or of an earlier run.
    run : dict
        What the run's results depend on. An earlier run must have had the same.

    Raises
    ------
    InputError
        If the folder holds other things, or what was done on other settings or
        inputs; if another run is using it.
    OutputError
        If it cannot be written.
    """

    def __init__(self, folder: Path, run: dict[str, Any]) -> None:
        self.folder = folder
        self._run = {"format": _FORMAT, **run}
        self._lock: int | None = None
        #: Whether nothing that is here is needed any more, if no error comes.
        self.is_over = False

    def __enter__(self) -> Work:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._take_lock()
            self._check_manifest()
        except OSError as error:
            self._release()
            raise OutputError(
                f"{self.folder}: cannot be used as a work folder: {error.strerror}."
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
        if self.is_over:
            self._clear()
        self._release()

    def _take_lock(self) -> None:
        self._lock = os.open(self.folder / _LOCK, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            import fcntl
        except ImportError:
            # Without such locks nothing tells two runs in one folder.
            return
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InputError(
                f"{self.folder}: another run is using this work folder. Wait for it, or name "
                "another folder with work= (--work)."
            ) from None

    def _release(self) -> None:
        if self._lock is not None:
            if self.is_over:
                (self.folder / _LOCK).unlink(missing_ok=True)
            # Closing it gives the lock back.
            os.close(self._lock)
            self._lock = None

    def _check_manifest(self) -> None:
        path = self.folder / _MANIFEST
        wanted = json.loads(json.dumps(self._run))
        others = sorted(item.name for item in self.folder.iterdir() if item.name != _LOCK)
        if not others:
            _write(path, self._run)
            return
        if _MANIFEST not in others:
            raise InputError(
                f"{self.folder}: must be empty or the work folder of an earlier run. Got a folder "
                f"with {others[0]} in it instead. Name another one with work= (--work)."
            )
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
        except ValueError:
            found = {}
        changed = [name for name in wanted if found.get(name) != wanted[name]]
        if changed:
            raise InputError(
                f"{self.folder}: is the work folder of a run with another {_listed(changed)}. "
                "Repeat that run as it was, name another folder with work= (--work), or delete "
                "this one."
            )

    def has(self, stage: str) -> bool:
        """Whether a stage is complete."""
        return (self.folder / f"{stage}.done").exists()

    def complete(self, stage: str, said: dict[str, Any]) -> None:
        """Mark a stage as complete, with what is to be known of it."""
        _write(self.folder / f"{stage}.done", said)

    def said(self, stage: str) -> dict[str, Any]:
        """Return what is to be known of a complete stage."""
        said: dict[str, Any] = json.loads(
            (self.folder / f"{stage}.done").read_text(encoding="utf-8")
        )
        return said

    def _clear(self) -> None:
        """Remove all that runs left, and nothing else; the run is over."""
        marks = [path.name for path in self.folder.glob("*.done")]
        # The manifest goes last: where it stands, what is there is a run's.
        for name in [*marks, *_LEFT, _MANIFEST]:
            for left in (name, name + ".part"):
                (self.folder / left).unlink(missing_ok=True)


def states_of(paths: Sequence[str]) -> list[tuple[str, int, int]]:
    """Return name, size and time of change of files, and of all files of folders.

    Raises
    ------
    InputError
        If one is standard input, which cannot be read again, or is not there.
    """
    states = []
    for name in paths:
        if name == "-":
            raise InputError(
                "-: a run with a work folder reads its inputs again, and standard input cannot be. "
                "Write it to a file first."
            )
        path = Path(name)
        files = sorted(path.rglob("*")) if path.is_dir() else [path]
        for file in files:
            try:
                status = file.stat()
            except OSError as error:
                raise InputError(f"{file}: cannot be read: {error.strerror}.") from error
            if not file.is_dir():
                states.append((str(file), status.st_size, status.st_mtime_ns))
    return states


def _write(path: Path, content: dict[str, Any]) -> None:
    """Write a file that is there whole or not at all, also after a power cut."""
    part = path.with_name(path.name + ".part")
    with open(part, "w", encoding="utf-8") as file:
        json.dump(content, file, ensure_ascii=False)
        file.flush()
        os.fsync(file.fileno())
    os.replace(part, path)


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
