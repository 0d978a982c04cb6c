"""Archives, .zip and .tar, whose files are read as the files of a folder.

A file is read in place. Only a compressed .tar, which cannot be sought, is unpacked, to an unnamed
temporary file. The unpacked size of an archive is checked before any file in it is read.
"""

from __future__ import annotations

import contextlib
import copy
import errno
import io
import os
import posixpath
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from functools import lru_cache, partial
from typing import IO, BinaryIO, cast

from neardup.base.files import printable
from neardup.base.messages import Message
from neardup.exceptions import InputError
from neardup.readers.batch import Problem, make_refusal
from neardup.readers.document_text import refuse
from neardup.readers.formats import is_archive
from neardup.readers.streams import Part, ReopenableFile, refuse_errors

#: Most members of an archive that is unpacked as a whole: a Word document, or papers.
MEMBERS = 20_000
#: An archive beyond 16 MiB that unpacks to more than this many times its size is a bomb.
_SMALL, _MAX_RATIO = 16 << 20, 200
_BLOCK = 1 << 20
#: Bytes at the end of a .zip, without its comment.
_ZIP_END = 22

#: The flags of an encrypted member, and of a name in UTF-8.
_ENCRYPTED, _UTF8 = 1, 0x800
#: Other methods unpack without a limit.
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_DAMAGED = (zipfile.BadZipFile, ValueError, OSError, NotImplementedError, EOFError)


class Archive:
    """An opened archive: a call that opens each of its files, by name; of one name, the last.

    `others` are links, pipes and devices; `problem` says why there may be more files. InputError if
    the archive is a bomb, or so damaged that none of its files is known.
    """

    def __init__(self, path: str) -> None:
        self.files: dict[str, Callable[[], ReopenableFile]] = {}
        self.others: list[str] = []
        self.problem: Problem | None = None
        self._file = file = ReopenableFile(path)
        damage = None
        if compression := file.detect_format().compression:
            damage = file.unpack(compression, partial(_check_ratio, file.name, file.size))
        reason = Message("must be a whole archive (.zip or .tar)", code="damaged_file")
        with file.open() as opened:
            is_zip = opened.read(2) == b"PK"
            try:
                is_whole = self._add_zip(opened) if is_zip else self._add_tar(opened)
            except InputError:
                raise
            except (tarfile.TarError, *_DAMAGED) as error:
                is_whole = False
                if not self.files:
                    content = Message("a damaged file")
                    remedy = Message("Download or copy it again.")
                    raise InputError(make_refusal(file.name, reason, content, remedy)) from error
        if damage is not None or not is_whole:
            content = Message.counted(
                "1 file and then damaged data",
                "{count} files and then damaged data",
                count=len(self.files),
            )
            reason = reason if damage is None else damage.args[0]
            self.problem = Problem(file.name, None, None, reason, content)

    def _add_zip(self, file: BinaryIO) -> bool:
        """Add what a .zip has; return whether there is nothing else in the file."""
        members = list_zip_members(file, self._file.name)
        for member in members:
            name = _normalize_path(decode_name(member))
            if stat.S_ISLNK(member.external_attr >> 16):
                self.others.append(name)
            elif not member.is_dir():
                self._add(name, member.header_offset, member.file_size, member)
        # The last directory of joined archives names the files of the last one only.
        return min((m.header_offset for m in members), default=0) == 0 and _ends_as_zip(file)

    def _add_tar(self, file: BinaryIO) -> bool:
        """Add what a .tar has, or several that were joined; return whether they are whole.

        One that was cut between two files differs from a whole one in the zeros at its end.
        """
        length = file.seek(0, io.SEEK_END)
        begin: int | None = 0
        while begin is not None:
            file.seek(begin)
            end = self._add_one_tar(file, length)
            if end is None:
                return False
            file.seek(end)
            zeros = file.read(tarfile.BLOCKSIZE)
            if not zeros or zeros.strip(b"\0"):
                return False
            begin = _find_next_block(file, end + len(zeros))
        return True

    def _add_one_tar(self, file: BinaryIO, length: int) -> int | None:
        """Add what a .tar has from here on; return where it ends, None inside of a file."""
        encoding, errors = "utf-8", "surrogateescape"
        with tarfile.open(fileobj=file, mode="r:", encoding=encoding, errors=errors) as tar:
            while (member := tar.next()) is not None:
                # It would remember them all.
                tar.members = []  # type: ignore[attr-defined]
                name = _normalize_path(_decode(member.name.encode(encoding, errors), member.name))
                if not member.isreg() or member.issparse():
                    self.others += [] if member.isdir() else [name]
                elif member.offset_data + member.size > length:
                    return None
                else:
                    self._add(name, member.offset_data, member.size)
            return tar.offset

    def _add(self, name: str, begin: int, size: int, member: zipfile.ZipInfo | None = None) -> None:
        path = f"{self._file.path}/{name}"
        self.files[name] = partial(_ArchivedFile, self._file, path, begin, size, member)


