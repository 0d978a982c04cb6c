"""Where bytes go: a hidden file beside the final place, then a rename.

A reader of the final path sees the old file or the complete new one, never a
part. Compressed bytes depend on the content alone:

- both compressors are fed blocks of a fixed size, however the caller cut it;
- gzip headers carry no time and no name;
- zstd always runs in its worker mode, which cuts its jobs by size, so that
  one worker and eight give the same frame (the mode without workers does not).
"""

import contextlib
import os
import secrets
import shutil
import stat
import sys
import zlib
from collections.abc import Iterator
from typing import Any, BinaryIO, Protocol

import zstandard

from neardup._engine.messages import Message, system_words
from neardup.exceptions import OutputError
from neardup.readers.streams import printable

__all__ = ["ByteSink", "FileSink", "StandardOutput", "compressed"]

_BLOCK = 1 << 20
_ZSTD_LEVEL = 3
_GZIP_LEVEL = 6


class ByteSink(Protocol):
    """Takes bytes in order."""

    def write(self, data: bytes) -> int:
        """Take some bytes and return their number."""
        ...

    def finish(self) -> None:
        """Write what is held back; nothing may follow."""
        ...


class StandardOutput:
    """Standard output. What was written cannot be taken back."""

    name = "-"
    part = None

    def write(self, data: bytes) -> int:
        """Take some bytes. A closed pipe raises BrokenPipeError as it is."""
        with _told(self.name):
            sys.stdout.buffer.write(data)
        return len(data)

    def finish(self) -> None:
        """Flush."""
        with _told(self.name):
            sys.stdout.buffer.flush()

    def commit(self) -> None:
        """Do nothing: the bytes are out already."""

    def abort(self) -> None:
        """Do nothing: the bytes are out already."""


class FileSink:
    """A file that appears under its name on `commit`, or not at all.

    Devices and pipes have no name to move to and are written directly.
    """

    def __init__(self, path: str, force: bool) -> None:
        self.name = printable(path)
        # A link is followed: its target is what the user wants replaced.
        self._path = os.path.realpath(path)
        self._force = force
        self._temporary: str | None = None
        folder = os.path.dirname(self._path)
        if not os.path.isdir(folder):
            raise OutputError(
                Message("writers.no_such_folder", file=self.name, folder=printable(folder))
            )
        if os.path.isdir(self._path):
            raise OutputError(Message("writers.is_a_folder", file=self.name))
        with _told(self.name):
            if os.path.exists(self._path) and not stat.S_ISREG(os.stat(self._path).st_mode):
                self._file: BinaryIO = open(self._path, "wb", buffering=0)  # noqa: SIM115
                return
            if os.path.exists(self._path) and not force:
                self._refuse()
            self._file = self._create(folder)

    def _create(self, folder: str) -> BinaryIO:
        # Names are limited to 255 bytes; the longest suffix below takes 14.
        stem = os.fsdecode(os.fsencode(os.path.basename(self._path))[:200])
        while True:
            temporary = os.path.join(folder, f".{stem}.{secrets.token_hex(4)}.tmp")
            try:
                file = open(temporary, "xb", buffering=0)  # noqa: SIM115
            except FileExistsError:
                continue
            self._temporary = temporary
            return file

    @property
    def part(self) -> tuple[str, str] | None:
        """Where the file will stand and where it stands; None of a device or a pipe."""
        return None if self._temporary is None else (self._path, self._temporary)

    def _refuse(self) -> None:
        raise OutputError(Message("writers.exists", file=self.name))

    def write(self, data: bytes) -> int:
        """Take some bytes."""
        with _told(self.name):
            view = memoryview(data)
            while view:
                view = view[self._file.write(view) :]
        return len(data)

    def finish(self) -> None:
        """Make sure that the bytes are on the disk; a full disk says so here."""
        with _told(self.name):
            if self._temporary is not None:
                os.fsync(self._file.fileno())
            self._file.close()

    def commit(self) -> None:
        """Give the finished file its name."""
        if self._temporary is None:
            return
        with _told(self.name):
            if self._force:
                if os.path.exists(self._path):
                    shutil.copymode(self._path, self._temporary)
                os.replace(self._temporary, self._path)
            else:
                self._move_to_free_name()
            self._temporary = None
            _sync_folder(os.path.dirname(self._path))

    def _move_to_free_name(self) -> None:
        assert self._temporary is not None
        try:
            # Unlike a rename, a link fails if the name was taken meanwhile.
            os.link(self._temporary, self._path)
        except FileExistsError:
            self._refuse()
        except OSError:
            # A file system without hard links.
            if os.path.exists(self._path):
                self._refuse()
            os.replace(self._temporary, self._path)
        else:
            os.unlink(self._temporary)

    def abort(self) -> None:
        """Remove what was written."""
        with contextlib.suppress(OSError):
            self._file.close()
        if self._temporary is not None:
            with contextlib.suppress(OSError):
                os.unlink(self._temporary)
            self._temporary = None


class _Compressed:
    def __init__(self, below: ByteSink, compression: str, workers: int) -> None:
        self._below = below
        self._held = bytearray()
        self._packer: Any
        if compression == "gzip":
            # wbits=31 writes a header with mtime 0 and no name.
            self._packer = zlib.compressobj(_GZIP_LEVEL, zlib.DEFLATED, 31)
        else:
            compressor = zstandard.ZstdCompressor(
                level=_ZSTD_LEVEL, threads=max(1, workers), write_checksum=True
            )
            self._packer = compressor.compressobj()

    def write(self, data: bytes) -> int:
        self._held += data
        if len(self._held) >= _BLOCK:
            whole = len(self._held) - len(self._held) % _BLOCK
            with memoryview(self._held) as view:
                for begin in range(0, whole, _BLOCK):
                    self._pass(self._packer.compress(view[begin : begin + _BLOCK]))
            del self._held[:whole]
        return len(data)

    def finish(self) -> None:
        self._pass(self._packer.compress(bytes(self._held)))
        self._pass(self._packer.flush())
        self._held.clear()
        self._below.finish()

    def _pass(self, packed: bytes) -> None:
        if packed:
            self._below.write(packed)


def compressed(below: ByteSink, compression: str | None, workers: int | None = None) -> ByteSink:
    """Put a compressor in front of a sink; `workers` changes no byte."""
    if compression is None:
        return below
    return _Compressed(below, compression, workers or os.cpu_count() or 1)


@contextlib.contextmanager
def _told(name: str) -> Iterator[None]:
    """Turn what the system refuses into an OutputError that names the file."""
    try:
        yield
    except (OutputError, BrokenPipeError):
        raise
    except OSError as error:
        said = system_words(error)
        raise OutputError(Message("writers.cannot_be_written", file=name, said=said)) from error


def _sync_folder(folder: str) -> None:
    # Not every system lets a folder be opened; the rename holds all the same.
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
