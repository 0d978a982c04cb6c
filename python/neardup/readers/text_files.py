"""Text files: each file is one document; `files` reads them."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from neardup.base.arrays import texts_array
from neardup.base.messages import Message
from neardup.exceptions import InputError
from neardup.readers.batch import Batch, Problem, Run, parts_of
from neardup.readers.fields import Fields
from neardup.readers.files import Limits, UnreadableFileError, contents, read_record
from neardup.readers.formats import by_name
from neardup.readers.grouped_problems import GroupedNotes
from neardup.readers.source import Row, Source
from neardup.readers.streams import ChangedError, ReopenableFile, printable

_FILES = 1024
_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class TextFile:
    """A text file and its id; instead of the file, the problem if it could not be opened."""

    id: str
    file: ReopenableFile | Problem
    compression: str | None = None

    @property
    def name(self) -> str:
        """The name of its problems and notes."""
        return self.id if isinstance(self.file, Problem) else self.file.name

    def read(self, max_text: int) -> tuple[str | Problem, int, tuple[Message, ...]]:
        """Return the text or the problem, the number of bytes read, and notes."""
        if isinstance(self.file, Problem):
            return self.file, 0, ()
        raw = b""
        try:
            raw = contents(self.file, self.compression, Limits(), max_text)
            content = read_record(raw, self.name)
        except UnreadableFileError as error:
            return replace(error.problem, record=1), len(raw), ()
        except ChangedError:
            raise
        except InputError as error:
            return _unreadable(self.name, error), 0, ()
        return content.text, len(raw), content.notes


class TextFiles(Source):
    """A source whose records are files, each of number 1; `notes` has the notes on them."""

    format = "text"

    def __init__(self, name: str, texts: list[TextFile], max_text: int) -> None:
        self.name = name
        self.files = [text.file for text in texts if isinstance(text.file, ReopenableFile)]
        self.texts = texts
        self.notes = GroupedNotes()
        self._max_text = max_text

    @classmethod
    def single(cls, file: ReopenableFile, compression: str | None, max_text: int) -> "TextFiles":
        """Return a source of one file, whose id is its path as given."""
        return cls(file.name, [TextFile(file.name, file, compression)], max_text)

    @classmethod
    def several(cls, name: str, paths: Iterable[tuple[str, str]], max_text: int) -> "TextFiles":
        """Return a source of several files, each with its id, named after their folder."""
        texts = []
        for path, key in paths:
            try:
                file = ReopenableFile(path)
                text = TextFile(key, file, file.format(by_name(path)).compression)
            except InputError as error:
                text = TextFile(key, _unreadable(printable(path), error))
            texts.append(text)
        return cls(name, texts, max_text)

    def done(self, records: int) -> float:
        return records / max(1, len(self.texts))

    def names(self) -> list[str]:
        return ["id", "text"]

    def chunks(self, fields: Fields, titles: bool, size: int) -> Iterator[Batch]:
        del titles
        texts: list[str | None] = []
        ids: list[str] = []
        problems: list[tuple[int, Problem]] = []
        runs: list[Run] = []
        held = 0
        self.notes = GroupedNotes()

        def batch() -> Batch:
            extra: dict[str, list[object]] = {name: [None] * len(ids) for name in fields.extra}
            return Batch(texts_array(texts), texts_array(ids), None, extra, problems, held, runs)

        for file in self.texts:
            text, count, notes = file.read(self._max_text)
            self.notes.add(file.name, notes)
            if isinstance(text, Problem):
                problems.append((len(ids), text))
                texts.append(None)
            else:
                texts.append(text)
            runs.append((len(ids), file.name, 1))
            ids.append(file.id)
            held += count
            if held >= size or len(ids) >= _FILES:
                yield batch()
                texts, ids, problems, runs, held = [], [], [], [], 0
        if ids:
            yield batch()

    def rows(self) -> Iterator[list[Row]]:
        rows: list[Row] = []
        held = 0
        for file in self.texts:
            text, count, _ = file.read(self._max_text)
            if isinstance(text, Problem):
                why = Message("readers.unreadable_not_converted")
                rows.append(replace(text, reason=why, found=None, remedy=""))
            else:
                rows.append({"id": file.id, "text": text})
            held += count
            if held >= _CHUNK or len(rows) >= _FILES:
                yield rows
                rows, held = [], 0
        if rows:
            yield rows


def _unreadable(name: str, error: InputError) -> Problem:
    """Return the problem of a file that cannot be opened."""
    reason, _, _ = parts_of(error)
    return Problem(name, 1, None, Message("readers.must_be_readable", where=""), reason)
