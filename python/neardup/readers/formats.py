"""The formats of files: names, extensions, readers; detected by a name and by first bytes."""

import os
import re
from typing import Literal, NamedTuple, get_args

from neardup.base.messages import Message
from neardup.base.validation import bad, check_choice

FormatName = Literal["jsonl", "parquet", "arrow", "csv", "tsv", "text"]
FORMATS: tuple[str, ...] = get_args(FormatName)

#: Module of the reader of each format, imported for a file of the format; and what opens it.
READERS = {
    "jsonl": ("jsonl", "JsonLines"),
    "parquet": ("parquet", "Parquet"),
    "arrow": ("arrow", "ArrowFile"),
    "csv": ("delimited", "DelimitedSource"),
    "tsv": ("delimited", "TabSeparatedSource"),
    "text": ("text_files", "open_text_file"),
}

_FORMAT_OF = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".parquet": "parquet",
    **dict.fromkeys((".arrow", ".arrows", ".feather", ".ipc"), "arrow"),
    ".csv": "csv",
    ".tsv": "tsv",
    ".txt": "text",
    ".md": "text",
    ".markdown": "text",
    ".html": "text",
    ".htm": "text",
    ".docx": "text",
    ".docm": "text",
    ".pdf": "text",
}
#: The extensions that help lists, one or two of each kind of file.
SHOWN_EXTENSIONS = ".jsonl .parquet .arrow .csv .tsv .txt .md .html .docx .pdf"
_COMPRESSION_OF = {".gz": "gzip", ".zst": "zstd", ".xz": "xz", ".bz2": "bzip2"}
# Read as folders are; a .tar may be compressed, too.
_ARCHIVES = (".zip", ".tar", ".tgz", ".tzst", ".txz", ".tbz2")

COMPRESSED = tuple(_COMPRESSION_OF)
TEXT_EXTENSIONS = tuple(e for e, f in _FORMAT_OF.items() if f == "text")

# First bytes.
_PDF = b"%PDF-"
#: How compressed data usually begin, and how else they may.
SIGNATURES = {
    "gzip": b"\x1f\x8b",
    "zstd": b"\x28\xb5\x2f\xfd",
    "xz": b"\xfd7zXZ\0",
    "bzip2": b"BZh91AY&SY",
}
_OTHER_BEGINNINGS = {
    # A frame to skip.
    "zstd": re.compile(rb"[\x50-\x5f]\x2a\x4d\x18"),
    # A block, or the end of an empty stream.
    "bzip2": re.compile(rb"BZh[1-9](?:1AY&SY|\x17rE8P\x90)"),
}
#: The key of the metadata of files of sketches, whose texts are not those of the documents.
SKETCHES = b"neardup_sketches"
#: An Arrow file, the first version of Feather, and a stream of Arrow's messages, which begins with
#: the length of the first one.
ARROW_FILE, FEATHER_1 = b"ARROW1\0\0", b"FEA1"
ARROW_STREAM = re.compile(rb"\xff{4}(?!\0{4})..[\0-\x7f]\0", re.DOTALL)
_COLUMNAR = {
    "parquet": re.compile(b"PAR1"),
    "arrow": re.compile(b"%b|%b|%b" % (ARROW_FILE, FEATHER_1, ARROW_STREAM.pattern), re.DOTALL),
}


class Format(NamedTuple):
    """A format and a compression; each is None if it is not known."""

    format: str | None
    compression: str | None


class Dialect(NamedTuple):
    """How rows of CSV or TSV are written.

    `has_blanks` tells whether a blank follows each delimiter of the header.
    """

    delimiter: str
    encoding: str = "utf-8"
    has_blanks: bool = False


def detect_by_name(name: str) -> Format:
    """Return format and compression by a file name or an address, in any case."""
    name = drop_query(name.lower())
    compression = None
    for extension, kind in _COMPRESSION_OF.items():
        if name.endswith(extension):
            name, compression = name[: -len(extension)], kind
    for extension, kind in _FORMAT_OF.items():
        if name.endswith(extension):
            return Format(kind, compression)
    return Format(None, compression)


def detect_by_content(head: bytes, named: Format) -> Format:
    """Return the format by a file's first bytes, which override any extension, or the named one."""
    if columnar := detect_columnar(head):
        return Format(columnar, None)
    if head.startswith(_PDF) and named.format is None:
        return Format("text", None)
    for compression, begin in SIGNATURES.items():
        other = _OTHER_BEGINNINGS.get(compression)
        if head.startswith(begin) or (other and other.match(head)):
            return Format(named.format, compression)
    if named.compression and SIGNATURES[named.compression].startswith(head) and head:
        # It was cut inside its first bytes.
        return named
    if named.compression and (not head or _looks_like_text(head)):
        return Format(named.format, None)
    return named


def make_extensions(format: str, compression: str | None) -> str:
    """Return the extensions of a format and a compression.

    Examples
    --------
    >>> make_extensions("csv", None), make_extensions("jsonl", "gzip")
    ('.csv', '.jsonl.gz')
    """
    packed = [extension for extension, kind in _COMPRESSION_OF.items() if kind == compression]
    return "".join([f".{format}", *packed])


def detect_columnar(head: bytes) -> str | None:
    """Return the format of a file of columns by its first bytes; None for other files."""
    return next((form for form, begin in _COLUMNAR.items() if begin.match(head)), None)


def find_extension(name: str) -> str:
    """Return the extension in lower case, without the extension of a compression.

    Examples
    --------
    >>> find_extension("dump/A.XML.gz"), find_extension("dump.gz")
    ('.xml', '')
    """
    name = os.path.basename(drop_query(name.lower()))
    for extension in _COMPRESSION_OF:
        name = name.removesuffix(extension)
    return os.path.splitext(name)[1]


def is_archive(name: str) -> bool:
    """Return whether a file is by its name an archive, whose members are read.

    Examples
    --------
    >>> is_archive("crawl.zip"), is_archive("crawl.tar.gz"), is_archive("crawl.jsonl.gz")
    (True, True, False)
    """
    return find_extension(name) in _ARCHIVES


def drop_query(name: str) -> str:
    """Return an address of a web server without what follows the path."""
    if name.startswith(("http://", "https://")):
        name = name.partition("?")[0].partition("#")[0]
    return name


def check_format(value: str | None) -> None:
    """Raise ParameterError unless `value` is None or one of FORMATS."""
    if value is not None:
        check_choice(value, "format", FORMATS)


def check_text_format(value: str | None) -> None:
    """Raise ParameterError unless `value` is None or text."""
    check_format(value)
    if value not in (None, "text"):
        raise bad("format", "text, since each file is one document", value)


def list_known() -> Message:
    """Return the known extensions for a message."""
    return Message("{names} (each also with .gz, .zst, .xz or .bz2)", names=", ".join(_FORMAT_OF))


def _looks_like_text(head: bytes) -> bool:
    if b"\0" in head:
        return False
    try:
        head.decode()
    except UnicodeDecodeError as error:
        # The head may end inside a character.
        return error.reason == "unexpected end of data"
    return True
