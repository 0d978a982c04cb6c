"""Documents for tests, made here: PDF pages of placed lines, Word documents of XML."""

import io
import struct
import tarfile
import zipfile
from xml.sax.saxutils import escape

from fontTools.fontBuilder import FontBuilder
from fontTools.pens.ttGlyphPen import TTGlyphPen

WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
DRAWING = "http://schemas.openxmlformats.org/drawingml/2006/main"
#: Operators that show a picture of one point.
PICTURE = "BI /W 1 /H 1 /BPC 8 /CS /G ID x EI"
RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def _font(characters):
    """Make a TrueType font of squares: the n-th character has glyph n + 1.

    A reader places letters by their outlines, so a file without its font would be read
    differently on each machine.
    """
    widths = [0] + [_width(character) for character in characters]
    names = [".notdef"] + [f"glyph{index}" for index in range(len(characters))]
    glyphs = {}
    for name, width, character in zip(names, widths, " " + characters, strict=True):
        pen = TTGlyphPen(None)
        if not character.isspace():
            pen.moveTo((40, -80))
            for corner in ((40, 820), (width - 40, 820), (width - 40, -80)):
                pen.lineTo(corner)
            pen.closePath()
        glyphs[name] = pen.glyph()
    font = FontBuilder(1000)
    font.setupGlyphOrder(names)
    font.setupCharacterMap({ord(c): name for c, name in zip(characters, names[1:], strict=True)})
    font.setupGlyf(glyphs)
    font.setupHorizontalMetrics({n: (w, 0) for n, w in zip(names, widths, strict=True)})
    font.setupHorizontalHeader(ascent=880, descent=-120)
    font.setupNameTable({"familyName": "Squares", "styleName": "Regular"})
    font.setupOS2()
    font.setupPost()
    out = io.BytesIO()
    font.save(out)
    return out.getvalue()


def _width(character):
    return 500 if character.isascii() else 1000


def _stream(data, keys=""):
    text = data.hex()
    return f"<< {keys} /Filter /ASCIIHexDecode /Length {len(text)} >>\nstream\n{text}\nendstream"


def _to_unicode(characters):
    """Make the table that says which letter a glyph shows."""
    pairs = [
        f"<{index:04x}> <{c.encode('utf-16-be').hex()}>" for index, c in enumerate(characters, 1)
    ]
    parts = []
    for begin in range(0, len(pairs), 100):
        chosen = pairs[begin : begin + 100]
        parts.append(f"{len(chosen)} beginbfchar\n" + "\n".join(chosen) + "\nendbfchar\n")
    return (
        "/CIDInit /ProcSet findresource begin\n12 dict begin\nbegincmap\n/CMapType 2 def\n"
        "1 begincodespacerange\n<0000> <ffff>\nendcodespacerange\n"
        f"{''.join(parts)}endcmap\nend\nend\n"
    ).encode()


def pdf(pages, stated=None):
    """Make a PDF; a page is a list of lines (x, y, size, text) in points.

    A line may have operators that precede it and hold for it only, such as "1 g" for white.
    `stated` returns, for the letters that the font shows, those that its table states.
    """
    characters = "".join(sorted({c for lines in pages for line in lines for c in line[3]}))
    glyphs = {character: f"{index:04x}" for index, character in enumerate(characters, 1)}
    font = _font(characters)
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        "",
        "<< /Type /Font /Subtype /Type0 /BaseFont /Squares /Encoding /Identity-H"
        " /DescendantFonts [4 0 R] /ToUnicode 7 0 R >>",
        "<< /Type /Font /Subtype /CIDFontType2 /BaseFont /Squares /CIDToGIDMap /Identity"
        " /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >>"
        f" /DW 1000 /W [1 [{' '.join(str(_width(c)) for c in characters)}]]"
        " /FontDescriptor 5 0 R >>",
        "<< /Type /FontDescriptor /FontName /Squares /Flags 4 /FontBBox [0 -120 1000 880]"
        " /ItalicAngle 0 /Ascent 880 /Descent -120 /CapHeight 880 /StemV 93 /FontFile2 6 0 R >>",
        _stream(font, f"/Length1 {len(font)}"),
        _stream(_to_unicode(stated(characters) if stated else characters)),
    ]
    kids = []
    for lines in pages:
        shown = "".join(
            f"q {' '.join(before)} BT /F1 {size} Tf 1 0 0 1 {x} {y} Tm"
            f" <{''.join(map(glyphs.get, text))}> Tj ET Q\n"
            for x, y, size, text, *before in lines
        )
        objects.append(f"<< /Length {len(shown)} >>\nstream\n{shown}endstream")
        objects.append(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842]"
            f" /Resources << /Font << /F1 3 0 R >> >> /Contents {len(objects)} 0 R >>"
        )
        kids.append(f"{len(objects)} 0 R")
    objects[1] = f"<< /Type /Pages /Count {len(kids)} /Kids [{' '.join(kids)}] >>"
    out = b"%PDF-1.4\n"
    places = []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += f"{number} 0 obj\n{body}\nendobj\n".encode()
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    count = len(objects) + 1
    end = f"xref\n0 {count}\n0000000000 65535 f \n{table}trailer << /Size {count} /Root 1 0 R >>\n"
    return out + f"{end}startxref\n{len(out)}\n%%EOF\n".encode()


