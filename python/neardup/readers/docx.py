"""Word documents (.docx), as a reader of the printed document sees them.

In document order, footnotes and endnotes last. Text deleted by a tracked change, hidden text,
comments, page headers and footers are left out. The unpacked size is checked before anything is
unpacked, and the XML is parsed without entities.
"""

from __future__ import annotations

import contextlib
import io
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NoReturn

from neardup.base.extras import require
from neardup.base.messages import N_, Message
from neardup.readers.archives import check_zip
from neardup.readers.batch import show
from neardup.readers.extracted import (
    TINY,
    HiddenText,
    Limits,
    Paragraphs,
    UnreadableFileError,
    is_like,
    refuse,
)

_MISSING = re.compile("no item named '([^']+)'")
_TRUST = Message("Raise {limit} if you trust it.", limit="max_unpacked_bytes")
_XML, _XML_SHARE = (".xml", ".rels"), 4

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_PIC = "{http://schemas.openxmlformats.org/drawingml/2006/picture}"
_VML = "{urn:schemas-microsoft-com:vml}"
_MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"

#: Parts without which an archive is no document.
_NEEDED = ("[Content_Types].xml", "_rels/.rels")
#: Content types of the text of documents with macros, and of templates.
_MAIN_PARTS = (
    "application/vnd.ms-word.document.macroEnabled.main+xml",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.template.main+xml",
    "application/vnd.ms-word.template.macroEnabledTemplate.main+xml",
)

#: Styles inherit from each other this deeply.
_DEEPEST = 20

#: Elements and custom properties, and the property that each states.
_PROPERTIES = {
    "title": "title",
    "creator": "author",
    "lastModifiedBy": "modified_by",
    "created": "created",
    "modified": "modified",
    "Application": "program",
    "Company": "company",
    "Template": "template",
    "docId": "id",
    # The session that began the document; documents that were made from it keep its number.
    "rsidRoot": "origin_id",
    "ICV": "wps_id",
    "KSOTemplateDocerSaveRecord": "wps_account",
}

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


def read_docx(data: bytes, name: str, limits: Limits) -> Paragraphs:
    """Return the paragraphs of a Word document."""
    require(N_("Reading Word documents"), "papers", "docx")

    _check_archive(data, name, limits)
    try:
        package = _opened(data)
        if _is_elsewhere(package):
            _refuse_document(name, Message("one whose text is in another file"))
        document = package.main_document_part.document
        body = getattr(document.element, "body", None)
        styles = _Styles.of(document)
        notes = [root for kind in ("footnotes", "endnotes") for root in _notes(document, kind)]
    except UnreadableFileError:
        raise
    except Exception as error:  # A parser may raise anything for a damaged file.
        _refuse_document(name, _damage(data, error))
    if body is None:
        _refuse_document(name, Message("one without a body"))
    has_background = document.element.find(f"{_W}background") is not None
    reading = _Reading(styles, "" if has_background else "FFFFFF")
    reading.blocks(body)
    first_note = len(reading.paragraphs)
    for root in notes:
        reading.notes(root)
    reading.paragraphs.footnotes(first_note)
    # Properties are not worth a refusal, and a parser may raise anything for damaged ones.
    with contextlib.suppress(Exception):
        reading.paragraphs.state(_properties(document))
    return reading.paragraphs


def _opened(data: bytes) -> Any:
    """Open a package; `docx.Document` refuses those with macros and templates."""
    from docx.opc.part import PartFactory
    from docx.package import Package
    from docx.parts.document import DocumentPart

    for content_type in _MAIN_PARTS:
        PartFactory.part_type_for.setdefault(content_type, DocumentPart)
    return Package.open(io.BytesIO(data))


def _is_elsewhere(package: Any) -> bool:
    """Return whether the text of a document is not in its file, as a link to a page is."""
    relations = (one for one in package.rels.values() if one.reltype.endswith("/officeDocument"))
    return any(relation.is_external for relation in relations)


