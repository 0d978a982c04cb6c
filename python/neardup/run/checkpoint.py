"""Work folders: the documents that a run has sketched, from which another run can resume.

Reading and sketching take the time, so only their result is saved, in shards while the input is
read. A shard is complete or absent: its file is written first, and then its record, which has the
digest of the file. The record of the last shard says that it is the last one. A file that does not
match its digest is never used.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from neardup.base import __version__
from neardup.base.lazy import orjson
from neardup.base.messages import Message, system_words
from neardup.base.validation import list_differences
from neardup.exceptions import InputError, OutputError
from neardup.readers.addresses import is_address, read_address_state
from neardup.readers.archives import find_archive
from neardup.readers.input_files import names_several, select_files
from neardup.writers.sink import FileSink, remove, replace_file

#: Changes with the contents of a work folder.
_LAYOUT = 12

# Readers of folders also recognize a work folder by this name.
_MANIFEST = "neardup-work.json"
_LOCK = "neardup-work.lock"

#: The documents in priority order, once all are read.
_ORDER = "order"

#: The files of a shard, by its number from 1, and what a killed run leaves of them.
_SHARD = re.compile(r"sketches-([0-9]+)\.(json|arrow)(\.part)?")


class Work:
    """A work folder, used by one run at a time."""

    def __init__(self, folder: Path, run: dict[str, Any]) -> None:
        self.folder = folder
        #: Of the folder: `made_by` and `run`, and the outputs that a run has begun to write.
        self.manifest = manifest(_LAYOUT, run) | {"outputs": []}
        #: The records of the complete shards, in input order.
        self.shards: list[dict[str, Any]] = []
        self._lock: int | None = None
        #: Outputs that a killed run completed: path, path of the temporary file, state, digest.
        self._own_outputs: list[list[Any]] = []
        #: Whether the run is complete, so that the folder is emptied unless an error occurs.
        self.is_over = False

    def __enter__(self) -> Work:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._refuse_others()
            self._take_lock()
            self._open_manifest()
        except OSError as error:
            self._release()
            raise OutputError(
                Message(
                    "{folder}: cannot be used as a work folder: {reason}.",
                    folder=str(self.folder),
                    reason=system_words(error),
                )
            ) from error
        except BaseException:
            self._release()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        self.is_over = self.is_over and kind is None
        try:
            if self.is_over:
                # The manifest is the last one, since it marks the folder as a work folder.
                left = [*self._list_shard_files(), _ORDER, _MANIFEST]
                for name in left:
                    for each in (f"{name}.part", name):
                        (self.folder / each).unlink(missing_ok=True)
            else:
                # The unfinished outputs have been removed; those that a killed run completed
                # are still there, to be replaced by a later run.
                self._update(outputs=self._own_outputs)
        finally:
            self._release()

    def _refuse_others(self) -> None:
        """Refuse a folder with files of other programs, before writing to it."""
        ours = (_LOCK, _MANIFEST, _MANIFEST + ".part")
        names = sorted(item.name for item in self.folder.iterdir())
        others = [name for name in names if name not in ours]
        if others and _MANIFEST not in names:
            raise InputError(
                Message(
                    "{folder}: must be empty or the work folder of an earlier run, but contains "
                    "{found}. Name another one with {given[work]}.",
                    code="work_folder_of_another_run",
                    folder=str(self.folder),
                    found=others[0],
                )
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
                raise InputError(
                    Message(
                        "{folder}: another run is using this work folder. Wait for it, or "
                        "name another folder with {given[work]}.",
                        code="work_folder_in_use",
                        folder=str(self.folder),
                    )
                ) from None
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

    def _open_manifest(self) -> None:
        """Read the manifest of an earlier run, which must be of this kind, or write a new one."""
        if not (self.folder / _MANIFEST).exists():
            self._update()
            return
        content = self._read_content(_MANIFEST)
        check_manifest(content, self.manifest, str(self.folder), "work")
        self.manifest = content
        while (self.folder / (name := f"sketches-{len(self.shards) + 1}.json")).exists():
            self.shards.append(self._read_content(name))

    def _update(self, **changes: Any) -> None:
        self.manifest |= changes
        self._replace(_MANIFEST, self.manifest)

    def _replace(self, name: str, content: dict[str, Any]) -> None:
        """Write a file completely or not at all, even after a power failure."""
        path = self.folder / name
        stored = {"content": content, "digest": _digest_of(content)}
        replace_file(path, json.dumps(stored).encode(), temporary=f"{path}.part")

    def _read_content(self, name: str) -> dict[str, Any]:
        """Return the content of a file that `_replace` wrote."""
        path = self.folder / name
        try:
            stored = orjson.loads(path.read_bytes())
            content: dict[str, Any] = stored["content"]
            is_whole = stored["digest"] == _digest_of(content)
        except (OSError, ValueError, KeyError, TypeError):
            is_whole = False
        if not is_whole:
            raise change_error(str(self.folder), str(path))
        return content

    def _list_shard_files(self) -> list[str]:
        """Return the names of all files of shards, so that a kill leaves the first shards whole."""
        found = filter(None, map(_SHARD.fullmatch, os.listdir(self.folder)))
        # Of the same number, the record comes first.
        found_last_first = sorted(found, key=lambda m: (int(m[1]), m[2]), reverse=True)
        return [match[0] for match in found_last_first]

    def save_shard(
        self, write: Callable[[FileSink], None], facts: dict[str, Any], stage: Any = None
    ) -> None:
        """Save the next shard, which `write` writes, with facts about it.

        `stage` are facts about all documents, if it is the last shard.
        """
        name = f"sketches-{len(self.shards) + 1}"
        path = str(self.folder / f"{name}.arrow")
        with FileSink(path, force=True, temporary=f"{path}.part", token="") as sink:
            write(sink)
        assert sink.digest is not None
        record = {**facts, "stage": stage, "digest": sink.digest.hexdigest()}
        self._replace(f"{name}.json", record)
        self.shards.append(record)

    def files_of_shards(self) -> Iterator[str]:
        """Yield the path of each complete shard, which is as it was written."""
        for number, record in enumerate(self.shards, 1):
            path = str(self.folder / f"sketches-{number}.arrow")
            if not _has_digest(path, record["digest"]):
                raise change_error(str(self.folder), path)
            yield path

    @property
    def stage(self) -> dict[str, Any] | None:
        """The facts about all documents; None if not all are saved."""
        stage: dict[str, Any] | None = self.shards[-1]["stage"] if self.shards else None
        return stage

    def save_order(self, order: bytes) -> str:
        """Save the priority order, and return its digest."""
        path = self.folder / _ORDER
        replace_file(path, order, temporary=f"{path}.part")
        return hashlib.blake2b(order).hexdigest()

    def load_order(self, digest: str) -> bytes:
        """Return the priority order, which must have a digest."""
        path = self.folder / _ORDER
        if not _has_digest(str(path), digest):
            raise change_error(str(self.folder), str(path))
        return path.read_bytes()

    def start(self, outputs: Iterable[tuple[str, str, str | None]]) -> None:
        """Record the paths of outputs to be written, and of their temporary files."""
        self._update(outputs=[(place, part, *_state(part)[:2]) for place, part, _ in outputs])

    def complete(self, outputs: Iterable[tuple[str, str, str | None]]) -> None:
        """Record what the outputs have, before the first one gets its name."""
        self._update(
            outputs=[(place, part, *_state(part), digest) for place, part, digest in outputs]
        )

    def discard(self) -> set[str]:
        """Remove the temporary files of outputs that a killed run left.

        Returns the paths of the outputs that it had completed, which this run may replace.
        """
        replaceable: set[str] = set()
        for place, part, *state in self.manifest["outputs"]:
            if state and _state(part)[:2] == state[:2]:
                remove(part)
            # A new file may have the number of one that was removed.
            if _state(place) == state[:-1] and _has_digest(place, state[-1]):
                replaceable.add(place)
                self._own_outputs.append([place, part, *state])
        return replaceable


def manifest(layout: int, run: dict[str, Any]) -> dict[str, Any]:
    """Return what a folder of stages says about the run, as it is read back from JSON."""
    made_by = {"layout": layout, "version": __version__}
    content: dict[str, Any] = json.loads(json.dumps({"made_by": made_by, "run": run}))
    return content


def check_manifest(
    stored: dict[str, Any], wanted: dict[str, Any], folder: str, option: str
) -> None:
    """Raise InputError unless a folder is of this version and of this run."""
    if stored.get("made_by") != wanted["made_by"]:
        raise InputError(
            Message(
                "{folder}: another version of neardup made this folder. Delete it, or "
                "name another folder with {option:given}.",
                code="work_folder_of_another_run",
                folder=folder,
                option=option,
            )
        )
    differences = list_differences(stored.get("run", {}), wanted["run"])
    if differences is not None:
        raise InputError(
            Message(
                "{folder}: belongs to a run with other settings: {differences}. Repeat that run, "
                "delete the folder, or name another with {option:given}.",
                code="work_folder_of_another_run",
                folder=folder,
                differences=differences,
                option=option,
            )
        )


def damage_error(folder: str, fact: str) -> InputError:
    """Return the error of a folder from which no run can resume."""
    return InputError(
        Message(
            "{fact} Cannot resume from this folder: delete {folder}, and run the "
            "same command from the beginning.",
            code="work_folder_damaged",
            fact=fact,
            folder=folder,
        )
    )


def change_error(folder: str, file: str) -> InputError:
    """Return the error of a folder with a file that is not as a run wrote it."""
    return damage_error(
        folder,
        Message(
            "{file}: has changed since the run wrote it.", code="work_folder_damaged", file=file
        ),
    )


def states_of(paths: Sequence[str], format: str | None) -> list[tuple[str, int, int]]:
    """Return name, size and modification time of files, and of the files read in folders."""
    states = []
    for name in paths:
        path = Path(find_archive(name) or name)
        try:
            several = names_several(name)
            if is_address(name) and not several:
                states.append(read_address_state(name))
                continue
            if name == "-" or not (several or path.is_file() or not path.exists()):
                raise InputError(
                    Message(
                        "{file}: can be read only once, but a work folder needs its inputs "
                        "twice. Write it to a file first.",
                        file=name,
                    )
                )
            if not several:
                status = path.stat()
                states.append((name, status.st_size, status.st_mtime_ns))
                continue
        except OSError as error:
            raise InputError(
                Message(
                    "{file}: cannot be read: {reason}.",
                    code="cannot_be_read",
                    file=name,
                    reason=system_words(error),
                )
            ) from error
        for selected in select_files(name, format, opened=False).files:
            if is_address(selected.path):
                states.append(read_address_state(selected.path))
                continue
            file = Path(selected.path)
            try:
                status = file.stat()
                states.append((str(file), status.st_size, status.st_mtime_ns))
            except OSError:
                # Reading it reports a problem.
                states.append((str(file), -1, -1))
    return states


def _digest_of(content: Any) -> str:
    return hashlib.blake2b(json.dumps(content).encode(), digest_size=16).hexdigest()


def _has_digest(path: str, digest: str | None) -> bool:
    with contextlib.suppress(OSError), open(path, "rb") as file:
        return hashlib.file_digest(file, "blake2b").hexdigest() == digest
    return False


def _state(path: str) -> list[int]:
    """Return device, number, size and time of a file; nothing if there is none."""
    try:
        status = os.stat(path)
    except OSError:
        return []
    return [status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns]
