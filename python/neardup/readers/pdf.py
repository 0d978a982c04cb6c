"""PDF files: the lines of the text layer with their positions, page by page.

`pdf_layout` joins the lines to paragraphs. Files are opened by pdfium, Chromium's
library, through pypdfium2.
"""

from __future__ import annotations

import contextlib
import ctypes
import re
import threading
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import accumulate
from typing import Any, NamedTuple, NoReturn

from neardup.base.extras import require
from neardup.base.messages import N_, Message
from neardup.readers.batch import Problem
from neardup.readers.document_text import (
    HiddenText,
    Limits,
    Paragraphs,
    clean_text,
    join_ranges,
    refuse,
)
from neardup.readers.pdf_layout import Line, lay_out
from neardup.readers.running_lines import drop_running_lines

# pdfium may run in one thread of a process at a time.
_ALONE = threading.Lock()

_ENDS = re.compile(r"\r\n|\r|\n")
#: Characters that pdfium versions return for a hyphen at the end of a line.
_HYPHENS = "\x02\ufffe\u00ad"

_PROPERTIES = {
    "Title": "title",
    "Author": "author",
    "Creator": "program",
    "Producer": "producer",
    "CreationDate": "created",
    "ModDate": "modified",
}
_DATE = re.compile(r"D:\d{14}(?:([-+Z])(?:(\d\d)'?(\d\d)?)?)?")
_ID_BYTES = 256

OCR = "ocrmypdf -l chi_sim in.pdf out.pdf"
_PRINT = N_("Open it in a PDF reader and print it into a new file.")
_DECRYPT = "qpdf --decrypt in.pdf out.pdf"


def read_pdf(data: bytes, name: str, limits: Limits) -> tuple[Paragraphs, tuple[Message, ...]]:
    """Return the paragraphs of a PDF, and notes."""
    require(N_("Reading PDF files"), "papers", "pypdfium2")
    read_pages, properties = _read_pages(data, name, limits)
    count = len(read_pages)
    lost = [number for number, page in enumerate(read_pages, 1) if page is None]
    damaged = len(lost)
    read = [page.lines if page else [] for page in read_pages]
    if count == 0 or damaged == count:
        _refuse_damaged(name)
    notes: list[Message] = []
    blank = sum(not page for page in read) - damaged
    if blank + damaged == count:
        refuse(
            name,
            Message("must have a text layer", code="no_text_layer"),
            Message.counted("1 page of pictures", "{count} pages of pictures", count=count),
            Message("Recognize the text first, for example: {command}", command=OCR),
        )
    if blank:
        notes.append(
            Message(
                "{blank} of {count} pages have no text; they may be pictures.",
                blank=blank,
                count=count,
            )
        )
    kept, dropped = drop_running_lines(read)
    if dropped:
        lines = ", ".join(f"'{line}'" for line in dropped[:3]) + (", …" if dropped[3:] else "")
        notes.append(Message("Running headers and footers are left out: {lines}.", lines=lines))
    paragraphs = lay_out(kept)
    paragraphs.add_properties(properties)
    if lost:
        reason = Message.counted(
            "page {pages} of {total} is damaged and left out",
            "{count} of {total} pages are damaged and left out ({pages})",
            code="damaged_page",
            count=damaged,
            total=count,
            pages=join_ranges(lost),
        )
        again = Message("Download or copy it again.")
        paragraphs.problems.append(Problem(name, None, None, reason, None, again))
    for begin, page in zip(paragraphs.pages, read_pages, strict=True):
        if page:
            paragraphs.pictures += [begin] * page.pictures
            paragraphs.hidden += [
                HiddenText(begin, begin, kind, len("".join(text.split())), text.strip())
                for kind, text in page.left_out.items()
                if text.strip()
            ]
    return paragraphs, tuple(notes)


def _read_pages(
    data: bytes, name: str, limits: Limits
) -> tuple[list[_Page | None], list[tuple[str, str]]]:
    """Return the pages of a PDF, None for a damaged one, and what the document states of itself."""
    import pypdfium2

    with _ALONE:
        try:
            document = pypdfium2.PdfDocument(data)
        except pypdfium2.PdfiumError as error:
            _refuse_unopened(name, str(error))
        try:
            if (count := len(document)) > limits.max_pages:
                reason = Message(
                    "must have at most {most} pages", code="too_large", most=limits.max_pages
                )
                remedy = Message("Raise {limit}, or split it.", limit="max_pages")
                refuse(name, reason, str(count), remedy)
            pages = [_read_page(document, number) for number in range(count)]
            return pages, list(_read_properties(document))
        finally:
            document.close()


def _read_properties(document: Any) -> Iterator[tuple[str, str]]:
    """Yield what a document states of itself, each with the name of the property."""
    import pypdfium2.raw as pdfium

    # A damaged property is none.
    for key, name in _PROPERTIES.items():
        with contextlib.suppress(Exception):
            value = str(document.get_metadata_value(key))
            yield name, _convert_date(value) if key.endswith("Date") else value
    with contextlib.suppress(Exception):
        id = ctypes.create_string_buffer(_ID_BYTES)
        size = pdfium.FPDF_GetFileIdentifier(document, pdfium.FILEIDTYPE_PERMANENT, id, len(id))
        yield "id", id.raw[: max(size - 1, 0)].hex()