def _damage(data: bytes, error: Exception) -> Message:
    """Return what is wrong with an archive; other programs have their own words for it."""
    from docx.oxml.parser import parse_xml

    missing = _MISSING.search(str(error)) if isinstance(error, KeyError) else None
    if missing:
        return Message("one without {part}", part=show(missing[1]))
    with contextlib.suppress(Exception), zipfile.ZipFile(io.BytesIO(data)) as archive:
        for part in archive.namelist():
            if part.lower().endswith(_XML):
                try:
                    parse_xml(archive.read(part))
                except Exception:
                    return Message("one whose part {part} is damaged", part=show(part))
    return Message("a damaged file")


def _refuse_document(name: str, content: str) -> NoReturn:
    reason = Message(
        "must be a whole Word document{where}", code="damaged_file", where=Message(" (.docx)")
    )
    refuse(
        name, reason, content, Message("Open it in Word or LibreOffice and save it again as .docx.")
    )


def _check_archive(data: bytes, name: str, limits: Limits) -> None:
    """Refuse an archive that is no document, or too large when unpacked."""
    try:
        members = check_zip(io.BytesIO(data), name, limits.max_unpacked_bytes, _TRUST)
    except zipfile.BadZipFile:
        _refuse_document(name, Message("a damaged file"))
    names = {member.filename for member in members}
    for part in _NEEDED:
        if part not in names:
            _refuse_document(name, Message("one without {part}", part=part))
    xml = sum(m.file_size for m in members if m.filename.lower().endswith(_XML))
    most = limits.max_unpacked_bytes // _XML_SHARE
    if xml > most:
        reason = Message("must unpack to at most {most} bytes of XML", code="too_large", most=most)
        refuse(name, reason, str(xml), _TRUST)


@dataclass(frozen=True)
class _Styles:
    """Styles by id, with what they inherit; "" is the default one.

    Levels of headings, styles of quotations, and formats that may make letters unseen.
    """

    levels: dict[str, int]
    quotes: frozenset[str]
    formats: dict[str, dict[str, str]]

    @classmethod
    def of(cls, document: Any) -> _Styles:
        root = document.styles.element
        stated: dict[str, int] = {}
        base = {"": ""}
        own = {"": _formats(root.find(f"{_W}docDefaults/{_W}rPrDefault/{_W}rPr"))}
        quotes: set[str] = set()
        default = ""
        for style in root.iterchildren(f"{_W}style"):
            key = style.get(f"{_W}styleId")
            if key is None:
                continue
            kind = style.get(f"{_W}type", "paragraph")
            name = _value(style, "name").strip().lower()
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
            if kind == "paragraph" and style.get(f"{_W}default") in ("1", "true", "on"):
                default = key
            base[key] = _value(style, "basedOn") or ("" if kind == "paragraph" else key)
            own[key] = _formats(style.find(f"{_W}pPr")) | _formats(style.find(f"{_W}rPr"))
            # A style of tables may colour some of the rows.
            if kind == "table" and any(
                _fill(shading) is not None for shading in style.iter(f"{_W}shd")
            ):
                own[key]["ground"] = ""
        levels: dict[str, int] = {}
        quoted: set[str] = set()
        formats: dict[str, dict[str, str]] = {}
        for key in base:
            chain = [key]
            while len(chain) < _DEEPEST and (origin := base.get(chain[-1], "")) != chain[-1]:
                chain.append(origin)
            if level := next((stated[style] for style in chain if style in stated), 0):
                levels[key] = level
            # A style based on a quotation style is one too, unless it is a heading.
            elif not quotes.isdisjoint(chain):
                quoted.add(key)
            formats[key] = {}
            for style in reversed(chain):
                formats[key] |= own.get(style, {})
        formats[""] = formats.get(default, formats[""])
        return cls(levels, frozenset(quoted), formats)

    def named(self, parent: Any, element: str) -> dict[str, str]:
        """Return the formats of the style that an element of `parent` names; empty for none."""
        name = _value(parent, element)
        return self.formats.get(name, {}) if name else {}


