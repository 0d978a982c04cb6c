"""Word documents (.docx), as a reader of the printed document sees them.

In document order, footnotes and endnotes last. Text deleted by a tracked change, hidden text,
comments, page headers and footers are left out. The unpacked size is checked before anything is
unpacked, and the XML is parsed without entities.
"""

from __future__ import annotations

import contextlib
import copy
import io
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

from neardup.base.messages import Message
from neardup.exceptions import MissingDependencyError
from neardup.readers.extracted import Limits, Paragraphs, refuse

_MAX_MEMBERS = 20_000
_TRUST = Message("Raise {limit} if you trust it.", limit="max_unpacked_bytes")
#: Archives beyond 16 MiB that unpack to more than this many times their size are no documents.
_MAX_RATIO = 200
_SMALL = 16 << 20
_BLOCK = 1 << 20
_XML_SHARE = 4

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"

_SKIPPED = frozenset(
    {
        f"{_W}pPr",
        f"{_W}rPr",
        f"{_W}tblPr",
        f"{_W}trPr",
        f"{_W}tcPr",
        f"{_W}sectPr",
        # Deletions of tracked changes.
        f"{_W}del",
        f"{_W}moveFrom",
        f"{_W}delText",
        # Field instructions, ruby text, and fallbacks for old versions.
        f"{_W}instrText",
        f"{_W}rt",
        f"{_MC}Fallback",
    }
)
_HEADING = re.compile(r"(?:heading|标题|標題)\s*([1-9])$")
_TITLES = ("title", "标题", "標題")
_QUOTES = ("quote", "intense quote", "block quotation", "引用", "明显引用", "明顯引用", "鮮明引文")


def read_docx(data: bytes, name: str, limits: Limits) -> tuple[Paragraphs, tuple[Message, ...]]:
    """Return the paragraphs of a Word document, and notes."""
    try:
        import docx
    except ImportError as error:
        needs = Message(
            "Reading Word documents needs {module}. Install it with: pip install 'neardup[papers]'",
            module="python-docx",
        )
        raise MissingDependencyError(needs) from error
    check_archive(data, name, limits)
    try:
        document = docx.Document(io.BytesIO(data))
        body = document.element.body
        styles = _Styles.of(document)
        notes = [root for kind in ("footnotes", "endnotes") for root in _notes(document, kind)]
    except Exception as error:  # A parser may raise anything for a damaged file.
        _refuse_document(name, _said(error))
    if body is None:
        _refuse_document(name, Message("one without a body"))
    reading = _Reading(styles)
    reading.blocks(body)
    first_note = len(reading.paragraphs)
    for root in notes:
        reading.notes(root)
    reading.paragraphs.footnotes(first_note)
    # Properties are not worth a refusal, and a parser may raise anything for damaged ones.
    with contextlib.suppress(Exception):
        properties = document.core_properties
        reading.paragraphs.state(properties.title, properties.author)
    remarks = []
    if reading.hidden:
        remarks.append(
            Message.counted(
                "{count} character of hidden text is left out.",
                "{count} characters of hidden text are left out.",
                count=reading.hidden,
            )
        )
    return reading.paragraphs, tuple(remarks)


def _refuse_document(name: str, content: str) -> NoReturn:
    reason = Message(
        "must be a whole Word document{where}", code="damaged_file", where=Message(" (.docx)")
    )
    refuse(
        name, reason, content, Message("Open it in Word or LibreOffice and save it again as .docx.")
    )


