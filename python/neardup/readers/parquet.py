"""Parquet: row groups are streamed, and only the needed columns are read."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, cast

import pyarrow as pa

from neardup.base.messages import Message
from neardup.readers.columnar import DAMAGE, ColumnarFile, Validator
from neardup.readers.columns import PART_BYTES, PART_ROWS, cut_rows
from neardup.readers.fields import Fields
from neardup.readers.paths import list_types
from neardup.readers.streams import ReopenableFile

if TYPE_CHECKING:
    import pyarrow.parquet as pq


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


class Parquet(ColumnarFile):
    """A source of the rows of a Parquet file."""

    format = "parquet"
    called = "Parquet"

    def __init__(self, file: ReopenableFile, compression: str | None, fields: Fields) -> None:
        super().__init__(file, compression, fields)
        with file.open_unpacked(compression) as handle:
            try:
                opened = _open_parquet(handle)
            except DAMAGE as error:
                reason = Message("must be a Parquet file", code="damaged_file")
                raise self._make_error(reason, error, is_cut="magic bytes" in str(error)) from error
            self.schema = opened.schema_arrow
            # Access it here, where an error is an error of the file.
            _ = self.schema.names, list_types(self.schema)
            self._rows: int = opened.metadata.num_rows

    def measure_share(self, records: int) -> float:
        return min(1.0, records / max(1, self._rows))

    def read_layout(self) -> Layout | None:
        """Return the layout of the largest row group; None if the file has none."""
        with self._file.open_unpacked(self.compression) as handle:
            metadata = _open_parquet(handle).metadata
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

    def _read_batches(self, columns: list[str] | None) -> Iterator[pa.RecordBatch]:
        with self._file.open_unpacked(self.compression) as handle:
            file = _open_parquet(handle)
            valid = Validator()
            for group in range(file.num_row_groups):
                rows = _choose_row_count(file, handle, group, columns)
                # For a small file, threads take more time than they save.
                is_large = file.metadata.row_group(group).total_byte_size > _SMALL
                for batch in file.iter_batches(rows, [group], columns, use_threads=is_large):
                    # Arrow reads an index beyond a dictionary, and checks it only later.
                    valid.check_dictionaries(batch)
                    for begin, end in cut_rows(batch.columns, batch.num_rows):
                        yield batch.slice(begin, end - begin)


def _open_parquet(handle: BinaryIO, dictionaries: Sequence[str] = ()) -> pq.ParquetFile:
    """Return a reader that does not decode the columns `dictionaries`."""
    import pyarrow.parquet as pq

    # Arrow does not close a Python file that it did not open.
    source = pa.PythonFile(cast(io.IOBase, handle), mode="r")
    return pq.ParquetFile(source, read_dictionary=list(dictionaries), pre_buffer=False)


def _choose_row_count(
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

        undecoded = _open_parquet(handle, encoded)
        # The dictionary comes complete with the first row.
        first = next(undecoded.iter_batches(1, [group], encoded), None)
        columns_of_one: list[Any] = [] if first is None else first.columns
        for column in columns_of_one:
            row_bytes += pc.max(pc.binary_length(column.dictionary)).as_py() or 0
    return max(1, min(rows, int(PART_BYTES / max(1.0, row_bytes))))
