"""Parquet: row groups are streamed, and only the needed columns are read."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, cast

import pyarrow as pa

from neardup.base.messages import Message
from neardup.exceptions import InputError
from neardup.readers.batch import Batch, Problem, Problems, refusal, show
from neardup.readers.columns import (
    PART_BYTES,
    PART_ROWS,
    batch_of_columns,
    choose_columns,
    row_ranges,
)
from neardup.readers.fields import Fields
from neardup.readers.source import Row, Source
from neardup.readers.streams import ReopenableFile

if TYPE_CHECKING:
    import pyarrow.parquet as pq

#: A column name that is not UTF-8 raises UnicodeDecodeError, an index beyond a dictionary
#: Arrow's own kind of IndexError.
_DAMAGE = (pa.ArrowException, OSError, UnicodeDecodeError, IndexError)


#: Bytes of a row group that one thread decodes.
_SMALL = 1 << 20

#: Names by which the writer knows codecs that the reader calls otherwise.
_CODECS = {"UNCOMPRESSED": "NONE", "LZ4_RAW": "LZ4"}


class Layout(NamedTuple):
    """How a Parquet file stores its rows."""

    #: The most rows of a row group.
    rows: int
    #: The columns that are encoded with a dictionary; or whether all are.
    dictionaries: list[str] | bool
    #: The compression of each column; or of all.
    compression: dict[str, str] | str


class Parquet(Source):
    """A source of the rows of a Parquet file; `schema` is the file's own."""

    format = "parquet"

    def __init__(self, file: ReopenableFile, compression: str | None, fields: Fields) -> None:
        super().__init__(file, compression, fields)
        with file.unpacked(compression) as handle:
            try:
                opened = _parquet_file(handle)
            except _DAMAGE as error:
                remedy = Message("Got {said}", said=_first_line(error))
                if "magic bytes" in remedy:
                    remedy = Message(
                        "Got a file that does not end like one: it is incomplete, or has "
                        "another format. Copy it again, or name its format with "
                        "{given[format]}."
                    )
                reason = Message("must be a Parquet file", code="damaged_file")
                raise InputError(refusal(self.name, reason, None, remedy)) from error
            self.schema: pa.Schema = opened.schema_arrow
            # Access it here, where an error is an error of the file.
            _ = self.schema.names
            self._rows: int = opened.metadata.num_rows

    def done(self, records: int) -> float:
        return min(1.0, records / max(1, self._rows))

    def names(self) -> list[str]:
        names: list[str] = self.schema.names
        return names

    def check_fields(self, fields: Fields) -> None:
        choose_columns(self.schema, fields, self.name)

    def chunks(self, fields: Fields, titles: bool, size: int) -> Iterator[Batch]:
        # A fixed number of rows at a time, so that damage does not depend on the size.
        del size
        columns = choose_columns(self.schema, fields, self.name)
        problems = Problems()
        done = 0
        for batch in self.batches(columns.needed(titles)):
            if isinstance(batch, Problem):
                yield self.unreadable_rest(done, batch.reason, fields)
                return
            yield batch_of_columns(
                batch.column,
                columns,
                fields,
                titles,
                self.name,
                done,
                lambda number: f"{self.name}:{number}",
                batch.nbytes,
                problems,
            )
            done += batch.num_rows

    def batches(self, columns: list[str] | None = None) -> Iterator[pa.RecordBatch | Problem]:
        """Yield record batches, and at damage a Problem in place of the rest."""
        done = 0
        try:
            for batch in self._batches(columns):
                done += batch.num_rows
                yield batch
        except _DAMAGE as error:
            where = Message(" ({said})", said=show(_first_line(error)))
            reason = Message("must be readable Parquet{where}", code="damaged_file", where=where)
            yield Problem(self.name, done + 1, None, reason, Message("damaged data"))

    def layout(self) -> Layout | None:
        """Return the layout of the largest row group; None if the file has none."""
        with self._file.unpacked(self.compression) as handle:
            metadata = _parquet_file(handle).metadata
            if not metadata.num_row_groups:
                return None
            groups = map(metadata.row_group, range(metadata.num_row_groups))
            group = max(groups, key=lambda group: group.num_rows)
            columns = list(map(group.column, range(group.num_columns)))
        codecs = {c.path_in_schema: _CODECS.get(c.compression, c.compression) for c in columns}
        kinds = set(codecs.values())
        return Layout(
            group.num_rows,
            [column.path_in_schema for column in columns if column.has_dictionary_page],
            # One for all applies to the columns that are added, too.
            kinds.pop() if len(kinds) == 1 else codecs,
        )

    def _batches(self, columns: list[str] | None) -> Iterator[pa.RecordBatch]:
        with self._file.unpacked(self.compression) as handle:
            file = _parquet_file(handle)
            for group in range(file.num_row_groups):
                rows = _rows_together(file, handle, group, columns)
                # For a small file, threads take more time than they save.
                is_large = file.metadata.row_group(group).total_byte_size > _SMALL
                for batch in file.iter_batches(rows, [group], columns, use_threads=is_large):
                    _check_dictionaries(batch)
                    for begin, end in row_ranges(batch.columns, batch.num_rows):
                        yield batch.slice(begin, end - begin)

    def rows(self) -> Iterator[list[Row]]:
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
                reason = Message("only Parquet can store bytes that are not valid UTF-8")
                return Problem(self.name, number, name, reason, None)
        return row


