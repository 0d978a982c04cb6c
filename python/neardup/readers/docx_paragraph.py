"""One paragraph of a Word document: its text as a reader sees it, and what of it nobody sees."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from neardup.readers.document_text import HiddenText
from neardup.readers.docx_unseen import Looks, W, explain_unseen

_M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_PIC = "{http://schemas.openxmlformats.org/drawingml/2006/picture}"
_VML = "{urn:schemas-microsoft-com:vml}"
_MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_GRAPHIC = "{http://schemas.openxmlformats.org/drawingml/2006/main}graphicData"

SKIPPED = frozenset(
    {
        f"{W}pPr",
        f"{W}rPr",
        f"{W}tblPr",
        f"{W}trPr",
        f"{W}tcPr",
        f"{W}sectPr",
        # Deletions of tracked changes.
        f"{W}del",
        f"{W}moveFrom",
        f"{W}delText",
        # Field instructions, and ruby text.
        f"{W}instrText",
        f"{W}rt",
    }
)
#: What Word writes for a newer version of itself has such namespaces.
_KNOWN = re.compile("http://schemas.(microsoft.com/office|openxmlformats.org)/")
#: Elements that set a direction, and the marks that do so in text.
_DIRECTIONS = {
    (f"{W}bdo", "rtl"): "\u202e",
    (f"{W}bdo", "ltr"): "\u202d",
    (f"{W}dir", "rtl"): "\u202b",
    (f"{W}dir", "ltr"): "\u202a",
}
_END = "\u202c"
#: Marks that go on in the next line.
_DEEPEST = 16
_OPENED_OR_ENDED = re.compile("[\u202a-\u202e]")
#: Fonts whose symbols are not letters.
_SYMBOLS = re.compile("symbol|dings|extra", re.IGNORECASE)
#: Graphics whose text is in another part, and is not read.
_DRAWN = ("/diagram", "/chart")


class Paragraph:
    """The text of one paragraph, or of several that a reader sees as one.

    `named` returns the formats of the style that a run's properties name; `fields` are the open
    fields, each with whether its code goes on.
    """

    def __init__(
        self, named: Callable[[Any, str], dict[str, str]], looks: Looks, fields: list[bool]
    ) -> None:
        self.boxes: list[Any] = []
        self.hidden: list[HiddenText] = []
        self.pictures: list[int] = []
        self._named = named
        self._looks = looks
        self._fields = fields
        self._formats: dict[str, str] = {}
        self._parts: list[str] = []
        self._length = 0
        #: Marks of directions that are open, which go on in the next line.
        self._open: list[str] = []

    @property
    def text(self) -> str:
        """Its text."""
        return "".join(self._parts)

    def collect(self, element: Any, formats: dict[str, str]) -> None:
        """Add a paragraph of some formats."""
        self._formats = formats
        self._collect(element)

    def _add(self, text: str) -> None:
        if any(self._fields):
            self._hide(text)
            return
        for mark in _OPENED_OR_ENDED.findall(text):
            if mark == _END:
                del self._open[-1:]
            elif len(self._open) < _DEEPEST:
                self._open.append(mark)
        self._put(text)

    def _put(self, text: str) -> None:
        self._parts.append(text)
        self._length += len(text)

    def _hide(self, text: str) -> None:
        if text:
            here = self._length
            self.hidden.append(HiddenText(here, here, "hidden_text", len(text), text))

    def _collect(self, element: Any) -> None:
        for child in element.iterchildren():
            tag = child.tag
            if not isinstance(tag, str) or tag in SKIPPED:
                continue
            if tag in (f"{W}t", f"{_M}t"):
                self._add(child.text or "")
            elif tag in (f"{W}br", f"{W}cr"):
                # A line goes on in the directions of the line before.
                self._add("\n")
                self._put("".join(self._open))
            elif tag in (f"{W}tab", f"{W}ptab"):
                self._add("\t")
            elif tag == f"{W}noBreakHyphen":
                self._add("-")
            elif tag == f"{W}sym":
                self._add(_read_symbol(child))
            elif tag == f"{W}fldChar":
                self._track_field(child.get(f"{W}fldCharType"))
            elif tag == f"{W}txbxContent":
                self.boxes.append(child)
            elif tag == f"{W}r":
                self._add_run(child)
            elif mark := _DIRECTIONS.get((tag, child.get(f"{W}val", ""))):
                self._add(mark)
                self._collect(child)
                self._add(_END)
            elif tag == f"{_MC}AlternateContent":
                chosen = _choose_content(child)
                if chosen is not None:
                    self._collect(chosen)
            else:
                if _is_picture(child):
                    self.pictures.append(self._length)
                self._collect(child)

    def _track_field(self, kind: str | None) -> None:
        if kind == "begin":
            self._fields.append(True)
        elif kind == "separate" and self._fields:
            self._fields[-1] = False
        elif kind == "end" and self._fields:
            self._fields.pop()

    def _add_run(self, run: Any) -> None:
        direct = run.find(f"{W}rPr")
        formats = self._formats | self._named(direct, "rStyle") | self._looks.read_formats(direct)
        kind = explain_unseen(formats)
        if kind == "hidden_text":
            self._hide("".join(text.text or "" for text in run.iter(f"{W}t")))
            return
        begin, first = self._length, len(self._parts)
        self._collect(run)
        count = sum(len("".join(part.split())) for part in self._parts[first:])
        if kind is not None and count:
            self.hidden.append(HiddenText(begin, self._length, kind, count))


def _read_symbol(element: Any) -> str:
    """Return the letter that a symbol shows; nothing for signs of a font of symbols."""
    code, font = str(element.get(f"{W}char", "")), str(element.get(f"{W}font", ""))
    if not re.fullmatch("[0-9A-Fa-f]{4}", code) or _SYMBOLS.search(font):
        return ""
    value = int(code, 16)
    letter = chr(value - 0xF000 if 0xF000 <= value <= 0xF0FF else value)
    return letter if letter.isprintable() else ""


def _choose_content(alternates: Any) -> Any:
    """Return the first of alternate contents whose namespaces Word knows, else the fallback."""
    for choice in alternates.iterchildren(f"{_MC}Choice", f"{_MC}Fallback"):
        required = choice.get("Requires", "").split()
        if all(_KNOWN.match(choice.nsmap.get(prefix) or "") for prefix in required):
            return choice
    return None


def _is_picture(element: Any) -> bool:
    """Return whether an element is a picture, or a drawing whose text is elsewhere."""
    if element.tag == f"{_VML}imagedata":
        # An embedded object, such as a formula, has a picture too.
        return next(element.iterancestors(f"{W}object"), None) is None
    if element.tag == _GRAPHIC:
        return str(element.get("uri", "")).endswith(_DRAWN)
    return bool(element.tag == f"{_PIC}pic")