def _outline(element: Any) -> int:
    value = str(element.get(f"{_W}val", ""))
    # Level 9 is body text.
    return int(value) + 1 if value in tuple("012345678") else 0


def _notes(document: Any, kind: str) -> Iterator[Any]:
    return _related(document.part, f"/{kind}")


def _related(part: Any, kind: str) -> Iterator[Any]:
    """Yield the trees of the parts that a part refers to by a kind of relation."""
    from docx.oxml.parser import parse_xml

    for relation in part.rels.values():
        if relation.reltype.endswith(kind) and not relation.is_external:
            yield parse_xml(relation.target_part.blob)


def _properties(document: Any) -> Iterator[tuple[str, str]]:
    """Yield what a document states of itself, each with the name of the property."""
    roots = [*_related(document.part.package, "-properties"), *_notes(document, "settings")]
    for root in roots:
        for element in root.iter():
            if isinstance(element.tag, str):
                name = element.get("name") or element.tag.rpartition("}")[2]
                values = [value for key, value in element.items() if key.endswith("}val")]
                if name in _PROPERTIES:
                    yield _PROPERTIES[name], "".join([*element.itertext(), *values])


class _Reading:
    """One pass through a document's tree; `ground` is the colour below the text, "" if unknown."""

    def __init__(self, styles: _Styles, ground: str) -> None:
        self.paragraphs = Paragraphs()
        self._styles = styles
        self._ground = ground

    def blocks(self, parent: Any) -> None:
        """Add paragraphs and tables, also those inside wrapper elements."""
        for child in parent.iterchildren():
            if child.tag == f"{_W}p":
                style = _style(child)
                formats = {"ground": self._ground} | self._styles.formats.get(style, {})
                formats |= _formats(child.find(f"{_W}pPr"))
                reading = _Paragraph(self._styles, formats)
                reading.collect(child)
                quoted = style in self._styles.quotes
                self.paragraphs.add(
                    reading.text,
                    self._level(child),
                    quoted=quoted,
                    hidden=reading.hidden,
                    pictures=reading.pictures,
                )
                for box in reading.boxes:
                    ground, self._ground = self._ground, ""
                    self.blocks(box)
                    self._ground = ground
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
        properties = table.find(f"{_W}tblPr")
        formats = _formats(properties) | self._styles.named(properties, "tblStyle")
        ground = formats.get("ground", self._ground)
        for row in table.iter(f"{_W}tr"):
            if next(row.iterancestors(f"{_W}tbl")) is not table:
                continue
            cells: list[str] = []
            hidden: list[HiddenText] = []
            pictures: list[int] = []
            length = 0
            for cell in row.iter(f"{_W}tc"):
                if next(cell.iterancestors(f"{_W}tr")) is row:
                    of_cell = _formats(cell.find(f"{_W}tcPr"))
                    inside = _Reading(self._styles, of_cell.get("ground", ground))
                    inside.blocks(cell)
                    found = inside.paragraphs
                    hidden += [
                        replace(part, begin=length + part.begin, end=length + part.end)
                        for part in found.hidden
                    ]
                    pictures += [length + picture for picture in found.pictures]
                    cells.append(found.text)
                    length += len(cells[-1]) + 1
            text = "\t".join(cells)
            lead = len(text) - len(text.lstrip("\t"))
            self.paragraphs.add(
                text.strip("\t"),
                hidden=[
                    replace(part, begin=max(part.begin - lead, 0), end=max(part.end - lead, 0))
                    for part in hidden
                ],
                pictures=[max(picture - lead, 0) for picture in pictures],
            )

    def _level(self, paragraph: Any) -> int:
        outline = paragraph.find(f"{_W}pPr/{_W}outlineLvl")
        if outline is not None:
            return _outline(outline)
        return self._styles.levels.get(_style(paragraph), 0)


