"""Files here: bytes are written to a hidden file next to the final path, which is then renamed.

A reader sees the old file or the complete new one, even after a power failure.
"""

import contextlib
import hashlib
import os
import secrets
import shutil
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Self

from neardup.base.files import printable
from neardup.base.messages import Message, system_words
from neardup.exceptions import OutputError

#: Temporary files of this process that are not yet renamed or removed.
_temporaries: set[str] = set()


def remove_temporaries() -> None:
    """Remove the temporary files of all sinks, in a process that ends without aborting them."""
    for path in _temporaries:
        with contextlib.suppress(OSError):
            remove(path)


class StandardOutput:
    """Standard output, whose bytes cannot be removed."""

    name = "-"
    part = None
    written = 0

    def write(self, data: bytes) -> int:
        """Write bytes. A closed pipe raises BrokenPipeError."""
        with refuse_output_errors(self.name):
            sys.stdout.buffer.write(data)
        return len(data)

    def finish(self) -> None:
        """Flush the bytes."""
        with refuse_output_errors(self.name):
            sys.stdout.buffer.flush()

    def commit(self) -> None:
        """Do nothing: the bytes are already written."""

    def abort(self) -> None:
        """Do nothing: the bytes are already written."""


class FileSink:
    """A file that appears under its name on `commit`, completely or not at all.

    Devices and pipes cannot be renamed and are written directly. `temporary` is the temporary
    name. Without one, the file is locked while it is written. Files of the same output that a
    killed process left are then removed. `token` decides the name, for a caller that shares it
    with no other process. Such a caller gets a digest of the written bytes. `mode` is the
    permissions of a new file. As a context manager, it commits on success and removes its file
    otherwise.
    """

    def __init__(
        self,
        path: str,
        force: bool,
        *,
        temporary: str | None = None,
        mode: int | None = None,
        token: str | None = None,
    ) -> None:
        self.name = printable(path)
        # A link is followed: the user wants to replace its target.
        self._path = os.path.realpath(path)
        self._force = force
        self._temporary: str | None = None
        self._is_locked = False
        #: Digest of the written bytes, for a caller with a token.
        self.digest = None if token is None else hashlib.blake2b()
        folder = os.path.dirname(self._path)
        self._prepare(folder)
        if os.path.isdir(self._path) or path.endswith(("/", os.sep)):
            raise OutputError(
                Message("{file}: must be a file. Got a folder instead.", file=self.name)
            )
        with refuse_output_errors(self.name):
            with contextlib.suppress(FileNotFoundError):
                # A name may be too long, which is otherwise noticed when the file gets it.
                os.lstat(self._path)
            if os.path.exists(self._path) and not stat.S_ISREG(os.stat(self._path).st_mode):
                self._file: BinaryIO = open(self._path, "wb", buffering=0)  # noqa: SIM115
                return
            if os.path.exists(self._path) and not force:
                raise make_exists_error(self.name)
            self._mode = mode
            self._file = self._open(temporary) if temporary else self._create(folder, token)

    def _prepare(self, folder: str) -> None:
        """Refuse a folder that does not exist."""
        check_folder(self.name, folder)

    def _create(self, folder: str, token: str | None) -> BinaryIO:
        names = _generate_names(self._path, folder, token)
        while True:
            temporary = next(names)
            with contextlib.suppress(FileExistsError):
                file = self._open(temporary, os.O_EXCL)
                locked = _lock(file.fileno())
                # Between the two calls, another process may have taken it for one that was left.
                if locked is not False and _is_at(file.fileno(), temporary):
                    self._is_locked = bool(locked)
                    return file
                file.close()
                self._forget()

    def _open(self, temporary: str, flag: int = os.O_TRUNC) -> BinaryIO:
        mode = 0o666 if self._mode is None else self._mode
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | flag, mode)
        self._temporary = temporary
        _temporaries.add(temporary)
        return open(descriptor, "wb", buffering=0)

    @property
    def written(self) -> int:
        """The number of bytes written."""
        return self._file.tell()

    @property
    def part(self) -> tuple[str, str] | None:
        """The final path and the temporary path; None for a device or a pipe."""
        return None if self._temporary is None else (self._path, self._temporary)

    def write(self, data: bytes) -> int:
        """Write bytes."""
        with refuse_output_errors(self.name):
            if self.digest is not None:
                self.digest.update(data)
            view = memoryview(data)
            while view:
                view = view[self._file.write(view) :]
        return len(data)

    def finish(self) -> None:
        """Flush the bytes to the disk; a full disk raises an error here."""
        with refuse_output_errors(self.name):
            if self._temporary is not None:
                os.fsync(self._file.fileno())
            # The lock lasts as long as the file is open: until it has its name.
            if not self._is_locked:
                self._file.close()

    def commit(self) -> None:
        """Give the finished file its name."""
        if self._temporary is None:
            return
        with refuse_output_errors(self.name):
            if self._force:
                if self._mode is None and os.path.exists(self._path):
                    shutil.copymode(self._path, self._temporary)
                os.replace(self._temporary, self._path)
            else:
                self._move_to_free_name()
            self._forget()
            self._file.close()
            _sync_folder(os.path.dirname(self._path))

    def _move_to_free_name(self) -> None:
        assert self._temporary is not None
        try:
            # Unlike a rename, a link fails if the name exists by now.
            os.link(self._temporary, self._path)
        except FileExistsError:
            raise make_exists_error(self.name) from None
        except OSError:
            # The file system has no hard links.
            if os.path.exists(self._path):
                raise make_exists_error(self.name) from None
            os.replace(self._temporary, self._path)
        else:
            os.unlink(self._temporary)

    def abort(self) -> None:
        """Remove the temporary file."""
        with contextlib.suppress(OSError):
            self._file.close()
        if self._temporary is not None:
            with contextlib.suppress(OSError):
                os.unlink(self._temporary)
            self._forget()

    def _forget(self) -> None:
        _temporaries.discard(self._temporary or "")
        self._temporary = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        """Commit the file, or remove it after an error."""
        try:
            if kind is None:
                self.finish()
                self.commit()
        finally:
            # What was committed has no temporary name to remove.
            self.abort()