def check_archive(data: bytes, name: str, limits: Limits) -> None:
    """Refuse an archive that is too large when unpacked, or larger than its directory says."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = archive.infolist()
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError, EOFError) as error:
        _refuse_document(name, _said(error))
    total = sum(member.file_size for member in members)
    xml = sum(m.file_size for m in members if m.filename.lower().endswith((".xml", ".rels")))
    if len(members) > _MAX_MEMBERS:
        reason = Message("must have at most {most} parts", code="too_large", most=_MAX_MEMBERS)
        refuse(name, reason, str(len(members)))
    if total > limits.max_unpacked_bytes:
        reason = Message(
            "must unpack to at most {most} bytes", code="too_large", most=limits.max_unpacked_bytes
        )
        refuse(name, reason, str(total), _TRUST)
    most = limits.max_unpacked_bytes // _XML_SHARE
    if xml > most:
        reason = Message("must unpack to at most {most} bytes of XML", code="too_large", most=most)
        refuse(name, reason, str(xml), _TRUST)
    if total > _SMALL and total > _MAX_RATIO * len(data):
        refuse(
            name,
            Message(
                "must unpack to at most {most} times its size", code="too_large", most=_MAX_RATIO
            ),
            Message("{count} bytes from {size}", count=total, size=len(data)),
            Message("It may be a zip bomb."),
        )
    if any(member.flag_bits & 1 for member in members):
        reason = Message("must be readable without a password", code="encrypted")
        refuse(
            name,
            reason,
            Message("an encrypted archive"),
        )
    # `ZipFile.read` unpacks up to 2 GiB of a member before it cuts the rest off.
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            is_honest = all(_unpacks_as_stated(archive, member) for member in members)
    except Exception as error:  # A decompressor may raise anything for damaged data.
        _refuse_document(name, _said(error))
    if not is_honest:
        _refuse_document(name, Message("a damaged file"))


def _unpacks_as_stated(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bool:
    """Return whether a member has no more bytes than its directory entry says."""
    probe = copy.copy(member)
    probe.file_size += 1
    size = 0
    with archive.open(probe) as part:
        while block := part.read(_BLOCK):
            size += len(block)
    return size <= member.file_size


def _said(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:60] or type(error).__name__


@dataclass(frozen=True)
class _Styles:
    """Paragraph styles: the levels of heading styles, and the styles of quotations."""

    levels: dict[str, int]
    quotes: frozenset[str]

    @classmethod
    def of(cls, document: Any) -> _Styles:
        stated: dict[str, int] = {}
        base: dict[str, str] = {}
        quotes: set[str] = set()
        for style in document.styles.element.iterchildren(f"{_W}style"):
            key = style.get(f"{_W}styleId")
            if key is None:
                continue
            label = style.find(f"{_W}name")
            name = "" if label is None else str(label.get(f"{_W}val", "")).strip().lower()
            match = _HEADING.match(name)
            outline = style.find(f"{_W}pPr/{_W}outlineLvl")
            if match:
                stated[key] = int(match[1])
            elif name in _TITLES:
                stated[key] = 1
            elif outline is not None:
                stated[key] = _outline(outline)
            if name in _QUOTES:
                quotes.add(key)
            based = style.find(f"{_W}basedOn")
            if based is not None:
                base[key] = based.get(f"{_W}val", "")
        levels = {}
        for key in {**stated, **base}:
            origin, seen = key, {key}
            while origin not in stated and origin in base and base[origin] not in seen:
                origin = base[origin]
                seen.add(origin)
            if stated.get(origin):
                levels[key] = stated[origin]
        # A style based on a quotation style is one too, unless it is a heading.
        quotes |= {key for key, of in base.items() if of in quotes}
        return cls(levels, frozenset(quotes - levels.keys()))


def _outline(element: Any) -> int:
    value = str(element.get(f"{_W}val", ""))
    # Level 9 is body text.
    return int(value) + 1 if value in tuple("012345678") else 0


def _notes(document: Any, kind: str) -> Iterator[Any]:
    from docx.oxml.parser import parse_xml

    for relation in document.part.rels.values():
        if relation.reltype.endswith(f"/{kind}") and not relation.is_external:
            yield parse_xml(relation.target_part.blob)


class _Reading:
    """One pass through a document's tree."""

    def __init__(self, styles: _Styles) -> None:
        self.paragraphs = Paragraphs()
        self.hidden = 0
        self._styles = styles

    def blocks(self, parent: Any) -> None:
        """Add paragraphs and tables, also those inside wrapper elements."""
        for child in parent.iterchildren():
            if child.tag == f"{_W}p":
                boxes: list[Any] = []
                text = self._text(child, boxes)
                quoted = _style(child) in self._styles.quotes
                self.paragraphs.add(text, self._level(child), quoted=quoted)
                for box in boxes:
                    self.blocks(box)
            elif child.tag == f"{_W}tbl":
                self._table(child)
            elif child.tag not in _SKIPPED:
                self.blocks(child)

    def notes(self, root: Any) -> None:
        """Add footnotes or endnotes, without separators."""
        for note in root.iterchildren():
            if isinstance(note.tag, str) and note.get(f"{_W}type") is None:
                self.blocks(note)

    def _table(self, table: Any) -> None:
        """Add a table, one line per row; the paragraphs of a cell stay separate."""
        for row in table.iter(f"{_W}tr"):
            if next(row.iterancestors(f"{_W}tbl")) is not table:
                continue
            cells = []
            for cell in row.iter(f"{_W}tc"):
                if next(cell.iterancestors(f"{_W}tr")) is row:
                    inside = _Reading(_PLAIN)
                    inside.blocks(cell)
                    self.hidden += inside.hidden
                    cells.append(inside.paragraphs.text)
            self.paragraphs.add("\t".join(cells).strip("\t"))

    def _level(self, paragraph: Any) -> int:
        outline = paragraph.find(f"{_W}pPr/{_W}outlineLvl")
        if outline is not None:
            return _outline(outline)
        return self._styles.levels.get(_style(paragraph), 0)

    def _text(self, element: Any, boxes: list[Any]) -> str:
        parts: list[str] = []
        self._collect(element, parts, boxes)
        return "".join(parts)

    def _collect(self, element: Any, parts: list[str], boxes: list[Any]) -> None:
        for child in element.iterchildren():
            tag = child.tag
            if not isinstance(tag, str) or tag in _SKIPPED:
                continue
            if tag in (f"{_W}t", f"{_M}t"):
                parts.append(child.text or "")
            elif tag in (f"{_W}br", f"{_W}cr"):
                parts.append("\n")
            elif tag in (f"{_W}tab", f"{_W}ptab"):
                parts.append("\t")
            elif tag == f"{_W}noBreakHyphen":
                parts.append("-")
            elif tag == f"{_W}txbxContent":
                boxes.append(child)
            elif tag == f"{_W}r" and _is_hidden(child):
                self.hidden += sum(len(text.text or "") for text in child.iter(f"{_W}t"))
            else:
                self._collect(child, parts, boxes)


_PLAIN = _Styles({}, frozenset())


def _style(paragraph: Any) -> str:
    style = paragraph.find(f"{_W}pPr/{_W}pStyle")
    return "" if style is None else str(style.get(f"{_W}val", ""))


def _is_hidden(run: Any) -> bool:
    mark = run.find(f"{_W}rPr/{_W}vanish")
    return mark is not None and mark.get(f"{_W}val", "true") not in ("0", "false", "off")
