"""HTML pages: the main text, without menus, advertisements and footers.

trafilatura finds the main text of a page, and everything between its beginning and
its end is read. If it finds nothing, as on pages with little text, all visible text is
read. Links, frames and scripts are not followed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from html import unescape

from neardup.base.extras import require
from neardup.base.messages import N_, Message
from neardup.readers.document_text import Paragraphs

_HTML = re.compile(
    r"(?:\s|<!--.*?-->|<\?xml[^>]*>)*<(?:!doctype\s+html|html|head|body)\b", re.I | re.S
)
_CHARSET = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([\w-]{2,30})", re.I)
_XML = re.compile(rb"^\s*<\?xml[^>]{0,100}?encoding\s*=\s*[\"']([\w-]{2,30})", re.I)

#: Pages beyond these bounds are read whole. An element takes 30 microseconds of finding the main
#: text, parsers recurse into depth, and their time grows with the square of the attributes.
_LARGE = 8 << 20
_MOST_ELEMENTS, _MOST_ATTRIBUTES, _DEEP = 40_000, 256, 200
#: On pages of more elements the main text has no second opinion: the square of the paragraphs.
_FAST = 10_000

_BLOCK_NAMES = """
    address article aside blockquote body br caption center dd details dialog div dl dt fieldset
    figcaption figure footer form h1 h2 h3 h4 h5 h6 head header hr html legend li main nav ol
    option p pre section summary table tbody tfoot thead title tr ul
"""
_HIDDEN_NAMES = "iframe math noscript object script select style svg template textarea"
_BLOCKS = frozenset(_BLOCK_NAMES.split())
_HIDDEN = frozenset(_HIDDEN_NAMES.split())
_ASIDE = frozenset(("nav", "aside", "footer", "form", "title"))
_HEADING = re.compile(r"h[1-6]$")
_SPACE = re.compile(r"\s+")
_WIDE = "\u2e80-\u303f\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef"
_BETWEEN = re.compile(f"(?<=[{_WIDE}])[ \\t]*[\\r\\n]\\s*(?=[{_WIDE}])")
_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9:-]*)(>?)")
#: A quote begins a value only after an equals sign; the value may contain ``>``.
_ATTRIBUTES = re.compile(r"""(?:[^>=]++|=\s*+(?:"[^"]*+"|'[^']*+')?+)*+>""")
_LONG_NUMBER = re.compile(r"&#(?:[0-9]{8,}|[xX][0-9a-fA-F]{7,});?")
#: Paragraphs that begin with this many equal characters are the same.
_SAME = 20


def is_html(text: str) -> bool:
    """Return whether a text begins like an HTML page."""
    return _HTML.match(text[:4096]) is not None


def find_declared_encoding(data: bytes) -> str | None:
    """Return the encoding that a page declares, which may be wrong."""
    match = _CHARSET.search(data[:4096]) or _XML.search(data[:4096])
    return None if match is None else match[1].decode("ascii")


def read_html(text: str) -> tuple[Paragraphs, tuple[Message, ...]]:
    """Return the paragraphs of a page, and a note if its main text was not looked for."""
    require(N_("Reading HTML"), "papers", "trafilatura")
    text = text.replace("\0", "")
    parts = _Page(text).parts
    tree = _Tree.of(text)
    notes: tuple[Message, ...] = ()
    main = ""
    if tree.is_large:
        notes = (
            Message(
                "The page is too large or too deep to find its main text: all of its "
                "visible text is read."
            ),
        )
    elif parts:
        main = _find_main_text(text, fast=tree.elements > _FAST)
    out = Paragraphs()
    for part in _find_main_part(parts, main):
        out.add(part.text, part.level)
    return out, notes


def _find_main_text(text: str, *, fast: bool) -> str:
    import trafilatura

    # If it fails on a page, the visible text can still be read.
    with suppress(Exception):
        extraction = trafilatura.bare_extraction(
            text,
            fast=fast,
            favor_recall=True,
            include_comments=False,
            include_tables=True,
            with_metadata=False,
        )
        return str(getattr(extraction, "text", None) or "")
    return ""


class _Tree:
    """The size of the tree that trafilatura's parser makes of a page, without making it."""

    def __init__(self) -> None:
        self.elements = self.depth = 0
        self.is_large = False

    @classmethod
    def of(cls, text: str) -> _Tree:
        """Return the size of the tree of a page."""
        from lxml import etree
        from trafilatura.utils import repair_faulty_html

        tree = cls()
        if len(text) > _LARGE:
            tree.is_large = True
            return tree
        repaired = repair_faulty_html(text, text[:50].lower())
        # A page that the parser refuses has no main text.
        with suppress(Exception):
            etree.fromstring(
                repaired.encode("utf-8", "surrogatepass"),
                etree.HTMLParser(target=tree, encoding="utf-8"),
            )
        return tree

    def start(self, _tag: str, attributes: Mapping[str, str]) -> None:
        """Count an element."""
        self.elements += 1
        self.depth += 1
        if (
            self.elements > _MOST_ELEMENTS
            or self.depth > _DEEP
            or len(attributes) > _MOST_ATTRIBUTES
        ):
            self.is_large = True

    def end(self, _tag: str) -> None:
        """Leave an element."""
        self.depth -= 1

    def close(self) -> None:
        """Return nothing: no tree is made."""


