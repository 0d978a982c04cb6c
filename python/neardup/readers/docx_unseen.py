"""Text of a Word document that nobody sees: hidden, white, tiny, cut off, or off the page.

The formats of a run are a mapping from names to values. The operator `|` joins the formats of a
run, of its style and paragraph, and the default.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from neardup.readers.document_text import TINY, is_like

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_W14 = "{http://schemas.microsoft.com/office/word/2010/wordml}"

#: Names of colours in documents, and in the theme, where the settings do not map them otherwise.
_IN_THEME = {
    "background1": "lt1",
    "bg1": "lt1",
    "light1": "lt1",
    "text1": "dk1",
    "tx1": "dk1",
    "dark1": "dk1",
    "background2": "lt2",
    "bg2": "lt2",
    "light2": "lt2",
    "text2": "dk2",
    "tx2": "dk2",
    "dark2": "dk2",
    "hyperlink": "hlink",
    "followedHyperlink": "folHlink",
}
#: Names that settings map.
_MAPPED = {"background1": "bg1", "text1": "t1", "background2": "bg2", "text2": "t2"}
#: The colours of a document without a theme.
_USUAL = {"lt1": "FFFFFF", "dk1": "000000"}
_HEX = re.compile("[0-9A-Fa-f]{6}")
_NUMBER = re.compile(r"-?\d{1,9}")
#: Twentieths of a point: wider than a page, and the line height of tiny letters.
_OFF_PAGE, _FLAT = 16_000, 40
#: Letters that are narrower than this, in percent, are unreadable.
_NARROW = 10
#: Spacing, as a share of the size of the letters, that moves each onto the one before.
_PILED = 0.9
#: Letters as transparent as that, in thousandths of a percent, are invisible.
_CLEAR = 90_000


@dataclass(frozen=True)
class Looks:
    """How text of a document looks, by its theme: colours by name, in hexadecimal."""

    colours: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, themes: Iterable[Any], settings: Iterable[Any]) -> Looks:
        """Return the looks of a document by the roots of its theme and settings."""
        in_theme = dict(_USUAL)
        for scheme in (part for root in themes for part in root.iter(f"{_A}clrScheme")):
            for colour in scheme.iterchildren():
                for entry in colour.iterchildren():
                    value = entry.get("lastClr") or entry.get("val", "")
                    if isinstance(colour.tag, str) and _HEX.fullmatch(value):
                        in_theme[colour.tag.rpartition("}")[2]] = value
        colours = {name: in_theme[key] for name, key in _IN_THEME.items() if key in in_theme}
        mappings = (part for root in settings for part in root.iter(f"{W}clrSchemeMapping"))
        mapped: Mapping[str, str] = next(mappings, {})
        for name, key in _MAPPED.items():
            entry = mapped.get(f"{W}{key}", "")
            if entry in colours:
                colours[name] = in_theme[_IN_THEME[entry]]
        return cls({**in_theme, **colours})

    def read_formats(self, properties: Any) -> dict[str, str]:
        """Return the formats that may make letters unseen, and the colour below, "" if unknown."""
        if properties is None:
            return {}
        names = ("vanish", "sz", "w", "spacing")
        named = {name: read_value(properties, name, "on") for name in names}
        formats = {name: value for name, value in named.items() if value}
        # The spacing of a paragraph applies to its lines.
        line = properties.find(f"{W}spacing")
        if line is not None and line.get(f"{W}val") is None:
            del formats["spacing"]
            if line.get(f"{W}line") is not None:
                is_exact = line.get(f"{W}lineRule") == "exact"
                formats["line"] = line.get(f"{W}line") if is_exact else ""
        indent = properties.find(f"{W}ind")
        if indent is not None:
            formats["indent"] = indent.get(f"{W}left") or indent.get(f"{W}start") or ""
        if (colour := self._read_colour(properties)) is not None:
            formats["color"] = colour
        shading, highlight = properties.find(f"{W}shd"), read_value(properties, "highlight")
        if highlight not in ("", "none"):
            formats["ground"] = "FFFFFF" if highlight == "white" else ""
        elif shading is not None and (fill := self.read_fill(shading)) is not None:
            formats["ground"] = fill
        return formats

    def read_fill(self, shading: Any) -> str | None:
        """Return the colour of a shading, "" for a pattern; None if what is below shows."""
        fill = self._apply_theme(shading, "Fill", str(shading.get(f"{W}fill", "auto")))
        if shading.get(f"{W}val") not in ("clear", "nil"):
            return ""
        return None if fill.lower() == "auto" else fill

    def _read_colour(self, properties: Any) -> str | None:
        """Return the colour of letters, "clear" if what is below shows; None if none is given."""
        effect = properties.find(f"{_W14}textFill")
        if effect is not None:
            if effect.find(f"{_W14}noFill") is not None:
                return "clear"
            for fill in effect.iterfind(f"{_W14}solidFill/*"):
                alpha = fill.find(f"{_W14}alpha")
                if alpha is not None and _parse_number(alpha.get(f"{_W14}val")) >= _CLEAR:
                    return "clear"
                value = str(fill.get(f"{_W14}val", ""))
                return self.colours.get(value, value)
        colour = properties.find(f"{W}color")
        return (
            None
            if colour is None
            else self._apply_theme(colour, "Color", colour.get(f"{W}val", ""))
        )

    def _apply_theme(self, element: Any, kind: str, value: str) -> str:
        """Return the colour of the theme that an element names, else its value."""
        named = self.colours.get(element.get(f"{W}theme{kind}", ""))
        if named is None:
            return value
        prefix = "theme" if kind == "Color" else f"theme{kind}"
        parts = bytes.fromhex(named)
        with contextlib.suppress(ValueError):
            if tint := element.get(f"{W}{prefix}Tint"):
                parts = bytes(255 - (255 - part) * int(tint, 16) // 255 for part in parts)
            if shade := element.get(f"{W}{prefix}Shade"):
                parts = bytes(part * int(shade, 16) // 255 for part in parts)
        return parts.hex()


def read_value(parent: Any, name: str, default: str = "") -> str:
    """Return the value of an element's child; `default` if that has none, "" without a child."""
    element = None if parent is None else parent.find(f"{W}{name}")
    return "" if element is None else str(element.get(f"{W}val", default))


