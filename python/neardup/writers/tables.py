"""Outputs of columns: Parquet files, Arrow files and Arrow streams."""

from __future__ import annotations

import contextlib
import io
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, cast

import pyarrow as pa

from neardup.readers.arrow import ArrowFile
from neardup.readers.columns import with_leaves
from neardup.readers.formats import find_extension
from neardup.readers.parquet import Layout, Parquet
from neardup.readers.source import Source

#: A Parquet row group, or a batch of an Arrow file, is filled until either is reached.
_GROUP_ROWS, _BATCH_ROWS = 128 * 1024, 8192
_GROUP_BYTES, _BATCH_BYTES = 64 << 20, 4 << 20


class ColumnarTable(ABC):
    """Collects batches into larger ones, which are neither tiny nor huge, for a writer of Arrow."""

    def __init__(self, sink: Any, schema: pa.Schema, rows: int, size: int) -> None:
        self.schema = schema
        self._file = _SinkFile(sink)
        self._most_rows, self._most_bytes = rows, size
        self._held: list[pa.RecordBatch] = []
        self._rows = self._size = 0
        self._writer: Any = self._open(pa.PythonFile(self._file, mode="w"))

    @abstractmethod
    def _open(self, file: pa.PythonFile) -> Any:
        """Return a writer to a file."""

    @abstractmethod
    def _write(self, table: pa.Table) -> None:
        """Write what was collected."""

    def write(self, batch: pa.RecordBatch) -> None:
        """Write rows."""
        while batch.num_rows:
            part = batch.slice(0, self._most_rows - self._rows)
            batch = batch.slice(part.num_rows)
            self._held.append(part)
            self._rows += part.num_rows
            self._size += part.nbytes
            if self._rows >= self._most_rows or self._size >= self._most_bytes:
                self._flush()

    def _flush(self) -> None:
        if self._held:
            self._write(pa.Table.from_batches(self._held, self.schema))
        self._held, self._rows, self._size = [], 0, 0

    def close(self) -> None:
        """Write the rest, and the end."""
        self._flush()
        self._writer.close()

    def abandon(self) -> None:
        """Close the writer, which otherwise writes its footer when it is collected."""
        self._file.discard = True
        self._held = []
        with contextlib.suppress(OSError, pa.ArrowException):
            self._writer.close()


class ParquetTable(ColumnarTable):
    """Row groups of a Parquet file, as the first of `sources` has them if it is Parquet.

    A part of an output ends with a row group, which has at most about `part_size` bytes.
    """

    def __init__(
        self, sink: Any, schema: pa.Schema, sources: Sequence[Source], part_size: int | None
    ) -> None:
        first = sources[0] if sources else None
        layout = first.read_layout() if isinstance(first, Parquet) else None
        self._layout = layout or Layout(_GROUP_ROWS, dictionaries=True, compression="zstd")
        size = min(part_size or _GROUP_BYTES, _GROUP_BYTES)
        super().__init__(sink, schema, max(1, self._layout.rows), size)

    def _open(self, file: pa.PythonFile) -> Any:
        import pyarrow.parquet as pq

        return pq.ParquetWriter(
            file,
            self.schema,
            compression=cast("Any", self._layout.compression),
            use_dictionary=cast("Any", self._layout.dictionaries),
        )

    def _write(self, table: pa.Table) -> None:
        self._writer.write_table(table, row_group_size=self._rows)


class ArrowTable(ColumnarTable):
    """Batches of an Arrow file or stream.

    It is a stream if the sources are. Feather is always a file, with the compression of Feather.
    `name` is the name of the output. `is_cut` tells whether parts of texts are cut out.
    """

    def __init__(
        self, sink: Any, schema: pa.Schema, name: str, sources: Sequence[Source], *, is_cut: bool
    ) -> None:
        extension = find_extension(name)
        arrows = [source for source in sources if isinstance(source, ArrowFile)]
        streams = [source for source in arrows if source.is_stream]
        self._is_stream = extension == ".arrows" or (
            extension != ".feather" and bool(sources) and len(streams) == len(sources)
        )
        # A file has one dictionary for each column, a stream any number of them.
        has_one = len(sources) == len(arrows) == 1 and not streams and not is_cut
        if not self._is_stream and not has_one:
            fields = [field.with_type(with_leaves(field.type, _decode_type)) for field in schema]
            schema = pa.schema(fields).with_metadata(schema.metadata)
        self._compression = "lz4" if extension == ".feather" else None
        super().__init__(sink, schema, _BATCH_ROWS, _BATCH_BYTES)

    def _open(self, file: pa.PythonFile) -> Any:
        options = pa.ipc.IpcWriteOptions(
            compression=cast("Any", self._compression), emit_dictionary_deltas=True
        )
        opener = pa.ipc.new_stream if self._is_stream else pa.ipc.new_file
        return opener(file, self.schema, options=options)

    def write(self, batch: pa.RecordBatch) -> None:
        """Write rows; a dictionary for which the file has no room becomes values."""
        columns: list[Any] = [
            column if column.type == field.type else column.cast(field.type)
            for column, field in zip(batch.columns, self.schema, strict=True)
        ]
        super().write(pa.RecordBatch.from_arrays(columns, schema=self.schema))

    def _write(self, table: pa.Table) -> None:
        for batch in table.combine_chunks().to_batches():
            self._writer.write_batch(batch)


def _decode_type(kind: Any) -> Any:
    return kind.value_type if pa.types.is_dictionary(kind) else kind


@contextlib.contextmanager
def open_arrow_file(sink: Any, schema: pa.Schema, compression: Any = None) -> Iterator[Any]:
    """Yield a writer of an Arrow IPC file to a sink."""
    file = _SinkFile(sink)
    packed = pa.ipc.IpcWriteOptions(compression=compression)
    writer = pa.ipc.new_file(pa.PythonFile(file, mode="w"), schema, options=packed)
    try:
        yield writer
        writer.close()
    except BaseException:
        # The writer writes the end of its file when it is collected.
        file.discard = True
        raise


class _SinkFile(io.RawIOBase):
    """A sink as a file for Arrow, which does not close the sink."""

    def __init__(self, sink: Any) -> None:
        super().__init__()
        self._sink = sink
        self._position = 0
        self.discard = False

    def write(self, data: Any) -> int:
        size = memoryview(data).nbytes
        if not self.discard:
            self._sink.write(bytes(data))
        self._position += size
        return size

    def tell(self) -> int:
        return self._position

    def writable(self) -> bool:
        return True