def without_page(data, number):
    """Return a PDF of `pdf` in which the page of a number, from 1, is damaged."""
    begin = -1
    for _ in range(number):
        begin = data.index(b"<< /Type /Page ", begin + 1)
    end = data.index(b"endobj", begin)
    return data[:begin] + b" " * (end - begin) + data[end:]


def column(texts, *, x=90, top=760, size=12, wide=20, indent=2, leading=18):
    """Set paragraphs in lines of so many letters, as a typesetter does."""
    lines = []
    y = top
    for text in texts:
        rest, begin = text, indent
        while rest:
            room = wide - begin
            lines.append((x + begin * size, y, size, rest[:room]))
            rest, begin = rest[room:], 0
            y -= leading
    return lines


def paragraph(text, style=None):
    """Return the XML of a paragraph of one run."""
    properties = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    return f"<w:p>{properties}{run(text)}</w:p>"


def run(text, properties=""):
    """Return the XML of a run."""
    return f'<w:r>{properties}<w:t xml:space="preserve">{escape(text)}</w:t></w:r>'


def docx(body, *, footnotes=None, styles="", members=(), before="", theme="", settings=""):
    """Make a Word document of the XML of its body, and of what is before that."""
    kinds = {"styles": f'<w:styles xmlns:w="{WORD}">{styles}</w:styles>'}
    if settings:
        kinds["settings"] = f'<w:settings xmlns:w="{WORD}">{settings}</w:settings>'
    if theme:
        kinds["theme"] = f'<a:clrScheme xmlns:a="{DRAWING}">{theme}</a:clrScheme>'
    if footnotes is not None:
        kinds["footnotes"] = f'<w:footnotes xmlns:w="{WORD}">{footnotes}</w:footnotes>'
    types = "application/vnd.openxmlformats-officedocument.wordprocessingml"
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        overrides = "".join(
            f'<Override PartName="/word/{kind}.xml" ContentType="{types}.{kind}+xml"/>'
            for kind in kinds
        )
        archive.writestr(
            "[Content_Types].xml",
            '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
            '<Default Extension="rels"'
            ' ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
            '<Override PartName="/word/document.xml"'
            f' ContentType="{types}.document.main+xml"/>{overrides}</Types>',
        )
        archive.writestr("_rels/.rels", _relations({"officeDocument": "word/document.xml"}))
        archive.writestr(
            "word/_rels/document.xml.rels", _relations({kind: f"{kind}.xml" for kind in kinds})
        )
        archive.writestr(
            "word/document.xml",
            f'<w:document xmlns:w="{WORD}" xmlns:mc='
            '"http://schemas.openxmlformats.org/markup-compatibility/2006"'
            ' xmlns:w14="http://schemas.microsoft.com/office/word/2010/wordml">'
            f"{before}<w:body>{body}</w:body></w:document>",
        )
        for kind, xml in kinds.items():
            archive.writestr(f"word/{kind}.xml", xml)
        for name, data in members:
            archive.writestr(name, data)
    return out.getvalue()


def repacked(data, without=(), cut=None, change=()):
    """Make a Word document without some parts, with a damaged part, or with changed bytes."""
    files = {}
    with zipfile.ZipFile(io.BytesIO(data)) as old:
        for name in (name for name in old.namelist() if name not in without):
            files[name] = old.read(name)[: -8 if name == cut else None]
            for old_bytes, new_bytes in change:
                files[name] = files[name].replace(old_bytes, new_bytes)
    return zipped(files)


def zipped(files, method=zipfile.ZIP_DEFLATED):
    """Make a zip of contents by their names."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as new:
        for name, data in files.items():
            new.writestr(name, data)
    return out.getvalue()


def tarred(files, more=(), **options):
    """Make a tar archive of contents by their names, and of names with other types."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", **options) as new:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            new.addfile(member, io.BytesIO(data))
        for name, kind in more:
            member = tarfile.TarInfo(name)
            member.type, member.linkname = kind, "e.txt"
            new.addfile(member)
    return out.getvalue()


def encrypted(data):
    """Set the flag of an encrypted file at the first file of a zip."""
    for begin, place in ((b"PK\1\2", 8), (b"PK\3\4", 6)):
        number = data.index(begin) + place
        flags = struct.unpack_from("<H", data, number)[0] | 1
        data = data[:number] + struct.pack("<H", flags) + data[number + 2 :]
    return data


def misstated(data, size):
    """State a smaller size in the directory of a zip than its first file has."""
    number = data.index(b"PK\1\2") + 24
    return data[:number] + struct.pack("<I", size) + data[number + 4 :]


def _relations(targets):
    return (
        '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
        + "".join(
            f'<Relationship Id="r{i}" Type="{RELATIONS}/{kind}" Target="{target}"/>'
            for i, (kind, target) in enumerate(targets.items())
        )
        + "</Relationships>"
    )
