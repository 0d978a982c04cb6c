"""The text of one file: plain text, Markdown, HTML, Word or PDF.

A file's first bytes decide its format, then its extension. A file is refused in one line, and none
is read partly without a note.
"""

from __future__ import annotations

import io
import re
import zipfile
from bisect import bisect_left, bisect_right
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

from neardup.base.messages import N_, Message
from neardup.base.validation import check_kind, check_path, check_string
from neardup.readers.archives import list_zip_members, open_file
from neardup.readers.batch import NAME_ENCODING, show
from neardup.readers.document_text import (
    FileText,
    Heading,
    HiddenText,
    Limits,
    Paragraphs,
    UnreadableFileError,
    clean_text,
    join_ranges,
    refuse,
)
from neardup.readers.encodings import Encodings, make_invalid_reason
from neardup.readers.formats import SIGNATURES
from neardup.readers.streams import DamagedStreamError, ReopenableFile

__all__ = [
    "FileText",
    "Heading",
    "HiddenText",
    "Limits",
    "UnreadableFileError",
    "read_bytes",
    "read_contents",
    "read_file",
    "read_record",
]

_CHUNK = 1 << 20
_MARKDOWN = (".md", ".markdown")
_HTML = (".html", ".htm", ".xhtml")
_ATX = re.compile(r"^ {0,3}(#{1,6})[ \t]+(.+?)[ \t]*#*[ \t]*$", re.M)
_FENCE = re.compile(r"^ {0,3}(```|~~~)", re.M)
_BINARY = re.compile("[\x01-\x08\x0e-\x1a\x1c-\x1f\x7f]")

_DOCUMENT = N_("must be text, HTML, Word (.docx) or PDF")
_DOCX = N_("Open it in Word, WPS or LibreOffice and save it as .docx.")
_SAVE_AGAIN = N_("Open it in its own program, and save it in UTF-8, as .docx or .pdf.")
#: Beyond this share of garbled text, a file is refused.
_TOO_GARBLED = 0.5
_RECOGNIZE = N_("Recognize the text first, for example with ocrmypdf.")
_PICTURE, _ARCHIVE = N_("a picture ({kind})"), N_("an archive ({kind})")
_UNPACK = N_("Unpack it, and name the files or their folder.")
_COMPRESSED, _UNPACK_FIRST = N_("compressed data ({kind})"), N_("Unpack it first.")
#: Other files by their first bytes: name, kind, and the way out.
_OTHERS = (
    (b"{\\rtf", N_("an RTF document"), "", _DOCX),
    (b"\x89PNG", _PICTURE, "PNG", _RECOGNIZE),
    (b"\xff\xd8\xff", _PICTURE, "JPEG", _RECOGNIZE),
    (b"II*\0", _PICTURE, "TIFF", _RECOGNIZE),
    (b"MM\0*", _PICTURE, "TIFF", _RECOGNIZE),
    *((begin, _COMPRESSED, kind, _UNPACK_FIRST) for kind, begin in SIGNATURES.items()),
    (b"Rar!", _ARCHIVE, "RAR", _UNPACK),
    (b"7z\xbc\xaf", _ARCHIVE, "7z", _UNPACK),
)
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")


def read_file(
    path: str | Path, *, limits: Limits | None = None, encoding: str | None = None
) -> FileText:
    """Read the text of one file, or of one in an archive (``crawl.zip/a/b.txt``).

    Parameters
    ----------
    path : str or Path
        A .txt, .md, .html, .docx or .pdf file; each may be compressed (.gz,
        .zst, .xz, .bz2).
    limits : Limits, optional
        By default ``Limits()``.
    encoding : str, optional
        Encoding of plain text, Markdown and HTML, such as gb18030. By default detected.

    Returns
    -------
    FileText

    Raises
    ------
    InputError
        If there is no such file; as UnreadableFileError if it has no readable text
        or exceeds the limits.
    MissingDependencyError
        If the package that reads the format is not installed.

    Notes
    -----
    Memory is about ten times the size of the file, for Word documents ten times their XML.
    Speed is about 5 MB of text per second for HTML and 300 pages per second for PDF;
    other formats are faster.

    Examples
    --------
    >>> found = read_file("thesis.docx")  # doctest: +SKIP
    >>> [found.text[h.begin : h.end] for h in found.headings]  # doctest: +SKIP
    ['Introduction', 'Methods', 'Results']
    """
    source_file = open_file(check_path(path, "path"))
    _check(limits)
    compression = source_file.detect_format().compression
    data = read_contents(source_file, compression, limits or Limits())
    file = read_record(data, source_file.name, limits=limits, encodings=Encodings(encoding))
    return _clean(file)


