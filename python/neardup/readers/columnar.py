"""Files of Arrow columns: what the readers of Parquet and of Arrow share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, ClassVar

import pyarrow as pa

from neardup.base.messages import Message
from neardup.exceptions import InputError
from neardup.readers.batch import Batch, Problem, make_refusal, show
from neardup.readers.columns import UNCONVERTIBLE, ColumnReader, choose_columns, with_leaves
from neardup.readers.fields import Fields
from neardup.readers.source import Row, Source

#: A column name that is not UTF-8 raises UnicodeDecodeError, an index beyond a dictionary
#: Arrow's own kind of IndexError, and a length beyond memory MemoryError.
DAMAGE = (pa.ArrowException, OSError, UnicodeDecodeError, IndexError, MemoryError)


class ColumnarFile(Source):
    """A source of the rows of a file that stores columns; `schema` is the file's own."""

    #: The name of the format in messages.
    called: ClassVar[str]
    schema: pa.Schema

    def list_fields(self) -> list[str]:
        names: list[str] = self.schema.names
        return names

    def check_fields(self, fields: Fields) -> None:
        choose_columns(self.schema, fields, self.name)

    def read_texts(self, fields: Fields, titles: bool, size: int) -> Iterator[Batch]:
        # A fixed number of rows at a time, so that damage does not depend on the size.
        del size
        columns = choose_columns(self.schema, fields, self.name)
        reader = ColumnReader(columns, fields, titles, self.name)
        for batch in self.read_batches(columns.list_needed(titles)):
            if isinstance(batch, Problem):
                yield self.report_rest(reader.done, batch.reason, fields)
                return
            yield reader.read(batch.column, batch.nbytes)

    def read_batches(self, columns: list[str] | None = None) -> Iterator[pa.RecordBatch | Problem]:
        """Yield record batches, and at damage a Problem in place of the rest."""
        done = 0
        try:
            for batch in self._read_batches(columns):
                done += batch.num_rows
                yield batch
        except DAMAGE as error:
            reason = Message(
                "must be readable {format}{where}",
                code="damaged_file",
                format=self.called,
                where=Message(" ({said})", said=show(cut_first_line(error))),
            )
            yield Problem(self.name, done + 1, None, reason, Message("damaged data"))

    @abstractmethod
    def _read_batches(self, columns: list[str] | None) -> Iterator[pa.RecordBatch]:
        """Yield valid record batches of some columns; text in them may be no UTF-8."""

    def read_rows(self) -> Iterator[list[Row]]:
        done = 0
        for batch in self.read_batches():
            if isinstance(batch, Problem):
                return
            rows: list[Row]
            try:
                rows = list(batch.to_pylist())
            except UNCONVERTIBLE:
                rows = [self._read_row(batch, i, done + i + 1) for i in range(batch.num_rows)]
            yield rows
            done += batch.num_rows

    def _read_row(self, batch: pa.RecordBatch, index: int, number: int) -> Row:
        row: dict[str, object] = {}
        for name in batch.schema.names:
            try:
                row[name] = batch.column(name)[index].as_py()
            except UnicodeDecodeError:
                reason = Message("only Parquet and Arrow can store bytes that are not valid UTF-8")
                return Problem(self.name, number, name, reason, None)
            except UNCONVERTIBLE as error:
                cause = cut_first_line(error)
                reason = Message("only Parquet and Arrow can store this value ({said})", said=cause)
                return Problem(self.name, number, name, reason, None)
        return row

    def _make_error(self, reason: Message, error: BaseException, *, is_cut: bool) -> InputError:
        """Return the error of a file that is not of the format, or was cut."""
        remedy = Message("Got {said}", said=cut_first_line(error))
        if is_cut:
            remedy = Message(
                "Got a file that does not end like one: it is incomplete, or has another format. "
                "Copy it again, or name its format with {given[format]}."
            )
        return InputError(make_refusal(self.name, reason, None, remedy))


class Validator:
    """Validates the batches of a file, but for whether texts are UTF-8; raises Arrow's errors."""

    def __init__(self) -> None:
        #: The latest dictionary of each column, which the next batches mostly share.
        self._dictionaries: dict[int, pa.Array[Any]] = {}

    def check(self, batch: pa.RecordBatch) -> None:
        """Validate all buffers of a batch."""
        columns: list[Any] = batch.columns
        for column in columns:
            if not pa.types.is_dictionary(column.type):
                _check(column)
        self.check_dictionaries(batch)

    def check_dictionaries(self, batch: pa.RecordBatch) -> None:
        """Validate the dictionaries of columns, and whether all indices are within them."""
        columns: list[Any] = batch.columns
        for number, column in enumerate(columns):
            if not pa.types.is_dictionary(column.type):
                continue
            column.indices.validate(full=True)
            values = column.dictionary
            known = self._dictionaries.get(number)
            if known is None or _find_place(known) != _find_place(values):
                _check(values)
                # It is held, so that its place in memory stays its own.
                self._dictionaries[number] = values
            pa.DictionaryArray.from_arrays(column.indices, pa.nulls(len(values)))


def _find_place(array: Any) -> list[Any]:
    """Return where the values of an array are in memory."""
    buffers = (None if b is None else (b.address, b.size) for b in array.buffers())
    return [len(array), array.offset, *buffers]


def _check(array: Any) -> None:
    """Validate an array; its texts as bytes, since a text that is not UTF-8 is one bad record."""
    with suppress(pa.ArrowNotImplementedError):
        array = array.view(with_leaves(array.type, _make_bytes_type))
    array.validate(full=True)


def _make_bytes_type(kind: Any) -> Any:
    """Return the type of bytes with the layout of a type of texts."""
    if pa.types.is_string(kind):
        return pa.binary()
    if pa.types.is_large_string(kind):
        return pa.large_binary()
    return pa.binary_view() if pa.types.is_string_view(kind) else kind


def cut_first_line(error: BaseException) -> str:
    """Return the first line of what a library says of an error."""
    return str(error).partition("\n")[0]
