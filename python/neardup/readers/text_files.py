"""Text files: each file is one document; `file_text` reads them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

from neardup.base.arrays import texts_array
from neardup.base.files import printable
from neardup.base.messages import Message
from neardup.exceptions import InputError
from neardup.readers.batch import Batch, Problem, split_refusal
from neardup.readers.fields import Fields
from neardup.readers.file_text import Limits, UnreadableFileError, read_contents, read_record
from neardup.readers.input_files import InputFile
from neardup.readers.problem_groups import ProblemGroups
from neardup.readers.source import KeepMask, Row, Source
from neardup.readers.streams import ChangedError, ReopenableFile

_FILES = 1024
_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class TextFile:
    """A text file and its id; instead of the file, the problem if it could not be opened."""

    id: str
    file: ReopenableFile | Problem
    compression: str | None = None
    inside: str | None = None

    def read(self, fields: Fields) -> _Content:
        """Return the text or the problem."""
        if isinstance(self.file, Problem):
            return _Content(self.id, self.id, self.file)
        name = self.file.name
        raw = b""
        try:
            raw = read_contents(self.file, self.compression, Limits(), fields.max_text)
            content = read_record(raw, name, encodings=fields.encodings)
        except ChangedError:
            raise
        except InputError as error:
            return _Content(self.id, name, _make_problem(name, error), len(raw))
        return _Content(self.id, name, content.text, len(raw), content.notes, content.problems)


class _Content(NamedTuple):
    """The result of reading a file: its text or the problem, the bytes, notes, and lost parts."""

    id: str
    name: str
    text: str | Problem
    size: int = 0
    notes: tuple[Message, ...] = ()
    lost: tuple[Problem, ...] = ()

    @property
    def problems(self) -> tuple[Problem, ...]:
        """All problems; a file whose pages are damaged has a text too."""
        return (self.text,) if isinstance(self.text, Problem) else self.lost


class TextFiles(Source):
    """A source whose records are files, each of number 1; notes on them are added to `notes`.

    A file without text has no record; `empty` has the names of those in the last pass.
    """

    format = "text"

    def __init__(self, name: str, texts: list[TextFile], fields: Fields) -> None:
        self.name = name
        self.files = [text.file for text in texts if isinstance(text.file, ReopenableFile)]
        self.texts = texts
        self.notes = ProblemGroups()
        self.empty: list[str] = []
        self._fields = fields

    def measure_share(self, records: int) -> float:
        return records / max(1, len(self.texts))

    def list_fields(self) -> list[str]:
        return ["id", "text"]

    def read_texts(self, fields: Fields, titles: bool, size: int) -> Iterator[Batch]:
        del titles
        for files in self._read(size):
            for file in files:
                for note in file.notes:
                    self.notes.add_note(file.name, note)
            yield Batch(
                texts_array([None if isinstance(f.text, Problem) else f.text for f in files]),
                texts_array([file.id for file in files]),
                None,
                {name: [None] * len(files) for name in fields.extra},
                [(row, problem) for row, file in enumerate(files) for problem in file.problems],
                sum(file.size for file in files),
                [(row, file.name, 1) for row, file in enumerate(files)],
            )

    def read_rows(self) -> Iterator[list[Row]]:
        why = Message("an unreadable record cannot be converted")
        for files in self._read(_CHUNK):
            yield [
                replace(file.text, reason=why, found=None, remedy="")
                if isinstance(file.text, Problem)
                else {"id": file.id, "text": file.text}
                for file in files
            ]

    def find_kept(self, keep: KeepMask) -> Iterator[TextFile]:
        """Yield the kept files, whose records are read again to tell which files have one."""
        for file in self.texts:
            text = file.read(self._fields).text
            has_record = isinstance(text, Problem) or bool(text.strip())
            if has_record and keep.take(1)[0] and isinstance(file.file, ReopenableFile):
                yield file

    def _read(self, size: int) -> Iterator[list[_Content]]:
        """Yield the contents of files, of about `size` bytes together."""
        files: list[_Content] = []
        held = 0
        self.empty = []
        for file in self.texts:
            content = file.read(self._fields)
            if isinstance(content.text, str) and not content.text.strip():
                self.empty.append(content.name)
                continue
            files.append(content)
            held += content.size
            if held >= size or len(files) >= _FILES:
                yield files
                files, held = [], 0
        if files:
            yield files


def open_text_file(file: ReopenableFile, compression: str | None, fields: Fields) -> TextFiles:
    """Return a source of one file, whose id is its path as given."""
    return TextFiles(file.name, [TextFile(file.name, file, compression)], fields)


def open_text(named: InputFile, key: str, inside: str) -> TextFile:
    """Open a text file of a folder, with its id and its path in a folder of outputs."""
    try:
        file = named.open()
        return TextFile(key, file, file.detect_format(named.format).compression, inside)
    except InputError as error:
        return TextFile(key, _make_problem(printable(named.path), error))


def _make_problem(name: str, error: InputError) -> Problem:
    """Return the problem of a file that cannot be opened."""
    if isinstance(error, UnreadableFileError):
        return replace(error.problem, record=1)
    reason, _, _ = split_refusal(error)
    return Problem(
        name, 1, None, Message("must be readable{where}", code="cannot_be_read", where=""), reason
    )