def read_contents(
    source_file: ReopenableFile,
    compression: str | None,
    limits: Limits,
    max_text: int | None = None,
) -> bytes:
    """Return the unpacked bytes of a file, or refuse it if they exceed the limits.

    `max_text` limits a record of a collection that is its own text, unlike a PDF or a .docx.
    """
    limit = limits.max_bytes if compression is None else limits.max_unpacked_bytes
    chunks: list[bytes] = []
    held = 0
    try:
        for chunk in source_file.read_chunks(compression, _CHUNK):
            if not chunks and (chunk.startswith(_ZIP) or _is_pdf(chunk)):
                max_text = None
            held += len(chunk)
            if max_text is not None and held > max_text:
                reason = Message("must have at most {most:,} bytes", code="too_long", most=max_text)
                remedy = Message("Raise {given[max_text]}.")
                refuse(source_file.name, reason, Message("more"), remedy)
            if held > limit:
                _refuse_size(source_file.name, limit, packed=compression is not None)
            chunks.append(chunk)
    except DamagedStreamError as error:
        refuse(source_file.name, error.args[0], Message("a damaged file"))
    return b"".join(chunks)


def _refuse_size(name: str, limit: int, size: str | None = None, packed: bool = False) -> NoReturn:
    if packed:
        reason = Message("must unpack to at most {most} bytes", code="too_large", most=limit)
    else:
        reason = Message("must have at most {most} bytes", code="too_large", most=limit)
    remedy = Message("Raise {limit}.", limit="max_unpacked_bytes" if packed else "max_bytes")
    refuse(name, reason, size or Message("more"), remedy)


def read_bytes(data: bytes, name: str, *, limits: Limits | None = None) -> FileText:
    """Read the text of a file that is in memory.

    Parameters
    ----------
    data : bytes
        The content of the file, not compressed.
    name : str
        Name in messages; its extension tells Markdown from plain text.
    limits : Limits, optional
        By default ``Limits()``.

    Returns
    -------
    FileText

    Raises
    ------
    UnreadableFileError
        If it has no readable text or exceeds the limits.
    MissingDependencyError
        If the package that reads the format is not installed.

    Examples
    --------
    >>> found = read_bytes("# 前言\\r\\n今天下雨。".encode(), "a.md")
    >>> found.text, found.headings
    ('# 前言\\n今天下雨。', (Heading(begin=2, end=4, level=1),))
    """
    _check(limits, data, name)
    limit = (limits or Limits()).max_bytes
    if len(data) > limit:
        _refuse_size(name, limit, str(len(data)))
    return _clean(read_record(data, name, limits=limits))


def _check(limits: Any, data: Any = b"", name: Any = "") -> None:
    check_kind(data, "data", bytes, N_("bytes"))
    check_string(name, "name")
    if limits is not None:
        check_kind(limits, "limits", Limits, N_("Limits or None"))


def _clean(file: FileText) -> FileText:
    if file.format not in ("text", "markdown"):
        return file
    text = clean_text(file.text)
    nuls = file.text.count("\0")
    notes = file.notes
    if nuls:
        notes = (
            *notes,
            Message.counted(
                "{count} NUL character is left out.",
                "{count} NUL characters are left out.",
                count=nuls,
            ),
        )
    headings = _find_markdown_headings(text) if file.format == "markdown" else ()
    return replace(file, text=text, headings=headings, notes=notes)


