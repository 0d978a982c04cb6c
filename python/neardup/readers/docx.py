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
from neardup.readers.document_text import (
    HiddenText,
    Limits,
    Paragraphs,
    UnreadableFileError,
    refuse,
)
from neardup.readers.docx_paragraph import SKIPPED, Paragraph
from neardup.readers.docx_unseen import Looks, W, is_on, read_row_formats, read_value

_MISSING = re.compile("no item named '([^']+)'")
_TRUST = Message("Raise {limit} if you trust it.", limit="max_unpacked_bytes")
_XML, _XML_SHARE = (".xml", ".rels"), 4


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

_HEADING = re.compile(r"(?:heading|标题|標題)\s*([1-9])$")
_TITLES = ("title", "标题", "標題")
_QUOTES = ("quote", "intense quote", "block quotation", "引用", "明显引用", "明顯引用", "鮮明引文")


def read_docx(data: bytes, name: str, limits: Limits) -> Paragraphs:
    """Return the paragraphs of a Word document."""
    require(N_("Reading Word documents"), "papers", "docx")

    _check_archive(data, name, limits)
    try:
        package = _open_package(data)
        if _is_elsewhere(package):
            _refuse_document(name, Message("one whose text is in another file"))
        document = package.main_document_part.document
        body = getattr(document.element, "body", None)
        styles = _Styles.of(document)
        notes = [
            *_read_related(document.part, "/footnotes"),
            *_read_related(document.part, "/endnotes"),
        ]
    except UnreadableFileError:
        raise
    except Exception as error:  # A parser may raise anything for a damaged file.
        _refuse_document(name, _describe_damage(data, error))
    if body is None:
        _refuse_document(name, Message("one without a body"))
    has_background = document.element.find(f"{W}background") is not None
    reading = _TreeReader(styles, {"ground": "" if has_background else "FFFFFF"})
    reading.add_blocks(body)
    first_note = len(reading.paragraphs)
    for root in notes:
        reading.add_notes(root)
    reading.paragraphs.mark_footnotes(first_note)
    # Properties are not worth a refusal, and a parser may raise anything for damaged ones.
    with contextlib.suppress(Exception):
        reading.paragraphs.add_properties(_read_properties(document))
    return reading.paragraphs


def _open_package(data: bytes) -> Any:
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


def _describe_damage(data: bytes, error: Exception) -> Message:
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
    """Refuse an archive that is not a document, or too large when unpacked."""
    try:
        members = check_zip(io.BytesIO(data), name, limits.max_unpacked_bytes, _TRUST)
    except zipfile.BadZipFile:
        _refuse_document(name, Message("a damaged file"))
    names = {member.filename for member in members}
    for part in _NEEDED:
        if part not in names:
            _refuse_document(name, Message("one without {part}", part=part))
    xml = sum(m.file_size for m in members if m.filename.lower().endswith(_XML))
    limit = limits.max_unpacked_bytes // _XML_SHARE
    if xml > limit:
        reason = Message("must unpack to at most {most} bytes of XML", code="too_large", most=limit)
        refuse(name, reason, str(xml), _TRUST)


@dataclass(frozen=True)
class _Styles:
    """Styles by id, with what they inherit; "" is the default one.

    Levels of headings, styles of quotations, and formats that may make letters unseen.
    """

    levels: dict[str, int]
    quotes: frozenset[str]
    formats: dict[str, dict[str, str]]
    looks: Looks

    @classmethod
    def of(cls, document: Any) -> _Styles:
        root = document.styles.element
        looks = Looks()
        stated: dict[str, int] = {}
        base = {"": ""}
        # A damaged theme has no colours.
        with contextlib.suppress(Exception):
            looks = Looks.of(
                _read_related(document.part, "/theme"), _read_related(document.part, "/settings")
            )
        direct = {"": looks.read_formats(root.find(f"{W}docDefaults/{W}rPrDefault/{W}rPr"))}
        quotes: set[str] = set()
        default = ""
        for style in root.iterchildren(f"{W}style"):
            key = style.get(f"{W}styleId")
            if key is None:
                continue
            kind = style.get(f"{W}type", "paragraph")
            name = read_value(style, "name").strip().lower()
            match = _HEADING.match(name)
            outline = style.find(f"{W}pPr/{W}outlineLvl")
            if match:
                stated[key] = int(match[1])
            elif name in _TITLES:
                stated[key] = 1
            elif outline is not None:
                stated[key] = _read_outline(outline)
            if name in _QUOTES:
                quotes.add(key)
            if kind == "paragraph" and style.get(f"{W}default") in ("1", "true", "on"):
                default = key
            base[key] = read_value(style, "basedOn") or ("" if kind == "paragraph" else key)
            direct[key] = looks.read_formats(style.find(f"{W}pPr"))
            direct[key] |= looks.read_formats(style.find(f"{W}rPr"))
            # A style of tables may colour some of the rows.
            if kind == "table" and any(
                looks.read_fill(shading) is not None for shading in style.iter(f"{W}shd")
            ):
                direct[key]["ground"] = ""
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
                formats[key] |= direct.get(style, {})
        formats[""] = formats.get(default, formats[""])
        return cls(levels, frozenset(quoted), formats, looks)

    def find_formats(self, parent: Any, element: str) -> dict[str, str]:
        """Return the formats of the style that an element of `parent` names; empty for none."""
        name = read_value(parent, element)
        return self.formats.get(name, {}) if name else {}


