"""Arrow: files and streams, as Feather and Hugging Face's library write them; a batch at a time.

Arrow trusts what it reads. Each batch is validated first, since damaged buffers would end the
process.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any, BinaryIO

import pyarrow as pa

from neardup.base.messages import Message
from neardup.exceptions import InputError
from neardup.readers.batch import make_refusal, show
from neardup.readers.columnar import DAMAGE, ColumnarFile, Validator
from neardup.readers.columns import PART_ROWS, cut_rows
from neardup.readers.fields import Fields
from neardup.readers.formats import ARROW_FILE, ARROW_STREAM, FEATHER_1, SKETCHES
from neardup.readers.paths import list_types
from neardup.readers.streams import Part, ReopenableFile

#: Bytes of the beginning that a message shows.
_SHOWN = 20


class ArrowFile(ColumnarFile):
    """A source of the rows of an Arrow file, or of a stream if `is_stream`."""

    format = "arrow"
    called = "Arrow"

    def __init__(self, file: ReopenableFile, compression: str | None, fields: Fields) -> None:
        super().__init__(file, compression, fields)
        self._share = 0.0
        with file.open_unpacked(compression) as handle:
            head = handle.read(_SHOWN)
            self._length = handle.seek(0, io.SEEK_END)
            self.is_stream = ARROW_STREAM.match(head) is not None
            if not self.is_stream and not head.startswith(ARROW_FILE):
                raise self._make_format_error(head)
            try:
                self.schema = _open_reader(handle, self.is_stream, None).schema
                # Access it here, where an error is an error of the file.
                _ = self.schema.names, list_types(self.schema)
            except DAMAGE as error:
                reason = Message("must be an Arrow file", code="damaged_file")
                raise self._make_error(reason, error, is_cut=not self.is_stream) from error
        if SKETCHES in (self.schema.metadata or {}):
            reason, content = Message("must have documents"), Message("their sketches")
            remedy = Message("Name the file of the documents.")
            raise InputError(make_refusal(self.name, reason, content, remedy))

    def _make_format_error(self, head: bytes) -> InputError:
        """Return the error of a file that does not begin like one of Arrow."""
        reason = Message("must be an Arrow file", code="damaged_file")
        content, remedy = show(head), Message("Name its format with {given[format]}.")
        if head.startswith(FEATHER_1):
            content = Message("version 1 of Feather")
            remedy = Message(
                "Read it with pyarrow.feather.read_table, and write it with write_feather."
            )
        return InputError(make_refusal(self.name, reason, content, remedy))

    def measure_share(self, records: int) -> float:
        del records
        return self._share

    def _read_batches(self, columns: list[str] | None) -> Iterator[pa.RecordBatch]:
        numbers = None
        if columns is not None:
            numbers = [i for i, name in enumerate(self.schema.names) if name in columns]
        valid = Validator()
        self._share = 0.0
        with self._file.open_unpacked(self.compression) as handle:
            for batch in self._read_stored(handle, numbers):
                valid.check(batch)
                for begin, end in cut_rows(batch.columns, batch.num_rows):
                    for first in range(begin, end, PART_ROWS):
                        part = batch.slice(first, min(PART_ROWS, end - first))
                        columns_of_part = map(_compact, part.columns)
                        yield pa.RecordBatch.from_arrays([*columns_of_part], schema=batch.schema)

    def _read_stored(self, handle: BinaryIO, numbers: list[int] | None) -> Iterator[pa.RecordBatch]:
        """Yield the batches as they are stored, with the columns of these numbers."""
        reader = _open_reader(handle, self.is_stream, numbers)
        if self.is_stream:
            for batch in reader:
                self._share = handle.tell() / max(1, self._length)
                yield batch
            return
        for number in range(reader.num_record_batches):
            self._share = (number + 1) / reader.num_record_batches
            yield reader.get_batch(number)


def _compact(column: Any) -> Any:
    """Return a column of views that holds only the texts of its rows."""
    if pa.types.is_string_view(column.type):
        return column.cast(pa.large_string()).cast(column.type)
    if pa.types.is_binary_view(column.type):
        return column.cast(pa.large_binary()).cast(column.type)
    return column


def _open_reader(handle: BinaryIO, is_stream: bool, numbers: list[int] | None) -> Any:
    """Return Arrow's reader of a file or of a stream, for the columns of these numbers."""
    # Arrow asks for what a damaged length says; a part is read no further than its end.
    part = Part(handle, 0, handle.seek(0, io.SEEK_END))
    file = pa.PythonFile(part, mode="r")
    # Arrow takes an empty list for all columns.
    options = pa.ipc.IpcReadOptions(included_fields=numbers or [])
    opener: Any = pa.ipc.open_stream if is_stream else pa.ipc.open_file
    return opener(file, options=options)