def read_record(
    data: bytes,
    name: str,
    *,
    limits: Limits | None = None,
    encodings: Encodings | None = None,
) -> FileText:
    """Read a file as a record of a collection, like `read_bytes`.

    Line ends and NULs of plain text and Markdown stay: a kept record is written as it was read.
    """
    _check(limits, data, name)
    if encodings is not None:
        check_kind(encodings, "encodings", Encodings, N_("Encodings or None"))
    bounds = limits or Limits()
    if _is_pdf(data):
        from neardup.readers.pdf import OCR, read_pdf

        file = _make_file_text("pdf", *read_pdf(data, name, bounds))
        remedy = Message("Recognize the text first, for example: {command}", command=OCR)
        return _check_language(file, name, remedy)
    if data.startswith(_ZIP):
        return _check_language(_read_archive(data, name, bounds), name, Message(_SAVE_AGAIN))
    _refuse_others(data, name)
    return _check_language(
        _read_text(data, name, encodings or Encodings()), name, Message(_SAVE_AGAIN)
    )


def _check_language(file: FileText, name: str, remedy: str) -> FileText:
    """Return a file whose text is in a language, with a note if parts are not; refuse others."""
    # Imports NumPy.
    from neardup.readers.garbling import measure_garbling

    garbling = measure_garbling(file.text)
    if not garbling.share:
        return file
    parts = {"share": garbling.share, "kind": Message(garbling.kind)}
    if garbling.share > _TOO_GARBLED:
        content = Message("an unusable text layer ({kind}, in {share:.1%} of it)", **parts)
        refuse(name, Message("must have text in a language", code="garbled"), content, remedy)
    note = Message("{share:.1%} of the text is in no language ({kind}).", **parts)
    if file.pages:
        # A long span is on several pages.
        on = {
            page
            for begin, end in garbling.spans
            for page in range(bisect_right(file.pages, begin), bisect_left(file.pages, end) + 1)
        }
        note = Message(
            "{share:.1%} of the text is in no language ({kind}). Pages: {pages}.",
            **parts,
            pages=join_ranges(on),
        )
    letters = (span for span in garbling.spans if any(map(str.isalnum, file.text[slice(*span)])))
    notes = (*file.notes, note)
    return replace(file, notes=notes, garbled=garbling.share, garbled_spans=tuple(letters))


def _is_pdf(data: bytes) -> bool:
    head = data[:1024]
    return head.lstrip().startswith(b"%PDF-") or b"\n%PDF-" in head


def _make_file_text(format: str, paragraphs: Paragraphs, notes: tuple[Message, ...]) -> FileText:
    text = paragraphs.text
    length = len(text)
    if left_out := sum(part.count for part in paragraphs.hidden if part.begin == part.end):
        note = Message.counted(
            "{count} character of hidden text is left out.",
            "{count} characters of hidden text are left out.",
            count=left_out,
        )
        notes = (*notes, note)
    return FileText(
        text,
        format,
        headings=tuple(paragraphs.headings),
        pages=tuple(min(page, length) for page in paragraphs.pages),
        notes=notes,
        quoted=tuple(paragraphs.quoted),
        # What follows the last paragraph has no place of its own.
        hidden=tuple(
            replace(part, begin=min(part.begin, length), end=min(part.end, length))
            for part in paragraphs.hidden
        ),
        properties=paragraphs.properties,
        pictures=tuple(min(picture, length) for picture in paragraphs.pictures),
        problems=tuple(paragraphs.problems),
    )


def _read_archive(data: bytes, name: str, limits: Limits) -> FileText:
    try:
        names = {member.filename for member in list_zip_members(io.BytesIO(data), name)}
    except zipfile.BadZipFile:
        # The directory is at the end of the archive: a truncated file lacks it.
        if _is_named_word(name):
            _refuse_damaged_word(name, Message("a damaged file"))
        _refuse_other(name, N_("a damaged archive (zip)"))
    if any(inside.startswith("word/") for inside in names):
        from neardup.readers.docx import read_docx

        return _make_file_text("docx", read_docx(data, name, limits), ())
    kinds = (
        ("content.xml", N_("an OpenDocument file"), "", _DOCX),
        ("xl/workbook.xml", N_("an Excel workbook"), "", N_("Export it as .csv.")),
        ("ppt/presentation.xml", N_("a PowerPoint presentation"), "", N_("Export it as .pdf.")),
        ("META-INF/container.xml", N_("an EPUB book"), "", N_("Convert it to .html or .pdf.")),
    )
    other = ("", _ARCHIVE, "zip", _UNPACK)
    _, *refusal = next((kind for kind in kinds if kind[0] in names), other)
    return _refuse_other(name, *refusal)