def _read_outline(element: Any) -> int:
    value = str(element.get(f"{W}val", ""))
    # Level 9 is body text.
    return int(value) + 1 if value in tuple("012345678") else 0


def _read_related(part: Any, kind: str) -> Iterator[Any]:
    """Yield the trees of the parts that a part refers to by a kind of relation."""
    from docx.oxml.parser import parse_xml

    for relation in part.rels.values():
        if relation.reltype.endswith(kind) and not relation.is_external:
            yield parse_xml(relation.target_part.blob)


def _read_properties(document: Any) -> Iterator[tuple[str, str]]:
    """Yield what a document states of itself, each with the name of the property."""
    roots = [
        *_read_related(document.part.package, "-properties"),
        *_read_related(document.part, "/settings"),
    ]
    for root in roots:
        for element in root.iter():
            if isinstance(element.tag, str):
                name = element.get("name") or element.tag.rpartition("}")[2]
                values = [value for key, value in element.items() if key.endswith("}val")]
                if name in _PROPERTIES:
                    yield _PROPERTIES[name], "".join([*element.itertext(), *values])


class _TreeReader:
    """One pass through a document's tree; `around` are the formats of what surrounds the text.

    Its ground is the colour below the text, "" if unknown.
    """

    def __init__(self, styles: _Styles, around: dict[str, str]) -> None:
        self.paragraphs = Paragraphs()
        self._styles = styles
        self._around = around
        #: For each open field: True while its code goes on, which nobody sees.
        self._fields: list[bool] = []

    def add_blocks(self, parent: Any) -> None:
        """Add paragraphs and tables, also those inside wrapper elements."""
        open_: Paragraph | None = None
        for child in parent.iterchildren():
            if child.tag == f"{W}p":
                open_ = self._add_paragraph(child, open_)
            elif child.tag == f"{W}tbl":
                self._add_table(child)
            elif child.tag not in SKIPPED:
                self.add_blocks(child)

    def _add_paragraph(self, element: Any, open_: Paragraph | None) -> Paragraph | None:
        """Add a paragraph to the open one before it, if any; return it if it remains open."""
        style, level = _find_style(element), self._find_level(element)
        properties = element.find(f"{W}pPr")
        formats = self._around | self._styles.formats.get(style, {})
        formats |= self._styles.looks.read_formats(properties)
        reading = open_ or Paragraph(self._styles.find_formats, self._styles.looks, self._fields)
        reading.collect(element, formats)
        # One that ends with a hidden mark goes on in the next one, as a reader sees it.
        mark = None if properties is None else properties.find(f"{W}rPr")
        after = element.getnext()
        if (
            (is_on(self._styles.looks.read_formats(mark), "vanish") or _is_deleted(mark))
            and after is not None
            and after.tag == element.tag
            and self._find_level(after) == level
        ):
            return reading
        self.paragraphs.add(
            reading.text,
            level,
            quoted=style in self._styles.quotes,
            hidden=reading.hidden,
            pictures=reading.pictures,
        )
        for box in reading.boxes:
            around, self._around = self._around, self._around | {"ground": ""}
            self.add_blocks(box)
            self._around = around
        return None

    def add_notes(self, root: Any) -> None:
        """Add footnotes or endnotes, without separators."""
        for note in root.iterchildren():
            if isinstance(note.tag, str) and note.get(f"{W}type") is None:
                self.add_blocks(note)

    def _add_table(self, table: Any) -> None:
        """Add a table, one line per row; the paragraphs of a cell stay separate."""
        properties = table.find(f"{W}tblPr")
        formats = self._styles.looks.read_formats(properties)
        formats |= self._styles.find_formats(properties, "tblStyle")
        around = self._around | formats
        for row in table.iter(f"{W}tr"):
            if next(row.iterancestors(f"{W}tbl")) is not table:
                continue
            of_row = around | read_row_formats(row)
            cells: list[str] = []
            hidden: list[HiddenText] = []
            pictures: list[int] = []
            length = 0
            for cell in row.iter(f"{W}tc"):
                if next(cell.iterancestors(f"{W}tr")) is row:
                    of_cell = self._styles.looks.read_formats(cell.find(f"{W}tcPr"))
                    inside = _TreeReader(self._styles, of_row | of_cell)
                    inside.add_blocks(cell)
                    cell_text = inside.paragraphs
                    hidden += [
                        replace(part, begin=length + part.begin, end=length + part.end)
                        for part in cell_text.hidden
                    ]
                    pictures += [length + picture for picture in cell_text.pictures]
                    cells.append(cell_text.text)
                    length += len(cells[-1]) + 1
            self.paragraphs.add("\t".join(cells), hidden=hidden, pictures=pictures, edges="\t\n")

    def _find_level(self, paragraph: Any) -> int:
        outline = paragraph.find(f"{W}pPr/{W}outlineLvl")
        if outline is not None:
            return _read_outline(outline)
        return self._styles.levels.get(_find_style(paragraph), 0)


def _find_style(paragraph: Any) -> str:
    return read_value(paragraph.find(f"{W}pPr"), "pStyle")


def _is_deleted(mark: Any) -> bool:
    return mark is not None and mark.find(f"{W}del") is not None