def find_archive(path: str) -> str | None:
    """Return the archive that a path leads into, such as ``crawl.zip/a/b.txt``, or None."""
    parts = path.split("/")
    above = ("/".join(parts[:count]) for count in range(1, len(parts)))
    return next((path for path in above if is_archive(path) and os.path.isfile(path)), None)


def open_file(path: str) -> ReopenableFile:
    """Open a file, or one in an archive by its path there."""
    archive = find_archive(path)
    if archive is not None:
        files = _open_archive(archive, os.stat(archive).st_mtime_ns).files
        if opener := files.get(path[len(archive) + 1 :]):
            return opener()
    return ReopenableFile(path)


@lru_cache(1)
def _open_archive(path: str, changed: int) -> Archive:
    """Open an archive, whose files are often opened one after the other."""
    del changed
    return Archive(path)


def _find_next_block(file: BinaryIO, at: int) -> int | None:
    """Return where the next block of a .tar begins that is not all zeros, None at the end."""
    file.seek(at)
    while data := file.read(_BLOCK):
        rest = data.lstrip(b"\0")
        if rest:
            return at + (len(data) - len(rest)) // tarfile.BLOCKSIZE * tarfile.BLOCKSIZE
        at += len(data)
    return None


def _ends_as_zip(file: BinaryIO) -> bool:
    """Return whether a .zip ends with its directory; zeros after it are padding."""
    file.seek(max(0, file.seek(0, io.SEEK_END) - _ZIP_END - 0xFFFF))
    tail = file.read()
    at = tail.rfind(b"PK\5\6")
    comment = int.from_bytes(tail[at + _ZIP_END - 2 : at + _ZIP_END], "little")
    return at >= 0 and not tail[at + _ZIP_END + comment :].strip(b"\0")


class _ArchivedFile(ReopenableFile):
    """A file in an archive, from a place on; of a zip with its entry in the directory."""

    def __init__(
        self,
        archive: ReopenableFile,
        path: str,
        begin: int,
        size: int,
        member: zipfile.ZipInfo | None,
    ) -> None:
        self.path = path
        self.name = printable(path)
        self.identity = f"{archive.identity}/{self.name}"
        self.size, self.done = size, 0
        self._checksums = {}
        self._archive, self._begin, self._member = archive, begin, member
        self._seeks = member is None
        if member is not None:
            _check_readable(member, self.name)

    def open(self) -> BinaryIO:
        file = self._archive.open()
        if self._member is None:
            part = Part(file, self._begin, self.size, owned=True)
            return io.BufferedReader(part, 1 << 16)
        with refuse_errors(self.name):
            file.seek(self._begin)
            header = file.read(30)
            if len(header) < 30 or not header.startswith(b"PK\3\4"):
                file.close()
                raise _make_damage_error()
            lengths = header[26:28], header[28:30]
            file.seek(sum(int.from_bytes(length, "little") for length in lengths), io.SEEK_CUR)
        return cast(BinaryIO, _MemberReader(file, "r", self._member, close_fileobj=True))

    def check_unchanged(self) -> None:
        self._archive.check_unchanged()


class _MemberReader(zipfile.ZipExtFile):
    """The bytes of a member of a zip; damage is a system error, as of any file."""

    def read(self, n: int | None = -1) -> bytes:
        try:
            return super().read(n)
        except (zlib.error, zipfile.BadZipFile, EOFError) as error:
            raise _make_damage_error() from error


