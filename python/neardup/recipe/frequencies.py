"""Tables of document frequencies, and their files.

The file is text. The first lines have the format, the kind of the counted units and
the number of documents; each further line has a word, a tab and its count, sorted by
word. Files named ``.gz``, ``.zst``, ``.xz`` or ``.bz2`` are compressed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from neardup.base.messages import Message
from neardup.base.validation import check_flag, check_path
from neardup.exceptions import InputError

_MAGIC = "#neardup-idf"
_VERSION = "1"
_ESCAPES = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"}


@dataclass(frozen=True)
class DocumentFrequencies:
    """The number of documents of a corpus that contain each word.

    Parameters
    ----------
    documents : int
        Number of documents counted.
    counts : mapping of str to int
        Documents that contain the word; 1 <= count <= documents. In the order
        of the words' code points.
    units : str
        The kind of units: words of different segmenters are not comparable.
    """

    documents: int
    counts: Mapping[str, int]
    units: str

    def save(self, path: str | Path, *, force: bool = False) -> None:
        """Write the table, completely or not at all.

        Parameters
        ----------
        path : str or Path
            Compressed if it ends in ``.gz``, ``.zst``, ``.xz`` or ``.bz2``.
        force : bool, default=False
            Replace a file that exists.

        Raises
        ------
        OutputError
            If the file exists or cannot be written.
        """
        from neardup.writers import write_file

        check_flag(force, "force")
        write_file(check_path(path, "path"), self.to_bytes(), force=force)

    def to_bytes(self) -> bytes:
        """Return the contents of the file, in UTF-8."""
        lines = [f"{_MAGIC}\t{_VERSION}", f"#units\t{self.units}", f"#documents\t{self.documents}"]
        lines += [f"{_escape(word)}\t{count}" for word, count in self.counts.items()]
        return ("\n".join(lines) + "\n").encode()


def load_idf(path: str | Path) -> DocumentFrequencies:
    """Read a table that :meth:`DocumentFrequencies.save` wrote.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    DocumentFrequencies

    Raises
    ------
    InputError
        If the file cannot be read or is not such a table; the error names the line.
    """
    from neardup.readers.streams import read_unpacked

    path = check_path(path, "path")
    try:
        lines = read_unpacked(path).decode().split("\n")
    except UnicodeDecodeError as error:
        raise InputError(
            Message(
                "{file}: byte {byte} is not valid UTF-8.",
                code="invalid_utf8",
                file=str(path),
                byte=error.start,
            )
        ) from error
    header = [line.partition("\t") for line in lines[:3]]
    names = [part[0] for part in header]
    if names != [_MAGIC, "#units", "#documents"] or not _is_number(header[2][2]):
        raise InputError(
            Message(
                "{file}: not a table of document frequencies; make one with: neardup idf",
                file=str(path),
            )
        )
    if header[0][2] != _VERSION:
        raise InputError(
            Message(
                "{file}: format {found}, this version reads {expected}; count again "
                "with: neardup idf",
                code="other_version",
                file=str(path),
                found=header[0][2],
                expected=_VERSION,
            )
        )
    documents = int(header[2][2])
    counts: dict[str, int] = {}
    for number, line in enumerate(lines[3:], start=4):
        if not line:
            continue
        word, tab, count = line.rpartition("\t")
        word = _unescape(word)
        right = tab and _is_number(count) and 1 <= int(count) <= documents
        if not right or word in counts:
            raise InputError(
                Message(
                    "{file}: line {line}: expected a new word, a tab and a count from 1 "
                    "to {documents}, found {found}.",
                    file=str(path),
                    line=number,
                    documents=documents,
                    found=repr(line[:60]),
                )
            )
        counts[word] = int(count)
    return DocumentFrequencies(documents, counts, header[1][2])


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit()


def _escape(word: str) -> str:
    return "".join(_ESCAPES.get(c, c) for c in word)


def _unescape(word: str) -> str:
    if "\\" not in word:
        return word
    back = {escaped[1]: raw for raw, escaped in _ESCAPES.items()}
    out, characters = [], iter(word)
    for c in characters:
        out.append(back.get(next(characters, ""), "") if c == "\\" else c)
    return "".join(out)