def _find_main_part(shown: list[_Part], main: str) -> list[_Part]:
    """Return the parts between the first and the last paragraph of the main text."""
    lines = {_SPACE.sub("", line) for line in main.splitlines()} - {""}
    if not lines:
        return shown
    begins = {line[:_SAME] for line in lines if len(line) >= _SAME}
    places = []
    for number, part in enumerate(shown):
        bare = _SPACE.sub("", part.text)
        if not part.aside and (bare in lines or bare[:_SAME] in begins):
            places.append(number)
    if not places:
        return shown
    begin = places[0]
    while begin and shown[begin - 1].level:
        begin -= 1
    return [part for part in shown[begin : places[-1] + 1] if not part.aside]


@dataclass(frozen=True, slots=True)
class _Part:
    text: str
    level: int
    #: Whether it is in an element for other content, such as ``nav``.
    aside: bool


class _Page:
    """The visible text of a page, by paragraphs.

    Broken markup affects nothing else, and every page takes linear time: the standard
    library's parser takes minutes for a megabyte of ``<!--``.
    """

    def __init__(self, text: str) -> None:
        self.parts: list[_Part] = []
        self._text = text
        self._chunks: list[str] = []
        self._level = self._aside = 0
        #: Strings that do not occur in the rest of the text.
        self._absent: set[str] = set()
        self._quotes = True
        self._read()

    def _read(self) -> None:
        text = self._text
        position = 0
        while (less := text.find("<", position)) >= 0:
            if less > position:
                self._chunks.append(_unescape(text[position:less]))
            position = self._read_markup(less)
        self._chunks.append(_unescape(text[position:]))
        self._end_part()

    def _read_markup(self, begin: int) -> int:
        """Read the markup that begins with ``<``, and return its end."""
        text = self._text
        tag = _TAG.match(text, begin)
        if tag is None:
            if text.startswith("<!--", begin):
                end = self._find("-->", begin + 4)
                return begin + 4 if end < 0 else end + 3
            if text.startswith(("<!", "<?"), begin):
                end = self._find(">", begin)
                return begin + 2 if end < 0 else end + 1
            self._chunks.append("<")
            return begin + 1
        end = tag.end() if tag[3] else self._find_tag_end(tag.end())
        if end < 0:
            return tag.end()
        name = tag[2].lower()
        if tag[1]:
            self._close(name)
        else:
            self._open(name)
            if name in _HIDDEN and text[end - 2] != "/":
                close = self._find(f"</{name}", end)
                return end if close < 0 else close
        return end

    def _find_tag_end(self, begin: int) -> int:
        """Return the end of a tag; negative if it has none."""
        if self._find(">", begin) < 0:
            return -1
        if self._quotes:
            attributes = _ATTRIBUTES.match(self._text, begin)
            if attributes is not None:
                return attributes.end()
            # The last ``>`` is in quotes: do not search that far for later tags.
            self._quotes = False
        return self._find(">", begin) + 1 or -1

    def _find(self, mark: str, begin: int) -> int:
        if mark in self._absent:
            return -1
        if mark.startswith("</"):
            match = re.compile(mark, re.I).search(self._text, begin)
            position = -1 if match is None else match.start()
        else:
            position = self._text.find(mark, begin)
        if position < 0:
            self._absent.add(mark)
        return position

    def _open(self, tag: str) -> None:
        if tag in _BLOCKS:
            self._end_part()
            self._aside += tag in _ASIDE
            if _HEADING.match(tag):
                self._level = int(tag[1])
        elif tag in ("td", "th"):
            self._chunks.append("\t")

    def _close(self, tag: str) -> None:
        if tag in _BLOCKS:
            self._end_part()
            self._aside = max(0, self._aside - (tag in _ASIDE))

    def _end_part(self) -> None:
        self._level, level = 0, self._level
        if not self._chunks:
            return
        # White space as a browser shows it, without line ends between Chinese characters.
        cells = ("".join(self._chunks)).split("\t")
        cells = [" ".join(_BETWEEN.sub("", cell).split()) for cell in cells]
        text = "\t".join(cell for cell in cells if cell)
        if text:
            self.parts.append(_Part(text, level, self._aside > 0))
        self._chunks = []


def _unescape(text: str) -> str:
    """Replace entities by characters, and numbers beyond Unicode by U+FFFD."""
    return unescape(_LONG_NUMBER.sub("\ufffd", text)) if "&" in text else text