def _parquet_file(handle: BinaryIO, dictionaries: Sequence[str] = ()) -> pq.ParquetFile:
    """Return a reader that does not decode the columns `dictionaries`."""
    import pyarrow.parquet as pq

    # Arrow does not close a Python file that it did not open.
    source = pa.PythonFile(cast(io.IOBase, handle), mode="r")
    return pq.ParquetFile(source, read_dictionary=list(dictionaries), pre_buffer=False)


def _rows_together(
    file: pq.ParquetFile, handle: BinaryIO, group: int, columns: list[str] | None
) -> int:
    """Return how many rows of a row group to read together, so that memory is bounded."""
    # Rows have the group's average size, and in addition the largest value of its dictionaries,
    # which all of them may have.
    metadata = file.metadata.row_group(group)
    size = 0
    encoded = []
    for number in range(metadata.num_columns):
        chunk = metadata.column(number)
        path = chunk.path_in_schema
        if columns is not None and path.partition(".")[0] not in columns and path not in columns:
            continue
        size += max(0, chunk.total_uncompressed_size)
        if (
            chunk.has_dictionary_page
            and chunk.physical_type == "BYTE_ARRAY"
            and path in file.schema_arrow.names
            # A column that stays a dictionary is cut when it is read.
            and not pa.types.is_dictionary(file.schema_arrow.field(path).type)
        ):
            encoded.append(path)
    rows = max(1, min(metadata.num_rows, PART_ROWS))
    row_bytes = size / max(1, metadata.num_rows)
    if encoded and rows * size > PART_BYTES:
        import pyarrow.compute as pc

        undecoded = _parquet_file(handle, encoded)
        # The dictionary comes complete with the first row.
        first = next(undecoded.iter_batches(1, [group], encoded), None)
        columns_of_one: list[Any] = [] if first is None else first.columns
        for column in columns_of_one:
            row_bytes += pc.max(pc.binary_length(column.dictionary)).as_py() or 0
    return max(1, min(rows, int(PART_BYTES / max(1.0, row_bytes))))


def _check_dictionaries(batch: pa.RecordBatch) -> None:
    """Raise Arrow's error for an index beyond its dictionary, which it checks only later."""
    for column in batch.columns:
        if pa.types.is_dictionary(column.type):
            column.validate(full=True)


def _first_line(error: BaseException) -> str:
    return str(error).partition("\n")[0]
