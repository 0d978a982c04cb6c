"""Text files: each file is one document.

A text file is plain text in any encoding, Markdown, HTML, a Word document or a PDF;
`files` reads them.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from neardup.base.arrays import texts_array
from neardup.base.messages import Message
from neardup.exceptions import InputError
from neardup.readers.batch import Chunk, Problem, Run, parts_of
from neardup.readers.fields import Fields
from neardup.readers.files import Limits, UnreadableFileError, contents, read_record
from neardup.readers.formats import by_name
from neardup.readers.grouped_notes import GroupedNotes
from neardup.readers.source import Row
from neardup.readers.streams import ChangedError, ReopenableFile, printable

__all__ = ["TextFiles"]

_FILES = 1024
_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class TextFile:
    """A text file, its id, and the problem if it could not be opened."""

    id: str
    source_file: ReopenableFile | None
    compression: str | None
    problem: Problem | None = None


class TextFiles:
    """A source whose records are files. A record is one file, so its number is 1.

    `notes` has the notes on the files after they were read.
    """

    format = "text"

    def __init__(self, name: str, files: list[TextFile], max_text: int) -> None:
        self.name = name
        self._max_text = max_text
        self.files = files
        self.notes = GroupedNotes()

    @classmethod
    def single(
        cls, source_file: ReopenableFile, compression: str | None, max_text: int
    ) -> "TextFiles":
        """Return a source of one file, whose id is its path as given."""
        return cls(
            source_file.name, [TextFile(source_file.name, source_file, compression)], max_text
        )

    @classmethod
    def several(cls, name: str, paths: Iterable[tuple[str, str]], max_text: int) -> "TextFiles":
        """Return a source of several files, each with its id, named after their folder."""
        files = []
        for path, key in paths:
            try:
                source_file = ReopenableFile(path)
                compression = source_file.format(by_name(path)).compression
            except InputError as error:
                problem = _unreadable(printable(path), error)
                files.append(TextFile(key, None, None, problem))
            else:
                files.append(TextFile(key, source_file, compression))
        return cls(name, files, max_text)

    @property
    def size(self) -> int:
        """Stored bytes of all files."""
        return sum(file.source_file.size for file in self.files if file.source_file is not None)

    def done(self, records: int) -> float:
        """Return the share of the files that were read, from 0 to 1."""
        return records / max(1, len(self.files))

    def check_unchanged(self) -> None:
        """Raise InputError if a file changed since the first pass."""
        for file in self.files:
            if file.source_file is not None:
                file.source_file.check_unchanged()

    def chunks(self, fields: Fields, titles: bool, size: int) -> Iterator[Chunk]:
        """Read the texts, in chunks of about `size` bytes."""
        del titles
        texts: list[str | None] = []
        ids: list[str] = []
        problems: list[tuple[int, Problem]] = []
        runs: list[Run] = []
        held = 0
        self.notes = GroupedNotes()

        def chunk() -> Chunk:
            extra: dict[str, list[object]] = {name: [None] * len(ids) for name in fields.extra}
            return Chunk(texts_array(texts), texts_array(ids), None, extra, problems, held, runs)

        for file in self.files:
            read, count, notes = _read(file, self._max_text)
            self.notes.add(file.id if file.source_file is None else file.source_file.name, notes)
            if isinstance(read, Problem):
                problems.append((len(ids), read))
                texts.append(None)
            else:
                texts.append(read)
            runs.append(
                (len(ids), file.id if file.source_file is None else file.source_file.name, 1)
            )
            ids.append(file.id)
            held += count
            if held >= size or len(ids) >= _FILES:
                yield chunk()
                texts, ids, problems, runs, held = [], [], [], [], 0
        if ids:
            yield chunk()

    def rows(self) -> Iterator[list[Row]]:
        """Read records with the fields id and text."""
        rows: list[Row] = []
        held = 0
        for file in self.files:
            read, count, _ = _read(file, self._max_text)
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


def _read(file: TextFile, max_text: int) -> tuple[str | Problem, int, tuple[Message, ...]]:
    """Return the text or the problem, the number of bytes read, and notes."""
    if file.source_file is None:
        assert file.problem is not None
        return file.problem, 0, ()
    name = file.source_file.name
    raw = b""
    try:
        raw = contents(file.source_file, file.compression, Limits(), max_text)
        found = read_record(raw, name)
    except UnreadableFileError as error:
        return replace(error.problem, record=1), len(raw), ()
    except ChangedError:
        raise
    except InputError as error:
        return _unreadable(name, error), 0, ()
    return found.text, len(raw), found.notes


def _unreadable(name: str, error: InputError) -> Problem:
    """Return the problem of a file that cannot be opened."""
    found, _, _ = parts_of(error)
    return Problem(name, 1, None, Message("readers.must_be_readable", where=""), found)