def _make_damage_error() -> OSError:
    return OSError(errno.EIO, "Damaged data")


def list_zip_members(file: IO[bytes], name: str) -> list[zipfile.ZipInfo]:
    """Return the members of a zip; refuse a bomb. BadZipFile if its directory cannot be read."""
    size = file.seek(0, io.SEEK_END)
    try:
        with zipfile.ZipFile(file) as archive:
            members = archive.infolist()
    except _DAMAGED as error:
        raise zipfile.BadZipFile(str(error)) from error
    _check_ratio(name, size, sum(member.file_size for member in members))
    return members


def check_zip(
    file: IO[bytes], name: str, max_bytes: int, remedy: str = ""
) -> list[zipfile.ZipInfo]:
    """Return the members of a zip that is to be unpacked as a whole.

    Refused if it has more than `MEMBERS` members, one that cannot be read, or more than `most`
    bytes when unpacked. BadZipFile if it is damaged.
    """
    file.seek(0)
    count = sum(block.count(b"PK\1\2") for block in iter(lambda: file.read(_BLOCK), b""))
    if count > MEMBERS:
        reason = Message("must have at most {most} parts", code="too_large", most=MEMBERS)
        refuse(name, reason, str(count))
    members = list_zip_members(file, name)
    total = sum(member.file_size for member in members)
    if total > max_bytes:
        reason = Message("must unpack to at most {most} bytes", code="too_large", most=max_bytes)
        refuse(name, reason, str(total), remedy)
    for member in members:
        _check_readable(member, name)
    # `ZipFile.read` unpacks up to 2 GiB of a member before it cuts the rest off.
    try:
        with zipfile.ZipFile(file) as archive:
            is_honest = all(_unpacks_as_stated(archive, member) for member in members)
    except Exception as error:  # A decompressor may raise anything for damaged data.
        raise zipfile.BadZipFile(str(error)) from error
    if not is_honest:
        raise zipfile.BadZipFile("a damaged file")
    return members


def _unpacks_as_stated(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bool:
    """Return whether a member has no more bytes than its directory entry says."""
    probe = copy.copy(member)
    probe.file_size += 1
    size = 0
    with archive.open(probe) as part:
        while block := part.read(_BLOCK):
            size += len(block)
    return size <= member.file_size


def _check_ratio(name: str, size: int, unpacked: int) -> None:
    """Refuse what unpacks to far more than its size."""
    if unpacked > _SMALL and unpacked > _MAX_RATIO * size:
        reason = Message(
            "must unpack to at most {most} times its size", code="too_large", most=_MAX_RATIO
        )
        content = Message("{count} bytes from {size}", count=unpacked, size=size)
        refuse(name, reason, content, Message("It may be a zip bomb."))


def _check_readable(member: zipfile.ZipInfo, name: str) -> None:
    """Refuse a member with a password, or of a method that no reader reads."""
    if member.flag_bits & _ENCRYPTED:
        reason = Message("must be readable without a password", code="encrypted")
        refuse(name, reason, Message("an encrypted archive"))
    if member.compress_type not in _METHODS:
        reason = Message("must be compressed by Deflate or not at all", code="not_a_document")
        refuse(name, reason, Message("method {number}", number=member.compress_type))


def decode_name(member: zipfile.ZipInfo) -> str:
    """Return the name of a file in a zip; without a flag it may be in UTF-8 or GBK."""
    if not member.flag_bits & _UTF8:
        with contextlib.suppress(UnicodeError):
            return _decode(member.filename.encode("cp437"), member.filename)
    return member.filename


def _decode(raw: bytes, otherwise: str) -> str:
    for encoding in ("utf-8", "gb18030"):
        with contextlib.suppress(UnicodeError):
            return raw.decode(encoding)
    return otherwise


def _normalize_path(name: str) -> str:
    r"""Return a name as a path in the archive, as Unix writes it.

    Examples
    --------
    >>> [_normalize_path(path) for path in ("./a/b.txt", "../../b.txt", "C:\\a\\b.txt")]
    ['a/b.txt', 'b.txt', 'C:/a/b.txt']
    """
    return posixpath.normpath("/" + name.replace("\\", "/")).lstrip("/")