class StagedSink(FileSink):
    """A file of a `StagingFolder`; it may be moved with that folder."""

    def __init__(self, path: str, staged: str, force: bool, token: str | None) -> None:
        self._staged = staged
        super().__init__(path, force, temporary=staged, token=token)

    def _prepare(self, folder: str) -> None:  # noqa: ARG002
        with refuse_output_errors(self.name):
            os.makedirs(os.path.dirname(self._staged), exist_ok=True)

    def _open(self, temporary: str, flag: int = os.O_EXCL) -> BinaryIO:
        # Two names may differ by case only, which a file system may ignore.
        return super()._open(temporary, flag)

    def finish(self) -> None:
        """Close the file; `sync` flushes it to the disk."""
        self._file.close()

    def sync(self) -> None:
        """Flush the file to the disk."""
        with refuse_output_errors(self.name):
            descriptor = os.open(self._staged, os.O_RDWR)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)

    def commit(self) -> None:
        """Move the file to its folder, unless it is there already."""
        if self._temporary is not None:
            with refuse_output_errors(self.name):
                os.makedirs(os.path.dirname(self._path), exist_ok=True)
            super().commit()

    def note_move(self) -> None:
        """Take note that the file has its name."""
        self._forget()


class StagingFolder:
    """A hidden folder next to the one whose files it gets; it is locked while they are written.

    It is inside of a folder that cannot be replaced. `token` decides its name; see `FileSink`.
    """

    def __init__(self, path: str, token: str | None) -> None:
        self._final = path
        parent = os.path.dirname(path)
        is_fixed = os.path.ismount(path) or not os.access(parent, os.W_OK)
        with contextlib.suppress(OSError):
            # A shell would stay in the folder that is replaced.
            is_fixed = is_fixed or os.path.samefile(path, os.curdir)
        self._is_beside = not (is_fixed and os.path.isdir(path))
        names = _generate_names(path, parent if self._is_beside else path, token)
        while True:
            self.path = next(names)
            with contextlib.suppress(FileExistsError):
                os.mkdir(self.path)
                with contextlib.suppress(FileNotFoundError):
                    self._descriptor = os.open(self.path, os.O_RDONLY)
                    # See FileSink._create.
                    if _lock(self._descriptor) is not False and _is_at(self._descriptor, self.path):
                        break
                    os.close(self._descriptor)
        _temporaries.add(self.path)

    def replace_empty(self) -> bool:
        """Become the final folder, if that is empty or absent; return whether it did."""
        exists = os.path.isdir(self._final)
        if not self._is_beside or (exists and os.listdir(self._final)):
            return False
        if exists:
            shutil.copymode(self._final, self.path)
        for folder, _, _ in os.walk(self.path):
            _sync_folder(folder)
        try:
            os.rename(self.path, self._final)
        except OSError:
            # Not every system replaces an empty folder; somebody may have used it meanwhile.
            return False
        _temporaries.discard(self.path)
        _sync_folder(os.path.dirname(self._final))
        return True

    def close(self) -> None:
        """Remove the hidden folder, unless it became the final one."""
        if self.path in _temporaries:
            shutil.rmtree(self.path, ignore_errors=True)
            _temporaries.discard(self.path)
            os.close(self._descriptor)


