"""Files of text: one file, one document.

A file of text is plain text in any encoding, Markdown, HTML, a Word document
or a PDF; `files` reads them all.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from neardup._engine.messages import Message
from neardup.exceptions import InputError
from neardup.readers.batch import Piece, Problem, Run, parts_of
from neardup.readers.fields import Fields
from neardup.readers.files import Limits, UnreadableFileError, contents, read_record
from neardup.readers.formats import by_name
from neardup.readers.remarks import Remarks
from neardup.readers.source import Row, texts_array
from neardup.readers.streams import Blob, printable

__all__ = ["TextFiles"]

_FILES = 1024
_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class TextFile:
    """A text file, its id, and the problem if it could not be opened."""

    id: str
    blob: Blob | None
    compression: str | None
    problem: Problem | None = None


class TextFiles:
    """A source whose records are files. A record is one file, so its number is 1.

    `remarks` has what is worth telling about the files, once they were read.
    """

    format = "text"

    def __init__(self, name: str, files: list[TextFile]) -> None:
        self.name = name
        self.files = files
        self.remarks = Remarks()

    @classmethod
    def single(cls, blob: Blob, compression: str | None) -> "TextFiles":
        """Take one file; its id is its path as given."""
        return cls(blob.name, [TextFile(blob.name, blob, compression)])

    @classmethod
    def several(cls, name: str, paths: Iterable[tuple[str, str]]) -> "TextFiles":
        """Take several files, each with its id, under the name of their folder."""
        files = []
        for path, key in paths:
            try:
                blob = Blob(path)
                compression = blob.format(by_name(path)).compression
            except InputError as error:
                problem = _unreadable(printable(path), error)
                files.append(TextFile(key, None, None, problem))
            else:
                files.append(TextFile(key, blob, compression))
        return cls(name, files)

    def check_unchanged(self) -> None:
        """Raise InputError if a file is not that of the first pass."""
        for file in self.files:
            if file.blob is not None:
                file.blob.check_unchanged()

    def pieces(self, fields: Fields, titles: bool, size: int) -> Iterator[Piece]:
        """Read the texts, in pieces of about `size` bytes."""
        del titles
        texts: list[str | None] = []
        ids: list[str] = []
        problems: list[tuple[int, Problem]] = []
        runs: list[Run] = []
        held = 0
        self.remarks = Remarks()

        def piece() -> Piece:
            extra: dict[str, list[object]] = {name: [None] * len(ids) for name in fields.extra}
            return Piece(texts_array(texts), ids, None, extra, problems, held, runs)

        for file in self.files:
            read, count, notes = _read(file)
            self.remarks.add(file.id if file.blob is None else file.blob.name, notes)
            if isinstance(read, Problem):
                problems.append((len(ids), read))
                texts.append(None)
            else:
                texts.append(read)
            runs.append((len(ids), file.id if file.blob is None else file.blob.name, 1))
            ids.append(file.id)
            held += count
            if held >= size or len(ids) >= _FILES:
                yield piece()
                texts, ids, problems, runs, held = [], [], [], [], 0
        if ids:
            yield piece()

    def rows(self) -> Iterator[list[Row]]:
        """Read records with the fields id and text."""
        rows: list[Row] = []
        held = 0
        for file in self.files:
            read, count, _ = _read(file)
            if isinstance(read, Problem):
                why = Message("readers.unreadable_not_converted")
                rows.append(replace(read, reason=why, found=None, remedy=""))
            else:
                rows.append({"id": file.id, "text": read})
            held += count
            if held >= _CHUNK or len(rows) >= _FILES:
                yield rows
                rows, held = [], 0
        if rows:
            yield rows


def _read(file: TextFile) -> tuple[str | Problem, int, tuple[Message, ...]]:
    """Return the text or the problem, the bytes it took, and notes."""
    if file.blob is None:
        assert file.problem is not None
        return file.problem, 0, ()
    name = file.blob.name
    raw = b""
    try:
        raw = contents(file.blob, file.compression, Limits())
        found = read_record(raw, name)
    except UnreadableFileError as error:
        return replace(error.problem, record=1), len(raw), ()
    except InputError as error:
        return _unreadable(name, error), 0, ()
    return found.text, len(raw), found.notes


def _unreadable(name: str, error: InputError) -> Problem:
    """Return the problem of a file that cannot be opened."""
    found, _, _ = parts_of(error)
    return Problem(name, 1, None, Message("readers.must_be_readable", where=""), found)
