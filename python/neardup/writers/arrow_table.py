"""Arrow files and streams as outputs."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from neardup.readers.arrow import ArrowFile
from neardup.readers.columns import with_leaves
from neardup.readers.formats import extension_of
from neardup.readers.source import Source

#: A batch is filled until either is reached.
_ROWS = 8192
_BYTES = 4 << 20


class ArrowTable:
    """Collects batches into those of an Arrow file or stream, which are not tiny.

    `file` is a sink as a file for Arrow, and `name` that of the output. It is a stream if the
    sources are, and Feather is always a file, which is compressed as Feather does it. `is_cut`
    tells whether parts of texts are cut out.
    """

    def __init__(
        self,
        file: Any,
        schema: pa.Schema,
        name: str,
        sources: Sequence[Source],
        *,
        is_cut: bool,
    ) -> None:
        extension = extension_of(name)
        arrows = [source for source in sources if isinstance(source, ArrowFile)]
        streams = [source for source in arrows if source.is_stream]
        is_stream = extension == ".arrows" or (
            extension != ".feather" and bool(sources) and len(streams) == len(sources)
        )
        # A file has one dictionary for each column, a stream any number of them.
        has_one = len(sources) == len(arrows) == 1 and not streams and not is_cut
        if not is_stream and not has_one:
            fields = [field.with_type(with_leaves(field.type, _decoded)) for field in schema]
            schema = pa.schema(fields).with_metadata(schema.metadata)
        self._schema = schema
        self._held: list[pa.RecordBatch] = []
        self._rows = self._size = 0
        self._file = file
        options = pa.ipc.IpcWriteOptions(
            compression="lz4" if extension == ".feather" else None, emit_dictionary_deltas=True
        )
        opener = pa.ipc.new_stream if is_stream else pa.ipc.new_file
        self._writer: Any = opener(pa.PythonFile(file, mode="w"), schema, options=options)

    def write(self, batch: pa.RecordBatch) -> None:
        """Write rows."""
        columns: list[Any] = [
            column if column.type == field.type else column.cast(field.type)
            for column, field in zip(batch.columns, self._schema, strict=True)
        ]
        batch = pa.RecordBatch.from_arrays(columns, schema=self._schema)
        while batch.num_rows:
            part = batch.slice(0, _ROWS - self._rows)
            batch = batch.slice(part.num_rows)
            self._held.append(part)
            self._rows += part.num_rows
            self._size += part.nbytes
            if self._rows >= _ROWS or self._size >= _BYTES:
                self._flush()

    def _flush(self) -> None:
        table = pa.Table.from_batches(self._held, self._schema).combine_chunks()
        for batch in table.to_batches():
            self._writer.write_batch(batch)
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


def _decoded(kind: Any) -> Any:
    return kind.value_type if pa.types.is_dictionary(kind) else kind