def read_row_formats(row: Any) -> dict[str, str]:
    """Return the height of a table's row that cuts off what is higher."""
    height = row.find(f"{W}trPr/{W}trHeight")
    is_exact = height is not None and height.get(f"{W}hRule") == "exact"
    return {"row": height.get(f"{W}val", "")} if is_exact else {}


def is_on(formats: Mapping[str, str], name: str) -> bool:
    """Return whether a format is given and not switched off."""
    return formats.get(name, "off") not in ("0", "false", "off")


def explain_unseen(formats: Mapping[str, str]) -> str | None:
    """Return why nobody sees the text of a run; None if it is visible."""
    if is_on(formats, "vanish") or abs(_parse_number(formats.get("indent"))) > _OFF_PAGE:
        return "hidden_text"
    size = _parse_number(formats.get("sz"), 2 * 10) / 2
    width = _parse_number(formats.get("w", "").removesuffix("%"), 100)
    closer = -_parse_number(formats.get("spacing")) / 20
    lines = (_parse_number(formats.get(name), _FLAT + 1) for name in ("line", "row"))
    is_cut = any(0 < line <= _FLAT for line in lines)
    if size <= TINY or 0 < width < _NARROW or closer > _PILED * size or is_cut:
        return "tiny_text"
    if formats.get("color") == "clear":
        return "white_text"
    try:
        letters, ground = (bytes.fromhex(formats.get(name, "")) for name in ("color", "ground"))
    except ValueError:  # For example 'auto', which shows on every ground.
        return None
    return "white_text" if len(letters) == 3 and is_like(letters, ground) else None


def _parse_number(value: str | None, default: int = 0) -> int:
    return int(value) if value is not None and _NUMBER.fullmatch(value) else default
