"""Files of text: one file, one document; a folder, all files of text below it.

A file of text is plain text in any encoding, Markdown, HTML, a Word document
or a PDF; `files` reads them all.
"""

import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

from neardup.exceptions import InputError
from neardup.readers.batch import Piece, Problem, Run, show
from neardup.readers.fields import Fields
from neardup.readers.files import Limits, UnreadableFileError, contents, read_record
from neardup.readers.formats import TEXT_EXTENSIONS, by_name
from neardup.readers.remarks import Remarks
from neardup.readers.source import Row, texts_array
from neardup.readers.streams import Blob, printable

__all__ = ["TextFiles", "files_below"]

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

    def __init__(self, name: str, files: list[TextFile], passed_over: str = "") -> None:
        self.name = name
        self.files = files
        self.remarks = Remarks()
        self._passed_over = passed_over

    @classmethod
    def single(cls, blob: Blob, compression: str | None) -> "TextFiles":
        """Take one file; its id is its path as given."""
        return cls(blob.name, [TextFile(blob.name, blob, compression)])

    @classmethod
    def folder(cls, path: str, *, short_ids: bool = True) -> "TextFiles":
        """Take all files of text below a folder.

        An id is the path inside the folder, or with the folder as given before
        it: two folders may hold files of one name.

        Raises
        ------
        InputError
            If there are none.
        """
        files = []
        found, others = files_below(path)
        for inside in found:
            full = os.path.join(path, inside)
            key = printable((inside if short_ids else full).replace(os.sep, "/"))
            try:
                blob = Blob(full)
                compression = blob.format(by_name(inside)).compression
            except InputError as error:
                reason = str(error).removeprefix(f"{printable(full)}: ").rstrip(".")
                problem = Problem(printable(full), 1, None, "must be readable", reason)
                files.append(TextFile(key, None, None, problem))
            else:
                files.append(TextFile(key, blob, compression))
        if not files:
            raise InputError(
                f"{printable(path)}: must hold text files ({', '.join(TEXT_EXTENSIONS)},"
                " also .gz or .zst). Got a folder without any instead."
            )
        return cls(printable(path), files, _passed_over(others))

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
        if self._passed_over:
            self.remarks.add(self.name, [self._passed_over])

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
                why = "what could not be read cannot be converted"
                rows.append(replace(read, reason=why, found=None, remedy=""))
            else:
                rows.append({"id": file.id, "text": read})
            held += count
            if held >= _CHUNK or len(rows) >= _FILES:
                yield rows
                rows, held = [], 0
        if rows:
            yield rows


def files_below(path: str) -> tuple[list[str], list[str]]:
    """Return the paths of the files inside a folder, in code point order.

    Those of text, and the others. Hidden files and folders (names with a
    leading dot) are passed over, and links to folders are not followed, since
    they may lead in circles.
    """

    def refuse(error: OSError) -> None:
        raise InputError(f"{printable(error.filename)}: {error.strerror}.") from error

    found: list[str] = []
    others: list[str] = []
    for folder, inner, names in os.walk(path, onerror=refuse):
        inner[:] = [name for name in inner if not name.startswith(".")]
        for name in names:
            # Word and WPS keep a file of such a name beside an open document.
            if not name.startswith((".", "~$")):
                place = found if by_name(name).format == "text" else others
                place.append(os.path.relpath(os.path.join(folder, name), path))

    def order(name: str) -> str:
        return name.replace(os.sep, "/")

    return sorted(found, key=order), sorted(others, key=order)


def _passed_over(names: list[str]) -> str:
    """Say which files of a folder are not read."""
    if not names:
        return ""
    kinds = Counter(os.path.splitext(name)[1].lower() or "no extension" for name in names)
    shown = ", ".join(f"{count} {show(kind)}" for kind, count in sorted(kinds.items())[:6])
    files = (
        "1 file of another format is"
        if len(names) == 1
        else (f"{len(names)} files of other formats are")
    )
    return f"{files} passed over: {shown}{', ...' if len(kinds) > 6 else ''}."


def _read(file: TextFile) -> tuple[str | Problem, int, tuple[str, ...]]:
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
        return Problem(name, 1, None, "must be readable", show(str(error))), 0, ()
    return found.text, len(raw), found.notes
