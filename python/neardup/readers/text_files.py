"""Text files: one file, one document; a folder, all text files below it."""

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace

from neardup.exceptions import InputError
from neardup.readers.batch import CONVERT, Piece, Problem, Run, show
from neardup.readers.fields import Fields
from neardup.readers.formats import by_name
from neardup.readers.source import Row, texts_array
from neardup.readers.streams import Blob, StreamDamaged, printable

__all__ = ["TextFiles", "files_below"]

_FILES = 1024
_CHUNK = 1 << 20
_BOM = "\ufeff"


@dataclass(frozen=True, slots=True)
class TextFile:
    """A text file, its id, and the problem if it could not be opened."""

    id: str
    blob: Blob | None
    compression: str | None
    problem: Problem | None = None


class TextFiles:
    """A source whose records are files. A record is one file, so its number is 1."""

    format = "text"

    def __init__(self, name: str, files: list[TextFile]) -> None:
        self.name = name
        self.files = files

    @classmethod
    def single(cls, blob: Blob, compression: str | None) -> "TextFiles":
        """Take one file; its id is its path as given."""
        return cls(blob.name, [TextFile(blob.name, blob, compression)])

    @classmethod
    def folder(cls, path: str, *, short_ids: bool = True) -> "TextFiles":
        """Take all text files below a folder.

        An id is the path inside the folder, or with the folder as given before
        it: two folders may hold files of one name.

        Raises
        ------
        InputError
            If there are none.
        """
        files = []
        for inside in files_below(path):
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
                f"{printable(path)}: must hold text files (.txt, .md, also .gz or .zst)."
                " Got a folder without any instead."
            )
        return cls(printable(path), files)

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

        def piece() -> Piece:
            extra: dict[str, list[object]] = {name: [None] * len(ids) for name in fields.extra}
            return Piece(texts_array(texts), ids, None, extra, problems, held, runs)

        for file in self.files:
            read, count = _read(file)
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
            read, count = _read(file)
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


def files_below(path: str) -> Iterator[str]:
    """Yield the paths of the text files inside a folder, in code point order.

    Hidden files and folders (names with a leading dot) are passed over, and
    links to folders are not followed, since they may lead in circles.
    """

    def refuse(error: OSError) -> None:
        raise InputError(f"{printable(error.filename)}: {error.strerror}.") from error

    found = []
    for folder, inner, names in os.walk(path, onerror=refuse):
        inner[:] = [name for name in inner if not name.startswith(".")]
        for name in names:
            if not name.startswith(".") and by_name(name).format == "text":
                found.append(os.path.relpath(os.path.join(folder, name), path))
    yield from sorted(found, key=lambda name: name.replace(os.sep, "/"))


def _read(file: TextFile) -> tuple[str | Problem, int]:
    """Return the text or the problem, and the bytes it took."""
    if file.blob is None:
        assert file.problem is not None
        return file.problem, 0
    name = file.blob.name
    try:
        raw = b"".join(file.blob.chunks(file.compression, _CHUNK))
    except StreamDamaged as error:
        return Problem(name, 1, None, str(error), "a damaged file"), 0
    except InputError as error:
        return Problem(name, 1, None, "must be readable", show(str(error))), 0
    try:
        return raw.decode().removeprefix(_BOM), len(raw)
    except UnicodeDecodeError as error:
        reason = f"must be valid UTF-8 (byte {error.start + 1} is not)"
        found = show(raw[error.start :][:40])
        return Problem(name, 1, None, reason, found, CONVERT), len(raw)
