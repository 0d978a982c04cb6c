"""Decompressed bytes of files that can be opened repeatedly, since a run reads its input twice.

An input that can be read only once, such as a pipe, is first copied to an unnamed temporary file.
A damaged stream raises `DamagedStreamError` *after* all bytes before the damage were yielded.
"""

import bz2
import codecs
import io
import lzma
import os
import stat
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, BinaryIO, cast

import zstandard
from isal import isal_zlib

from neardup.base.confinement import open_file
from neardup.base.files import announce_wait, open_input, printable
from neardup.base.messages import Message, system_words
from neardup.exceptions import InputError
from neardup.readers.addresses import is_address, open_address
from neardup.readers.batch import make_refusal
from neardup.readers.formats import Format, detect_by_content, detect_by_name, detect_columnar

# Compressed input is read in small chunks, since a decompressor returns the whole
# content of a chunk at once: this bounds the memory for a hostile archive.
# The size is fixed, so that the batch size does not change where damage is detected.
_PIECE = 16 << 10
# What xz may need for its dictionary; its strongest preset needs 65 MiB.
_XZ_MEMORY = 256 << 20
_HEAD = 4096
_COPIED = 1 << 20


class DamagedStreamError(Exception):
    """The rest of a compressed stream cannot be read; the argument is the reason."""


class ChangedError(InputError):
    """A file has changed since it was read before."""

    def __init__(self, file: str) -> None:
        super().__init__(
            Message(
                "{file}: changed while it was being read. No output was written; run again.",
                code="changed_while_read",
                file=file,
            )
        )


