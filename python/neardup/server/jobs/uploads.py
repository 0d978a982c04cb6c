"""Receives papers from clients within limits, under a label instead of a path.

A file has no name on disk. The client's name is only shown to people; its extension is a hint.
Several papers are one file: the archive that was sent, or one that is made of them.
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import tempfile
import unicodedata
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import IO

from starlette.datastructures import UploadFile

from neardup.base.messages import N_, Message
from neardup.readers.archives import check_zip, decode_name
from neardup.readers.document_text import UnreadableFileError
from neardup.server.problems import ProblemError

#: Longest label, in code points.
_LABEL = 120

#: Most papers in an upload, and most bytes that an archive of them unpacks to.
PAPERS, _UNPACKED = 200, 256 << 20

#: The kind of problem with an upload without a byte.
EMPTY = "Empty paper"

#: Files that systems and programs add to folders.
_NO_PAPER = re.compile(r"(^|[/\\])(\.[^./\\]|~\$|__MACOSX[/\\]|Thumbs\.db$|desktop\.ini$)")

#: Path separators of all systems.
_SEPARATORS = re.compile(r"[/\\]")


@dataclass(frozen=True)
class Upload:
    """A received paper: an unnamed temporary file, its label, and its size in bytes.

    The file is an archive if it has `labels`, one for each paper.
    """

    file: IO[bytes]
    label: str
    size: int
    labels: tuple[str, ...] = ()

    def open_papers(self) -> Iterator[tuple[str, IO[bytes]]]:
        """Yield the label and the file of each paper; one of an archive is open until the next."""
        if not self.labels:
            yield self.label, self.file
            return
        with zipfile.ZipFile(self.file) as archive:
            for label, member in zip(self.labels, _select_papers(archive.infolist()), strict=True):
                with tempfile.TemporaryFile() as file:
                    with archive.open(member) as packed:
                        shutil.copyfileobj(packed, file)
                    file.flush()
                    yield label, file

    def close(self) -> None:
        """Close the file, which frees its space."""
        self.file.close()


def make_label(name: str | None) -> str:
    r"""Return a file's name as a label: no folders, no control characters, of limited length.

    Examples
    --------
    >>> make_label("../../etc/passwd"), make_label("C:\\papers\\论文.docx"), make_label("\0")
    ('passwd', '论文.docx', 'paper')
    """
    last = _SEPARATORS.split(name or "")[-1]
    # Removes invisible characters that have an effect: controls, direction marks, lone surrogates.
    seen = "".join(character for character in last if unicodedata.category(character)[0] != "C")
    label = " ".join(unicodedata.normalize("NFC", seen).split())
    if len(label) > _LABEL:
        stem, extension = os.path.splitext(label)
        extension = extension[:10]
        label = stem[: _LABEL - len(extension) - 1] + "…" + extension
    return label if label.strip(". ") else "paper"


def make_path(name: str | None) -> str:
    r"""Return the label of a file in a folder or an archive, with the names of its folders.

    Examples
    --------
    >>> make_path("一班/张三.docx"), make_path("../..\\C:\\a.txt"), make_path("")
    ('一班/张三.docx', 'a.txt', 'paper')
    """
    *folders, file = _SEPARATORS.split(name or "")
    # No way up, and no drive.
    named = [make_label(one) for one in folders if one.strip(". ") and not one.endswith(":")]
    path = make_label(file)
    for folder in reversed(named):
        if len(folder) + 1 + len(path) > _LABEL:
            break
        path = f"{folder}/{path}"
    return path


def _make_size_error(limit: int) -> ProblemError:
    detail = Message("A paper must have at most {most:,} bytes.", most=limit)
    return ProblemError(413, "Paper too large", detail, "file")


async def receive_uploads(
    uploads: Sequence[UploadFile], field: str, size: int, *, max_bytes: int, several: bool = False
) -> Upload:
    """Return the files of a field, which outlive the form.

    If `several`, there may be several files, or an archive of them. Raise 413 if all files of the
    form, of `size`, have more than `max_bytes`. Raise 422 if the field has only empty files or
    none, or an archive is damaged, encrypted or too large.
    """
    if several:
        # A field without a file has one without a name.
        uploads = [one for one in uploads if one.filename and not _NO_PAPER.search(one.filename)]
    elif len(uploads) > 1:
        detail = Message("The field '{field}' must occur only once.", field=field)
        raise ProblemError(422, "Wrong form", detail, field)
    if not uploads:
        detail = Message("The field '{field}' must have a file.", field=field)
        raise ProblemError(422, "No paper", detail, field)
    if size > max_bytes:
        raise _make_size_error(max_bytes)
    total = sum(upload.size or 0 for upload in uploads)
    label = make_label(", ".join(make_label(upload.filename) for upload in uploads))
    if total == 0:
        raise make_empty_error(label, field)
    is_archive = several and (len(uploads) > 1 or label.lower().endswith(".zip"))

    def receive() -> Upload:
        file = _keep_file(uploads[0]) if len(uploads) == 1 else _pack_files(uploads)
        try:
            return Upload(file, label, total, _list_labels(file, label) if is_archive else ())
        except BaseException:
            file.close()
            raise

    return await asyncio.to_thread(receive)


def make_empty_error(label: str, field: str) -> ProblemError:
    """Return the problem of a file without a byte."""
    return ProblemError(422, EMPTY, Message("{file}: the file is empty.", file=label), field)


def _keep_file(upload: UploadFile) -> IO[bytes]:
    """Return an unnamed file with a descriptor that outlives the form."""
    upload.file.flush()
    # Requesting the descriptor moves a file from memory to disk.
    file = os.fdopen(os.dup(upload.file.fileno()), "rb")
    file.seek(0)
    return file


def _pack_files(uploads: Iterable[UploadFile]) -> IO[bytes]:
    """Return an archive of files."""
    file = tempfile.TemporaryFile()  # noqa: SIM115
    with zipfile.ZipFile(file, "w") as archive:
        for upload in uploads:
            entry = zipfile.ZipInfo(make_path(upload.filename))
            with archive.open(entry, "w", force_zip64=True) as member:
                upload.file.seek(0)
                shutil.copyfileobj(upload.file, member)
    return file


def _list_labels(file: IO[bytes], label: str) -> tuple[str, ...]:
    """Return the labels of the papers in an archive, no two equal; refuse what is not sound."""
    try:
        members = _select_papers(check_zip(file, label, _UNPACKED))
    except UnreadableFileError as error:
        raise ProblemError(422, "Wrong form", error.message) from None
    except zipfile.BadZipFile:
        raise _make_archive_error(N_("The archive must be a whole .zip file.")) from None
    if not members:
        raise _make_archive_error(N_("The archive must contain papers."))
    if len(members) > PAPERS:
        raise _make_archive_error(N_("There must be at most {most:,} papers at once."), PAPERS)
    labels: dict[str, None] = {}
    for member in members:
        label = first = make_path(decode_name(member))
        stem, ending = os.path.splitext(first)
        number = 1
        while label in labels:
            number += 1
            label = f"{stem} ({number}){ending}"
        labels[label] = None
    return tuple(labels)


def _make_archive_error(template: str, limit: int = 0) -> ProblemError:
    return ProblemError(422, "Wrong form", Message(template, most=limit))


def _select_papers(members: Sequence[zipfile.ZipInfo]) -> Sequence[zipfile.ZipInfo]:
    """Return the papers in an archive."""
    return [one for one in members if not one.is_dir() and not _NO_PAPER.search(decode_name(one))]
