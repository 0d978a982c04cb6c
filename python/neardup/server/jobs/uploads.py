"""Receives papers from clients within limits, under a label instead of a path.

A file has no name on disk. The client's name is only shown to people; its extension is a hint.
"""

from __future__ import annotations

import asyncio
import os
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from typing import IO

from starlette.datastructures import FormData, UploadFile
from starlette.formparsers import MultiPartException
from starlette.requests import ClientDisconnect, Request

from neardup.base.messages import N_, Message
from neardup.readers.batch import show
from neardup.server.problems import ProblemError

__all__ = ["Upload", "damaged", "label_of", "read_form", "take"]

#: Longest label, in code points.
_LABEL = 120

#: Most fields besides the file, and the longest value, in bytes.
_FIELDS, _FIELD_BYTES = 16, 1 << 14

#: Path separators of all systems.
_SEPARATORS = re.compile(r"[/\\]")


@dataclass(frozen=True)
class Upload:
    """A received paper: an unnamed temporary file, its label, and its size in bytes."""

    file: IO[bytes]
    label: str
    size: int

    def close(self) -> None:
        """Close the file, which frees its space."""
        self.file.close()


def label_of(name: str | None) -> str:
    r"""Return a file's name as a label: no folders, no control characters, of limited length.

    Examples
    --------
    >>> label_of("../../etc/passwd"), label_of("C:\\papers\\论文.docx"), label_of("\0")
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


async def read_form(request: Request) -> FormData:
    """Receive a form with a file; raise 415 if it is none, 400 if it is truncated or damaged."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "multipart/form-data":
        detail = Message("The body must be multipart/form-data. Got no type instead.")
        if kind:
            detail = Message(
                "The body must be multipart/form-data. Got {found} instead.", found=show(kind)
            )
        raise ProblemError("Wrong media type", detail)
    try:
        return await request.form(max_files=1, max_fields=_FIELDS, max_part_size=_FIELD_BYTES)
    except (ValueError, LookupError, MultiPartException):
        # A charset that is none, and bytes that are not of it.
        raise damaged(N_("The form cannot be decoded.")) from None
    except ClientDisconnect:
        raise damaged(N_("The body was cut off.")) from None


def damaged(template: str) -> ProblemError:
    """Return the problem for a form that cannot be read."""
    return ProblemError("Damaged form", Message(template))


def _too_large(most: int) -> ProblemError:
    detail = Message("A paper must have at most {most:,} bytes.", most=most)
    return ProblemError("Paper too large", detail, "file")


async def take(
    form: FormData, field: str, *, max_bytes: int, others: Iterable[str] = ()
) -> tuple[Upload, dict[str, str]]:
    """Return the file of a form, and its other fields, each of which comes at most once.

    Raise 413 if the file has more than `max_bytes`; 422 if it is missing or empty, or if a field is
    unexpected or repeated.
    """
    allowed = set(others)
    fields: dict[str, str] = {}
    uploaded: UploadFile | None = None
    for name, value in form.multi_items():
        if isinstance(value, UploadFile):
            if name != field:
                raise _bad(name, N_("The field '{field}' must not be a file."), field)
            uploaded = value
        elif name == field:
            raise _bad(
                name, N_("The field '{field}' must be a file: give the part a file name."), field
            )
        elif name not in allowed or name in fields:
            if name in allowed:
                raise _bad(name, N_("The field '{field}' must occur only once."), field)
            raise _bad(name, N_("The field '{field}' is unknown."), field)
        else:
            fields[name] = value
    if uploaded is None:
        detail = Message("The field '{field}' must have a file.", field=field)
        raise ProblemError("No paper", detail, field)
    size = uploaded.size or 0
    if size > max_bytes:
        raise _too_large(max_bytes)
    if size == 0:
        raise ProblemError("Empty paper", Message("The file must not be empty."), field)
    file = await asyncio.to_thread(_kept, uploaded)
    return Upload(file, label_of(uploaded.filename), size), fields


def _bad(name: str, template: str, field: str) -> ProblemError:
    # Clients choose field names; a response names only fields that exist.
    shown = label_of(name)[:40]
    detail = Message(template, field=shown)
    return ProblemError("Wrong form", detail, shown or field)


def _kept(upload: UploadFile) -> IO[bytes]:
    """Return an unnamed file with a descriptor that outlives the form."""
    upload.file.flush()
    # Requesting the descriptor moves a file from memory to disk.
    file = os.fdopen(os.dup(upload.file.fileno()), "rb")
    file.seek(0)
    return file