class _Paragraph:
    """The text of one paragraph of some formats, its pictures and what of it nobody sees."""

    def __init__(self, styles: _Styles, formats: dict[str, str]) -> None:
        self.boxes: list[Any] = []
        self.hidden: list[HiddenText] = []
        self.pictures: list[int] = []
        self._styles = styles
        self._formats = formats
        self._parts: list[str] = []
        self._length = 0

    @property
    def text(self) -> str:
        return "".join(self._parts)

    def _add(self, text: str) -> None:
        self._parts.append(text)
        self._length += len(text)

    def collect(self, element: Any) -> None:
        """Add what is in an element."""
        for child in element.iterchildren():
            tag = child.tag
            if not isinstance(tag, str) or tag in _SKIPPED:
                continue
            if tag in (f"{_W}t", f"{_M}t"):
                self._add(child.text or "")
            elif tag in (f"{_W}br", f"{_W}cr"):
                self._add("\n")
            elif tag in (f"{_W}tab", f"{_W}ptab"):
                self._add("\t")
            elif tag == f"{_W}noBreakHyphen":
                self._add("-")
            elif tag == f"{_W}txbxContent":
                self.boxes.append(child)
            elif tag == f"{_W}r":
                self._run(child)
            else:
                if tag == f"{_PIC}pic" or (tag == f"{_VML}imagedata" and not _is_object(child)):
                    self.pictures.append(self._length)
                self.collect(child)

    def _run(self, run: Any) -> None:
        direct = run.find(f"{_W}rPr")
        formats = self._formats | self._styles.named(direct, "rStyle") | _formats(direct)
        kind = _unseen(formats)
        if kind == "hidden_text":
            count = sum(len(text.text or "") for text in run.iter(f"{_W}t"))
            if count:
                self.hidden.append(HiddenText(self._length, self._length, "hidden_text", count))
            return
        begin, first = self._length, len(self._parts)
        self.collect(run)
        count = sum(len("".join(part.split())) for part in self._parts[first:])
        if kind is not None and count:
            self.hidden.append(HiddenText(begin, self._length, kind, count))


def _style(paragraph: Any) -> str:
    return _value(paragraph.find(f"{_W}pPr"), "pStyle")


def _value(parent: Any, name: str, default: str = "") -> str:
    element = None if parent is None else parent.find(f"{_W}{name}")
    return "" if element is None else str(element.get(f"{_W}val", default))


def _formats(properties: Any) -> dict[str, str]:
    """Return the formats that may make letters unseen, and the colour below, "" if unknown."""
    if properties is None:
        return {}
    named = {name: _value(properties, name, "on") for name in ("vanish", "sz", "color")}
    formats = {name: value for name, value in named.items() if value}
    shading, highlight = properties.find(f"{_W}shd"), _value(properties, "highlight")
    if highlight not in ("", "none"):
        formats["ground"] = "FFFFFF" if highlight == "white" else ""
    elif shading is not None and (fill := _fill(shading)) is not None:
        formats["ground"] = fill
    return formats


def _fill(shading: Any) -> str | None:
    """Return the colour of a shading, "" for a pattern; None if what is below shows."""
    fill = str(shading.get(f"{_W}fill", "auto"))
    if shading.get(f"{_W}val") not in ("clear", "nil"):
        return ""
    return None if fill.lower() == "auto" else fill


def _unseen(formats: dict[str, str]) -> str | None:
    """Return why nobody sees the text of a run; None if it is visible."""
    if formats.get("vanish", "off") not in ("0", "false", "off"):
        return "hidden_text"
    size = formats.get("sz", "")
    if size.isascii() and size.isdigit() and int(size) <= 2 * TINY:
        return "tiny_text"
    try:
        letters, ground = (bytes.fromhex(formats.get(name, "")) for name in ("color", "ground"))
    except ValueError:  # For example 'auto', which shows on every ground.
        return None
    return "white_text" if len(letters) == 3 and is_like(letters, ground) else None


def _is_object(image: Any) -> bool:
    """Return whether an image shows an embedded object, such as a formula."""
    return next(image.iterancestors(f"{_W}object"), None) is not None
