"""The interface of a reader of a format: a subclass of `Source`, on this page.

A format whose file is one text, such as Word, is a case of `file_text.read_record`,
which `text_files` calls. For a format of records:

1. Add its name, its extensions and its reader in `formats`.
2. Write a module with a subclass of `Source` that has `format`, `read_texts` and `read_rows`.
   Optional: `check_fields`, if missing fields can be found before all is read; `list_fields`,
   if all records have the same fields; `copy_kept`, if records can be copied as they are.
3. Name it in the help of `--format` and of the inputs of a command.

A source is read several times. The first pass calls `read_texts`. The pass that writes the
kept records calls `copy_kept` if the formats agree, and else `read_rows`. All of them yield
the same records in the same order. A bad record is not an error but a null text and a
`Problem`; where the rest cannot be read, `report_rest` makes the last batch.
"""

from __future__ import annotations

import codecs
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

from neardup.base.messages import Message
from neardup.exceptions import InputError
from neardup.readers.batch import (
    NAME_ENCODING,
    Batch,
    Problem,
    make_empty_batch,
    make_refusal,
    show,
)
from neardup.readers.encodings import BEGINNING, extends_ascii, make_invalid_reason
from neardup.readers.fields import Fields
from neardup.readers.streams import ChangedError, DamagedStreamError, ReopenableFile, recode

#: Bytes of records that `copy_kept` yields together, by which a part may exceed its size.
KEPT_BYTES = 1 << 20

# A record to convert: its fields, or a Problem with the reason why no other format
# can store it.
Row = dict[str, Any] | Problem


class Source(ABC):
    """A file, or several text files, that can be read several times.

    `name` is in its problems and ids. A record longer than `fields.max_text` bytes is a
    problem.
    """

    format: str
    #: The mark and the encoding of the records that `copy_kept` yields.
    mark, encoding = b"", "utf-8"
    notes_on_encoding: tuple[Message, ...] = ()
    #: Its path inside a folder of outputs; None for standard input.
    inside: str | None = None
    compression: str | None = None

    def __init__(self, file: ReopenableFile, compression: str | None, fields: Fields) -> None:
        self.name = file.name
        self.files = [file]
        self._file = file
        self.compression = compression
        self._max_text = fields.max_text

    @abstractmethod
    def read_texts(self, fields: Fields, titles: bool, size: int) -> Iterator[Batch]:
        """Read the texts, in batches of about `size` bytes."""

    @abstractmethod
    def read_rows(self) -> Iterator[list[Row]]:
        """Read whole records, in the order and number of `read_texts`."""

    def check_fields(self, fields: Fields) -> None:
        """Raise InputError if the source lacks a field that it must have."""
        del fields

    def list_fields(self) -> list[str] | None:
        """Return the fields that all records have; None if that depends on the record."""
        return None

    def copy_kept(self, keep: KeepMask) -> Iterator[bytes | Iterator[bytes]]:
        """Yield the kept records as they are; one too long to be held as an iterator of parts."""
        raise NotImplementedError

    @property
    def size(self) -> int:
        """Stored bytes, compressed or not."""
        return sum(file.size for file in self.files)

    def measure_share(self, records: int) -> float:
        """Return the share of the source that was read with this many records, from 0 to 1."""
        del records
        return self._file.done / max(1, self.size)

    def check_unchanged(self) -> None:
        """Raise InputError if the files changed since the first pass."""
        for file in self.files:
            file.check_unchanged()

    def report_rest(self, done: int, reason: str, fields: Fields) -> Batch:
        """Return a batch with the problem that nothing can be read after `done` records."""
        content = Message.counted(
            "1 record and then damaged data", "{count} records and then damaged data", count=done
        )
        return make_empty_batch([Problem(self.name, done + 1, None, reason, content)], fields.extra)


class LineSource(Source):
    """A source of lines, in an encoding that is named or detected.

    A source is recoded in UTF-8 if its encoding does not extend ASCII, or its format is
    `only_utf8`.
    """

    only_utf8 = False

    def __init__(self, file: ReopenableFile, compression: str | None, fields: Fields) -> None:
        super().__init__(file, compression, fields)
        self._recoded: str | None = None
        head = b""
        with suppress(DamagedStreamError):
            head = next(file.read_chunks(compression, BEGINNING), b"")
        try:
            decoded = fields.encodings.detect_of_lines(head[:BEGINNING])
        except UnicodeDecodeError as error:
            reason, remedy = (
                make_invalid_reason(fields.encodings.named or ""),
                Message(NAME_ENCODING),
            )
            raise InputError(make_refusal(self.name, reason, show(head[:20]), remedy)) from error
        self.notes_on_encoding = fields.encodings.make_notes(decoded)
        if decoded.encoding == "utf-8":
            self.mark = codecs.BOM_UTF8 if head.startswith(codecs.BOM_UTF8) else b""
        elif self.only_utf8 or not extends_ascii(decoded.encoding):
            self._recoded = decoded.encoding
        else:
            self.encoding = decoded.encoding

    def _read_content(self, size: int) -> Iterator[bytes]:
        """Yield the unpacked content, in UTF-8 if it is recoded."""
        chunks = self._file.read_chunks(self.compression, size)
        return chunks if self._recoded is None else recode(chunks, self._recoded)


class KeepMask:
    """The part of a keep mask that belongs to one source, taken in order.

    Raises ChangedError as soon as the number of records differs from the first pass. `advance` is
    called with the number of kept records of each part.
    """

    def __init__(self, mask: memoryview, source: str, advance: Callable[[int], None]) -> None:
        self._mask = mask
        self._source = source
        self._advance = advance
        self._taken = 0

    def take(self, count: int) -> memoryview:
        """Return the flags of the next `count` records, a byte each."""
        begin, self._taken = self._taken, self._taken + count
        if self._taken > len(self._mask):
            raise ChangedError(self._source)
        flags = self._mask[begin : self._taken]
        self._advance(count_kept(flags))
        return flags

    def close(self) -> None:
        """Check that every flag was taken."""
        if self._taken != len(self._mask):
            raise ChangedError(self._source)


def count_kept(flags: memoryview) -> int:
    """Return how many flags are set."""
    return bytes(flags).count(1)