def _is_named_word(name: str) -> bool:
    return name.lower().endswith((".docx", ".docm"))


def _refuse_damaged_word(name: str, content: str) -> NoReturn:
    reason = Message(
        "must be a whole Word document{where}", code="damaged_file", where=Message(" (.docx)")
    )
    remedy = Message("Download or copy it again; or let Word repair it.")
    refuse(name, reason, content, remedy)


def _refuse_others(data: bytes, name: str) -> None:
    if data.startswith(_OLE):
        if _ENCRYPTED in data:
            refuse(
                name,
                Message("must be readable without a password", code="encrypted"),
                Message("an encrypted document"),
                Message("Open it in Word and save it without a password."),
            )
        _refuse_other(name, N_("a document of Word before 2007 (.doc)"), "", _DOCX)
    for begin, *refusal in _OTHERS:
        if data.startswith(begin):
            _refuse_other(name, *refusal)


def _refuse_other(name: str, content: str, kind: str = "", remedy: str = "") -> NoReturn:
    """Raise the error of a file that is not text."""
    refuse(
        name,
        Message(_DOCUMENT, code="not_a_document"),
        Message(content, kind=kind) if kind else Message(content),
        Message(remedy) if remedy else "",
    )


def _read_text(data: bytes, name: str, encodings: Encodings) -> FileText:
    from neardup.readers.html import find_declared_encoding, is_html, read_html

    lower = name.lower()
    named_html = lower.endswith(_HTML)
    marked_up = data[:1024].lstrip()[:1] == b"<"
    declared = find_declared_encoding(data) if named_html or marked_up else None
    try:
        decoded = encodings.decode(data, declared=declared)
    except UnicodeDecodeError:
        refuse(name, make_invalid_reason(encodings.named or "", data), None, Message(NAME_ENCODING))
    if _is_named_word(name) and not decoded.text:
        _refuse_damaged_word(name, Message("an empty file"))
    if _is_named_word(name) and any(begin.startswith(data) for begin in _ZIP):
        # Cut within the mark of an archive, which would be a text of two letters.
        _refuse_damaged_word(name, Message("a damaged file"))
    head = decoded.text[:_CHUNK]
    few, lost = max(8, 0.02 * len(head)), head.count("\ufffd")
    # NULs between characters are damage that leaves the text readable.
    has_many_nuls = len(decoded.text) > 8 and decoded.text.count("\0") > 0.1 * len(decoded.text)
    odd = len(_BINARY.findall(head)) + lost * _is_named_word(name)
    if odd > few or has_many_nuls:
        if _is_named_word(name):
            _refuse_damaged_word(name, Message("a file that is not an archive (zip)"))
        shown = show(data[:12])
        found_data = Message("binary data: {data}", data=shown)
        refuse(name, Message(_DOCUMENT, code="not_a_document"), found_data)
    if lost > few:
        reason = Message("must be text in one encoding", code="not_a_document")
        values = {"count": lost, "encoding": decoded.encoding}
        content = Message("{count:,} places that are not {encoding}", **values)
        refuse(name, reason, content, Message(_SAVE_AGAIN))
    notes = encodings.make_notes(decoded)
    if named_html or is_html(decoded.text):
        paragraphs, unsearched = read_html(decoded.text)
        file = _make_file_text("html", paragraphs, (*notes, *unsearched))
        return replace(file, encoding=decoded.encoding, certainty=decoded.certainty)
    format = "markdown" if lower.endswith(_MARKDOWN) else "text"
    return FileText(decoded.text, format, decoded.encoding, decoded.certainty, (), (), notes)


def _find_markdown_headings(text: str) -> tuple[Heading, ...]:
    """Return the headings that begin with ``#`` and are not in fenced code."""
    fences = [match.start() for match in _FENCE.finditer(text)]
    code = list(zip(fences[::2], [*fences[1::2], len(text)], strict=False))
    headings = []
    block = 0
    for match in _ATX.finditer(text):
        while block < len(code) and code[block][1] < match.start():
            block += 1
        if block < len(code) and code[block][0] < match.start():
            continue
        headings.append(Heading(match.start(2), match.end(2), len(match[1])))
    return tuple(headings)