def replace_file(
    path: str | Path, data: bytes, *, temporary: str | None = None, mode: int | None = None
) -> None:
    """Replace a file by bytes, completely or, after an error, not at all; as `FileSink`."""
    with FileSink(os.fspath(path), force=True, temporary=temporary, mode=mode) as sink:
        sink.write(data)


def check_folder(name: str, folder: str) -> None:
    """Refuse an output whose folder does not exist."""
    if not os.path.isdir(folder):
        raise OutputError(
            Message(
                "{file}: must be in a folder that exists. Create {folder} first.",
                file=name,
                folder=printable(folder),
            )
        )


def _generate_names(path: str, folder: str, token: str | None) -> Iterator[str]:
    """Yield temporary paths of an output in a folder; with a token, the same again and again."""
    remove_left(path, folder)
    while True:
        mark = secrets.token_hex(4) if token is None else _make_digest(token + path)
        temporary = os.path.join(folder, _make_name(path, mark))
        if token is not None:
            with contextlib.suppress(FileNotFoundError):
                remove(temporary)
        yield temporary


def remove_left(path: str, folder: str) -> None:
    """Remove the temporary files and folders of an output that killed processes left in a folder.

    Their names have a digest that nobody else makes, and no process holds their lock.
    """
    begin = _make_stem(path)
    with contextlib.suppress(OSError):
        for name in os.listdir(folder):
            mark = name[len(begin) :][:8]
            if not name.startswith(begin) or name != _make_name(path, mark):
                continue
            left = os.path.join(folder, name)
            with contextlib.suppress(OSError):
                descriptor = os.open(left, os.O_RDONLY)
                try:
                    if _lock(descriptor) and _is_at(descriptor, left):
                        remove(left)
                        # What SQLite keeps next to a backup that it writes.
                        os.unlink(f"{left}-journal")
                finally:
                    os.close(descriptor)


def remove(path: str) -> None:
    """Remove a temporary file or folder."""
    if os.path.isdir(path):
        shutil.rmtree(path, ignore_errors=True)
    else:
        os.unlink(path)


def _make_stem(path: str) -> str:
    # Names are limited to 255 bytes; what follows takes 20, and SQLite adds 8 for its journal.
    return f".{os.fsdecode(os.fsencode(os.path.basename(path))[:200])}."


def _make_name(path: str, mark: str) -> str:
    """Return the name of a temporary file of an output, which has a digest of itself."""
    return f"{_make_stem(path)}{mark}{_make_digest(mark + os.path.basename(path))}.tmp"


def _make_digest(text: str) -> str:
    return hashlib.blake2b(os.fsencode(text), digest_size=4).hexdigest()


def _lock(descriptor: int) -> bool | None:
    """Lock a file for this process; False if another holds it, None where there are no locks."""
    try:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except (ImportError, OSError):
        return None
    return True


def _is_at(descriptor: int, path: str) -> bool:
    with contextlib.suppress(OSError):
        return os.path.samestat(os.fstat(descriptor), os.stat(path))
    return False


@contextlib.contextmanager
def refuse_output_errors(name: str) -> Iterator[None]:
    """Turn a system error into an OutputError that names the file."""
    try:
        yield
    except (OutputError, BrokenPipeError):
        raise
    except OSError as error:
        raise make_write_error(name, system_words(error)) from error


def make_write_error(name: str, reason: str) -> OutputError:
    """Return the error of an output that cannot be written."""
    return OutputError(
        Message(
            "{file}: cannot be written: {said}. No output was changed.",
            code="cannot_be_written",
            file=name,
            said=reason,
        )
    )


def make_exists_error(name: str) -> OutputError:
    """Return the error of an output that exists."""
    return OutputError(
        Message(
            "{file}: exists already. Choose another name, or replace it with {given[force=True]}.",
            code="exists",
            file=name,
        )
    )


def _sync_folder(folder: str) -> None:
    # Not every system can open a folder; the rename is valid without this.
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