def _convert_date(value: str) -> str:
    """Return a date of a PDF as Word writes it, in UTC; unchanged if it is none."""
    match = _DATE.match(value)
    if match is None:
        return value
    sign, hours, minutes = match.groups("0")
    ahead = timedelta(hours=int(hours), minutes=int(minutes)) * (-1 if sign == "-" else 1)
    return f"{datetime.strptime(match[0][2:16], '%Y%m%d%H%M%S') - ahead:%Y-%m-%dT%H:%M:%SZ}"


def _refuse_unopened(name: str, error: str) -> None:
    if "password" in error.lower():
        refuse(
            name,
            Message("must be readable without a password", code="encrypted"),
            Message("an encrypted PDF"),
            Message("Save it without one first, for example: {command}", command=_DECRYPT),
        )
    if "security" in error.lower():
        refuse(
            name,
            Message("must be encrypted in a way that pdfium knows", code="encrypted"),
            Message("another one"),
            Message(_PRINT),
        )
    _refuse_damaged(name)


def _refuse_damaged(name: str) -> NoReturn:
    reason = Message("must be a whole PDF", code="damaged_file")
    refuse(name, reason, Message("a damaged file"), Message(_PRINT))


class _Page(NamedTuple):
    lines: list[Line]
    pictures: int
    #: Text that nobody sees, by kind.
    left_out: Mapping[str, str]


def _read_page(document: Any, number: int) -> _Page | None:
    """Return what is on one page; None if it is damaged."""
    import pypdfium2

    from neardup.readers.pdf_unseen import find_unseen

    try:
        page = document[number]
        try:
            sheet = page.get_textpage()
            try:
                kinds, pictures = find_unseen(page)
                text, units, left_out = _drop_unseen(sheet, sheet.get_text_range(), kinds)
                return _Page(_place_lines(sheet, text, units), pictures, left_out)
            finally:
                sheet.close()
        finally:
            page.close()
    except pypdfium2.PdfiumError:
        return None


def _drop_unseen(
    sheet: Any, text: str, kinds: Mapping[int, str]
) -> tuple[str, Sequence[int], dict[str, str]]:
    """Return a text without pieces of some kinds, where its letters are, and what is left out."""
    import pypdfium2.raw as pdfium

    # pdfium counts in units of UTF-16.
    units: Sequence[int] = range(len(text) + 1)
    if max(text, default="") > "\uffff":
        units = [0, *accumulate(1 + (letter > "\uffff") for letter in text)]
    if not kinds:
        return text, units, {}
    left_out: defaultdict[str, list[str]] = defaultdict(list)
    kept = []
    for place, letter in enumerate(text):
        index = pdfium.FPDFText_GetCharIndexFromTextIndex(sheet, units[place])
        piece = pdfium.FPDFText_GetTextObject(sheet, index)
        kind = kinds.get(ctypes.addressof(piece.contents)) if piece else None
        if kind is None:
            kept.append(place)
        else:
            left_out[kind].append(" " if letter.isspace() else letter)
    hidden = {kind: clean_text("".join(letters)) for kind, letters in left_out.items()}
    return "".join(text[place] for place in kept), [units[place] for place in kept], hidden


def _place_lines(sheet: Any, text: str, units: Sequence[int]) -> list[Line]:
    import pypdfium2.raw as pdfium

    box = pdfium.FS_RECTF()
    x, y = ctypes.c_double(), ctypes.c_double()
    matrix = pdfium.FS_MATRIX()

    def place(unit: int) -> tuple[float, float, float, float] | None:
        index = pdfium.FPDFText_GetCharIndexFromTextIndex(sheet, unit)
        if (
            index < 0
            or not pdfium.FPDFText_GetLooseCharBox(sheet, index, ctypes.byref(box))
            or not pdfium.FPDFText_GetCharOrigin(sheet, index, ctypes.byref(x), ctypes.byref(y))
            or not pdfium.FPDFText_GetMatrix(sheet, index, ctypes.byref(matrix))
        ):
            return None
        scale = abs(matrix.a * matrix.d - matrix.b * matrix.c) ** 0.5
        return box.left, box.right, y.value, scale * pdfium.FPDFText_GetFontSize(sheet, index)

    lines = []
    begin = 0
    for end in [*_ENDS.finditer(text), None]:
        stop = len(text) if end is None else end.start()
        shown = text[begin:stop]
        if shown.strip():
            lead = len(shown) - len(shown.lstrip())
            trail = len(shown) - len(shown.rstrip(" \t" + _HYPHENS))
            first, last = place(units[begin + lead]), place(units[stop - trail - 1])
            hyphen = "-" if shown[-1] in _HYPHENS else ""
            kept = clean_text(shown.rstrip(_HYPHENS) + hyphen).strip()
            if kept and first is not None and last is not None:
                lines.append(Line(kept, first[0], last[1], first[2], first[3]))
            elif kept:
                # A line of size 0 is never joined to another line.
                lines.append(Line(kept, 0.0, 0.0, 0.0, 0.0))
        if end is not None:
            begin = end.end()
    return lines
