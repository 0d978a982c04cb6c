"""Parquet: row groups are streamed, and only the needed columns are read."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator
from typing import TYPE_CHECKING, cast

import pyarrow as pa

from neardup._engine.messages import Message
from neardup.exceptions import InputError
from neardup.readers.batch import Chunk, Problem, refusal, show
from neardup.readers.columns import check_types, chunk_of
from neardup.readers.fields import Columns, Fields
from neardup.readers.source import Row, unreadable_rest
from neardup.readers.streams import ReopenableFile

if TYPE_CHECKING:
    import pyarrow.parquet as pq

__all__ = ["Parquet"]

# Fixed, so that the records read before a damaged page do not depend on the
# batch size that the caller requests.
_ROWS = 4096
#: A column name that is not UTF-8 raises UnicodeDecodeError, an index beyond a dictionary
#: Arrow's own kind of IndexError.
_DAMAGE = (pa.ArrowException, OSError, UnicodeDecodeError, IndexError)


class Parquet:
    """A source of the rows of a Parquet file; `schema` is the file's own."""

    format = "parquet"

    def __init__(self, source_file: ReopenableFile, compression: str | None) -> None:
        self.name = source_file.name
        self.source_file = source_file
        self.size = source_file.size
        self._compression = compression
        with self._open() as file:
            self.schema: pa.Schema = file.schema_arrow
            # Access it here, where an error is an error of the file.
            _ = self.schema.names
            self._rows: int = file.metadata.num_rows

    @contextlib.contextmanager
    def _open(self) -> Iterator[pq.ParquetFile]:
        import pyarrow.parquet as pq

        # Arrow does not close a Python file that it did not open.
        with self.source_file.unpacked(self._compression) as handle:
            try:
                file = pq.ParquetFile(pa.PythonFile(cast(io.IOBase, handle), mode="r"))
            except _DAMAGE as error:
                remedy = Message("readers.got_said", said=_first_line(error))
                if "magic bytes" in remedy:
                    remedy = Message("readers.got_no_parquet_end")
                reason = Message("readers.must_be_parquet")
                raise InputError(refusal(self.name, reason, None, remedy)) from error
            yield file

    def done(self, records: int) -> float:
        """Return the share of the file that was read, from 0 to 1."""
        return min(1.0, records / max(1, self._rows))

    def check_unchanged(self) -> None:
        """Raise InputError if the file changed since the first pass."""
        self.source_file.check_unchanged()

    def columns(self, fields: Fields) -> Columns:
        """Choose the columns to read.

        Raises
        ------
        InputError
            If a column is missing or has an unusable type.
        """
        columns = Columns.choose(self.schema.names, fields, self.name)
        return check_types(self.schema, columns, fields, self.name)

    def chunks(self, fields: Fields, titles: bool, size: int) -> Iterator[Chunk]:
        """Read the texts, a fixed number of rows at a time; `size` has no effect."""
        del size
        columns = self.columns(fields)
        wanted = dict.fromkeys([columns.text, *columns.extra])
        if columns.id is not None:
            wanted[columns.id] = None
        if titles and columns.title is not None:
            wanted[columns.title] = None
        done = 0
        for batch in self.batches(list(wanted)):
            if isinstance(batch, Problem):
                yield unreadable_rest(self.name, done, batch.reason, fields.extra)
                return
            yield chunk_of(
                batch.column,
                columns,
                fields,
                titles,
                self.name,
                done,
                lambda number: f"{self.name}:{number}",
                batch.nbytes,
            )
            done += batch.num_rows

    def batches(self, columns: list[str] | None = None) -> Iterator[pa.RecordBatch | Problem]:
        """Yield record batches, and at damage a Problem in place of the rest."""
        done = 0
        with self._open() as file:
            batches = file.iter_batches(_ROWS, columns=columns, use_threads=True)
            while True:
                try:
                    batch = next(batches, None)
                    _check_dictionaries(batch)
                except _DAMAGE as error:
                    where = Message("readers.where_said", said=show(_first_line(error)))
                    reason = Message("readers.must_be_readable_parquet", where=where)
                    found = Message("readers.damaged_data")
                    yield Problem(self.name, done + 1, None, reason, found)
                    return
                if batch is None:
                    return
                done += batch.num_rows
                yield batch

    def rows(self) -> Iterator[list[Row]]:
        """Read whole records."""
        done = 0
        for batch in self.batches():
            if isinstance(batch, Problem):
                return
            try:
                yield list(batch.to_pylist())
            except UnicodeDecodeError:
                yield [self._row(batch, i, done + i + 1) for i in range(batch.num_rows)]
            done += batch.num_rows

    def _row(self, batch: pa.RecordBatch, index: int, number: int) -> Row:
        row: dict[str, object] = {}
        for name in batch.schema.names:
            try:
                row[name] = batch.column(name)[index].as_py()
            except UnicodeDecodeError:
                reason = Message("readers.only_parquet")
                return Problem(self.name, number, name, reason, None)
        return row


def _check_dictionaries(batch: pa.RecordBatch | None) -> None:
    """Raise Arrow's error for an index beyond its dictionary, which it checks only later."""
    for column in [] if batch is None else batch.columns:
        if pa.types.is_dictionary(column.type):
            column.validate(full=True)


def _first_line(error: BaseException) -> str:
    return str(error).partition("\n")[0]