class ReopenableFile:
    """A file whose content can be read several times.

    A file at an address is copied to an unnamed temporary file. A `handle`, which is read instead
    of the path, is copied, too.
    """

    #: Whether `open` opens what can be sought.
    _seeks = True

    def __init__(self, path: str, handle: IO[bytes] | None = None) -> None:
        self.path = path
        self.name = printable(path)
        self._spool: BinaryIO | None = None
        self._length = 0
        #: What tells whether two paths lead to one file; None for what is read once.
        self.identity: tuple[int, int] | str | None = None
        # Of all bytes (None), or of a part by its offset and length.
        self._checksums: dict[tuple[int, int] | None, int] = {}
        #: Stored bytes, and how many of them the latest `read_chunks` has read.
        self.size = self.done = 0
        if handle is not None:
            self._wait_for_terminal(handle)
            self._copy(handle)
        elif is_address(path):
            self.identity = path
            self._fetch(path)
        else:
            self._read_here(path)

    def _read_here(self, path: str) -> None:
        status = self._stat()
        if stat.S_ISREG(status.st_mode):
            self.identity = (status.st_dev, status.st_ino)
            self._state = _identify_state(status)
            self.size = status.st_size
            # Opened here, where an error is an error of the file.
            self.open().close()
            return
        with refuse_errors(self.name):
            pipe = open_input(path)
        with pipe:
            self._copy(pipe)

    def _fetch(self, address: str) -> None:
        with open_address(address) as (file, size):
            copied = self._copy(file)
        if size is not None and copied != size:
            raise InputError(
                Message(
                    "{file}: the transfer ended early: {found} of {size} bytes. Run it again.",
                    code="transfer_failed",
                    file=self.name,
                    found=copied,
                    size=size,
                )
            )

    def _wait_for_terminal(self, handle: IO[bytes]) -> None:
        """Tell a person at a terminal that neardup waits for records."""
        if not isinstance(handle, io.BufferedReader) or not handle.isatty():
            return
        message = Message(
            "reading records from the terminal, since the input is standard input. End them with "
            "Ctrl-D."
        )
        # An error here comes again in the copy, which reports it.
        with announce_wait(message), suppress(OSError):
            handle.peek(1)

    def _copy(self, handle: IO[bytes]) -> int:
        """Copy all bytes, and return their number."""

        def pieces() -> Iterator[bytes]:
            while data := self._read_raw(handle, _COPIED):
                yield data
                if len(data) < _COPIED and isinstance(handle, io.BufferedReader):
                    # At the end: another call would wait for a second Ctrl-D.
                    break

        self.size = self._keep(self._store(pieces()))
        return self.size

    def _store(self, pieces: Iterable[bytes]) -> BinaryIO:
        """Return an unnamed temporary file of bytes, at its beginning."""
        import tempfile

        spool = tempfile.TemporaryFile(prefix="neardup-")  # noqa: SIM115
        try:
            for data in pieces:
                spool.write(data)
            spool.seek(0)
        except OSError as error:
            spool.close()
            reason = Message(
                "cannot be stored for a second reading: {said}", said=system_words(error)
            )
            remedy = Message("Set TMPDIR to a folder with more space.")
            raise InputError(make_refusal(self.name, reason, None, remedy)) from error
        except BaseException:
            # A transfer may break off with an error of any kind.
            spool.close()
            raise
        return spool

    def _keep(self, spool: BinaryIO) -> int:
        """Read the bytes of a temporary file from now on; return their number."""
        # No caller has to close the input: the file is closed with its last user.
        weakref.finalize(self, spool.close)
        self._spool = spool
        self._length = spool.seek(0, os.SEEK_END)
        return self._length

    def unpack(self, compression: str, check: Callable[[int], None]) -> DamagedStreamError | None:
        """Read the unpacked bytes from now on, from a temporary file; return the damage, if any.

        `check` is called with the number of bytes so far, and may refuse them.
        """
        damage: list[DamagedStreamError] = []

        def pieces() -> Iterator[bytes]:
            unpacked = 0
            try:
                for chunk in self.read_chunks(compression, _COPIED):
                    unpacked += len(chunk)
                    check(unpacked)
                    yield chunk
            except DamagedStreamError as error:
                damage.append(error)

        self._keep(self._store(pieces()))
        return damage[0] if damage else None

    def _stat(self) -> os.stat_result:
        with refuse_errors(self.name):
            return os.stat(self.path)

    def open(self) -> BinaryIO:
        """Open the raw bytes at their beginning."""
        if self._spool is not None:
            return io.BufferedReader(Part(self._spool, 0, self._length), 1 << 16)
        with refuse_errors(self.name):
            return open_file(self.path)

    def _read_raw(self, handle: IO[bytes], size: int) -> bytes:
        with refuse_errors(self.name):
            return handle.read(size)

    def read_head(self) -> bytes:
        """Return the first bytes."""
        with self.open() as handle:
            return self._read_raw(handle, _HEAD)

    def detect_format(self, named: Format | None = None) -> Format:
        """Return the format; the content overrides the name."""
        detected = detect_by_content(self.read_head(), named or detect_by_name(self.path))
        if detected.compression is not None:
            try:
                inside = next(self.read_chunks(detected.compression, _HEAD), b"")
            except DamagedStreamError:
                return detected
            if columnar := detect_columnar(inside):
                return Format(columnar, detected.compression)
        return detected

    def check_unchanged(self) -> None:
        """Raise InputError if the file changed since it was opened."""
        if self._spool is None and _identify_state(self._stat()) != self._state:
            raise ChangedError(self.name)

    def check_same(self, part: tuple[int, int] | None, checksum: int) -> None:
        """Raise ChangedError if all bytes, or a part, differ from those that were read before."""
        if self._checksums.setdefault(part, checksum) != checksum:
            raise ChangedError(self.name)

    def read_chunks(self, compression: str | None, size: int) -> Iterator[bytes]:
        """Yield the decompressed content in chunks of at least `size` bytes, but for the last.

        DamagedStreamError is raised after all bytes before the damage; ChangedError at the end if
        an earlier call has read other bytes.
        """
        self.done = checksum = 0
        waiting: list[bytes] = []
        held = 0
        damage = None

        def stored(piece: int) -> Iterator[bytes]:
            nonlocal checksum
            with self.open() as handle:
                while data := self._read(handle, piece):
                    checksum = isal_zlib.crc32(data, checksum)
                    yield data

        try:
            for part in (
                stored(size if self._seeks else _PIECE)
                if compression is None
                else _unpack(stored(_PIECE), compression)
            ):
                waiting.append(part)
                held += len(part)
                if held >= size:
                    yield b"".join(waiting)
                    waiting, held = [], 0
        except DamagedStreamError as error:
            damage = error
        if held:
            yield b"".join(waiting)
        self.check_same(None, checksum)
        if damage is not None:
            raise damage

    def _read(self, handle: BinaryIO, size: int) -> bytes:
        try:
            read = handle.read(size)
        except OSError as error:
            where = Message(" ({said})", said=_describe(error))
            raise DamagedStreamError(
                Message("must be readable{where}", code="cannot_be_read", where=where)
            ) from error
        self.done += len(read)
        return read

    def open_unpacked(self, compression: str | None) -> BinaryIO:
        """Open the decompressed content as a seekable file, for formats that seek."""
        if compression is None and self._seeks:
            return _Parts(self)
        try:
            return self._store(self.read_chunks(compression, _COPIED))
        except DamagedStreamError as error:
            raise InputError(make_refusal(self.name, error.args[0])) from error


class _Parts(io.BufferedReader):
    """A file that is read in parts, which must have the same bytes whenever they are read."""

    def __init__(self, source: ReopenableFile) -> None:
        super().__init__(cast(io.BufferedReader, source.open()).detach())
        self._source = source

    def read(self, size: int | None = -1, /) -> bytes:
        offset = self.tell()
        data = super().read(size)
        self._source.check_same((offset, len(data)), isal_zlib.crc32(data))
        return data


class Part(io.RawIOBase):
    """A reader of a part of a file, with its own position; closes the file if it is `owned`."""

    def __init__(self, file: BinaryIO, begin: int, size: int, *, owned: bool = False) -> None:
        self._file = file
        self._begin = begin
        self._size = size
        self._owned = owned
        self._position = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        if whence == os.SEEK_CUR:
            offset += self._position
        elif whence == os.SEEK_END:
            offset += self._size
        self._position = offset
        return offset

    def read(self, size: int = -1, /) -> bytes:
        # A damaged length, which a caller may ask for, is not reserved in memory.
        left = max(0, self._size - self._position)
        self._file.seek(self._begin + self._position)
        data = self._file.read(left if size < 0 else min(size, left))
        self._position += len(data)
        return data

    def readinto(self, buffer: Any) -> int:
        data = self.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        if self._owned:
            self._file.close()
        super().close()


def read_unpacked(path: str | Path) -> bytes:
    """Return the unpacked content of one file."""
    source_file = ReopenableFile(os.fspath(path))
    return _read_all(source_file, source_file.detect_format().compression)


def read_stored(path: str | Path) -> bytes:
    """Return the content of one file as it is stored."""
    return _read_all(ReopenableFile(os.fspath(path)), None)


def _read_all(source_file: ReopenableFile, compression: str | None) -> bytes:
    try:
        return b"".join(source_file.read_chunks(compression, _COPIED))
    except DamagedStreamError as error:
        raise InputError(make_refusal(source_file.name, error.args[0])) from error


def _keep_bytes(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeDecodeError)
    wrong = error.object[error.start : error.end]
    # Alone they may be valid UTF-8.
    return (wrong.decode("ascii", "surrogateescape") + "\udcff", error.end)


codecs.register_error("neardup", _keep_bytes)


def recode(chunks: Iterable[bytes], encoding: str) -> Iterator[bytes]:
    """Yield text in UTF-8; what is invalid in the encoding is invalid UTF-8 then."""
    decoder = codecs.getincrementaldecoder(encoding)("neardup")
    for chunk in chunks:
        yield decoder.decode(chunk).encode("utf-8", "surrogateescape")
    yield decoder.decode(b"", final=True).encode("utf-8", "surrogateescape")


def _unpack(chunks: Iterable[bytes], compression: str) -> Iterator[bytes]:
    """Decompress the members of a stream."""
    begin, piece = _UNPACK[compression]
    member = None
    for chunk in chunks:
        for place in range(0, len(chunk), piece):
            rest = chunk[place : place + piece]
            while rest:
                if member is None:
                    # Archives may be padded with zeros, as on tapes.
                    rest = rest.lstrip(b"\0")
                    if not rest:
                        break
                    member = begin()
                try:
                    out = member.decompress(rest)
                except _UNPACK_ERRORS as error:
                    raise DamagedStreamError(
                        Message("must be valid {kind} data", code="damaged_file", kind=compression)
                    ) from error
                rest = member.unused_data if member.eof else b""
                member = None if member.eof else member
                if out:
                    yield out
    if member is not None:
        raise DamagedStreamError(
            Message("must be a complete {kind} stream", code="damaged_file", kind=compression)
        )


_UNPACK_ERRORS: Any = (isal_zlib.error, zstandard.ZstdError, lzma.LZMAError, OSError)
#: What begins to decompress, and how much it gets at a time: four bytes of zstd may be 128 KiB.
_UNPACK: dict[str, tuple[Callable[[], Any], int]] = {
    "gzip": (lambda: isal_zlib.decompressobj(wbits=31), _PIECE),
    "zstd": (lambda: zstandard.ZstdDecompressor().decompressobj(), 512),
    "xz": (lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ, _XZ_MEMORY), 512),
    "bzip2": (bz2.BZ2Decompressor, 512),
}


def _identify_state(status: os.stat_result) -> tuple[int, int, int]:
    return status.st_ino, status.st_size, status.st_mtime_ns


@contextmanager
def refuse_errors(name: str) -> Iterator[None]:
    """Turn a system error into an InputError that names the file."""
    try:
        yield
    except FileNotFoundError as error:
        reason = Message("no such file or directory", code="no_such_file")
        raise InputError(make_refusal(name, reason)) from error
    except OSError as error:
        raise InputError(make_refusal(name, _describe(error), code="cannot_be_read")) from error


def _describe(error: OSError) -> Message:
    return Message("{said:inside}", said=system_words(error))
